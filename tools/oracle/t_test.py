#!/usr/bin/env python3
"""Write data/oracle/t_test.csv: scipy's one-sided paired t-tests of small samples.

Ten digits are written: scipy works in doubles, and the rest may differ between its versions.
"""

from pathlib import Path

from scipy.stats import ttest_rel

# Pairs of samples: a clear gain, a loss, no difference, outliers, nearly equal differences, large
# and small numbers.
CASES = [
    ([2.0, 3.0, 5.0], [1.0, 1.0, 2.0]),
    ([0.1, 0.4, 0.2, 0.3, 0.25], [0.3, 0.35, 0.5, 0.9, 0.2]),
    ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.5]),
    ([-6.1, -5.9, -7.2, -6.4, -6.0, -5.5], [-6.3, -6.2, -1e6, -6.5, -6.6, -5.7]),
    ([1.5, 2.5, 3.5, 4.5], [1.0, 2.0, 3.0, 4.000001]),
    ([1e10, 3e10, 2e10, 5e10, 4e10, 1.5e10, 2.2e10], [0.9e10, 2.8e10, 2.1e10, 4.4e10, 3.7e10, 1.4e10, 2.0e10]),
    ([1e-8, 3e-8, 2e-8], [2e-8, 5e-8, 3.5e-8]),
    ([float(i % 7) + 0.3 for i in range(100)], [float(i % 5) for i in range(100)]),
    ([0.5, 1.5], [0.2, 1.1]),
]


def main():
    path = Path(__file__).resolve().parents[2] / "data" / "oracle" / "t_test.csv"
    with path.open("w") as out:
        out.write("a,b,df,t,p\n")
        for a, b in CASES:
            result = ttest_rel(a, b, alternative="greater")
            cells = [";".join(map(repr, sample)) for sample in (a, b)]
            out.write(",".join(cells + [f"{x:.9e}" for x in (result.df, result.statistic, result.pvalue)]) + "\n")


if __name__ == "__main__":
    main()

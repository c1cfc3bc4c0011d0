"""Write data/oracle/gauss.csv: Gauss-Hermite (normal) and Gauss-Legendre rules to 25 digits.

The nodes are the roots of the orthonormal polynomial, polished at 60 digits. A weight is 1 /
sum_{k<n} p_k(x)^2. Only the non-negative half is written; `index` counts from the lowest node of
the whole rule. The Hermite rule is that of the standard normal law.
"""

import pathlib

import numpy as np
from mpmath import mp, mpf, nstr, sqrt, log

mp.dps = 60
SIZES = (1, 2, 5, 16, 64, 128, 256)


def recurrence(family, k):
    return sqrt(mpf(k)) if family == "hermite" else mpf(k) / sqrt(4 * mpf(k) ** 2 - 1)


def sweep(b, mass, x):
    """p_n, p_n' and the Christoffel sum at x."""
    p0, p1 = mpf(0), 1 / sqrt(mpf(mass))
    d0, d1 = mpf(0), mpf(0)
    total = mpf(0)
    for k in range(1, len(b)):
        total += p1**2
        p0, p1, d0, d1 = p1, (x * p1 - b[k - 1] * p0) / b[k], d1, (p1 + x * d1 - b[k - 1] * d0) / b[k]
    return p1, d1, total


def rule(family, n):
    mass = 1 if family == "hermite" else 2
    b = [mpf(0)] + [recurrence(family, k) for k in range(1, n + 1)]
    off = np.array([float(v) for v in b[1:n]])
    guesses = np.linalg.eigvalsh(np.diag(off, 1) + np.diag(off, -1)) if n > 1 else np.zeros(1)
    for i in range(n // 2, n):
        x = mpf(0) if 2 * i + 1 == n else mpf(float(guesses[i]))
        while x != 0:
            p, d, _ = sweep(b, mass, x)
            x -= p / d
            if abs(p / d) < mpf(10) ** -50 * abs(x):
                break
        w = 1 / sweep(b, mass, x)[2]
        yield i, x, w


def main():
    path = pathlib.Path(__file__).resolve().parents[2] / "data" / "oracle" / "gauss.csv"
    with path.open("w") as out:
        out.write("family,n,index,node,weight,ln_weight\n")
        for family in ("hermite", "legendre"):
            for n in SIZES:
                for i, x, w in rule(family, n):
                    out.write(f"{family},{n},{i},{nstr(x, 25)},{nstr(w, 25)},{nstr(log(w), 25)}\n")


if __name__ == "__main__":
    main()

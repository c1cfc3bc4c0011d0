"""Helpers shared by the oracle scripts: precision, number formats, CSV, Gauss-Legendre rules.

Arithmetic is MPFR's through gmpy2 with 240 bits (72 digits), because it is ten times faster than
mpmath's own; mpmath gives the functions in which it is the faster.

Inputs of every table are doubles, written so that parsing gives back the same double, and the
results are the exact function of those doubles. Results carry 25 significant digits.
"""

import csv
from pathlib import Path

import gmpy2
from gmpy2 import mpfr
from mpmath import mp

mp.dps = 72
gmpy2.get_context().precision = 240
PI = gmpy2.const_pi()

DATA = Path(__file__).resolve().parent / ".." / ".." / "data" / "oracle"
DIGITS = 25


def number(x):
    """A result as text, with 25 significant digits."""
    return f"{x:.{DIGITS - 1}e}"


def given(x):
    """An input double as text that parses back to the same double."""
    return repr(float(x))


def erfc(x):
    """mpmath's erfc of an MPFR number."""
    _, mantissa, exponent, _ = mp.erfc(mp.mpf(tuple(map(int, x.as_mantissa_exp()))))._mpf_
    return gmpy2.mul_2exp(mpfr(mantissa), exponent) if exponent >= 0 else gmpy2.div_2exp(mpfr(mantissa), -exponent)


def dot(a, b):
    return gmpy2.fsum([x * y for x, y in zip(a, b)])


def vector(values):
    """Input doubles in one cell, separated by ';'."""
    return ";".join(given(v) for v in values)


def matrix(rows):
    """Rows of input doubles in one cell, rows separated by '|'."""
    return "|".join(vector(row) for row in rows)


def write_table(name, header, rows):
    """Writes data/oracle/<name>.csv."""
    DATA.mkdir(parents=True, exist_ok=True)
    with open(DATA / f"{name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def gauss_legendre(n):
    """Nodes and weights of the n-point Gauss-Legendre rule on [-1, 1], by Newton on P_n."""
    nodes, weights = [], []
    for i in range(n):
        x = gmpy2.cos(PI * (i + mpfr("0.75")) / (n + mpfr("0.5")))
        for _ in range(100):
            p, dp = legendre(n, x)
            step = p / dp
            x -= step
            if abs(step) < mpfr("1e-60"):
                break
        _, dp = legendre(n, x)
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * dp * dp))
    return nodes, weights


def legendre(n, x):
    """P_n(x) and P_n'(x) by the three-term recurrence."""
    before, p = mpfr(1), x
    for k in range(2, n + 1):
        before, p = p, ((2 * k - 1) * x * p - (k - 1) * before) / k
    return p, n * (x * p - before) / (x * x - 1)

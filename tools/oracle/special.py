"""Write data/oracle/special.csv: all functions of numeric/special.rs with 50-digit arithmetic."""

import random
from pathlib import Path

from mpmath import erf, erfc, erfinv, exp, expm1, log, log1p, loggamma, mp, mpf, npdf, nstr, pi, sqrt

mp.dps = 50
OUT = Path(__file__).resolve().parents[2] / "data" / "oracle" / "special.csv"


def erfcx(x):
    """exp(x^2) erfc(x); for large x its asymptotic series, with terms below 1e-60 from 20 on."""
    if x < 20:
        return exp(x * x) * erfc(x)
    term, total, k = mpf(1), mpf(1), 0
    while abs(term) > mpf(10) ** -60:
        k += 1
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * sqrt(pi))


def ln_cdf(x):
    if x < 0:
        return log(erfcx(-x / sqrt(2)) / 2) - x * x / 2
    return log1p(-erfc(x / sqrt(2)) / 2)


def quantile_ln(ln_p):
    """Newton on ln Phi, which is concave, so it converges from the left of the root."""
    if ln_p > log(mpf(1) / 2):
        return -quantile_ln(log(-expm1(ln_p)))
    x = -sqrt(-2 * ln_p) - 1
    for _ in range(200):
        ratio = sqrt(2 / pi) / erfcx(-x / sqrt(2))
        step = (ln_cdf(x) - ln_p) / ratio
        x -= step
        if abs(step) < mpf(10) ** -45 * max(1, abs(x)):
            return x
    raise ArithmeticError(ln_p)


def quantile(p):
    if abs(p - mpf(1) / 2) < mpf(1) / 4:
        return sqrt(2) * erfinv(2 * p - 1)
    return quantile_ln(log(p)) if p < mpf(1) / 2 else -quantile_ln(log1p(-p))


random.seed(20240607)
LINE = [0.0, 1e-300, -1e-300, 1e-8, -1e-8, 1.0, -1.0] + [round(random.uniform(-9, 9), 3) for _ in range(30)]
TAILS = [-38.0, -37.5, -37.0, -36.123, -30.0, -25.1, -20.0, -15.7, -12.0, -10.0, 8.3, 10.0, 20.0]
POSITIVE = [1e-300, 1e-20, 1e-9, 1e-4, 0.01, 0.1, 0.5, 0.69, 0.7, 1.0, 1.0000001, 1.5, 3.0, 10.0, 36.0, 37.5, 50.0, 700.0, 1e5]

CASES = {
    "normal_pdf": (npdf, LINE + TAILS),
    "ln_normal_pdf": (lambda x: -x * x / 2 - log(2 * pi) / 2, LINE + TAILS + [-1e8, 1e100]),
    "normal_cdf": (lambda x: erfc(-x / sqrt(2)) / 2, LINE + TAILS),
    "ln_normal_cdf": (ln_cdf, LINE + TAILS + [-1e8, -1e4, -1e100, -500.5, 30.0, 37.0]),
    "normal_quantile": (
        quantile,
        [1e-320, 1e-300, 1e-200, 1e-100, 1e-40, 1e-16, 1e-8, 1e-4, 0.01, 0.02425, 0.1, 0.2, 0.2499999, 0.25, 0.2500001]
        + [0.3, 0.4, 0.45, 0.499, 0.4999999999, 0.5000000001, 0.51, 0.6, 0.74, 0.75, 0.7500001, 0.8, 0.9, 0.99, 0.999999]
        + [1 - 1e-12, 1 - 2.0**-53]
        + [random.random() for _ in range(20)],
    ),
    "normal_quantile_ln": (
        quantile_ln,
        [-1e300, -1e10, -1e5, -1e4, -1000.0, -745.2, -700.0, -100.0, -30.5, -10.0, -3.0, -1.5, -1.3862, -1.3, -1.0, -0.8]
        + [-0.6, -0.4, -0.31, -0.3, -0.29, -0.1, -1e-2, -1e-5, -1e-16, -1e-100, -1e-300],
    ),
    "erf": (erf, LINE),
    "erfc": (erfc, LINE + [12.0, 15.3, 20.0, 25.5, 26.5]),
    "erfcx": (erfcx, LINE + [-26.0, -20.3, -12.1, 12.0, 19.9, 20.1, 27.5, 50.0, 1e3, 1e5, 1e8, 1e100, 1e300]),
    "ln_gamma": (
        loggamma,
        [1e-300, 1e-10, 0.001, 0.1, 0.5, 0.9, 0.9999999, 1.0, 1.0000001, 1.3, 1.5, 1.99999, 2.0, 2.00001, 2.5, 3.0, 5.5, 7.9]
        + [8.1, 20.0, 100.5, 1e3, 1e6, 1e10, 1e100],
    ),
    "ln_expm1": (lambda x: log(expm1(x)), POSITIVE),
    "ln_1m_exp": (lambda x: log(-expm1(x)) if x > -1 else log1p(-exp(x)), [-x for x in POSITIVE if x < 700] + [-700.0]),
    "ln_add_exp": (lambda x: log(exp(x) + exp(mpf(1) / 2)), LINE + [-100.0, 300.0, 1e4]),
    "ln_sum_exp": (lambda x: log(exp(x) + exp(mpf(1) / 2) + exp(mpf(-2))), LINE + [-100.0, 300.0, 1e4]),
}


def main():
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with OUT.open("w") as file:
        file.write("function,x,value\n")
        for name, (function, points) in CASES.items():
            for x in points:
                file.write(f"{name},{x!r},{nstr(function(mpf(x)), 25)}\n")


if __name__ == "__main__":
    main()

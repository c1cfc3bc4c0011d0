"""Write data/oracle/bivariate.csv: cdf2, excess and pdf2 of the bivariate normal with 50 digits."""

import random
from pathlib import Path

from mpmath import asin, cos, erfc, exp, mp, mpf, nstr, pi, quad, sin, sqrt

mp.dps = 50
OUT = Path(__file__).resolve().parents[2] / "data" / "oracle" / "bivariate.csv"
LIMIT = pi / 2


def cdf(x):
    return erfc(-x / sqrt(2)) / 2


def exponent(h, k, theta):
    """(h^2 + k^2 - 2 h k sin) / (2 cos^2), as a sum of two terms that are not negative."""
    tiny = mpf(10) ** -120  # a node may round to the end, where a term is infinite
    plus = 2 * cos(pi / 4 - theta / 2) ** 2 + tiny  # 1 + sin
    minus = 2 * sin(pi / 4 - theta / 2) ** 2 + tiny  # 1 - sin
    if h * k >= 0:
        return (h - k) ** 2 / (2 * plus * minus) + h * k / plus
    return (h + k) ** 2 / (2 * plus * minus) - h * k / minus


def plackett(h, k, low, high):
    """Integral of the density over the correlation, on panels that shrink to the peak and ends.

    The ends are both ends of the interval and +-pi/2. On each panel the largest value of the
    integrand is taken out, for the quadrature stops at an absolute error.
    """
    peak = asin(min(h / k, k / h, key=abs)) if h * k != 0 else mpf(0)
    cuts = {low, high} | {mpf(j) / 8 for j in range(-12, 13)}
    cuts |= {c + side * mpf(4) ** -j for c in (peak, low, high) for j in range(1, 8) for side in (-1, 0, 1)}
    cuts |= {sign * (LIMIT - mpf(4) ** -j) for j in range(1, 26) for sign in (-1, 1)}
    cuts = sorted(c for c in cuts if low <= c <= high)
    level = [exponent(h, k, c) for c in cuts]
    total = mpf(0)
    for i in range(len(cuts) - 1):
        shift = min(level[i], level[i + 1])
        if shift < min(level) + 120:  # e^-120 = 1e-52
            total += exp(-shift) * quad(lambda t: exp(shift - exponent(h, k, t)), [cuts[i], cuts[i + 1]], maxdegree=8)
    return total / (2 * pi)


def row(h, k, rho):
    h, k, rho = mpf(h), mpf(k), mpf(rho)
    theta = asin(rho)
    value = plackett(h, k, mpf(0), theta) if rho > 0 else -plackett(h, k, theta, mpf(0))
    both = cdf(h) * cdf(k) + value
    if rho < 0:
        # Counted from rho = -1 nothing cancels; where the sum above keeps its digits the two must
        # agree.
        overlap = (cdf(h) - cdf(-k) if h < 0 else cdf(k) - cdf(-h)) if h + k > 0 else mpf(0)
        from_below = overlap + plackett(h, k, -LIMIT, theta)
        assert abs(both - from_below) < mpf(10) ** -28 * cdf(h) * cdf(k), (h, k, rho)
        both = from_below
    density = exp(-exponent(h, k, theta)) / (2 * pi * cos(theta))
    return both, value, density


random.seed(20240607)
RHO = [0.0, 1e-8, 0.1, 0.3, 0.5, 0.75, 0.9, 0.92, 0.93, 0.99, 0.999999, 1 - 1e-12]


def cases():
    for rho in RHO:
        for scale in (1.5, 4.0, 9.0):
            for _ in range(5):
                h, k = (round(random.uniform(-scale, scale), 3) for _ in range(2))
                yield from ((h, k, rho), (h, k, -rho))
        h = round(random.uniform(-4, 4), 3)
        yield from ((h, h, rho), (h, -h, -rho), (h, h + 1e-3, rho), (h, h + 1e-7, rho), (-h, h + 1e-3, -rho))
    yield from ((-30.0, -30.0, 0.5), (-30.0, -30.0, -0.5), (-30.0, -31.0, 0.97), (9.0, -9.0, -0.9), (9.0, -9.0, 0.9))
    yield from ((0.0, 0.0, 0.6), (0.0, 0.0, -0.999), (0.0, 2.0, 0.5), (20.0, 20.0, 0.99), (-37.0, 0.5, 0.4), (1e-9, -1e-9, 0.999999999))
    for _ in range(30):
        yield (round(random.uniform(-6, 6), 3), round(random.uniform(-6, 6), 3), random.uniform(-1, 1))


def main():
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with OUT.open("w") as file:
        file.write("h,k,rho,cdf2,excess,pdf2\n")
        for h, k, rho in cases():
            values = ",".join(nstr(value, 25) for value in row(h, k, rho))
            file.write(f"{h!r},{k!r},{rho!r},{values}\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Write data/oracle/measures.csv: quantiles, log densities and moments of the univariate priors.

The arithmetic has 400 digits. A probability is written as p, the mass to the left, or as q, the
mass to the right; the other one is empty. Masses and parameters are the doubles nearest to the
numbers shown. An empty mean or variance is infinite or undefined.
"""

from pathlib import Path

from mpmath import mp, mpf

# The tails of gamma, beta and t are complements of series of positive terms: digits for 1e-300 and
# sixty more.
mp.dps = 400
DONE = mpf(10) ** -60
LOWER = [1e-300, 1e-100, 1e-12, 1e-5, 0.01, 0.25, 0.5]
UPPER = [0.3, 0.01, 1e-5, 1e-12]


def phi(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def tail_normal(x):
    """1 - Phi(x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def newton(z, tail, density, sign, mass):
    """Solve ln tail(z) = ln mass, concave in z, from the outside; `sign` is 1 for a lower tail."""
    for _ in range(500):
        value = tail(z)
        step = sign * mp.log(mass / value) * value / density(z)
        z += step
        if abs(step) < DONE:
            return z
    raise ArithmeticError("no convergence")


class Law:
    """A law by its quantile(side, mass) (side 0 is the lower tail), log density and moments."""

    def __init__(self, quantile, ln_density, mean, variance):
        self.quantile, self.ln_density, self.mean, self.variance = quantile, ln_density, mean, variance


def normal_score(side, mass):
    if mass == mpf(1) / 2:
        return mpf(0)
    with mp.workdps(90):
        z = newton(-mp.sqrt(-2 * mp.log(mass)), lambda x: tail_normal(-x), phi, 1, mass)
    return z if side == 0 else -z


def uniform(lo, hi):
    w = hi - lo
    return Law(lambda s, m: lo + m * w if s == 0 else hi - m * w, lambda x: -mp.log(w), (lo + hi) / 2, w * w / 12)


def log_uniform(lo, hi):
    L = mp.log(hi / lo)
    mean = (hi - lo) / L
    return Law(
        lambda s, m: lo * mp.exp(m * L) if s == 0 else hi * mp.exp(-m * L),
        lambda x: -mp.log(x) - mp.log(L),
        mean,
        (hi * hi - lo * lo) / (2 * L) - mean**2,
    )


def normal(mean, sd):
    return Law(
        lambda s, m: mean + sd * normal_score(s, m),
        lambda x: mp.log(phi((x - mean) / sd) / sd),
        mean,
        sd**2,
    )


def log_normal(mean, sd):
    return Law(
        lambda s, m: mp.exp(mean + sd * normal_score(s, m)),
        lambda x: mp.log(phi((mp.log(x) - mean) / sd) / sd / x),
        mp.exp(mean + sd**2 / 2),
        mp.expm1(sd**2) * mp.exp(2 * mean + sd**2),
    )


def half_normal(sd):
    def quantile(side, mass):
        density = lambda z: 2 * phi(mp.exp(z)) * mp.exp(z)
        below = lambda z: mp.erf(mp.exp(z) / mp.sqrt(2))
        above = lambda z: mp.erfc(mp.exp(z) / mp.sqrt(2))
        with mp.workdps(90):
            if side == 0:
                z = newton(mp.log(mass * mp.sqrt(mp.pi / 2)), below, density, 1, mass)
            else:
                z = newton(mp.log(-2 * mp.log(mass)) / 2, above, density, -1, mass)
        return sd * mp.exp(z)

    mean, variance = sd * mp.sqrt(2 / mp.pi), sd**2 * (1 - 2 / mp.pi)
    return Law(quantile, lambda x: mp.log(2 * phi(x / sd) / sd), mean, variance)


def exponential(rate):
    return Law(
        lambda s, m: (-mp.log1p(-m) if s == 0 else -mp.log(m)) / rate,
        lambda x: mp.log(rate) - rate * x,
        1 / rate,
        1 / rate**2,
    )


def truncated_normal(mean, sd, lo, hi):
    # Digits stand in for care: with lo at 30 sd the masses are 1e-198, and 1e-300 of that is asked
    # for.
    mp.dps = 700
    a, b = (lo - mean) / sd, (hi - mean) / sd
    mass = tail_normal(a) - tail_normal(b)
    r = (phi(a) - phi(b)) / mass
    ends = [0 if mp.isinf(v) else v * phi(v) for v in (a, b)]
    variance = sd**2 * (1 + (ends[0] - ends[1]) / mass - r**2)
    law = Law(None, lambda x: mp.log(phi((x - mean) / sd) / sd / mass), mean + sd * r, variance)

    def quantile(side, m):
        mp.dps = 700
        target = tail_normal(a) - m * mass if side == 0 else tail_normal(b) + m * mass
        low, high = max(a, mpf(-45)), min(b, mpf(45))
        for _ in range(30):
            mid = (low + high) / 2
            low, high = (mid, high) if tail_normal(mid) > target else (low, mid)
        x = (low + high) / 2
        for _ in range(60):
            step = (tail_normal(x) - target) / phi(x)
            x += step
            if abs(step) < mpf(10) ** -400:
                break
        mp.dps = 400
        return mean + sd * x

    law.quantile = quantile
    mp.dps = 400
    return law


def gamma(shape, rate):
    ln_norm = mp.loggamma(shape)
    density = lambda z: mp.exp(shape * z - mp.exp(z) - ln_norm)

    def below(z):
        y, term, total, n = mp.exp(z), 1 / shape, 1 / shape, shape
        while term > total * mp.eps:
            n += 1
            term *= y / n
            total += term
        return total * density(z)

    def quantile(side, mass):
        # Upper masses are at least 1e-12, so that a complement loses little.
        with mp.workdps(100):
            if shape > 100:
                # Wilson and Hilferty's start saves many long series.
                root = 1 - 1 / (9 * shape) + normal_score(side, mass) / (3 * mp.sqrt(shape))
                start = mp.log(shape) + 3 * mp.log(root)
                tail = below if side == 0 else lambda z: 1 - below(z)
                z = newton(start, tail, density, 1 - 2 * side, mass)
            elif side == 0:
                start = (mp.log(mass) + mp.loggamma(shape + 1)) / shape
                z = newton(start, below, density, 1, mass)
            else:
                start = mp.log(shape + 8 * mp.sqrt(shape) + 30)
                z = newton(start, lambda z: 1 - below(z), density, -1, mass)
        return mp.exp(z) / rate

    ln_density = lambda x: shape * mp.log(rate) + (shape - 1) * mp.log(x) - rate * x - ln_norm
    return Law(quantile, ln_density, shape / rate, shape / rate**2)


def beta_lower_logit(a, b, mass, start=None):
    """The logit of the lower quantile of Beta(a, b), from the start given or a lower bound."""
    norm = mp.beta(a, b)

    def density(z):
        return mp.exp(-a * mp.log1p(mp.exp(-z)) - b * mp.log1p(mp.exp(z))) / norm

    def series(a, b, x):
        """I_x(a, b) over x^a (1-x)^b/B(a, b)."""
        term, total, n = 1 / a, 1 / a, 0
        while term > total * mp.eps:
            term *= (a + b + n) / (a + 1 + n) * x
            total += term
            n += 1
        return total

    def below(z):
        x, y = 1 / (1 + mp.exp(-z)), 1 / (1 + mp.exp(z))
        # Either series of positive terms will do; the faster one is that of the smaller of x and y.
        return density(z) * series(a, b, x) if x < y else 1 - density(z) * series(b, a, y)

    if start is None:
        start = (mp.log(mass) + mp.log(a * norm)) / a
    if min(a, b) > 100:
        # The logit of a large beta is nearly normal, which saves many long series.
        start = max(start, mp.log(a / b) + normal_score(0, mass) * mp.sqrt(1 / a + 1 / b))
    return newton(start, below, density, 1, mass)


def beta(a, b):
    def quantile(side, mass):
        z = beta_lower_logit(a, b, mass) if side == 0 else -beta_lower_logit(b, a, mass)
        return 1 / (1 + mp.exp(-z))

    ln_norm = mp.log(mp.beta(a, b))
    ln_density = lambda x: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - ln_norm
    return Law(quantile, ln_density, a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1)))


def student_t(df, location, scale):
    half = mpf(1) / 2

    def quantile(side, mass):
        if mass == half:
            return location
        # df/(df + t^2) is Beta(df/2, 1/2), and two tails of t are one of it.
        start = None
        if df > 100:
            # Nearly normal: start at the normal score.
            start = mp.log(df) - 2 * mp.log(-normal_score(0, mass))
        z = beta_lower_logit(df / 2, half, 2 * mass, start)
        return location + (scale if side == 1 else -scale) * mp.sqrt(df) * mp.exp(-z / 2)

    ln_norm = mp.log(scale * mp.sqrt(df) * mp.beta(df / 2, half))
    return Law(
        quantile,
        lambda x: -(df + 1) / 2 * mp.log1p(((x - location) / scale) ** 2 / df) - ln_norm,
        location if df > 1 else None,
        scale**2 * df / (df - 2) if df > 2 else None,
    )


def cauchy(location, scale):
    def quantile(side, mass):
        return location + (scale if side == 1 else -scale) * mp.cot(mp.pi * mass)

    return Law(quantile, lambda x: -mp.log(mp.pi * scale * (1 + ((x - location) / scale) ** 2)), None, None)


def half_cauchy(scale):
    def quantile(side, mass):
        return scale * (mp.tan if side == 0 else mp.cot)(mp.pi * mass / 2)

    return Law(quantile, lambda x: -mp.log(mp.pi * scale / 2 * (1 + (x / scale) ** 2)), None, None)


CASES = [
    ("uniform", uniform, [(0.0, 1.0), (-3.0, 5.0)]),
    ("log-uniform", log_uniform, [(0.01, 100.0), (1e-8, 1e-2), (1.0, 1.0001)]),
    ("normal", normal, [(0.0, 1.0), (2.5, 0.3)]),
    (
        "truncated-normal",
        truncated_normal,
        [
            (0.0, 1.0, -1.0, 2.0),
            (1.0, 2.0, 0.0, float("inf")),
            (0.0, 1.0, 30.0, 40.0),
            (-30.0, 1.0, 0.0, float("inf")),
            (0.0, 1.0, float("-inf"), -5.0),
            (0.5, 10.0, 0.0, 1.0),
        ],
    ),
    ("half-normal", half_normal, [(1.0,), (0.2,)]),
    ("log-normal", log_normal, [(0.0, 1.0), (-2.0, 3.0)]),
    ("exponential", exponential, [(1.0,), (40.0,)]),
    ("gamma", gamma, [(0.01, 1.0), (0.3, 2.0), (1.0, 0.5), (2.5, 3.0), (9.99, 1.0), (30.0, 0.1), (1e4, 1.0), (1e6, 2.0)]),
    (
        "beta",
        beta,
        [(0.5, 0.5), (0.01, 0.5), (1.0, 1.0), (2.0, 5.0), (8.0, 0.2), (12.0, 30.0), (500.0, 3.0), (1e4, 2e4)],
    ),
    ("cauchy", cauchy, [(0.0, 1.0), (-3.0, 0.2)]),
    ("half-cauchy", half_cauchy, [(1.0,), (25.0,)]),
    ("student-t", student_t, [(0.5, 0.0, 1.0), (1.0, 0.0, 1.0), (3.0, 1.0, 2.0), (30.0, 0.0, 1.0), (1e6, 0.0, 1.0)]),
]


def show(v):
    return "" if v is None else mp.nstr(v, 25, min_fixed=0, max_fixed=0)


def rows():
    for name, make, cases in CASES:
        for numbers in cases:
            law = make(*[mpf(v) for v in numbers])
            parameters = ";".join(repr(v) for v in numbers)
            for side, masses in ((0, LOWER), (1, UPPER)):
                for mass in masses:
                    x = law.quantile(side, mpf(mass))
                    # Beyond the range of doubles, or so near one that the double is an end.
                    if not (x == 0 or mpf(10) ** -300 < abs(x) < mpf(10) ** 300) or (name == "beta" and 1 - x < mpf(10) ** -15):
                        continue
                    p, q = (repr(mass), "") if side == 0 else ("", repr(mass))
                    yield ",".join([name, parameters, p, q, show(x), show(law.ln_density(x)), show(law.mean), show(law.variance)])


def main():
    out = Path(__file__).resolve().parents[2] / "data" / "oracle" / "measures.csv"
    with out.open("w") as file:
        print("name,parameters,p,q,quantile,ln_density,mean,variance", file=file)
        for row in rows():
            print(row, file=file, flush=True)


if __name__ == "__main__":
    main()

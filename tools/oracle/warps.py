"""Moments of warped Gaussians, by direct integration: data/oracle/warps.csv and warps_ln.csv.

For g, g' jointly normal with means mu, mu2, variances s, s2 and covariance c, and f = xi(g):

    m = E[xi(g)],    K = E[(xi(g) - m) (xi(g') - m')]

and the partial derivatives of m and K in each of mu, mu2, s, s2, c with the other four held fixed,
which by Price's theorem are expectations of derivatives of xi, e.g. dK/dc = E[xi'(g) xi'(g')],
dK/ds = E[xi''(g) (xi(g') - m')] / 2.

The double integral is the tower rule, E[xi(g) E[xi(g') | g]]. Each level is a sum over an equally
spaced lattice in the standardised variable. For these analytic integrands the lattice error falls
faster than geometrically in 1/step. Every row is summed on a lattice and on the same lattice moved
by half a step, with finer steps until the two agree to 1e-20 in every column. Their mean, in which
the leading errors cancel, is right to 21 digits or more. 72 digits are carried because nearly
constant, nearly independent f and f' cancel. Takes about two minutes on two idle cores.
"""

import math
from multiprocessing import Pool

import gmpy2
from gmpy2 import exp, log, mpfr, sqrt

from common import PI, dot, erfc, given, number, vector, write_table

ROOT_TWO_PI = sqrt(2 * PI)
ROOT_TWO = sqrt(mpfr(2))

HEADER = "warp,parameters,mu,s,mu2,s2,c,m,dm_dmu,dm_ds,K,dK_dc,dK_dmu,dK_dmu2,dK_ds,dK_ds2".split(",")
HEADER_LN = "warp,parameters,mu,s,mu2,s2,c,ln_m,ln_abs_K".split(",")
HALF_WIDTH = 12.0  # exp(-12^2/2) = 5e-32
AGREE = mpfr(10) ** -20  # of each lattice; the error of the mean of two that interleave is about its square
ZERO = mpfr(10) ** -28  # a sum this small beside the sum of its absolute terms is a zero by symmetry
MAX_STEPS = 14


# --- Warps: the jet (xi, xi', xi'') at g, and a bound on the logarithmic slope xi'/xi in double
# precision ---


class Warp:
    """A warp with its parameters.

    `slope(g)` bounds (ln xi)'(g), which says how far an integrand's peak is pulled. `first_step(s)`
    is where the search for a fine enough lattice begins, given the larger variance.
    """

    def __init__(self, name, parameters, jet, slope=lambda g: 0.0, first_step=lambda s: 0.5):
        self.name, self.parameters, self.jet, self.slope, self.first_step = name, parameters, jet, slope, first_step


def square_jet(alpha):
    a = mpfr(alpha)
    return lambda g: (a + g * g, 2 * g, mpfr(2))


def log_jet(g):
    e = exp(g)
    return e, e, e


def probit_jet(g):
    """(Phi, phi, -g phi)."""
    density = exp(-g * g / 2) / ROOT_TWO_PI
    return erfc(-g / ROOT_TWO) / 2, density, -g * density


def probit_slope(g):
    if g < -30:
        return 1 - g
    return math.exp(-g * g / 2) / math.sqrt(2 * math.pi) / (math.erfc(-g / math.sqrt(2)) / 2)


def horner(ascending, g):
    total = mpfr(0)
    for a in reversed(ascending):
        total = total * g + a
    return total


def polynomial_jet(coefficients):
    """Ascending coefficients, and their derivatives, by Horner's rule."""
    levels = [[mpfr(a) for a in coefficients]]
    for _ in range(2):
        levels.append([k * a for k, a in enumerate(levels[-1])][1:])
    return lambda g: tuple(horner(level, g) for level in levels)


def gumbel_jet(tau):
    """xi = exp(-tau expm1(-g/tau)), with x = exp(-g/tau): xi' = x xi, xi'' = (x^2 - x/tau) xi."""
    t = mpfr(tau)

    def jet(g):
        x = exp(-g / t)
        value = exp(t - t * x)
        return value, x * value, (x * x - x / t) * value

    return jet


def gumbel_slope(tau):
    return lambda g: math.exp(min(-g / tau, 300.0))


def logistic_jet(g):
    """p = 1/(1 + exp(-g)), q = 1 - p: (p, pq, pq(q - p))."""
    e = exp(-abs(g))
    big, small = 1 / (1 + e), e / (1 + e)
    p, q = (big, small) if g > 0 else (small, big)
    return p, p * q, p * q * (q - p)


def softplus_jet(g):
    p, slope, _ = logistic_jet(g)
    return max(g, mpfr(0)) + log(1 + exp(-abs(g))), p, slope


def logistic_slope(g):
    return 1 / (1 + math.exp(min(g, 300.0)))


IDENTITY = Warp("identity", "", lambda g: (g, mpfr(1), mpfr(0)))
SQUARES = [Warp("square", f"alpha={given(a)}", square_jet(a)) for a in (0.0, 0.3)]
LOG = Warp("log", "", log_jet, lambda g: 1.0)
PROBIT = Warp("probit", "", probit_jet, probit_slope, lambda s: 0.6 / math.sqrt(1 + s))
POLYNOMIALS = [
    Warp("polynomial", f"coefficients={vector(a)}", polynomial_jet(a))
    for a in ([0.5, -1, 0.25, 2], [0, 0, 0, 1], [1, 0, 0, 0, 0.3, -0.1])
]
GUMBELS = {t: Warp("gumbel", f"tau={given(t)}", gumbel_jet(t), gumbel_slope(t), lambda s: 0.4) for t in (30.0, 5.0)}
POLE_STEP = lambda s: min(0.5, 0.42 / math.sqrt(s))  # poles at g = +-i pi: error exp(-2 pi^2 / (step sqrt(s)))
SOFTPLUS = Warp("numeric", "xi=softplus", softplus_jet, logistic_slope, POLE_STEP)
LOGISTIC = Warp("numeric", "xi=logistic", logistic_jet, logistic_slope, POLE_STEP)


# --- Integration ---


class Lattice:
    """Points (i + offset) step and normal weights step phi(point), made once per index."""

    def __init__(self, step, offset):
        self.step, self.offset, self.known = mpfr(step), mpfr(offset), {}

    def span(self, reach, back=0.0):
        """Points and weights over [-back - HALF_WIDTH, reach + HALF_WIDTH]."""
        low = -math.ceil((HALF_WIDTH + back) / self.step)
        high = math.ceil((HALF_WIDTH + reach) / self.step)
        stop = high + 1 if self.offset == 0 else high  # either way symmetric about zero when reach is zero
        return [self.point(i) for i in range(low, stop)]

    def point(self, i):
        if i not in self.known:
            u = (i + self.offset) * self.step
            self.known[i] = (u, self.step * exp(-u * u / 2) / ROOT_TWO_PI)
        return self.known[i]


def reach(warp, mu, s):
    """Where u = 2 sqrt(s) slope(mu + sqrt(s) u), by bisection.

    This is at or beyond the peak of xi(mu + sqrt(s) u)^2 phi(u).
    """
    mu, sd = float(mu), math.sqrt(s)
    low, high = 0.0, 1.0
    beyond = lambda u: u >= 2 * sd * warp.slope(mu + sd * u)
    while not beyond(high):
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return low


def expectations(warp, mu, s, lattice):
    """E[xi(g)], E[xi'(g)], E[xi''(g)] and sums of absolute terms, g ~ N(mu, s), s >= 0."""
    if s == 0:
        jet = warp.jet(mu)
        return jet, tuple(abs(a) for a in jet)
    sd = sqrt(s)
    nodes = lattice.span(reach(warp, mu, s))
    columns = list(zip(*(warp.jet(mu + sd * u) for u, _ in nodes)))
    mass = gmpy2.fsum([w for _, w in nodes])  # 1 up to the lattice error; dividing by it makes constants exact
    weights = [w / mass for _, w in nodes]
    return (
        tuple(dot(weights, column) for column in columns),
        tuple(dot(weights, [abs(a) for a in column]) for column in columns),
    )


def row_values(warp, mu, s, mu2, s2, c, lattice):
    """m, dm_dmu, dm_ds, K, dK_dc, dK_dmu, dK_dmu2, dK_ds, dK_ds2 and absolute sums, one lattice."""
    first, first_size = expectations(warp, mu, s, lattice)
    second, _ = expectations(warp, mu2, s2, lattice)
    totals, sizes = [mpfr(0)] * 6, [mpfr(0)] * 6
    sd = sqrt(s)
    conditional = s2 - c * c / s
    back = reach(warp, mu2, s2) if c < 0 else 0.0  # with c < 0 the second point pulls u down
    for u, weight in lattice.span(reach(warp, mu, s), back):
        a0, a1, a2 = warp.jet(mu + sd * u)
        (b0, b1, b2), (_, size1, size2) = expectations(warp, mu2 + c / sd * u, conditional, lattice)
        da, db = a0 - first[0], b0 - second[0]
        terms = (da * db, a1 * b1, a1 * db, da * b1, a2 * db / 2, da * b2 / 2)
        bounds = (da * db, a1 * size1, a1 * db, da * size1, a2 * db, da * size2)
        for k in range(6):
            totals[k] += weight * terms[k]
            sizes[k] += weight * abs(bounds[k])
    values = [first[0], first[1], first[2] / 2] + totals
    return values, list(first_size) + sizes


def agreed(a, b, size):
    """The mean of two lattices' values where they agree, zero where both vanish, else None."""
    if abs(a) <= ZERO * size and abs(b) <= ZERO * size:
        return mpfr(0)
    return (a + b) / 2 if abs(a - b) <= AGREE * abs(a) else None


def converged(warp, inputs):
    """All nine values, on ever finer lattices until two that interleave agree."""
    mu, s, mu2, s2, c = (mpfr(x) for x in inputs)
    step = warp.first_step(max(inputs[1], inputs[3]))
    for _ in range(MAX_STEPS):
        a, sizes = row_values(warp, mu, s, mu2, s2, c, Lattice(step, 0))
        b, _ = row_values(warp, mu, s, mu2, s2, c, Lattice(step, mpfr(1) / 2))
        values = [agreed(*triple) for triple in zip(a, b, sizes)]
        if None not in values:
            return values
        step *= 0.75
    raise ArithmeticError(f"no convergence: {warp.name} {warp.parameters} {inputs}")


# --- Rows ---

SAME = "same"  # the same point twice: mu2 = mu, s2 = s = c

MODERATE = [
    (0.0, 1.0, 0.0, 1.0, 0.0),
    (-3.0, 2.0, 1.0, 0.1, 0.0),
    (0.5, 1.0, -0.3, 2.0, 1e-10),
    (0.0, 1e-6, 0.0, 1e-6, 1e-10),
    (0.5, 1.0, 0.5, 1.0, 0.3),
    (3.0, 9.0, -4.0, 2.0, 0.3),
    (-1.0, 0.25, 2.0, 1.0, -0.3),
    (5.0, 0.01, -5.0, 9.0, -0.3),
    (1.5, 0.5, -0.7, 0.8, 0.9),
    (-5.0, 9.0, -5.0, 9.0, 0.9),
    (5.0, 1e-6, 4.0, 1e-6, 0.9),
    (-1.0, 1.0, 1.5, 1.0, -0.9),
    (0.2, 1.0, 0.25, 1.1, 0.999),
    (2.0, 1e-4, 2.001, 1.1e-4, 0.999),
    (0.1, 4.0, 0.2, 5.0, 0.999),
    (0.3, 2.0, -0.4, 0.7, -0.999),
    (0.0, 1.0, 0.0, 1.0, SAME),
    (0.7, 1.3, 0.7, 1.3, SAME),
    (-2.0, 4.0, -2.0, 4.0, SAME),
    (4.0, 9.0, 4.0, 9.0, SAME),
    (1.0, 1e-12, 1.0, 1e-12, SAME),
    (-1.5, 1e-12, 0.3, 1e-12, 0.3),
    (-1.5, 1e-12, 0.3, 1.0, -0.3),
    (-2.5, 0.1, 2.5, 1e-12, 1e-10),
]

# Wide variances need very fine lattices where xi has poles or is costly: left to the other warps.
COSTLY = [row for row in MODERATE if row[4] != SAME and max(row[1], row[3]) > 2.0]

PROBIT_TAILS = [
    (-8.0, 1e-6, -8.0, 1e-6, SAME),
    (-8.0, 1.0, -8.0, 1.0, SAME),
    (-8.0, 1.0, -7.0, 0.5, 0.3),
    (-8.0, 0.01, -6.0, 2.0, -0.3),
    (-7.0, 1e-12, -6.5, 1e-12, 0.9),
    (-6.0, 0.1, -6.0, 0.1, 0.999),
    (-6.0, 0.5, 7.0, 0.5, 0.9),
    (7.0, 0.5, 7.0, 0.5, SAME),
    (7.0, 0.1, 6.5, 0.2, 0.3),
    (7.0, 1e-4, 6.0, 1e-4, 1e-10),
]

LOG_WIDE = [
    (-200.0, 1.0, -200.0, 1.0, SAME),
    (200.0, 1.0, 190.0, 2.0, 0.3),
    (-200.0, 20.0, 200.0, 20.0, 0.9),
    (50.0, 20.0, 50.0, 20.0, SAME),
    (-50.0, 20.0, -45.0, 10.0, -0.9),
    (200.0, 1e-12, 200.0, 1e-12, 0.999),
    (-200.0, 0.1, -190.0, 0.2, 1e-10),
]

GUMBEL_WIDE = [
    (mu, s, mu2, s2, rho)
    for mu, mu2 in ((-60.0, -60.0), (-20.0, -20.0), (-3.0, -2.0), (0.0, 0.0), (5.0, 4.0))
    for s, s2, rho in ((1e-8, 1e-8, 0.3), (0.1, 0.2, 0.9), (1.0, 1.0, 0.999), (4.0, 4.0, -0.3))
] + [
    (-60.0, 1.0, -60.0, 1.0, SAME),
    (-60.0, 4.0, 5.0, 0.1, 0.3),
    (-20.0, 4.0, -20.0, 4.0, SAME),
    (-20.0, 1.0, -3.0, 4.0, 1e-10),
    (-3.0, 0.1, -3.0, 0.1, SAME),
    (0.0, 1e-8, 0.0, 1e-8, SAME),
    (5.0, 4.0, 5.0, 4.0, SAME),
    (0.0, 1.0, 5.0, 4.0, 0.0),
]

LN_ROWS = [
    (LOG, mu, s, mu + shift, s2, rho)
    for mu in (-20000.0, -2000.0, 3000.0)
    for s, shift, s2, rho in ((1.0, 0.0, 1.0, SAME), (0.01, 5.0, 2.0, 0.3), (20.0, -3.0, 10.0, -0.9), (1e-12, 1.0, 1e-12, 0.999))
] + [
    (warp, mu, s, mu2, s, rho)
    for warp, mu, mu2, scales in (
        (GUMBELS[30.0], -200.0, -199.0, (0.01, 1.0)),
        (GUMBELS[5.0], -20.0, -19.5, (0.01, 1.0)),
        (PROBIT, -40.0, -39.0, (1.0,)),
    )
    for s in scales
    for rho in (0.3, 0.999)
] + [
    (warp, mu, s, mu, s, SAME)
    for warp, mu, scales in (
        (GUMBELS[30.0], -200.0, (0.01, 1.0)),
        (GUMBELS[5.0], -20.0, (0.01, 1.0)),
        (PROBIT, -40.0, (1.0,)),
    )
    for s in scales
]


def covariance(s, s2, rho):
    return s if rho == SAME else rho * math.sqrt(s * s2)


def cases():
    """(warp, mu, s, mu2, s2, rho) of the main table."""
    cheap, dear = [IDENTITY, *SQUARES, LOG, *POLYNOMIALS], [PROBIT, SOFTPLUS, LOGISTIC]
    rows = [(warp, *row) for warp in cheap for row in MODERATE]
    rows += [(warp, *row) for warp in dear for row in MODERATE if row not in COSTLY]
    rows += [(PROBIT, *row) for row in PROBIT_TAILS]
    rows += [(LOG, *row) for row in LOG_WIDE]
    rows += [(GUMBELS[30.0], *row) for row in GUMBEL_WIDE]
    rows += [(GUMBELS[5.0], *row) for row in GUMBEL_WIDE if min(row[0], row[2]) >= -20]  # at -60 m underflows a double
    return rows


def in_double_range(values):
    return all(v == 0 or mpfr("1e-300") < abs(v) < mpfr("1e300") for v in values)


def inputs_and_values(case):
    warp, mu, s, mu2, s2, rho = case
    inputs = (mu, s, mu2, s2, covariance(s, s2, rho))
    return inputs, converged(warp, inputs)


def table_row(case):
    """A row of warps.csv, or None where a value leaves the range of doubles."""
    inputs, values = inputs_and_values(case)
    if not in_double_range(values):
        return None
    return [case[0].name, case[0].parameters, *map(given, inputs), *map(number, values)]


def ln_row(case):
    inputs, values = inputs_and_values(case)
    logs = (log(values[0]), log(abs(values[3])))
    return [case[0].name, case[0].parameters, *map(given, inputs), *map(number, logs)]


def main_row(index):
    return table_row(cases()[index])


def ln_table_row(index):
    return ln_row(LN_ROWS[index])


def main():
    with Pool() as pool:
        write_table("warps", HEADER, [row for row in pool.imap(main_row, range(len(cases()))) if row])
        write_table("warps_ln", HEADER_LN, pool.imap(ln_table_row, range(len(LN_ROWS))))


if __name__ == "__main__":
    main()

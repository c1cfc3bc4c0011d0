"""Edges, heavy tails and skewed sides: densities that no Gaussian resembles, with closed forms."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.special import gammaln

from .problem import Array, Problem, box


def edge_1d() -> Problem:
    """Z = (1 - e^-50)/50."""
    return Problem(
        "edge_1d",
        "report",
        "The one-sided exponential exp(-50 x) on [0, 1]: an upper limit, with its mass at the edge of the box.",
        box(1, 0.0, 1.0),
        lambda x: -50.0 * x[:, 0],
        float(np.log(-np.expm1(-50.0) / 50.0)),
    )


def student(x: Array, df: Array, centre: Array, scale: Array) -> Array:
    """log of a product of Student t densities."""
    r = (x - centre) / scale
    norming = (
        gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(df * np.pi) - np.log(scale)
    )
    return (norming - 0.5 * (df + 1.0) * np.log1p(r * r / df)).sum(1)


def student_log_z(lo: float, hi: float, df: Array, centre: Array, scale: Array) -> float:
    """log of its mean over the box [lo, hi]^d, by the distribution functions."""
    inside = stats.t.cdf((hi - centre) / scale, df) - stats.t.cdf((lo - centre) / scale, df)
    return float(np.log(inside / (hi - lo)).sum())


def cauchy_2d() -> Problem:
    """See student_log_z, with df = 1: arc tangents."""
    law = np.ones(2), np.array([1.0, -2.0]), np.array([1.0, 0.5])
    about = "A product of two Cauchy densities in [-20, 20]^2: tails so heavy that a tenth of the mass is far out."
    return Problem(
        "cauchy_2d",
        "report",
        about,
        box(2, -20.0, 20.0),
        lambda x: student(x, *law),
        student_log_z(-20.0, 20.0, *law),
    )


def student_5d() -> Problem:
    """See student_log_z."""
    law = np.linspace(2.5, 4.5, 5), np.array([0.5, -0.5, 1.0, 0.0, -1.0]), np.ones(5)
    about = "A product of Student t densities of 2.5 to 4.5 degrees of freedom in [-10, 10]^5, as in Acerbi (2018, VBMC)."
    return Problem(
        "student_5d",
        "report",
        about,
        box(5, -10.0, 10.0),
        lambda x: student(x, *law),
        student_log_z(-10.0, 10.0, *law),
    )


THIRD, TWO_THIRDS, WIDTH = 1.0 / 3.0, 2.0 / 3.0, 1.0 / 30.0


def log_gamma(x: Array, centre: float) -> Array:
    """log density of ln of an exponential, shifted and scaled: y - e^y, long to the left."""
    y = (x - centre) / WIDTH
    return y - np.exp(y) - np.log(WIDTH)


def bell(x: Array, centre: float) -> Array:
    """log density of a normal about `centre`."""
    return -0.5 * ((x - centre) / WIDTH) ** 2 - np.log(WIDTH * np.sqrt(2.0 * np.pi))


def pair(law: object, x: Array) -> Array:
    """log of half a density at 1/3 and half at 2/3."""
    return np.logaddexp(law(x, THIRD), law(x, TWO_THIRDS)) - np.log(2.0)  # type: ignore[operator]


def log_gamma_mass(centre: float) -> float:
    """What of log_gamma lies in [0, 1]: exp(-e^a) - exp(-e^b) at the ends' y."""
    a, b = -centre / WIDTH, (1.0 - centre) / WIDTH
    return float(np.exp(-np.exp(a)) - np.exp(-np.exp(b)))


def bell_mass(centre: float) -> float:
    """What of bell lies in [0, 1]."""
    return float(stats.norm.cdf((1.0 - centre) / WIDTH) - stats.norm.cdf(-centre / WIDTH))


def pair_mass(law_mass: object) -> float:
    """What of pair lies in [0, 1]."""
    return 0.5 * (law_mass(THIRD) + law_mass(TWO_THIRDS))  # type: ignore[operator]


def loggamma_3d() -> Problem:
    """The product of the masses in [0, 1], all within 5e-5 of 1."""
    z = pair_mass(log_gamma_mass) * pair_mass(bell_mass) * log_gamma_mass(TWO_THIRDS)
    return Problem(
        "loggamma_3d",
        "tune",
        "Two log-gammas times two normals times a log-gamma in the unit cube, four modes: Beaujean and Caldwell (2013), UltraNest.",
        box(3, 0.0, 1.0),
        lambda x: pair(log_gamma, x[:, 0]) + pair(bell, x[:, 1]) + log_gamma(x[:, 2], TWO_THIRDS),
        float(np.log(z)),
    )


def skewed_8d() -> Problem:
    """The product of the masses: (1 - exp(-e^b))^8 to rounding, b = 3 at the upper end."""
    scale, centre = 0.1, 0.7
    a, b = -centre / scale, (1.0 - centre) / scale
    mass = np.exp(-np.exp(a)) - np.exp(-np.exp(b))

    def f(x: Array) -> Array:
        y = (x - centre) / scale
        return (y - np.exp(y)).sum(1) - 8.0 * np.log(scale)

    about = (
        "A product of eight log-gammas in the unit cube, steep on one side and long on the other."
    )
    return Problem("skewed_8d", "report", about, box(8, 0.0, 1.0), f, 8.0 * float(np.log(mass)))


def problems() -> list[Problem]:
    """All of this family."""
    return [edge_1d(), cauchy_2d(), loggamma_3d(), student_5d(), skewed_8d()]

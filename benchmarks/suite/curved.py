"""Bananas, shells, funnels and egg boxes of the samplers: mass along curves, in many places."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from .problem import Array, Problem, box


def rosenbrock(x: Array) -> Array:
    """-sum_i (100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2)/20."""
    a, b = x[:, :-1], x[:, 1:]
    return -(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2).sum(1) / 20.0


def banana_2d() -> Problem:
    """No closed form."""
    about = "Rosenbrock's valley, -(100 (y - x^2)^2 + (1 - x)^2)/20 in [-5, 5]^2, as nested samplers and GPry test it."
    return Problem("banana_2d", "tune", about, box(2, -5.0, 5.0), rosenbrock)


def rosenbrock_4d() -> Problem:
    """No closed form; a chain, so that one integral after another is exact."""
    about = "Rosenbrock's valley in four dimensions, over 20, in [-5, 5]^4: a thin curved sheet."
    return Problem("rosenbrock_4d", "report", about, box(4, -5.0, 5.0), rosenbrock)


def hdr_2d() -> Problem:
    """No closed form."""
    return Problem(
        "hdr_2d",
        "report",
        "Two peaks of width 0.02 with a range of e^20000, -500 ((x^2 - 1)^2 + (y - x)^2): as sharp data make them.",
        box(2, -2.0, 2.0),
        lambda x: -500.0 * ((x[:, 0] ** 2 - 1.0) ** 2 + (x[:, 1] - x[:, 0]) ** 2),
    )


def shell(x: Array, centre: Array, radius: float, width: float) -> Array:
    """log Normal(|x - centre|; radius, width)."""
    r = np.sqrt(((x - centre) ** 2).sum(1))
    return -0.5 * ((r - radius) / width) ** 2 - np.log(width * np.sqrt(2.0 * np.pi))


def shells_2d() -> Problem:
    """Each shell holds 2 pi E r = 2 pi 2, but for the 1e-8 that the box cuts: see the cubature."""
    left, right = np.array([-3.5, 0.0]), np.array([3.5, 0.0])
    return Problem(
        "shells_2d",
        "report",
        "Two thin circles of radius 2 and width 0.1 in [-6, 6]^2: the Gaussian shells of MultiNest and dynesty.",
        box(2, -6.0, 6.0),
        lambda x: np.logaddexp(shell(x, left, 2.0, 0.1), shell(x, right, 2.0, 0.1)),
    )


def shell_3d() -> Problem:
    """Z = 4 pi (2^2 + 0.2^2)/8^3: ten widths from the centre and from the faces."""
    return Problem(
        "shell_3d",
        "report",
        "A sphere's thin surface of radius 2 and width 0.2 in [-4, 4]^3: one Gaussian shell of MultiNest's.",
        box(3, -4.0, 4.0),
        lambda x: shell(x, np.zeros(3), 2.0, 0.2),
        float(np.log(4.0 * np.pi * (2.0**2 + 0.2**2) / 8.0**3)),
    )


def eggbox_2d() -> Problem:
    """No closed form; dynesty's documentation says 235.856."""
    return Problem(
        "eggbox_2d",
        "tune",
        "The egg box (2 + cos(x/2) cos(y/2))^5 in [0, 10 pi]^2, 18 equal peaks: Feroz et al. (2009), dynesty.",
        box(2, 0.0, 10.0 * np.pi),
        lambda x: (2.0 + np.cos(0.5 * x[:, 0]) * np.cos(0.5 * x[:, 1])) ** 5,
    )


def himmelblau_2d() -> Problem:
    """No closed form."""
    return Problem(
        "himmelblau_2d",
        "report",
        "Himmelblau's function over 10, -((x^2 + y - 11)^2 + (x + y^2 - 7)^2)/10 in [-6, 6]^2: four joined modes, as in GPry.",
        box(2, -6.0, 6.0),
        lambda x: (
            -((x[:, 0] ** 2 + x[:, 1] - 11.0) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7.0) ** 2) / 10.0
        ),
    )


def funnel_2d() -> Problem:
    """Z = E_v [2 Phi(30 exp(-v/2)) - 1]/60: closed over x, and smooth over v."""
    inner = lambda v: norm.pdf(v, 0.0, 3.0) * (2.0 * norm.cdf(30.0 * np.exp(-0.5 * v)) - 1.0)  # noqa: E731
    z = quad(inner, -30.0, 30.0, epsabs=0.0, epsrel=1e-12, limit=500, points=[6.8])[0]
    return Problem(
        "funnel_2d",
        "tune",
        "Neal's funnel (2003) with one branch: v ~ Normal(0, 3), log Normal(x; 0, exp(v/2)) for x in [-30, 30].",
        {"v": ("normal", 0.0, 3.0), "x": ("uniform", -30.0, 30.0)},
        lambda x: -0.5 * (x[:, 1] ** 2 * np.exp(-x[:, 0]) + x[:, 0] + np.log(2.0 * np.pi)),
        float(np.log(z / 60.0)),
    )


BEND = 0.03


def twisted(x: Array) -> Array:
    """Haario's: Normal(y; 0, diag(100, 1, ..., 1)), y = x but y_2 = x_2 + b (x_1^2 - 100)."""
    y = x.copy()
    y[:, 1] += BEND * (x[:, 0] ** 2 - 100.0)
    y[:, 0] /= 10.0
    return -0.5 * ((y * y).sum(1) + x.shape[1] * np.log(2.0 * np.pi)) - np.log(10.0)


def twisted_10d() -> Problem:
    """The twist keeps volumes: Z is the mass in the box, an integral over x_1, over its volume."""
    priors = {"x0": ("uniform", -40.0, 40.0), "x1": ("uniform", -40.0, 20.0)}
    priors |= {f"x{i}": ("uniform", -6.0, 6.0) for i in range(2, 10)}

    def inner(x: float) -> float:
        bend = BEND * (x * x - 100.0)
        return norm.pdf(x, 0.0, 10.0) * (norm.cdf(20.0 + bend) - norm.cdf(-40.0 + bend))

    mass = quad(inner, -40.0, 40.0, epsabs=0.0, epsrel=1e-12, limit=500)[0]
    faces = 8 * np.log((norm.cdf(6.0) - norm.cdf(-6.0)) / 12.0)
    about = "The twisted Gaussian of Haario et al. (1999) in ten dimensions, bent by 0.03: a long banana in a box."
    return Problem(
        "twisted_10d", "tune", about, priors, twisted, float(np.log(mass / (80.0 * 60.0)) + faces)
    )


def problems() -> list[Problem]:
    """All of this family."""
    return [
        banana_2d(), hdr_2d(), shells_2d(), eggbox_2d(), himmelblau_2d(), funnel_2d(), shell_3d(), rosenbrock_4d(), twisted_10d(),
    ]  # fmt: skip

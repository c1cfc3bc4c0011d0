"""The coordinates in which peers see a problem: unit cube, normal scores, or weighted boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

# Scores beyond 8.2 have a distribution function that rounds to 1: x would be infinite.
FARTHEST = 8.0
# The uniform law on (-sqrt 3, sqrt 3) has the mean and the variance of the standard normal law.
EDGE = np.sqrt(3.0)
BOXES = ("uniform", "loguniform")


def log_f_of_cube(problem: Any, u: Any) -> float:
    """The log-likelihood at a point of the unit cube."""
    return problem.log_likelihood(problem.transform(np.asarray(u, dtype=float)))


def log_f_of_cubes(problem: Any, u: Any) -> np.ndarray:
    """The log-likelihoods at n points of the unit cube."""
    return np.array([log_f_of_cube(problem, point) for point in np.asarray(u, dtype=float)])


def all_normal(problem: Any) -> bool:
    """Whether every prior is a normal law, so that scores are x itself but for its unit."""
    return all(prior[0] == "normal" for prior in problem.priors.values())


class Standard:
    """Coordinates t in which the measure is standard normal, and which keep the shape of a box.

    A normal parameter is its score. A uniform one (of the log, if it is log-uniform) is on
    (-sqrt 3, sqrt 3). There f is weighed by the ratio of the uniform density to the normal one, so
    that the integral of f against the normal law over the box is Z. Any other is the score of its
    distribution function.
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.boxed = np.array([prior[0] in BOXES for prior in problem.priors.values()])

    def log_f(self, t: Any) -> float:
        """The log of the likelihood times the weight."""
        t = np.clip(np.asarray(t, dtype=float), -FARTHEST, FARTHEST)
        inside = np.clip(t[self.boxed], -EDGE, EDGE)
        u = ndtr(t)
        u[self.boxed] = (inside / EDGE + 1) / 2
        weight = np.sum(inside**2 / 2 + 0.5 * np.log(2 * np.pi) - np.log(2 * EDGE))
        return log_f_of_cube(self.problem, u) + float(weight)

    def start(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n draws of the prior."""
        t = rng.standard_normal((n, len(self.boxed)))
        t[:, self.boxed] = rng.uniform(-EDGE, EDGE, (n, int(self.boxed.sum())))
        return t

    def bounds(self, reach: float) -> list[tuple[float, float]]:
        """Where to look: the box, or so many standard deviations."""
        return [(-EDGE, EDGE) if boxed else (-reach, reach) for boxed in self.boxed]


class Natural:
    """Coordinates t with a density: x, its log if the prior is one of the log, or its normal score.

    For packages that take a log density on a box or on the whole line. In t every prior is uniform
    or normal.
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.boxed = np.array([prior[0] in BOXES for prior in problem.priors.values()])
        # The two numbers of each law: its ends, or its mean and standard deviation.
        self.laws = np.array([_law(*prior) for prior in problem.priors.values()])

    def of_cube(self, u: Any) -> np.ndarray:
        """t of a point of the unit cube, or of one probability for all parameters."""
        a, b = self.laws.T
        return np.where(self.boxed, a + (b - a) * u, a + b * ndtri(u))

    def log_likelihood(self, t: Any) -> float:
        """The log-likelihood at t."""
        a, b = self.laws.T
        t = np.asarray(t, dtype=float).reshape(-1)
        with np.errstate(over="ignore"):
            u = np.where(
                self.boxed, (t - a) / (b - a), ndtr(np.clip((t - a) / b, -FARTHEST, FARTHEST))
            )
        return log_f_of_cube(self.problem, np.clip(u, 0.0, 1.0))

    def log_prior(self, t: Any) -> float:
        """The log density of the prior at t, inside the boxes."""
        a, b = self.laws.T
        t = np.asarray(t, dtype=float).reshape(-1)
        normal = -0.5 * ((t - a) / b) ** 2 - np.log(b) - 0.5 * np.log(2 * np.pi)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(self.boxed, -np.log(b - a), normal).sum())


def _law(family: str, *numbers: float) -> tuple[float, float]:
    if family == "loguniform":
        return float(np.log(numbers[0])), float(np.log(numbers[1]))
    if family in ("uniform", "normal", "lognormal"):
        return float(numbers[0]), float(numbers[1])
    return 0.0, 1.0

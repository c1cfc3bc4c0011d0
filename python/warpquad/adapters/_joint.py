"""Integrate a joint density of parameters and data against a reference measure found by itself.

Where a package says no prior apart, only the joint density on coordinates without bounds, the
measure is a normal law around the modes of the density.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._ported import Problem
from warpquad._priors import Priors, multivariate_normal, read

Array = npt.NDArray[np.float64]

# Where climbs to the modes start: at the origin and at points within 2 of it, as Stan's inits are.
STARTS = 6
# A climb is held to about the origin by a normal law so many units wide: an improper direction has
# no top, and a unit of free coordinates is a factor e or a standard deviation as a rule.
HOLD = 10.0
# The reference measure is so many times wider than the modes: its tails must not be thinner than
# those of the posterior.
WIDER = 2.0
# Modes of less than this part of the largest one's mass are left to the integration.
LEAST_NATS = 20.0
# The step of differences of gradients, in units of free coordinates.
STEP = 1e-4


class Joint(Protocol):
    """ln of a joint density on coordinates without bounds, every constant and Jacobian included."""

    @property
    def names(self) -> list[str]:
        """The names of the coordinates."""

    def __call__(self, theta: Array) -> float:
        """ln of the density; -inf where it is 0."""

    def with_gradient(self, theta: Array) -> tuple[float, Array]:
        """The same with its gradient."""

    def derived(self, theta: Array) -> dict[str, float]:
        """The model's own parameters."""


def problem(density: Joint, seed: int) -> Problem:
    """The density against its reference measure; the model's own parameters are derived."""
    center, covariance = reference(density, seed)
    return Problem(Against(density, center, covariance), on_coordinates(density, center, covariance))


def on_coordinates(density: Joint, center: Array, covariance: Array) -> Priors:
    """The reference measure as a prior."""
    unconstrained = [f"unconstrained({name})" for name in density.names]
    return read(multivariate_normal(center, covariance), names=unconstrained)


class Against:
    """The joint density over that of the reference measure."""

    def __init__(self, density: Joint, center: Array, covariance: Array) -> None:
        self.density, self.center = density, center
        self.factor = np.linalg.cholesky(covariance)
        ln_volume = np.log(np.diag(self.factor)).sum() + 0.5 * len(center) * math.log(2 * math.pi)
        self.ln_top = -float(ln_volume)

    def ln_ratio(self, theta: Array) -> float:
        """ln of the ratio at coordinates without bounds."""
        t = np.linalg.solve(self.factor, theta - self.center)
        return self.density(theta) - (self.ln_top - 0.5 * float(t @ t))

    def __call__(self, x: Array) -> Any:
        theta = np.ascontiguousarray(x, dtype=float)
        return self.ln_ratio(theta), self.density.derived(theta)


def reference(density: Joint, seed: int) -> tuple[Array, Array]:
    """The mean and the covariance of a normal law that covers the modes of a density."""
    dim = len(density.names)
    rng = np.random.default_rng(seed)
    starts = [np.zeros(dim), *rng.uniform(-2, 2, (STARTS - 1, dim))]
    modes: list[tuple[float, Array, Array]] = []
    for start in starts:
        found = _mode(density, start)
        if found is None:
            continue
        theta, covariance = found
        apart = (theta - other for _, other, _ in modes)
        if any(float(a @ np.linalg.solve(covariance, a)) < 0.1 for a in apart):
            continue
        _, ln_volume = np.linalg.slogdet(covariance)
        modes.append((density(theta) + 0.5 * float(ln_volume), theta, covariance))
    if not modes:
        raise SpecError.of(
            "model", f"its density is 0, or has no gradient, at the origin and at {STARTS - 1} points around it; "
            "check the data, or give log_f and priors yourself"
        )
    most = max(ln_mass for ln_mass, _, _ in modes)
    kept = [(theta, covariance) for ln_mass, theta, covariance in modes if ln_mass > most - LEAST_NATS]
    center = np.mean([theta for theta, _ in kept], axis=0)
    own = np.mean([covariance for _, covariance in kept], axis=0)
    between = np.mean([np.outer(theta - center, theta - center) for theta, _ in kept], axis=0)
    return center, WIDER**2 * own + between


def _mode(density: Joint, start: Array) -> tuple[Array, Array] | None:
    """A mode that a climb from a point ends at, and the covariance of its normal approximation."""
    try:
        from scipy.optimize import minimize  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError("a joint density needs scipy: pip install warpquad[scipy]") from error

    def downhill(theta: Array) -> tuple[float, Array]:
        value, slope = density.with_gradient(theta)
        held = 0.5 * float(theta @ theta) / HOLD**2
        # A finite wall, from which the climb turns back.
        return (held - value if math.isfinite(value) else 1e300), theta / HOLD**2 - slope

    if not math.isfinite(density(start)):
        return None
    theta = np.asarray(minimize(downhill, start, jac=True, method="BFGS").x, dtype=float)
    hessian = np.empty((theta.size, theta.size))
    for i in range(theta.size):
        step = np.zeros(theta.size)
        step[i] = STEP
        hessian[i] = (downhill(theta + step)[1] - downhill(theta - step)[1]) / (2 * STEP)
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    if not np.isfinite(values).all():
        return None
    # No direction is wider than what holds the climb.
    covariance = (vectors / np.maximum(values, 1 / HOLD**2)) @ vectors.T
    return theta, 0.5 * (covariance + covariance.T)



"""Integrate at most three dimensions by Gauss-Legendre panels, in natural coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .problem import Array, Prior, Problem

# Nodes of a panel.
ORDER = 8
# Standard deviations after which a normal is left out: 1e-22 of it.
FAR = 9.8


@dataclass(frozen=True)
class Axis:
    """A coordinate t: its range, x of t, and the log density of the prior in t."""

    lo: float
    hi: float
    to_x: Callable[[Array], Array]
    log_density: Callable[[Array], Array]


def _same(t: Array) -> Array:
    return t


def _flat(lo: float, hi: float, to_x: Callable[[Array], Array]) -> Axis:
    return Axis(lo, hi, to_x, lambda t: np.full_like(t, -np.log(hi - lo)))


def _normal(mean: float, sd: float, to_x: Callable[[Array], Array], lo: float = -FAR) -> Axis:
    norming = np.log(sd) + 0.5 * np.log(2.0 * np.pi) - (np.log(2.0) if lo == 0.0 else 0.0)
    return Axis(
        mean + lo * sd, mean + FAR * sd, to_x, lambda t: -0.5 * ((t - mean) / sd) ** 2 - norming
    )


AXES: dict[str, Callable[..., Axis]] = {
    "uniform": lambda lo, hi: _flat(lo, hi, _same),
    "loguniform": lambda lo, hi: _flat(float(np.log(lo)), float(np.log(hi)), np.exp),
    "normal": lambda mean, sd: _normal(mean, sd, _same),
    "halfnormal": lambda sd: _normal(0.0, sd, _same, lo=0.0),
    "lognormal": lambda mean, sd: _normal(mean, sd, np.exp),
}


def axis(prior: Prior) -> Axis:
    """The natural coordinate of a prior."""
    return AXES[prior[0]](*prior[1:])


def rule(lo: float, hi: float, panels: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss and Legendre's rule on equal panels."""
    t, w = np.polynomial.legendre.leggauss(ORDER)
    edges = np.linspace(lo, hi, panels + 1)
    half = 0.5 * np.diff(edges)[:, None]
    return ((edges[:-1, None] + half) + half * t).ravel(), (half * w).ravel()


def log_integral(problem: Problem, panels: int) -> float:
    """log Z by `panels` panels an axis."""
    if problem.d > 3:
        raise ValueError(
            f"{problem.name}: a grid of {problem.d} dimensions is too large; at most 3"
        )
    axes = [axis(p) for p in problem.priors.values()]
    rules = [rule(a.lo, a.hi, panels) for a in axes]
    x = [a.to_x(t) for a, (t, _) in zip(axes, rules)]
    log_w = [np.log(w) + a.log_density(t) for a, (t, w) in zip(axes, rules)]
    # One slab for each node of the first axes, so that memory holds a slab only.
    total = -np.inf
    for slab, weight in _slabs(x, log_w):
        total = np.logaddexp(total, np.logaddexp.reduce(problem.log_likelihoods(slab) + weight))
    return float(total)


def _slabs(x: list[Array], log_w: list[Array]) -> Iterator[tuple[Array, Any]]:
    """The points and log weights of the grid, some 100 000 at a time."""
    inner = x[1:] or [np.zeros(1)]
    points = np.stack(np.meshgrid(*inner, indexing="ij"), axis=-1).reshape(-1, len(inner))
    weights = sum(np.meshgrid(*(log_w[1:] or [np.zeros(1)]), indexing="ij")).ravel()
    at_once = max(1, 100_000 // len(points))
    for i in range(0, len(x[0]), at_once):
        first, w = x[0][i : i + at_once], log_w[0][i : i + at_once]
        slab = np.column_stack([np.repeat(first, len(points)), np.tile(points, (len(first), 1))])
        yield slab[:, : len(x)], (w[:, None] + weights).ravel()

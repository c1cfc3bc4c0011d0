"""Integrals over boxes of up to three dimensions by Gauss-Legendre panels, with a checked error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

Array = npt.NDArray[np.float64]
Box = list[tuple[float, float]]

# Nodes of a coarse look for each axis, by dimension, and what counts as negligible.
LOOK = {1: 4001, 2: 201, 3: 61}
NEGLIGIBLE_NATS = 40.0
# Panels of eight nodes for each axis, by dimension. They double until two agree.
PANELS = {1: 60, 2: 20, 3: 6}
DOUBLINGS = 3
MOST_ERROR = 1e-4


def log_integral(log_f: Callable[[Array], Array], box: Sequence[tuple[float, float]]) -> float:
    """ln of the integral of exp(log_f), a function of points (n, d), over a box.

    The box shrinks to where f counts, and two numbers of panels have to agree.

    >>> log_f = lambda x: -0.5 * (x[:, 0] / 0.01) ** 2
    >>> abs(log_integral(log_f, [(-1, 1)]) - np.log(0.01 * np.sqrt(2 * np.pi))) < 1e-9
    True
    """
    inner = list(box)
    for _ in range(6):
        inner = where_it_counts(log_f, inner)
    panels = PANELS[len(box)]
    found = by_panels(log_f, inner, panels)
    for _ in range(DOUBLINGS):
        panels, coarse = 2 * panels, found
        found = by_panels(log_f, inner, panels)
        if abs(found - coarse) < MOST_ERROR:
            return found
    raise ValueError(f"the quadrature is not sure: {coarse} or {found} over {inner}")


def where_it_counts(log_f: Callable[[Array], Array], box: Box) -> Box:
    """The smallest box of a coarse grid around all that is not negligible."""
    n = LOOK[len(box)]
    axes = [np.linspace(lo, hi, n) for lo, hi in box]
    values = log_f(grid(axes)).reshape([n] * len(box))
    counts = values > values.max() - NEGLIGIBLE_NATS
    out = []
    for i, axis in enumerate(axes):
        others = tuple(j for j in range(len(box)) if j != i)
        (at,) = np.nonzero(counts.any(axis=others))
        out.append((float(axis[max(at[0] - 1, 0)]), float(axis[min(at[-1] + 1, n - 1)])))
    return out


def by_panels(log_f: Callable[[Array], Array], box: Box, panels: int) -> float:
    """The integral by so many panels of eight Gauss-Legendre nodes along each axis."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    axes, log_weights = [], []
    for lo, hi in box:
        half = 0.5 * (hi - lo) / panels
        middles = lo + half * (2 * np.arange(panels) + 1)
        axes.append((middles[:, None] + half * nodes).ravel())
        log_weights.append(np.log(half * np.tile(weights, panels)))
    total = grid(log_weights).sum(axis=1)
    return float(logsumexp(log_f(grid(axes)) + total))


def grid(axes: Sequence[Array]) -> Array:
    """All points of the product of the axes, (n, d)."""
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)

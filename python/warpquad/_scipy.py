"""Read scipy's distributions, and all that has a quantile function, without importing scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Law = tuple[str, tuple[float, ...]]


def marginal(given: Any) -> tuple[Law, Callable[[Array], Array] | None]:
    """The core's law of a distribution; or the law of a coordinate, and x of that coordinate."""
    if hasattr(given, "freeze"):
        given = _frozen(given)
    law = _known(given)
    if law is not None:
        return law, None
    return _by_quantiles(given)


def _frozen(dist: Any) -> Any:
    """A distribution that was given without its numbers, if it needs none."""
    try:
        return dist.freeze()
    except TypeError as error:
        raise TypeError(
            f"scipy.stats.{dist.name} takes the shapes {dist.shapes}, missing here"
        ) from error


def _known(given: Any) -> Law | None:
    """The law of a frozen distribution of scipy.stats, if the core has the same one."""
    dist = getattr(given, "dist", None)
    if dist is None or not hasattr(dist, "_parse_args"):
        return None
    shapes, loc, scale = dist._parse_args(*given.args, **given.kwds)
    loc, scale = float(loc), float(scale)
    rule = _LAWS.get(dist.name)
    return None if rule is None else rule([float(s) for s in shapes], loc, scale)


def _at_zero(
    law: Callable[[list[float], float], Law],
) -> Callable[[list[float], float, float], Law | None]:
    """A law that the core has for loc = 0 only."""
    return lambda shapes, loc, scale: law(shapes, scale) if loc == 0.0 else None


# scipy's names, with its shapes, loc and scale, in the core's numbers.
_LAWS: dict[str, Callable[[list[float], float, float], Law | None]] = {
    "norm": lambda s, loc, scale: ("normal", (loc, scale)),
    "uniform": lambda s, loc, scale: ("uniform", (loc, loc + scale)),
    "t": lambda s, loc, scale: ("student-t", (s[0], loc, scale)),
    "cauchy": lambda s, loc, scale: ("cauchy", (loc, scale)),
    "truncnorm": lambda s, loc, scale: (
        "truncated-normal",
        (loc, scale, loc + s[0] * scale, loc + s[1] * scale),
    ),
    "beta": lambda s, loc, scale: ("beta", (s[0], s[1])) if (loc, scale) == (0.0, 1.0) else None,
    "loguniform": _at_zero(lambda s, scale: ("log-uniform", (s[0] * scale, s[1] * scale))),
    "reciprocal": _at_zero(lambda s, scale: ("log-uniform", (s[0] * scale, s[1] * scale))),
    "lognorm": _at_zero(lambda s, scale: ("log-normal", (math.log(scale), s[0]))),
    "gamma": _at_zero(lambda s, scale: ("gamma", (s[0], 1.0 / scale))),
    "expon": _at_zero(lambda s, scale: ("exponential", (1.0 / scale,))),
    "halfnorm": _at_zero(lambda s, scale: ("half-normal", (scale,))),
    "halfcauchy": _at_zero(lambda s, scale: ("half-cauchy", (scale,))),
}


def _by_quantiles(given: Any) -> tuple[Law, Callable[[Array], Array]]:
    """A coordinate of any law with quantiles: u if x is bounded, else its normal score."""
    lower = getattr(given, "ppf", None) or getattr(given, "icdf", None)
    upper = getattr(given, "isf", None) or getattr(given, "iccdf", None)
    if not callable(lower):
        hint = (
            "; for an interval say wq.uniform(lo, hi)" if isinstance(given, (tuple, list)) else ""
        )
        raise TypeError(
            f"{given!r} is no distribution: give wq.uniform(...) or its like, a frozen distribution of "
            f"scipy.stats, or an object with a quantile function ppf{hint}"
        )
    middle = float(np.asarray(lower(0.5)))
    if not math.isfinite(middle):
        raise ValueError(f"its median is {middle}: are its parameters right?")
    quantile = Quantile(lower, upper if callable(upper) else None, _bounded(given, lower))
    return (("uniform", (0.0, 1.0)) if quantile.unit else ("normal", (0.0, 1.0))), quantile


class Quantile:
    """x of a coordinate, u in (0, 1) or a normal score; each tail by the function sharp there."""

    def __init__(
        self, lower: Callable[[Array], Any], upper: Callable[[Array], Any] | None, unit: bool
    ) -> None:
        self.lower, self.upper, self.unit = lower, upper, unit

    def __call__(self, coordinate: Array) -> Array:
        if self.unit:
            return np.asarray(self.lower(coordinate), dtype=float)
        # Phi(-|z|) is the smaller tail, and exact however far out z is.
        tail = np.array([0.5 * math.erfc(abs(z) * math.sqrt(0.5)) for z in coordinate])
        above = self.upper(tail) if self.upper is not None else self.lower(1.0 - tail)
        x: Array = np.where(coordinate < 0.0, self.lower(tail), above).astype(np.float64)
        return x


def _bounded(given: Any, lower: Callable[[Array], Any]) -> bool:
    support = getattr(given, "support", None)
    with np.errstate(all="ignore"):
        ends = support() if callable(support) else lower(np.array([0.0, 1.0]))
    return all(math.isfinite(float(np.asarray(end))) for end in ends)


def normal_of(given: Any) -> tuple[Array, Array] | None:
    """Mean and covariance of a frozen scipy.stats.multivariate_normal."""
    if type(given).__name__ != "multivariate_normal_frozen":
        return None
    return np.atleast_1d(np.asarray(given.mean, dtype=float)), np.atleast_2d(
        np.asarray(given.cov, dtype=float)
    )

"""Say what a problem of the benchmark is: priors, a log likelihood, and the log evidence sought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]
Prior = tuple[Any, ...]

class Inside:
    """A law of scipy whose quantiles stay above 0, as those of `warpquad` do, where a tiny one
    underflows."""

    def __init__(self, law: Any) -> None:
        self.law = law

    def ppf(self, u: npt.ArrayLike) -> Any:
        """The quantiles."""
        return np.maximum(self.law.ppf(u), np.finfo(float).tiny)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.law, name)


# From the numbers that `warpquad` takes for a family to scipy's frozen distribution.
FAMILIES: dict[str, Callable[..., Any]] = {
    "uniform": lambda lo, hi: stats.uniform(lo, hi - lo),
    "loguniform": lambda lo, hi: stats.loguniform(lo, hi),
    "normal": lambda mean, sd: stats.norm(mean, sd),
    "halfnormal": lambda sd: stats.halfnorm(scale=sd),
    "lognormal": lambda mean, sd: stats.lognorm(sd, scale=np.exp(mean)),
    "exponential": lambda rate: stats.expon(scale=1.0 / rate),
    "cauchy": lambda location, scale: stats.cauchy(location, scale),
    "halfcauchy": lambda scale: stats.halfcauchy(scale=scale),
    "gamma": lambda shape, rate: Inside(stats.gamma(shape, scale=1.0 / rate)),
    "beta": lambda a, b: stats.beta(a, b),
}


@dataclass(frozen=True)
class Problem:
    """An integral of exp(log_likelihood) over a product of priors, and its value.

    >>> from benchmarks.suite import PROBLEMS
    >>> bump = PROBLEMS["bump_1d"]
    >>> abs(bump.log_z - np.log(0.95 / 5**0.5)) < 1e-12
    True
    """

    name: str
    half: Literal["tune", "report"]
    """Constants may be chosen by looking at the tune half only."""
    about: str
    """One sentence, with the source in the literature."""
    priors: dict[str, Prior]
    """For each parameter its family and the numbers of it, as in FAMILIES."""
    function: Callable[[Array], Array]
    """The log likelihoods of the rows of an array (n, d)."""
    log_z: float = np.nan
    log_z_error: float = 0.0
    """Standard error of log_z: 0 for a closed form."""

    @property
    def d(self) -> int:
        """The number of parameters."""
        return len(self.priors)

    @property
    def names(self) -> list[str]:
        """The parameters, in the order of x."""
        return list(self.priors)

    @property
    def budgets(self) -> tuple[int, ...]:
        """The numbers of evaluations at which methods are compared."""
        return (50, 100, 200) if self.d <= 4 else (200, 400)

    @cached_property
    def distributions(self) -> list[Any]:
        """The priors as frozen distributions of scipy.stats."""
        return [FAMILIES[family](*numbers) for family, *numbers in self.priors.values()]

    @cached_property
    def bounds(self) -> Array:
        """The ends of each parameter's support, (d, 2)."""
        return np.array([law.support() for law in self.distributions], dtype=float)

    def log_likelihood(self, x: npt.ArrayLike) -> float:
        """The log likelihood at one point: finite, or -inf."""
        return float(self.log_likelihoods(np.asarray(x, dtype=float)[None])[0])

    def log_likelihoods(self, x: npt.ArrayLike) -> Array:
        """The log likelihoods of the rows of x, (n, d)."""
        x = np.atleast_2d(np.asarray(x, dtype=float))
        if x.shape[1] != self.d:
            raise ValueError(
                f"{self.name}: a point has {self.d} coordinates, got the shape {x.shape}"
            )
        with np.errstate(all="ignore"):
            values = np.asarray(self.function(x), dtype=float)
        return np.where(np.isnan(values), -np.inf, values)

    def log_prior(self, x: npt.ArrayLike) -> Any:
        """The log density of the prior at a point (d,), or at each row of an array (n, d)."""
        x = np.asarray(x, dtype=float)
        return sum(law.logpdf(x[..., i]) for i, law in enumerate(self.distributions))

    def transform(self, u: npt.ArrayLike) -> Array:
        """x of points of the unit cube, (d,) or (n, d): the prior's quantiles."""
        u = np.asarray(u, dtype=float)
        return np.stack([law.ppf(u[..., i]) for i, law in enumerate(self.distributions)], axis=-1)


def box(d: int, lo: float, hi: float) -> dict[str, Prior]:
    """Uniform priors on a cube."""
    return {f"x{i}": ("uniform", lo, hi) for i in range(d)}


def bells(d: int, sd: float = 1.0) -> dict[str, Prior]:
    """Normal priors about 0."""
    return {f"x{i}": ("normal", 0.0, sd) for i in range(d)}

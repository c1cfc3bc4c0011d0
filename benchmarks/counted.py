"""A problem that counts its evaluations, and tells a peer's time from the likelihood's."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betaincinv, gammaincinv, ndtri

# Quantile functions. Those of scipy's frozen distributions cost more than most likelihoods, and
# samplers call them 1e5 times.
QUANTILES: dict[str, Callable[..., Any]] = {
    "uniform": lambda u, lo, hi: lo + (hi - lo) * u,
    "loguniform": lambda u, lo, hi: lo * np.exp(u * np.log(hi / lo)),
    "normal": lambda u, mean, sd: mean + sd * ndtri(u),
    "halfnormal": lambda u, sd: -sd * ndtri((1 - u) / 2),
    "lognormal": lambda u, mean, sd: np.exp(mean + sd * ndtri(u)),
    "exponential": lambda u, rate: -np.log1p(-u) / rate,
    "cauchy": lambda u, location, scale: location + scale * np.tan(np.pi * (u - 0.5)),
    "halfcauchy": lambda u, scale: scale * np.tan(0.5 * np.pi * u),
    "gamma": lambda u, shape, rate: np.maximum(gammaincinv(shape, u) / rate, np.finfo(float).tiny),
    "beta": lambda u, a, b: betaincinv(a, b, u),
}


# A peer that gives all its estimates at the end is asked for them after this part of a worker's
# time.
ENOUGH = 0.85


class TimeUp(Exception):
    """The worker's time is nearly over."""


def check_time() -> None:
    """Raise `TimeUp` if the worker's limit on the processor's seconds is near."""
    limit = resource.getrlimit(resource.RLIMIT_CPU)[0]
    if limit != resource.RLIM_INFINITY and time.process_time() > ENOUGH * limit:
        raise TimeUp(f"not done in {ENOUGH * limit:.0f} s of the processor")


class Counted:
    """A problem of the suite with a counter of likelihoods; everything else is the problem's own.

    >>> from benchmarks.suite import PROBLEMS
    >>> problem = Counted(next(iter(PROBLEMS.values())))
    >>> _ = problem.log_likelihood(problem.transform(np.full(problem.d, 0.5)))
    >>> problem.evaluations
    1
    """

    def __init__(self, problem: Any) -> None:
        self._problem = problem
        self.restart()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def restart(self) -> None:
        """Begin a run: nothing is evaluated, no time has passed."""
        self._times: list[float] = []
        self._inside = 0.0
        self._began = time.process_time()

    def transform(self, u: Any) -> np.ndarray:
        """x of a point of the unit cube; its time is the problem's too."""
        began = time.process_time()
        u = np.asarray(u, dtype=float)
        x = np.empty_like(u)
        for i, (family, *numbers) in enumerate(self._problem.priors.values()):
            x[..., i] = QUANTILES[family](u[..., i], *numbers)
        self._inside += time.process_time() - began
        return x

    def log_likelihood(self, x: Any) -> float:
        """The log-likelihood at a point, counted."""
        began = time.process_time()
        value = float(self._problem.log_likelihood(np.asarray(x, dtype=float).reshape(-1)))
        self._inside += time.process_time() - began
        self._times.append(self.cpu_seconds)
        return value

    def log_likelihoods(self, x: Any) -> np.ndarray:
        """Those of n points, each counted."""
        began = time.process_time()
        points = np.asarray(x, dtype=float)
        values = np.asarray(self._problem.log_likelihoods(points), dtype=float)
        self._inside += time.process_time() - began
        self._times.extend([self.cpu_seconds] * len(points))
        return values

    @property
    def evaluations(self) -> int:
        """Likelihoods since the start."""
        return len(self._times)

    def cpu_seconds_at(self, evaluations: int) -> float:
        """Seconds of the processor up to the evaluation after so many; all, if there was none."""
        return self._times[evaluations] if evaluations < len(self._times) else self.cpu_seconds

    @property
    def cpu_seconds(self) -> float:
        """Seconds of the processor since the start, the likelihood's own not counted."""
        return time.process_time() - self._began - self._inside

"""What the calls in the manner of other samplers share: further arguments, pools, and what is left
out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from warpquad._errors import SpecError
from warpquad._priors import Prior
from warpquad._scipy import marginal


class Extended:
    """A function of a point with further arguments; goes to other processes as it is.

    With `blob`, it returns a tuple of which the first is its value.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        blob: bool = False,
    ) -> None:
        if not callable(function):
            raise SpecError.of("loglike", f"must be a function, got {function!r}")
        self.function, self.blob = function, blob
        self.args, self.kwargs = tuple(args or ()), dict(kwargs or {})

    def __call__(self, x: Any) -> Any:
        value = self.function(x, *self.args, **self.kwargs)
        return value[0] if self.blob and isinstance(value, tuple) else value


class OfPool:
    """An executor over a pool of `multiprocessing`, or over anything else with `apply_async`."""

    def __init__(self, pool: Any, workers: int) -> None:
        self.pool, self._max_workers = pool, workers

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Have a worker of the pool call the function."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self.pool.apply_async(function, args, callback=future.set_result, error_callback=future.set_exception)
        return future


def workers_of(pool: Any, workers: int | None = None) -> dict[str, Any]:
    """The keywords of `wq.integrate` for a pool as other samplers take it: a number of processes,
    or an object."""
    if pool is None or isinstance(pool, int) and pool <= 1:
        return {}
    if isinstance(pool, int):
        return {"executor": lambda: ProcessPoolExecutor(pool)}
    if callable(getattr(pool, "submit", None)):
        return {"executor": pool, "workers": workers}
    inner = getattr(pool, "pool", pool)  # dynesty's own pool has one of multiprocessing inside
    if callable(getattr(inner, "apply_async", None)):
        return {"executor": OfPool(inner, workers or getattr(inner, "_processes", None) or os.cpu_count() or 1)}
    raise SpecError.of(
        "pool", f"must be a number of processes or have submit or apply_async, got {pool!r}; "
        "executor= takes anything with submit"
    )


def kept(
    package: str, options: Mapping[str, Any], unused: Collection[str], budget: str
) -> dict[str, Any]:
    """The options that mean something here. Those of the other sampler that do not are told;
    `budget` is its own name for the most evaluations."""
    idle = [name for name in options if name in unused]
    if idle:
        warnings.warn(
            f"{', '.join(idle)}: these options of {package} mean nothing here and are left out",
            stacklevel=3,
        )
    out = {name: value for name, value in options.items() if name not in unused}
    most = out.pop(budget, None)
    if most is not None and most != float("inf"):
        out.setdefault("budget", int(most))
    return out


class Angle:
    """A bounded prior whose two ends are one point, by its quantile function."""

    periodic = True

    def __init__(self, prior: Any) -> None:
        self.prior = prior

    def ppf(self, u: Any) -> Any:
        """x of a probability."""
        return self.prior.ppf(u)

    def support(self) -> Any:
        """Where the prior ends."""
        return self.prior.support()


def angle(prior: Any) -> Any:
    """The same prior on a circle: its two ends are one point."""
    if isinstance(prior, Prior):
        return replace(prior, periodic=True)
    law, to_x = marginal(prior)
    return Prior(*law, periodic=True) if to_x is None else Angle(prior)


class Angled(Extended):
    """A prior transform some of whose coordinates of the unit cube are angles."""

    def __init__(self, function: Extended, periodic: Any, dim: int | None) -> None:
        super().__init__(function)
        self.periodic = places(periodic, dim)


def places(periodic: Any, dim: int | None) -> tuple[int, ...]:
    """The places of periodic parameters: given as such, or as a yes or no for each."""
    given = np.atleast_1d(np.asarray(() if periodic is None else periodic))
    chosen = np.flatnonzero(given) if given.dtype == bool else given
    out = tuple(int(place) for place in chosen)
    if dim is not None and any(not 0 <= place < dim for place in out):
        raise SpecError.of("periodic", f"names the parameters {list(out)}, counted from 0, but there are {dim}")
    return out


def tell_blobs(package: str) -> None:
    """Say that what comes beside the log likelihood is not kept."""
    warnings.warn(
        f"the blobs of {package} are not kept; compute them from the draws, r.samples()", stacklevel=3
    )

"""Average over models: what several runs say together, each weighted by its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._expectation import between_0_and_1
from warpquad._result import Result

Array = npt.NDArray[np.float64]

# Draws of the evidences, from which the uncertainty of a weight comes.
DRAWS = 4000


class Average:
    """Several models of the same data, each weighted by its probability: made by `wq.average`.

    >>> import warpquad as wq
    >>> one = wq.integrate(lambda a: -a * a, {"a": wq.normal(0, 1)}, budget=12, progress=False)
    >>> wq.average([one, one]).probabilities.round(2).tolist()
    [0.5, 0.5]
    """

    def __init__(self, results: Sequence[Result], weights: Array) -> None:
        self.results = list(results)
        rng = np.random.default_rng(0)
        sds = np.array([r.log_z_sd for r in self.results])
        log_z = np.array([r.log_z for r in self.results]) + sds * rng.standard_normal((DRAWS, len(sds)))
        log_p = log_z + np.log(weights)
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        self._p = p / p.sum(axis=1, keepdims=True)
        self.probabilities: Array = self._p.mean(axis=0)
        """The posterior probability of each model."""
        self.probabilities_sd: Array = self._p.std(axis=0)
        """How uncertain they are, because the evidences are."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{p:.3f} ± {sd:.3f}" for p, sd in zip(self.probabilities, self.probabilities_sd))
        return f"Average({shown})"

    @property
    def names(self) -> list[str]:
        """The columns that all models have: parameters and derived quantities."""
        columns = [r.names + list(r.derived) for r in self.results]
        return [name for name in columns[0] if all(name in others for others in columns[1:])]

    def posterior(self, n: int = 4000, seed: int = 0) -> dict[str, Array]:
        """Draws of what all models have, each from a model drawn by its probability; `model` is the
        model's place."""
        rng = np.random.default_rng(seed)
        model = rng.choice(len(self.results), size=n, p=self.probabilities)
        out = {name: np.empty(n) for name in self.names}
        for k, r in enumerate(self.results):
            mine = model == k
            if mine.any():
                drawn = r.posterior(n, seed)
                for name in out:
                    out[name][mine] = drawn[name][mine]
        return {"model": model.astype(float), **out}

    def mean(self, h: Callable[..., Any] | Sequence[Callable[..., Any]]) -> Averaged:
        """The posterior mean of a quantity over all models: h takes a point, and there is one for
        each model if their parameters differ."""
        functions = list(h) if isinstance(h, Sequence) else [h] * len(self.results)
        if len(functions) != len(self.results):
            raise SpecError.of("h", f"must be one function or {len(self.results)}, got {len(functions)}")
        parts = [r.mean(one) for r, one in zip(self.results, functions)]
        means = np.array([np.asarray(part.mean, dtype=float) for part in parts])
        sds = np.array([np.asarray(part.sd, dtype=float) for part in parts])
        rng = np.random.default_rng(1)
        drawn = means + sds * rng.standard_normal((DRAWS, *means.shape))
        draws = np.einsum("sk,sk...->s...", self._p, drawn)
        return Averaged(draws)


class Averaged:
    """A mean over models: `mean`, `sd` and `interval(0.95)`, of the quantity's shape."""

    def __init__(self, draws: Array) -> None:
        self._draws = draws
        self.mean = draws.mean(axis=0)
        self.sd = draws.std(axis=0)

    def interval(self, probability: float = 0.95) -> tuple[Any, Any]:
        """The central interval with that probability."""
        tail = 0.5 * (1 - between_0_and_1(probability))
        low, high = np.quantile(self._draws, [tail, 1 - tail], axis=0)
        return low, high

    def __float__(self) -> float:
        return float(self.mean)


def average(results: Sequence[Result], prior: Sequence[float] | None = None) -> Average:
    """Bayesian model averaging: several runs, one of each model of the same data, weighted by
    their evidence and by the models' prior probabilities (equal ones by default).

    The laws of the evidences are taken as independent, and as normal in log Z.

    >>> import warpquad as wq
    >>> prior = {"x": wq.normal(0, 1)}
    >>> narrow = wq.integrate(lambda x: -4 * x**2, prior, budget=15, progress=False)
    >>> wide = wq.integrate(lambda x: -((x - 1) ** 2), prior, budget=15, progress=False)
    >>> both = wq.average([narrow, wide])
    >>> bool(abs(both.probabilities.sum() - 1) < 1e-12), both.names
    (True, ['x'])
    """
    results = list(results)
    if not results or not all(isinstance(r, Result) for r in results):
        raise SpecError.of("results", "must be results of wq.integrate, one of each model")
    if not all(np.isfinite(r.log_z) for r in results):
        raise SpecError.of("results", "must have a log Z each; where f may be negative there is none")
    weights = np.ones(len(results)) if prior is None else np.asarray(prior, dtype=float)
    if weights.shape != (len(results),) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise SpecError.of("prior", f"must be {len(results)} positive numbers, got {prior!r}")
    return Average(results, weights / weights.sum())

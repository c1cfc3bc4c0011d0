"""GPry: a Gaussian process on the log posterior, and nested sampling of its mean."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
from scipy.special import ndtr

from benchmarks.peers import Estimate
from benchmarks.peers.coordinates import Natural

# GPry needs a box: of an unbounded prior the central part but for 6e-7, five standard deviations to each side.
REACH = 5.0


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """Estimates at all budgets from one run at its defaults, looked at when the next batch would exceed the budget.

    Its prior is uniform on the box: the likelihood has the prior's density in it, and the box's volume.
    """
    from gpry import Runner

    natural = Natural(problem)
    np.random.seed(seed)
    low, high = (np.where(natural.boxed, natural.laws.T[end], natural.of_cube(ndtr(side * REACH))) for end, side in ((0, -1), (1, 1)))
    log_volume = float(np.log(high - low).sum())
    left = sorted(budgets)
    found: list[Estimate] = []

    def log_f(t: Any) -> float:
        return natural.log_likelihood(t) + natural.log_prior(t) + log_volume

    def look(runner: Any) -> None:
        while left and problem.evaluations + runner.d > left[0]:
            found.append(estimate(runner, left.pop(0), problem.evaluations))

    runner = Runner(
        log_f,
        bounds=np.stack([low, high], axis=1).tolist(),
        params=list(problem.priors),
        options={"max_total": max(budgets)},
        callback=look,
        seed=seed,
        verbose=1,
    )
    runner.run()
    yield from found
    for budget in left:
        yield estimate(runner, budget, problem.evaluations)


def estimate(runner: Any, budget: int, evaluations: int) -> Estimate:
    """Log Z of the process' mean, by the nested sampler that it recommends."""
    runner.generate_mc_sample()
    log_z, sd = runner.last_mc_logZ()
    return Estimate.normal(budget, log_z, sd, evaluations)

"""UltraNest: reactive nested sampling."""

from __future__ import annotations

import logging
from typing import Any, Iterator

import numpy as np

from benchmarks.peers import FINISH, FINISH_CALLS, Estimate

# It refuses -inf: this stands for it.
LOWEST = -1e300


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """A run for each budget, within a small one with fewer live points."""
    import ultranest

    logging.getLogger("ultranest").setLevel(logging.ERROR)
    for budget in budgets:
        problem.restart()
        np.random.seed(seed)
        sampler = ultranest.ReactiveNestedSampler(
            list(problem.priors),
            lambda x: max(problem.log_likelihood(x), LOWEST),
            problem.transform,
            log_dir=None,
        )
        few = {}
        if budget != FINISH:
            live = live_points(problem.d, budget)
            few = {
                "min_num_live_points": live,
                "cluster_num_live_points": min(40, live),
                "min_ess": live,
            }
        results = sampler.run(
            max_ncalls=FINISH_CALLS if budget == FINISH else budget,
            show_status=False,
            viz_callback=False,
            **few,
        )
        yield Estimate.normal(budget, results["logz"], results["logzerr"])


def live_points(d: int, budget: int) -> int:
    """Live points of a run cut at a budget: 400, the default, is spent before the first step."""
    return max(2 * d + 1, budget // 10)

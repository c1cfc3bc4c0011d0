"""dynesty, static and dynamic nested sampling."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from benchmarks.peers import FINISH, FINISH_CALLS, Estimate


def run(problem: Any, budgets: Any, seed: int, dynamic: bool = False) -> Iterator[Estimate]:
    """A run for each budget; a small one has few live points, the last one its defaults."""
    for budget in budgets:
        problem.restart()
        results = sampled(problem, budget, seed, dynamic)
        yield Estimate.normal(budget, results["logz"][-1], results["logzerr"][-1])


def live_points(d: int, budget: int) -> int:
    """Live points of a run cut at a budget; the documentation asks for no fewer than 2 d.

    dynesty spends them all before its first step. With 500, the default, none of the budgets gives
    an estimate. Of a half, a third, a fifth and a tenth of the budget, a tenth has the smallest
    errors on the suite where the posterior is narrow: it gets farthest.
    """
    return max(2 * d + 1, budget // 10)


def sampled(problem: Any, budget: Any, seed: int, dynamic: bool) -> Any:
    import dynesty

    rng = np.random.default_rng(seed)
    common = dict(
        loglikelihood=problem.log_likelihood,
        prior_transform=problem.transform,
        ndim=problem.d,
        rstate=rng,
    )
    # Its cap does not count the live points that it begins with.
    cap = FINISH_CALLS if budget == FINISH else budget - live_points(problem.d, budget)
    if dynamic:
        sampler = dynesty.DynamicNestedSampler(**common)
        few = (
            {}
            if budget == FINISH
            else {
                "nlive_init": live_points(problem.d, budget),
                "nlive_batch": live_points(problem.d, budget),
            }
        )
        # All the weight on the evidence, as the documentation has it for that purpose.
        sampler.run_nested(maxcall=cap, wt_kwargs={"pfrac": 0.0}, print_progress=False, **few)
    else:
        few = {} if budget == FINISH else {"nlive": live_points(problem.d, budget)}
        sampler = dynesty.NestedSampler(**common, **few)
        sampler.run_nested(maxcall=cap, print_progress=False)
    return sampler.results

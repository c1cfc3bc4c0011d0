"""nautilus: importance nested sampling with neural networks."""

from __future__ import annotations

from typing import Any, Iterator

from benchmarks.peers import FINISH, FINISH_CALLS, Estimate


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """A run for each budget, a small one with fewer live points. It states no error of log Z."""
    from nautilus import Sampler

    for budget in budgets:
        problem.restart()
        few = {} if budget == FINISH else {"n_live": live_points(problem.d, budget), "n_batch": 10}
        sampler = Sampler(
            problem.transform,
            problem.log_likelihood,
            n_dim=problem.d,
            seed=seed,
            pass_dict=False,
            **few,
        )
        sampler.run(n_like_max=FINISH_CALLS if budget == FINISH else budget, verbose=False)
        yield Estimate(budget, float(sampler.log_z))


def live_points(d: int, budget: int) -> int:
    """Live points of a run cut at a budget: with the default, 2000, it only draws the prior."""
    return max(2 * d + 10, budget // 4)

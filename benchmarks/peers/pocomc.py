"""pocoMC: preconditioned sequential Monte Carlo with normalising flows."""

from __future__ import annotations

from typing import Any, Iterator

from benchmarks.peers import FINISH, Estimate


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """One run with its defaults: it has no cap, and its first population exceeds the budgets."""
    import pocomc

    for budget in budgets:
        problem.restart()
        if budget != FINISH:
            yield Estimate(
                budget, error_text="takes 1024 evaluations before its first step; it has no cap"
            )
            continue
        prior = pocomc.Prior(problem.distributions)
        sampler = pocomc.Sampler(prior, problem.log_likelihood, random_state=seed)
        sampler.run(progress=False)
        yield Estimate.normal(budget, *sampler.evidence())

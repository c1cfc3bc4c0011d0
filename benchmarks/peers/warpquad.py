"""This repository's package: one run by ask and tell, looked at when each budget is spent."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional

from benchmarks.peers import Estimate


def run(
    problem: Any,
    budgets: Any,
    seed: int,
    method: str,
    tuning: Optional[Mapping[str, Any]] = None,
) -> Iterator[Estimate]:
    """Estimates at all budgets from one run: its path does not depend on where it will stop."""
    import warpquad as wq

    # Only the priors' names are looked up: some others need further packages.
    by_name = {name.replace("_", ""): name for name in dir(wq)}
    priors = {
        name: getattr(wq, by_name[family.replace("_", "").replace("-", "")])(*numbers)
        for name, (family, *numbers) in problem.priors.items()
    }
    session = wq.Session(priors, seed=seed, method=method, tuning=tuning)
    for budget in sorted(budgets):
        while session.evaluations < budget:
            (task,) = session.ask()
            session.tell(task, log_f=problem.log_likelihood(task.array))
        try:
            result = session.result()
        except wq.WarpquadError as error:
            yield Estimate(budget, error_text=f"{type(error).__name__}: {error}")
            continue
        low, high = result.interval(0.95)
        yield Estimate(budget, result.log_z, low, high, verdict=result.verdict)

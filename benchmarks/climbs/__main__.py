"""Say after how many evaluations the installed package comes within a nat of each top.

The problems are the made ones and, by --real, the tuning half of the real ones. The top is the best
of many climbs with slopes, and of the runs themselves. A line of the output is a problem, and the
last one the median over all runs.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import warpquad as wq

from ..suite import real
from ..suite.problem import Array, Problem
from ..suite.real import tops
from . import made

# Climbs with slopes for each top: from the prior's centre, and from draws of the prior.
STARTS = 8


def priors(problem: Problem) -> dict[str, wq.Prior]:
    """The priors as the package takes them."""
    by_name = {name.replace("_", ""): name for name in dir(wq)}
    return {
        name: getattr(wq, by_name[family.replace("_", "").replace("-", "")])(*numbers)
        for name, (family, *numbers) in problem.priors.items()
    }


def heights(problem: Problem, budget: int, seed: int, tuning: dict[str, float] | None) -> Array:
    """ln f of the first `budget` evaluations."""
    session = wq.Session(priors(problem), seed=seed, tuning=tuning)
    values = []
    for _ in range(budget):
        (task,) = session.ask()
        values.append(problem.log_likelihood(task.array))
        session.tell(task, log_f=values[-1])
    return np.array(values)


def top(problem: Problem) -> float:
    """The largest ln f on the tops of ln f + ln pi that climbs with slopes find."""
    rng = np.random.default_rng(0)
    starts = [np.zeros(problem.d), *rng.standard_normal((STARTS - 1, problem.d))]
    found = [tops.climbed(problem, start) for start in starts]
    best = max(found, key=lambda climb: climb[1])[0]
    return float(tops.sampling.log_f(problem, best[None])[0])


def arrival(values: Array, height: float) -> int | None:
    """The number of evaluations after which a value was within a nat of a height."""
    near = np.flatnonzero(values > height - 1.0)
    return int(near[0]) + 1 if len(near) else None


def main() -> None:
    """Run all problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names of problems")
    parser.add_argument("--real", action="store_true", help="the tuning half of the real ones too")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--per-parameter", type=int, default=40, help="evaluations")
    parser.add_argument("--tuning", type=json.loads, help='as {"climb_round_nats": 10}')
    args = parser.parse_args()
    problems = made.problems()
    if args.real:
        problems += [p for p in real.defined() if p.half == "tune"]
    rates: list[float] = []
    for problem in problems:
        if args.names and not any(name in problem.name for name in args.names):
            continue
        budget = args.per_parameter * problem.d
        runs = [heights(problem, budget, 100 + seed, args.tuning) for seed in range(args.seeds)]
        height = max(top(problem), *(run.max() for run in runs))
        found = [arrival(run, height) for run in runs]
        short = [round(float(height - run.max()), 1) for run in runs]
        rates += [n / problem.d if n else np.inf for n in found]
        print(f"{problem.name:24} arrives after {found}, ends below the top by {short}", flush=True)
    arrived = np.isfinite(rates).sum()
    print(f"{arrived} of {len(rates)} arrive; median {np.median(rates):.0f} evaluations a parameter")


if __name__ == "__main__":
    main()

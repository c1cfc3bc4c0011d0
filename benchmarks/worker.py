"""Run one peer on one problem: `python -m benchmarks.worker PEER PROBLEM SEED [BUDGET ...]`.

SEED may be several, as in 0,1,2. `--tuning FIELD=VALUE` sets a number of our own method.

It runs in the peer's environment. It writes a line of JSON to standard output for each seed and
budget, as soon as it is there. What the peer prints goes to standard error.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import warnings
from typing import Any, Iterable, Optional

from benchmarks import tuning
from benchmarks.counted import Counted
from benchmarks.peers import FINISH, PEERS, Budget, Estimate
from benchmarks.suite import ALL


def number(value: Optional[float]) -> Optional[float]:
    """A number that JSON has."""
    return None if value is None or not math.isfinite(value) else float(value)


def line(problem: Counted, estimate: Estimate) -> dict[str, Any]:
    """What is written of an estimate, with what it cost."""
    text = estimate.error_text
    if not text and number(estimate.log_z) is None:
        text = f"log Z is {estimate.log_z}"
    evaluations = problem.evaluations if estimate.evaluations is None else estimate.evaluations
    return {
        "budget": estimate.budget,
        "evaluations": evaluations,
        "log_z": number(estimate.log_z),
        "log_z_lo": number(estimate.log_z_lo),
        "log_z_hi": number(estimate.log_z_hi),
        "cpu_seconds": round(problem.cpu_seconds_at(evaluations), 4),
        "error_text": text,
        "verdict": estimate.verdict,
    }


def run(
    peer_name: str,
    problem_name: str,
    seed: int,
    budgets: Iterable[Budget],
    tuned: Iterable[str] = (),
) -> Iterable[dict[str, Any]]:
    """The lines of one peer on one problem; an exception is a line for each budget not reached."""
    peer = PEERS[peer_name]
    problem = Counted(ALL[problem_name])
    module = importlib.import_module(f"benchmarks.peers.{peer.module}")
    wanted = list(budgets)
    left = list(wanted)
    try:
        problem.restart()
        options = {**peer.options, **tuning.options(tuned)}
        for estimate in module.run(problem, wanted, seed, **options):
            left.remove(estimate.budget)
            yield line(problem, estimate)
    except Exception as error:  # a peer may raise whatever it likes
        text = f"{type(error).__name__}: {error}"
        for budget in left:
            yield line(problem, Estimate(budget, error_text=text))


def main(words: list[str]) -> None:
    """The command line."""
    parser = argparse.ArgumentParser()
    for name in ("peer", "problem", "seeds"):
        parser.add_argument(name)
    parser.add_argument("budgets", nargs="*")
    parser.add_argument("--tuning", action="append", default=[], metavar="FIELD=VALUE")
    args = parser.parse_args(words)
    peer, problem = args.peer, args.problem
    budgets: list[Budget] = [b if b == FINISH else int(b) for b in args.budgets]
    if not budgets:
        budgets = [*ALL[problem].budgets, *([FINISH] if PEERS[peer].finishes else [])]
    # Peers print; the lines have standard output for themselves.
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for seed in map(int, args.seeds.split(",")):
        for row in run(peer, problem, seed, budgets, args.tuning):
            lines.write(json.dumps({"seed": seed, **row}) + "\n")
            lines.flush()


if __name__ == "__main__":
    main(sys.argv[1:])

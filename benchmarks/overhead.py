"""Time what `auto` takes for an evaluation beside the integrand, side by side for several builds.

`python -m benchmarks.overhead [a.whl b.whl]`

Each run has 200 evaluations and one look at the answer, on one core. Its time is the processor's,
less the integrand's. Builds take turns problem by problem, so that what else the machine does falls
on all of them. Without a wheel it is the one that `make wheel` built.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import suite
from benchmarks.environments import wheel
from benchmarks.peers import warpquad

ROOT = Path(__file__).resolve().parent.parent
BUDGET = 200


class Timed:
    """A problem that adds up the time of its own evaluations."""

    def __init__(self, problem: Any) -> None:
        self.problem, self.priors, self.seconds = problem, problem.priors, 0.0

    def log_likelihood(self, x: Any) -> float:
        """ln f at x."""
        start = time.process_time()
        value: float = self.problem.log_likelihood(x)
        self.seconds += time.process_time() - start
        return value


def one(name: str) -> float:
    """Milliseconds an evaluation, with the package that this interpreter finds."""
    problem = Timed(suite.ALL[name])
    importlib.import_module("warpquad")  # Its import is not part of a run.
    start = time.process_time()
    list(warpquad.run(problem, [BUDGET], 0, "auto"))
    return 1e3 * (time.process_time() - start - problem.seconds) / BUDGET


def other(folder: Path, name: str) -> float:
    """The same with the package in a folder, on one core."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "benchmarks.overhead", "--one", name]
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        words,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    return float(done.stdout)


def main() -> None:
    """Print a line for each problem, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    low = [problem.name for problem in suite.PROBLEMS.values() if problem.d <= 4]
    parser.add_argument("wheels", nargs="*", type=Path)
    parser.add_argument("--problems", nargs="+", default=low, metavar="PROBLEM")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(one(asked.one))
        return
    wheels = asked.wheels or [wheel()]
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / str(i) for i in range(len(wheels))]
        for path, folder in zip(wheels, folders, strict=True):
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-deps",
                    "--target",
                    folder,
                    path,
                ],
                check=True,
            )
        rows = []
        for name in asked.problems:
            rows.append([other(folder, name) for folder in folders])
            print(f"{name:18}", *(f"{ms:6.1f}" for ms in rows[-1]), flush=True)
    print(
        f"{'mean, ms':18}",
        *(f"{statistics.mean(column):6.1f}" for column in zip(*rows, strict=True)),
    )


if __name__ == "__main__":
    main()

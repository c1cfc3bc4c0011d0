"""Time a run of 100 evaluations of a free log_f from Python against the same by the program, and
what looking back at a finished run costs beside the run.

Usage: python benchmarks/python_ratio.py [rounds]

Needs the installed package and the program, target/release/warpquad. Both have the same integrand,
prior, method and seed, and ask for the same points. Each round times one, then the other, without a
journal and with one. A time is the least over all rounds, which is the work's own whatever else the
machine does meanwhile. Only the ratios are claims. The time has the program's start in it, but not
the interpreter's start and imports.

`r.trace()` and `r.posterior()` are timed on the result of a run of as many evaluations in 1 to 8
parameters, each once, as a second look is free. These times are the processor's, over all threads:
what else the machine does falls on none of them.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import warpquad as wq

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "warpquad"
PROBLEM = ROOT / "examples" / "banana.toml"


def log_f(x, y):
    """The same integrand, in Python."""
    return -(100 * (y - x**2) ** 2 + (1 - x) ** 2) / 20


def timed(work, clock=time.perf_counter):
    """What the work returns, and its time."""
    start = clock()
    result = work()
    return result, clock() - start


def by_program(run):
    """The run by the command line."""
    words = [str(PROGRAM), "integrate", str(PROBLEM), "--quiet", "--json"] + (
        ["--run", str(run)] if run else []
    )
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["log_z"]


def by_python(run):
    """The run from Python."""
    priors = {"x": wq.uniform(-5, 5), "y": wq.uniform(-5, 5)}
    return wq.integrate(log_f, priors, budget=100, run=run, progress=False).log_z


def bent(d):
    """ln of a peak of other widths in each of d parameters, along a bent ridge."""

    def log_f(x):
        v = list(x.values())
        bend = 0.05 * (v[0] ** 2 - v[1]) ** 2 if d > 1 else 0.0
        return -sum((at - 0.3 * k) ** 2 / (2 * (0.5 + 0.1 * k) ** 2) for k, at in enumerate(v)) - bend

    return log_f


def looked_at(d, rounds):
    """The least processor times of a run in d parameters, of its trace and of its posterior."""
    priors = {f"p{k}": wq.uniform(-5, 5) for k in range(d)}
    times = []
    for _ in range(rounds):
        r, run = timed(lambda: wq.integrate(bent(d), priors, budget=100, progress=False), time.process_time)
        times.append((run, *(timed(look, time.process_time)[1] for look in (r.trace, r.posterior))))
    return [min(column) for column in zip(*times)]


def main(rounds):
    """Print the ratios."""
    for journal in (False, True):
        least = [float("inf"), float("inf")]
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                runs = [Path(folder) / name if journal else None for name in ("program", "python")]
                ours, program = timed(lambda: by_program(runs[0]))
                theirs, python = timed(lambda: by_python(runs[1]))
            # A last digit of x^2 may send a choice elsewhere; both are then right to what they
            # claim, 0.002.
            assert abs(ours - theirs) < 0.01, (ours, theirs)
            least = [min(least[0], program), min(least[1], python)]
        kind = "with a journal" if journal else "in memory"
        print(
            f"100 evaluations {kind:<15} program {least[0]:.3f} s  python {least[1]:.3f} s  ratio {least[1] / least[0]:.2f}"
        )
    for d in (1, 2, 4, 6, 8):
        run, trace, posterior = looked_at(d, rounds)
        print(
            f"{d} parameters: run {run:.3f} s  trace {trace / run:.2f} of it  posterior {posterior / run:.2f} of it"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)

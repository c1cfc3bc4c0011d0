"""Set warpquad's core operations beside LAPACK's on one thread, and print the ratios.

Usage: python benchmarks/lapack_ratio.py [rounds]

Needs numpy, scipy and cargo. Each round times LAPACK, then warpquad; a time is the least over all
calls of all rounds, which is the work's own whatever else the machine does meanwhile. Times depend
on the machine: only the ratios are claims.
"""

import os

# Read when the library is loaded, so before numpy is.
for name in ("OPENBLAS", "MKL", "OMP", "BLIS", "VECLIB"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.linalg import lapack

ROOT = Path(__file__).resolve().parent.parent
PREDICTED = 10_000


def matern(n):
    """A covariance matrix of the kind that is fitted: Matern 3/2 in four dimensions."""
    x = np.random.default_rng(1).random((n, 4)) / [0.4, 0.5, 0.6, 0.7]
    a = np.sqrt(3 * ((x[:, None] - x[None]) ** 2).sum(-1))
    return np.asfortranarray((1 + a) * np.exp(-a))


def least_time(prepare, work):
    """The least time of `work` on what `prepare` makes, over 0.15 s of calls."""
    least, until = float("inf"), time.perf_counter() + 0.15
    while time.perf_counter() < until:
        argument = prepare()
        start = time.perf_counter()
        work(argument)
        least = min(least, time.perf_counter() - start)
    return least


def cholesky_and_inverse(n):
    """dpotrf and dpotri in place, on one triangle."""
    a = matern(n)

    def work(a):
        factor, failed = lapack.dpotrf(a, lower=1, clean=0, overwrite_a=1)
        assert not failed
        lapack.dpotri(factor, lower=1, overwrite_c=1)

    buffer = np.empty_like(a)

    def prepare():
        buffer[:] = a
        return buffer

    return least_time(prepare, work)


def triangular_solve(n, columns):
    """dtrtrs in place: the least that variances at `columns` points, or an extension, can cost."""
    factor, _ = lapack.dpotrf(matern(n), lower=1)
    b = np.asfortranarray(np.random.default_rng(2).random((n, columns)))
    buffer = np.empty_like(b)

    def prepare():
        buffer[:] = b
        return buffer

    return least_time(prepare, lambda b: lapack.dtrtrs(factor, b, lower=1, overwrite_b=1))


def lapack_times():
    return {
        ("likelihood", 100): cholesky_and_inverse(100),
        ("likelihood", 500): cholesky_and_inverse(500),
        ("predict", 200): triangular_solve(200, PREDICTED),
        ("extend", 200): triangular_solve(200, 1),
    }


def our_times(program):
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    return {(line["task"], line["warp"], line["n"]): line["seconds"] for line in lines}


def build():
    """Build the example and say where it is."""
    command = ["cargo", "build", "--release", "-p", "warpquad", "--example", "timing"]
    command += ["--message-format=json"]
    out = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    artefacts = [json.loads(line) for line in out.splitlines()]
    return [a["executable"] for a in artefacts if a.get("executable")][-1]


def least(times):
    """Key by key the least of several tables."""
    return {key: min(table[key] for table in times) for key in times[0]}


BESIDE = {
    "likelihood": "dpotrf + dpotri",
    "predict": f"dtrtrs, {PREDICTED} columns",
    "extend": "dtrtrs, 1 column",
}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    program = build()
    tables = [(lapack_times(), our_times(program)) for _ in range(rounds)]
    theirs = least([table for table, _ in tables])
    ours = least([table for _, table in tables])
    print(f"{'task':12}{'warp':10}{'n':>5}{'ours, us':>12}{'LAPACK, us':>12}{'ratio':>8}  beside")
    for (task, warp, n), seconds in ours.items():
        base = theirs[task, n]
        cells = f"{task:12}{warp:10}{n:5}{1e6 * seconds:12.1f}{1e6 * base:12.1f}"
        print(f"{cells}{seconds / base:8.2f}  {BESIDE[task]}")


if __name__ == "__main__":
    main()

"""Run the suite's problems one by one, eight at once and with noise: is each way honest?

`python -m benchmarks.trust.suite` appends to suite.csv in the folder of the results, and writes
suite.md. Runs that are there at the same version are not repeated.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.suite import PROBLEMS
from benchmarks.suite.problem import Problem, box
from benchmarks.trust import report
from benchmarks.trust.__main__ import ROOT, append, said, version
from benchmarks.trust.instance import IN_FLIGHT, NOISE_SDS, Instance
from benchmarks.trust.report import how_run
from benchmarks.trust.run import Row, rows
from benchmarks.trust.shapes import Shape

BUDGETS = (50, 100)
# exp(-(x^2 + y^2)) on a square: erf(3)^2 pi / 36.
BOWL = Problem(
    "bowl_2d",
    "tune",
    "A round bump on [-3, 3]^2.",
    box(2, -3.0, 3.0),
    lambda x: -(np.asarray(x) ** 2).sum(1),
    float(np.log(np.pi / 36.0) + 2.0 * np.log(0.9999779095030014)),
)
# What noise is tried on: ten problems of the suite with smooth tops, and the bowl.
NOISY = (
    "bump_1d", "wavy_1d", "banana_2d", "gmm4_2d", "himmelblau_2d", "correlated_3d", "shell_3d",
    "decay_3d", "gmm_4d", "nodal_4d", "bowl_2d",
)  # fmt: skip
ALL = {**PROBLEMS, BOWL.name: BOWL}


def instance(name: str, seed: int, in_flight: int, noise_sd: float) -> Instance:
    """A problem of the suite, run in this way."""
    problem = ALL[name]
    shape = Shape(problem.priors, problem.log_likelihoods, problem.log_z)
    return Instance(seed, name, shape, 0.0, in_flight, noise_sd)


def ways(args: argparse.Namespace) -> Iterator[tuple[str, int, int, float]]:
    """What the command line asks for: problem, seed, how many at once, noise."""
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        for name in args.problems:
            if args.half not in (ALL[name].half, "both"):
                continue
            if "flight" in args.ways and name in PROBLEMS:
                yield name, seed, 1, 0.0
                yield name, seed, IN_FLIGHT, 0.0
            if "noise" in args.ways and name in NOISY:
                yield from ((name, seed, 1, sd) for sd in NOISE_SDS)


def run(name: str, seed: int, in_flight: int, noise_sd: float) -> list[Row]:
    """The rows of a run, with the problem's half in place of the seed's."""
    found = rows(instance(name, seed, in_flight, noise_sd), BUDGETS)
    return [{**row, "half": ALL[name].half} for row in found]


def ratios(found: list[Row], budget: int) -> dict[str, float]:
    """For each problem, the median error with several at once over that with one."""
    out = {}
    for name in dict.fromkeys(str(r["kind"]) for r in found):
        errors: dict[int, list[float]] = {}
        for row in found:
            if (row["kind"], int(row["budget"]), float(row["noise_sd"])) == (name, budget, 0.0):
                errors.setdefault(int(row["in_flight"]), []).append(error(row))
        if len(errors) == 2:
            out[name] = median(errors[IN_FLIGHT]) / max(median(errors[1]), 1e-6)
    return out


def error(row: Row) -> float:
    """|log Z - truth|; infinite without an answer."""
    return abs(float(row["log_z"]) - float(row["truth"])) if row["log_z"] else float("inf")


def text(found: list[Row]) -> str:
    """The report on one version's rows."""
    lines = [
        "# The suite in several ways",
        "",
        f"Version {found[0]['version']}. {IN_FLIGHT} in flight come back in random order. Noise on ln f is",
        f"declared, on {len(NOISY)} problems. Columns are those of [trust.md](trust.md).",
    ]
    for budget in BUDGETS:
        some = [r for r in found if int(r["budget"]) == budget]
        lines += ["", f"## After {budget} evaluations", ""]
        lines += report.table(some, "how", how_run)
        all_ratios = ratios(found, budget)
        if not all_ratios:
            continue
        exact = [r for r in some if float(r["noise_sd"]) == 0.0]
        pooled = [median(error(r) for r in exact if int(r["in_flight"]) == n) for n in (IN_FLIGHT, 1)]
        lines += ["", f"The median error over all runs is {pooled[0]:.2g} with {IN_FLIGHT} in flight and"]
        lines += [f"{pooled[1]:.2g} with one: {pooled[0] / pooled[1]:.2g} times as large. The median over"]
        lines += [f"{len(all_ratios)} problems of the ratio of their median errors is {median(all_ratios.values()):.2g}."]
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> None:
    """The command line."""
    args = arguments(words)
    args.out.mkdir(parents=True, exist_ok=True)
    path, own = args.out / "suite.csv", version([])
    key = ("kind", "seed", "in_flight", "noise_sd")
    done = {tuple(r[k] for k in key) for r in report.read(path) if r["version"] == own}
    left = [way for way in ways(args) if tuple(map(str, way)) not in done]
    print(f"{len(left)} runs to do", flush=True)
    os.environ["RAYON_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(run, *way) for way in left]
        for count, future in enumerate(as_completed(futures), 1):
            found = [{"version": own, **row} for row in future.result()]
            append(path, found)
            print(f"{count}/{len(left)} {said(found)}", flush=True)
    every = report.read(path)
    last = [r for r in every if r["version"] == every[-1]["version"]]
    if last:
        (args.out / "suite.md").write_text(text(last))
        print(args.out / "suite.md")


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trust.suite",
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--ways", nargs="+", choices=["flight", "noise"], default=["flight", "noise"])
    parser.add_argument("--problems", nargs="+", choices=list(ALL), default=list(ALL), metavar="PROBLEM")
    parser.add_argument("--half", choices=["tune", "report", "both"], default="both")
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()

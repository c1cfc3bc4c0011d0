"""Say what the runs showed: `python -m benchmarks.report [--runs FILE ...] [--out FOLDER]`.

Reads runs.csv, and writes report.md, summary.csv (a line for each peer, problem and budget) and
benchmark.svg. Runs on the real posteriors are apart, in real.md, real_summary.csv and real.svg. Of
several versions of a peer the last that was run on a problem counts. Files are read and written in
benchmarks/results unless told otherwise.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import FINISH, OURS, PEERS
from benchmarks.suite import ALL, REAL

RESULTS = Path(__file__).resolve().parent / "results"
AUTO = "warpquad-auto"
# Groups of dimension as the aims have them, with the budget each aim is stated at.
GROUPS: dict[str, tuple[range, int]] = {
    "d = 1 to 3": (range(1, 4), 100),
    "d = 4 to 8": (range(4, 9), 200),
    "d = 9, 10": (range(9, 11), 400),
}
REAL_GROUPS: dict[str, tuple[range, int]] = {
    "d = 2 to 4": (range(2, 5), 100),
    "d = 5 to 10": (range(5, 11), 400),
    "d = 12, 15": (range(11, 16), 400),
}
NESTED = ("dynesty", "dynesty-dynamic", "ultranest", "nautilus", "pocomc")
# What a worker says of a run that the limit on its time ended.
CUT = "not done in"
# An error below the truth's own is not a difference between peers; this is a floor for log scales
# and for ties.
FLOOR = 1e-6
# An interval that misses the truth by more nats than this is a disaster: whoever trusts it is badly
# wrong.
FAR = 0.5
# The word of a peer that is sure of its answer.
SETTLED = "settled"


@dataclass(frozen=True)
class Run:
    """A row of runs.csv, with its error."""

    peer: str
    version: str
    problem: str
    budget: str
    seed: int
    evaluations: int
    error: float
    """|log Z - truth|; infinite where the peer gave nothing."""
    miss: float | None
    """Nats from its 95 % interval to the truth, 0 inside; None where it claims none."""
    cpu_seconds: float
    date: str
    cut: bool
    """Whether it was the worker's limit of time that ended it, which says nothing of its error."""
    verdict: str
    """The peer's own word on whether to trust it; empty where it has none, or in older rows."""

    @property
    def covered(self) -> bool | None:
        """Whether its 95 % interval has the truth; None where it claims none."""
        return None if self.miss is None else self.miss == 0

    @property
    def disaster(self) -> bool:
        """Whether it claims an interval that is nowhere near the truth."""
        return self.miss is not None and self.miss > FAR

    @property
    def d(self) -> int:
        return ALL[self.problem].d

    @property
    def half(self) -> str:
        return ALL[self.problem].half


def read(paths: Iterable[Path]) -> list[Run]:
    """The runs of each peer's last version on each problem of the suite whose truth is known."""
    rows = [row for path in paths for row in csv.DictReader(path.open(newline=""))]
    last: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: row["date"]):
        last[row["peer"], row["problem"]] = row["version"]
    known = {name for name, problem in ALL.items() if math.isfinite(problem.log_z)}
    chosen = (row for row in rows if row["version"] == last[row["peer"], row["problem"]] and row["problem"] in known)
    # The later of two rows of the same run: a file may have been made of several.
    return list({(r["peer"], r["problem"], r["seed"], r["budget"]): run_of(r) for r in chosen}.values())


def run_of(row: dict[str, str]) -> Run:
    """A row as numbers."""
    problem = ALL[row["problem"]]
    error, miss = math.inf, None
    if row["log_z"]:
        error = abs(float(row["log_z"]) - problem.log_z)
        if row["log_z_lo"] and row["log_z_hi"]:
            # A truth by simulation is known to an error of its own, which is not the peer's fault.
            slack = 2 * problem.log_z_error
            lo, hi = float(row["log_z_lo"]) - slack, float(row["log_z_hi"]) + slack
            miss = max(lo - problem.log_z, problem.log_z - hi, 0.0)
    return Run(
        row["peer"],
        row["version"],
        row["problem"],
        row["budget"],
        int(row["seed"]),
        int(row["evaluations"] or 0),
        error,
        miss,
        float(row["cpu_seconds"] or "nan"),
        row["date"],
        CUT in row["error_text"],
        row.get("verdict") or "",
    )


def grouped(runs: Iterable[Run], key: Callable[[Run], Any]) -> dict[Any, list[Run]]:
    """Runs by a key."""
    out: dict[Any, list[Run]] = defaultdict(list)
    for run in runs:
        out[key(run)].append(run)
    return dict(out)


def median_error(runs: Iterable[Run]) -> float:
    """The median of |error|; failures are infinite errors."""
    errors = [run.error for run in runs]
    return float(np.median(errors)) if errors else math.nan


def quantile(runs: Iterable[Run], p: float) -> float:
    """A quantile of |error|: the next observed one above, since errors may be infinite."""
    errors = sorted(run.error for run in runs)
    return errors[min(len(errors) - 1, math.ceil(p * len(errors)) - 1)] if errors else math.nan


def coverage(runs: Iterable[Run]) -> float:
    """The share of intervals that have the truth; NaN if none is claimed."""
    claims = [run.covered for run in runs if run.covered is not None]
    return sum(claims) / len(claims) if claims else math.nan


def disasters(runs: Iterable[Run]) -> str:
    """How many intervals miss the truth by far, of those claimed; a dash if none is."""
    claims = [run for run in runs if run.miss is not None]
    return f"{sum(run.disaster for run in claims)} of {len(claims)}" if claims else "–"


def silent(runs: Iterable[Run]) -> str:
    """How many of the settled ones miss the truth by far; a dash where no verdict was given."""
    settled = [run for run in runs if run.verdict == SETTLED]
    given = any(run.verdict for run in runs)
    return f"{sum(run.disaster for run in settled)} of {len(settled)}" if given else "–"


def shown(value: float, form: str = "{:.2g}") -> str:
    """A number in a table: a dash for what is not there, and a word for what never worked."""
    if math.isnan(value):
        return "–"
    return "fails" if math.isinf(value) else form.format(value)


def percent(value: float) -> str:
    """A share."""
    return shown(100 * value, "{:.0f} %")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def budgets(runs: list[Run]) -> list[str]:
    """The evaluations at which peers are compared, in order."""
    return sorted({run.budget for run in runs if run.budget != FINISH}, key=int)


def peers(runs: list[Run]) -> list[str]:
    """The peers that were run, ourselves first."""
    present = {run.peer for run in runs}
    return [p for p in (*OURS, *(p for p in PEERS if p not in OURS)) if p in present]


def wins(runs: list[Run]) -> dict[str, tuple[int, int]]:
    """For each peer: in how many cells auto has the smaller median error, and cells that both ran.

    A cell is a problem and a budget.
    """
    cells = {key: median_error(rs) for key, rs in grouped(runs, lambda r: (r.peer, r.problem, r.budget)).items()}
    out = {}
    for peer in peers(runs):
        both = [
            (cells[AUTO, problem, budget], error)
            for (who, problem, budget), error in cells.items()
            if who == peer and peer != AUTO and budget != FINISH and (AUTO, problem, budget) in cells
        ]
        if both:
            # Two errors below the floor are a tie, and a tie is not a win.
            out[peer] = sum(max(ours, FLOOR) < max(theirs, FLOOR) for ours, theirs in both), len(both)
    return out


def share_of(counts: tuple[int, int]) -> tuple[str, str]:
    """So many of so many, as a share and in words; dashes if there is none."""
    some, every = counts
    return (percent(some / every), f"{some} of {every}") if every else ("–", "–")


def wins_by_problem(runs: list[Run], peer: str) -> list[str]:
    """Problems on which the peer has no larger median error than auto at some budget."""
    cells = {key: median_error(rs) for key, rs in grouped(runs, lambda r: (r.peer, r.problem, r.budget)).items()}
    lost = {
        problem
        for (who, problem, budget), error in cells.items()
        if who == peer
        and budget != FINISH
        and (AUTO, problem, budget) in cells
        and max(cells[AUTO, problem, budget], FLOOR) >= max(error, FLOOR)
    }
    return [name for name in ALL if name in lost]


def ratios(runs: list[Run], peer: str) -> dict[str, tuple[float, float, float]]:
    """For each problem: evaluations of a sampler over those of auto; and both errors.

    The sampler's are those until it stopped. Auto's are the smallest budget from which on its
    median error stays at or below the sampler's. Where none does, it is NaN.
    """
    out = {}
    ours = grouped((r for r in runs if r.peer == AUTO), lambda r: r.problem)
    for problem, rs in grouped((r for r in runs if r.peer == peer and r.budget == FINISH), lambda r: r.problem).items():
        theirs = median_error(rs)
        if problem not in ours or math.isinf(theirs):
            continue
        steps = sorted((int(b), median_error(x)) for b, x in grouped(ours[problem], lambda r: r.budget).items())
        enough = [b for i, (b, _) in enumerate(steps) if all(e <= theirs for _, e in steps[i:])]
        spent = float(np.median([r.evaluations for r in rs if math.isfinite(r.error)]))
        out[problem] = (spent / enough[0] if enough else math.nan, theirs, steps[-1][1])
    return out


def finished(runs: list[Run]) -> list[Run]:
    """Those that no limit of ours cut."""
    return [run for run in runs if not run.cut]


def versions(runs: list[Run]) -> str:
    """Who was measured, in which version, when, and on how many seeds."""
    rows = []
    for peer, rs in ((p, [r for r in runs if r.peer == p]) for p in peers(runs)):
        dates = sorted({r.date for r in rs})
        seeds = sorted(len({r.seed for r in x}) for x in grouped(rs, lambda r: r.problem).values())
        fails = sum(math.isinf(r.error) and not r.cut for r in rs)
        rows.append(
            [
                peer,
                ", ".join(sorted({r.version for r in rs})),
                dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}",
                str(len({r.problem for r in rs})),
                str(seeds[0]) if seeds[0] == seeds[-1] else f"{seeds[0]} to {seeds[-1]}",
                str(len(rs)),
                str(fails),
                str(sum(r.cut for r in rs)),
            ]
        )
    return table(["peer", "version", "date", "problems", "seeds", "rows", "without an estimate", "cut by our limit of time"], rows)


def kinds(runs: list[Run]) -> dict[str, tuple[range, int]]:
    """The groups of dimension of the suite, or of the real posteriors."""
    return REAL_GROUPS if any(r.problem in REAL for r in runs) else GROUPS


def groups(runs: list[Run], half: str | None) -> str:
    """Medians, 90 % quantiles, coverage, disasters, on how many problems auto is better, and
    overhead, by group of dimension and budget."""
    rows = []
    for name, (dims, _) in kinds(runs).items():
        inside = [r for r in runs if r.d in dims and r.budget != FINISH and (half is None or r.half == half)]
        for budget in budgets(inside):
            won = wins([r for r in inside if r.budget == budget])
            for peer in peers(inside):
                rs = [r for r in inside if r.peer == peer and r.budget == budget]
                if rs:
                    overhead = (
                        float(np.nanmedian([1e3 * r.cpu_seconds / max(r.evaluations, 1) for r in rs]))
                        if any(math.isfinite(r.error) for r in rs)
                        else math.nan
                    )
                    rows.append(
                        [
                            name,
                            budget,
                            peer,
                            shown(median_error(rs)),
                            shown(quantile(rs, 0.9)),
                            percent(coverage(rs)),
                            disasters(rs),
                            silent(rs),
                            share_of(won.get(peer, (0, 0)))[1],
                            shown(overhead, "{:.3g}"),
                        ]
                    )
    return table(
        [
            "group",
            "evaluations",
            "peer",
            "median of abs error",
            "90 % quantile",
            "95 % interval covers",
            f"misses by over {FAR} nats",
            "of the settled ones",
            "auto's median is smaller on",
            "overhead, ms an evaluation",
        ],
        rows,
    )


def misses(runs: list[Run]) -> str:
    """Runs off by more than a tenth, and those of them whose own interval is wrong too, on the half
    that was not tuned on."""
    rows = []
    for name, (dims, _) in kinds(runs).items():
        inside = [r for r in runs if r.d in dims and r.budget != FINISH and r.half == "report"]
        for (budget, peer), rs in grouped(inside, lambda r: (int(r.budget), r.peer)).items():
            off = [r for r in rs if r.error > 0.1]
            rows.append([name, str(budget), peer, f"{len(off)} of {len(rs)}", str(sum(r.covered is False for r in off))])
    head = ["group", "evaluations", "peer", "off by more than 0.1", "of them outside their own interval"]
    return table(head, sorted(rows, key=lambda row: (row[0], int(row[1]), row[2])))


def by_problem(runs: list[Run]) -> str:
    """Median |error| of each peer on each problem, budgets one after another."""
    parts = []
    names = peers(runs)
    cells = {key: median_error(rs) for key, rs in grouped(runs, lambda r: (r.problem, r.budget, r.peer)).items()}
    rows = []
    for name in ALL:
        for budget in [*budgets([r for r in runs if r.problem == name]), FINISH]:
            line = [cells.get((name, budget, peer), math.nan) for peer in names]
            if any(not math.isnan(value) for value in line):
                best = min((v for v in line if not math.isnan(v)), default=math.nan)
                rows.append(
                    [
                        name,
                        budget,
                        *(f"**{shown(v)}**" if v == best and math.isfinite(v) and budget != FINISH else shown(v) for v in line),
                    ]
                )
    parts.append(table(["problem", "evaluations", *names], rows))
    return "\n".join(parts)


def report(runs: list[Run], title: str = "Report of the benchmark") -> str:
    """The whole report. A run that our limit of time cut counts in the first table alone."""
    every, runs = runs, finished(runs)
    truths = {r.problem for r in every}
    text = [
        f"# {title}\n",
        f"{len(runs)} rows on {len(truths)} problems. Errors are |log Z - truth|.\n",
        versions(every),
    ]
    won = wins(runs)
    if won:
        untuned = wins([r for r in runs if r.half == "report"])
        text += [
            "\n## Where auto has the smaller median error, at equal evaluations\n",
            table(
                ["peer", "share", "cells (problem and budget)", "of the half not tuned on", "not smaller somewhere on"],
                [
                    [p, *share_of(won[p]), share_of(untuned.get(p, (0, 0)))[1], ", ".join(wins_by_problem(runs, p)) or "–"]
                    for p in won
                ],
            ),
        ]
    for heading, half in (
        ("All problems", None),
        ("The half that constants were tuned on", "tune"),
        ("The half that they were not tuned on", "report"),
    ):
        text += [f"\n## {heading}\n", groups(runs, half)]
    if kinds(runs) is REAL_GROUPS:
        text += ["\n## How often they are far off, on the half that was not tuned on\n", misses(runs)]
    needed = [(p, ratios(runs, p)) for p in NESTED]
    rows = [
        [p, name, shown(r, "{:.0f}"), shown(theirs), shown(ours)]
        for p, found in needed
        for name, (r, theirs, ours) in found.items()
    ]
    if rows:
        text += [
            "\n## Samplers run until they stop, beside auto\n",
            "How many times the evaluations that auto needed for no larger an error; a dash where auto did not reach it at its largest budget.\n",
            table(
                ["peer", "median ratio where reached", "reached on"],
                [
                    [
                        p,
                        shown(
                            float(np.nanmedian([x[0] for x in f.values()]))
                            if any(not math.isnan(x[0]) for x in f.values())
                            else math.nan,
                            "{:.0f}",
                        ),
                        f"{sum(not math.isnan(x[0]) for x in f.values())} of {len(f)}",
                    ]
                    for p, f in needed
                    if f
                ],
            ),
            "\n",
            table(["peer", "problem", "times", "its error", "auto's at its largest budget"], rows),
        ]
    text += ["\n## Median of |error| on each problem\n", by_problem(runs)]
    return "\n".join(text)


def summary(runs: list[Run], path: Path) -> None:
    """A line for each peer, problem and budget."""
    head = [
        "peer",
        "version",
        "problem",
        "d",
        "half",
        "budget",
        "runs",
        "without_estimate",
        "evaluations",
        "median_error",
        "q90_error",
        "coverage",
        "disasters",
        "ms_per_evaluation",
    ]
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(head)
        order = {p: i for i, p in enumerate(PEERS)}
        places = {p: i for i, p in enumerate(ALL)}
        cells = grouped(runs, lambda r: (order[r.peer], places[r.problem], math.inf if r.budget == FINISH else int(r.budget)))
        for _, rs in sorted(cells.items()):
            good = [r for r in rs if math.isfinite(r.error)]
            evaluations = f"{np.median([r.evaluations for r in good]):.0f}" if good else ""
            ms = f"{np.median([1e3 * r.cpu_seconds / max(r.evaluations, 1) for r in good]):.4g}" if good else ""
            numbers = ["" if not math.isfinite(x) else f"{x:.4g}" for x in (median_error(rs), quantile(rs, 0.9), coverage(rs))]
            out.writerow(
                [
                    rs[0].peer,
                    rs[0].version,
                    rs[0].problem,
                    rs[0].d,
                    rs[0].half,
                    rs[0].budget,
                    len(rs),
                    len(rs) - len(good),
                    evaluations,
                    *numbers,
                    sum(r.disaster for r in rs),
                    ms,
                ]
            )


def main(words: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=Path, nargs="+", default=[RESULTS / "runs.csv"], help="tables of runs, together")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--no-picture", action="store_true", help="without matplotlib")
    args = parser.parse_args(words)
    runs = read(args.runs)
    if not runs:
        raise SystemExit("no runs: start with `python -m benchmarks.run`")
    args.out.mkdir(parents=True, exist_ok=True)
    real = [r for r in runs if r.problem in REAL]
    suite = [r for r in runs if r.problem not in REAL]
    if suite:
        written(suite, args.out, "Report of the benchmark", ("report.md", "summary.csv", "benchmark.svg"), not args.no_picture)
    if real:
        written(real, args.out, "Report on the real posteriors", ("real.md", "real_summary.csv", "real.svg"), not args.no_picture)


def written(runs: list[Run], out: Path, title: str, names: tuple[str, str, str], picture: bool) -> None:
    """Write the report, the summary and the picture of one group of problems."""
    text, lines, drawing = (out / name for name in names)
    text.write_text(report(runs, title))
    summary(finished(runs), lines)
    if picture:
        from benchmarks.picture import REAL_HIGHEST, draw

        if kinds(runs) is REAL_GROUPS:
            draw(finished(runs), drawing, {name: dims for name, (dims, _) in REAL_GROUPS.items()}, REAL_HIGHEST)
        else:
            draw(finished(runs), drawing)
    print(f"{text}: {len(runs)} rows")


if __name__ == "__main__":
    main()

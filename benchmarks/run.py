"""Run peers on the suite, each in its environment: `python -m benchmarks.run [--peers a b] ...`.

It appends a row for each peer, problem, seed and budget to runs.csv. It runs only what is not there
at the same version: stop and start it as you like. A worker that fails or takes too long leaves
rows that say so.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import resource
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import environments, tuning
from benchmarks.peers import FINISH, PEERS, Budget
from benchmarks.suite import ALL, PROBLEMS, REAL

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = (
    "peer",
    "version",
    "problem",
    "d",
    "seed",
    "budget",
    "evaluations",
    "log_z",
    "log_z_lo",
    "log_z_hi",
    "cpu_seconds",
    "date",
    "error_text",
    "verdict",
)
# One thread: seconds of the processor compare, and two workers do not slow each other down.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# A small part of everything, to see that it works.
QUICK_PROBLEMS, QUICK_SEEDS = ("bump_1d", "banana_2d", "gmm_4d"), 1


# Words that stand for many problems.
KINDS: dict[str, list[str]] = {
    "suite": list(PROBLEMS),
    "real": list(REAL),
    **{f"real-{half}": [p.name for p in REAL.values() if p.half == half] for half in ("tune", "report")},
}


def named(words: list[str]) -> list[str]:
    """The problems that words name, each once, in order."""
    return list(dict.fromkeys(name for word in words for name in KINDS.get(word, [word])))


@dataclass(frozen=True)
class Job:
    """One worker: a peer on a problem with one or several seeds, at the budgets not known yet."""

    peer: str
    problem: str
    seeds: tuple[int, ...]
    budgets: tuple[Budget, ...]
    tuning: tuple[str, ...] = ()


def jobs(args: argparse.Namespace, done: set[tuple[str, ...]], versions: dict[str, str]) -> Iterator[Job]:
    """What is left to do, by seed first: if stopped, it is even over peers and problems."""
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    for first in seeds[:: args.group]:
        for peer in args.peers:
            for problem in args.problems:
                # Seeds that lack the same budgets share a worker.
                shared: dict[tuple[Budget, ...], list[int]] = {}
                for seed in seeds[first - args.first_seed :][: args.group]:
                    finish = [FINISH] if PEERS[peer].finishes and seed < args.finish_seeds else []
                    wanted: list[Budget] = [*([] if args.finish_only else ALL[problem].budgets), *finish]
                    left = tuple(b for b in wanted if (peer, versions[peer], problem, str(seed), str(b)) not in done)
                    shared.setdefault(left, []).append(seed)
                for left, same in shared.items():
                    if left:
                        yield Job(peer, problem, tuple(same), left, tuned(args, peer))


def tuned(args: argparse.Namespace, peer: str) -> tuple[str, ...]:
    """The words of `--tuning` that are for a peer."""
    return tuple(args.tuning) if PEERS[peer].tunable else ()


def known(path: Path) -> set[tuple[str, ...]]:
    """The keys of the rows that are there."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {tuple(row[c] for c in ("peer", "version", "problem", "seed", "budget")) for row in csv.DictReader(file)}


def work(job: Job, python: Path, seconds: int) -> list[dict[str, Any]]:
    """The rows of a worker, in a process of its own; those that it did not write say why."""
    words = [str(python), "-m", "benchmarks.worker", job.peer, job.problem, ",".join(map(str, job.seeds)), *map(str, job.budgets)]
    words += [f"--tuning={word}" for word in job.tuning]
    environment = {**os.environ, **{name: "1" for name in THREADS}, "PYTHONHASHSEED": "0"}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    try:
        # The clock may run far ahead of the processor's seconds on a busy machine.
        done = subprocess.run(
            words, cwd=ROOT, env=environment, preexec_fn=limit, capture_output=True, text=True, timeout=10 * seconds
        )
        out, why = done.stdout, reason(done.returncode, done.stderr, seconds)
    except subprocess.TimeoutExpired as stuck:
        out, why = (stuck.stdout or b"").decode(), f"no answer in {10 * seconds} s on the clock"
    rows = [json.loads(line) for line in out.splitlines()]
    there = {(row["seed"], row["budget"]) for row in rows}
    wanted = ((seed, budget) for seed in job.seeds for budget in job.budgets)
    return rows + [{"seed": s, "budget": b, "error_text": why} for s, b in wanted if (s, b) not in there]


def reason(code: int, errors: str, seconds: int) -> str:
    """Why a worker wrote no row."""
    if code in (-24, -9):  # SIGXCPU, SIGKILL
        return f"not done in {seconds} s of the processor"
    last = (errors.strip().splitlines() or ["nothing said"])[-1]
    return f"worker ended with {code}: {last}"


def rows_of(job: Job, found: Iterable[dict[str, Any]], version: str) -> Iterator[dict[str, Any]]:
    """Complete rows of runs.csv."""
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for row in found:
        whole = {"peer": job.peer, "version": version, "problem": job.problem, "d": ALL[job.problem].d, "date": today}
        whole.update({key: value for key, value in row.items() if value is not None})
        whole["error_text"] = " ".join(str(row.get("error_text", "")).split())[:300]
        yield whole


def append(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Add rows to the table; the file is whole after each call."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="")
        if new:
            table.writeheader()
        table.writerows(rows)


def main(words: list[str] | None = None) -> None:
    """The command line."""
    args = arguments(words)
    args.out.mkdir(parents=True, exist_ok=True)
    table = args.out / "runs.csv"
    pythons = {peer: environments.python_of(PEERS[peer], args.envs.resolve()) for peer in args.peers}
    versions = {peer: tuning.version(environments.version(PEERS[peer]), tuned(args, peer)) for peer in args.peers}
    left = list(jobs(args, known(table), versions))
    print(f"{len(left)} workers to run", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        futures = {pool.submit(work, job, pythons[job.peer], args.seconds): job for job in left}
        try:
            for count, future in enumerate(as_completed(futures), 1):
                job = futures[future]
                rows = list(rows_of(job, future.result(), versions[job.peer]))
                append(table, rows)
                print(f"{count}/{len(left)} {job.peer} {job.problem} {','.join(map(str, job.seeds))}: {said(rows)}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise


def said(rows: list[dict[str, Any]]) -> str:
    """A short line on what a worker found."""
    truth = ALL[rows[0]["problem"]].log_z
    parts = [
        f"{r['budget']}: {r['log_z'] - truth:+.3g}" if "log_z" in r else f"{r['budget']}: {r['error_text'][:60]}"
        for r in rows
        if r["seed"] == rows[0]["seed"]
    ]
    return ", ".join(parts) + f" ({sum(float(r.get('cpu_seconds', 0)) for r in rows):.1f} s)"


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="PEER")
    parser.add_argument(
        "--problems", nargs="+", choices=[*ALL, *KINDS], default=["suite"], metavar="PROBLEM",
        help="names, or suite, real, real-tune, real-report for all of a kind",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--finish-seeds", type=int, default=3, help="seeds with a run until the peer stops by itself")
    parser.add_argument("--finish-only", action="store_true", help="no runs at the small budgets")
    parser.add_argument("--quick", action="store_true", help="one seed, and three problems unless they are named")
    parser.add_argument(
        "--group", type=int, default=1, help="seeds of one worker: saves the start of the interpreter for cheap peers"
    )
    parser.add_argument(
        "--tuning", action="append", default=[], metavar="FIELD=VALUE", help="a number of warpquad-auto, see `warpquad list tuning`"
    )
    parser.add_argument("--jobs", type=int, default=2, help="workers at once")
    parser.add_argument("--seconds", type=int, default=600, help="of the processor, for each worker")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--envs", type=Path, default=ROOT / "benchmarks" / ".envs", help="where the environments are made")
    args = parser.parse_args(words)
    if args.quick:
        args.seeds, args.finish_seeds = QUICK_SEEDS, 0
        if args.problems == ["suite"]:
            args.problems = list(QUICK_PROBLEMS)
    args.problems = named(args.problems)
    return args


if __name__ == "__main__":
    main()

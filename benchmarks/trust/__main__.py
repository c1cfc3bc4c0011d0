"""Run random instances and report on them: `python -m benchmarks.trust --instances 300`.

Rows are appended to trust.csv. Only instances that are not there at the same version are run, so it
can be stopped at any time.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks import tuning
from benchmarks.trust import report
from benchmarks.trust.instance import KINDS, Instance, draw
from benchmarks.trust.run import COLUMNS, Row, rows

ROOT = Path(__file__).resolve().parents[2]


def version(words: Iterable[str]) -> str:
    """The installed package's version, with the digest of its compiled part."""
    import warpquad as wq
    from warpquad import _core

    from benchmarks.environments import digest

    path = getattr(_core, "__file__", "")
    return tuning.version(f"{wq.__version__}+{digest(Path(path).read_bytes())}", words)


def run(seed: int, words: tuple[str, ...]) -> list[Row]:
    """All rows of an instance, in a process that may do others too."""
    return list(rows(draw(seed), tuning=tuning.read(words)))


def append(path: Path, found: Iterable[Row]) -> None:
    """Add rows to the table; the file is whole after each call."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, restval="")
        if new:
            out.writeheader()
        out.writerows(found)


def wanted(args: argparse.Namespace) -> list[Instance]:
    """The instances that the command line asks for, in order of their seeds."""
    drawn = (draw(seed) for seed in range(args.first_seed, args.first_seed + args.instances))
    fits = [i for i in drawn if args.half in (i.half, "both")]
    fits = [i for i in fits if i.kind in args.kinds]
    if args.how == "plain":
        fits = [i for i in fits if i.in_flight == 1 and i.noise_sd == 0.0]
    return fits


def main(words: list[str] | None = None) -> None:
    """The command line."""
    args = arguments(words)
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "trust.csv"
    own = version(args.tuning)
    done = {int(row["seed"]) for row in report.read(path) if row["version"] == own}
    left = [i.seed for i in wanted(args) if i.seed not in done]
    print(f"{len(left)} instances to run", flush=True)
    # A run of ours uses one thread: instances run beside each other instead.
    os.environ["RAYON_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(run, seed, tuple(args.tuning)) for seed in left]
        for count, future in enumerate(as_completed(futures), 1):
            found = [{"version": own, **row} for row in future.result()]
            append(path, found)
            print(f"{count}/{len(left)} {said(found)}", flush=True)
    all_rows = report.read(path)
    if all_rows:
        report.write(all_rows, args.out / "trust.md")
        print(args.out / "trust.md")


def said(found: list[Row]) -> str:
    """A short line on an instance."""
    first = found[0]
    parts = []
    for r in found:
        if "log_z" in r:
            mark = "*" if report.is_silent(r) else "!" if report.is_disaster(r) else ""
            word = "settled" if report.is_settled(r) else r["reasons"]
            half = 0.5 * (r["log_z_hi"] - r["log_z_lo"])
            parts.append(f"{r['budget']}: {r['log_z'] - r['truth']:+.2g} +- {half:.2g}{mark} {word}")
        else:
            parts.append(f"{r['budget']}: {r['error_text'][:80]}")
    return f"{first['seed']} {first['kind']} d={first['d']} {report.how_run(first)}: {', '.join(parts)}"


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trust",
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--instances", type=int, default=300, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--half", choices=["tune", "report", "both"], default="both")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--how", choices=["all", "plain"], default="all", help="plain: serial, exact")
    parser.add_argument(
        "--tuning", action="append", default=[], metavar="FIELD=VALUE",
        help="a number of `auto`, see `warpquad list tuning`",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="instances at once")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()

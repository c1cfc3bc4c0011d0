"""Say how far answers can be trusted: `trust.md` from the rows of `trust.csv`."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

from benchmarks.trust.run import Row, is_number

DISASTER_NATS = 0.5
HEADINGS = ("", "runs", "covered", "disasters", "silent", "settled", "median error", "sure and off by")


def read(path: Path) -> list[Row]:
    """The rows of a table, if it is there."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def covers(row: Row) -> bool:
    """Whether the 95 % interval holds the truth."""
    return is_number(row) and miss(row) <= 0.0


def miss(row: Row) -> float:
    """By how many nats the interval misses the truth; 0 or less if it does not."""
    truth, low, high = (float(row[key]) for key in ("truth", "log_z_lo", "log_z_hi"))
    return max(low - truth, truth - high)


def is_disaster(row: Row) -> bool:
    """An interval that misses by more than half a nat."""
    return is_number(row) and miss(row) > DISASTER_NATS


def is_settled(row: Row) -> bool:
    """Whether the answer looks sure."""
    return bool(row["verdict"] == "settled")


def is_silent(row: Row) -> bool:
    """A disaster that nothing warns of."""
    return is_disaster(row) and is_settled(row)


def figures(rows: list[Row]) -> list[str]:
    """What a line of a table says of some rows."""
    n = len(rows)
    errors = [abs(float(r["log_z"]) - float(r["truth"])) if is_number(r) else math.inf for r in rows]
    sure = [e for e, r in zip(errors, rows) if is_settled(r)]
    shares = [sum(map(what, rows)) / n for what in (covers, is_disaster, is_silent, is_settled)]
    return [
        str(n),
        *(f"{100 * share:.1f} %" for share in shares),
        f"{median(errors):.2g}",
        f"{median(sure):.2g}" if sure else "",
    ]


def table(rows: Iterable[Row], title: str, key: Callable[[Row], str]) -> list[str]:
    """A table with a line for each value of a key."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    lines = [f"| {' | '.join((title, *HEADINGS[1:]))} |", "| --- " * len(HEADINGS) + "|"]
    return [*lines, *(f"| {name} | {' | '.join(figures(groups[name]))} |" for name in sorted(groups))]


def by_size(row: Row) -> str:
    """The dimension, in three groups."""
    d = int(row["d"])
    return "d = 1, 2" if d <= 2 else "d = 3, 4" if d <= 4 else "d = 5 to 8"


def how_run(row: Row) -> str:
    """Serial or not, exact or not."""
    flying = "serial" if int(row["in_flight"]) == 1 else f"{row['in_flight']} in flight"
    noise = float(row["noise_sd"])
    return f"{flying}, {'exact' if noise == 0 else f'noise of sd {noise:g}'}"


def text(rows: list[Row]) -> str:
    """The report on one version's rows."""
    lines = [
        "# How far answers can be trusted",
        "",
        f"Version {rows[0]['version']}, {len({r['seed'] for r in rows})} random instances; "
        "[what they are](../trust/README.md).",
        "A *disaster* is a 95 % interval that misses the truth by more than half a nat. It is",
        "*silent* if the verdict was settled.",
    ]
    for half in ("tune", "report"):
        some = [r for r in rows if r["half"] == half]
        if not some:
            continue
        name = "The half not tuned on" if half == "report" else "The tuning half"
        lines += ["", f"## {name}", "", *table(some, "evaluations", lambda r: f"{int(r['budget']):3d}")]
        lines += ["", *table(some, "kind", lambda r: str(r["kind"]))]
        lines += ["", *table(some, "parameters", by_size)]
        lines += ["", *table(some, "how", how_run)]
        lines += ["", *silent(some)]
    return "\n".join(lines) + "\n"


def silent(rows: list[Row]) -> list[str]:
    """Each silent disaster."""
    found = [r for r in rows if is_silent(r)]
    if not found:
        return ["No disaster was silent."]
    lines = ["Silent disasters:", "", "| seed | kind | d | how | evaluations | error |", "| --- " * 6 + "|"]
    for r in found:
        error = float(r["log_z"]) - float(r["truth"])
        lines.append(f"| {r['seed']} | {r['kind']} | {r['d']} | {how_run(r)} | {r['budget']} | {error:+.2f} |")
    return lines


def write(rows: list[Row], path: Path) -> None:
    """The report of the last version in the table."""
    last = rows[-1]["version"]
    path.write_text(text([r for r in rows if r["version"] == last]))

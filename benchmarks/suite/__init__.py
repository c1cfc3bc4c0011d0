"""The integrands of the benchmark by name, in order of dimension, with known log evidences."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from . import absorbers, curved, humps, posteriors, real, tails
from .problem import Problem

TRUTHS = Path(__file__).parent / "truths.csv"


def read_truths(path: Path = TRUTHS) -> dict[str, dict[str, str]]:
    """The rows of a table of truths by the problem's name."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def _known(problem: Problem, truths: dict[str, dict[str, str]]) -> Problem:
    """The problem with the log evidence of the table, unless it has a closed form."""
    row = truths.get(problem.name)
    if row is None or problem.log_z == problem.log_z:
        return problem
    return replace(problem, log_z=float(row["log_z"]), log_z_error=float(row["error"]))


def defined() -> list[Problem]:
    """All problems in order of dimension; log_z is NaN where it has no closed form."""
    found = [
        p for family in (humps, curved, tails, posteriors, absorbers) for p in family.problems()
    ]
    return sorted(found, key=lambda p: p.d)


PROBLEMS: dict[str, Problem] = {p.name: _known(p, read_truths()) for p in defined()}

# The real posteriors are a group of their own: the figures of the others do not depend on them. A
# posterior joins when its truth is known.
_REAL_TRUTHS = read_truths(real.TRUTHS)
REAL: dict[str, Problem] = {
    p.name: _known(p, _REAL_TRUTHS) for p in real.defined() if p.name in _REAL_TRUTHS
}
ALL: dict[str, Problem] = {**PROBLEMS, **REAL}

"""Posteriors of real data under priors as their authors wrote them, one file a family: see
README.md."""

from __future__ import annotations

from pathlib import Path

from ..problem import Problem
from . import binary, changes, counts, hierarchical, kinetics, linear, mixtures, ordinal, robust, series, skies, survival

TRUTHS = Path(__file__).parent / "truths.csv"
FAMILIES = (linear, robust, binary, ordinal, counts, series, kinetics, hierarchical, mixtures, survival, changes, skies)


def defined() -> list[Problem]:
    """All problems in order of dimension; log_z is not known here."""
    return sorted((p for family in FAMILIES for p in family.problems()), key=lambda p: (p.d, p.name))

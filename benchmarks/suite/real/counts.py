"""Counts: colonies of bacteria, seizures, days of absence, damage to ships."""

from __future__ import annotations

import numpy as np

from ..problem import Array, Prior, Problem
from .common import NegativeBinomial, design, normals, poisson, table


def salmonella_4d() -> Problem:
    """No closed form."""
    t = table("salmonella")
    rows = design(np.log(t["dose"] + 10.0), t["dose"])
    model = NegativeBinomial(t["colonies"])
    priors: dict[str, Prior] = {**normals(["intercept", "log_dose", "dose"], 1000.0), "size": ("loguniform", 0.1, 1e4)}
    about = "Revertant colonies of Salmonella at six doses of quinoline: Breslow (1984), Salm of the BUGS examples."
    return Problem("real_salmonella_4d", "tune", about, priors, lambda x: model(x[:, :3] @ rows.T, x[:, 3]))


def epil_7d() -> Problem:
    """No closed form."""
    t = table("epil")
    base, age = np.log(t["base"] / 4.0), np.log(t["age"])
    columns = [base, t["progabide"], base * t["progabide"], age, t["fourth"]]
    rows = design(*(c - c.mean() for c in columns))
    model = NegativeBinomial(t["seizures"])
    names = ["intercept", "base", "progabide", "both", "age", "fourth"]
    priors: dict[str, Prior] = {**normals(names, 100.0), "size": ("gamma", 0.001, 0.001)}
    about = "Seizures of 59 patients in four fortnights: Thall and Vail (1990), Epil of the BUGS examples without patients' effects."
    return Problem("real_epil_7d", "report", about, priors, lambda x: model(x[:, :6] @ rows.T, x[:, 6]))


def quine_8d() -> Problem:
    """No closed form."""
    t = table("quine")
    forms = [(t["form"] == k) * 1.0 for k in (1, 2, 3)]
    rows = design(t["non_aboriginal"], t["male"], *forms, t["slow"])
    model = NegativeBinomial(t["days"])
    names = ["intercept", "non_aboriginal", "male", "form_1", "form_2", "form_3", "slow"]
    priors: dict[str, Prior] = {**normals(names, 10.0), "size": ("halfcauchy", 5.0)}
    about = "Days that 146 children of Walgett were absent from school: Quine (1978), Aitkin (1978)."
    return Problem("real_quine_8d", "tune", about, priors, lambda x: model(x[:, :7] @ rows.T, x[:, 7]))


def ships_9d() -> Problem:
    """No closed form."""
    t = table("ships")
    types = [(t["type"] == k) * 1.0 for k in (2, 3, 4, 5)]
    years = [(t["year"] == y) * 1.0 for y in (65, 70, 75)]
    rows, offset = design(*types, *years, (t["period"] == 75) * 1.0), np.log(t["service"])
    names = ["intercept", "type_b", "type_c", "type_d", "type_e", "built_65", "built_70", "built_75", "period_75"]

    def f(x: Array) -> Array:
        return poisson(t["incidents"], x @ rows.T + offset)

    about = "Damage by waves to 34 kinds of cargo ships in their months of service: McCullagh and Nelder (1989)."
    return Problem("real_ships_9d", "report", about, normals(names, 100.0), f)


def problems() -> list[Problem]:
    """All of this family."""
    return [salmonella_4d(), epil_7d(), quine_8d(), ships_9d()]

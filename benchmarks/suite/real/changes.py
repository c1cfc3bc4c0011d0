"""Change points: disasters in coal mines, a bend in the flow of water."""

from __future__ import annotations

import numpy as np

from ..posteriors import normal_terms
from ..problem import Array, Prior, Problem
from .common import table


def coal_3d() -> Problem:
    """No closed form."""
    dates = np.sort(table("coal")["date"])
    begin, end = 1851.0, 1963.0

    def f(x: Array) -> Array:
        before = np.searchsorted(dates, x[:, 2])
        early, late = x[:, 0], x[:, 1]
        risk = early * (x[:, 2] - begin) + late * (end - x[:, 2])
        return before * np.log(early) + (len(dates) - before) * np.log(late) - risk

    priors: dict[str, Prior] = {
        "early": ("loguniform", 1e-3, 1e3),
        "late": ("loguniform", 1e-3, 1e3),
        "change": ("uniform", begin, end),
    }
    about = "Dates of 191 explosions in coal mines, a rate that changes once: Jarrett (1979), Raftery and Akman (1986)."
    return Problem("real_coal_3d", "tune", about, priors, f)


def stagnant_5d() -> Problem:
    """No closed form."""
    t = table("stagnant")

    def f(x: Array) -> Array:
        height, before, after, change, precision = x.T[..., None]
        past = t["log_flow"] - change
        mean = height + np.where(past < 0.0, before, after) * past
        return normal_terms(t["log_height"] - mean, precision**-0.5)

    priors: dict[str, Prior] = {
        "height": ("normal", 0.0, 1000.0),
        "before": ("normal", 0.0, 1000.0),
        "after": ("normal", 0.0, 1000.0),
        "change": ("uniform", -1.3, 1.1),
        "precision": ("gamma", 0.001, 0.001),
    }
    about = "Height of the stagnant surface of water down a plane, two lines that meet: Carlin, Gelfand and Smith (1992), Stagnant of BUGS."
    return Problem("real_stagnant_5d", "report", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [coal_3d(), stagnant_5d()]

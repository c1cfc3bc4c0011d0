"""Weibull survival with cut times: leukaemia, mice, lung cancer."""

from __future__ import annotations

import numpy as np

from ..problem import Array, Prior, Problem
from .common import Weibull, design, normals, table


def gehan_3d() -> Problem:
    """No closed form."""
    t = table("gehan")
    model, rows = Weibull(t["weeks"], t["relapse"]), design(t["mercaptopurine"])
    priors: dict[str, Prior] = {"shape": ("loguniform", 0.01, 100.0), **normals(["intercept", "treatment"], 100.0)}
    about = "Weeks of remission of 42 children with leukaemia: Freireich (1963), Gehan (1965)."
    return Problem("real_gehan_3d", "report", about, priors, lambda x: model(x[:, 0], x[:, 1:] @ rows.T))


def mice_5d() -> Problem:
    """No closed form."""
    t = table("mice")
    model = Weibull(t["weeks"], t["died"])
    rows = np.stack([(t["group"] == k) * 1.0 for k in (1, 2, 3, 4)], axis=1)
    priors: dict[str, Prior] = {"shape": ("exponential", 0.001)}
    priors |= normals(["irradiated", "vehicle", "test", "positive"], 1000.0**0.5)
    about = "Cancer of the skin in 80 mice of four groups: Grieve (1987), Dellaportas and Smith (1993), Mice of the BUGS examples."
    return Problem("real_mice_5d", "tune", about, priors, lambda x: model(x[:, 0], x[:, 1:] @ rows.T))


def veteran_8d() -> Problem:
    """No closed form."""
    t = table("veteran")
    used = ["test", "karnofsky", "age", "small", "adeno", "large"]
    model, rows = Weibull(t["days"], t["died"]), design(*(t[c] for c in used))
    priors: dict[str, Prior] = {"shape": ("halfcauchy", 5.0), **normals(["intercept", *used], 100.0)}
    about = "Survival of 137 veterans with lung cancer, age and Karnofsky's score in their own units: Kalbfleisch and Prentice (1980)."

    def f(x: Array) -> Array:
        return model(x[:, 0], x[:, 1:] @ rows.T)

    return Problem("real_veteran_8d", "report", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [gehan_3d(), mice_5d(), veteran_8d()]

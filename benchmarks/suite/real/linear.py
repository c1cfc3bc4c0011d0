"""Linear regressions with normal errors: stopping distances, fertility, employment, diabetes,
crime."""

from __future__ import annotations

import numpy as np

from ..problem import Prior, Problem
from .common import Linear, design, normals, standard, table


def cars_3d() -> Problem:
    """No closed form."""
    t = table("cars")
    model = Linear(design(t["speed"]), t["dist"])
    priors: dict[str, Prior] = {**normals(["intercept", "speed"], 100.0), "noise": ("halfcauchy", 5.0)}
    about = "Stopping distances of 50 cars on their speed: Ezekiel (1930), R's first regression."
    return Problem("real_cars_3d", "tune", about, priors, lambda x: model(x[:, :2], np.log(x[:, 2])))


def swiss_7d() -> Problem:
    """No closed form."""
    t = table("swiss")
    used = ["agriculture", "examination", "education", "catholic", "mortality"]
    model = Linear(design(*(t[c] for c in used)), t["fertility"])
    priors: dict[str, Prior] = {**normals(["intercept", *used], 1000.0), "precision": ("gamma", 0.001, 0.001)}
    about = (
        "Fertility of 47 Swiss provinces in 1888 on five columns in their own units, under the priors of the BUGS manual: "
        "Mosteller and Tukey (1977)."
    )
    return Problem("real_swiss_7d", "report", about, priors, lambda x: model(x[:, :6], -0.5 * np.log(x[:, 6])))


def longley_8d() -> Problem:
    """No closed form."""
    t = table("longley")
    used = [c for c in t if c != "employed"]
    model = Linear(design(*(standard(t[c]) for c in used)), t["employed"])
    priors: dict[str, Prior] = {**normals(["intercept", *used], 100.0), "noise": ("halfcauchy", 5.0)}
    about = "Employment in the United States on six nearly collinear columns: Longley (1967)."
    return Problem("real_longley_8d", "report", about, priors, lambda x: model(x[:, :7], np.log(x[:, 7])))


def diabetes_12d() -> Problem:
    """No closed form."""
    t = table("diabetes")
    used = [c for c in t if c != "progression"]
    model = Linear(design(*(standard(t[c]) for c in used)), t["progression"])
    priors: dict[str, Prior] = {**normals(["intercept", *used], 1000.0), "noise": ("uniform", 0.0, 1000.0)}
    about = "Progression of diabetes in 442 patients on ten measurements: Efron, Hastie, Johnstone and Tibshirani (2004)."
    return Problem("real_diabetes_12d", "tune", about, priors, lambda x: model(x[:, :11], np.log(x[:, 11])))


def uscrime_15d() -> Problem:
    """No closed form."""
    t = table("uscrime")
    used = [c for c in t if c != "crime"]
    model = Linear(design(*(standard(t[c]) for c in used)), t["crime"])
    priors: dict[str, Prior] = {"intercept": ("normal", 0.0, 10_000.0), **normals(used, 1000.0), "noise": ("halfcauchy", 100.0)}
    about = "Crime in 47 states of 1960 on thirteen columns: Ehrlich (1973), Vandaele (1978)."
    return Problem("real_uscrime_15d", "report", about, priors, lambda x: model(x[:, :14], np.log(x[:, 14])))


def problems() -> list[Problem]:
    """All of this family."""
    return [cars_3d(), swiss_7d(), longley_8d(), diabetes_12d(), uscrime_15d()]


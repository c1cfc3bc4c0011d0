"""Logistic and probit regressions: beetles, O-rings, blood vessels, examinations, biopsies."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, log_ndtr

from ..problem import Array, Prior, Problem
from .common import design, normals, table


def signed(x: Array, y: Array) -> Array:
    """The rows of a design, turned round where y is 0: each probability is then that of a positive
    margin."""
    return x * (2.0 * y - 1.0)[:, None]


def logistic(rows: Array, b: Array, counts: Array | float = 1.0) -> Array:
    """The log likelihood of signed rows, each as often as `counts` says."""
    return -(counts * np.logaddexp(0.0, -(b @ rows.T))).sum(1)


def beetles_2d() -> Problem:
    """No closed form."""
    t = table("beetles")
    dose, n, k = t["log_dose"] - t["log_dose"].mean(), t["exposed"], t["killed"]
    ways = float((gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)).sum())

    def f(x: Array) -> Array:
        eta = x[:, :1] + x[:, 1:] * dose
        return -(k * np.logaddexp(0.0, -eta) + (n - k) * np.logaddexp(0.0, eta)).sum(1) + ways

    priors: dict[str, Prior] = normals(["centre", "slope"], 1000.0**0.5)
    about = "Beetles killed by eight doses of carbon disulphide: Bliss (1935), Beetles of the BUGS examples."
    return Problem("real_beetles_2d", "tune", about, priors, f)


def orings_2d() -> Problem:
    """No closed form."""
    t = table("orings")
    rows = signed(design(t["temperature"]), t["failed"])
    about = "Damaged O-rings of 23 shuttles on the temperature in Fahrenheit: Dalal, Fowlkes and Hoadley (1989)."
    return Problem("real_orings_2d", "report", about, normals(["intercept", "temperature"], 100.0), lambda x: logistic(rows, x))


def vaso_3d() -> Problem:
    """No closed form."""
    t = table("vaso")

    def halved(column: Array) -> Array:
        return np.asarray((column - column.mean()) / (2.0 * column.std()))

    rows = signed(design(halved(np.log(t["volume"])), halved(np.log(t["rate"]))), t["y"])
    priors: dict[str, Prior] = {
        "intercept": ("cauchy", 0.0, 10.0),
        "volume": ("cauchy", 0.0, 2.5),
        "rate": ("cauchy", 0.0, 2.5),
    }
    about = (
        "Constriction of vessels after 39 breaths: Finney (1947), Pregibon (1981), under the default priors of Gelman and others "
        "(2008)."
    )
    return Problem("real_vaso_3d", "tune", about, priors, lambda x: logistic(rows, x))


def spector_4d() -> Problem:
    """No closed form."""
    t = table("spector")
    rows = signed(design(t["gpa"], t["tuce"], t["psi"]), t["grade"])
    priors = normals(["intercept", "gpa", "tuce", "psi"], 10.0)
    about = "Probit of better grades of 32 students on three columns in their own units: Spector and Mazzeo (1980)."
    return Problem("real_spector_4d", "report", about, priors, lambda x: log_ndtr(x @ rows.T).sum(1))


def biopsy_10d() -> Problem:
    """No closed form."""
    t = table("biopsy")
    used = [c for c in t if c != "malignant"]
    rows, counts = np.unique(signed(design(*(t[c] for c in used)), t["malignant"]), axis=0, return_counts=True)
    priors = normals(["intercept", *used], 10.0)
    about = "Malignant tumours among 683 biopsies on nine scores from 1 to 10: Wolberg and Mangasarian (1990)."
    return Problem("real_biopsy_10d", "tune", about, priors, lambda x: logistic(rows, x, counts))


def problems() -> list[Problem]:
    """All of this family."""
    return [beetles_2d(), orings_2d(), vaso_3d(), spector_4d(), biopsy_10d()]

"""Regressions with Student t errors: a plant that oxidises ammonia, and telephone calls of which
some years are minutes."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from ..problem import Array, Prior, Problem
from .common import design, normals, standard, table


def student(residuals: Array, df: Array, log_scale: Array) -> Array:
    """log Student t of residuals (n, m), summed over m; df and log_scale are (n, 1), or df a
    number."""
    squares = (residuals * np.exp(-log_scale)) ** 2 / df
    each = -0.5 * (df + 1.0) * np.log1p(squares) - log_scale - 0.5 * np.log(df) - betaln(0.5 * df, 0.5)
    return each.sum(1)


def stackloss_5d() -> Problem:
    """No closed form."""
    t = table("stackloss")
    used = ["air", "water", "acid"]
    design_of, loss = design(*(standard(t[c]) for c in used)), t["loss"]

    def f(x: Array) -> Array:
        return student(loss - x[:, :4] @ design_of.T, np.array(4.0), -0.5 * np.log(x[:, 4:]))

    priors: dict[str, Prior] = {**normals(["intercept", *used], 10.0**2.5), "precision": ("gamma", 0.001, 0.001)}
    about = "Loss of ammonia in 21 days of a plant, with t errors of 4 degrees: Brownlee (1965), Stacks of the BUGS examples."
    return Problem("real_stackloss_5d", "tune", about, priors, f)


def phones_4d() -> Problem:
    """No closed form."""
    t = table("phones")
    design_of, calls = design(t["year"]), t["calls"]

    def f(x: Array) -> Array:
        return student(calls - x[:, :2] @ design_of.T, x[:, 3:], np.log(x[:, 2:3]))

    priors: dict[str, Prior] = {
        **normals(["intercept", "year"], 100.0),
        "scale": ("halfcauchy", 25.0),
        "degrees": ("gamma", 2.0, 0.1),
    }
    about = "Telephone calls from Belgium by year, six of them in another unit, with t errors: Rousseeuw and Leroy (1987)."
    return Problem("real_phones_4d", "report", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [phones_4d(), stackloss_5d()]

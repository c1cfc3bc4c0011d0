"""Ordered outcomes with cut points: how bitter a wine is, how far a patient improved."""

from __future__ import annotations

import numpy as np

from ..humps import log_interval
from ..problem import Array, Prior, Problem
from .common import table


def cuts(first: Array, gaps: Array) -> Array:
    """Cut points (n, k + 2) from -inf to inf: the first, and the steps to each next one."""
    inner = first + np.concatenate([np.zeros_like(first), np.cumsum(gaps, axis=1)], axis=1)
    ends = np.full((len(inner), 1), np.inf)
    return np.concatenate([-ends, inner, ends], axis=1)


def log_logistic_interval(low: Array, high: Array) -> Array:
    """The log of F(high) - F(low), F logistic, which is F(high) F(-low) (1 - exp(low - high))."""
    return np.log(-np.expm1(low - high)) - np.logaddexp(0.0, -high) - np.logaddexp(0.0, low)


def wine_6d() -> Problem:
    """No closed form."""
    t = table("wine")
    kinds, counts = np.unique(np.column_stack([t["rating"], t["warm"], t["contact"]]), axis=0, return_counts=True)
    rating, columns = kinds[:, 0].astype(int), kinds[:, 1:]

    def f(x: Array) -> Array:
        eta, at = x[:, :2] @ columns.T, cuts(x[:, 2:3], x[:, 3:])
        return (counts * log_logistic_interval(at[:, rating - 1] - eta, at[:, rating] - eta)).sum(1)

    priors: dict[str, Prior] = {"warm": ("normal", 0.0, 100.0), "contact": ("normal", 0.0, 100.0), "cut": ("normal", 0.0, 100.0)}
    priors |= {f"gap_{i}": ("exponential", 0.1) for i in (1, 2, 3)}
    about = "Proportional odds of the bitterness of 72 wines: Randall (1989), the example of the R package ordinal."
    return Problem("real_wine_6d", "report", about, priors, f)


def arthritis_5d() -> Problem:
    """No closed form."""
    t = table("arthritis")
    used = ["treated", "male", "age"]
    columns, improved = np.column_stack([t[c] for c in used]), t["improved"].astype(int)

    def f(x: Array) -> Array:
        eta, at = x[:, :3] @ columns.T, cuts(x[:, 3:4], x[:, 4:])
        return log_interval(at[:, improved - 1] - eta, at[:, improved] - eta).sum(1)

    priors: dict[str, Prior] = {name: ("normal", 0.0, 10.0) for name in [*used, "cut"]}
    priors |= {"gap": ("exponential", 1.0)}
    about = "Ordered probit of the improvement of 84 patients, age in years: Koch and Edwards (1988)."
    return Problem("real_arthritis_5d", "tune", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [arthritis_5d(), wine_6d()]

"""Time series: the level of Lake Huron, the temperature of New Haven, the lynx of the Mackenzie
River."""

from __future__ import annotations

import numpy as np

from ..posteriors import LOG_2PI, normal_terms
from ..problem import Array, Prior, Problem
from .common import design, normals, table


def lake_huron_4d() -> Problem:
    """No closed form."""
    t = table("lake_huron")
    y, years = t["level"], t["year"] - 1920.0

    def f(x: Array) -> Array:
        level, trend, phi, noise = x.T[..., None]
        from_trend = y - level - trend * years
        # The first deviation has the law that the others settle in.
        first = normal_terms(from_trend[:, :1], noise / np.sqrt(1.0 - phi * phi))
        return first + normal_terms(from_trend[:, 1:] - phi * from_trend[:, :-1], noise)

    priors: dict[str, Prior] = {
        "level": ("normal", 0.0, 1000.0),
        "trend": ("normal", 0.0, 100.0),
        "phi": ("uniform", -1.0, 1.0),
        "noise": ("halfcauchy", 5.0),
    }
    about = "The level of Lake Huron from 1875 to 1972, a trend with deviations of first order: Brockwell and Davis (1991)."
    return Problem("real_lake_huron_4d", "tune", about, priors, f)


def nhtemp_3d() -> Problem:
    """No closed form."""
    y = table("nhtemp")["temperature"]

    def f(x: Array) -> Array:
        level, noise, drift = x[:, 0], x[:, 1] ** 2, x[:, 2] ** 2
        spread, total = np.zeros(len(x)), np.zeros(len(x))
        for value in y:
            # Kalman's filter: what the value says of the level that drifts, and how likely it was.
            spread = spread + drift
            variance, error = spread + noise, value - level
            total = total - 0.5 * (error * error / variance + np.log(variance))
            gain = spread / variance
            level, spread = level + gain * error, spread * noise / variance
        return total - 0.5 * len(y) * LOG_2PI

    priors: dict[str, Prior] = {
        "start": ("normal", 0.0, 100.0),
        "noise": ("halfcauchy", 10.0),
        "drift": ("halfcauchy", 10.0),
    }
    about = "Sixty mean temperatures of New Haven, a level that drifts under noise: the local level model of Harvey (1989)."
    return Problem("real_nhtemp_3d", "report", about, priors, f)


def lynx_8d() -> Problem:
    """No closed form."""
    y = np.log10(table("lynx")["trapped"])
    rows, now, gate = design(y[1:-1], y[:-2]), y[2:], y[:-2]

    def f(x: Array) -> Array:
        low = gate <= x[:, 6:7]
        mean = np.where(low, x[:, :3] @ rows.T, x[:, 3:6] @ rows.T)
        return normal_terms(now - mean, x[:, 7:])

    names = [f"{when}_{what}" for when in ("low", "high") for what in ("constant", "last", "before")]
    priors: dict[str, Prior] = {**normals(names, 10.0), "threshold": ("uniform", 2.0, 4.0), "noise": ("uniform", 0.0, 10.0)}
    about = "Lynx trapped from 1821 to 1934, one recursion below a threshold and another above: Tong and Lim (1980)."
    return Problem("real_lynx_8d", "tune", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [nhtemp_3d(), lake_huron_4d(), lynx_8d()]

"""Stars: the velocities of one with an eccentric planet, the light of a Cepheid."""

from __future__ import annotations

import numpy as np

from ..posteriors import normal_terms
from ..problem import Array, Prior, Problem
from .common import normals, table

TURN = 2.0 * np.pi


def eccentric(mean: Array, e: Array) -> Array:
    """E of E - e sin E = mean, by Halley's steps from Danby's start, which converge for e up to
    0.95."""
    mean = mean - TURN * np.floor(mean / TURN)
    out = mean + 0.85 * e * np.sign(np.pi - mean)
    for _ in range(7):
        sin, cos = e * np.sin(out), e * np.cos(out)
        error, slope = out - sin - mean, 1.0 - cos
        out = out - error / (slope - 0.5 * error * sin / slope)
    return out


def hd20868_7d() -> Problem:
    """No closed form."""
    t = table("hd20868")
    days, v, known = t["day"] - 4000.0, t["velocity"] - 46_000.0, t["error"]

    def f(x: Array) -> Array:
        period, amplitude, e, periastron, passage, offset, jitter = x.T[..., None]
        turn = eccentric(TURN * (days / period - passage), e)
        near = 1.0 - e * np.cos(turn)
        cos, sin = (np.cos(turn) - e) / near, np.sqrt(1.0 - e * e) * np.sin(turn) / near
        # cos(true anomaly + periastron) + e cos periastron.
        shape = (cos + e) * np.cos(periastron) - sin * np.sin(periastron)
        return normal_terms(v - offset - amplitude * shape, np.hypot(known, jitter))

    priors: dict[str, Prior] = {
        "period": ("loguniform", 100.0, 1000.0),
        "amplitude": ("loguniform", 1.0, 1000.0),
        "eccentricity": ("uniform", 0.0, 0.95),
        "periastron": ("uniform", -np.pi, np.pi),
        "passage": ("uniform", 0.0, 1.0),
        "offset": ("normal", 0.0, 1000.0),
        "jitter": ("loguniform", 0.1, 100.0),
    }
    about = "Radial velocities of HD 20868, whose planet has the eccentricity 0.75: Moutou and others (2009)."
    return Problem("real_hd20868_7d", "report", about, priors, f)


def cepheid_7d() -> Problem:
    """No closed form."""
    t = table("cepheid")
    days, magnitude, known = t["day"] - 8400.0, t["magnitude"], t["error"]

    def f(x: Array) -> Array:
        angle = TURN * days / x[:, 5:6]
        cos, sin = np.cos(angle), np.sin(angle)
        one = x[:, 1:2] * cos + x[:, 2:3] * sin
        two = x[:, 3:4] * (cos * cos - sin * sin) + 2.0 * x[:, 4:5] * cos * sin
        return normal_terms(magnitude - x[:, :1] - one - two, np.hypot(known, x[:, 6:]))

    priors: dict[str, Prior] = {"mean": ("normal", 0.0, 10.0), **normals(["cos_1", "sin_1", "cos_2", "sin_2"], 1.0)}
    priors |= {"period": ("loguniform", 10.0, 30.0), "jitter": ("loguniform", 1e-3, 1.0)}
    about = "The magnitude of the Cepheid HIP 54101, two harmonics of a period that is sought: Hipparcos (ESA 1997)."
    return Problem("real_cepheid_7d", "tune", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [cepheid_7d(), hd20868_7d()]

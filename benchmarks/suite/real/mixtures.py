"""Mixtures of normals, whose labels may be swapped: the geyser Old Faithful, galaxies."""

from __future__ import annotations

from functools import reduce

import numpy as np
from scipy.special import logsumexp

from ..posteriors import LOG_2PI
from ..problem import Array, Prior, Problem
from .common import table


def log_normal_density(values: Array, mean: Array, sd: Array) -> Array:
    """log Normal(values; mean, sd^2)."""
    return -0.5 * ((values - mean) / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI


def faithful_5d() -> Problem:
    """No closed form."""
    # Whole minutes: few values, each of them often.
    minutes, counts = np.unique(table("faithful")["waiting"], return_counts=True)

    def f(x: Array) -> Array:
        one, two = (log_normal_density(minutes, x[:, i : i + 1], x[:, i + 2 : i + 3]) for i in (0, 1))
        return (counts * np.logaddexp(np.log(x[:, 4:]) + one, np.log1p(-x[:, 4:]) + two)).sum(1)

    priors: dict[str, Prior] = {
        "mean_1": ("normal", 0.0, 100.0),
        "mean_2": ("normal", 0.0, 100.0),
        "sd_1": ("loguniform", 1.0, 100.0),
        "sd_2": ("loguniform", 1.0, 100.0),
        "share_1": ("uniform", 0.0, 1.0),
    }
    about = "Minutes between 272 eruptions of Old Faithful, a mixture of two normals: Azzalini and Bowman (1990)."
    return Problem("real_faithful_5d", "tune", about, priors, f)


def galaxies_7d() -> Problem:
    """No closed form."""
    v = table("galaxies")["velocity"] / 1000.0

    def f(x: Array) -> Array:
        log_shares = x[:, 3:6] - logsumexp(x[:, 3:6], axis=1, keepdims=True)
        each = (log_shares[:, k : k + 1] + log_normal_density(v, x[:, k : k + 1], x[:, 6:]) for k in range(3))
        return reduce(np.logaddexp, each).sum(1)

    priors: dict[str, Prior] = {f"mean_{k}": ("normal", 20.0, 20.0) for k in (1, 2, 3)}
    priors |= {f"logit_{k}": ("normal", 0.0, 1.0) for k in (1, 2, 3)}
    priors |= {"sd": ("halfcauchy", 5.0)}
    about = "Velocities of 82 galaxies in thousands of km/s, three normals of one width: Roeder (1990), Richardson and Green (1997)."
    return Problem("real_galaxies_7d", "report", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [faithful_5d(), galaxies_7d()]

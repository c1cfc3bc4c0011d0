"""Groups in a population: batches of dye, sleepless drivers, vaccine trials, orange trees,
pumps."""

from __future__ import annotations

import numpy as np

from ..posteriors import LOG_2PI, normal_terms
from ..problem import Array, Prior, Problem
from .common import design, normals, poisson, table


def dyestuff_3d() -> Problem:
    """No closed form."""
    t = table("dyestuff")
    groups = np.stack([t["gain"][t["batch"] == k] for k in np.unique(t["batch"])])
    means, size = groups.mean(1), groups.shape[1]
    within = float(((groups - means[:, None]) ** 2).sum())
    free = groups.size - len(groups)

    def f(x: Array) -> Array:
        # The batches' effects are integrated out: means and deviations are independent.
        mean, noise, between = x[:, :1], 1.0 / x[:, 1:2], 1.0 / x[:, 2:]
        apart = -0.5 * (within / noise[:, 0] + free * (np.log(noise[:, 0]) + LOG_2PI) + len(groups) * np.log(size))
        return apart + normal_terms(means - mean, np.sqrt(between + noise / size))

    priors: dict[str, Prior] = {
        "mean": ("normal", 0.0, 1e5),
        "precision_within": ("gamma", 0.001, 0.001),
        "precision_between": ("gamma", 0.001, 0.001),
    }
    about = "Yields of six batches of dye: Davies (1949), Box and Tiao (1973), Dyes of the BUGS examples."
    return Problem("real_dyestuff_3d", "tune", about, priors, f)


def sleepstudy_6d() -> Problem:
    """No closed form."""
    t = table("sleepstudy")
    y = np.stack([t["reaction"][t["subject"] == k] for k in np.unique(t["subject"])])
    rows = design(np.arange(y.shape[1], dtype=float))
    q, r = np.linalg.qr(rows)
    lines = np.linalg.solve(r, q.T @ y.T).T
    rest, days = float(((y - lines @ rows.T) ** 2).sum()), y.shape[1]
    known, log_norm = np.linalg.inv(rows.T @ rows), float(np.log(np.linalg.det(rows.T @ rows)))

    def f(x: Array) -> Array:
        # Each driver's own line is integrated out: the fitted lines are normal with this
        # covariance.
        start, slope, rho, noise = x[:, 2], x[:, 3], x[:, 4], x[:, 5]
        a = start**2 + noise**2 * known[0, 0]
        b = rho * start * slope + noise**2 * known[0, 1]
        c = slope**2 + noise**2 * known[1, 1]
        u, v = lines[:, 0] - x[:, :1], lines[:, 1] - x[:, 1:2]
        determinant = a * c - b * b
        squares = (c[:, None] * u * u - 2.0 * b[:, None] * u * v + a[:, None] * v * v).sum(1) / determinant
        between = -0.5 * (squares + len(y) * (np.log(determinant) + 2.0 * LOG_2PI))
        free = len(y) * (days - 2)
        return between - 0.5 * (rest / noise**2 + free * (2.0 * np.log(noise) + LOG_2PI) + len(y) * log_norm)

    priors: dict[str, Prior] = {
        "intercept": ("normal", 0.0, 1000.0),
        "slope": ("normal", 0.0, 1000.0),
        "sd_intercept": ("halfcauchy", 25.0),
        "sd_slope": ("halfcauchy", 25.0),
        "correlation": ("uniform", -1.0, 1.0),
        "noise": ("halfcauchy", 25.0),
    }
    about = "Reaction times of 18 drivers over ten days without sleep, with lines of their own: Belenky (2003), the example of lme4."
    return Problem("real_sleepstudy_6d", "report", about, priors, f)


def bcg_3d() -> Problem:
    """No closed form."""
    t = table("bcg")
    log_risk = np.log(t["vaccinated_cases"] / t["vaccinated"]) - np.log(t["control_cases"] / t["control"])
    variance = 1 / t["vaccinated_cases"] - 1 / t["vaccinated"] + 1 / t["control_cases"] - 1 / t["control"]
    rows = design(t["latitude"])

    def f(x: Array) -> Array:
        return normal_terms(log_risk - x[:, :2] @ rows.T, np.sqrt(variance + x[:, 2:] ** 2))

    priors: dict[str, Prior] = {**normals(["intercept", "latitude"], 100.0), "spread": ("uniform", 0.0, 10.0)}
    about = "Log risks of tuberculosis after vaccination in 13 trials on their latitude: Colditz (1994), Berkey (1995)."
    return Problem("real_bcg_3d", "report", about, priors, f)


def orange_5d() -> Problem:
    """No closed form."""
    t = table("orange")
    y = np.stack([t["circumference"][t["tree"] == k] for k in np.unique(t["tree"])])
    days = t["days"][t["tree"] == 1]
    total = float((y * y).sum())

    def f(x: Array) -> Array:
        mean, spread, middle, width, noise = x.T[..., None]
        shape = 1.0 / (1.0 + np.exp((middle - days) / width))
        # Each tree's size is integrated out: y_i is normal with covariance noise^2 I + spread^2
        # shape shape'.
        power, along = (shape * shape).sum(1, keepdims=True), shape @ y.T
        n, m, share = noise[:, 0] ** 2, y.shape[1], spread**2 / (noise**2 + spread**2 * power)
        squares = total - 2.0 * (mean * along).sum(1) + len(y) * (mean**2 * power)[:, 0]
        squares = squares - (share * (along - mean * power) ** 2).sum(1)
        log_norm = len(y) * (m * (LOG_2PI + np.log(n)) + np.log1p(spread**2 * power / noise**2)[:, 0])
        return -0.5 * (squares / n + log_norm)

    priors: dict[str, Prior] = {
        "mean": ("normal", 0.0, 1000.0),
        "spread": ("halfcauchy", 25.0),
        "middle": ("uniform", 0.0, 10_000.0),
        "width": ("loguniform", 1.0, 1e4),
        "noise": ("halfcauchy", 25.0),
    }
    about = "Logistic growth of five orange trees whose sizes are normal: Draper and Smith (1981), Otrees of the BUGS examples."
    return Problem("real_orange_5d", "tune", about, priors, f)


def pumps_12d() -> Problem:
    """No closed form."""
    t = table("pumps")

    def f(x: Array) -> Array:
        return poisson(t["failures"], x[:, :1] + x[:, 1:2] * x[:, 2:] + np.log(t["hours"]))

    priors: dict[str, Prior] = {"mean": ("normal", 0.0, 10.0), "spread": ("halfnormal", 5.0), **normals([f"pump_{i}" for i in range(1, 11)], 1.0)}
    about = "Failures of ten pumps of a nuclear plant with log-normal rates, not centred: Gaver and O'Muircheartaigh (1987)."
    return Problem("real_pumps_12d", "report", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [dyestuff_3d(), bcg_3d(), orange_5d(), sleepstudy_6d(), pumps_12d()]

"""Posteriors of small data sets, public or drawn: regressions, a decay, prey, a planet, schools."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.stats import halfnorm, multivariate_normal

from .problem import Array, Prior, Problem

DATA = Path(__file__).parent / "data"
LOG_2PI = np.log(2.0 * np.pi)


def table(name: str) -> dict[str, Array]:
    """The columns of a table of the data folder."""
    rows = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)
    return {column: rows[column] for column in rows.dtype.names}


class Logistic:
    """Logistic regression with an intercept on columns of mean 0 and standard deviation 1."""

    def __init__(self, columns: list[Array], outcome: Array) -> None:
        x = np.stack(columns, axis=1)
        x = (x - x.mean(0)) / x.std(0)
        # The sign makes each term log(1/(1 + exp(-margin))).
        self.x = np.column_stack([np.ones(len(x)), x]) * (2.0 * outcome - 1.0)[:, None]

    def __call__(self, beta: Array) -> Array:
        return -np.logaddexp(0.0, -(beta @ self.x.T)).sum(1)


def coefficients(names: list[str]) -> dict[str, Prior]:
    """The weakly informative Normal(0, 2.5) for each standardised coefficient."""
    return {name: ("normal", 0.0, 2.5) for name in ["intercept", *names]}


def nodal_4d() -> Problem:
    """No closed form."""
    t, used = table("nodal"), ["acid", "xray", "stage"]
    about = "Logistic regression of nodal involvement on three findings in 53 patients: Brown (1980), Chib (1995)."
    return Problem(
        "nodal_4d", "tune", about, coefficients(used), Logistic([t[c] for c in used], t["r"])
    )


def pima_8d() -> Problem:
    """No closed form."""
    t = table("pima")
    used = [c for c in t if c != "type"]
    about = "Logistic regression of diabetes on seven measurements of 200 Pima women: Ripley (1996), Friel and Wyse (2012)."
    return Problem(
        "pima_8d", "report", about, coefficients(used), Logistic([t[c] for c in used], t["type"])
    )


def birth_weight_10d() -> Problem:
    """No closed form."""
    t = table("birth_weight")
    t["black"], t["other"] = (t["race"] == 2) * 1.0, (t["race"] == 3) * 1.0
    used = ["age", "lwt", "black", "other", "smoke", "ptl", "ht", "ui", "ftv"]
    about = "Logistic regression of low birth weight on nine columns about 189 mothers: Hosmer and Lemeshow (1989)."
    return Problem(
        "birth_weight_10d",
        "report",
        about,
        coefficients(used),
        Logistic([t[c] for c in used], t["low"]),
    )


def normal_terms(residuals: Array, sd: Array) -> Array:
    """sum over the last axis of log Normal(residual; 0, sd)."""
    return (-0.5 * (residuals / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI).sum(-1)


def decay_3d() -> Problem:
    """No closed form."""
    # RandomState's streams are frozen for ever, unlike those of numpy's newer generators.
    rng = np.random.RandomState(1)
    t = np.linspace(0.25, 5.0, 20)
    y = 5.0 * np.exp(-0.7 * t) + 0.3 * rng.standard_normal(20)

    def f(x: Array) -> Array:
        amplitude, rate, noise = x.T[..., None]
        return normal_terms(y - amplitude * np.exp(-rate * t), noise)

    priors: dict[str, Prior] = {
        "amplitude": ("loguniform", 0.1, 100.0),
        "rate": ("loguniform", 0.01, 10.0),
        "noise": ("loguniform", 0.01, 10.0),
    }
    about = "An exponential decay fitted to 20 drawn values, with log-uniform amplitude, rate and noise: the first fit of any laboratory."
    return Problem("decay_3d", "report", about, priors, f)


# Steps of a year: a fourth-order step of 1/8 year is good to 2e-5 where the posterior is.
STEPS = 8
# The logs of thousands of animals, which no sensible rates leave. They are clipped, so that absurd
# rates give a finite answer.
LOW, HIGH = -30.0, 12.0


def paths(rates: Array, start: Array, years: int) -> Array:
    """Logs of hares and lynxes each year, (years, 2, n): Lotka-Volterra by Runge-Kutta."""
    a, b, c, e = rates.T
    h = 1.0 / STEPS

    def slope(s: Array) -> Array:
        hares, lynxes = np.exp(np.clip(s, LOW, HIGH))
        return np.stack([a - b * lynxes, e * hares - c])

    s = np.repeat(np.log(start)[:, None], len(rates), axis=1)
    out = np.empty((years, 2, len(rates)))
    for year in range(years):
        for _ in range(STEPS):
            k1 = slope(s)
            k2 = slope(s + 0.5 * h * k1)
            k3 = slope(s + 0.5 * h * k2)
            k4 = slope(s + h * k3)
            s = np.clip(s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), LOW, HIGH)
        out[year] = s
    return out


def path(rates: Array, start: Array, years: int) -> Array:
    """The same for one set of rates, in plain floats: ten times as fast as arrays of length 1."""
    a, b, c, e = map(float, rates)
    h, exp = 1.0 / STEPS, math.exp

    def clip(v: float) -> float:
        return LOW if v < LOW else HIGH if v > HIGH else v

    def slope(x: float, y: float) -> tuple[float, float]:
        return a - b * exp(clip(y)), e * exp(clip(x)) - c

    x, y = math.log(start[0]), math.log(start[1])
    out = np.empty((years, 2, 1))
    for year in range(years):
        for _ in range(STEPS):
            p1, q1 = slope(x, y)
            p2, q2 = slope(x + 0.5 * h * p1, y + 0.5 * h * q1)
            p3, q3 = slope(x + 0.5 * h * p2, y + 0.5 * h * q2)
            p4, q4 = slope(x + h * p3, y + h * q3)
            x = clip(x + h / 6.0 * (p1 + 2.0 * p2 + 2.0 * p3 + p4))
            y = clip(y + h / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4))
        out[year, 0, 0], out[year, 1, 0] = x, y
    return out


def hare_lynx_5d() -> Problem:
    """No closed form."""
    t = table("hudson_bay")
    pelts = np.stack([t["hare"], t["lynx"]], axis=1)
    logs = np.log(pelts[1:])

    def f(x: Array) -> Array:
        way = (
            path(x[0, :4], pelts[0], len(logs))[..., :]
            if len(x) == 1
            else paths(x[:, :4], pelts[0], len(logs))
        )
        residuals = logs[..., None] - way
        return normal_terms(residuals.reshape(-1, len(x)).T, x[:, 4:])

    priors: dict[str, Prior] = {
        "birth": ("lognormal", 0.0, 0.5),
        "capture": ("lognormal", float(np.log(0.05)), 0.7),
        "death": ("lognormal", 0.0, 0.5),
        "growth": ("lognormal", float(np.log(0.05)), 0.7),
        "noise": ("lognormal", -1.0, 1.0),
    }
    about = "Lotka and Volterra's equations fitted to the Hudson's Bay Company's pelts of 1900 to 1920, begun at the first year's: Carpenter (2018)."
    return Problem("hare_lynx_5d", "report", about, priors, f)


def kepler(mean: Array, eccentricity: Array) -> Array:
    """E of E - e sin E = mean, by Newton from Danby's start: six steps serve for e <= 0.8."""
    mean = np.mod(mean, 2.0 * np.pi)
    out = mean + 0.85 * eccentricity * np.sign(np.sin(mean))
    for _ in range(6):
        out = out - (out - eccentricity * np.sin(out) - mean) / (1.0 - eccentricity * np.cos(out))
    return out


def velocity(
    t: Array, period: Array, amplitude: Array, phase: Array, e: Array, periastron: Array
) -> Array:
    """The star's velocity: amplitude (cos(nu + omega) + e cos omega), nu the true anomaly."""
    turn = kepler(2.0 * np.pi * t / period + phase, e)
    near = 1.0 - e * np.cos(turn)
    cos, sin = (np.cos(turn) - e) / near, np.sqrt(1.0 - e * e) * np.sin(turn) / near
    return amplitude * (
        cos * np.cos(periastron) - sin * np.sin(periastron) + e * np.cos(periastron)
    )


def planet_7d() -> Problem:
    """No closed form."""
    rng = np.random.RandomState(51)
    t = np.sort(rng.uniform(0.0, 40.0, 30))
    known = np.full(30, 4.0)
    y = (
        velocity(t, 4.23, 56.0, 3.5, 0.3, 2.5)
        - 2.0
        + np.hypot(known, 5.0) * rng.standard_normal(30)
    )

    def f(x: Array) -> Array:
        period, amplitude, phase, e, periastron, offset, jitter = x.T[..., None]
        return normal_terms(
            y - offset - velocity(t, period, amplitude, phase, e, periastron),
            np.hypot(known, jitter),
        )

    priors: dict[str, Prior] = {
        "period": ("uniform", 3.8, 4.7),
        "amplitude": ("loguniform", 5.0, 500.0),
        "phase": ("uniform", 0.0, 2.0 * np.pi),
        "eccentricity": ("uniform", 0.0, 0.8),
        "periastron": ("uniform", 0.0, 2.0 * np.pi),
        "offset": ("normal", 0.0, 20.0),
        "jitter": ("loguniform", 0.5, 50.0),
    }
    about = "Thirty drawn radial velocities of a star like 51 Pegasi with an eccentric planet: the model of exoplanet surveys."
    return Problem("planet_7d", "tune", about, priors, f)


def eight_schools_10d() -> Problem:
    """Given tau, y ~ Normal(0, diag(s^2 + tau^2) + 25 11'): one integral over tau is left."""
    t = table("eight_schools")
    y, s = t["effect"], t["error"]

    def f(x: Array) -> Array:
        return normal_terms(y - x[:, :1] - x[:, 1:2] * x[:, 2:], s)

    def given(tau: float) -> float:
        law = multivariate_normal(np.zeros(8), np.diag(s**2 + tau**2) + 25.0)
        return float(law.pdf(y) * halfnorm.pdf(tau, scale=5.0))

    z = quad(given, 0.0, 60.0, epsabs=0.0, epsrel=1e-11, limit=200)[0]
    priors: dict[str, Prior] = {"mean": ("normal", 0.0, 5.0), "spread": ("halfnormal", 5.0)}
    priors |= {f"school_{i + 1}": ("normal", 0.0, 1.0) for i in range(8)}
    about = "Eight schools, not centred, with a half-normal spread: Rubin (1981), the first model of Stan's documentation."
    return Problem("eight_schools_10d", "tune", about, priors, f, float(np.log(z)))


def problems() -> list[Problem]:
    """All of this family."""
    return [
        decay_3d(), nodal_4d(), hare_lynx_5d(), planet_7d(), pima_8d(), birth_weight_10d(), eight_schools_10d(),
    ]  # fmt: skip

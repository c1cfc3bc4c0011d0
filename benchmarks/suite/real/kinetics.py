"""Enzymes, drugs, doses and an epidemic: curves with rates, by formula or by differential
equation."""

from __future__ import annotations

from math import exp as _exp
from math import log as _log
from typing import Any

import numpy as np
from scipy.special import expit

from ..posteriors import normal_terms
from ..problem import Array, Prior, Problem
from .common import NegativeBinomial, table


def puromycin_5d() -> Problem:
    """No closed form."""
    t = table("puromycin")
    treated, s, rate = t["treated"] == 1, t["concentration"], t["rate"]

    def f(x: Array) -> Array:
        fastest, half = (np.where(treated, x[:, i : i + 1], x[:, i + 2 : i + 3]) for i in (0, 1))
        return normal_terms(rate - fastest * s / (half + s), x[:, 4:])

    priors: dict[str, Prior] = {}
    for who in ("treated", "untreated"):
        priors |= {f"{who}_fastest": ("uniform", 0.0, 10_000.0), f"{who}_half": ("loguniform", 1e-4, 100.0)}
    priors |= {"noise": ("halfcauchy", 25.0)}
    about = "Rates of an enzyme with and without puromycin after Michaelis and Menten: Treloar (1974), Bates and Watts (1988)."
    return Problem("real_puromycin_5d", "tune", about, priors, f)


def bod_3d() -> Problem:
    """No closed form."""
    t = table("bod")

    def f(x: Array) -> Array:
        return normal_terms(t["demand"] + x[:, :1] * np.expm1(-x[:, 1:2] * t["days"]), x[:, 2:])

    priors: dict[str, Prior] = {
        "asymptote": ("halfnormal", 100.0),
        "rate": ("loguniform", 1e-3, 1e3),
        "noise": ("halfcauchy", 5.0),
    }
    about = "Biochemical demand of oxygen on six days: Marske (1967), Bates and Watts (1988), whose contours do not close."
    return Problem("real_bod_3d", "report", about, priors, f)


def theoph_4d() -> Problem:
    """No closed form."""
    t = {name: column[table("theoph")["subject"] == 1] for name, column in table("theoph").items()}
    dose, hours, level = t["dose"][0], t["hours"], t["concentration"]

    def f(x: Array) -> Array:
        absorption, elimination, volume, noise = x.T[..., None]
        gap, slower = np.abs(absorption - elimination) * hours, np.minimum(absorption, elimination) * hours
        # The difference of the two exponentials over that of their rates; (1 - e^-gap)/gap is 1
        # where they are equal.
        both = np.exp(-slower) * np.where(gap == 0.0, 1.0, -np.expm1(-gap) / gap) * hours
        return normal_terms(level - dose / volume * absorption * both, noise)

    priors: dict[str, Prior] = {
        "absorption": ("loguniform", 0.01, 100.0),
        "elimination": ("loguniform", 0.01, 100.0),
        "volume": ("loguniform", 0.001, 100.0),
        "noise": ("loguniform", 0.001, 100.0),
    }
    about = (
        "Theophylline in the blood of one subject, one compartment with absorption of first order, whose two rates may change "
        "places: Boeckmann, Sheiner and Beal (1994)."
    )
    return Problem("real_theoph_4d", "report", about, priors, f)


def indometh_5d() -> Problem:
    """No closed form."""
    t = {name: column[table("indometh")["subject"] == 1] for name, column in table("indometh").items()}
    hours, log_level = t["hours"], np.log(t["concentration"])

    def f(x: Array) -> Array:
        one, two = (np.log(x[:, i : i + 1]) - x[:, i + 1 : i + 2] * hours for i in (0, 2))
        return normal_terms(log_level - np.logaddexp(one, two), x[:, 4:])

    priors: dict[str, Prior] = {}
    for k in (1, 2):
        priors |= {f"size_{k}": ("loguniform", 0.01, 100.0), f"rate_{k}": ("loguniform", 0.01, 100.0)}
    priors |= {"noise": ("halfcauchy", 1.0)}
    about = "Indomethacin in the blood of one subject, two exponentials that may change places: Kwan and others (1976)."
    return Problem("real_indometh_5d", "tune", about, priors, f)


def dnase_5d() -> Problem:
    """No closed form."""
    t = table("dnase")
    log_c, density = np.log(t["concentration"]), t["density"]

    def f(x: Array) -> Array:
        low, high, middle, width, noise = x.T[..., None]
        return normal_terms(density - low - (high - low) * expit((log_c - middle) / width), noise)

    priors: dict[str, Prior] = {
        "low": ("normal", 0.0, 10.0),
        "high": ("normal", 0.0, 10.0),
        "middle": ("normal", 0.0, 10.0),
        "width": ("halfnormal", 10.0),
        "noise": ("halfcauchy", 1.0),
    }
    about = "Optical density of an assay of DNase by concentration, a logistic with two asymptotes: Davidian and Giltinan (1995)."
    return Problem("real_dnase_5d", "tune", about, priors, f)


def ryegrass_5d() -> Problem:
    """No closed form."""
    t = table("ryegrass")
    # The control has the dose 0: its log is -inf, and its root is as long as any.
    log_c, root = np.log(t["concentration"], out=np.full(len(t["root"]), -np.inf), where=t["concentration"] > 0.0), t["root"]

    def f(x: Array) -> Array:
        low, high, half, slope, noise = x.T[..., None]
        return normal_terms(root - low - (high - low) * expit(slope * (np.log(half) - log_c)), noise)

    priors: dict[str, Prior] = {
        "low": ("normal", 0.0, 100.0),
        "high": ("normal", 0.0, 100.0),
        "half": ("loguniform", 1e-3, 1e3),
        "slope": ("loguniform", 0.1, 100.0),
        "noise": ("uniform", 0.0, 100.0),
    }
    about = "Roots of ryegrass by the dose of ferulic acid, log-logistic with four parameters: Inderjit, Streibig and Olofsdotter (2002)."
    return Problem("real_ryegrass_5d", "report", about, priors, f)


BOYS, STEPS = 763.0, 10


def in_bed(contact: Any, recovery: Any, start: Any, days: int) -> list[Any]:
    """The infected on each day, of numbers or arrays alike: susceptible, infected, recovered, by
    Runge and Kutta in tenths of a day.

    The slopes are of log susceptible and of log infected, which keeps both positive.
    """
    exp = np.exp if isinstance(contact, np.ndarray) else _exp
    log = np.log if isinstance(contact, np.ndarray) else _log
    h, s, i = 1.0 / STEPS, log(1.0 - start / BOYS), log(start / BOYS)
    out = [BOYS * exp(i)]
    for _ in range(days - 1):
        for _ in range(STEPS):
            p1, q1 = -contact * exp(i), contact * exp(s) - recovery
            p2, q2 = -contact * exp(i + 0.5 * h * q1), contact * exp(s + 0.5 * h * p1) - recovery
            p3, q3 = -contact * exp(i + 0.5 * h * q2), contact * exp(s + 0.5 * h * p2) - recovery
            p4, q4 = -contact * exp(i + h * q3), contact * exp(s + h * p3) - recovery
            s, i = s + h / 6.0 * (p1 + 2.0 * (p2 + p3) + p4), i + h / 6.0 * (q1 + 2.0 * (q2 + q3) + q4)
        out.append(BOYS * exp(i))
    return out


def influenza_4d() -> Problem:
    """No closed form."""
    beds = table("influenza")["in_bed"]
    model = NegativeBinomial(beds)

    def f(x: Array) -> Array:
        columns = [float(v) for v in x[0, :3]] if len(x) == 1 else list(x[:, :3].T)
        log_mean = np.log(np.maximum(np.array(in_bed(*columns, len(beds))).reshape(len(beds), -1).T, 1e-300))
        return model(log_mean, 1.0 / x[:, 3])

    priors: dict[str, Prior] = {
        "contact": ("loguniform", 0.01, 10.0),
        "recovery": ("loguniform", 0.01, 10.0),
        "start": ("loguniform", 0.01, 100.0),
        "overdispersion": ("exponential", 5.0),
    }
    about = "Boys in bed with influenza at a school in 1978 after Kermack and McKendrick: Anonymous, British Medical Journal (1978)."
    return Problem("real_influenza_4d", "tune", about, priors, f)


def problems() -> list[Problem]:
    """All of this family."""
    return [
        bod_3d(), theoph_4d(), influenza_4d(), puromycin_5d(), indometh_5d(), dnase_5d(), ryegrass_5d(),
    ]  # fmt: skip

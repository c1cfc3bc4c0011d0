"""Absorbers of light before real quasars: one (two dimensions) or three (six) in a spectrum.

An absorber is a cloud of hydrogen. The data are not part of the repository: the environment
variable WARPQUAD_DATA names the folder that holds dla/. Without them the problems are absent, and
`missing()` says so.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import wofz
from scipy.stats import truncnorm

from .problem import Array, Prior, Problem

ROOT = Path(__file__).resolve().parents[2]

LIGHT = 2.99792458e10
WIDTH = 9.08537121627923800e5
CHARGE, MASS = 4.803204672997660e-10, 9.10938356e-28
RESPONSE = np.array(
    [0.00217460992138080811, 0.0411623059580451742, 0.240309364651846963, 0.432707438937454059]
)
RESPONSE = np.concatenate([RESPONSE, RESPONSE[-2::-1]])


def folder() -> Path:
    """The folder dla/ of the data."""
    given = os.environ.get("WARPQUAD_DATA")
    return (Path(given) if given else ROOT.parent / "shared" / "data") / "dla"


def missing() -> str | None:
    """Why the problems of this family are absent, or None if they are there."""
    if (folder() / "quasars.csv").is_file():
        return None
    return f"no spectra in {folder()}: set WARPQUAD_DATA to the folder that holds dla/; the problems dla_* are left out"


def table(path: Path) -> Array:
    """The columns of a table, by name."""
    return np.genfromtxt(path, delimiter=",", names=True)


class Model:
    """The likelihood of one spectrum; all that does not depend on absorbers is computed once."""

    def __init__(self, folder: Path, name: str) -> None:
        with (folder / "quasars.csv").open() as file:
            row = next(row for row in csv.DictReader(file) if row["id"] == name)
        z = float(row["z_qso"])
        self.range = float(row["z_dla_min"]), float(row["z_dla_max"])
        spectrum = table(folder / "spectra" / f"{name}.csv")
        kept = spectrum["masked"] == 0
        log_w = spectrum["log10_wavelength"]
        wide = log_w[0] + 1e-4 * np.arange(-3, len(log_w) + 3)
        self.kept, self.wide, w = kept, 10**wide, 10 ** log_w[kept]
        self.y, self.v = spectrum["flux"][kept], spectrum["noise_variance"][kept]
        raw = np.genfromtxt(folder / "null_model.csv", delimiter=",", skip_header=1)
        at = [np.interp(w / (1 + z), raw[:, 0], raw[:, j]) for j in range(1, raw.shape[1])]
        mu, log_omega, m = at[0], at[1], np.array(at[2:]).T
        with (folder / "null_model_params.csv").open() as file:
            p = {row["name"]: float(row["value"]) for row in csv.DictReader(file)}
        self.lines = table(folder / "lyman_series.csv")
        mean = np.exp(-self.depth(w, z, p["meanflux_tau_0"], p["meanflux_beta"]))
        forest = 1 - np.exp(-self.depth(w, z, p["tau_0"], p["beta"])) + p["c_0"]
        self.m, self.n = mu * mean, m * mean[:, None]
        self.omega2 = np.exp(2 * log_omega) * forest**2 * mean**2

    def depth(self, w: Array, z: float, tau: float, beta: float) -> Array:
        """Optical depth of the forest."""
        length, f = self.lines["wavelength_angstrom"], self.lines["oscillator_strength"]
        ratio = w[:, None] / length
        terms = tau * f * length / (f[0] * length[0]) * ratio**beta
        return np.where(ratio <= 1 + z, terms, 0).sum(1)

    def absorption(self, z: float, log_nhi: float) -> Array:
        """What a cloud lets through at each pixel."""
        tau = 0
        for n in range(3):
            length, f = self.lines["wavelength_angstrom"][n], self.lines["oscillator_strength"][n]
            cm = 1e-8 * length
            u = LIGHT * (self.wide / (length * (1 + z)) - 1)
            g = self.lines["transition_rate_per_s"][n] * cm / (4 * np.pi)
            profile = wofz((u + 1j * g) / (WIDTH * np.sqrt(2))).real / (WIDTH * np.sqrt(2 * np.pi))
            tau = tau + np.pi * CHARGE**2 * f * cm / (MASS * LIGHT) * profile
        return np.convolve(np.exp(-(10**log_nhi) * tau), RESPONSE, "valid")[self.kept]

    def log_likelihood(self, x: Array) -> float:
        """Of absorbers (z, log_nhi, z, log_nhi, ...)."""
        a = 1.0
        for z, log_nhi in zip(x[::2], x[1::2]):
            a = a * self.absorption(z, log_nhi)
        d = a * a * self.omega2 + self.v
        r = self.y - a * self.m
        n = a[:, None] * self.n
        scaled = n / d[:, None]
        factor = cho_factor(np.eye(n.shape[1]) + n.T @ scaled, lower=True)
        c = scaled.T @ r
        ln_det = np.log(d).sum() + 2 * np.log(np.diag(factor[0])).sum()
        return -0.5 * (len(r) * np.log(2 * np.pi) + ln_det + r @ (r / d) - c @ cho_solve(factor, c))


@lru_cache
def model(name: str) -> Model:
    """A spectrum's likelihood, read when first asked for."""
    return Model(folder(), name)


# The law of log_nhi in Garnett et al. (2017): weight 0.9 on exp(-1.2695 x^2 + 50.863 x) normalised
# on [20, 25], the rest uniform, cut at 23.
LOW, HIGH, NORMALISED_TO, FITTED = 20.0, 23.0, 25.0, 0.9
MEAN, SD = 50.863 / (2.0 * 1.2695), (2.0 * 1.2695) ** -0.5
BELL = truncnorm((LOW - MEAN) / SD, (NORMALISED_TO - MEAN) / SD, MEAN, SD)
BELL_PEAK = float(BELL.pdf(MEAN))
TOTAL = FITTED * float(BELL.cdf(HIGH)) + 1.0 - FITTED


def log_tilt(log_nhi: Array) -> Array:
    """log of that law's density over the uniform one on [20, 23]."""
    bell = BELL_PEAK * np.exp(-0.5 * ((log_nhi - MEAN) / SD) ** 2)
    return np.log((FITTED * bell * (HIGH - LOW) + 1.0 - FITTED) / TOTAL)


def likelihood(name: str) -> Callable[[Array], Array]:
    """Log likelihoods plus the tilt, which is ln of the prior of log_nhi over a uniform one.

    That prior is no family that every method knows, so the problem's prior is uniform, and the rest
    goes in here.
    """
    return lambda x: (
        np.array([model(name).log_likelihood(row) for row in x]) + log_tilt(x[:, 1::2]).sum(1)
    )


def absorbers(name: str, half: str, spectrum: str, count: int, about: str) -> Problem:
    """The problem of `count` absorbers in a spectrum."""
    priors: dict[str, Prior] = {}
    lo, hi = model(spectrum).range
    for i in range(1, count + 1):
        priors |= {f"z_{i}": ("uniform", lo, hi), f"log_nhi_{i}": ("uniform", LOW, HIGH)}
    return Problem(name, half, about, priors, likelihood(spectrum))  # type: ignore[arg-type]


# A clear absorber at log_nhi = 20.8; a ridge along the edge with a range of e^24000, near that of
# the paper's figure; noise that leaves three absorbers free.
CLEAR, EDGE, NOISY = "3655-55240-0310", "3655-55240-0764", "9367-57758-0396"
SPECTRA = {"dla_clear_2d": (CLEAR, 1), "dla_edge_2d": (EDGE, 1), "dla_6d": (NOISY, 3)}


def problems() -> list[Problem]:
    """All of this family, or none without the data."""
    if missing():
        return []
    source = "Chai and Garnett (2019), SDSS"
    return [
        absorbers("dla_clear_2d", "tune", *SPECTRA["dla_clear_2d"], f"One absorber, clearly seen in a quasar's spectrum: {source}."),
        absorbers("dla_edge_2d", "report", *SPECTRA["dla_edge_2d"], f"One absorber at the least column density, with a range of e^24000: {source}."),
        absorbers("dla_6d", "tune", *SPECTRA["dla_6d"], f"Three exchangeable absorbers in a noisy spectrum: {source}."),
    ]  # fmt: skip

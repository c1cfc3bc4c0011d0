"""Fits with an unknown noise: likelihoods that fall to -10^8 nats over log-uniform scales."""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln

from benchmarks.suite.problem import Prior
from benchmarks.trust.quadrature import log_integral
from benchmarks.trust.shapes import LN_2_PI, Array, Rng, Shape

# The widest scales: three decades about their middle.
DECADES = 3.0


def log_uniform(rng: Rng) -> tuple[float, float]:
    """The ends of a log-uniform prior of three decades that holds 1 well inside."""
    lo = float(10.0 ** rng.uniform(-0.8 * DECADES, -0.2 * DECADES))
    return lo, lo * 10.0**DECADES


def fits(rng: Rng, d: int) -> Shape:
    """A decay or a linear model with as many coefficients as fit; the noise is the last scale."""
    if d <= 3 and rng.uniform() < 0.6:
        return decay(rng)
    return linear(rng, d)


def decay(rng: Rng) -> Shape:
    """a exp(-b t) with unknown noise: all three log-uniform over three decades."""
    n = int(rng.integers(5, 13))
    t = np.sort(rng.uniform(0.0, 3.0, n))
    y = np.exp(-rng.uniform(0.3, 2.0) * t) + rng.normal(0.0, float(rng.choice([0.02, 0.1, 0.3])), n)
    ends = {name: log_uniform(rng) for name in ("amplitude", "rate", "noise")}

    def log_f(x: Array) -> Array:
        a, b, s = x.T[:, :, None]
        squares = ((y - a * np.exp(-b * t)) ** 2).sum(1)
        return np.asarray(-0.5 * squares / s[:, 0] ** 2 - n * np.log(s[:, 0]) - 0.5 * n * LN_2_PI)

    def log_part(v: Array) -> Array:
        a, b = np.exp(v).T[:, :, None]
        return log_over_noise(((y - a * np.exp(-b * t)) ** 2).sum(1), n, ends["noise"])

    logs = [(float(np.log(lo)), float(np.log(hi))) for lo, hi in ends.values()]
    volume = sum(np.log(hi - lo) for lo, hi in logs)
    log_z = log_integral(log_part, logs[:2]) - float(volume)
    priors: dict[str, Prior] = {name: ("loguniform", *both) for name, both in ends.items()}
    return Shape(priors, log_f, log_z)


def log_over_noise(squares: Array, n: int, ends: tuple[float, float]) -> Array:
    """ln of the integral over ln s of the normal likelihood of n residuals with these squares.

    With u = squares / (2 s^2) it is an incomplete gamma function.
    """
    half, (lo, hi) = 0.5 * n, ends
    most, least = 0.5 * squares / lo**2, 0.5 * squares / hi**2
    # Of two numbers near 1 the complements have the digits.
    below = gammainc(half, most) - gammainc(half, least)
    above = gammaincc(half, least) - gammaincc(half, most)
    with np.errstate(divide="ignore"):
        part = np.log(np.where(least < half, below, above))
    whole = gammaln(half) - half * np.log(0.5 * squares) - 0.5 * n * LN_2_PI - np.log(2.0)
    return np.asarray(part + whole)


def linear(rng: Rng, d: int) -> Shape:
    """Coefficients under vague normal priors and a log-uniform noise."""
    p, n = d - 1, int(rng.integers(d + 4, d + 20))
    design = np.c_[np.ones(n), rng.normal(size=(n, max(p - 1, 0)))][:, :p]
    if p > 2 and rng.uniform() < 0.5:
        # Two inputs that nearly say the same.
        design[:, 2] = design[:, 1] + 0.2 * design[:, 2]
    y = design @ rng.normal(0.0, 1.0, p) + rng.normal(0.0, float(rng.choice([0.05, 0.3, 1.0])), n)
    vague = float(rng.choice([1.0, 3.0, 10.0]))
    lo, hi = log_uniform(rng)

    def log_f(x: Array) -> Array:
        s = x[:, p]
        squares = ((y - x[:, :p] @ design.T) ** 2).sum(1)
        return np.asarray(-0.5 * squares / s**2 - n * np.log(s) - 0.5 * n * LN_2_PI)

    # Given the noise, y is normal with the covariance s^2 + vague^2 X X'.
    eigenvalues, axes = np.linalg.eigh(design @ design.T)
    along = (axes.T @ y) ** 2

    def log_part(v: Array) -> Array:
        var = np.exp(2.0 * v) + vague**2 * np.maximum(eigenvalues, 0.0)
        return np.asarray(-0.5 * (along / var + np.log(var) + LN_2_PI).sum(1))

    ends = (float(np.log(lo)), float(np.log(hi)))
    log_z = log_integral(log_part, [ends]) - float(np.log(ends[1] - ends[0]))
    priors: dict[str, Prior] = {f"b{i}": ("normal", 0.0, vague) for i in range(p)}
    return Shape({**priors, "noise": ("loguniform", lo, hi)}, log_f, log_z)

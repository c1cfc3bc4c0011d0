"""Integrands whose log Z has a closed form or one checked quadrature, drawn at random by kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import gammaln, log_ndtr, logsumexp

from benchmarks.suite.problem import Prior, bells, box
from benchmarks.trust.quadrature import log_integral

Array = npt.NDArray[np.float64]
Function = Callable[[Array], Array]
Rng = np.random.Generator

LN_2_PI = float(np.log(2.0 * np.pi))
# A uniform law of width 1 has this sd: widths are in parts of the prior whatever its family.
UNIFORM_SD = 12.0**-0.5


@dataclass(frozen=True)
class Shape:
    """An integrand on its priors, and what is known of its integral."""

    priors: dict[str, Prior]
    log_f: Function
    log_z: float
    fails: Callable[[Array], npt.NDArray[np.bool_]] | None = None
    """Where there is no value, of points (n, d)."""
    log_z_where_known: float | None = None
    """The same integral over the points that have a value."""


def rotation(rng: Rng, d: int) -> Array:
    """A random rotation."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def width(rng: Rng, narrowest: float = 0.01, widest: float = 0.3) -> float:
    """A width in parts of the prior, of any order between the two alike."""
    return float(np.exp(rng.uniform(np.log(narrowest), np.log(widest))))


def log_normal_pdf(x: Array, cov: Array) -> Array:
    """ln N(x; 0, cov) of rows."""
    root = np.linalg.cholesky(cov)
    z = np.linalg.solve(root, x.T)
    return np.asarray(-0.5 * (z**2).sum(0) - np.log(np.diag(root)).sum() - 0.5 * len(cov) * LN_2_PI)


@dataclass(frozen=True)
class Bump:
    """h exp(-(x - m)' C^-1 (x - m) / 2) under a standard normal prior."""

    log_height: float
    mean: Array
    cov: Array

    def log_f(self, x: Array) -> Array:
        at_top = -0.5 * np.linalg.slogdet(2.0 * np.pi * self.cov)[1]
        return self.log_height + log_normal_pdf(x - self.mean, self.cov) - at_top

    @property
    def log_z(self) -> float:
        d = len(self.mean)
        mass = 0.5 * np.linalg.slogdet(2.0 * np.pi * self.cov)[1]
        at = log_normal_pdf(self.mean[None], self.cov + np.eye(d))[0]
        return float(self.log_height + mass + at)

    def posterior(self) -> tuple[Array, Array]:
        """The mean and covariance of f times the prior."""
        gain = self.cov @ np.linalg.inv(self.cov + np.eye(len(self.mean)))
        return self.mean - gain @ self.mean, gain


def bump(rng: Rng, d: int, narrowest: float = 0.01, widest: float = 0.3) -> Bump:
    """A rotated bump within the prior's reach; its axes differ by a factor of two or so."""
    sd = width(rng, narrowest, widest) * np.exp(rng.normal(0.0, 0.4, d))
    sd = np.clip(sd, narrowest, widest) / UNIFORM_SD
    turn = rotation(rng, d)
    mean = np.clip(rng.normal(size=d), -1.5, 1.5)
    return Bump(float(rng.normal(0.0, 1.0)), mean, np.asarray(turn * sd**2 @ turn.T))


def modes(rng: Rng, d: int) -> Shape:
    """One to five modes: rotated under normal priors, or along the axes of a box."""
    # In many dimensions nothing but luck finds a third mode in 200 evaluations.
    count = int(rng.choice([1, 1, 2, 3, 4, 5] if d <= 4 else [1, 1, 1, 2]))
    if rng.uniform() < 0.5:
        bumps = [bump(rng, d) for _ in range(count)]
        total = float(logsumexp([b.log_z for b in bumps]))
        return Shape(bells(d), lambda x: logsumexp([b.log_f(x) for b in bumps], axis=0), total)
    centers = rng.uniform(0.1, 0.9, (count, d))
    each = np.array([[width(rng)] for _ in range(count)])
    sds = np.clip(each * np.exp(rng.normal(0.0, 0.4, (count, d))), 0.01, 0.3)
    heights = rng.normal(0.0, 1.0, count)

    def log_f(x: Array) -> Array:
        z = (x[:, None, :] - centers) / sds
        return np.asarray(logsumexp(heights - 0.5 * (z**2).sum(2), axis=1))

    parts = np.log(stats.norm.cdf((1 - centers) / sds) - stats.norm.cdf(-centers / sds))
    logs = heights + (parts + np.log(sds) + 0.5 * LN_2_PI).sum(1)
    return Shape(box(d, 0.0, 1.0), log_f, float(logsumexp(logs)))


def tails(rng: Rng, d: int) -> Shape:
    """Heavy tails: a rotated Student t under normal priors, or products of skewed laws in a box."""
    if rng.uniform() < 0.5:
        nu, at = float(rng.choice([1.0, 2.0, 3.0, 5.0])), bump(rng, d)
        inverse = np.linalg.inv(at.cov)

        def log_t(x: Array) -> Array:
            away = x - at.mean
            return np.asarray(-0.5 * (nu + d) * np.log1p(np.einsum("ni,ij,nj->n", away, inverse, away) / nu))

        return Shape(bells(d), log_t, log_z_of_t(at, nu))
    centers, scales = rng.uniform(0.2, 0.8, d), np.array([width(rng, 0.01, 0.2) for _ in range(d)])
    shapes = rng.uniform(1.0, 5.0, d) * rng.choice([-1.0, 1.0], d)

    def one(i: int, x: Array) -> Array:
        """A log-gamma law: an exponential tail on one side, a steeper one on the other."""
        z = shapes[i] / abs(shapes[i]) * (x - centers[i]) / scales[i]
        return abs(shapes[i]) * np.asarray(z - np.exp(np.minimum(z, 700.0)) + 1.0)

    log_z = sum(log_integral(lambda x, i=i: one(i, x[:, 0]), [(0.0, 1.0)]) for i in range(d))
    return Shape(box(d, 0.0, 1.0), lambda x: sum(one(i, x[:, i]) for i in range(d)), float(log_z))


def log_z_of_t(at: Bump, nu: float) -> float:
    """ln of the integral of (1 + q(x)/nu)^(-(nu + d)/2) under the normal prior.

    That is the mean of exp(-w q(x)/2) over w of the gamma law with shape (nu + d)/2 and rate nu/2.
    """
    d, shape, rate = len(at.mean), 0.5 * (nu + len(at.mean)), 0.5 * nu
    eigenvalues, axes = np.linalg.eigh(at.cov)
    center = axes.T @ at.mean

    def log_part(v: Array) -> Array:
        w = np.exp(v)
        var = eigenvalues / w + 1.0
        inner = -0.5 * (center**2 / var + np.log(var) - np.log(eigenvalues / w)).sum(1)
        # With w = exp(v) the gamma density gains a factor w.
        return np.asarray(inner + shape * v[:, 0] - rate * w[:, 0])

    log_gamma = shape * np.log(rate) - gammaln(shape)
    return float(log_gamma + log_integral(log_part, [(-60.0, 12.0)]))


def ridges(rng: Rng, d: int) -> Shape:
    """Curved ridges in pairs of parameters, or a straight one through the whole prior, rotated."""
    turn = rotation(rng, d)
    if d == 1 or rng.uniform() < 0.4:
        narrow = 1 if d == 1 else int(rng.integers(1, d))
        sd = np.r_[[width(rng, 0.01, 0.1) for _ in range(narrow)], np.full(d - narrow, 3.0)]
        at = Bump(0.0, rng.normal(0.0, 0.7, d), np.asarray(turn * (sd / UNIFORM_SD) ** 2 @ turn.T))
        return Shape(bells(d), at.log_f, at.log_z)
    # y is c (x^2 - 1) give or take s; x has a width of its own.
    pairs = d // 2
    curve = rng.uniform(0.3, 1.5, pairs) * rng.choice([-1.0, 1.0], pairs)
    thin = np.array([width(rng, 0.01, 0.1) for _ in range(pairs)]) / UNIFORM_SD
    wide, centers = rng.uniform(0.5, 2.0, pairs), rng.normal(0.0, 0.7, pairs)
    rest = np.array([width(rng, 0.05, 0.3) for _ in range(d - 2 * pairs)]) / UNIFORM_SD

    def log_f(x: Array) -> Array:
        z = x @ turn
        u, v, last = z[:, :pairs], z[:, pairs : 2 * pairs], z[:, 2 * pairs :]
        away = ((v - curve * (u**2 - 1.0)) / thin) ** 2 + ((u - centers) / wide) ** 2
        return np.asarray(-0.5 * (away.sum(1) + ((last / rest) ** 2).sum(1)))

    def pair(i: int) -> float:
        """y goes in closed form: the normal laws of thin and of the prior fold."""
        var = thin[i] ** 2 + 1.0

        def log_part(x: Array) -> Array:
            u = x[:, 0]
            y = -0.5 * ((curve[i] * (u**2 - 1.0)) ** 2 / var + np.log(var)) + np.log(thin[i])
            return np.asarray(y - 0.5 * ((u - centers[i]) / wide[i]) ** 2 - 0.5 * u**2 - 0.5 * LN_2_PI)

        return log_integral(log_part, [(-12.0, 12.0)])

    alone = -0.5 * np.log1p(rest**-2.0).sum()
    return Shape(bells(d), log_f, float(sum(pair(i) for i in range(pairs)) + alone))


@dataclass(frozen=True)
class Region:
    """A part of the parameters with the part of a bump's integral that lies in it."""

    holds: Callable[[Array], npt.NDArray[np.bool_]]
    log_part_out: float
    log_part_in: float


def half_space(rng: Rng, at: Bump, prior_part: float) -> Region:
    """A half space with this part of the prior."""
    normal = rotation(rng, len(at.mean))[0]
    edge = stats.norm.isf(prior_part)
    mean, cov = at.posterior()
    z = float((edge - normal @ mean) / np.sqrt(normal @ cov @ normal))
    return Region(lambda x: x @ normal > edge, float(log_ndtr(z)), float(log_ndtr(-z)))


def outside_ball(rng: Rng, d: int, prior_part: float) -> tuple[Bump, Region]:
    """What is far from the middle, with this part of the prior, and a round bump."""
    sd = width(rng, 0.05, 0.3) / UNIFORM_SD
    at = Bump(float(rng.normal()), np.clip(rng.normal(size=d), -1.5, 1.5), sd**2 * np.eye(d))
    radius2 = stats.chi2.isf(prior_part, d)
    mean, cov = at.posterior()
    law = stats.ncx2(d, float(mean @ mean) / cov[0, 0])
    edge = radius2 / cov[0, 0]
    return at, Region(
        lambda x: (x**2).sum(1) > radius2, float(law.logcdf(edge)), float(law.logsf(edge))
    )


def bump_and_region(rng: Rng, d: int) -> tuple[Bump, Region]:
    """A bump, of which the region takes at most nine tenths: otherwise the flanks carry Z."""
    while True:
        part = float(rng.uniform(0.05, 0.5))
        if rng.uniform() < 0.3:
            at, region = outside_ball(rng, d, part)
        else:
            at = bump(rng, d, 0.05)
            region = half_space(rng, at, part)
        if region.log_part_out > np.log(0.1):
            return at, region


def cliffs(rng: Rng, d: int) -> Shape:
    """A bump that a wall cuts: beyond it f is 0, or smaller by 3 to 30 nats."""
    at, region = bump_and_region(rng, d)
    drop = float(rng.choice([np.inf, np.inf, rng.uniform(3.0, 30.0)]))

    def log_f(x: Array) -> Array:
        return np.where(region.holds(x), at.log_f(x) - drop, at.log_f(x))

    part = logsumexp([region.log_part_out, region.log_part_in - drop])
    return Shape(bells(d), log_f, float(at.log_z + part))


def failing(rng: Rng, d: int) -> Shape:
    """A bump of which a region of 5 to 50 % of the prior has no value."""
    at, region = bump_and_region(rng, d)
    return Shape(bells(d), at.log_f, at.log_z, region.holds, at.log_z + region.log_part_out)

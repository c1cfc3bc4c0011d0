"""Gaussians, alone and in mixtures: smooth humps whose evidence is a closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp

from .problem import Array, Problem, bells, box

LOG_2PI = np.log(2.0 * np.pi)


def log_interval(lo: Array, hi: Array) -> Array:
    """log(Phi(hi) - Phi(lo)) by the smaller tail: Phi(b) (1 - Phi(a)/Phi(b)), else mirrored."""
    a, b = np.where(lo > 0, -hi, lo), np.where(lo > 0, -lo, hi)
    return log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))


class Mixture:
    """log sum_k w_k Normal(x; c_k, diag s_k^2); its integral in a box is sum_k w_k prod_i [Phi]."""

    def __init__(self, weights: list[float], centres: Array, widths: Array) -> None:
        self.log_w = np.log(weights)
        self.c = np.asarray(centres, dtype=float)
        self.s = np.broadcast_to(np.asarray(widths, dtype=float), self.c.shape)

    def __call__(self, x: Array) -> Array:
        r = (x[:, None, :] - self.c) / self.s
        at = -0.5 * (r * r).sum(2) - np.log(self.s).sum(1) - 0.5 * self.c.shape[1] * LOG_2PI
        return logsumexp(at + self.log_w, axis=1)

    def log_z(self, lo: float, hi: float) -> float:
        """log of the mean over the box [lo, hi]^d."""
        inside = log_interval((lo - self.c) / self.s, (hi - self.c) / self.s).sum(1)
        return float(logsumexp(self.log_w + inside)) - self.c.shape[1] * np.log(hi - lo)


class Gaussian:
    """-(x - c)' P (x - c)/2 with the precision P = C^-1, and its mean over Normal(0, s^2 I).

    Z = sqrt(|C| / |C + s^2 I|) exp(-c' (C + s^2 I)^-1 c / 2).
    """

    def __init__(self, centre: Array, covariance: Array) -> None:
        self.c, self.cov = np.asarray(centre, dtype=float), np.asarray(covariance, dtype=float)
        self.precision = np.linalg.inv(self.cov)

    def __call__(self, x: Array) -> Array:
        r = x - self.c
        return -0.5 * np.einsum("ni,ij,nj->n", r, self.precision, r)

    def log_z(self, sd: float) -> float:
        """log of the mean over Normal(0, sd^2 I)."""
        wide = self.cov + sd**2 * np.eye(len(self.c))
        dets = np.linalg.slogdet(self.cov)[1] - np.linalg.slogdet(wide)[1]
        return 0.5 * float(dets - self.c @ np.linalg.solve(wide, self.c))


def bump_1d() -> Problem:
    """Z = 0.95/sqrt 5."""
    return Problem(
        "bump_1d",
        "tune",
        "The bump 0.95 exp(-2 x^2) under a standard normal: the simplest likelihood of the quadrature literature.",
        bells(1),
        lambda x: np.log(0.95) - 2.0 * x[:, 0] ** 2,
        float(np.log(0.95) - 0.5 * np.log(5.0)),
    )


WAVE, PHASE, DEPTH, WIDE = 4.0, 1.0, 0.95, 2.0


def wavy_1d() -> Problem:
    """Under Normal(0, s^2), exp(-x^2/2) is Normal(0, v)/sqrt(1 + s^2) with v = s^2/(1 + s^2).

    E cos(w x + p) = cos(p) exp(-w^2 v/2).
    """
    v = WIDE**2 / (1.0 + WIDE**2)
    z = (1.0 + DEPTH * np.cos(PHASE) * np.exp(-0.5 * WAVE**2 * v)) / np.sqrt(1.0 + WIDE**2)
    return Problem(
        "wavy_1d",
        "report",
        "A normal likelihood with interference fringes, exp(-x^2/2)(1 + 0.95 cos(4x + 1)): five modes on a line.",
        bells(1, WIDE),
        lambda x: -0.5 * x[:, 0] ** 2 + np.log1p(DEPTH * np.cos(WAVE * x[:, 0] + PHASE)),
        float(np.log(z)),
    )


def gauss_sharp_2d() -> Problem:
    """See Gaussian.log_z."""
    f = Gaussian(np.array([0.3, -0.5]), 0.01 * np.eye(2))
    about = "A Gaussian of width 0.1, off the centre of a standard normal prior: an informative likelihood."
    return Problem("gauss_sharp_2d", "tune", about, bells(2), f, f.log_z(1.0))


def gmm4_2d() -> Problem:
    """See Mixture.log_z."""
    centres = np.array([[-2.0, -1.5], [1.8, 2.2], [2.4, -1.2], [-1.2, 2.0]])
    f = Mixture([0.4, 0.3, 0.2, 0.1], centres, np.array([[0.5], [0.3], [0.4], [0.2]]))
    about = "Four Gaussians of widths 0.2 to 0.5 and unequal weights, far apart in [-4, 4]^2."
    return Problem("gmm4_2d", "tune", about, box(2, -4.0, 4.0), f, f.log_z(-4.0, 4.0))


def correlated_3d() -> Problem:
    """The box reaches ten standard deviations: Z = 20^-3 to 1e-22."""
    cov = 0.05 * np.eye(3) + 0.95
    shape = Gaussian(np.zeros(3), cov)
    norming = 0.5 * (3 * LOG_2PI + np.linalg.slogdet(cov)[1])
    return Problem(
        "correlated_3d",
        "tune",
        "A normal density with all correlations 0.95 in [-10, 10]^3: the first example of dynesty's documentation.",
        box(3, -10.0, 10.0),
        lambda x: shape(x) - norming,
        -3.0 * float(np.log(20.0)),
    )


def gmm_4d() -> Problem:
    """See Mixture.log_z."""
    f = Mixture(
        [0.6, 0.4],
        np.array([[0.3, 0.35, 0.3, 0.4], [0.7, 0.6, 0.75, 0.65]]),
        np.array([[0.08], [0.12]]),
    )
    about = "Two Gaussians of widths 0.08 and 0.12 in the unit cube of four dimensions."
    return Problem("gmm_4d", "tune", about, box(4, 0.0, 1.0), f, f.log_z(0.0, 1.0))


def cigar_4d() -> Problem:
    """See Gaussian.log_z."""
    along = np.full(4, 0.5)
    cov = 0.02**2 * np.eye(4) + (2.0**2 - 0.02**2) * np.outer(along, along)
    f = Gaussian(np.array([0.3, 0.1, -0.2, 0.2]), cov)
    about = "A Gaussian whose long axis, the diagonal, is 100 times its short ones: the cigar of Acerbi (2018, VBMC)."
    return Problem("cigar_4d", "report", about, bells(4), f, f.log_z(1.0))


def lumpy_5d() -> Problem:
    """See Mixture.log_z."""
    # RandomState's streams are frozen for ever, unlike those of numpy's newer generators.
    rng = np.random.RandomState(5)
    weights = rng.dirichlet(np.ones(12))
    f = Mixture(list(weights), rng.uniform(0.3, 0.7, (12, 5)), rng.uniform(0.08, 0.2, (12, 5)))
    about = "Twelve overlapping Gaussians drawn at random in the unit cube: one lumpy mode, as in Acerbi (2018, VBMC)."
    return Problem("lumpy_5d", "tune", about, box(5, 0.0, 1.0), f, f.log_z(0.0, 1.0))


def gmm_6d() -> Problem:
    """See Mixture.log_z."""
    centres = np.array([[0.3, 0.4, 0.3, 0.4, 0.35, 0.3], [0.7, 0.65, 0.7, 0.6, 0.7, 0.75]])
    f = Mixture([0.5, 0.5], centres, np.array([[0.12], [0.1]]))
    about = "Two Gaussians of widths 0.12 and 0.1 in the unit cube of six dimensions."
    return Problem("gmm_6d", "report", about, box(6, 0.0, 1.0), f, f.log_z(0.0, 1.0))


def correlated_8d() -> Problem:
    """See Gaussian.log_z."""
    i = np.arange(8)
    cov = 0.3**2 * 0.8 ** np.abs(i[:, None] - i)
    f = Gaussian(0.5 * np.cos(i), cov)
    about = "A Gaussian of width 0.3 whose neighbours have correlation 0.8, under standard normals in eight dimensions."
    return Problem("correlated_8d", "tune", about, bells(8), f, f.log_z(1.0))


def problems() -> list[Problem]:
    """All of this family."""
    return [
        bump_1d(), wavy_1d(), gauss_sharp_2d(), gmm4_2d(), correlated_3d(), gmm_4d(), cigar_4d(), lumpy_5d(), gmm_6d(),
        correlated_8d(),
    ]  # fmt: skip

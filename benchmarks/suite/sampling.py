"""Integrate a problem of any dimension by tempered particles, and from a mixture fitted to them.

All of it in normal scores z, where the prior is Normal(0, I): x_i is the quantile of Phi(z_i).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, ndtri
from scipy.stats import qmc

from .problem import Array, Problem

LOG_2PI = np.log(2.0 * np.pi)
# Rows of a call of the likelihood.
CHUNK = 50_000


def to_x(problem: Problem, z: Array) -> Array:
    """x of normal scores."""
    columns = []
    for (family, *numbers), law, score in zip(problem.priors.values(), problem.distributions, z.T):
        if family == "normal":
            columns.append(numbers[0] + numbers[1] * score)
        elif family == "lognormal":
            columns.append(np.exp(numbers[0] + numbers[1] * score))
        else:
            columns.append(law.ppf(ndtr(score)))
    return np.stack(columns, axis=1)


def log_f(problem: Problem, z: Array) -> Array:
    """Log likelihoods at normal scores, in chunks."""
    parts = [
        problem.log_likelihoods(to_x(problem, z[i : i + CHUNK])) for i in range(0, len(z), CHUNK)
    ]
    return np.concatenate(parts)


def log_standard(z: Array) -> Array:
    """log Normal(z; 0, I)."""
    return -0.5 * ((z * z).sum(1) + z.shape[1] * LOG_2PI)


def tempered(
    problem: Problem, count: int, seed: int, until: float = 1.0, moves: int = 25
) -> tuple[Array, float]:
    """Particles of prior times likelihood^until, and ln of its integral, by sequential Monte Carlo.

    Each temperature halves the effective number. Then come Metropolis steps along differences of
    other particles. They keep to the shape of one mode and, one in ten of full length, jump between
    two (ter Braak 2006).
    """
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, problem.d))
    value = log_f(problem, z)
    beta, log_z = 0.0, 0.0
    while beta < until:
        step = _step(value, until - beta)
        beta += step
        log_w = step * value
        log_z += logsumexp(log_w) - np.log(count)
        chosen = _systematic(np.exp(log_w - logsumexp(log_w)), rng)
        z, value = z[chosen], value[chosen]
        for move in range(moves):
            taken, new, at = proposed(problem, z, value, beta, move, rng)
            z[taken], value[taken] = new[taken], at[taken]
    return z, float(log_z)


def proposed(
    problem: Problem, z: Array, value: Array, beta: float, move: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Which particles take the step that Metropolis proposes to them, where it leads, and the log
    likelihoods there."""
    count, d = z.shape
    # No more than a thousandth of a narrow posterior's width, or no step along it is ever taken.
    jitter = np.minimum(1e-4, 1e-3 * z.std(0))
    a, b = z[rng.permutation(count)], z[rng.permutation(count)]
    # Wide spreads of the scale serve narrow directions of curved shapes too.
    scale = 2.38 / np.sqrt(2.0 * d)
    factor = np.full((count, 1), 1.0) if move % 10 == 9 else scale * np.exp(rng.normal(-0.5, 1.0, (count, 1)))
    new = z + factor * (a - b) + jitter * rng.standard_normal((count, d))
    at = log_f(problem, new)
    gain = beta * (at - value) + log_standard(new) - log_standard(z)
    return np.log(rng.uniform(size=count)) < gain, new, at


def moved(
    problem: Problem, z: Array, times: int, steps: int, rng: np.random.Generator
) -> list[Array]:
    """The particles at several times, so many Metropolis steps along differences of one another
    apart."""
    z, value, out = z.copy(), log_f(problem, z), []
    for _ in range(times):
        for step in range(steps):
            taken, new, at = proposed(problem, z, value, 1.0, step, rng)
            z[taken], value[taken] = new[taken], at[taken]
        out.append(z.copy())
    return out


def _step(value: Array, most: float) -> float:
    """The step of temperature that halves the effective number, or all that is left."""

    def share(step: float) -> float:
        w = np.exp(step * (value - value.max()))
        return float(w.sum() ** 2 / (w * w).sum() / len(w))

    if share(most) >= 0.5:
        return most
    lo, hi = 0.0, most
    for _ in range(60):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if share(middle) > 0.5 else (lo, middle)
    return hi


def _systematic(w: Array, rng: np.random.Generator) -> Array:
    at = (np.arange(len(w)) + rng.uniform()) / len(w)
    return np.minimum(np.searchsorted(np.cumsum(w), at), len(w) - 1)


@dataclass(frozen=True)
class Proposal:
    """A mixture of Student t laws with `df` degrees of freedom, infinite for normal ones."""

    weights: Array
    means: Array
    factors: Array
    """Lower Cholesky factors of the scales, (k, d, d)."""
    df: float

    def log_density(self, z: Array) -> Array:
        """log density at each row."""
        k, d = self.means.shape
        out = np.full(len(z), -np.inf)
        for weight, mean, factor in zip(self.weights, self.means, self.factors):
            r = np.linalg.solve(factor, (z - mean).T)
            q = (r * r).sum(0)
            norming = np.log(np.diag(factor)).sum()
            if np.isinf(self.df):
                at = -0.5 * (q + d * LOG_2PI)
            else:
                half = 0.5 * (self.df + d)
                at = (
                    gammaln(half)
                    - gammaln(0.5 * self.df)
                    - 0.5 * d * np.log(self.df * np.pi)
                    - half * np.log1p(q / self.df)
                )
            out = np.logaddexp(out, np.log(weight) + at - norming)
        return out

    def draw(self, normals: Array, shares: Array, rng: np.random.Generator) -> Array:
        """A point for each row of standard normals; `shares` in (0, 1) choose the component."""
        which = np.minimum(np.searchsorted(np.cumsum(self.weights), shares), len(self.weights) - 1)
        if np.isfinite(self.df):
            normals = normals / np.sqrt(rng.chisquare(self.df, len(normals)) / self.df)[:, None]
        return self.means[which] + np.einsum("nij,nj->ni", self.factors[which], normals)


def fit(z: Array, components: int, df: float, widen: float, seed: int) -> Proposal:
    """A mixture of `components` fitted to particles by EM, then widened, with 3 % of the prior."""
    rng = np.random.default_rng(seed)
    n, d = z.shape
    means = z[_spread(z, components, rng)]
    floor = 1e-6 * np.eye(d) * z.var(0)
    covs = np.repeat(
        (np.cov(z.T).reshape(d, d) / components ** (2.0 / d))[None] + floor, components, axis=0
    )
    weights = np.full(components, 1.0 / components)
    for _ in range(60):
        parts = [
            np.log(w)
            + Proposal(np.ones(1), m[None], np.linalg.cholesky(c)[None], np.inf).log_density(z)
            for w, m, c in zip(weights, means, covs)
        ]
        r = np.stack(parts, axis=1)
        r = np.exp(r - logsumexp(r, axis=1, keepdims=True))
        mass = r.sum(0) + 1e-9
        weights = mass / mass.sum()
        means = (r.T @ z) / mass[:, None]
        for k in range(components):
            centred = z - means[k]
            covs[k] = (r[:, k, None] * centred).T @ centred / mass[k] + floor
    kept = weights * n > 2 * d
    weights, means, covs = weights[kept] / weights[kept].sum(), means[kept], covs[kept]
    factors = np.concatenate([np.linalg.cholesky(widen**2 * covs), np.eye(d)[None]])
    return Proposal(np.append(0.97 * weights, 0.03), np.vstack([means, np.zeros(d)]), factors, df)


def _spread(z: Array, count: int, rng: np.random.Generator) -> Array:
    """Rows far apart from one another, as k-means++ begins."""
    rows = [int(rng.integers(len(z)))]
    scaled = z / z.std(0)
    least = np.full(len(z), np.inf)
    while len(rows) < count:
        least = np.minimum(least, ((scaled - scaled[rows[-1]]) ** 2).sum(1))
        rows.append(int(rng.choice(len(z), p=least / least.sum())))
    return np.array(rows)


def _random(d: int, count: int, seed: int) -> Iterator[tuple[Array, Array, np.random.Generator]]:
    rng = np.random.default_rng(seed)
    for _ in range(16):
        yield rng.standard_normal((count // 16, d)), rng.uniform(size=count // 16), rng


def _sobol(d: int, count: int, seed: int) -> Iterator[tuple[Array, Array, np.random.Generator]]:
    rng = np.random.default_rng(seed)
    size = int(np.log2(count // 16))
    for i in range(16):
        u = qmc.Sobol(d + 1, scramble=True, seed=seed + i).random_base2(size)
        u = np.clip(u, 1e-15, 1.0 - 1e-15)
        yield ndtri(u[:, 1:]), u[:, 0], rng


def importance(
    problem: Problem, proposal: Proposal, count: int, seed: int, sobol: bool
) -> tuple[float, float, float]:
    """log Z, its standard error from 16 independent batches, and the points' effective share."""
    means, squares = [], []
    points = (_sobol if sobol else _random)(problem.d, count, seed)
    for normals, shares, rng in points:
        z = proposal.draw(normals, shares, rng)
        log_w = log_f(problem, z) + log_standard(z) - proposal.log_density(z)
        means.append(logsumexp(log_w) - np.log(len(z)))
        squares.append(logsumexp(2.0 * log_w) - np.log(len(z)))
    log_z = float(logsumexp(means) - np.log(len(means)))
    spread = np.std(np.exp(np.array(means) - log_z), ddof=1) / np.sqrt(len(means))
    share = np.exp(2.0 * log_z - (logsumexp(squares) - np.log(len(squares))))
    return log_z, float(spread), float(share)

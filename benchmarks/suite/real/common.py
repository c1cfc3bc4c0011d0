"""What the families of real posteriors share: their tables, designs, and sums of log
probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import gammaln

from ..posteriors import LOG_2PI
from ..problem import Array, Prior

DATA = Path(__file__).parent / "data"


def table(name: str) -> dict[str, Array]:
    """The columns of a table of the data folder."""
    rows = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)
    return {column: np.atleast_1d(rows[column]) for column in rows.dtype.names}


def standard(column: Array) -> Array:
    """A column in units of its standard deviation, from its mean."""
    return np.asarray((column - column.mean()) / column.std())


def design(*columns: Array) -> Array:
    """A column of ones and the others."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


def normals(names: list[str], sd: float) -> dict[str, Prior]:
    """A normal prior about 0 for each name."""
    return {name: ("normal", 0.0, sd) for name in names}


class Linear:
    """log Normal(y; X b, sd^2), from the triangular factor of X: as fast for many rows as for
    few."""

    def __init__(self, x: Array, y: Array) -> None:
        q, self.r = np.linalg.qr(x)
        self.best = np.linalg.solve(self.r, q.T @ y)
        self.count = len(y)
        self.least = float(((y - x @ self.best) ** 2).sum())

    def __call__(self, b: Array, log_sd: Array) -> Array:
        """At the rows of b, (n, k), and as many logs of the standard deviation."""
        squares = self.least + (((b - self.best) @ self.r.T) ** 2).sum(1)
        return -0.5 * squares * np.exp(-2.0 * log_sd) - self.count * (log_sd + 0.5 * LOG_2PI)


def poisson(counts: Array, log_mean: Array) -> Array:
    """log Poisson(counts; mean), summed over the last axis."""
    return (counts * log_mean - np.exp(log_mean)).sum(-1) - gammaln(counts + 1.0).sum()


class NegativeBinomial:
    """log NegativeBinomial(y; mean, size), with the variance mean + mean^2/size."""

    def __init__(self, y: Array) -> None:
        self.y = y
        # Gamma(y + size)/Gamma(size) is a product of size + j over j < y: no differences of large
        # numbers.
        self.j = np.arange(int(y.max()))
        self.above = (y > self.j[:, None]).sum(1)
        self.constant = float(gammaln(y + 1.0).sum())

    def __call__(self, log_mean: Array, size: Array) -> Array:
        """At rows of log means, (n, len(y)), and as many sizes."""
        # A size that underflows is as good as this one, and j/size stays finite.
        size = np.maximum(size, 1e-300)[:, None]
        odds = log_mean - np.log(size)
        rising = (self.above * np.log1p(self.j / size)).sum(1)
        return rising + (self.y * log_mean).sum(1) - ((self.y + size) * np.logaddexp(0.0, odds)).sum(1) - self.constant


class Weibull:
    """The log likelihood of times under the hazard shape t^(shape - 1) exp(eta); `ended` is 0 where
    a time was cut."""

    def __init__(self, times: Array, ended: Array) -> None:
        self.log_t, self.ended = np.log(times), ended

    def __call__(self, shape: Array, eta: Array) -> Array:
        """At as many shapes as rows of eta, (n, len(times))."""
        shape = shape[:, None]
        log_risk = eta + shape * self.log_t
        return (self.ended * (np.log(shape) + log_risk - self.log_t) - np.exp(log_risk)).sum(1)

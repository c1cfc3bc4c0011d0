"""Constructors of the priors that the core knows; written by tools/options.py."""

from __future__ import annotations

from warpquad._priors import Prior


def uniform(lo: float, hi: float, *, size: int | None = None, periodic: bool = False) -> Prior:
    """The uniform prior: flat between two ends; `periodic=True` where they are one point.

    >>> import warpquad as wq
    >>> wq.uniform(1, 2, size=3)
    uniform(1, 2, size=3)
    """
    return Prior("uniform", (float(lo), float(hi)), size, periodic)


def log_uniform(lo: float, hi: float, *, size: int | None = None) -> Prior:
    """The log-uniform prior: flat in the logarithm between two positive ends.

    >>> import warpquad as wq
    >>> wq.log_uniform(1, 2, size=3)
    log_uniform(1, 2, size=3)
    """
    return Prior("log-uniform", (float(lo), float(hi)), size)


def normal(mean: float, sd: float, *, size: int | None = None) -> Prior:
    """The normal prior: normal with a mean and a standard deviation.

    >>> import warpquad as wq
    >>> wq.normal(0, 1, size=3)
    normal(0, 1, size=3)
    """
    return Prior("normal", (float(mean), float(sd)), size)


def truncated_normal(mean: float, sd: float, lo: float, hi: float, *, size: int | None = None) -> Prior:
    """The truncated-normal prior: normal (mean and sd before the cut) between two ends.

    >>> import warpquad as wq
    >>> wq.truncated_normal(0, 1, 1, 2, size=3)
    truncated_normal(0, 1, 1, 2, size=3)
    """
    return Prior("truncated-normal", (float(mean), float(sd), float(lo), float(hi)), size)


def half_normal(sd: float, *, size: int | None = None) -> Prior:
    """The half-normal prior: the absolute value of a centred normal.

    >>> import warpquad as wq
    >>> wq.half_normal(1, size=3)
    half_normal(1, size=3)
    """
    return Prior("half-normal", (float(sd),), size)


def half_cauchy(scale: float, *, size: int | None = None) -> Prior:
    """The half-cauchy prior: the absolute value of a centred Cauchy.

    >>> import warpquad as wq
    >>> wq.half_cauchy(1, size=3)
    half_cauchy(1, size=3)
    """
    return Prior("half-cauchy", (float(scale),), size)


def log_normal(mean: float, sd: float, *, size: int | None = None) -> Prior:
    """The log-normal prior: normal in the logarithm, by the mean and sd of the log.

    >>> import warpquad as wq
    >>> wq.log_normal(0, 1, size=3)
    log_normal(0, 1, size=3)
    """
    return Prior("log-normal", (float(mean), float(sd)), size)


def exponential(rate: float, *, size: int | None = None) -> Prior:
    """The exponential prior: exponential with a rate.

    >>> import warpquad as wq
    >>> wq.exponential(1, size=3)
    exponential(1, size=3)
    """
    return Prior("exponential", (float(rate),), size)


def gamma(shape: float, rate: float, *, size: int | None = None) -> Prior:
    """The gamma prior: gamma with a shape and a rate.

    >>> import warpquad as wq
    >>> wq.gamma(1, 1, size=3)
    gamma(1, 1, size=3)
    """
    return Prior("gamma", (float(shape), float(rate)), size)


def beta(a: float, b: float, *, size: int | None = None) -> Prior:
    """The beta prior: beta on (0, 1) with two shapes.

    >>> import warpquad as wq
    >>> wq.beta(2, 3, size=3)
    beta(2, 3, size=3)
    """
    return Prior("beta", (float(a), float(b)), size)


def student_t(df: float, location: float, scale: float, *, size: int | None = None) -> Prior:
    """The student-t prior: Student's t with degrees of freedom, location and scale.

    >>> import warpquad as wq
    >>> wq.student_t(4, 0, 1, size=3)
    student_t(4, 0, 1, size=3)
    """
    return Prior("student-t", (float(df), float(location), float(scale)), size)


def cauchy(location: float, scale: float, *, size: int | None = None) -> Prior:
    """The cauchy prior: Cauchy with location and scale.

    >>> import warpquad as wq
    >>> wq.cauchy(0, 1, size=3)
    cauchy(0, 1, size=3)
    """
    return Prior("cauchy", (float(location), float(scale)), size)

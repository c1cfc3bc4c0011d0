"""Narrow posteriors of made data under vague priors: the climb is tuned on them too.

Covariates stand in their own units, far from their mean, so that coefficients are correlated and
their scales differ by orders of magnitude.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import odeint

from ..suite.posteriors import normal_terms
from ..suite.problem import Array, Prior, Problem
from ..suite.real.common import Linear, NegativeBinomial, Weibull, design, normals, poisson

Made = tuple[str, dict[str, Prior], object]


def problem(name: str, about: str, priors: dict[str, Prior], function: object) -> Problem:
    """A problem of the tuning half."""
    return Problem(f"made_{name}_{len(priors)}d", "tune", about, priors, function)  # type: ignore[arg-type]


def covariates(rng: np.random.Generator, rows: int) -> list[Array]:
    """A year, an age, an income, a share in percent and a group."""
    year = 1950.0 + np.arange(rows) * 40.0 / rows
    age = rng.normal(50.0, 10.0, rows).round()
    income = np.exp(rng.normal(10.0, 0.3, rows)) + 100.0 * (year - 1950.0)
    share = np.clip(rng.normal(60.0, 15.0, rows) - 0.3 * (age - 50.0), 1.0, 99.0)
    return [year, age, income, share, (rng.uniform(size=rows) < 0.4) * 1.0]


def own_units() -> Problem:
    """A regression on columns in their own units, with the precision under a gamma prior."""
    rng = np.random.default_rng(1)
    year, age, income, share, group = covariates(rng, 45)
    x = design(age, income / 1000.0, share, group, rng.normal(20.0, 5.0, 45))
    model = Linear(x, x @ [40.0, -0.4, 0.8, 0.2, 5.0, -0.5] + rng.normal(0.0, 6.0, 45))
    priors: dict[str, Prior] = {**normals(["intercept", "age", "income", "share", "group", "dose"], 1000.0)}
    priors |= {"precision": ("gamma", 0.001, 0.001)}
    return problem("own_units", own_units.__doc__ or "", priors, lambda b: model(b[:, :6], -0.5 * np.log(b[:, 6])))


def collinear() -> Problem:
    """A regression on six nearly collinear standard columns."""
    rng = np.random.default_rng(2)
    common = np.linspace(-1.5, 1.5, 20)
    columns = [common + 0.1 * (1 + k) / 3 * rng.normal(size=20) for k in range(6)]
    x = design(*columns)
    model = Linear(x, x @ [60.0, 1.0, 2.0, -2.0, 0.5, 0.0, 1.0] + rng.normal(0.0, 0.4, 20))
    priors: dict[str, Prior] = {**normals(["intercept", *"abcdef"], 100.0), "noise": ("halfcauchy", 5.0)}
    return problem("collinear", collinear.__doc__ or "", priors, lambda b: model(b[:, :7], np.log(b[:, 7])))


def survival() -> Problem:
    """Weibull times with covariates in their own units."""
    rng = np.random.default_rng(3)
    rows = 120
    score, age, kind = rng.integers(2, 10, rows) * 10.0, rng.normal(58.0, 10.0, rows).round(), rng.integers(0, 4, rows)
    x = design(score, age, kind == 1, kind == 2, kind == 3)
    eta = x @ [-3.0, -0.03, 0.01, 0.8, 0.3, -0.2]
    times = (-np.log(rng.uniform(size=rows)) * np.exp(-eta)) ** (1 / 1.1)
    model = Weibull(np.minimum(times, 400.0).round() + 0.5, (times < 400.0) * 1.0)
    priors: dict[str, Prior] = {"shape": ("halfcauchy", 5.0), **normals(["intercept", "score", "age", "b", "c", "d"], 100.0)}
    return problem("survival", survival.__doc__ or "", priors, lambda b: model(b[:, 0], b[:, 1:] @ x.T))


def overflowing() -> Problem:
    """Weibull times so long that ln f at the prior's centre is below -1e15, as where f = 0."""
    rng = np.random.default_rng(0)
    rows = 137
    score = np.clip(rng.normal(58.0, 20.0, rows).round(-1), 10.0, 99.0)
    age, treated, kind = rng.normal(58.0, 10.5, rows).round(), rng.integers(0, 2, rows), rng.integers(0, 4, rows)
    x = design(treated * 1.0, score, age, kind == 1, kind == 2, kind == 3)
    eta = x @ [-3.2, 0.2, -0.032, 0.005, 0.8, 1.1, 0.4]
    times = 3.0 * (-np.log(rng.uniform(size=rows)) * np.exp(-eta)) ** (1 / 1.08)
    model = Weibull(np.maximum(times.round(), 1.0), (rng.uniform(size=rows) < 0.93) * 1.0)
    names = ["intercept", "treated", "score", "age", "b", "c", "d"]
    priors: dict[str, Prior] = {"shape": ("halfcauchy", 5.0), **normals(names, 100.0)}
    return problem("overflowing", overflowing.__doc__ or "", priors, lambda b: model(b[:, 0], b[:, 1:] @ x.T))


def counts() -> Problem:
    """Poisson counts with an exposure, eight coefficients of factors and a slope."""
    rng = np.random.default_rng(4)
    rows = 34
    kind, period = rng.integers(0, 5, rows), rng.integers(0, 3, rows)
    x = design(*((kind == k) * 1.0 for k in range(1, 5)), *((period == k) * 1.0 for k in (1, 2)), rng.normal(30.0, 8.0, rows))
    exposure = np.exp(rng.normal(7.0, 1.5, rows))
    y = rng.poisson(np.exp(x @ [-7.0, -0.5, -0.7, -0.1, 0.3, 0.7, 0.4, 0.02]) * exposure)
    priors = normals(["intercept", "b", "c", "d", "e", "middle", "late", "age"], 100.0)
    return problem("counts", counts.__doc__ or "", priors, lambda b: poisson(y, b @ x.T + np.log(exposure)))


def overdispersed() -> Problem:
    """Negative binomial counts on four columns in their own units."""
    rng = np.random.default_rng(5)
    rows = 90
    year, age, _, share, group = covariates(rng, rows)
    x = design(group, age, share, (year > 1970) * 1.0, np.log(rng.poisson(20, rows) + 1.0))
    mean = np.exp(x @ [0.2, -0.4, 0.01, -0.005, 0.3, 0.8])
    model = NegativeBinomial(rng.poisson(mean * rng.gamma(2.0, 0.5, rows)))
    priors: dict[str, Prior] = {**normals(["intercept", "group", "age", "share", "late", "base"], 100.0)}
    priors |= {"size": ("gamma", 0.001, 0.001)}
    return problem("overdispersed", overdispersed.__doc__ or "", priors, lambda b: model(b[:, :6] @ x.T, b[:, 6]))


def logistic() -> Problem:
    """A logistic regression with six columns in their own units."""
    rng = np.random.default_rng(6)
    rows = 300
    year, age, income, share, group = covariates(rng, rows)
    x = design(year, age, income / 1000.0, share, group, group * age)
    chance = 1 / (1 + np.exp(-(x @ [-80.0, 0.04, -0.03, 0.05, 0.02, 1.0, -0.02])))
    sign = np.where(rng.uniform(size=rows) < chance, 1.0, -1.0)
    priors = normals(["intercept", "year", "age", "income", "share", "group", "both"], 100.0)
    return problem("logistic", logistic.__doc__ or "", priors, lambda b: -np.logaddexp(0.0, -sign * (b @ x.T)).sum(1))


def bend() -> Problem:
    """Two lines that meet, in a column far from 0."""
    rng = np.random.default_rng(7)
    t = np.linspace(9.0, 11.0, 30)
    y = 0.5 + np.where(t < 9.9, -0.4, -1.1) * (t - 9.9) + rng.normal(0.0, 0.02, 30)

    def f(x: Array) -> Array:
        height, before, after, change, noise = x.T[..., None]
        past = t - change
        return normal_terms(y - height - np.where(past < 0.0, before, after) * past, noise)

    priors: dict[str, Prior] = {**normals(["height", "before", "after"], 1000.0)}
    priors |= {"change": ("uniform", 9.0, 11.0), "noise": ("halfcauchy", 5.0)}
    return problem("bend", bend.__doc__ or "", priors, f)


def autoregression() -> Problem:
    """Four lags of a series that lies far from 0."""
    rng = np.random.default_rng(8)
    y = np.full(160, 50.0)
    for k in range(4, 160):
        y[k] = 10.0 + 0.9 * y[k - 1] - 0.4 * y[k - 2] + 0.2 * y[k - 3] + 0.1 * y[k - 4] + rng.normal(0.0, 2.0)
    x = design(*(y[4 - k : -k] for k in range(1, 5)))
    model = Linear(x, y[4:])
    priors: dict[str, Prior] = {**normals(["constant", *"abcd"], 100.0), "noise": ("halfcauchy", 2.5)}
    return problem("autoregression", autoregression.__doc__ or "", priors, lambda b: model(b[:, :5], np.log(b[:, 5])))


def two_decays() -> Problem:
    """Two exponentials of concentrations with a relative error."""
    rng = np.random.default_rng(9)
    t = np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 10, 12, 16, 24.0])
    y = np.log(12 * np.exp(-1.4 * t) + 3 * np.exp(-0.12 * t)) + rng.normal(0.0, 0.08, len(t))

    def f(x: Array) -> Array:
        fast, fast_rate, slow, slow_rate, noise = x.T[..., None]
        return normal_terms(y - np.log(fast * np.exp(-fast_rate * t) + slow * np.exp(-slow_rate * t)), noise)

    priors: dict[str, Prior] = {n: ("lognormal", 0.0, 3.0) for n in ("fast", "fast_rate", "slow", "slow_rate")}
    return problem("two_decays", two_decays.__doc__ or "", {**priors, "noise": ("halfcauchy", 1.0)}, f)


def hunting() -> Problem:
    """Predator and prey of an ODE, with log-normal errors."""
    rng = np.random.default_rng(10)
    t = np.linspace(0.0, 20.0, 21)

    def flow(u: Array, _: float, a: float, b: float, c: float, d: float) -> list[float]:
        return [(a - b * u[1]) * u[0], (c * u[0] - d) * u[1]]

    truth = odeint(flow, [33.0, 6.0], t, args=(0.55, 0.028, 0.024, 0.8))
    y = np.log(truth) + rng.normal(0.0, 0.2, truth.shape)

    def one(x: Array) -> float:
        try:
            u = odeint(flow, x[4:6], t, args=tuple(x[:4]), mxstep=2000)
        except Exception:
            return -np.inf
        if not (np.isfinite(u).all() and (u > 0.0).all()):
            return -np.inf
        return float(normal_terms((y - np.log(u))[:, 0], x[6]) + normal_terms((y - np.log(u))[:, 1], x[7]))

    priors: dict[str, Prior] = {"a": ("halfnormal", 5.0), "b": ("halfnormal", 1.0), "c": ("halfnormal", 1.0), "d": ("halfnormal", 5.0)}
    priors |= {"prey": ("lognormal", 2.3, 1.0), "predator": ("lognormal", 2.3, 1.0)}
    priors |= {"noise_prey": ("lognormal", -1.0, 1.0), "noise_predator": ("lognormal", -1.0, 1.0)}
    return problem("hunting", hunting.__doc__ or "", priors, lambda x: np.array([one(row) for row in x]))


def sigmoid() -> Problem:
    """A dose-response of four parameters whose noise is a power of the mean."""
    rng = np.random.default_rng(11)
    dose = np.repeat([0.0, 0.5, 1, 2, 4, 8, 16, 32.0], 3)

    def mean(low: Array, high: Array, half: Array, slope: Array) -> Array:
        with np.errstate(divide="ignore"):
            return low + (high - low) / (1.0 + np.exp(slope * (np.log(dose) - np.log(half))))

    y = mean(0.4, 8.0, 3.0, 2.5)
    y = y + rng.normal(0.0, 0.12 * y**0.7)

    def f(x: Array) -> Array:
        low, high, half, slope, noise, power = x.T[..., None]
        m = mean(low, high, half, slope)
        return normal_terms(y - m, noise * np.abs(m) ** power)

    priors: dict[str, Prior] = {**normals(["low", "high"], 100.0), "half": ("lognormal", 0.0, 3.0), "slope": ("lognormal", 0.0, 3.0)}
    priors |= {"noise": ("halfcauchy", 1.0), "power": ("normal", 0.0, 3.0)}
    return problem("sigmoid", sigmoid.__doc__ or "", priors, f)


def hidden() -> Problem:
    """A hidden Markov model of two normal laws, in order."""
    rng = np.random.default_rng(12)
    state, y = 0, []
    for _ in range(120):
        state = state if rng.uniform() < (0.92, 0.8)[state] else 1 - state
        y.append(rng.normal((2.0, 9.0)[state], (1.0, 2.0)[state]))

    def f(x: Array) -> Array:
        stay, leave, low, step, sd_low, sd_high = x.T
        means, sds = (low, low + step), (sd_low, sd_high)
        to = np.array([[stay, 1 - stay], [leave, 1 - leave]])
        known = np.full((2, len(x)), np.log(0.5))
        for value in y:
            terms = np.array([-0.5 * ((value - m) / s) ** 2 - np.log(s) for m, s in zip(means, sds)])
            known = terms + known
            total = np.array([np.logaddexp(known[0] + np.log(to[0, k]), known[1] + np.log(to[1, k])) for k in (0, 1)])
            known, last = total, known
        return np.logaddexp(last[0], last[1])

    priors: dict[str, Prior] = {"stay": ("uniform", 0.0, 1.0), "leave": ("uniform", 0.0, 1.0), "low": ("normal", 0.0, 100.0)}
    priors |= {"step": ("halfnormal", 100.0), "sd_low": ("halfcauchy", 5.0), "sd_high": ("halfcauchy", 5.0)}
    return problem("hidden", hidden.__doc__ or "", priors, f)


def planet() -> Problem:
    """The velocities of a star with one planet on a circle, and a trend."""
    rng = np.random.default_rng(13)
    t = np.sort(rng.uniform(0.0, 400.0, 35))
    y = 30.0 * np.sin(2 * np.pi * t / 57.0 + 1.0) + 12.0 + 0.02 * t + rng.normal(0.0, 3.0, 35)

    def f(x: Array) -> Array:
        period, cos, sin, offset, trend, jitter = x.T[..., None]
        angle = 2 * np.pi * t / period
        return normal_terms(y - offset - trend * t - cos * np.cos(angle) - sin * np.sin(angle), np.hypot(1.0, jitter))

    priors: dict[str, Prior] = {"period": ("loguniform", 20.0, 200.0), **normals(["cos", "sin"], 100.0), "offset": ("normal", 0.0, 1000.0)}
    priors |= {"trend": ("normal", 0.0, 10.0), "jitter": ("loguniform", 0.1, 100.0)}
    return problem("planet", planet.__doc__ or "", priors, f)


def groups() -> Problem:
    """A slope in groups whose effects are integrated out."""
    rng = np.random.default_rng(14)
    group, x = np.repeat(np.arange(12), 6), np.tile(np.arange(6.0), 12)
    y = 250.0 + 10.0 * x + rng.normal(0, 25.0, 12)[group] + rng.normal(0, 6.0, 12)[group] * x + rng.normal(0, 20.0, 72)
    t = np.arange(6.0)

    def f(b: Array) -> Array:
        level, slope, sd, sd_slope, noise = b.T
        cov = (sd * sd)[:, None, None] * np.ones((6, 6)) + (sd_slope**2)[:, None, None] * np.outer(t, t)
        cov = cov + (noise * noise)[:, None, None] * np.eye(6)
        away = y.reshape(12, 6) - level[:, None, None] - slope[:, None, None] * t
        w, v = np.linalg.eigh(np.where(np.isfinite(cov), cov, 1e300))
        w = np.maximum(w, 1e-300)
        square = ((away @ v) ** 2 / w[:, None, :]).sum((1, 2))
        return -0.5 * square - 6.0 * np.log(w).sum(1)

    priors: dict[str, Prior] = {**normals(["level", "slope"], 1000.0), **{n: ("halfcauchy", 10.0) for n in ("sd", "sd_slope", "noise")}}
    return problem("groups", groups.__doc__ or "", priors, f)


def volatile() -> Problem:
    """GARCH(1, 1) of returns in percent."""
    rng = np.random.default_rng(15)
    y, h = [], 1.0
    for _ in range(400):
        y.append(0.05 + np.sqrt(h) * rng.normal())
        h = 0.05 + 0.12 * (y[-1] - 0.05) ** 2 + 0.83 * h

    def f(x: Array) -> Array:
        mean, constant, news, last = x.T
        h, total = np.full(len(x), np.var(y)), np.zeros(len(x))
        for value in y:
            total = total - 0.5 * ((value - mean) ** 2 / h + np.log(h))
            h = constant + news * (value - mean) ** 2 + last * h
        return np.where(news + last < 1.0, total, -np.inf)

    priors: dict[str, Prior] = {"mean": ("normal", 0.0, 100.0), "constant": ("halfcauchy", 10.0)}
    return problem("volatile", volatile.__doc__ or "", {**priors, "news": ("uniform", 0.0, 1.0), "last": ("uniform", 0.0, 1.0)}, f)


def robust() -> Problem:
    """A line through points a fifth of which are far off, with Student errors."""
    rng = np.random.default_rng(16)
    year = np.arange(1950.0, 1974.0)
    y = 1.5 * (year - 1950.0) + 20.0 + rng.normal(0.0, 2.0, 24)
    y[14:19] += 80.0
    from scipy.special import gammaln

    def f(x: Array) -> Array:
        intercept, slope, scale, freedom = x.T[..., None]
        r = (y - intercept - slope * year) / scale
        terms = -0.5 * (freedom + 1) * np.log1p(r * r / freedom) - np.log(scale) - 0.5 * np.log(freedom)
        return terms.sum(1) + len(y) * (gammaln(0.5 * (freedom + 1)) - gammaln(0.5 * freedom))[:, 0]

    priors: dict[str, Prior] = {"intercept": ("normal", 0.0, 10000.0), "slope": ("normal", 0.0, 100.0)}
    return problem("robust", robust.__doc__ or "", {**priors, "scale": ("halfcauchy", 10.0), "freedom": ("gamma", 2.0, 0.1)}, f)


def problems() -> list[Problem]:
    """All of them, in order of dimension."""
    makers = (own_units, collinear, survival, overflowing, counts, overdispersed, logistic, bend, autoregression, two_decays, hunting)
    makers += (sigmoid, hidden, planet, groups, volatile, robust)
    return sorted((make() for make in makers), key=lambda p: (p.d, p.name))

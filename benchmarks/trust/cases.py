"""Cases that were once wrong in silence: `python -m benchmarks.trust.cases [NAME ...]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.suite.problem import Prior, bells, box
from benchmarks.trust.fits import log_over_noise
from benchmarks.trust.instance import IN_FLIGHT, Instance
from benchmarks.trust.quadrature import log_integral
from benchmarks.trust.report import covers
from benchmarks.trust.run import Row, rows
from benchmarks.trust.shapes import LN_2_PI, Array, Bump, Shape

Lines = Iterator[str]


def told(name: str, found: list[Row]) -> str:
    """A line on several runs of a case."""
    errors = [r["log_z"] - r["truth"] for r in found]
    half = median(0.5 * (r["log_z_hi"] - r["log_z_lo"]) for r in found)
    settled = sum(r["verdict"] == "settled" for r in found)
    return (
        f"{name}: {sum(map(covers, found))} of {len(found)} cover, {settled} settled, errors from "
        f"{min(errors):+.2g} to {max(errors):+.2g}, root mean square {np.sqrt(np.mean(np.square(errors))):.2g}, "
        f"median half-width {half:.2g}, {median(r['failures'] for r in found):g} lost"
    )


def run(shape: Shape, seed: int, evaluations: int, in_flight: int = 1, noise_sd: float = 0.0) -> Row:
    """The answer of a run."""
    (row,) = rows(Instance(seed, "case", shape, 0.0, in_flight, noise_sd), (evaluations,))
    return row


def decay(seed: int) -> Shape:
    """Six data; amplitude, rate and noise log-uniform over three decades."""
    rng = np.random.default_rng([5, seed])
    t = np.linspace(0.2, 3.0, 6)
    y = np.exp(-rng.uniform(0.3, 2.0) * t) + rng.normal(0.0, 0.05, 6)
    ends = (0.01, 10.0)
    logs = (float(np.log(ends[0])), float(np.log(ends[1])))

    def log_f(x: Array) -> Array:
        a, b, s = x.T[:, :, None]
        squares = ((y - a * np.exp(-b * t)) ** 2).sum(1)
        return np.asarray(-0.5 * squares / s[:, 0] ** 2 - 6.0 * np.log(s[:, 0]) - 3.0 * LN_2_PI)

    def log_part(v: Array) -> Array:
        a, b = np.exp(v).T[:, :, None]
        return log_over_noise(((y - a * np.exp(-b * t)) ** 2).sum(1), 6, ends)

    priors: dict[str, Prior] = {name: ("loguniform", *ends) for name in ("amplitude", "rate", "noise")}
    return Shape(priors, log_f, log_integral(log_part, [logs, logs]) - 3.0 * float(np.log(logs[1] - logs[0])))


def decays() -> Lines:
    """Six of nine were 12 nats low."""
    yield told("decays, 60 evaluations", [run(decay(seed), seed, 60) for seed in range(9)])


def regression(seed: int) -> Shape:
    """Three coefficients under normal(0, 10) and a log-uniform noise."""
    rng = np.random.default_rng([7, seed])
    design = np.c_[np.ones(20), rng.normal(size=(20, 2))]
    y = design @ np.array([1.0, -2.0, 0.5]) + rng.normal(0.0, 0.5, 20)
    logs = (float(np.log(0.05)), float(np.log(5.0)))

    def log_f(x: Array) -> Array:
        s = x[:, 3]
        squares = ((y - x[:, :3] @ design.T) ** 2).sum(1)
        return np.asarray(-0.5 * squares / s**2 - 20.0 * np.log(s) - 10.0 * LN_2_PI)

    eigenvalues, axes = np.linalg.eigh(design @ design.T)
    along = (axes.T @ y) ** 2

    def log_part(v: Array) -> Array:
        var = np.exp(2.0 * v) + 100.0 * np.maximum(eigenvalues, 0.0)
        return np.asarray(-0.5 * (along / var + np.log(var) + LN_2_PI).sum(1))

    priors: dict[str, Prior] = {f"b{i}": ("normal", 0.0, 10.0) for i in range(3)}
    log_z = log_integral(log_part, [logs]) - float(np.log(logs[1] - logs[0]))
    return Shape({**priors, "noise": ("loguniform", 0.05, 5.0)}, log_f, log_z)


def workers() -> Lines:
    """Three of ten covered with eight in flight, eight of ten without."""
    for n in (1, IN_FLIGHT):
        for evaluations in (40, 100):
            found = [run(regression(seed), seed, evaluations, n) for seed in range(10)]
            yield told(f"regression in four dimensions, {n} in flight, {evaluations} evaluations", found)


def bowl(d: int) -> Shape:
    """exp of minus the squares on [-3, 3]^d."""
    one = 0.5 * np.log(np.pi) - np.log(6.0) + np.log(2.0 * stats.norm.cdf(3.0 * 2.0**0.5) - 1.0)
    return Shape(box(d, -3.0, 3.0), lambda x: -(x**2).sum(1), float(d * one))


def noise() -> Lines:
    """8, 5 and 16 of 24 covered; at sd 3 in more dimensions log Z was 0.5 to 1.3 low."""
    for d, sd, evaluations in ((2, 1.0, 40), (2, 1.0, 100), (2, 0.3, 40), (4, 3.0, 100), (5, 3.0, 100)):
        found = [run(bowl(d), seed, evaluations, noise_sd=sd) for seed in range(24 if d == 2 else 6)]
        yield told(f"bowl in {d} dimensions, noise of sd {sd:g}, {evaluations} evaluations", found)


def failing() -> Lines:
    """43 to 47 of 60 were lost where 16 % of the prior fails; an ordering by -inf was 0.96 off."""
    far = Bump(0.0, np.array([-1.0, -0.5]), 0.09 * np.eye(2))
    shape = Shape(bells(2), far.log_f, far.log_z, lambda x: x.sum(1) > stats.norm.isf(0.16) * 2.0**0.5)
    yield told("16 % of the prior fails, 60 evaluations", [run(shape, seed, 60) for seed in range(4)])
    near = Bump(0.0, np.array([0.2, 0.3]), 0.04 * np.eye(2))
    mean, cov = near.posterior()
    part = float(stats.norm.logcdf((mean[0] - mean[1]) / np.sqrt(2.0 * cov[0, 0])))

    def ordered(x: Array) -> Array:
        return np.where(x[:, 0] > x[:, 1], near.log_f(x), -np.inf)

    shape = replace(shape, log_f=ordered, log_z=near.log_z + part, fails=None)
    yield told("m1 > m2 by -inf, 60 evaluations", [run(shape, seed, 60) for seed in range(4)])


def verdict(name: str, result: Any) -> str:
    """A line on what a result says of itself."""
    low, high = result.interval(0.95)
    codes = " ".join(reason["code"] for reason in result.reasons)
    return f"{name}: +- {0.5 * (high - low):.2g}, {result.verdict} {codes}"


def others() -> Lines:
    """A signed line, identical values, one evaluation, undeclared noise, a sample as a prior."""
    import warpquad as wq

    off = []
    for seed in range(12):
        a, b = np.random.default_rng([8, seed]).normal(size=2)
        line = {"x": wq.uniform(-1, 2)}
        r = wq.integrate(
            f=lambda x, a=a, b=b: a + b * x, priors=line, range=(-np.inf, np.inf), budget=20, seed=seed, progress=False
        )
        off.append(abs(r.z - (a + 0.5 * b)) / r.z_sd)
    yield f"a signed line: off by {median(off):.2g} printed sds, {max(off):.2g} at most"
    square = {"x": wq.uniform(-3, 3), "y": wq.uniform(-3, 3)}
    yield verdict("25 identical values", wq.integrate(lambda x, y: -1e10, square, budget=25, progress=False))
    yield verdict("one evaluation", wq.integrate(lambda x, y: -x * x, square, budget=1, progress=False))
    for seed in range(4):
        rng = np.random.default_rng([9, seed])
        r = wq.integrate(
            lambda x, y, rng=rng: -(x * x + y * y) + 0.3 * rng.normal(), square, budget=60, seed=seed, progress=False
        )
        yield verdict("undeclared noise of sd 0.3", r)
    draws = np.random.default_rng(1).normal(size=(2000, 2))
    r = wq.integrate(lambda x0, x1: -((x0 - 3.0) ** 2 + (x1 - 3.0) ** 2) / 0.18, draws, budget=60, progress=False)
    yield verdict("2000 draws as a prior, hardly one where f is", r)


CASES: dict[str, Callable[[], Lines]] = {
    "decays": decays, "workers": workers, "noise": noise, "failing": failing, "others": others,
}  # fmt: skip


def main(words: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trust.cases", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all by default")
    names = parser.parse_args(words).names or list(CASES)
    for name in names:
        if name not in CASES:
            parser.error(f"no case is called {name!r}; there are {', '.join(CASES)}")
        for line in CASES[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main()

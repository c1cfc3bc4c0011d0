"""GPry: a Gaussian process on the log posterior, with an SVM that shuts out the hopeless region."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
from scipy.special import logsumexp, ndtr

from benchmarks.counted import TimeUp, check_time
from benchmarks.peers import Estimate
from benchmarks.peers.coordinates import Natural

# GPry needs a box. Of an unbounded prior it is the central part but for 6e-7, five standard
# deviations to each side.
REACH = 5.0
# Adaptive importance sampling of the mean of its process: rounds that adapt, points of each, and of
# the last.
ROUNDS, POINTS, LAST = 6, 4096, 32768
# Centres of the proposal's mixture, and the share of the uniform law in it.
CENTRES, FLAT = 200, 0.1


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """Estimates at all budgets from one run at its defaults, before the batch that exceeds each.

    Its prior is uniform on the box, so the likelihood has the prior's density in it, and the box's
    volume. GPry finds log Z by nested sampling of the mean of its process with 50 d live points,
    known to some tenths only. When UltraNest is its sampler, version 4.1 subtracts twice the region
    that the SVM has shut out. So that GPry is not judged by that, the mean is integrated here by
    importance sampling. It claims no error of the process itself: there is no interval.
    """
    from gpry import Runner

    natural = Natural(problem)
    np.random.seed(seed)
    ends = ((0, -1), (1, 1))
    low, high = (
        np.where(natural.boxed, natural.laws.T[end], natural.of_cube(ndtr(side * REACH)))
        for end, side in ends
    )
    log_volume = float(np.log(high - low).sum())
    left = sorted(budgets)
    found: list[Estimate] = []

    def log_f(t: Any) -> float:
        return natural.log_likelihood(t) + natural.log_prior(t) + log_volume

    def look(runner: Any) -> None:
        while left and problem.evaluations + runner.d > left[0]:
            found.append(estimate(left.pop(0)))
        check_time()

    def estimate(budget: int) -> Estimate:
        if problem.evaluations > budget:
            # It goes on at the start until enough values are within its threshold.
            return Estimate(
                budget,
                error_text=f"took {problem.evaluations} evaluations before its first fit",
                evaluations=problem.evaluations,
            )
        log_z = integral(runner.surrogate, low, high, np.random.default_rng(seed))
        return Estimate(budget, log_z, evaluations=problem.evaluations)

    runner = Runner(
        log_f,
        bounds=np.stack([low, high], axis=1).tolist(),
        params=list(problem.priors),
        # Its default for the start may exceed the whole budget, which it refuses.
        options={
            "max_total": max(budgets),
            "max_initial": min(max(budgets), 30 * len(problem.priors) ** 1.5),
        },
        callback=look,
        seed=seed,
        verbose=1,
    )
    try:
        runner.run()
    except TimeUp as late:
        yield from found
        raise late
    yield from found
    yield from (estimate(budget) for budget in left)


def integral(surrogate: Any, low: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> float:
    """The log integral of the exponential of the surrogate's mean over the box."""
    d, log_volume = len(low), float(np.log(high - low).sum())

    def mean(x: np.ndarray) -> np.ndarray:
        y = np.full(len(x), -np.inf)
        inside = ((x >= low) & (x <= high)).all(axis=1)
        y[inside] = surrogate.predict(x[inside], return_std=False, validate=False)
        return y

    known = np.asarray(surrogate.X_regress)
    x = np.concatenate([rng.uniform(low, high, (POINTS, d)), known])
    log_w = mean(x)
    for points in [POINTS] * ROUNDS + [LAST]:
        weights = np.exp(log_w - logsumexp(log_w))
        centres = x[rng.choice(len(x), CENTRES, p=weights)]
        spread = np.cov(centres.T).reshape(d, d) + 1e-10 * np.diag((high - low) ** 2)
        # Silverman's width for a kernel estimate from the centres.
        root = np.linalg.cholesky(spread * (4 / ((d + 2) * CENTRES)) ** (2 / (d + 4)))
        x = centres[rng.integers(CENTRES, size=points)] + rng.standard_normal((points, d)) @ root.T
        flat = rng.random(points) < FLAT
        x[flat] = rng.uniform(low, high, (int(flat.sum()), d))
        log_w = mean(x) - density(x, centres, root, log_volume)
    return float(logsumexp(log_w) - np.log(len(log_w)))


def density(x: np.ndarray, centres: np.ndarray, root: np.ndarray, log_volume: float) -> np.ndarray:
    """The log density of the proposal."""
    d = len(root)
    a, b = np.linalg.solve(root, x.T).T, np.linalg.solve(root, centres.T).T
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T
    normal = -np.maximum(squares, 0) / 2 - 0.5 * d * np.log(2 * np.pi) - np.log(np.diag(root)).sum()
    mixture = logsumexp(normal, axis=1) - np.log(len(centres)) + np.log1p(-FLAT)
    return np.logaddexp(mixture, np.log(FLAT) - log_volume)

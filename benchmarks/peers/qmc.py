"""Scrambled Sobol' points of scipy: the baseline, without an interval or with one."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from benchmarks.peers import FINISH, Estimate
from benchmarks.peers.coordinates import log_f_of_cubes

# Where it stops by itself: 8 nets of 1024 points, the defaults of scipy.stats.qmc_quad.
FINISH_SCRAMBLES, FINISH_POINTS = 8, 1024


def run(problem: Any, budgets: Any, seed: int, scrambles: int) -> Iterator[Estimate]:
    """The mean of f at each budget.

    One scrambling takes all points of the budget, a power of two or not: over the suite that has
    the smaller error. Of several, each has as large a power of two as fits, and Student's t gives
    an interval.
    """
    for budget in budgets:
        problem.restart()
        if budget == FINISH:
            few = 1 if scrambles == 1 else FINISH_SCRAMBLES
            points = FINISH_SCRAMBLES * FINISH_POINTS // few
        else:
            few = scrambles
            points = budget if few == 1 else 2 ** int(np.log2(budget / few))
        log_f = np.array(
            [
                log_f_of_cubes(problem, net(problem.d, points, stream))
                for stream in np.random.SeedSequence(seed).spawn(few)
            ]
        )
        yield estimate(budget, log_f)


def net(d: int, points: int, stream: Any) -> np.ndarray:
    """Scrambled Sobol' points of the unit cube."""
    from scipy.stats import qmc

    return qmc.Sobol(d, seed=np.random.default_rng(stream)).random(points)


def estimate(budget: Any, log_f: np.ndarray) -> Estimate:
    """The log of the mean of f, and its interval if there are several scramblings, one a row."""
    from scipy.stats import t

    top = log_f.max()
    if top == -np.inf:
        return Estimate(budget, error_text="every f was 0")
    means = np.exp(log_f - top).mean(axis=1)
    log_z = float(np.log(means.mean()) + top)
    if len(means) == 1:
        return Estimate(budget, log_z)
    reach = t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
    # A lower end at or below 0 says nothing on the log's scale: the smallest positive number stands
    # for it.
    low, high = np.log(
        np.maximum([means.mean() - reach, means.mean() + reach], np.finfo(float).tiny)
    )
    return Estimate(budget, log_z, float(low + top), float(high + top))

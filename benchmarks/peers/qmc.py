"""Scrambled Sobol' points of scipy, at each budget: the baseline."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from benchmarks.peers import FINISH, Estimate
from benchmarks.peers.coordinates import log_f_of_cubes

# Independent scramblings. The mean over few long nets is better than over many short ones, and an interval needs a few.
SCRAMBLES = 4
# Where it stops by itself: 8 nets of 1024 points, the defaults of scipy.stats.qmc_quad.
FINISH_SCRAMBLES, FINISH_POINTS = 8, 1024


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """At each budget, the mean over scramblings of nets of as large a power of two as fits; an interval by Student's t."""
    for budget in budgets:
        problem.restart()
        if budget == FINISH:
            yield replicated(problem, budget, FINISH_SCRAMBLES, FINISH_POINTS, seed)
        else:
            points = 2 ** int(np.log2(budget / SCRAMBLES))
            yield replicated(problem, budget, SCRAMBLES, points, seed)


def replicated(problem: Any, budget: Any, scrambles: int, points: int, seed: int) -> Estimate:
    """The mean of f over independent scramblings, and its interval, on the scale of log Z."""
    from scipy.stats import qmc, t

    nets = np.random.SeedSequence(seed).spawn(scrambles)
    log_f = np.array(
        [
            log_f_of_cubes(problem, qmc.Sobol(problem.d, seed=np.random.default_rng(net)).random(points))
            for net in nets
        ]
    )
    top = log_f.max()
    if top == -np.inf:
        return Estimate(budget, error_text="every f was 0")
    means = np.exp(log_f - top).mean(axis=1)
    mean, error = means.mean(), means.std(ddof=1) / np.sqrt(scrambles)
    reach = t.ppf(0.975, scrambles - 1) * error
    # A lower end at or below 0 says nothing on the log's scale: the smallest positive number stands for it.
    low, high = np.log(np.maximum([mean - reach, mean + reach], np.finfo(float).tiny))
    return Estimate(budget, float(np.log(mean) + top), float(low + top), float(high + top))

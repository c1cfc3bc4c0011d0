"""PyVBMC: variational Bayesian Monte Carlo, a mixture fitted to a process on the log joint."""

from __future__ import annotations

import logging
from typing import Any, Iterator

import numpy as np
from scipy.special import ndtr

from benchmarks.counted import TimeUp, check_time
from benchmarks.peers import Estimate
from benchmarks.peers.coordinates import Natural


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """Estimates at all budgets from one run of the largest, each as if the run had ended there: one
    that raises later has them too.

    The bounds are the prior's ends and the plausible bounds its central 68 %, as the documentation
    has it. Log Z is the evidence lower bound, with its standard deviation.
    """
    from pyvbmc import VBMC

    natural = Natural(problem)
    rng = np.random.default_rng(seed)
    np.random.seed(seed)
    lower = np.where(natural.boxed, natural.laws[:, 0], -np.inf)
    upper = np.where(natural.boxed, natural.laws[:, 1], np.inf)
    plausible = natural.of_cube(ndtr(-1.0)), natural.of_cube(ndtr(1.0))
    start = rng.uniform(*plausible)

    def log_joint(t: Any) -> float:
        check_time()
        return max(natural.log_likelihood(t) + natural.log_prior(t), LOWEST)

    options = {"max_fun_evals": max(budgets), "display": "off", "show_tips": False}
    vbmc = VBMC(
        log_joint,
        start[None],
        lower[None],
        upper[None],
        plausible[0][None],
        plausible[1][None],
        options=options,
    )
    vbmc.logger.setLevel(logging.ERROR)
    results, failure, lost_from = None, "", 0
    try:
        results = vbmc.optimize()[1]
    except TimeUp:
        failure, lost_from = "not done in the worker's time", problem.evaluations + 1
    except Exception as error:  # the iteration that ends here raises at this budget too
        failure, lost_from = f"{type(error).__name__}: {error}", problem.evaluations
    counts = np.array([int(n) for n in vbmc.iteration_history["func_count"]])
    for budget in sorted(budgets):
        reached = np.flatnonzero(counts <= budget)
        if results is None and budget >= lost_from:
            yield Estimate(budget, error_text=failure)
        elif results is not None and budget >= problem.evaluations:
            yield Estimate.normal(budget, results["elbo"], results["elbo_sd"])
        elif reached.size == 0:
            yield Estimate(budget, error_text="no iteration within the budget")
        else:
            yield ended(vbmc, budget, int(reached[-1]), int(counts[reached[-1]]))


# Stands for -inf, which it refuses.
LOWEST = -1e10


def ended(vbmc: Any, budget: int, iteration: int, evaluations: int) -> Estimate:
    """What the run would have returned here: the best posterior so far, with a final boost."""
    best, _, _, index = vbmc.determine_best_vp(max_idx=iteration)
    _, elbo, sd, _ = vbmc.final_boost(best, vbmc.get_gp(index))
    return Estimate.normal(budget, elbo, sd, evaluations)

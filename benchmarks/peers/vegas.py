"""vegas: adaptive importance and stratified sampling of f itself."""

from __future__ import annotations

import functools
import math
from typing import Any, Iterator

import numpy as np

from benchmarks.peers import FINISH, NORMAL_95, Estimate
from benchmarks.peers.coordinates import log_f_of_cubes
from benchmarks.suite import ALL

# Within a budget: one iteration to adapt the map, one on it. More and shorter ones have larger
# errors on the suite.
ITERATIONS = 2
# Its documentation's run: ten iterations of a thousand points to adapt, thrown away, and as many
# again.
FINISH_ITERATIONS, FINISH_POINTS = 10, 1000
# Values further below the largest f count as this far below. Their squares are doubles still, and
# their share is nothing.
LOWEST = -300.0


@functools.lru_cache(maxsize=1)
def largest(name: str) -> float:
    """The largest log f found by Sobol' points and the simplex method from the best of them."""
    from scipy.optimize import minimize
    from scipy.stats import qmc

    problem = ALL[name]
    cube = qmc.Sobol(problem.d, seed=0).random(2**13)
    log_f = problem.log_likelihoods(problem.transform(cube))
    found = [float(log_f.max())]
    for start in np.argsort(log_f)[-5:]:
        climb = minimize(
            lambda u: -max(problem.log_likelihood(problem.transform(u)), -1e300),
            cube[start],
            method="Nelder-Mead",
            bounds=problem.d * [(0, 1)],
        )
        found.append(-float(climb.fun))
    return max(found)


class Density:
    """f on the unit cube as vegas takes it: not its log, but in units of the largest f.

    That is a favour: nobody knows the largest f beforehand, and its search is not counted. Without
    it f overflows or is 0 everywhere.
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.top = largest(problem.name)

    def __call__(self, u: Any) -> np.ndarray:
        return np.exp(np.clip(log_f_of_cubes(self.problem, u) - self.top, LOWEST, -LOWEST))


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """A run for each budget."""
    import gvar
    import vegas

    for budget in budgets:
        density = Density(problem)
        problem.restart()
        gvar.ranseed(seed)
        batch = vegas.lbatchintegrand(density)
        integrator = vegas.Integrator(problem.d * [[0.0, 1.0]])
        if budget == FINISH:
            integrator(batch, nitn=FINISH_ITERATIONS, neval=FINISH_POINTS)
            found = integrator(batch, nitn=FINISH_ITERATIONS, neval=FINISH_POINTS)
        else:
            found = integrator(batch, nitn=ITERATIONS, neval=budget // ITERATIONS)
        yield estimate(budget, found.mean, found.sdev, density.top)


def estimate(budget: Any, mean: float, sd: float, top: float) -> Estimate:
    """On the scale of log Z; a lower end at or below 0 is the smallest positive number."""
    if not mean > 0:
        return Estimate(budget, error_text=f"Z is {mean:g} in units of the largest f")
    low, high = (
        math.log(max(mean + side * NORMAL_95 * sd, np.finfo(float).tiny)) for side in (-1, 1)
    )
    return Estimate(budget, math.log(mean) + top, low + top, high + top)

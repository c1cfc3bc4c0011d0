"""vegas: adaptive importance and stratified sampling of f itself."""

from __future__ import annotations

import math
from typing import Any, Iterator

import numpy as np

from benchmarks.peers import FINISH, NORMAL_95, Estimate
from benchmarks.peers.coordinates import log_f_of_cubes

# Within a budget: one iteration to adapt the map, one on it. More and shorter ones have larger errors on the suite.
ITERATIONS = 2
# Its documentation's run: ten iterations of a thousand points to adapt, thrown away, and as many again.
FINISH_ITERATIONS, FINISH_POINTS = 10, 1000
# A value e^600 above the largest of the first batch is cut there: e^709 is no double.
HIGHEST = 600.0


class Density:
    """f on the unit cube as vegas takes it: not its log, but in units of the largest f of the first batch."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.top: float | None = None

    def __call__(self, u: Any) -> np.ndarray:
        log_f = log_f_of_cubes(self.problem, u)
        if self.top is None and log_f.max() > -math.inf:
            self.top = float(log_f.max())
        return np.exp(np.minimum(log_f - (self.top or 0.0), HIGHEST))


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """A run for each budget."""
    import gvar
    import vegas

    for budget in budgets:
        problem.restart()
        gvar.ranseed(seed)
        density = Density(problem)
        batch = vegas.lbatchintegrand(density)
        integrator = vegas.Integrator(problem.d * [[0.0, 1.0]])
        if budget == FINISH:
            integrator(batch, nitn=FINISH_ITERATIONS, neval=FINISH_POINTS)
            found = integrator(batch, nitn=FINISH_ITERATIONS, neval=FINISH_POINTS)
        else:
            found = integrator(batch, nitn=ITERATIONS, neval=budget // ITERATIONS)
        yield estimate(budget, found.mean, found.sdev, density.top or 0.0)


def estimate(budget: Any, mean: float, sd: float, top: float) -> Estimate:
    """On the scale of log Z; a lower end at or below 0 is the smallest positive number."""
    if not mean > 0:
        return Estimate(budget, error_text=f"Z is {mean:g} in units of the largest f of the first batch")
    low, high = (math.log(max(mean + side * NORMAL_95 * sd, np.finfo(float).tiny)) for side in (-1, 1))
    return Estimate(budget, math.log(mean) + top, low + top, high + top)

"""Emukit's WSABI-L: the square-root warp with active sampling, over GPy."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from benchmarks.peers import Estimate
from benchmarks.peers.coordinates import Standard

# Where emukit's own loop looks, in standard deviations of a Gaussian measure.
REACH = 10.0


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """Estimates at all budgets from one run of its loop.

    Emukit has WSABI-L for the squared exponential kernel and a Gaussian measure only: see
    `Standard`. It works on f itself: f is divided by the largest value met so far, and all values
    are given afresh when a larger one comes.
    """
    import GPy
    from emukit.core import ContinuousParameter, ParameterSpace
    from emukit.core.loop import SequentialPointCalculator
    from emukit.core.optimization import GradientAcquisitionOptimizer
    from emukit.model_wrappers.gpy_quadrature_wrappers import create_emukit_model_from_gpy_model
    from emukit.quadrature.acquisitions import UncertaintySampling
    from emukit.quadrature.measures import GaussianMeasure
    from emukit.quadrature.methods import WSABIL

    d = problem.d
    np.random.seed(seed)
    standard = Standard(problem)
    points = list(standard.start(5 * d, np.random.default_rng(seed)))
    log_f = [standard.log_f(t) for t in points]

    def data() -> tuple[np.ndarray, np.ndarray, float]:
        top = max(log_f)
        top = 0.0 if top == -np.inf else top
        return np.array(points), np.exp(np.array(log_f) - top)[:, None], top

    x, y, top = data()
    gpy = GPy.models.GPRegression(x, y, GPy.kern.RBF(d, lengthscale=1.0, variance=1.0))
    base = create_emukit_model_from_gpy_model(gpy, measure=GaussianMeasure(np.zeros(d), 1.0))
    model = WSABIL(base, x, y)
    # The parts of emukit's WSABILLoop, in its order: fit after every point, then maximise the
    # acquisition by gradients.
    space = ParameterSpace(
        [ContinuousParameter(f"t{i}", *ends) for i, ends in enumerate(standard.bounds(REACH))]
    )
    calculator = SequentialPointCalculator(
        UncertaintySampling(model, measure_power=1), GradientAcquisitionOptimizer(space)
    )
    model.optimize()
    for budget in sorted(budgets):
        while len(points) < budget:
            t = calculator.compute_next_points(None)[0]
            points.append(t)
            log_f.append(standard.log_f(t))
            x, y, top = data()
            model.set_data(x, y)
            model.optimize()
        mean, _ = model.integrate()
        if mean > 0:
            yield Estimate(budget, float(np.log(mean) + top))
        else:
            yield Estimate(budget, error_text=f"Z is negative: {mean:g} of the largest f")

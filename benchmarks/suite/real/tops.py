"""Find the tops of a posterior by climbing from draws of the prior, and particles about each.

Tempering loses a narrow mode where a wide one has far more of the mass at every stage before the
last. A climb has no stages: it ends on the top that it starts below.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from .. import sampling
from ..problem import Array, Problem

# Climbs, and of their tops those whose particles are kept.
STARTS, KEPT = 40, 12
# Tops so many nats below the best have no weight, whatever their width.
BELOW = 40.0
# Step of a numerical slope: a tenth of the narrowest posterior of all, in scores.
STEP = 3e-8
# Particles about a top, and their steps.
AROUND, STEPS = 100, 200
# Stands for a density of 0 in a search that wants numbers.
NOWHERE = -1e100


def log_density(problem: Problem, z: Array) -> Array:
    """The log of the likelihood times the prior's density, in scores."""
    return np.maximum(sampling.log_f(problem, z) + sampling.log_standard(z), NOWHERE)


def climbed(problem: Problem, start: Array) -> tuple[Array, float]:
    """The top above a start, and the log density there."""
    sides = STEP * np.vstack([np.eye(problem.d), -np.eye(problem.d)])

    def down(z: Array) -> tuple[float, Array]:
        values = log_density(problem, np.vstack([z, z + sides]))
        up, back = values[1:].reshape(2, -1)
        return -float(values[0]), (back - up) / (2.0 * STEP)

    z = start
    # A new start forgets the curvature of where it came from.
    for _ in range(3):
        found = minimize(down, z, jac=True, method="L-BFGS-B", bounds=[(-8.0, 8.0)] * problem.d, options={"maxiter": 500})
        z = found.x
    return z, -float(found.fun)


def reach(problem: Problem, top: Array, value: float) -> Array:
    """Along each score, how far the log density falls by no more than 1, to within a factor of
    3."""
    steps = 3.0 ** np.arange(-18, 1)
    out = []
    for axis in np.eye(problem.d):
        both = np.vstack([top + s * axis for s in (*steps, *-steps)])
        low = log_density(problem, both).reshape(2, -1).min(0) < value - 1.0
        out.append(steps[max(int(np.argmax(low)) - 1, 0)] if low.any() else steps[-1])
    return np.array(out)


def around(problem: Problem, seed: int) -> Array:
    """Particles about the best tops, as many for each, spread by Metropolis steps of their own."""
    rng = np.random.default_rng(seed)
    found = sorted((climbed(problem, z) for z in rng.standard_normal((STARTS, problem.d))), key=lambda top: -top[1])
    best = [found[0]]
    for z, value in found[1:]:
        # Two climbs to one top end at one value.
        if found[0][1] - BELOW < value < best[-1][1] - 0.01 and len(best) < KEPT:
            best.append((z, value))
    clouds = []
    for top, value in best:
        cloud = top + reach(problem, top, value) / np.sqrt(problem.d) * rng.standard_normal((AROUND, problem.d))
        clouds.append(sampling.moved(problem, cloud, 1, STEPS, rng)[0])
    return np.concatenate(clouds)

"""ProbNum's Bayesian quadrature: a process on f itself, nodes by integral variance reduction."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from benchmarks.peers import NORMAL_95, Estimate
from benchmarks.peers.coordinates import FARTHEST, all_normal, log_f_of_cube

# Lengthscales to choose from, in units of the cube's edge or of the prior's standard deviation:
# from the distance of neighbours in a design of the largest budget to a function without features.
LENGTHSCALES = np.geomspace(0.01, 3.0, 25)
# ProbNum's own jitter, as a part of the kernel's variance.
JITTER = 1e-8
# Candidates of each node, ten times ProbNum's own number. Its optimiser without gradients takes 0.1
# s for each node in two dimensions.
CANDIDATES = 1000


def run(problem: Any, budgets: Any, seed: int) -> Iterator[Estimate]:
    """Estimates at all budgets from one run.

    ProbNum fits the scale of its kernel and leaves the lengthscale to its user. Here the marginal
    likelihood chooses it after the initial design of 5 d points, and again whenever the nodes have
    doubled and at each budget. f is in units of the largest so far.
    """
    from probnum.quad.integration_measures import GaussianMeasure, LebesgueMeasure
    from scipy.special import ndtr

    d = problem.d
    rng = np.random.default_rng(seed)
    normal = all_normal(problem)
    measure = (
        GaussianMeasure(np.zeros(d), np.eye(d))
        if normal
        else LebesgueMeasure((np.zeros(d), np.ones(d)), normalized=True)
    )

    def log_f(points: np.ndarray) -> np.ndarray:
        cube = ndtr(np.clip(points, -FARTHEST, FARTHEST)) if normal else np.clip(points, 0.0, 1.0)
        return np.array([log_f_of_cube(problem, u) for u in cube])

    quadrature = Quadrature(measure, d, log_f, rng)
    quadrature.begin()
    for budget in sorted(budgets):
        while len(quadrature.nodes) < budget:
            quadrature.grow(min(budget, 2 * len(quadrature.nodes)))
        yield quadrature.estimate(budget)


class Quadrature:
    """A run that can be gone on with, at another lengthscale and in another unit of f."""

    def __init__(self, measure: Any, d: int, log_f: Any, rng: np.random.Generator) -> None:
        self.measure, self.d, self.log_f, self.rng = measure, d, log_f, rng
        self.nodes = np.empty((0, d))
        self.values = np.empty(0)

    def method(self, most: int, initial: bool) -> Any:
        """ProbNum's method, up to so many evaluations."""
        from probnum.quad.solvers import BayesianQuadrature
        from probnum.randprocs.kernels import ExpQuad

        method = BayesianQuadrature.from_problem(
            input_dim=self.d,
            kernel=ExpQuad((self.d,), lengthscales=self.lengthscale()),
            measure=self.measure,
            policy="ivr_rand",
            initial_design="latin" if initial and self.bounded else "mc" if initial else None,
            options={"max_evals": most, "jitter": JITTER, "n_candidates": CANDIDATES},
        )
        # Version 0.1.25 gives its policy the class of the acquisition function where an object is
        # wanted, and fails at the first node.
        method.policy.acquisition_func = method.policy.acquisition_func()
        return method

    @property
    def bounded(self) -> bool:
        return np.isfinite(self.measure.domain[0]).all()

    def lengthscale(self) -> float:
        """That of the largest marginal likelihood, the scale at its own maximum."""
        if len(self.nodes) == 0:
            return 1.0
        y = self.f()
        squares = ((self.nodes[:, None] - self.nodes[None]) ** 2).sum(-1)

        def log_likelihood(scale: float) -> float:
            gram = np.exp(-squares / (2 * scale**2)) + JITTER * np.eye(len(y))
            lower = np.linalg.cholesky(gram)
            white = np.linalg.solve(lower, y)
            return -0.5 * len(y) * np.log(white @ white) - np.log(np.diag(lower)).sum()

        return float(max(LENGTHSCALES, key=log_likelihood))

    @property
    def top(self) -> float:
        top = self.values.max()
        return float(top) if np.isfinite(top) else 0.0

    def f(self) -> np.ndarray:
        return np.exp(self.values - self.top)

    def begin(self) -> None:
        """The initial design: a Latin hypercube, or draws where the measure has no bounds."""
        design = self.method(5 * self.d, True).initial_design
        self.add(np.asarray(design(self.rng)))

    def add(self, points: np.ndarray) -> np.ndarray:
        values = self.log_f(points)
        self.nodes = np.concatenate([self.nodes, points])
        self.values = np.concatenate([self.values, values])
        return values

    def grow(self, most: int) -> None:
        """Go on to so many nodes."""
        top = self.top

        def f(points: np.ndarray) -> np.ndarray:
            # A value far above all others is cut for the choice of the next few nodes; it is kept
            # as it is.
            return np.exp(np.minimum(self.add(np.asarray(points)) - top, 300.0))

        self.method(most, False).integrate(
            fun=f, nodes=self.nodes, fun_evals=self.f(), rng=self.rng
        )

    def estimate(self, budget: int) -> Estimate:
        """What all nodes say, and its normal law on the scale of log Z."""
        from probnum.quad import bayesquad_from_data
        from probnum.randprocs.kernels import ExpQuad

        kernel = ExpQuad((self.d,), lengthscales=self.lengthscale())
        law, _ = bayesquad_from_data(
            self.nodes, self.f(), kernel=kernel, measure=self.measure, options={"jitter": JITTER}
        )
        mean, sd = float(np.squeeze(law.mean)), float(np.sqrt(np.squeeze(law.var)))
        if not mean > 0:
            return Estimate(budget, error_text=f"Z is {mean:g} in units of the largest f")
        low, high = np.log(
            np.maximum([mean - NORMAL_95 * sd, mean + NORMAL_95 * sd], np.finfo(float).tiny)
        )
        return Estimate(
            budget, float(np.log(mean)) + self.top, float(low) + self.top, float(high) + self.top
        )

"""Take the joint density of a Stan model, through BridgeStan, against a reference measure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._ported import Problem
from warpquad._priors import Priors, multivariate_normal, read

Array = npt.NDArray[np.float64]

# Where climbs to the modes start: at Stan's origin and at points of its own inits, within 2 of it.
STARTS = 6
# A climb is held to about the origin by a normal law so many units wide: an improper direction has
# no top, and a unit of Stan's free coordinates is a factor e or a standard deviation as a rule.
HOLD = 10.0
# The reference measure is so many times wider than the modes: its tails must not be thinner than
# those of the posterior.
WIDER = 2.0
# Modes of less than this part of the largest one's mass are left to the integration.
LEAST_NATS = 20.0
# The step of differences of gradients, in units of Stan's free coordinates.
STEP = 1e-4


def from_stan(model: Any, *, seed: int = 0) -> Problem:
    """The joint density of a Stan model with its data: a `bridgestan.StanModel`.

    Stan says the joint density of parameters and data, all constants and Jacobians included, on
    its own unconstrained coordinates. Its integral is the evidence. The density is integrated
    against a normal law around its modes, which climbs with Stan's gradients find: some hundred
    gradients that the budget does not pay for. Points and draws are the model's own, constrained
    parameters, with Stan's own indices: `beta[1]` is the first. Where they are more numbers than
    there are coordinates, as of a simplex, they are derived quantities, and the parameters are
    `unconstrained(p[1])` and so on.

    Statements like `target += normal_lupdf(...)` drop constants even so: write `normal_lpdf`, or
    `y ~ normal(...)`, for an evidence.

    >>> import bridgestan                                            # doctest: +SKIP
    >>> model = bridgestan.StanModel("model.stan", data="data.json") # doctest: +SKIP
    >>> r = wq.integrate(wq.from_stan(model), budget=60)             # doctest: +SKIP
    """
    for method in ("log_density_gradient", "param_constrain", "param_unconstrain", "param_unc_names"):
        if not callable(getattr(model, method, None)):
            raise SpecError.of(
                "model", f"must be a bridgestan.StanModel, got {model!r}; make one with "
                "bridgestan.StanModel('model.stan', data='data.json')"
            )
    if model.param_unc_num() == 0:
        raise SpecError.of("model", "has no parameter to integrate over")
    density = Density(model)
    center, covariance = reference(density, seed)
    unconstrained = [f"unconstrained({named(name)})" for name in model.param_unc_names()]
    plain = read(multivariate_normal(center, covariance), names=unconstrained)
    if not _is_one_to_one(model, center, covariance, seed):
        return Problem(Against(density, center, covariance, derived=True), plain)
    names = [named(name) for name in model.param_names()]
    priors = Priors(names, plain.text, unconstrained, keyed=True, transform=Constrain(model))
    return Problem(Against(density, center, covariance, unconstrain=True), priors)


def named(name: str) -> str:
    """`beta.2.1` in brackets: beta[2, 1]."""
    base, *indices = name.split(".")
    return f"{base}[{', '.join(indices)}]" if indices else base


class Density:
    """ln of the joint density on Stan's coordinates, with every constant and Jacobian."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, theta: Array) -> float:
        try:
            value = float(self.model.log_density(theta, propto=False, jacobian=True))
        except RuntimeError:  # Stan's way to reject a point
            return -math.inf
        return -math.inf if math.isnan(value) else value

    def with_gradient(self, theta: Array) -> tuple[float, Array]:
        """The same with its gradient; zero where Stan rejects the point."""
        try:
            value, slope = self.model.log_density_gradient(theta, propto=False, jacobian=True)
        except RuntimeError:
            return -math.inf, np.zeros_like(theta)
        slope = np.array(slope, dtype=float)
        fine = math.isfinite(value) and bool(np.isfinite(slope).all())
        return (float(value), slope) if fine else (-math.inf, np.zeros_like(theta))


class Constrain:
    """The model's own parameters of Stan's coordinates."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, theta: Array) -> Array:
        return np.array(self.model.param_constrain(np.ascontiguousarray(theta)), dtype=float)


class Against:
    """The joint density over that of the reference measure."""

    def __init__(
        self,
        density: Density,
        center: Array,
        covariance: Array,
        unconstrain: bool = False,
        derived: bool = False,
    ) -> None:
        self.density, self.center = density, center
        self.unconstrain, self.derived = unconstrain, derived
        self.factor = np.linalg.cholesky(covariance)
        ln_volume = np.log(np.diag(self.factor)).sum() + 0.5 * len(center) * math.log(2 * math.pi)
        self.ln_top = -float(ln_volume)

    def __call__(self, x: Array) -> Any:
        x = np.ascontiguousarray(x, dtype=float)
        model = self.density.model
        theta = np.array(model.param_unconstrain(x), dtype=float) if self.unconstrain else x
        t = np.linalg.solve(self.factor, theta - self.center)
        log_f = self.density(theta) - (self.ln_top - 0.5 * float(t @ t))
        if not self.derived:
            return log_f
        values = np.asarray(model.param_constrain(theta), dtype=float)
        return log_f, {named(name): float(value) for name, value in zip(model.param_names(), values)}


def reference(density: Density, seed: int) -> tuple[Array, Array]:
    """The mean and the covariance of a normal law that covers the modes of a density."""
    dim = density.model.param_unc_num()
    rng = np.random.default_rng(seed)
    starts = [np.zeros(dim), *rng.uniform(-2, 2, (STARTS - 1, dim))]
    modes: list[tuple[float, Array, Array]] = []
    for start in starts:
        found = _mode(density, start)
        if found is None:
            continue
        theta, covariance = found
        apart = (theta - other for _, other, _ in modes)
        if any(float(a @ np.linalg.solve(covariance, a)) < 0.1 for a in apart):
            continue
        _, ln_volume = np.linalg.slogdet(covariance)
        modes.append((density(theta) + 0.5 * float(ln_volume), theta, covariance))
    if not modes:
        raise SpecError.of(
            "model", f"its density is 0, or has no gradient, at Stan's origin and at {STARTS - 1} points around it; "
            "check the data, or give log_f and priors yourself"
        )
    most = max(ln_mass for ln_mass, _, _ in modes)
    kept = [(theta, covariance) for ln_mass, theta, covariance in modes if ln_mass > most - LEAST_NATS]
    center = np.mean([theta for theta, _ in kept], axis=0)
    own = np.mean([covariance for _, covariance in kept], axis=0)
    between = np.mean([np.outer(theta - center, theta - center) for theta, _ in kept], axis=0)
    return center, WIDER**2 * own + between


def _mode(density: Density, start: Array) -> tuple[Array, Array] | None:
    """A mode that a climb from a point ends at, and the covariance of its normal approximation."""
    try:
        from scipy.optimize import minimize  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError("wq.from_stan needs scipy: pip install warpquad[bridgestan]") from error

    def downhill(theta: Array) -> tuple[float, Array]:
        value, slope = density.with_gradient(theta)
        held = 0.5 * float(theta @ theta) / HOLD**2
        # A finite wall, from which the climb turns back.
        return (held - value if math.isfinite(value) else 1e300), theta / HOLD**2 - slope

    if not math.isfinite(density(start)):
        return None
    theta = np.asarray(minimize(downhill, start, jac=True, method="BFGS").x, dtype=float)
    hessian = np.empty((theta.size, theta.size))
    for i in range(theta.size):
        step = np.zeros(theta.size)
        step[i] = STEP
        hessian[i] = (downhill(theta + step)[1] - downhill(theta - step)[1]) / (2 * STEP)
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    if not np.isfinite(values).all():
        return None
    # No direction is wider than what holds the climb.
    covariance = (vectors / np.maximum(values, 1 / HOLD**2)) @ vectors.T
    return theta, 0.5 * (covariance + covariance.T)


def _is_one_to_one(model: Any, center: Array, covariance: Array, seed: int) -> bool:
    """Whether constrained parameters are as many numbers as there are coordinates, and give these
    back."""
    if model.param_num() != model.param_unc_num():
        return False
    rng = np.random.default_rng(seed)
    for theta in rng.multivariate_normal(center, covariance, 5):
        x = np.array(model.param_constrain(theta), dtype=float)
        try:
            back = np.array(model.param_unconstrain(x), dtype=float)
        except RuntimeError:
            return False
        if not np.allclose(back, theta, rtol=1e-6, atol=1e-6):
            return False
    return True

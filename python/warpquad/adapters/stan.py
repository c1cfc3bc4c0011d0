"""Take the joint density of a Stan model, through BridgeStan, against a reference measure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._ported import Problem
from warpquad._priors import Priors
from warpquad.adapters._joint import Against, on_coordinates, reference

Array = npt.NDArray[np.float64]

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
    plain = on_coordinates(density, center, covariance)
    if not _is_one_to_one(model, center, covariance, seed):
        return Problem(Against(density, center, covariance), plain)
    names = [named(name) for name in model.param_names()]
    priors = Priors(names, plain.text, plain.names, keyed=True, transform=Constrain(model))
    return Problem(OfParameters(density, center, covariance), priors)


def named(name: str) -> str:
    """`beta.2.1` in brackets: beta[2, 1]."""
    base, *indices = name.split(".")
    return f"{base}[{', '.join(indices)}]" if indices else base


class Density:
    """ln of the joint density on Stan's coordinates, with every constant and Jacobian."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def names(self) -> list[str]:
        """The names of Stan's coordinates."""
        return [named(name) for name in self.model.param_unc_names()]

    def derived(self, theta: Array) -> dict[str, float]:
        """The model's own parameters."""
        values = np.asarray(self.model.param_constrain(theta), dtype=float)
        return {named(name): float(value) for name, value in zip(self.model.param_names(), values)}

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


class OfParameters(Against):
    """The ratio of the densities, of the model's own parameters."""

    density: Density

    def __call__(self, x: Array) -> float:
        x = np.ascontiguousarray(x, dtype=float)
        return self.ln_ratio(np.array(self.density.model.param_unconstrain(x), dtype=float))


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

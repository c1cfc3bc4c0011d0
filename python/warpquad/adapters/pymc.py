"""Take the prior and the likelihood from a model of PyMC."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._ported import Layout, Problem
from warpquad._priors import Prior
from warpquad.adapters._joint import problem

Array = npt.NDArray[np.float64]

# Distributions of PyMC that the core has too, by their parameters as PyMC's graph has them.
LAWS: dict[str, Callable[..., Prior | None]] = {
    "Uniform": lambda lower, upper: Prior("uniform", (lower, upper)),
    "Normal": lambda mu, sigma: Prior("normal", (mu, sigma)),
    "HalfNormal": lambda loc, sigma: Prior("half-normal", (sigma,)) if loc == 0 else None,
    "HalfCauchy": lambda beta: Prior("half-cauchy", (beta,)),
    "LogNormal": lambda mu, sigma: Prior("log-normal", (mu, sigma)),
    "Exponential": lambda scale: Prior("exponential", (1 / scale,)),
    "Gamma": lambda alpha, scale: Prior("gamma", (alpha, 1 / scale)),
    "Beta": lambda alpha, beta: Prior("beta", (alpha, beta)),
    "StudentT": lambda nu, mu, sigma: Prior("student-t", (nu, mu, sigma)),
    "Cauchy": lambda alpha, beta: Prior("cauchy", (alpha, beta)),
}


def from_pymc(model: Any, *, seed: int = 0) -> Problem:
    """The prior and the likelihood of a PyMC model.

    Independent variables with a law that the core has keep it. Where one depends on another, or has
    another law, the whole prior becomes a transform of the unit cube by PyMC's quantile functions,
    variable after variable, which is exact. Observed variables and potentials are the likelihood.
    Values are the model's own: no transform or Jacobian is left to the user.

    A variable without a quantile function, such as a Dirichlet, leaves no prior apart. Then the
    joint density of parameters and data, on PyMC's coordinates without bounds, is integrated
    against a normal law around its modes, which climbs with PyMC's gradients find; `seed` is of
    their starts. The model's own parameters are derived quantities.

    >>> import pymc as pm                                         # doctest: +SKIP
    >>> with pm.Model() as model:                                 # doctest: +SKIP
    ...     mu = pm.Normal("mu", 0, 1)
    ...     pm.Normal("y", mu, 1, observed=[0.1, 0.4])
    >>> r = wq.integrate(wq.from_pymc(model), budget=40)          # doctest: +SKIP
    """
    import pytensor.tensor as tensor  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from pymc.model.transform.conditioning import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        remove_value_transforms,
    )

    bare = remove_value_transforms(model)
    # In the order in which they were written: each after those that it depends on.
    free = [bare[rv.name] for rv in model.free_RVs]
    if not free:
        raise SpecError.of("model", "has no free variable to integrate over")
    shapes = {rv.name: tuple(int(n) for n in tensor.shape(rv).eval()) for rv in free}
    for rv in free:
        if rv.dtype.startswith(("int", "uint", "bool")):
            raise SpecError.of("model", f"{rv.name} is discrete; sum it out of the likelihood first")
    layout = Layout(shapes)
    said = bare.observed_RVs + bare.potentials
    if not said:
        raise SpecError.of("model", "has neither observed variables nor potentials, so f is 1 everywhere")
    log_f = LogLikelihood(bare.compile_logp(vars=said, jacobian=False), layout)
    laws = {rv.name: _law(rv, shapes[rv.name]) for rv in free}
    if all(law is not None for law in laws.values()):
        return Problem(log_f, laws)
    if not all(_has_quantiles(rv) for rv in free):
        return problem(Joint(model), seed)
    return Problem(log_f, Transform(_quantiles(free), layout), layout.names)


class LogLikelihood:
    """A compiled log density, of an array."""

    def __init__(self, compiled: Callable[[dict[str, Array]], Any], layout: Layout) -> None:
        self.compiled, self.layout = compiled, layout

    def __call__(self, x: Array) -> float:
        return float(self.compiled(self.layout.split(x)))


class Joint:
    """ln of the joint density on PyMC's own coordinates, with their Jacobians."""

    def __init__(self, model: Any) -> None:
        start = model.initial_point()
        self.layout = Layout({rv.name: np.shape(start[rv.name]) for rv in model.value_vars})
        self.logp = model.compile_logp()
        self.dlogp = model.compile_dlogp()
        variables = [rv for rv in model.unobserved_value_vars if rv.name not in self.layout.shapes]
        variables += [model.rvs_to_values[rv] for rv in model.free_RVs if model.rvs_to_transforms[rv] is None]
        self.values = model.compile_fn(variables, inputs=model.value_vars, on_unused_input="ignore")
        self.own = [variable.name for variable in variables]

    @property
    def names(self) -> list[str]:
        """The names of the coordinates."""
        return self.layout.names

    def __call__(self, theta: Array) -> float:
        value = float(self.logp(self.layout.split(theta)))
        return -math.inf if math.isnan(value) else value

    def with_gradient(self, theta: Array) -> tuple[float, Array]:
        """The same with its gradient."""
        return self(theta), np.asarray(self.dlogp(self.layout.split(theta)), dtype=float)

    def derived(self, theta: Array) -> dict[str, float]:
        """The model's own parameters, and what is deterministic."""
        found = self.values(self.layout.split(theta))
        own = Layout({name: np.shape(value) for name, value in zip(self.own, found)})
        return dict(zip(own.names, own.join(found).tolist()))


class Transform:
    """The prior as a transform of the unit cube."""

    def __init__(self, compiled: Callable[..., list[Array]], layout: Layout) -> None:
        self.compiled, self.layout = compiled, layout

    def __call__(self, u: Array) -> Array:
        return self.layout.join(self.compiled(*self.layout.split(u).values()))


def _law(rv: Any, shape: tuple[int, ...]) -> Prior | None:
    """The core's own law of a variable, if it has one that depends on nothing."""
    from pytensor.graph.traversal import explicit_graph_inputs  # type: ignore[import-untyped, import-not-found, unused-ignore]

    op = rv.owner.op
    make = LAWS.get(type(op).__name__.removesuffix("RV"))
    if make is None or len(shape) > 1 or not type(op).__module__.startswith(("pytensor.", "pymc.")):
        return None
    parameters = op.dist_params(rv.owner)
    if list(explicit_graph_inputs(parameters)) or _random(parameters):
        return None
    values = [np.unique(parameter.eval()) for parameter in parameters]
    if any(value.size != 1 for value in values):
        return None
    law = make(*(float(value[0]) for value in values))
    return law if law is None or not shape else Prior(law.name, law.numbers, shape[0])


def _random(variables: list[Any]) -> bool:
    """Whether a random variable stands behind some others."""
    from pytensor.graph.traversal import ancestors  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from pytensor.tensor.random.op import RandomVariable  # type: ignore[import-untyped, import-not-found, unused-ignore]

    owners = (variable.owner for variable in ancestors(variables) if variable.owner is not None)
    return any(isinstance(owner.op, RandomVariable) for owner in owners)


def _has_quantiles(rv: Any) -> bool:
    """Whether PyMC has the quantile function of a variable's law."""
    import pymc  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import pytensor.tensor as tensor  # type: ignore[import-untyped, import-not-found, unused-ignore]

    try:
        pymc.icdf(rv, tensor.tensor(shape=rv.type.shape, dtype="float64"))
    except NotImplementedError:
        return False
    return True


def _quantiles(free: list[Any]) -> Callable[..., list[Array]]:
    """All variables as functions of the unit cube; each is given those before it."""
    import pymc  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import pytensor
    import pytensor.tensor as tensor
    from pytensor.graph.replace import clone_replace  # type: ignore[import-untyped, import-not-found, unused-ignore]

    cube, out = [], []
    known: dict[Any, Any] = {}
    for rv in free:
        u = tensor.tensor(f"{rv.name}_u", shape=rv.type.shape, dtype="float64")
        x = pymc.icdf(rv, u)
        (x,) = clone_replace([x], replace=known) if known else [x]
        known[rv] = x.astype(rv.dtype)
        cube.append(u)
        out.append(x)
    compiled: Callable[..., list[Array]] = pytensor.function(cube, out, on_unused_input="ignore")
    return compiled

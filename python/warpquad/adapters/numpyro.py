"""Take the prior and the likelihood from a model of NumPyro."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._ported import Layout, Problem
from warpquad.adapters._joint import problem

Array = npt.NDArray[np.float64]


def from_numpyro(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Problem:
    """The prior and the likelihood of a NumPyro model with its arguments.

    The prior is a transform of the unit cube by NumPyro's quantile functions, site after site, so
    that a site may depend on those before it. Observed sites and factors are the likelihood. Both
    are compiled, in double precision.

    A site without a quantile function, such as a Dirichlet, leaves no prior apart. Then the joint
    density, on NumPyro's coordinates without bounds, is integrated against a normal law around its
    modes, which climbs with gradients find. The model's own parameters are derived quantities.

    >>> import numpyro, numpyro.distributions as dist                # doctest: +SKIP
    >>> def model(y):                                                # doctest: +SKIP
    ...     mu = numpyro.sample("mu", dist.Normal(0, 1))
    ...     numpyro.sample("y", dist.Normal(mu, 1), obs=y)
    >>> r = wq.integrate(wq.from_numpyro(model, y), budget=40)       # doctest: +SKIP
    """
    import jax  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from numpyro import handlers  # type: ignore[import-untyped, import-not-found, unused-ignore]

    with _double():
        seeded = handlers.seed(model, jax.random.PRNGKey(0))
        sites = handlers.trace(seeded).get_trace(*args, **kwargs)
    free = {
        name: site for name, site in sites.items() if site["type"] == "sample" and not site["is_observed"]
    }
    if not free:
        raise SpecError.of("model", "has no free site to integrate over")
    if not all([_has_quantiles(name, site["fn"]) for name, site in free.items()]):
        values = {name: site["value"] for name, site in free.items()}
        return problem(Joint(seeded, args, kwargs, values), seed=0)
    layout = Layout({name: tuple(site["value"].shape) for name, site in free.items()})

    def transform(cube: Any) -> Any:
        def quantile(site: Any) -> Any:
            if site["type"] != "sample" or site["name"] not in free:
                return None
            return _base(site["fn"]).icdf(cube[site["name"]])

        placed = handlers.trace(handlers.substitute(seeded, substitute_fn=quantile))
        trace = placed.get_trace(*args, **kwargs)
        return [trace[name]["value"] for name in free]

    def log_likelihood(values: Any) -> Any:
        placed = handlers.trace(handlers.substitute(seeded, data=values))
        total = 0.0
        for site in placed.get_trace(*args, **kwargs).values():
            if site["type"] == "sample" and site["is_observed"]:
                scale = 1.0 if site["scale"] is None else site["scale"]
                total = total + scale * site["fn"].log_prob(site["value"]).sum()
        return total

    log_f, prior = Compiled(jax.jit(log_likelihood), layout), Transform(jax.jit(transform), layout)
    return Problem(log_f, prior, layout.names)


class Compiled:
    """A compiled log density, of an array."""

    def __init__(self, function: Callable[..., Any], layout: Layout) -> None:
        self.function, self.layout = function, layout

    def __call__(self, x: Array) -> float:
        with _double():
            return float(self.function(self.layout.split(x)))


class Joint:
    """ln of the joint density on NumPyro's coordinates without bounds, with their Jacobians."""

    def __init__(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], values: dict[str, Any]) -> None:
        import jax  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from numpyro.infer import util  # type: ignore[import-untyped, import-not-found, unused-ignore]

        def potential(z: Any) -> Any:
            return util.potential_energy(model, args, kwargs, z)

        def constrain(z: Any) -> Any:
            return util.constrain_fn(model, args, kwargs, z, return_deterministic=True)

        with _double():
            free = util.unconstrain_fn(model, args, kwargs, values)
        self.layout = Layout({name: np.shape(value) for name, value in free.items()})
        self.potential = jax.jit(jax.value_and_grad(potential))
        self.constrain = jax.jit(constrain)

    @property
    def names(self) -> list[str]:
        """The names of the coordinates."""
        return self.layout.names

    def __call__(self, theta: Array) -> float:
        return self.with_gradient(theta)[0]

    def with_gradient(self, theta: Array) -> tuple[float, Array]:
        """The same with its gradient."""
        with _double():
            value, slope = self.potential(self.layout.split(theta))
        minus = -float(value)
        joined = self.layout.join([slope[name] for name in self.layout.shapes])
        return (minus, -joined) if math.isfinite(minus) else (-math.inf, np.zeros_like(theta))

    def derived(self, theta: Array) -> dict[str, float]:
        """The model's own parameters, and what is deterministic."""
        with _double():
            found = self.constrain(self.layout.split(theta))
        own = Layout({name: np.shape(value) for name, value in found.items()})
        return dict(zip(own.names, own.join(list(found.values())).tolist()))


class Transform(Compiled):
    """A compiled prior transform."""

    def __call__(self, u: Array) -> Any:
        with _double():
            return self.layout.join(self.function(self.layout.split(u)))


def _double() -> Any:
    """Double precision while the context lasts."""
    import jax

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return jax.experimental.enable_x64(True)


def _base(law: Any) -> Any:
    """The law of single numbers behind one that `to_event` or `expand` made of them."""
    from numpyro import distributions  # type: ignore[import-untyped, import-not-found, unused-ignore]

    kinds = (distributions.Independent, distributions.MaskedDistribution, distributions.ExpandedDistribution)
    while isinstance(law, kinds):
        law = law.base_dist
    return law


def _has_quantiles(name: str, law: Any) -> bool:
    """Whether a site has a quantile function; a discrete one is refused."""
    base = _base(law)
    if base.support.is_discrete:
        raise SpecError.of("model", f"{name} is discrete; sum it out of the likelihood first")
    try:
        with _double():
            return bool(base.event_shape == () and np.isfinite(np.asarray(base.icdf(np.full(base.batch_shape, 0.5)))).all())
    except (NotImplementedError, TypeError):
        return False

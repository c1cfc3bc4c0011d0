"""Integrate with the arguments of nautilus' sampler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warpquad._errors import SpecError
from warpquad._integrate import integrate
from warpquad._result import Result
from warpquad.adapters._porting import Angled, Extended, angle, kept, places, tell_blobs, workers_of

# Options of Sampler and its run (nautilus 1.0) that steer its sampling.
UNUSED = frozenset(
    "n_live n_update enlarge_per_dim n_points_min split_threshold n_networks "
    "neural_network_kwargs n_batch n_like_new_bound filepath resume f_live n_shell n_eff "
    "discard_exploration verbose".split()
)


class Renamed:
    """A function of a dict in which some parameters go by a second name too."""

    def __init__(self, function: Callable[..., Any], aliases: Mapping[str, str]) -> None:
        self.function, self.aliases = function, dict(aliases)

    def __call__(self, p: dict[str, Any]) -> Any:
        return self.function({**p, **{name: p[other] for name, other in self.aliases.items()}})


def like_nautilus(
    prior: Any,
    likelihood: Callable[..., Any],
    n_dim: int | None = None,
    *,
    prior_args: Sequence[Any] = (),
    prior_kwargs: Mapping[str, Any] | None = None,
    likelihood_args: Sequence[Any] = (),
    likelihood_kwargs: Mapping[str, Any] | None = None,
    vectorized: bool = False,
    pass_dict: bool | None = None,
    periodic: Sequence[int] | None = None,
    pool: Any = None,
    blobs_dtype: Any = None,
    timeout: float | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> Result:
    """Integrate with the arguments of `nautilus.Sampler`.

    >>> import numpy as np
    >>> import warpquad as wq
    >>> def likelihood(x):
    ...     return -0.5 * np.sum(x**2)
    >>> r = wq.like_nautilus(lambda u: 10 * u - 5, likelihood, 2, budget=40, progress=False)
    >>> bool(abs(r.log_z - np.log(2 * np.pi / 100)) < 0.05)
    True

    Args:
        prior: a `nautilus.Prior`, fixed and equal parameters included, or a function of the unit
            cube; then `n_dim` is needed.
        likelihood: as nautilus takes it, and so are prior_args, prior_kwargs, likelihood_args,
            likelihood_kwargs, vectorized and pass_dict.
        periodic: the places of parameters that go once round a circle.
        pool: a number of processes, a pool, or two pools, of which the first evaluates.
        blobs_dtype: the likelihood returns blobs too; they are not kept.
        timeout: the seconds of the whole run.
        names: the parameters' names, where the prior is a function.
        options: those of `wq.integrate`, such as `budget=200` and `seed=`; `n_like_max` is another
            word for the budget. Options of nautilus that steer its sampling are left out, with a
            warning. To keep a run on disk, say `run=DIR` in place of `filepath`.
    """
    given = kept("nautilus", options, UNUSED, "n_like_max")
    if blobs_dtype is not None:
        tell_blobs("nautilus")
    if timeout is not None and timeout != float("inf"):
        given.setdefault("seconds", timeout)
    given = workers_of(pool[0] if isinstance(pool, tuple) else pool) | given
    log_f: Any = Extended(likelihood, likelihood_args, likelihood_kwargs, blob=True)
    if not hasattr(prior, "dists"):
        if n_dim is None and names is None:
            raise SpecError.of("n_dim", "is needed where the prior is a function")
        if pass_dict:
            raise SpecError.of("pass_dict", "needs a nautilus.Prior, which has names")
        transform = Angled(Extended(prior, prior_args, prior_kwargs), periodic, n_dim)
        return integrate(
            log_f, transform, names=names, dim=n_dim, argument="array", vectorized=vectorized, **given
        )
    laws = dict(zip(prior.keys, prior.dists))
    aliases = {name: law for name, law in laws.items() if isinstance(law, str)}
    priors = {name: law for name, law in laws.items() if name not in aliases}
    free = [name for name, law in priors.items() if hasattr(law, "isf")]
    for place in places(periodic, len(free)):
        priors[free[place]] = angle(priors[free[place]])
    if pass_dict is False:
        # The array has neither fixed numbers nor second names.
        priors = {name: law for name, law in priors.items() if hasattr(law, "isf")}
        return integrate(log_f, priors, argument="array", vectorized=vectorized, **given)
    renamed = Renamed(log_f, aliases) if aliases else log_f
    return integrate(renamed, priors, argument="dict", vectorized=vectorized, **given)

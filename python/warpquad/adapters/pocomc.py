"""Integrate with the arguments of pocoMC's sampler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warpquad._errors import SpecError
from warpquad._integrate import integrate
from warpquad._result import Result
from warpquad.adapters._porting import Extended, angle, kept, places, tell_blobs, workers_of

# Options of Sampler and its run (pocoMC 1.2) that steer its sampling.
UNUSED = frozenset(
    "n_effective n_active reflective transform pytorch_threads flow train_config "
    "train_frequency precondition dynamic metric n_prior sample n_steps n_max_steps resample "
    "output_dir output_label n_ess n_total n_evidence resume_state_path save_every".split()
)


def like_pocomc(
    prior: Any,
    likelihood: Callable[..., Any],
    n_dim: int | None = None,
    *,
    likelihood_args: Sequence[Any] | None = None,
    likelihood_kwargs: Mapping[str, Any] | None = None,
    vectorize: bool = False,
    periodic: Sequence[int] | None = None,
    blobs_dtype: Any = None,
    pool: Any = None,
    random_state: int | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> Result:
    """Integrate with the arguments of `pocomc.Sampler`.

    Args:
        prior: a `pocomc.Prior`, or its list of frozen distributions of scipy.stats.
        likelihood, likelihood_args, likelihood_kwargs, vectorize: as pocoMC takes them.
        n_dim: the number of parameters, which the prior says too.
        periodic: the places of parameters that go once round a circle.
        blobs_dtype: the likelihood returns blobs too; they are not kept.
        pool: a number of processes, or a pool.
        random_state: the seed.
        names: the parameters' names; x0, x1 and so on by default.
        options: those of `wq.integrate`, such as `budget=200`. Options of pocoMC that steer its
            sampling are left out, with a warning.

    >>> import warpquad as wq
    >>> likelihood = lambda x: -0.5 * x @ x
    >>> prior = [wq.uniform(-5, 5), wq.uniform(-5, 5)]
    >>> r = wq.like_pocomc(prior, likelihood, budget=40, progress=False)
    >>> abs(r.log_z + 2.767) < 0.05   # ln(2 pi / 100)
    True
    """
    given = kept("pocoMC", options, UNUSED, "budget")
    if blobs_dtype is not None:
        tell_blobs("pocoMC")
    if random_state is not None:
        given.setdefault("seed", random_state)
    laws = list(prior if isinstance(prior, (list, tuple)) else getattr(prior, "dists", ()))
    if not laws:
        raise SpecError.of(
            "prior", f"must be a pocomc.Prior or a list of distributions, got {prior!r}; "
            "where it has a quantile function, wq.like_dynesty takes that"
        )
    for place in places(periodic, len(laws)):
        laws[place] = angle(laws[place])
    known = [f"x{i}" for i in range(len(laws))] if names is None else list(names)
    if len(known) != len(laws) or n_dim not in (None, len(laws)):
        raise SpecError.of("prior", f"has {len(laws)} parameters, but n_dim is {n_dim} and there are {len(known)} names")
    given = workers_of(pool) | given
    log_f = Extended(likelihood, likelihood_args, likelihood_kwargs, blob=blobs_dtype is not None)
    return integrate(log_f, dict(zip(known, laws)), argument="array", vectorized=vectorize, **given)

"""Integrate with the arguments of dynesty's samplers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warpquad._integrate import integrate
from warpquad._result import Result
from warpquad.adapters._porting import Angled, Extended, kept, tell_blobs, workers_of

# Options of NestedSampler, DynamicNestedSampler and their run_nested (dynesty 3.1) that steer
# nested sampling.
UNUSED = frozenset(
    "nlive bound sample reflective update_interval first_update live_points enlarge "
    "bootstrap walks facc slices fmove max_move ncdim npdim save_evaluation_history "
    "history_filename gradient grad_args grad_kwargs compute_jac maxiter dlogz logl_max add_live "
    "print_progress print_func save_bounds checkpoint_file checkpoint_every resume nlive_init "
    "maxiter_init maxcall_init dlogz_init logl_max_init nlive_batch wt_function wt_kwargs "
    "maxiter_batch maxcall_batch maxbatch n_effective stop_function stop_kwargs use_stop".split()
)


def like_dynesty(
    loglikelihood: Callable[..., Any],
    prior_transform: Callable[..., Any],
    ndim: int,
    *,
    logl_args: Sequence[Any] | None = None,
    logl_kwargs: Mapping[str, Any] | None = None,
    ptform_args: Sequence[Any] | None = None,
    ptform_kwargs: Mapping[str, Any] | None = None,
    blob: bool = False,
    pool: Any = None,
    queue_size: int | None = None,
    use_pool: Mapping[str, bool] | None = None,
    rstate: Any = None,
    periodic: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> Result:
    """Integrate with the arguments of `dynesty.NestedSampler` and `DynamicNestedSampler`.

    >>> import numpy as np
    >>> import warpquad as wq
    >>> def loglike(x, scale):
    ...     return -scale * x @ x
    >>> def prior_transform(u):
    ...     return 10 * u - 5
    >>> r = wq.like_dynesty(loglike, prior_transform, 2, logl_args=[0.5], budget=40, progress=False)
    >>> bool(abs(r.log_z - np.log(2 * np.pi / 100)) < 0.05)
    True

    Args:
        loglikelihood, prior_transform, ndim, logl_args, logl_kwargs, ptform_args, ptform_kwargs:
            as dynesty takes them.
        blob: the log likelihood returns (log L, blob); the blobs are not kept.
        pool, queue_size, use_pool: a pool of processes, and how many points are under way.
        rstate: a numpy generator; the run's seed is drawn from it.
        periodic: the places of parameters whose prior transform goes once round a circle.
        names: the parameters' names; x0, x1 and so on by default.
        options: those of `wq.integrate`, such as `budget=200`; `maxcall` is another word for it.
            Options of dynesty that steer nested sampling are left out, with a warning.
    """
    given = kept("dynesty", options, UNUSED, "maxcall")
    if blob:
        tell_blobs("dynesty")
    if rstate is not None:
        given.setdefault("seed", int(rstate.integers(2**63)))
    if (use_pool or {}).get("loglikelihood", True):
        given = workers_of(pool, queue_size) | given
    loglike = Extended(loglikelihood, logl_args, logl_kwargs, blob)
    transform = Angled(Extended(prior_transform, ptform_args, ptform_kwargs), periodic, ndim)
    return integrate(loglike, transform, names=names, dim=ndim, argument="array", **given)

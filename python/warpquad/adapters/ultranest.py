"""Integrate with the arguments of UltraNest's samplers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError
from warpquad._integrate import integrate
from warpquad._result import Result
from warpquad.adapters._porting import Angled, Extended, kept

Array = npt.NDArray[np.float64]

# Options of ReactiveNestedSampler and its run (UltraNest 4.6) that steer nested sampling.
UNUSED = frozenset(
    "resume run_num log_dir num_test_samples draw_multiple num_bootstraps ndraw_min "
    "ndraw_max storage_backend warmstart_max_tau comm update_interval_volume_fraction "
    "update_interval_ncall log_interval show_status viz_callback dlogz dKL frac_remain Lepsilon "
    "min_ess max_iters max_num_improvement_loops min_num_live_points cluster_num_live_points "
    "insertion_test_zscore_threshold insertion_test_window region_class "
    "widen_before_initial_plateau_num_warn widen_before_initial_plateau_num_max".split()
)


class OneRow:
    """A vectorized prior transform, for one point."""

    def __init__(self, transform: Callable[[Array], Any]) -> None:
        self.transform = transform

    def __call__(self, u: Array) -> Any:
        return np.asarray(self.transform(u[None, :]))[0]


def itself(u: Array) -> Array:
    """The unit cube, where no transform is given."""
    return u


def like_ultranest(
    param_names: Sequence[str],
    loglike: Callable[..., Any],
    transform: Callable[..., Any] | None = None,
    *,
    derived_param_names: Sequence[str] = (),
    wrapped_params: Sequence[bool] | None = None,
    vectorized: bool = False,
    **options: Any,
) -> Result:
    """Integrate with the arguments of `ultranest.ReactiveNestedSampler`.

    >>> import numpy as np
    >>> import warpquad as wq
    >>> def loglike(params):
    ...     return -0.5 * np.sum(params**2)
    >>> def transform(cube):
    ...     return 10 * cube - 5
    >>> r = wq.like_ultranest(["a", "b"], loglike, transform, budget=40, progress=False)
    >>> bool(abs(r.log_z - np.log(2 * np.pi / 100)) < 0.05)
    True

    Args:
        param_names, loglike, transform: as UltraNest takes them.
        derived_param_names: must be empty; compute derived parameters from the draws.
        wrapped_params: for each parameter whether it goes once round a circle.
        vectorized: both functions take points as rows. So many of them go into one call as
            `batch=` says, 8 by default.
        options: those of `wq.integrate`, such as `budget=200`; `max_ncalls` is another word for it.
            Options of UltraNest that steer nested sampling are left out, with a warning. To keep a
            run on disk, say `run=DIR` in place of `log_dir`.
    """
    if derived_param_names:
        raise SpecError.of(
            "derived_param_names",
            f"must be empty, got {list(derived_param_names)}; let the transform return "
            f"{len(param_names)} numbers, and compute what is derived from the draws, r.samples()",
        )
    given = kept("UltraNest", options, UNUSED, "max_ncalls")
    prior: Any = transform or itself
    if transform is not None and vectorized:
        prior = OneRow(transform)
    prior = Angled(Extended(prior), np.asarray(wrapped_params, dtype=bool) if wrapped_params else None, len(param_names))
    return integrate(
        loglike, prior, names=list(param_names), argument="array", vectorized=vectorized, **given
    )

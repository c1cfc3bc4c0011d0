"""The building blocks that are Python's: `fit`, and a warp from a user's own function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from warpquad._core import GP, Data, Warp, _table_nodes, _warp, fit_detailed
from warpquad._errors import SpecError

_Array = npt.NDArray[np.float64]
_Function = Callable[[_Array], npt.ArrayLike]

# The table's own error is a few roundings of xi, and of g: 40 eps at the ends of the domain. A xi
# with a kink, or one that bends within a tenth, leaves 1e-9 and more.
_TOLERANCE = 1e-12


def fit(
    gp: GP,
    warp: Warp | str,
    data: Data,
    *,
    space: Literal["f", "g", "f-loo"] = "f",
    restarts: int = 0,
    seed: int = 0,
    length_prior: tuple[float, float] | None = None,
    fit_noise: bool = False,
    warm: bool = False,
    scales: Sequence[float] | None = None,
) -> GP:
    """Fit theta by maximum likelihood and give back the GP that has it.

    `space="f"` takes the likelihood of f under the matched belief, `"g"` that of g, `"f-loo"` the
    sum of ln densities of f left out one by one. `restarts` adds random starts. `warm` starts from
    the GP's own theta only. `length_prior` is a log-normal prior on length scales, (median, sd of
    the log), in units of `scales`, by default the spread of the points. `fit_detailed` takes the
    same and tells how it went.

    >>> import warpquad as wq
    >>> data = wq.Data([0.0, 1.0, 2.0], f=[1.0, 3.0, 2.0])
    >>> gp = wq.fit(wq.GP("matern32"), data.warp("log"), data)
    >>> gp.theta["output_scale"] > 0
    True
    """
    return fit_detailed(
        gp,
        warp,
        data,
        space=space,
        restarts=restarts,
        seed=seed,
        length_prior=length_prior,
        fit_noise=fit_noise,
        warm=warm,
        scales=scales,
    ).gp


def warp_from(
    forward: _Function,
    inverse: _Function | None = None,
    *,
    range: tuple[float, float] = (-np.inf, np.inf),
    domain: tuple[float, float] = (-40.0, 40.0),
) -> Warp:
    """A warp from your own increasing, smooth xi = `forward`, onto the open interval `range`.

    `forward` takes and gives an array. It is called now, at 32 points for each unit of `domain`,
    and never again. The warp is a table of it, as good as xi to about twelve digits, which is
    checked. So the warp can be fitted, integrated, sent to other processes and pickled like any
    other.

    The domain has to hold every g that matters. Beyond, xi goes on as a straight line, or stays
    where it is towards a finite end of the range. xi has to be analytic within about 1 of the real
    line: a kink is refused. `inverse` is not needed; if given, it is checked.

    >>> import numpy as np, warpquad as wq
    >>> softplus = wq.warp_from(lambda g: np.logaddexp(0.0, g), range=(0, np.inf))
    >>> bool(np.allclose(softplus.forward([0.0, 3.0]), np.log1p(np.exp([0.0, 3.0])), rtol=1e-13))
    True
    >>> softplus.inverse(softplus.forward([-2.0, 5.0])).round(9)
    array([-2.,  5.])
    """
    lo, hi = (float(end) for end in range)
    start, stop = (float(end) for end in domain)
    nodes = _table_nodes(start, stop)
    numbers = np.concatenate([[lo, hi, start, stop], _values("forward", forward, nodes)])
    warp = _warp("table", "", numbers.tolist(), None)
    _check_table(warp, forward, 0.5 * (nodes[1:] + nodes[:-1]))
    if inverse is not None:
        _check_inverse(warp, inverse)
    return warp


def _values(name: str, function: _Function, at: _Array) -> _Array:
    values = np.asarray(function(at), dtype=float)
    if values.shape != at.shape:
        raise SpecError.of(
            name, f"takes an array and gives one of its shape {at.shape}, got {values.shape}"
        )
    return values


def _check_table(warp: Warp, forward: _Function, at: _Array) -> None:
    """Refuse a xi that its own table misses halfway between the nodes."""
    exact = _values("forward", forward, at)
    error = np.abs(warp.forward(at) - exact) / np.maximum(_level(exact), np.finfo(float).tiny)
    if not np.all(error <= _TOLERANCE):
        worst = int(np.argmax(error))
        raise SpecError.of(
            "forward", f"not smooth enough at g = {at[worst]:.4g}, where its table is off by {error[worst]:.1e} of it; "
            "give a xi that is analytic within about 1 of the line, or a domain that leaves the bend out"
        )


def _level(exact: _Array) -> _Array:
    """How large xi is around each point: a xi that crosses 0 is not judged by its value there."""
    reach = 16  # points of the table, half a unit of g
    padded = np.pad(np.abs(exact), reach, mode="edge")
    level: _Array = np.max(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1), axis=1)
    return level


def _check_inverse(warp: Warp, inverse: _Function) -> None:
    g = np.linspace(-3.0, 3.0, 13)
    back = _values("inverse", inverse, warp.forward(g))
    if not np.allclose(back, g, rtol=1e-6, atol=1e-6):
        worst = int(np.argmax(np.abs(back - g)))
        raise SpecError.of(
            "inverse",
            f"inverse(forward({g[worst]})) is {back[worst]}; it has to be {g[worst]}",
        )

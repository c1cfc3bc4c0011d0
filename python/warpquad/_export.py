"""Hand posterior draws to the packages that people look at them with."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warpquad._errors import SpecError

if TYPE_CHECKING:
    from warpquad._result import Result

Array = npt.NDArray[np.float64]


def known(result: Result) -> dict[str, Any]:
    """What is known of Z, in numbers and words that every file format can keep."""
    low, high = result.interval()
    fixed = {one.name: one.fixed for one in result.priors.arguments if one.fixed is not None}
    return {
        "log_z": result.log_z,
        "log_z_sd": result.log_z_sd,
        "log_z_low": low,
        "log_z_high": high,
        "evaluations": result.evaluations,
        "method": str(result.method["name"]),
        "seed": result.seed,
        "warnings": json.dumps(result.warnings),
        "inference_library": "warpquad",
        "inference_library_version": str(result.report["version"]),
    } | ({"fixed": json.dumps(fixed)} if fixed else {})


def to_arviz(result: Result, n: int, seed: int, chains: int) -> Any:
    """A DataTree, or InferenceData before ArviZ 1.0."""
    import arviz  # type: ignore[import-untyped, import-not-found, unused-ignore]

    if not (isinstance(chains, (int, np.integer)) and chains >= 1):
        raise SpecError.of("chains", f"must be a whole number, 1 or more, got {chains!r}")
    per_chain = -(-n // chains)
    points, log_f = result._draws(per_chain * chains, seed)
    shape = (chains, per_chain)
    posterior: dict[str, Array] = {}
    start = 0
    for argument in result.priors.arguments:
        if argument.fixed is None:
            end = start + len(argument.names)
            size = () if argument.size is None else (argument.size,)
            posterior[argument.name] = points[:, start:end].reshape(shape + size)
            start = end
    stats = {"lp": log_f.reshape(shape)}
    if int(arviz.__version__.split(".")[0]) >= 1:
        tree = arviz.from_dict({"posterior": posterior, "sample_stats": stats})
    else:
        tree = arviz.from_dict(posterior=posterior, sample_stats=stats)
    tree.attrs.update(known(result))
    tree.posterior.attrs.update(known(result))
    return tree


def to_getdist(result: Result, n: int, seed: int, settings: dict[str, Any]) -> Any:
    """GetDist's samples."""
    import getdist  # type: ignore[import-untyped, import-not-found, unused-ignore]

    points, log_f = result._draws(n, seed)
    ends: dict[str, tuple[Any, ...]] = {
        name: tuple(end if math.isfinite(end) else None for end in pair)
        for name, pair in result.bounds.items()
    }
    for name in result.circles:
        ends[name] += ("periodic",)
    given: dict[str, Any] = {
        "samples": points,
        "loglikes": -log_f,
        "names": result.names,
        "labels": [latex(name) for name in result.names],
        "ranges": ends,
        # Draws are exchangeable: nothing is to be burnt or thinned.
        "sampler": "uncorrelated",
    }
    # It would print that there was nothing to remove.
    talkative = getdist.chains.print_load_details
    getdist.chains.print_load_details = False
    try:
        samples = getdist.MCSamples(**(given | settings))
    finally:
        getdist.chains.print_load_details = talkative
    samples.log_z, samples.log_z_sd = result.log_z, result.log_z_sd
    return samples


def to_anesthetic(result: Result, n: int, seed: int, settings: dict[str, Any]) -> Any:
    """anesthetic's samples."""
    import anesthetic  # type: ignore[import-untyped, import-not-found, unused-ignore]

    points, log_f = result._draws(n, seed)
    given: dict[str, Any] = {
        "data": points,
        "columns": result.names,
        "labels": [f"${latex(name)}$" for name in result.names],
        "logL": log_f,
    }
    samples = anesthetic.Samples(**(given | settings))
    samples.attrs.update(known(result))
    return samples


def latex(name: str) -> str:
    """A name for a plot's label: beta[0] has an index, and underscores make none."""
    base, bracket, index = name.partition("[")
    text = base.replace("_", r"\_")
    return f"{text}_{{{index.rstrip(']')}}}" if bracket else text

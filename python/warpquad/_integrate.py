"""Integrate a function against a prior: the one call that most users need."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from warpquad import _core, _integrand, _priors, _progress
from warpquad._errors import SpecError, WarpquadError
from warpquad._integrand import Argument, Integrand
from warpquad._loop import Loop
from warpquad._problem import OnFailure, Options
from warpquad._result import Result
from warpquad._session import Session, core_of

# Points of one call of a vectorized function when no batch is given: a function is vectorized because a few
# points cost it little more than one, and a batch chosen blind grows stale.
DEFAULT_BATCH = 8


def integrate(
    log_f: Callable[..., Any] | None = None,
    priors: Any = None,
    *,
    f: Callable[..., Any] | None = None,
    budget: int | None = None,
    seconds: float | None = None,
    log_z_sd: float | None = None,
    audit: float | None = None,
    seed: int | None = None,
    method: str | None = None,
    warp: str | None = None,
    kernel: str | None = None,
    fit: Literal["f", "g"] | None = None,
    acquisition: str | None = None,
    coordinates: str | None = None,
    nodes: int | None = None,
    refit_every: int | None = None,
    batch: int | None = None,
    particles: int | None = None,
    range: tuple[float, float] | None = None,
    noise: float | None = None,
    on_failure: OnFailure = "stop",
    retries: int = 2,
    names: Sequence[str] | None = None,
    dim: int | None = None,
    argument: Argument | None = None,
    vectorized: bool = False,
    executor: Any = None,
    workers: int | None = None,
    run: str | os.PathLike[str] | None = None,
    recheck: bool = False,
    progress: bool | None = None,
) -> Result:
    """Integrate f, or exp(log_f), against a prior.

    >>> import math
    >>> import warpquad as wq
    >>> r = wq.integrate(lambda x: -2 * x["a"] ** 2, {"a": wq.normal(0, 1)}, budget=20, progress=False)
    >>> abs(r.log_z + 0.5 * math.log(5)) < 0.05
    True

    Args:
        log_f: the log of the integrand; -inf is f = 0. Or give f itself as `f=`.
        priors: a dict from names to priors (`wq.uniform(...)` and its like, frozen distributions of scipy.stats, anything
            with a `ppf`), a multivariate normal, an array of draws (n, d), or a prior transform on the unit cube.
        budget, seconds, log_z_sd: evaluations, seconds on the clock, and the standard deviation of ln Z that is small
            enough twice in a row: the first one met stops the run. Without any of them it stops after 100 evaluations,
            a baseline after 10000.
        audit: a part of the evaluations, at most 0.5: so many of them, the last, are drawn from the belief and check the answer
            without bias. See `Result.audit`.
        seed: the seed of a new run, 0 by default.
        method, warp, kernel, fit, acquisition, coordinates, nodes, refit_every, batch, particles: the method by name and its parts.
        range: what is known of f, (0, inf) by default; (0, 1) for a rate, (-inf, inf) for nothing.
        noise: the variance of the noise on ln f (on the latent g for warps other than the log).
        on_failure, retries: "stop" (raise `EvaluationError`), "skip" the point, or "retry" so often and then stop.
        names, dim: the parameters of draws, of a multivariate normal or of a prior transform.
        argument: how the function is called: with a "dict", an "array", or "keywords". By default a function of one argument
            gets a dict if the priors are a dict and an array otherwise; one of several arguments gets the parameters by name.
        vectorized: the function takes a batch (arrays of shape (n, d), or n of each parameter) and returns n values.
        executor, workers: anything with `submit` as in `concurrent.futures`, and how many points are under way at once (the
            executor's workers by default). `workers` alone makes a pool of threads.
        run: keep the run in this directory; if it holds a run already, go on with it.
        recheck: on going on, evaluate one recorded point again, to notice a changed function.
        progress: a bar or none; by default a bar in terminals and notebooks, and the logger "warpquad" elsewhere.

    Returns:
        What was found. After Ctrl-C, what is known so far, with `stop == "interrupted"`.
    """
    _check_workers(executor, workers, batch)
    known = _priors.read(priors, names, dim)
    integrand = _integrand.make(log_f, f, known.names, known.keyed, argument, vectorized)
    options = Options(
        budget=budget, seconds=seconds, log_z_sd=log_z_sd, audit=audit, method=method, warp=warp, kernel=kernel, fit=fit,
        acquisition=acquisition, coordinates=coordinates, nodes=nodes, refit_every=refit_every, batch=batch,
        particles=particles, range=range, noise=noise, on_failure=on_failure, retries=retries,
    )  # fmt: skip
    core = core_of(known, options, seed, run, limited=True)
    with Session._of(core, known) as session:
        return _drive(session, integrand, executor, workers, batch, recheck, progress)


def resume(
    run: str | os.PathLike[str],
    log_f: Callable[..., Any] | None = None,
    *,
    f: Callable[..., Any] | None = None,
    priors: Any = None,
    names: Sequence[str] | None = None,
    dim: int | None = None,
    budget: int | None = None,
    seconds: float | None = None,
    log_z_sd: float | None = None,
    audit: float | None = None,
    on_failure: OnFailure = "stop",
    retries: int = 2,
    batch: int | None = None,
    argument: Argument | None = None,
    vectorized: bool = False,
    executor: Any = None,
    workers: int | None = None,
    recheck: bool = False,
    progress: bool | None = None,
) -> Result:
    """Go on with the run in a directory, started by `integrate(..., run=DIR)` or by the command line.

    Everything that is not given is as the run has it: its priors, its method, its seed, its audit, and its budget unless
    any of `budget`, `seconds` and `log_z_sd` is given. A function of one argument gets a dict. Priors that the core knows by a
    coordinate only (a `ppf`, a prior transform) must be given again, because a journal holds no functions.
    """
    _check_workers(executor, workers, batch)
    core = _core.Session.open(run)
    known = None if priors is None else _priors.read(priors, names, dim)
    with Session._of(core, known) as session:
        coordinates = [name for name in core.names if name.startswith(("unit(", "score("))]
        if known is None and coordinates:
            listed = ", ".join(coordinates)
            raise SpecError(f"priors: the run is in the coordinates {listed}; give the priors it was started with")
        if core.names != session.priors.coordinates:
            raise SpecError(f"priors: the run has {core.names}, the priors have {session.priors.coordinates}")
        core.set_on_failure(on_failure, retries)
        integrand = _integrand.make(log_f, f, session.names, session.priors.keyed, argument, vectorized)
        core.extend_budget(budget, seconds, log_z_sd, audit)
        return _drive(session, integrand, executor, workers, batch, recheck, progress)


def _check_workers(executor: Any, workers: int | None, batch: int | None) -> None:
    for title, count in (("workers", workers), ("batch", batch)):
        if count is not None and count < 1:
            raise SpecError(f"{title}: must be 1 or more, got {count}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise SpecError(f"executor: must have submit(function, ...) as in concurrent.futures, got {executor!r}")


def _drive(
    session: Session,
    integrand: Integrand,
    executor: Any,
    workers: int | None,
    batch: int | None,
    recheck: bool,
    progress: bool | None,
) -> Result:
    if recheck:
        _recheck(session, integrand)
    size = batch or (DEFAULT_BATCH if integrand.vectorized else 1)
    session.core.set_batch(size)
    most = size if integrand.vectorized else 1
    limit = session.core.budget[0]
    loop = Loop(session, integrand, executor, workers, most, _progress.make(progress, limit))
    stop = loop.run()
    if loop.error is not None:
        raise loop.error
    try:
        return session.result(stop)
    except WarpquadError:
        if stop == "interrupted":
            raise KeyboardInterrupt from None  # nothing is known yet
        raise


def _recheck(session: Session, integrand: Integrand) -> None:
    """Evaluate one recorded point again: a function that changed would poison the run."""
    points, values, logs = session.core.observations()
    if len(values) == 0:
        return
    x = session.priors.to_x(points[:1])
    (answer,) = integrand.evaluate(x)
    with np.errstate(all="ignore"):
        known = values[0] if logs[0] == integrand.log else np.log(values[0]) if integrand.log else np.exp(values[0])
    if not answer.reason and (answer.value == known or abs(answer.value - known) <= 1e-9 * abs(known)):
        return
    now = answer.reason or f"{integrand.title} = {answer.value!r}"
    raise SpecError(
        f"{integrand.title}: at {session.priors.show(x[0])} the journal has {known!r}, now it is {now}: the function has "
        "changed; start a new run"
    )

"""Integrate a function against a prior: the one call that most users need."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from warpquad import _core, _initial, _integrand, _priors, _problem, _progress
from warpquad._arguments import Arguments
from warpquad._calling import Argument
from warpquad._errors import SpecError, WarpquadError
from warpquad._integrand import Integrand
from warpquad._loop import Loop
from warpquad._ported import Problem
from warpquad._result import Result
from warpquad._session import Session, core_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from warpquad._options import Options, ResumeOptions

# Points of one call of a vectorized function when no batch is given: a function is vectorized
# because a few points cost it little more than one, and a batch chosen blind grows stale.
DEFAULT_BATCH = 8


@_problem.shown()
def integrate(
    log_f: Callable[..., Any] | Problem | None = None,
    priors: Any = None,
    *,
    f: Callable[..., Any] | None = None,
    seed: int | None = None,
    names: Sequence[str] | None = None,
    dim: int | None = None,
    argument: Argument | None = None,
    vectorized: bool = False,
    executor: Any = None,
    workers: int | None = None,
    run: str | os.PathLike[str] | None = None,
    recheck: bool = False,
    progress: bool | None = None,
    start: Any = None,
    initial: Any = None,
    **options: Unpack[Options],
) -> Result:
    """Integrate f, or exp(log_f), against a prior.

    >>> import math
    >>> import warpquad as wq
    >>> priors = {"a": wq.normal(0, 1)}
    >>> r = wq.integrate(lambda x: -2 * x["a"] ** 2, priors, budget=20, progress=False)
    >>> abs(r.log_z + 0.5 * math.log(5)) < 0.05
    True

    Args:
        log_f: the log of the integrand; -inf is f = 0. Or give f itself as `f=`. Or give a problem
            from another package, such as `wq.from_pymc(model)`, which brings its priors.
        priors: a dict from names to priors (`wq.uniform(...)` and its like, frozen distributions of
            scipy.stats, anything with a `ppf`), a multivariate normal, an array of draws (n, d), or
            a prior transform on the unit cube.
        seed: the seed of a new run, 0 by default.
        names, dim: the parameters of draws, of a multivariate normal or of a prior transform.
        argument: how the function is called: with a "dict", an "array" or "keywords". By default
            one of several arguments gets the parameters by name. A function of one argument gets an
            array if the priors are no dict, the number itself if there is only one parameter (which
            also answers `x["a"]`), else a dict.
        start: a hint where f is large: points in the parameters' order, or one as a dict, which are
            evaluated first; or a plausible interval for each parameter, like `{"a": (0, 1)}`. The
            run looks over the whole prior all the same.
        initial: what is known before: points with values, which are data and cost nothing of the
            budget, or without, which are evaluated first. An array of points, (points, log_f), a
            frame or dict of columns (with `log_f` where it is known), a CSV file, another run (its
            directory, session or result), or what a sampler returned. Points outside the prior are
            left out; `r.initial` says what was taken.
        vectorized: the function takes a batch (arrays of shape (n, d), or n of each parameter) and
            returns n values.
        executor, workers: anything with `submit` as in `concurrent.futures`, or a function that
            makes one, to have it made anew when a worker dies; and how many points are under way
            at once (the executor's workers by default). `workers` alone makes a pool
            of threads.
        run: keep the run in this directory; if it holds a run already, go on with it.
        recheck: on going on, evaluate one recorded point again, to notice a changed function.
        progress: a bar or none; by default a bar in terminals and notebooks, and the logger
            "warpquad" elsewhere.
        options: what a problem file may say, by the names below. `budget`, `seconds` and `log_z_sd`
            are limits: the first one met stops the run, and without any of them it stops after 100
            evaluations, a baseline after 10000.

    Returns:
        What was found. After Ctrl-C, what is known so far, with `stop == "interrupted"`.
    """
    _check_workers(executor, workers)
    given = _problem.given("integrate", options)
    if isinstance(log_f, Problem):
        if priors is not None or names is not None or dim is not None:
            raise SpecError.of("priors", "the problem brings its own priors and names; give none")
        priors, names, argument = log_f.priors, log_f.names, "array"
        log_f = log_f.log_f
    known = _priors.read(priors, names, dim)
    integrand = _integrand.make(log_f, f, known.arguments, known.keyed, argument, vectorized)
    core = core_of(known, given, seed, run, limited=True, start=start)
    with Session._of(core, known) as session:
        _initial.take(core, known, initial)
        return _drive(session, integrand, executor, workers, recheck, progress)


@_problem.shown(resuming=True)
def resume(
    run: str | os.PathLike[str],
    log_f: Callable[..., Any] | None = None,
    *,
    f: Callable[..., Any] | None = None,
    priors: Any = None,
    names: Sequence[str] | None = None,
    dim: int | None = None,
    argument: Argument | None = None,
    vectorized: bool = False,
    executor: Any = None,
    workers: int | None = None,
    recheck: bool = False,
    progress: bool | None = None,
    initial: Any = None,
    **options: Unpack[ResumeOptions],
) -> Result:
    """Go on with the run in a directory, started by `integrate(..., run=DIR)` or by the command
    line.

    Everything that is not given is as the run has it: its priors, its method, its seed, its policy
    for failures, its audit, and its budget unless any of `budget`, `seconds` and `log_z_sd` is
    given. A function of one argument gets a dict. Priors that the core knows by a coordinate only
    (a `ppf`, a prior transform) must be given again, because a journal holds no functions.

    >>> import tempfile
    >>> import warpquad as wq
    >>> log_f = lambda x: -x**2
    >>> with tempfile.TemporaryDirectory() as run:
    ...     priors = {"x": wq.normal(0, 1)}
    ...     r = wq.integrate(log_f, priors, budget=8, run=run + "/a", progress=False)
    ...     wq.resume(run + "/a", log_f, budget=10, progress=False).evaluations
    10
    """
    _check_workers(executor, workers)
    given = _problem.given("resume", options, resuming=True)
    core = _core.Session.open(run)
    known = None if priors is None else _priors.read(priors, names, dim)
    with Session._of(core, known) as session:
        if known is None and core.mapped:
            listed = ", ".join(core.mapped)
            raise SpecError.of("priors", f"the run is in the coordinates {listed}; give the priors it was started with")
        if core.names != session.priors.coordinates:
            raise SpecError.of("priors", f"the run has {core.names}, the priors have {session.priors.coordinates}")
        if Arguments.of(core.arguments) != session.priors.core_arguments:
            raise SpecError.of("priors", "the run has other fixed numbers or vectors than the priors")
        keyed = session.priors.keyed
        integrand = _integrand.make(log_f, f, session.priors.arguments, keyed, argument, vectorized)
        core.set_options(_problem.changes(given))
        _initial.take(core, session.priors, initial)
        return _drive(session, integrand, executor, workers, recheck, progress)


def _check_workers(executor: Any, workers: int | None) -> None:
    if workers is not None and workers < 1:
        raise SpecError.of("workers", f"must be 1 or more, got {workers}", workers)
    if executor is None or callable(getattr(executor, "submit", executor)):
        return
    raise SpecError.of(
        "executor",
        "must have submit(function, ...) as in concurrent.futures, or be a function that makes "
        f"such a one, got {executor!r}",
    )


def _drive(
    session: Session,
    integrand: Integrand,
    executor: Any,
    workers: int | None,
    recheck: bool,
    progress: bool | None,
) -> Result:
    if recheck:
        _recheck(session, integrand)
    size = session.core.batch or (DEFAULT_BATCH if integrand.vectorized else 1)
    session.core.set_batch(size)
    most = size if integrand.vectorized else 1
    limit = session.core.budget[0]
    watch = _progress.make(progress, limit)
    loop = Loop(session, integrand, executor, workers, most, watch, session.core.timeout)
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
    x = session.priors.numbers(points[:1])
    (answer,) = integrand.evaluate(x)
    with np.errstate(all="ignore"):
        known = values[0] if logs[0] == integrand.log else np.log(values[0]) if integrand.log else np.exp(values[0])
    if not answer.reason and (answer.value == known or abs(answer.value - known) <= 1e-9 * abs(known)):
        return
    now = answer.reason or f"{integrand.title} = {answer.value!r}"
    raise SpecError.of(
        integrand.title, f"at {session.priors.show(x[0])} the journal has {known!r}, now it is {now}: the function has "
        "changed; start a new run"
    )

"""A run by hand: ask for points, tell values, in memory or over the journal of the command line."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warpquad import _core, _initial, _priors, _problem
from warpquad._arguments import flat
from warpquad._errors import EvaluationError, SpecError
from warpquad._integrand import Answer, Failure, split
from warpquad._priors import Priors
from warpquad._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from warpquad._options import Options

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """A point to evaluate.

    >>> import warpquad as wq
    >>> (task,) = wq.Session({"a": wq.normal(0, 1), "b": wq.uniform(0, 1)}).ask()
    >>> task.id, list(task.x), task.array.shape
    (0, ['a', 'b'], (2,))
    """

    id: int
    """Its number in the run."""
    x: dict[str, Any]
    """The point: a number for each parameter, an array for a vector; fixed numbers too."""

    @property
    def array(self) -> Array:
        """All numbers of the point, in the parameters' order."""
        return flat(self.x)


class Session:
    """A run of a problem: `ask` for points, `tell` their values, and look at the `result` at any
    time.

    The arguments are those of `wq.integrate`. With `run=DIR` every event is in the journal of the
    command line before the call returns, and a directory that holds a run already is gone on with.

    >>> import math
    >>> import warpquad as wq
    >>> s = wq.Session({"x": wq.normal(0, 1)})
    >>> for _ in range(12):
    ...     for task in s.ask():
    ...         s.tell(task, log_f=-task.x["x"] ** 2)
    >>> abs(s.result().log_z + 0.5 * math.log(3)) < 0.1
    True
    """

    @_problem.shown()
    def __init__(
        self,
        priors: Any,
        *,
        seed: int | None = None,
        run: str | os.PathLike[str] | None = None,
        names: Sequence[str] | None = None,
        dim: int | None = None,
        start: Any = None,
        initial: Any = None,
        **options: Unpack[Options],
    ) -> None:
        """Begin a run, or go on with the one in the directory `run`.

        `start` is a hint where f is large: points, or a plausible interval for each parameter.
        `initial` is what is known before: points with values, which are data, or without, which are
        evaluated first.
        """
        known = _priors.read(priors, names, dim)
        given = _problem.given("Session", options)
        self._begin(core_of(known, given, seed, run, limited=False, start=start), known)
        _initial.take(self.core, known, initial)

    def _begin(self, core: _core.Session, priors: Priors) -> None:
        self.core: _core.Session = core
        self.priors = priors
        self.failures: list[Failure] = []

    @classmethod
    def _of(cls, core: _core.Session, priors: Priors | None = None) -> Session:
        """The session of a core's session; its own parameters are the user's unless priors say
        otherwise."""
        session = cls.__new__(cls)
        session._begin(core, priors or Priors.of_core(core))
        return session

    def __repr__(self) -> str:
        pending = len(self.core.pending())
        return f"Session({', '.join(self.names)}: {self.evaluations} evaluations, {pending} pending)"

    @property
    def names(self) -> list[str]:
        """The parameters' names."""
        return list(self.priors.names)

    @property
    def evaluations(self) -> int:
        """Values told so far, but for those that were given without being asked for."""
        return self.core.evaluations

    @property
    def given(self) -> int:
        """Values that were given without being asked for; the budget does not pay for them."""
        return self.core.given

    @property
    def seed(self) -> int:
        """The seed."""
        return self.core.seed

    def _task(self, asked: tuple[int, Array]) -> Task:
        id, point = asked
        (numbers,) = self.priors.numbers(point[None, :])
        return Task(id, self.priors.arguments.named(numbers))

    def ask(self, n: int = 1) -> list[Task]:
        """The next n points to evaluate, each chosen as if those before it had come back at their
        expected values."""
        return [self._task(self.core.ask()) for _ in range(n)]

    def pending(self) -> list[Task]:
        """Points asked for and not told, in the order they were asked."""
        return [self._task(asked) for asked in self.core.pending()]

    def tell(
        self,
        task: Task | int | Mapping[str, Any] | Sequence[float] | Array,
        *,
        log_f: float | None = None,
        f: float | None = None,
        failure: str | BaseException | None = None,
        seconds: float = 0.0,
        derived: Mapping[str, Any] | None = None,
    ) -> None:
        """Say what came back: ln f, f, or why there is no value.

        `task` is what `ask` returned, or its id. A point that was not asked for, as a dict or in
        the parameters' order, is told with its value too; it is data like any other. `derived` are
        quantities beside the value, by name.

        >>> import warpquad as wq
        >>> s = wq.Session({"x": wq.normal(0, 1)})
        >>> s.tell({"x": 0.5}, log_f=-0.25)
        >>> s.given, s.evaluations
        (1, 0)
        """
        if sum(given is not None for given in (log_f, f, failure)) != 1:
            raise SpecError.of("tell", "give exactly one of log_f, f and failure")
        if not isinstance(task, (Task, int, np.integer)):
            return self._tell_at(task, log_f, f)
        id = task.id if isinstance(task, Task) else int(task)
        if failure is not None:
            error = failure if isinstance(failure, BaseException) else None
            answer = Answer(seconds, reason=str(failure) or repr(failure), error=error)
        else:
            value, beside = split((log_f if log_f is not None else f, derived or {}), "tell")
            answer = Answer(seconds, float(value), derived=beside)
        points = {task.id: task for task in self.pending()}
        told = points.get(id) or Task(id, {})
        stop = self._take(told, answer, log_f is not None)
        if stop is not None:
            raise stop

    def _tell_at(self, x: Any, log_f: float | None, f: float | None) -> None:
        """Take a value at a point that was not asked for."""
        value = log_f if log_f is not None else f
        if value is None:
            raise SpecError.of("tell", "a point that was not asked for needs log_f or f")
        self.core.tell_at(_initial.point(x, self.priors), float(value), log_f is not None)

    def _take(self, task: Task, answer: Answer, log: bool) -> EvaluationError | None:
        """Take an answer in by the policy for failures: the error that ends the run, if it does."""
        if answer.reason:
            taken = self.core.fail(task.id, answer.reason, answer.recoverable, answer.seconds)
        else:
            taken = self.core.tell(task.id, answer.value, log, answer.seconds, answer.derived)
        if taken.fate == "kept":
            return None
        what = answer.reason or self._refused(answer.value, log)
        self.failures.append(Failure(task.x, what, answer.traceback, task.id))
        if taken.fate != "stop":
            return None
        # The point is the user's: the core has it in its own coordinates.
        error = EvaluationError(f"{taken.preface}evaluation {task.id} failed at {self.priors.show(task.array)}: {what}")
        error.failure, error.session = self.failures[-1], self
        error.index, error.point = task.id, task.x
        error.__cause__ = answer.error
        return error

    def _refused(self, value: float, log: bool) -> str:
        """Why the core did not keep a number."""
        title = "log_f" if log else "f"
        if not np.isfinite(value):
            return f"{title} returned {value}"
        low, high = self.core.range
        return f"{title} = {value} is outside the range ({low}, {high}) of f"

    def close(self) -> None:
        """Let go of the run's directory, so that others can go on with it; what is known stays."""
        self.core.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def result(self, stop: str | None = None) -> Result:
        """What is known of Z. Looking leaves no trace in the run."""
        return Result(self.core, self.priors, stop or self.core.last_stop or "running", list(self.failures))


def core_of(
    priors: Priors,
    options: Mapping[str, Any],
    seed: int | None,
    run: str | os.PathLike[str] | None,
    limited: bool,
    start: Any = None,
) -> _core.Session:
    """The core's session of a problem: new, or gone on with.

    `limited` gives it the default budget if it has none.
    """
    text = _problem.text(priors, options, start)
    if run is None or not _core.Session.exists(run):
        return _core.Session.create(text, _seed(seed), run, limited)
    core = _core.Session.open(run, text, limited)
    if seed is not None and seed != core.seed:
        raise SpecError.of("seed", f"the run has the seed {core.seed}, not {seed}", seed)
    return core


def _seed(seed: int | None) -> int:
    if seed is None:
        return 0
    if not 0 <= operator.index(seed) < 2**64:
        raise SpecError.of("seed", f"must be a whole number from 0 to 2^64 - 1, got {seed}")
    return operator.index(seed)


def open(run: str | os.PathLike[str]) -> Session:
    """Look at the run in a directory, started here or by the command line, while it runs too;
    nothing is written.

    >>> import tempfile
    >>> import warpquad as wq
    >>> with tempfile.TemporaryDirectory() as run:
    ...     priors = {"x": wq.normal(0, 1)}
    ...     _ = wq.integrate(lambda x: -x**2, priors, budget=8, run=run + "/a", progress=False)
    ...     wq.open(run + "/a").evaluations
    8
    """
    return Session._of(_core.Session.peek(run))

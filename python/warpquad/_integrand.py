"""Call the user's function, and take an honest answer from it."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from warpquad._arguments import Arguments, either
from warpquad._calling import ARGUMENTS, Argument, Calling, inferred
from warpquad._errors import SpecError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Failure:
    """An evaluation that gave no value.

    >>> import warpquad as wq
    >>> def log_f(x):
    ...     return float("nan") if x > 1 else -x**2
    >>> priors = {"x": wq.normal(0, 1)}
    >>> r = wq.integrate(log_f, priors, on_failure="skip", budget=12, progress=False)
    >>> r.failures[0].reason, r.failures[0].point["x"] > 1
    ('log_f returned nan', True)
    """

    point: dict[str, Any]
    """Where: a number for each parameter, an array for a vector."""
    reason: str
    """What happened, in one line."""
    traceback: str = ""
    """The traceback of the integrand's exception, if it raised one."""
    id: int = -1
    """The evaluation's number in the run."""


@dataclass
class Answer:
    """What one evaluation gave: a value, or an error."""

    seconds: float
    value: float = float("nan")
    reason: str = ""
    """Why there is no value; empty if there is one."""
    recoverable: bool = True
    """Whether another point may still succeed."""
    error: BaseException | None = None
    traceback: str = ""
    derived: list[tuple[str, float]] = field(default_factory=list)
    """Numbers beside the value, by name."""


class BadReturn(TypeError):
    """What came back is no number: the function is wrong, not the point."""


class Integrand:
    """A user's function with the way it wants to be called; goes to other processes as it is."""

    def __init__(
        self,
        function: Callable[..., Any],
        log: bool,
        arguments: Arguments,
        calling: Calling,
        vectorized: bool,
    ) -> None:
        self.function, self.log, self.arguments = function, log, arguments
        self.calling, self.vectorized = calling, vectorized

    @property
    def title(self) -> str:
        """What messages call the function."""
        return "log_f" if self.log else "f"

    def evaluate(self, points: Array) -> list[Answer]:
        """Answers at all points: from one call if the function is vectorized, else one by one."""
        if self.vectorized:
            return self._together(points)
        return [self._one(x) for x in points]

    def _one(self, x: Array) -> Answer:
        began = time.perf_counter()
        try:
            said, derived = split(self.call(x), self.title)
            value = to_number(said, self.title)
        except Exception as error:
            return _failed(error, began)
        return Answer(time.perf_counter() - began, value, derived=derived)

    def _together(self, points: Array) -> list[Answer]:
        began = time.perf_counter()
        try:
            said, derived = split(self.call(points), self.title, len(points))
            values = to_numbers(said, len(points), self.title)
        except Exception as error:
            return [_failed(error, began, len(points)) for _ in points]
        seconds = (time.perf_counter() - began) / len(points)
        rows = [[(name, column[i]) for name, column in derived] for i in range(len(points))]
        return [Answer(seconds, value, derived=row) for value, row in zip(values, rows)]

    def call(self, x: Array) -> Any:
        """Call the function with all numbers of one point, or of one a row."""
        if self.calling == "array":
            return self.function(x.copy())
        named = self.arguments.named(x)
        if self.calling == "keywords":
            return self.function(**named)
        if self.calling == "positional":
            return self.function(*named.values())
        return self.function(either(named) if self.calling == "either" else named)


def _failed(error: Exception, began: float, share: int = 1) -> Answer:
    text = "".join(traceback.format_exception(error))
    reason = str(error) if isinstance(error, BadReturn) else f"{type(error).__name__}: {error}"
    seconds = (time.perf_counter() - began) / share
    return Answer(
        seconds,
        reason=reason,
        recoverable=not isinstance(error, BadReturn),
        error=error,
        traceback=text,
    )


def portable(integrand: Integrand, points: Array) -> list[Answer]:
    """Evaluate, perhaps in another process; an exception that cannot travel leaves its text."""
    answers = integrand.evaluate(points)
    for answer in answers:
        try:
            pickle.loads(pickle.dumps(answer.error))
        except Exception:
            answer.error = None
    return answers


def split(said: Any, title: str, count: int | None = None) -> tuple[Any, list[tuple[str, Any]]]:
    """What a function returned as `(value, {"mass": ...})`, apart: the value, and the numbers
    beside it by name, those of an array as `name[0]` and so on; columns of `count` of a batch."""
    if not (isinstance(said, tuple) and len(said) == 2 and isinstance(said[1], Mapping)):
        return said, []
    out: list[tuple[str, Any]] = []
    for name, given in said[1].items():
        try:
            numbers = np.asarray(given, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadReturn(f"{title} returned {given!r} for {name!r}; derived quantities are numbers") from error
        if count is not None and numbers.shape[:1] != (count,):
            raise BadReturn(f"{title} returned an array of shape {numbers.shape} for {name!r} of a batch of {count}")
        shape = numbers.shape if count is None else numbers.shape[1:]
        for index in np.ndindex(*shape):
            at = numbers[index] if count is None else numbers[(slice(None), *index)]
            label = f"{name}[{', '.join(map(str, index))}]" if shape else str(name)
            out.append((label, float(at) if count is None else at.tolist()))
    if count is None:
        out = [(name, value) for name, value in out if np.isfinite(value)]
    return said[0], out


def to_number(value: Any, title: str) -> float:
    """The number that came back, or an error that says what came back instead."""
    if value is None:
        raise BadReturn(f"{title} returned None; it must return a number: is a return missing?")
    if isinstance(value, (str, bytes)):
        raise BadReturn(f"{title} returned the string {value!r}; it must return a number")
    if np.iscomplexobj(value):
        raise BadReturn(f"{title} returned the complex number {value!r}; it must return a real one")
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, (list, tuple)):
        shape = (len(value),)
    if shape is not None and int(np.prod(shape)) != 1:
        hint = "; if it takes a batch of points, say vectorized=True" if len(shape) == 1 else ""
        raise BadReturn(
            f"{title} returned an array of shape {tuple(shape)}; it must return one number{hint}"
        )
    try:
        # An array of one number, of numpy or of any other library, has item().
        return float(
            value if shape is None else value.item() if hasattr(value, "item") else value[0]
        )
    except (TypeError, ValueError) as error:
        raise BadReturn(f"{title} returned {value!r}; it must return a number") from error


def to_numbers(values: Any, count: int, title: str) -> list[float]:
    """The numbers that came back for a batch."""
    try:
        length = len(values)
    except TypeError:
        length = None
    if length != count or isinstance(values, (str, bytes, dict)):
        got = (
            f"{length} values"
            if length is not None and not isinstance(values, (str, bytes, dict))
            else repr(values)
        )
        raise BadReturn(
            f"{title} returned {got} for a batch of {count} points; it must return an array of {count}"
        )
    return [to_number(value, title) for value in values]


def make(
    log_f: Callable[..., Any] | None,
    f: Callable[..., Any] | None,
    arguments: Arguments,
    keyed: bool,
    argument: Argument | None,
    vectorized: bool,
) -> Integrand:
    """The integrand that a user gave, and how it is called: as its signature says, or as
    `argument` does."""
    if (log_f is None) == (f is None):
        raise SpecError.of("integrand", "give either log_f or f")
    function = log_f if log_f is not None else f
    title = "log_f" if log_f is not None else "f"
    if not callable(function):
        raise SpecError.of(title, f"must be a function, got {function!r}")
    calling = calling_of(function, arguments, keyed, argument, title)
    return Integrand(function, log_f is not None, arguments, calling, vectorized)


def calling_of(
    function: Callable[..., Any],
    arguments: Arguments,
    keyed: bool,
    argument: Argument | None,
    title: str,
) -> Calling:
    """How a function is called: as the user says, or as its signature does."""
    if argument is None:
        return inferred(function, arguments.names, keyed, title)
    if argument not in ARGUMENTS:
        raise SpecError.of("argument", f"must be one of {', '.join(ARGUMENTS)}, got {argument!r}")
    return argument

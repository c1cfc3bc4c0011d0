"""The package's exceptions: one for each kind of error of the core, all under `WarpquadError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpquad._integrand import Failure
    from warpquad._session import Session


class WarpquadError(Exception):
    """Everything that warpquad raises by itself. What its text says is in attributes too; what is
    not known is None.

    >>> import warpquad as wq
    >>> try:
    ...     wq.Session({"x": wq.normal(0, 1)}, nodes=0)
    ... except wq.WarpquadError as error:
    ...     print(error.kind, error.field)
    spec method.nodes
    """

    kind: str = "other"
    """What went wrong: "spec", "range", "numerics", "evaluation", "journal", "io" or "other"."""
    field: str | None = None
    """The argument, or the field of the problem as `section.field`."""
    file: str | None = None
    """The file, of a mistake in a file and of what the file system refused."""
    line: int | None = None
    """The line of the file or of the journal, from 1."""
    column: int | None = None
    """The column of the line, from 1."""
    step: str | None = None
    """The step in which arithmetic failed."""
    index: int | None = None
    """Which observation or evaluation, from 0."""
    point: Mapping[str, Any] | None = None
    """Where the evaluation was."""
    value: Any = None
    """The value that cannot be meant."""


class SpecError(WarpquadError, ValueError):
    """A problem, a method or an argument that cannot be meant.

    >>> import warpquad as wq
    >>> wq.uniform(2, 1)
    Traceback (most recent call last):
    warpquad._errors.SpecError: lo: must be below hi, got lo = 2 and hi = 1
    """

    kind = "spec"

    @classmethod
    def of(cls, field: str, reason: str, value: Any = None) -> SpecError:
        """An error about one argument, and the value it had."""
        error = cls(f"{field}: {reason}")
        error.field, error.value = field, value
        return error


class RangeError(SpecError):
    """An observation outside the range that the warp can take.

    >>> import warpquad as wq
    >>> try:
    ...     wq.GP().condition(wq.Data([0.0], f=[-1.0]), "log")
    ... except wq.RangeError as error:
    ...     print(error.kind)
    range
    """

    kind = "range"


class NumericsError(WarpquadError, ArithmeticError):
    """Arithmetic that failed in one of the steps.

    >>> import warpquad as wq
    >>> issubclass(wq.NumericsError, ArithmeticError)
    True
    """

    kind = "numerics"


class JournalError(WarpquadError, OSError):
    """A journal that cannot be gone on with, or a file system that said no.

    >>> import warpquad as wq
    >>> import tempfile
    >>> priors = {"x": wq.normal(0, 1)}
    >>> with tempfile.TemporaryDirectory() as run:
    ...     wq.Session(priors, run=run + "/a").close()
    ...     try:
    ...         wq.Session({"x": wq.normal(0, 2)}, run=run + "/a")
    ...     except wq.JournalError as error:
    ...         print(error.kind)
    journal
    """

    kind = "journal"


class EvaluationError(WarpquadError, RuntimeError):
    """An evaluation of the integrand that failed; raised from the integrand's exception, if any.

    >>> import warpquad as wq
    >>> try:
    ...     wq.integrate(lambda x: 1 / 0, {"x": wq.normal(0, 1)}, progress=False)
    ... except wq.EvaluationError as error:
    ...     print(type(error.__cause__).__name__, list(error.point))
    ZeroDivisionError ['x']
    """

    kind = "evaluation"
    failure: Failure | None = None
    """The evaluation that ended the run."""
    session: Session | None = None
    """The run, with all that was paid for: `error.session.result()` says what is known."""

"""The package's exceptions: one for each kind of error of the core, all under `WarpquadError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpquad._integrand import Failure
    from warpquad._session import Session


class WarpquadError(Exception):
    """Everything that warpquad raises by itself."""


class SpecError(WarpquadError, ValueError):
    """A problem, a method or an argument that cannot be meant."""


class RangeError(SpecError):
    """An observation outside the range that the warp can take."""


class NumericsError(WarpquadError, ArithmeticError):
    """Arithmetic that failed in one of the steps."""


class JournalError(WarpquadError, OSError):
    """A journal that cannot be gone on with, or a file system that said no."""


class EvaluationError(WarpquadError, RuntimeError):
    """An evaluation of the integrand that failed; raised from the integrand's exception, if any."""

    failure: Failure | None = None
    """The evaluation that ended the run."""
    session: Session | None = None
    """The run, with all that was paid for: `error.session.result()` says what is known."""

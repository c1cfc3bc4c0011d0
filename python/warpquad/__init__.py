"""Integrals of expensive, constrained functions from few evaluations, with error bars."""

from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING as _TYPE_CHECKING

from warpquad._core import __version__ as __version__
from warpquad._errors import EvaluationError as EvaluationError
from warpquad._errors import JournalError as JournalError
from warpquad._errors import NumericsError as NumericsError
from warpquad._errors import RangeError as RangeError
from warpquad._errors import SpecError as SpecError
from warpquad._errors import WarpquadError as WarpquadError
from warpquad._integrand import Failure as Failure
from warpquad._integrate import integrate as integrate
from warpquad._integrate import resume as resume
from warpquad._priors import CONSTRUCTORS as _CONSTRUCTORS
from warpquad._priors import Prior as Prior
from warpquad._priors import multivariate_normal as multivariate_normal
from warpquad._result import Result as Result
from warpquad._session import Session as Session
from warpquad._session import Task as Task
from warpquad._session import open as open

# wq.uniform(...) and its like: one for each prior that the core has a name for.
globals().update(_CONSTRUCTORS)

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Callable[..., Prior]:
        """A prior's constructor: the registry has the names."""
        raise AttributeError

"""Integrals of expensive, constrained functions from few evaluations, with error bars."""

import typing as _typing

from warpquad._ask_tell import AskTell as AskTell
from warpquad._ask_tell import ask_tell as ask_tell
from warpquad._blocks import fit as fit
from warpquad._blocks import warp_from as warp_from
from warpquad._core import GP as GP
from warpquad._core import Belief as Belief
from warpquad._core import Data as Data
from warpquad._core import Estimate as Estimate
from warpquad._core import Fitted as Fitted
from warpquad._core import Functional as Functional
from warpquad._core import Kernel as Kernel
from warpquad._core import Law as Law
from warpquad._core import Measure as Measure
from warpquad._core import Nodes as Nodes
from warpquad._core import Posterior as Posterior
from warpquad._core import Warp as Warp
from warpquad._core import at as at
from warpquad._core import fit_detailed as fit_detailed
from warpquad._core import integral as integral
from warpquad._core import kernel as kernel
from warpquad._core import kernels as kernels
from warpquad._core import law as law
from warpquad._core import measure as measure
from warpquad._core import measures as measures
from warpquad._core import warp as warp
from warpquad._core import warps as warps
from warpquad._core import weighted as weighted
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
from warpquad._laws import beta as beta
from warpquad._laws import cauchy as cauchy
from warpquad._laws import exponential as exponential
from warpquad._laws import gamma as gamma
from warpquad._laws import half_cauchy as half_cauchy
from warpquad._laws import half_normal as half_normal
from warpquad._laws import log_normal as log_normal
from warpquad._laws import log_uniform as log_uniform
from warpquad._laws import normal as normal
from warpquad._laws import student_t as student_t
from warpquad._laws import truncated_normal as truncated_normal
from warpquad._laws import uniform as uniform
from warpquad._ported import Problem as Problem
from warpquad._priors import Prior as Prior
from warpquad._priors import multivariate_normal as multivariate_normal
from warpquad._average import Average as Average
from warpquad._average import average as average
from warpquad._result import Audit as Audit
from warpquad._result import Result as Result
from warpquad._session import Session as Session
from warpquad._session import Task as Task
from warpquad._session import open as open
from warpquad.adapters.dynesty import like_dynesty as like_dynesty
from warpquad.adapters.nautilus import like_nautilus as like_nautilus
from warpquad.adapters.numpyro import from_numpyro as from_numpyro
from warpquad.adapters.pocomc import like_pocomc as like_pocomc
from warpquad.adapters.pymc import from_pymc as from_pymc
from warpquad.adapters.stan import from_stan as from_stan
from warpquad.adapters.ultranest import like_ultranest as like_ultranest

if _typing.TYPE_CHECKING:
    from warpquad.sklearn import WarpedGPRegressor as WarpedGPRegressor


def get_cobaya_class() -> type:
    """The sampler that Cobaya finds under the name `warpquad`.

    >>> info = {"sampler": {"warpquad": {"budget": 200}}}
    """
    from warpquad.adapters.cobaya import Warpquad

    return Warpquad


# Type checkers see the import above; with this function they would take any name for known.
if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """The part that needs scikit-learn, when it is asked for."""
        if name == "WarpedGPRegressor":
            from warpquad.sklearn import WarpedGPRegressor

            return WarpedGPRegressor
        raise AttributeError(f"module 'warpquad' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, those too that are imported late."""
    return sorted({*globals(), "WarpedGPRegressor"})

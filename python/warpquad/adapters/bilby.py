"""A sampler of bilby: `bilby.run_sampler(likelihood, priors, sampler="warpquad", budget=200)`.

bilby finds the class by the entry point `bilby.samplers`.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from bilby.core.prior import ConditionalPriorDict, JointPrior  # type: ignore[import-untyped, import-not-found, unused-ignore]
from bilby.core.sampler.base_sampler import NestedSampler, signal_wrapper  # type: ignore[import-untyped, import-not-found, unused-ignore]
from bilby.core.utils import logger  # type: ignore[import-untyped, import-not-found, unused-ignore]

from warpquad import _problem
from warpquad._integrate import integrate
from warpquad._priors import Prior
from warpquad._result import Result

Array = npt.NDArray[np.float64]

# The most draws that are made to find enough of them within bilby's constraints.
MOST_DRAWS = 200_000

# bilby's priors that the core has too.
LAWS: dict[str, Callable[[Any], Prior | None]] = {
    "Uniform": lambda p: Prior("uniform", (p.minimum, p.maximum), periodic=_is_periodic(p)),
    "LogUniform": lambda p: Prior("log-uniform", (p.minimum, p.maximum)),
    "Gaussian": lambda p: Prior("normal", (p.mu, p.sigma)),
    "TruncatedGaussian": lambda p: Prior("truncated-normal", (p.mu, p.sigma, p.minimum, p.maximum)),
    "HalfGaussian": lambda p: Prior("half-normal", (p.sigma,)),
    "LogNormal": lambda p: Prior("log-normal", (p.mu, p.sigma)),
    "Exponential": lambda p: Prior("exponential", (1 / p.mu,)),
    "Gamma": lambda p: Prior("gamma", (p.k, 1 / p.theta)),
    "Beta": lambda p: Prior("beta", (p.alpha, p.beta)) if (p.minimum, p.maximum) == (0, 1) else None,
    "StudentT": lambda p: Prior("student-t", (p.df, p.mu, p.scale)),
    "Cauchy": lambda p: Prior("cauchy", (p.alpha, p.beta)),
}
# Other names of the same priors.
SAME = {"Normal": "Gaussian", "TruncatedNormal": "TruncatedGaussian", "HalfNormal": "HalfGaussian"}
SAME |= {"LogGaussian": "LogNormal", "Lorentzian": "Cauchy"}


def _is_periodic(prior: Any) -> bool:
    return str(prior.boundary) == "periodic"


class Quantiles:
    """A prior of bilby by its quantile function."""

    def __init__(self, prior: Any) -> None:
        self.prior = prior
        self.periodic = _is_periodic(prior)

    def ppf(self, u: Any) -> Any:
        """x of a probability."""
        return self.prior.rescale(u)

    def support(self) -> tuple[float, float]:
        """Where the prior ends."""
        return float(self.prior.minimum), float(self.prior.maximum)


def law(prior: Any) -> Prior | Quantiles:
    """The core's own law of a prior, or its quantiles."""
    name = type(prior).__name__
    make = LAWS.get(SAME.get(name, name))
    known = make(prior) if make is not None and (name == "Uniform" or not _is_periodic(prior)) and type(prior).__module__.startswith("bilby.") else None
    return known if known is not None else Quantiles(prior)


class LogLikelihood:
    """The log likelihood that bilby's samplers are given, of an array; goes to other processes."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def __call__(self, theta: Array) -> float:
        return float(self.sampler.log_likelihood(theta))


_held: LogLikelihood | None = None


def _hold(function: LogLikelihood) -> None:
    """Keep the function in a worker: it is sent once, not with every point."""
    global _held
    _held = function


def _call(theta: Array) -> float:
    assert _held is not None
    return _held(theta)


class Warpquad(NestedSampler):  # type: ignore[misc, unused-ignore]
    """Integrals from few evaluations, as a sampler of bilby.

    The keywords are the options of `wq.integrate`: `budget=200`, `method=`, `log_z_sd=` and so on;
    and `nsamples`, how many posterior draws the result has.

    The run is kept in `OUTDIR/warpquad_LABEL`, and the same call goes on with it. bilby's own 100
    evaluations for timing are not made. As with bilby's nested samplers, the evidence is the
    integral over the part of the prior within the constraints, which is not normalised again.
    `log_likelihood` of the posterior is what the belief says, not an evaluation.
    """

    sampler_name = "warpquad"
    sampling_seed_key = "seed"
    default_kwargs: dict[str, Any] = {keyword: None for keyword in _problem.TABLE} | {
        "seed": None,
        "nsamples": 4000,
        "resume": True,
        "progress": None,
        "executor": None,
        "workers": None,
        "recheck": False,
        "npool": None,
    }

    def _time_likelihood(self, n_evaluations: int = 0) -> float:
        """Leave the timing out: every evaluation is dear."""
        return math.nan

    def _verify_parameters(self) -> None:
        """Check the names. The first evaluation tells of a likelihood that cannot be evaluated."""
        if self.priors.test_has_redundant_keys():
            super()._verify_parameters()

    def _verify_use_ratio(self) -> None:
        """Decide about the ratio by the noise evidence, without an evaluation."""
        if getattr(self, "use_ratio", None) is None:
            self.use_ratio: bool = not math.isnan(self.likelihood.noise_log_likelihood())

    def _priors(self) -> Any:
        """The prior for `wq.integrate`: one law each, or the whole transform where laws depend on
        each other."""
        laws = {key: self.priors[key] for key in self.search_parameter_keys}
        conditional = isinstance(self.priors, ConditionalPriorDict) and self.priors.conditional_keys
        if conditional or any(isinstance(one, JointPrior) for one in laws.values()):
            return lambda u: np.asarray(self.prior_transform(u), dtype=float).ravel()
        return {key: law(one) for key, one in laws.items()}

    @property
    def run_directory(self) -> str:
        """Where the run is kept."""
        return os.path.join(self.outdir, f"{self.sampler_name}_{self.label}")

    def _integrate(self) -> Result:
        given = {key: value for key, value in self.kwargs.items() if value is not None}
        resume, _ = given.pop("resume"), given.pop("nsamples")
        workers = given.pop("npool", None) or self.npool or 1
        if not resume:
            shutil.rmtree(self.run_directory, ignore_errors=True)
        held = LogLikelihood(self)
        function: Callable[[Array], float] = held
        if workers > 1 and "executor" not in given:
            given["executor"] = lambda: ProcessPoolExecutor(workers, initializer=_hold, initargs=(held,))
            function = _call
        os.makedirs(self.outdir, exist_ok=True)
        priors = self._priors()
        names = {} if isinstance(priors, dict) else {"names": self.search_parameter_keys}
        return integrate(function, priors, run=self.run_directory, argument="array", **names, **given)

    def _posterior(self, r: Result, count: int) -> tuple[Array, Array]:
        """Draws within the constraints, and the belief's log f there."""
        draws = count
        while True:
            points, log_f = r._draws(draws, r.seed)
            inside = np.array([self._allowed(theta) for theta in points], dtype=bool)
            if inside.sum() >= count or draws >= MOST_DRAWS:
                if not inside.any():
                    raise ValueError("no posterior draw is within the constraints of the priors")
                return points[inside][:count], log_f[inside][:count]
            draws = min(MOST_DRAWS, 2 * draws * count // max(1, int(inside.sum())))

    def _allowed(self, theta: Array) -> bool:
        sample = dict(zip(self.search_parameter_keys, theta))
        return bool(self.priors.evaluate_constraints(sample))

    @signal_wrapper  # type: ignore[untyped-decorator, unused-ignore]
    def run_sampler(self) -> Any:
        """Run, and fill bilby's result."""
        r = self._integrate()
        for text in r.warnings:
            logger.warning(text)
        samples, log_f = self._posterior(r, self.kwargs["nsamples"])
        self.result.samples = samples
        self.result.log_likelihood_evaluations = log_f
        self.result.log_evidence = r.log_z
        self.result.log_evidence_err = r.log_z_sd
        self.result.num_likelihood_evaluations = r.evaluations
        self.result.sampler_output = r
        if self.result.meta_data is None:
            self.result.meta_data = {}
        self.result.meta_data["warpquad"] = r.report
        self.calc_likelihood_count()
        return self.result

    def _run_test(self) -> Any:
        """A run that is too short to be of use."""
        self.kwargs["budget"] = 5
        return self.run_sampler()

    def write_current_state(self) -> None:
        """Nothing to write: every evaluation is in the journal before the next one begins."""

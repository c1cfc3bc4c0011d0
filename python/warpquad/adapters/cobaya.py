"""A sampler of Cobaya: `sampler: {warpquad: {budget: 200}}`.

Cobaya finds the class by `warpquad.get_cobaya_class`.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import numpy.typing as npt
from cobaya import mpi  # type: ignore[import-untyped, import-not-found, unused-ignore]
from cobaya.collection import SampleCollection  # type: ignore[import-untyped, import-not-found, unused-ignore]
from cobaya.conventions import Extension  # type: ignore[import-untyped, import-not-found, unused-ignore]
from cobaya.log import LoggedError  # type: ignore[import-untyped, import-not-found, unused-ignore]
from cobaya.model import LogPosterior  # type: ignore[import-untyped, import-not-found, unused-ignore]
from cobaya.sampler import Sampler  # type: ignore[import-untyped, import-not-found, unused-ignore]
from cobaya.yaml import yaml_dump_file  # type: ignore[import-untyped, import-not-found, unused-ignore]

from warpquad import _problem
from warpquad._core import __version__
from warpquad._integrate import integrate
from warpquad._result import Result
from warpquad.adapters._porting import angle

Array = npt.NDArray[np.float64]


class Warpquad(Sampler):  # type: ignore[misc, unused-ignore]
    """Integrals from few evaluations, as a sampler of Cobaya.

    Its options are those of `wq.integrate`, and these.
    """

    nsamples = 4000
    """How many posterior draws the sample has."""
    evaluate = False
    """Whether the model is evaluated at every draw, for derived parameters and for each likelihood
    by itself; otherwise they are missing, and the likelihood is what the belief says."""
    progress = False
    """A bar while the run goes on."""
    seed: Any = None
    supports_periodic_params = True

    _at_resume_prefer_new = ["version", "nsamples", "evaluate", "progress"]
    _at_resume_prefer_new += [keyword for keyword, row in _problem.TABLE.items() if not row["fixed"]]

    def initialize(self) -> None:
        """Refuse what cannot be done."""
        if mpi.more_than_one_process():
            raise LoggedError(self.log, "warpquad runs in one process: start Cobaya without MPI")
        self.logZ: float = np.nan
        self.logZstd: float = np.nan
        self.result: Result | None = None
        self.collection: Any = None

    def log_f(self, x: Array) -> float:
        """The likelihood, with the priors of the block `prior`, which have no quantiles."""
        posterior = self.model.logposterior(x)
        if posterior.logpost == -np.inf:
            return -np.inf
        return float(posterior.logpost - posterior.logpriors[0])

    def run(self) -> None:
        """Integrate, and make the sample and the evidence."""
        names = list(self.model.parameterization.sampled_params())
        given = {keyword: getattr(self, keyword) for keyword in _problem.TABLE}
        given = {keyword: value for keyword, value in given.items() if value is not None}
        priors = dict(zip(names, self.model.prior.pdf))
        for place in getattr(self.model.prior, "_periodic_bounds", ()):
            priors[names[place]] = angle(priors[names[place]])
        r = integrate(
            self.log_f,
            priors,
            argument="array",
            seed=self.seed,
            run=self.run_directory(self.output) if self.output else None,
            progress=self.progress,
            **given,
        )
        self.result, self.logZ, self.logZstd = r, r.log_z, r.log_z_sd
        for text in r.warnings:
            self.log.warning(text)
        self.collection = self._sample(r)
        if self.output:
            path = os.path.join(self.output.folder, self.output.prefix + Extension.evidence)
            evidence = {"logZ": float(r.log_z), "logZstd": float(r.log_z_sd)}
            yaml_dump_file(path, evidence, comment="log-evidence", error_if_exists=False)
        self.log.info("log(Z) = %g +/- %g from %d evaluations", r.log_z, r.log_z_sd, r.evaluations)

    def _sample(self, r: Result) -> Any:
        """The posterior draws as a collection of Cobaya's."""
        if self.output:
            for path in self.output.find_collections():
                os.remove(path)  # of an earlier part of this run
        collection = SampleCollection(self.model, self.output or None, name="1", sample_type="nested")
        points, log_f = r._draws(self.nsamples, r.seed)
        for x, value in zip(points, log_f):
            collection.add(x, logpost=self._logpost(x, float(value)))
        collection.out_update()
        return collection

    def _logpost(self, x: Array, log_f: float) -> Any:
        """What is known of a draw."""
        if self.evaluate:
            return self.model.logposterior(x)
        logpriors = [float(value) for value in self.model.prior.logps(x)]
        loglike = log_f - sum(logpriors[1:])
        if len(self.model.likelihood) == 1:
            return LogPosterior(logpriors=logpriors, loglikes=[loglike])
        # Which likelihood has which part is not known.
        return LogPosterior(logpost=sum(logpriors) + loglike, logpriors=logpriors)

    def samples(self, combined: bool = False, skip_samples: float = 0, to_getdist: bool = False) -> Any:
        """The posterior draws; `skip_samples` is ignored, since the draws are exchangeable."""
        return self.collection.to_getdist() if to_getdist else self.collection

    def products(self, combined: bool = False, skip_samples: float = 0, to_getdist: bool = False) -> dict[str, Any]:
        """The sample, the evidence as `logZ` and `logZstd`, and our own result."""
        sample = self.samples(combined, skip_samples, to_getdist)
        return {"sample": sample, "logZ": self.logZ, "logZstd": self.logZstd, "result": self.result}

    @classmethod
    def run_directory(cls, output: Any) -> str:
        """Where the run is kept, beside Cobaya's own files."""
        return str(output.add_suffix("warpquad", separator="_"))

    @classmethod
    def output_files_regexps(cls, output: Any, info: Any = None, minimal: bool = False) -> list[Any]:
        """The files of a run: what is looked for when one begins, and removed when it is forced."""
        journal = (re.compile(r"journal\.jsonl"), cls.run_directory(output))
        if minimal:
            return [journal]
        evidence = re.compile(re.escape(output.prefix + Extension.evidence))
        return [journal, (None, cls.run_directory(output)), (output.collection_regexp(name=None), None), (evidence, None)]

    @classmethod
    def get_version(cls) -> str:
        """Our version."""
        return __version__


# Cobaya takes the attributes of the class for its options.
for _keyword in _problem.TABLE:
    setattr(Warpquad, _keyword, None)

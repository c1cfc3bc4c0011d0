"""What a run found: ln Z with its interval, the posterior, and what to know about it."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warpquad import _core, _expectation, _page, _priors, _problem
from warpquad._errors import SpecError
from warpquad._expectation import Expectation
from warpquad._calling import Argument
from warpquad._integrand import Failure, Integrand, calling_of
from warpquad._page import Page
from warpquad._priors import Priors
from warpquad._words import counted, measured, within

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.figure import Figure  # type: ignore[import-untyped, import-not-found, unused-ignore]

Array = npt.NDArray[np.float64]

# Points of the convergence plot: enough for a curve, each costs as much as one more result.
TRACE_POINTS = 10
# Within so many nats of 0 Z itself is worth a line: e^7 is about a thousand.
ORDER_ONE = 7.0


@dataclass(frozen=True)
class Audit:
    """What importance sampling from the belief says of Z: unbiased, whatever the belief.

    >>> import warpquad as wq
    >>> priors = {"x": wq.normal(0, 1)}
    >>> r = wq.integrate(lambda x: -x**2, priors, budget=20, audit=0.25, progress=False)
    >>> r.audit.evaluations
    5
    """

    log_z: float
    """ln of its estimate of Z; -inf if f was 0 at all of its points."""
    log_z_sd: float
    """The relative standard error of that estimate; inf for a single point."""
    evaluations: int
    """The evaluations that it rests on."""


def _or_infinite(number: float | None) -> float:
    """A number of a report, which has none for what is too large."""
    return math.inf if number is None else float(number)


class Result:
    """What a run found; what the run does later does not change it.

    >>> import warpquad as wq
    >>> smooth = {"kernel": "squared-exponential", "fit": "g"}
    >>> r = wq.integrate(lambda x: -2 * (x["a"] - 1) ** 2, {"a": wq.normal(0, 1)}, budget=15,
    ...                  progress=False, **smooth)
    >>> abs(r.mean(lambda x: x["a"]).mean - 0.8) < 0.01   # the posterior is normal with mean 4/5
    True
    >>> r.posterior(100)["a"].shape
    (100,)
    """

    def __init__(
        self,
        core: _core.Session,
        priors: Priors,
        stop: str,
        failures: list[Failure],
        under: str | None = None,
    ) -> None:
        self.core = core
        self.priors = priors
        self.failures = failures
        self._under = under
        self._take(core, stop)

    def _take(self, core: _core.Session, stop: str) -> None:
        """Keep what the core's session knows now."""
        self.law = core.report(stop)
        self.report: dict[str, Any] = json.loads(self.law.to_json())
        self._then = _core.Snapshot.of(core)
        self._observed = core.observations()
        self._columns = core.derived()
        self._lines = core.to_lines()
        self._nodes: _core.PosteriorNodes | None = None
        self._steps: dict[int, Array] = {}
        self._drawn: dict[tuple[int, int], tuple[Array, Array]] = {}
        self._found: str | None = None

    @property
    def log_z(self) -> float:
        """The median of ln Z; NaN where Z is negative."""
        return self.law.log_z

    @property
    def log_z_sd(self) -> float:
        """The standard deviation of ln Z."""
        return self.law.log_z_sd

    @property
    def z(self) -> float:
        """The mean of Z itself; infinite, or 0, where a number has no room for it."""
        return _or_infinite(self.report["z"])

    @property
    def z_sd(self) -> float:
        """Standard deviation of Z, the node rule's error included."""
        return _or_infinite(self.report["z_sd"])

    def interval(self, probability: float = 0.95) -> tuple[float, float]:
        """The central interval of ln Z with that probability."""
        return self.law.interval(_expectation.between_0_and_1(probability))

    @property
    def audit(self) -> Audit | None:
        """The check that the last part of the evaluations gave; None unless `audit=` asked for
        one."""
        known = self.report.get("audit")
        if known is None:
            return None
        # JSON has no infinity.
        log_z, sd = known["log_z"], known["log_z_sd"]
        return Audit(-math.inf if log_z is None else log_z, math.inf if sd is None else sd, known["evaluations"])

    @property
    def evaluations(self) -> int:
        """Evaluations of the run: values that the result rests on, without those given."""
        return int(self.report["evaluations"])

    @property
    def given(self) -> int:
        """Values that the result rests on and that the run did not ask for."""
        return int(self.report["given"])

    @property
    def initial(self) -> list[dict[str, Any]]:
        """What became of what was known before: for each source how many points were `offered`,
        `taken` as values and `evaluated_first`; and left out as `outside` the prior, `repeated`,
        `disputed` (repeated with another value) or `thinned`.

        >>> import warpquad as wq
        >>> priors = {"x": wq.uniform(-3, 3)}
        >>> known = ([[0.5], [1.5], [9.0]], [-0.25, -2.25, -81.0])
        >>> r = wq.integrate(lambda x: -x**2, priors, initial=known, budget=10, progress=False)
        >>> r.evaluations, r.given, r.initial[0]["outside"]
        (10, 2, 1)
        """
        return list(self.report["initial"])

    @property
    def stop(self) -> str:
        """Why the run stopped."""
        return str(self.report["stop"])

    @property
    def seconds(self) -> float:
        """Seconds of wall clock that the run took."""
        return float(self.report["seconds"])

    @property
    def warnings(self) -> list[str]:
        """What a reader of the result should know."""
        return list(self.report["warnings"])

    @property
    def method(self) -> dict[str, Any]:
        """The method by name and by parts."""
        return dict(self.report["method"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.report["seed"])

    @property
    def names(self) -> list[str]:
        """The parameters' names."""
        return list(self.priors.names)

    @property
    def observations(self) -> dict[str, Array]:
        """Every evaluation in order: the parameters, derived quantities, and `log_f` (or `f`, if
        the function gave f itself)."""
        points, values, logs = self._observed
        out = dict(zip(self.names, self.priors.to_x(points).T.copy()))
        out.update({name: np.array(column) for name, column in self._columns})
        if logs.all():
            return {**out, "log_f": values.copy()}
        with np.errstate(over="ignore"):
            return {**out, "f": np.where(logs, np.exp(np.where(logs, values, 0.0)), values)}

    def posterior(self, n: int = 4000, seed: int = 0) -> dict[str, Array]:
        """Posterior draws of equal weight: n values of each parameter, the same for the same seed.

        They follow the prior times the belief's mean of f, and are exchangeable: any part of them
        is a sample too. A second call with the same n and seed costs nothing. Derived quantities
        are interpolated, and drawn with what the interpolation does not know.
        """
        points, _ = self._draws(n, seed)
        out = dict(zip(self.names, points.T.copy()))
        noise = np.random.default_rng(seed)
        for name, (mean, sd) in self._interpolated(n, seed).items():
            out[name] = mean + sd * noise.standard_normal(len(mean))
        return out

    def _interpolated(self, n: int, seed: int) -> dict[str, tuple[Array, Array]]:
        """The mean and sd of each derived quantity at the draws; without those that have too few
        values."""
        if not self._columns:
            return {}
        points = self._then.draws(int(n), seed)[0]
        known = self.report["derived"]
        return {name: self._then.interpolate(c, points) for name, c in self._columns if name in known}

    @property
    def derived(self) -> dict[str, dict[str, Any]]:
        """The marginals of quantities that the function returned beside its value, as
        `(log_f, {"mass": ...})`: `mean`, `sd`, `interval` (95 %), and `interpolation_sd`, how
        uncertain the interpolation between the evaluations is; the sd has it in it.

        >>> import warpquad as wq
        >>> f = lambda x: (-x**2, {"square": x**2})
        >>> r = wq.integrate(f, {"x": wq.normal(0, 1)}, budget=20, progress=False)
        >>> abs(r.derived["square"]["mean"] - 1 / 3) < 0.1
        True
        """
        return dict(self.report["derived"])

    def samples(self, n: int = 4000, seed: int = 0) -> Array:
        """The same draws as an array of shape (n, d), as samplers return them and `corner` takes
        them."""
        return self._draws(n, seed)[0]

    def _draws(self, n: int, seed: int) -> tuple[Array, Array]:
        if not (isinstance(n, (int, np.integer)) and n >= 1):
            raise SpecError.of("n", f"must be a whole number of draws, 1 or more, got {n!r}")
        key = (int(n), seed)
        if key not in self._drawn:
            points, log_f, _, _ = self._then.draws(*key)
            self._drawn[key] = self.priors.to_x(points), log_f
        return self._drawn[key]

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The least and the largest value that the prior gives each parameter; infinite where it
        has no end, and where a prior transform does not say."""
        return dict(zip(self.names, self.priors.bounds(self.core.support)))

    @property
    def circles(self) -> dict[str, tuple[float, float]]:
        """The two ends of each periodic parameter, which are one point; a prior transform does not
        say them."""
        return self.priors.circles(self.core.circles)

    def prior(self, n: int = 4000) -> dict[str, Array]:
        """About n points that follow the prior, evenly spread; all draws of a prior that is an
        array of them."""
        return dict(zip(self.names, self.priors.to_x(self._then.prior(n)).T.copy()))

    def mean(self, h: Callable[..., Any], *, argument: Argument | None = None, vectorized: bool | None = None) -> Expectation:
        """The posterior expectation of h, with its error bar: a ratio of two integrals of f on the
        same nodes.

        Args:
            h: takes a point and returns a number or an array of numbers.
            argument: how h is called, "dict", "array" or "keywords"; by default as `wq.integrate`
                calls its function.
            vectorized: True if h takes a batch (arrays of n values, or one of shape (n, d)) and
                returns n values; False if it takes one point at a time. By default a batch is
                tried, compared with single points, and given up if they differ.

        Returns:
            An `Expectation` with `mean`, `sd`, `interval(0.95)` and `cov`; `float()` of it is the
            mean.
        """
        if self._nodes is None:
            self._nodes = self._then.nodes()
        if not callable(h):
            raise SpecError.of("h", f"must be a function of a point, got {h!r}")
        x = self.priors.numbers(self._nodes.points)
        arguments = self.priors.arguments
        calling = calling_of(h, arguments, self.priors.keyed, argument, "h")
        values = _expectation.on_nodes(Integrand(h, False, arguments, calling, True), x, vectorized)
        flat = values.reshape(len(x), -1)
        nodes = self._nodes
        parts = [nodes.expectation(np.ascontiguousarray(column)) for column in flat.T]

        def sums(i: int, j: int, a: float, b: float) -> _core.Expectation:
            return nodes.expectation(np.ascontiguousarray(a * flat[:, i] + b * flat[:, j]))

        return Expectation(parts, values.shape[1:], sums)

    def reweight(self, priors: Any, names: Sequence[str] | None = None) -> Result:
        """The result under another prior, without new evaluations: ln Z, the posterior and all
        else.

        It is as good as what the run knows of f where the other prior and f have their mass; the
        verdict says so where the run hardly looked there (`"prior"` among the reasons).

        Args:
            priors: priors of the same parameters, in a form that the core knows: `wq.normal` and
                its like, scipy's of the same families, a multivariate normal.
            names: the parameters of a multivariate normal.

        >>> import math
        >>> import warpquad as wq
        >>> r = wq.integrate(lambda x: -x**2, {"x": wq.normal(0, 1)}, budget=20, progress=False)
        >>> other = r.reweight({"x": wq.normal(0.5, 0.5)})   # Z = exp(-a^2/(1+2s^2)) / sqrt(1+2s^2)
        >>> abs(other.log_z - (-0.25 / 1.5 - 0.5 * math.log(1.5))) < 0.01
        True
        """
        if isinstance(priors, Mapping) and sorted(priors) == sorted(a.name for a in self.priors.arguments):
            priors = {argument.name: priors[argument.name] for argument in self.priors.arguments}
        named = None if isinstance(priors, Mapping) else names or self.names
        known = _priors.read(priors, named, None)
        if known.mapped or self.priors.mapped:
            raise SpecError.of(
                "priors",
                "a prior by quantiles or a prior transform has no density that the core knows; state both priors by "
                "wq.normal, wq.uniform and their like",
            )
        text = _problem.text(known, {})
        core = _core.Session.from_lines(self._lines).under(text)
        return Result(core, known, self.stop, self.failures, under=text)

    def trace(self, points: int = TRACE_POINTS) -> dict[str, Array]:
        """What was known of ln Z on the way: `evaluations`, `log_z`, `log_z_sd`, `low` and `high`
        (95 %) as arrays.

        The run's own fits are conditioned again on what it had seen by then. The leading model
        alone tells the way, which is cheap; the last entry is the result. A second call costs
        nothing.
        """
        if points not in self._steps:
            self._steps[points] = np.array(self._then.trace(points, 0.95)).reshape(-1, 5).T
        labels = ("evaluations", "log_z", "log_z_sd", "low", "high")
        return dict(zip(labels, self._steps[points].copy()))

    def to_pandas(self) -> pandas.DataFrame:
        """The evaluations as a DataFrame: a column for each parameter, and `log_f` (or `f`).

        For posterior draws: `pandas.DataFrame(r.posterior(n))`.
        """
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return pandas.DataFrame(self.observations)

    def to_arviz(self, n: int = 4000, seed: int = 0, chains: int = 4) -> Any:
        """Posterior draws as ArviZ takes them (a DataTree, InferenceData before ArviZ 1.0), with
        `sample_stats` of `lp`, the log of f.

        A vector is one variable. What is known of Z is in the attributes: `log_z`, `log_z_sd`,
        `evaluations` and so on. The draws are exchangeable, so `chains` is only how they are
        stacked; ArviZ compares chains with each other.

        >>> import warpquad as wq
        >>> r = wq.integrate(lambda x: -x**2, {"x": wq.normal(0, 1)}, budget=12, progress=False)
        >>> tree = r.to_arviz()                       # doctest: +SKIP
        >>> tree.posterior["x"].shape, tree.attrs["log_z"] == r.log_z   # doctest: +SKIP
        ((4, 1000), True)
        """
        from warpquad import _export

        return _export.to_arviz(self, n, seed, chains)

    def to_getdist(self, n: int = 4000, seed: int = 0, **settings: Any) -> Any:
        """Posterior draws as GetDist's `MCSamples`, with the prior's bounds as ranges; `settings`
        go to its constructor, such as `label="model 1"`.

        `loglikes` is -ln f. GetDist has no place for the evidence, so that is in the attributes
        `log_z` and `log_z_sd`.

        >>> import warpquad as wq
        >>> r = wq.integrate(lambda x: -x**2, {"x": wq.normal(0, 1)}, budget=12, progress=False)
        >>> print(r.to_getdist().getInlineLatex("x"))   # doctest: +SKIP
        x = 0.00\\pm 0.58
        """
        from warpquad import _export

        return _export.to_getdist(self, n, seed, settings)

    def to_anesthetic(self, n: int = 4000, seed: int = 0, **settings: Any) -> Any:
        """Posterior draws as anesthetic's `Samples`, with a column `logL` of ln f; `settings` go to
        its constructor, such as `label="model 1"`.

        What is known of Z is in the frame's `attrs`: `log_z`, `log_z_sd`, `evaluations`.

        >>> import warpquad as wq
        >>> r = wq.integrate(lambda x: -x**2, {"x": wq.normal(0, 1)}, budget=12, progress=False)
        >>> r.to_anesthetic().attrs["log_z"] == r.log_z   # doctest: +SKIP
        True
        """
        from warpquad import _export

        return _export.to_anesthetic(self, n, seed, settings)

    def plot(
        self, n: int = 4000, figure: Figure | None = None, parameters: Sequence[str] | None = None
    ) -> Figure:
        """A figure: the convergence of ln Z, and a corner plot of n draws with the prior's
        marginals and where the run looked. Needs matplotlib.

        It shows itself in a notebook; `r.plot().savefig("run.png")` keeps it, and
        `r.plot(figure=plt.figure(layout="constrained"))` draws into a window of pyplot's.

        Args:
            n: how many posterior draws it is made from.
            figure: draw into this one instead of a new one.
            parameters: which parameters the corner plot shows, in their own order; by default all,
                and of more than eight those that the run learned most about. The marginals of all
                are shown in any case.
        """
        from warpquad import _plotting

        return _plotting.plot(self, n, figure, parameters)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "warpquad",
        parameters: Sequence[str] | None = None,
    ) -> Page:
        """The page of the run, which the program writes by `warpquad report RUN --html`: the
        answer, its convergence, the posterior, what there is to judge it by, and the time.

        It is one file that needs no network. What it shows is worked out by the first call.

        Args:
            path: write it there; without one it is only returned, and shows itself in a notebook.
            title: its heading.
            parameters: which parameters the corner plot shows; by default all, at most eight.
        """
        if self._found is None:
            found = _core.findings(self._lines, self.stop, self._under)
            self._found = _page.in_x(found, self.priors, self.report)
        chosen = _page.known(parameters, self.names)
        page = Page(_core.page(self._found, title, chosen))
        if path is not None:
            page.save(path)
        return page

    @property
    def verdict(self) -> str:
        """"settled", or "unsettled" where `reasons` say why not to trust the interval.

        >>> import warpquad as wq
        >>> r = wq.integrate(lambda x: -x**2, {"x": wq.normal(0, 1)}, budget=3, progress=False)
        >>> r.verdict, r.reasons[0]["code"]
        ('unsettled', 'few')
        """
        return str(self.report["verdict"])

    @property
    def log_prior_mass(self) -> float | None:
        """ln of the part of the prior that the constraints leave; None without constraints.

        >>> import warpquad as wq
        >>> priors = {"a": wq.uniform(0, 1), "b": wq.uniform(0, 1)}
        >>> options = {"constraints": ["a < b"], "budget": 9, "progress": False}
        >>> r = wq.integrate(lambda a, b: -a, priors, **options)
        >>> round(r.log_prior_mass, 4)
        -0.6931
        """
        mass = self.report.get("log_prior_mass")
        return None if mass is None else float(mass)

    @property
    def reasons(self) -> list[dict[str, str]]:
        """Why the answer is not settled: a code and a sentence each; empty if it is."""
        return list(self.report["reasons"])

    def _rows(self) -> dict[str, str]:
        rows = {
            **self._verdict_rows(),
            **self._z_rows(),
            **self._mass_row(),
            **self._audit_row(),
            "evaluations": str(self.evaluations) + (f" ({len(self.failures)} failed)" if self.failures else ""),
            **({"given": f"{self.given} values"} if self.given else {}),
            "stopped by": self.stop,
            "method": str(self.method["name"]),
            "seconds": f"{self.seconds:.1f}",
        }
        return rows | {f"warning {i}": text for i, text in enumerate(self.warnings, 1)}

    def _z_rows(self) -> dict[str, str]:
        """log Z where Z has one, and Z itself where f is of order one."""
        rows = {}
        if not math.isnan(self.log_z):
            sd, (low, high) = self.log_z_sd, self.interval()
            rows["log Z"] = measured(self.log_z, sd)
            rows["95 % interval"] = f"[{within(low, sd)}, {within(high, sd)}]"
        if not abs(self.log_z) >= ORDER_ONE:
            rows["Z"] = measured(self.z, self.z_sd)
        return rows

    def _verdict_rows(self) -> dict[str, str]:
        """The verdict first, with its reasons, where the report has one."""
        word = self.report.get("verdict")
        if word is None:
            return {}
        reasons = [str(reason["sentence"]) for reason in self.report.get("reasons", [])]
        return {"verdict": " ".join([f"{word}.", *reasons]) if reasons else str(word)}

    def _mass_row(self) -> dict[str, str]:
        mass = self.log_prior_mass
        return {} if mass is None else {"log prior mass": f"{mass:.4f}, of the constraints"}

    def _audit_row(self) -> dict[str, str]:
        audit = self.audit
        if audit is None:
            return {}
        number = counted(audit.evaluations, "evaluation")
        return {"audit": f"{measured(audit.log_z, audit.log_z_sd)} from {number} drawn from the belief"}

    def __repr__(self) -> str:
        return "\n".join(f"{label:<15}  {text}" for label, text in self._rows().items())

    def _repr_html_(self) -> str:
        cell = '<td style="text-align:left">'
        rows = (
            f'<tr><th style="text-align:left">{html.escape(label)}</th>{cell}{html.escape(text)}</td></tr>'
            for label, text in self._rows().items()
        )
        return f"<table>{''.join(rows)}</table>"

    def __getstate__(self) -> dict[str, Any]:
        # The journal's lines are the run: no state is kept that a later version could misread.
        return {"lines": self._lines, "priors": self.priors, "report": self.report, "failures": self.failures,
                "under": self._under}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._under = state.get("under")
        self.core = _core.Session.from_lines(state["lines"])
        if self._under is not None:
            self.core = self.core.under(self._under)
        self.priors = state["priors"]
        self.failures = state["failures"]
        self._take(self.core, state["report"]["stop"])
        self.report = state["report"]  # with the seconds that the run took

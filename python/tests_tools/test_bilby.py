"""A sampler of bilby, found by its entry point, beside bilby's own dynesty."""

import importlib.metadata
import math

import bilby
import numpy as np
import pytest
import scipy.special
import scipy.stats as stats
from bilby.core.prior import Constraint, DeltaFunction, Gaussian, PowerLaw, PriorDict, Uniform
from warpquad.adapters import bilby as adapter

bilby.core.utils.logger.setLevel("ERROR")


class Line(bilby.Likelihood):
    """The linear regression of bilby's tutorial, with a count of its evaluations."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(88)
        self.x = np.linspace(0, 10, 50)
        self.y = rng.normal(0.5 * self.x + 0.2, 1.0)
        self.calls = 0

    def log_likelihood(self, parameters=None):
        self.calls += 1
        p = self.parameters if parameters is None else parameters
        residual = self.y - (p["m"] * self.x + p["c"])
        return float(-0.5 * np.sum(residual**2 / p["sigma"] ** 2 + np.log(2 * np.pi * p["sigma"] ** 2)))


def priors(**more):
    return PriorDict({"m": Uniform(0, 5, "m"), "c": Uniform(-2, 2, "c"), "sigma": DeltaFunction(1.0), **more})


def exact(likelihood, inside=lambda m, c: True):
    """ln Z on a grid, far finer than the posterior."""
    m, c = np.meshgrid(np.linspace(0, 5, 2001), np.linspace(-2, 2, 801), indexing="ij")
    x, y = likelihood.x, likelihood.y
    # The sum of squares is a quadratic in m and c.
    ss = (y @ y) + m**2 * (x @ x) + c**2 * len(x) - 2 * m * (x @ y) - 2 * c * y.sum() + 2 * m * c * x.sum()
    log_l = -0.5 * ss - 0.5 * len(x) * math.log(2 * math.pi)
    log_l = np.where(np.vectorize(inside)(m, c), log_l, -np.inf)
    top = log_l.max()
    return top + math.log(np.exp(log_l - top).mean())


def run(likelihood, prior, tmp_path, label="test", **more):
    options = {"budget": 60, "seed": 1, "save": False, "progress": False, **more}
    return bilby.run_sampler(likelihood, prior, sampler="warpquad", outdir=str(tmp_path), label=label, **options)


def test_the_entry_point():
    (found,) = importlib.metadata.entry_points(group="bilby.samplers", name="warpquad")
    assert found.load() is adapter.Warpquad
    assert "warpquad" in bilby.core.sampler.get_implemented_samplers()


def test_the_tutorial(tmp_path):
    likelihood = Line()
    result = run(likelihood, priors(), tmp_path)
    assert isinstance(result, bilby.core.result.Result)
    assert result.num_likelihood_evaluations == 60
    # bilby evaluates the likelihood of the posterior's maximum or of nothing more.
    assert likelihood.calls <= 61
    assert result.log_evidence == pytest.approx(exact(likelihood), abs=0.1)
    assert 0 < result.log_evidence_err < 0.5
    assert result.fixed_parameter_keys == ["sigma"] and (result.posterior["sigma"] == 1.0).all()
    best = np.polyfit(likelihood.x, likelihood.y, 1)
    assert result.posterior["m"].mean() == pytest.approx(best[0], abs=0.02)
    assert result.posterior["c"].std() == pytest.approx(0.277, abs=0.05)
    assert len(result.posterior) == 4000 and np.isfinite(result.posterior["log_likelihood"]).all()
    assert result.meta_data["warpquad"]["evaluations"] == 60


def test_dynesty_agrees(tmp_path):
    likelihood = Line()
    own = bilby.run_sampler(
        likelihood, priors(), sampler="dynesty", nlive=150, outdir=str(tmp_path), label="own", save=False, plot=False,
        check_point_plot=False, sample="unif", bound="multi", seed=3,
    )
    ours = run(likelihood, priors(), tmp_path)
    assert own.log_evidence == pytest.approx(ours.log_evidence, abs=5 * own.log_evidence_err)


def test_a_run_goes_on_and_is_begun_anew(tmp_path):
    likelihood = Line()
    run(likelihood, priors(), tmp_path, budget=20)
    calls = likelihood.calls
    result = run(likelihood, priors(), tmp_path, budget=30)
    assert result.num_likelihood_evaluations == 30 and likelihood.calls - calls <= 11
    calls = likelihood.calls
    run(likelihood, priors(), tmp_path, budget=30, resume=False)
    assert likelihood.calls - calls >= 30


def test_constraints(tmp_path):
    def convert(parameters):
        return {**parameters, "gap": parameters["m"] - parameters["c"]}

    likelihood = Line()
    constrained = PriorDict(dict(priors(gap=Constraint(0, 0.5))), conversion_function=convert)
    result = run(likelihood, constrained, tmp_path, budget=120)
    gap = result.posterior["m"] - result.posterior["c"]
    assert ((gap > 0) & (gap < 0.5)).all() and len(gap) == 4000
    want = exact(likelihood, lambda m, c: 0 < m - c < 0.5)
    assert abs(result.log_evidence - want) < max(0.2, 3 * result.log_evidence_err)


def test_priors_that_depend_on_each_other(tmp_path):
    def condition(reference, m):
        return dict(minimum=-2 * m, maximum=2 * m)

    dependent = bilby.core.prior.ConditionalPriorDict({
        "m": Uniform(0.1, 1, "m"),
        "c": bilby.core.prior.ConditionalUniform(condition, minimum=-1, maximum=1, name="c"),
        "sigma": DeltaFunction(1.0),
    })
    result = run(Line(), dependent, tmp_path)
    assert (abs(result.posterior["c"]) <= 2 * result.posterior["m"]).all()


def test_laws():
    u = np.array([0.01, 0.3, 0.99])
    P = bilby.core.prior
    for prior, law in [
        (P.Uniform(-1, 2), stats.uniform(-1, 3)),
        (P.LogUniform(0.1, 10), stats.loguniform(0.1, 10)),
        (P.Gaussian(1, 2), stats.norm(1, 2)),
        (P.Normal(1, 2), stats.norm(1, 2)),
        (P.TruncatedGaussian(0, 1, -1, 2), stats.truncnorm(-1, 2)),
        (P.HalfGaussian(2), stats.halfnorm(scale=2)),
        (P.LogNormal(0.5, 0.7), stats.lognorm(0.7, scale=math.exp(0.5))),
        (P.Exponential(3), stats.expon(scale=3)),
        (P.Gamma(2, 3), stats.gamma(2, scale=3)),
        (P.Beta(2, 3), stats.beta(2, 3)),
        (P.StudentT(4, 1, 2), stats.t(4, 1, 2)),
        (P.Cauchy(1, 2), stats.cauchy(1, 2)),
    ]:
        # bilby's own quantiles are scipy's, and our law is the one that scipy's becomes.
        assert prior.rescale(u) == pytest.approx(law.ppf(u), rel=1e-6)
        from warpquad._scipy import marginal

        known, to_x = marginal(law)
        made = adapter.law(prior)
        assert to_x is None and (made.name, made.numbers) == (known[0], pytest.approx(known[1]))
    assert isinstance(adapter.law(PowerLaw(2, 1, 3)), adapter.Quantiles)
    assert adapter.law(PowerLaw(2, 1, 3)).support() == (1, 3)
    assert isinstance(adapter.law(P.Beta(2, 3, maximum=2)), adapter.Quantiles)


def test_processes(tmp_path):
    result = run(Line(), priors(c=Gaussian(0, 1)), tmp_path, npool=2, budget=30)
    assert result.num_likelihood_evaluations == 30


def test_the_noise_evidence_is_added(tmp_path):
    class Noisy(Line):
        def noise_log_likelihood(self):
            return -100.0

    plain = run(Line(), priors(), tmp_path, label="plain")
    ratio = run(Noisy(), priors(), tmp_path, label="ratio", use_ratio=True)
    assert ratio.log_evidence == pytest.approx(plain.log_evidence, abs=0.1)
    assert ratio.log_bayes_factor == pytest.approx(ratio.log_evidence + 100)


def test_a_periodic_boundary_is_a_circle(tmp_path):
    class Phase(bilby.Likelihood):
        def log_likelihood(self, parameters=None):
            p = self.parameters if parameters is None else parameters
            return float(30 * np.cos(p["phase"] - 0.02) - 2 * np.cos(p["tilt"]))

    prior = PriorDict(
        {"phase": Uniform(0, 2 * np.pi, boundary="periodic"), "tilt": bilby.core.prior.Sine(boundary="reflective")}
    )
    r = run(Phase(), prior, tmp_path, budget=40)
    # The mean of exp(-2 cos) over a direction is sinh(2)/2.
    truth = math.log(scipy.special.ive(0, 30)) + 30 + math.log(math.sinh(2) / 2)
    assert r.log_evidence == pytest.approx(truth, abs=0.02)
    assert list(r.sampler_output.circles) == ["phase"]

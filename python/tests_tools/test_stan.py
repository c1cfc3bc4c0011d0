"""Stan models through the real Python package of BridgeStan.

The library that stands for a compiled Stan program is written in C to BridgeStan's recorded
interface: Stan's own sources are on no package registry.
"""

import math
import subprocess
from pathlib import Path

import bridgestan
import numpy as np
import pytest
import scipy.stats as stats
import warpquad as wq
from warpquad.adapters import stan as adapter

HERE = Path(__file__).parent
Y = np.array([0.3, -0.2, 0.9, 0.4])
# y ~ N(mu, 1), mu ~ N(0, 2): the marginal of y is normal.
CONJUGATE = stats.multivariate_normal(np.zeros(4), np.eye(4) + 4.0).logpdf(Y)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("stan") / "models.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path, HERE / "stan_models.c", "-lm"], check=True)
    return path


@pytest.fixture
def model(library):
    return lambda name: bridgestan.StanModel(str(library), data={"model": 0, name: 1}, warn=False)


def test_the_evidence_and_the_models_own_parameters(model):
    problem = wq.from_stan(model("line"))
    r = wq.integrate(problem, budget=80, progress=False)
    assert r.names == ["mu", "s[1]", "s[2]"]
    assert r.log_z == pytest.approx(CONJUGATE, abs=max(0.02, 3 * r.log_z_sd))
    assert r.mean(lambda p: p["mu"]).mean == pytest.approx(Y.sum() / (4 + 1 / 4), abs=0.05)
    draws = r.posterior()
    assert draws["mu"].mean() == pytest.approx(Y.sum() / (4 + 1 / 4), abs=0.05)
    # s is not in the likelihood: Exponential(2), which is positive.
    assert draws["s[1]"].min() > 0 and draws["s[1]"].mean() == pytest.approx(0.5, abs=0.05)


def test_the_density_is_stans_over_the_references(model):
    line = model("line")
    problem = wq.from_stan(line)
    theta = np.array([0.4, -0.7, 0.2])
    center, covariance = adapter.reference(adapter.Density(line), 0)
    ln_q = stats.multivariate_normal(center, covariance).logpdf(theta)
    joint = line.log_density(theta, propto=False, jacobian=True)
    assert problem.log_f(line.param_constrain(theta)) == pytest.approx(joint - ln_q, abs=1e-9)
    by_hand = stats.norm(0, 2).logpdf(0.4) + stats.norm(0.4, 1).logpdf(Y).sum()
    by_hand += sum(stats.expon(scale=0.5).logpdf(math.exp(t)) + t for t in theta[1:])
    assert joint == pytest.approx(by_hand)


def test_a_simplex_has_derived_parameters(model):
    r = wq.integrate(wq.from_stan(model("simplex")), budget=30, progress=False)
    # Beta-binomial.
    truth = stats.betabinom(10, 2, 2).logpmf(3)
    assert r.log_z == pytest.approx(truth, abs=max(0.01, 3 * r.log_z_sd))
    assert r.names == ["unconstrained(p[1])"]
    p = r.posterior()["p[1]"]
    assert p.mean() == pytest.approx(5 / 14, abs=0.01)
    assert r.posterior()["p[2]"].mean() == pytest.approx(9 / 14, abs=0.01)


def test_refusals(model):
    with pytest.raises(wq.SpecError, match="check the data, or give log_f and priors yourself"):
        wq.from_stan(model("flat"))
    with pytest.raises(wq.SpecError, match="bridgestan.StanModel"):
        wq.from_stan("model.stan")


def test_several_modes_are_covered():
    class Two:
        """ln of two normal modes, as the interface has it."""

        def param_unc_names(self):
            return ["a"]

        def log_density(self, theta, propto, jacobian):
            return float(np.logaddexp(-50 * (theta[0] - 1) ** 2, -50 * (theta[0] + 1) ** 2))

        def log_density_gradient(self, theta, propto, jacobian):
            h = 1e-6
            slope = (self.log_density(theta + h, False, True) - self.log_density(theta - h, False, True)) / (2 * h)
            return self.log_density(theta, False, True), np.array([slope])

    center, covariance = adapter.reference(adapter.Density(Two()), 1)
    assert abs(center[0]) <= 1 and abs(center[0]) + 3 * math.sqrt(covariance[0, 0]) > 1
    assert math.sqrt(covariance[0, 0]) > 0.8

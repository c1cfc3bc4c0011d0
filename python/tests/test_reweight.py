"""Another prior over one run's evaluations."""

import math
import pickle

import numpy as np
import pytest
import scipy.stats

import warpquad as wq


def log_f(x):
    return -0.5 * (((x["a"] - 0.5) / 0.4) ** 2 + ((x["b"] + 0.3) / 0.6) ** 2)


def truth(a, b):
    """ln Z under normal priors (mean, sd) of both."""
    out = 0.0
    for (mean, sd), (centre, width) in zip((a, b), ((0.5, 0.4), (-0.3, 0.6))):
        total = width**2 + sd**2
        out += 0.5 * math.log(width**2 / total) - 0.5 * (centre - mean) ** 2 / total
    return out


@pytest.fixture(scope="module")
def result():
    return wq.integrate(log_f, {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}, budget=40, progress=False)


def test_ln_z_and_the_posterior_are_those_of_the_other_prior(result):
    other = result.reweight({"b": wq.normal(0, 2), "a": scipy.stats.norm(1, 0.5)})
    assert abs(other.log_z - truth((1, 0.5), (0, 2))) < 0.02
    mean = (0.5 * 0.25 + 1 * 0.16) / 0.41
    assert abs(other.posterior()["a"].mean() - mean) < 0.03
    assert abs(other.mean(lambda x: x["a"]).mean - mean) < 0.01
    assert other.names == ["a", "b"] and other.evaluations == 40
    assert abs(other.prior()["b"].std() - 2) < 0.1
    # The result is as it was, and the other one survives a pickle and has a page.
    assert abs(result.log_z - truth((0, 1), (0, 1))) < 0.02
    again = pickle.loads(pickle.dumps(other))
    assert again.log_z == other.log_z and "a" in str(other.to_html())
    assert abs(other.reweight({"a": wq.normal(0, 1), "b": wq.normal(0, 1)}).log_z - result.log_z) < 0.02


def test_a_vector_and_a_joint_prior(result):
    joint = wq.multivariate_normal([0, 0], np.eye(2))
    assert abs(result.reweight(joint).log_z - result.log_z) < 0.02
    beta = wq.integrate(lambda beta: -float((beta**2).sum()), {"beta": wq.normal(0, 1, size=2)}, budget=30, progress=False)
    other = beta.reweight({"beta": wq.normal(0, 0.5, size=2)})
    assert abs(other.log_z + math.log(1.5)) < 0.02


def test_the_verdict_says_where_the_run_hardly_looked(result):
    def codes(priors):
        return [reason["code"] for reason in result.reweight(priors).reasons]

    assert "prior" not in codes({"a": wq.normal(0, 2), "b": wq.normal(0, 1)})
    assert "prior" in codes({"a": wq.normal(5, 0.01), "b": wq.normal(5, 0.01)})


def test_what_cannot_be_is_refused(result):
    with pytest.raises(wq.SpecError, match="the run has the parameters a, b"):
        result.reweight({"a": wq.normal(0, 1)})
    with pytest.raises(wq.SpecError, match="has no density"):
        result.reweight({"a": scipy.stats.gumbel_r(0, 1), "b": wq.normal(0, 1)})
    smc = wq.integrate(log_f, {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}, method="smc", budget=1000, progress=False)
    with pytest.raises(wq.SpecError, match="keeps no belief"):
        smc.reweight({"a": wq.normal(0, 2), "b": wq.normal(0, 1)})

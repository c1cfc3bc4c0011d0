"""Several integrals over one run, and several models over one quantity."""

import math

import numpy as np
import pytest

import warpquad as wq

PRIORS = {"a": wq.normal(0, 1)}


def test_means_and_covariances_of_many_integrals_from_one_run():
    r = wq.integrate(lambda a: -2 * (a - 1) ** 2, PRIORS, budget=20, progress=False)
    times = np.linspace(0, 1, 12)
    found = r.mean(lambda a: np.exp(-times * a))
    # The posterior is normal with mean 4/5 and variance 1/5.
    truth = np.exp(-0.8 * times + 0.1 * times**2)
    assert np.allclose(found.mean, truth, atol=5e-3) and found.cov.shape == (12, 12)
    assert np.allclose(np.diag(found.cov), found.sd**2) and np.allclose(found.cov, found.cov.T)
    assert np.linalg.eigvalsh(found.cov).min() > -1e-3 * found.cov.max()
    # The sum of all is one more integral.
    whole = r.mean(lambda a: np.exp(-times * a).sum())
    assert abs(found.cov.sum() / whole.sd**2 - 1) < 0.2
    single = r.mean(lambda a: a)
    assert single.cov.shape == (1, 1) and single.cov[0, 0] == single.sd**2


@pytest.fixture(scope="module")
def models():
    """Two models whose Z and posterior means are known."""
    make = lambda at: lambda a: (-2 * (a - at) ** 2, {"double": 2 * a})
    return [wq.integrate(make(at), PRIORS, budget=20, progress=False) for at in (0.5, 1.5)]


def test_models_are_weighted_by_their_evidence(models):
    z = np.exp([-0.5 * at**2 / 1.25 for at in (0.5, 1.5)])
    for prior in (None, [1, 3]):
        p = z * np.array(prior or [1, 1])
        p /= p.sum()
        both = wq.average(models, prior)
        assert np.allclose(both.probabilities, p, atol=0.01) and both.probabilities_sd.max() < 0.02
        truth = p @ [0.4, 1.2]
        found = both.mean(lambda a: a)
        assert abs(found.mean - truth) < 0.01 and found.interval()[0] < truth + 2e-3
        assert abs(float(both.mean([lambda a: a, lambda a: a])) - truth) < 0.01
        draws = both.posterior(8000)
        assert list(draws) == ["model", "a", "double"]
        assert abs(draws["a"].mean() - truth) < 0.03 and abs(draws["model"].mean() - p[1]) < 0.02
        sd = math.sqrt(0.2 + p[0] * p[1] * 0.8**2)
        assert abs(draws["double"].std() / 2 - sd) < 0.04


def test_what_cannot_be_averaged_is_refused(models):
    with pytest.raises(wq.SpecError, match="one of each model"):
        wq.average([])
    with pytest.raises(wq.SpecError, match="2 positive numbers"):
        wq.average(models, [1, 2, 3])
    with pytest.raises(wq.SpecError, match="one function or 2"):
        wq.average(models).mean([lambda a: a])

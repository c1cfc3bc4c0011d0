"""The regressor is a scikit-learn estimator, keeps to its range, and is worth having."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn", "1.6")

from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import warpquad as wq


@parametrize_with_checks([wq.WarpedGPRegressor(), wq.WarpedGPRegressor(fit="g", noise="fit")])
@pytest.mark.filterwarnings("ignore:no exact fit")
def test_check_estimator(estimator, check):
    check(estimator)


def rates(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A success rate that saturates at both ends."""
    X = np.random.default_rng(seed).random((n, 2))
    return X, 1 / (1 + np.exp(-12 * (X[:, 0] - 0.4) - 4 * (X[:, 1] - 0.5)))


def test_the_constraint_pays():
    X, y = rates(30)
    X_test, y_test = rates(300, 1)
    plain = wq.WarpedGPRegressor().fit(X, y)
    for space in ("f", "g"):
        bounded = wq.WarpedGPRegressor(range=(0, 1), fit=space).fit(X, y)
        mean, sd = bounded.predict(X_test, return_std=True)
        assert np.all((mean > 0) & (mean < 1)) and np.all(sd >= 0)
        assert bounded.score(X_test, y_test) > plain.score(X_test, y_test)
        gain = bounded.log_predictive_density(X_test, y_test) - plain.log_predictive_density(
            X_test, y_test
        )
        assert gain.mean() > 0.5, space
    assert plain.predict(X_test).max() > 1 or plain.predict(X_test).min() < 0


def test_predictions_are_those_of_the_blocks():
    X, y = rates(20)
    model = wq.WarpedGPRegressor(range=(0, 1)).fit(X, y)
    data = wq.Data(X, f=y)
    warp = data.warp(wq.warp("probit", range=(0, 1)))
    start = wq.GP("matern32", length_scales=0.5 * np.ptp(X, axis=0))
    belief = wq.fit(start, warp, data).condition(data, warp).warp()
    X_new, _ = rates(9, 2)
    np.testing.assert_allclose(model.predict(X_new), belief.mean(X_new), rtol=1e-6)
    mean, cov = model.predict(X_new, return_cov=True)
    np.testing.assert_allclose(
        np.sqrt(np.diag(cov)), model.predict(X_new, return_std=True)[1], rtol=1e-5
    )
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    z = wq.integral(wq.measure("uniform", 0, 1) ** 2).apply(model.belief_)
    assert abs(z.mean - rates(20000, 5)[1].mean()) < 0.02


def test_densities_integrate_to_one():
    X, y = rates(12)
    for noise in (0.0, 0.05):
        model = wq.WarpedGPRegressor(range=(0, 1), noise=noise).fit(X, y)
        t = (np.arange(4000) + 0.5) / 4000
        at = np.repeat([[0.35, 0.9]], len(t), axis=0)
        exact = np.exp(model.log_predictive_density(at, t, law="exact"))
        assert exact.mean() == pytest.approx(1.0, abs=1e-3)
        wide = np.linspace(-3, 4, 8001)
        at = np.repeat([[0.35, 0.9]], len(wide), axis=0)
        matched = np.exp(model.log_predictive_density(at, wide))
        assert matched.sum() * (wide[1] - wide[0]) == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(ValueError, match="one to one"):
        square = wq.WarpedGPRegressor(range=(0, np.inf), warp="square").fit(X, y)
        square.log_predictive_density(X, y, law="exact")


def test_draws_stay_in_the_range_and_have_the_moments():
    X, y = rates(8)
    model = wq.WarpedGPRegressor(range=(0, 1)).fit(X, y)
    at = np.array([[0.5, 0.5], [0.1, 0.9]])
    draws = model.sample_y(at, 4000, random_state=1)
    assert draws.shape == (2, 4000) and draws.min() >= 0 and draws.max() <= 1
    mean, sd = model.predict(at, return_std=True)
    assert np.all(np.abs(draws.mean(axis=1) - mean) < 5 * sd / math.sqrt(4000) + 1e-9)


def test_in_pipelines_and_searches():
    X, y = rates(40)
    pipeline = make_pipeline(StandardScaler(), wq.WarpedGPRegressor(range=(0, 1)))
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.9
    grid = {"fit": ["f", "g"], "kernel": ["matern32", "matern52"]}
    search = GridSearchCV(wq.WarpedGPRegressor(range=(0, 1)), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9 and search.best_params_["fit"] in ("f", "g")


def test_parameters_and_the_method_of_one_name():
    model = wq.WarpedGPRegressor(range=(0, 1), fit="g")
    assert model.get_params()["fit"] == "g" and callable(model.fit)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(fit="f").get_params()["fit"] == "f"
    assert "fit='g'" in repr(wq.WarpedGPRegressor(fit="g"))
    assert is_regressor(model)


def test_pickles_predict_the_same():
    X, y = rates(15)
    model = wq.WarpedGPRegressor(range=(0, 1)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    own = wq.WarpedGPRegressor(warp=wq.warp_from(np.tanh, range=(-1, 1))).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(own)).predict(X), own.predict(X))


def test_noise():
    X = np.repeat(np.linspace(0, 1, 12), 4)[:, None]
    y = np.exp(2 * X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(48))
    model = wq.WarpedGPRegressor(range=(0, np.inf), noise="fit").fit(X, y)
    assert 0.05**2 < model.noise_ < 0.2**2
    with pytest.warns(UserWarning, match="points 0 and 1 are both"):
        fallen_back = wq.WarpedGPRegressor(range=(0, np.inf)).fit(X, y)
    assert fallen_back.noise_ == pytest.approx(model.noise_, rel=1e-6)
    assert wq.WarpedGPRegressor(range=(0, np.inf), noise=0.01).fit(X, y).noise_ == 0.01
    assert np.abs(np.log(model.predict(X)) - 2 * X[:, 0]).max() < 0.15
    for scale in (1.0, 1e-6, 1e6):
        t = scale * (np.sin(3 * X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(48))
        for noise in ("fit", (0.1 * scale) ** 2):
            plain = wq.WarpedGPRegressor(noise=noise).fit(X, t)
            assert 0.07 * scale < math.sqrt(plain.noise_) < 0.14 * scale
            assert np.abs(plain.predict(X) / scale - np.sin(3 * X[:, 0])).max() < 0.15
            spread = (t - plain.predict(X)) / scale
            typical = -0.5 * np.log(2 * np.pi * plain.noise_) - 0.5 * np.mean(spread**2) / 0.01
            assert plain.log_predictive_density(X, t).mean() == pytest.approx(typical, abs=0.3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"range": (0, 1)}, r"y\[2\] is 1.5, outside the range \(0.0, 1.0\)"),
        ({"range": (1, 0)}, "range"),
        ({"fit": "h"}, "fit: is 'f' or 'g', got 'h'"),
        ({"kernel": "nope"}, "unknown kernel"),
        ({"warp": "nope"}, "unknown warp"),
        ({"noise": -1.0}, "noise"),
    ],
)
def test_what_is_wrong_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        wq.WarpedGPRegressor(**parameters).fit([[0.0], [0.5], [1.0]], [0.2, 0.3, 1.5])


def test_feature_names():
    pandas = pytest.importorskip("pandas")
    X, y = rates(10)
    model = wq.WarpedGPRegressor().fit(pandas.DataFrame(X, columns=["a", "b"]), y)
    assert list(model.feature_names_in_) == ["a", "b"] and model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pandas.DataFrame(X, columns=["b", "c"]))


def test_without_scikit_learn():
    code = """
import sys
sys.modules["sklearn"] = None
import warpquad as wq
wq.warp("log")
try:
    wq.WarpedGPRegressor
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install" in done.stdout and "scikit-learn" in done.stdout


def test_the_example():
    import doctest

    import warpquad.sklearn

    assert doctest.testmod(warpquad.sklearn).failed == 0

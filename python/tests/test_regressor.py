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
    for space in ("f", "g", "f-loo"):
        bounded = wq.WarpedGPRegressor(range=(0, 1), fit=space).fit(X, y)
        mean, sd = bounded.predict(X_test, return_std=True)
        assert np.all((mean > 0) & (mean < 1)) and np.all(sd >= 0)
        assert bounded.score(X_test, y_test) > plain.score(X_test, y_test)
        gain = bounded.log_predictive_density(X_test, y_test) - plain.log_predictive_density(
            X_test, y_test
        )
        assert gain.mean() > 0.5, space
    assert plain.predict(X_test).max() > 1 or plain.predict(X_test).min() < 0


def test_left_out_densities_are_those_of_fits_without_one():
    rng = np.random.default_rng(3)
    X = rng.random((14, 1))
    y = np.exp(3 * np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=14))
    model = wq.WarpedGPRegressor(range=(0, np.inf), fit="f-loo").fit(X, y)
    theta = model.posterior_.theta
    r = math.sqrt(3) * np.abs(X - X.T) / theta["length_scales"][0]
    sigma = theta["output_scale"] * (1 + r) * np.exp(-r)
    # g is ln y in units of the largest y.
    g, total = np.log(y / y.max()), 0.0
    for i in range(14):
        others = np.arange(14) != i
        weights = np.linalg.solve(sigma[np.ix_(others, others)], sigma[others, i])
        mu = theta["mean"] + weights @ (g[others] - theta["mean"])
        s = sigma[i, i] - weights @ sigma[others, i]
        m = y.max() * math.exp(mu + s / 2)
        k = m * m * math.expm1(s)
        total -= 0.5 * ((y[i] - m) ** 2 / k + math.log(2 * math.pi * k))
    assert model.log_likelihood_ == pytest.approx(total, rel=1e-6)


def test_left_out_densities_are_not_for_noise_on_y():
    X, y = rates(10)
    model = wq.WarpedGPRegressor(range=(0, 1), fit="f-loo", noise=0.01)
    with pytest.raises(wq.SpecError, match="f-loo is for exact values and for noise on g"):
        model.fit(X, y)


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
        exact = np.exp(model.log_predictive_density(at, t))
        assert exact.mean() == pytest.approx(1.0, abs=1e-3)
        wide = np.linspace(-3, 4, 8001)
        at = np.repeat([[0.35, 0.9]], len(wide), axis=0)
        matched = np.exp(model.log_predictive_density(at, wide, law="matched"))
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
        ({"fit": "h"}, "fit: is 'f', 'g' or 'f-loo', got 'h'"),
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


def clipped_rates(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """50 values of a rate with noise of sd 0.03 that show 0 or 1 for all beyond."""
    rng = np.random.default_rng(seed)

    def rate(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-14 * (x - 0.5)))

    x = rng.uniform(0, 1, 50)
    at = np.linspace(0.01, 0.99, 25)
    return x[:, None], np.clip(rate(x) + 0.03 * rng.normal(size=50), 0, 1), at[:, None], rate(at)


@pytest.mark.parametrize("space", ["f", "g"])
@pytest.mark.parametrize("noise", [0.03**2, "fit", 0.0])
@pytest.mark.filterwarnings("ignore:no exact fit")
def test_values_on_the_bounds(space, noise):
    hits = []
    for seed in range(1, 5):
        X, y, at, truth = clipped_rates(seed)
        assert ((y == 0) | (y == 1)).sum() >= 5
        model = wq.WarpedGPRegressor(
            range=(0, 1), noise=noise, fit=space, kernel="matern52"
        ).fit(X, y)
        assert 0.5 * 0.03**2 < model.noise_ < 2 * 0.03**2
        mean, sd = model.predict(at, return_std=True)
        assert np.abs(mean - truth).max() < 0.06
        assert np.all(np.abs(mean - truth) < 5 * sd + 2e-3)
        low, high = model.interval(at)
        assert low.min() > 0 and high.max() < 1
        hits += list((low <= truth) & (truth <= high))
        # An observation is more uncertain than f, and never outside.
        observed_low, observed_high = model.interval(at, noise=True)
        assert observed_low.min() >= 0 and observed_high.max() <= 1
        assert np.all(observed_high - observed_low > high - low)
        assert np.all(model.predict(at[8:17], return_std=True, noise=True)[1] > sd[8:17])
        left_out = model.leave_one_out()
        assert 0.85 < left_out["coverage"] <= 1 and left_out["rms_error"] < 0.05
    assert np.mean(hits) > 0.75


def test_values_on_the_bounds_warn_without_noise():
    X, y, _, _ = clipped_rates(1)
    row = int(np.flatnonzero((y == 0) | (y == 1))[0])
    with pytest.warns(UserWarning, match=rf"y\[{row}\] is [01].0, an end of the range"):
        wq.WarpedGPRegressor(range=(0, 1)).fit(X, y)
    t = np.array([0.0, 0.5, 1.2, 2.0, 3.1])
    half = wq.WarpedGPRegressor(range=(0, np.inf), noise=0.01)
    with pytest.raises(ValueError, match=r"y\[0\] is 0.0.*noise_on='y'"):
        half.fit(t[:, None], t)
    model = half.set_params(noise_on="y").fit(t[:, None], t)
    assert model.predict([[0.1]])[0] < 0.7 and model.interval([[0.1]])[0][0] >= 0


def test_with_the_identity_it_is_scikit_learns_own_regressor():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(0, 5, 30))[:, None]
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=30)
    at = np.linspace(-1, 6, 15)[:, None]
    each = rng.uniform(0.01, 0.2, 30)
    for noise in (0.04, each, "fit"):
        model = wq.WarpedGPRegressor(noise=noise, kernel="matern52").fit(X, y)
        theta = model.posterior_.theta
        unit = float(np.exp(model.warp_.log_slope([0.0])[0]))
        center = theta["mean"] * unit
        variance = theta["output_scale"] * unit**2
        kernel = ConstantKernel(variance) * Matern(theta["length_scales"], nu=2.5)
        alpha = model.noise_
        theirs = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(X, y - center)
        mean, sd = theirs.predict(at, return_std=True)
        ours = model.predict(at, return_std=True)
        np.testing.assert_allclose(ours[0], mean + center, atol=1e-8)
        np.testing.assert_allclose(ours[1], sd, rtol=1e-6)
        assert model.log_likelihood_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)
        low, high = model.interval(at)
        np.testing.assert_allclose(0.5 * (high - low), 1.959964 * sd, rtol=1e-5)
        noise_of_new = alpha if np.ndim(alpha) == 0 else 0.04
        with_noise = model.predict(at, return_std=True, noise=noise_of_new)[1]
        np.testing.assert_allclose(with_noise, np.sqrt(sd**2 + noise_of_new), rtol=1e-6)
    # And the fitted optimum is theirs too.
    free = ConstantKernel(1.0) * Matern(1.0, nu=2.5) + WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(free, n_restarts_optimizer=3, random_state=0).fit(X, y - center)
    assert model.log_likelihood_ >= theirs.log_marginal_likelihood_value_ - 1e-3
    assert model.noise_ == pytest.approx(theirs.kernel_.k2.noise_level, rel=0.02)


def test_a_noise_for_each_value():
    X, f = rates(60)
    sd = np.where(X[:, 0] < 0.5, 0.01, 0.2)
    y = np.clip(f + sd * np.random.default_rng(4).normal(size=60), 1e-3, 1 - 1e-3)
    for space in ("f", "g"):
        each = wq.WarpedGPRegressor(range=(0, 1), noise=sd**2, fit=space).fit(X, y)
        same = wq.WarpedGPRegressor(range=(0, 1), noise=float(np.mean(sd**2)), fit=space).fit(X, y)
        at, truth = rates(300, 1)
        left = at[:, 0] < 0.45
        errors = [np.abs(m.predict(at[left]) - truth[left]).mean() for m in (each, same)]
        assert errors[0] < errors[1], space
        again = pickle.loads(pickle.dumps(each))
        np.testing.assert_array_equal(again.predict(at), each.predict(at))
        with pytest.raises(ValueError, match="say that of the rows"):
            each.predict(at, return_std=True, noise=True)
    with pytest.raises(ValueError, match="expected one variance or 60"):
        wq.WarpedGPRegressor(range=(0, 1), noise=[0.1, 0.2]).fit(X, y)
    with pytest.raises(ValueError, match="noise: is a variance"):
        wq.WarpedGPRegressor(noise="fitted").fit(X, y)


def test_left_out_values_by_leaving_them_out():
    X, y = rates(14)
    for noise, on in ((0.0, None), (0.01, "y"), (0.05, "g")):
        model = wq.WarpedGPRegressor(range=(0, 1), noise=noise, noise_on=on).fit(X, y)
        got = model.leave_one_out()
        posterior = model.posterior_
        for i in range(0, 14, 3):
            rest = np.arange(14) != i
            # With noise on y a value is an observation of g with a noise of its own.
            sites = wq._core._posterior(
                wq.GP("matern32", **posterior.theta), X[rest], posterior.g[rest], model.warp_,
                _site_noise(posterior)[rest] if on == "y" else [],
            )  # fmt: skip
            s = sites.var(X[i : i + 1]) + (noise if on == "g" else 0.0)
            law = (model.warp_, sites.mean(X[i : i + 1]), s, [noise if on == "y" else 0.0])
            density = wq._core._law_log_density(*law, [y[i]])[0]
            assert got["log_density"][i] == pytest.approx(density, abs=1e-5)
            assert got["std"][i] == pytest.approx(wq._core._law_moments(*law)[1][0], rel=1e-4)


def _site_noise(posterior):
    return posterior.__reduce__()[1][4]

"""Quantities beside the value: kept, interpolated, with marginals."""

import math
import pickle

import numpy as np
import pytest

import warpquad as wq

PRIORS = {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}


def log_f(x):
    return -2 * (x["a"] - 1) ** 2 - 2 * x["b"] ** 2, {"mass": x["a"] + x["b"], "rate": np.array([x["a"], x["a"] ** 2])}


@pytest.fixture(scope="module")
def result():
    return wq.integrate(log_f, PRIORS, budget=35, progress=False)


def test_marginals_draws_and_observations(result):
    # The posteriors are normal with variance 1/5 and the means 4/5 and 0.
    mass = result.derived["mass"]
    assert abs(mass["mean"] - 0.8) < 0.05 and abs(mass["sd"] - math.sqrt(0.4)) < 0.05
    assert mass["interpolation_sd"] < 0.05 and mass["interval"][0] < 0 < 1.5 < mass["interval"][1]
    assert list(result.derived) == ["mass", "rate[0]", "rate[1]"]
    draws = result.posterior()
    assert list(draws) == ["a", "b", "mass", "rate[0]", "rate[1]"]
    assert np.allclose(draws["mass"], draws["a"] + draws["b"], atol=0.1)
    assert abs(draws["rate[1]"].mean() - (0.64 + 0.2)) < 0.05
    seen = result.observations
    assert np.array_equal(seen["mass"], seen["a"] + seen["b"]) and list(seen)[-1] == "log_f"
    assert pickle.loads(pickle.dumps(result)).derived == result.derived
    narrower = result.reweight({"a": wq.normal(0, 0.5), "b": wq.normal(0, 0.5)})
    assert abs(narrower.derived["mass"]["mean"] - 0.5) < 0.05


def test_the_same_by_tell_in_a_batch_and_from_a_directory(tmp_path):
    def batch(a, b):
        return -2 * (a - 1) ** 2 - 2 * b**2, {"mass": a + b}

    options = dict(budget=24, progress=False, vectorized=True, run=tmp_path / "run")
    r = wq.integrate(batch, PRIORS, **options)
    assert abs(r.derived["mass"]["mean"] - 0.8) < 0.1
    assert wq.open(tmp_path / "run").result().derived == r.derived
    s = wq.Session({"x": wq.normal(0, 1)})
    for _ in range(12):
        (task,) = s.ask()
        s.tell(task, log_f=-task.x["x"] ** 2, derived={"double": 2 * task.x["x"]})
    assert abs(s.result().derived["double"]["sd"] - 2 / math.sqrt(3)) < 0.1


def test_what_is_no_number_is_said():
    with pytest.raises(wq.EvaluationError, match="derived quantities are numbers"):
        wq.integrate(lambda x: (-x**2, {"name": "much"}), {"x": wq.normal(0, 1)}, budget=5, progress=False)
    # One that could not be had is left out.
    r = wq.integrate(lambda x: (-x**2, {"root": math.nan}), {"x": wq.normal(0, 1)}, budget=10, progress=False)
    assert r.derived == {}

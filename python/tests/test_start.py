"""Hints where f is large: points and plausible intervals, checked and never trusted blindly."""

import math

import numpy as np
import pytest
import scipy.stats

import warpquad as wq

PRIORS = {"a": wq.normal(0, 100), "b": wq.half_cauchy(5)}


def log_f(x):
    """A narrow peak at a = 3, b = 0.5."""
    return -0.5 * (((x["a"] - 3) / 0.01) ** 2 + ((x["b"] - 0.5) / 0.02) ** 2)


# The integral of the peak against the prior's densities there, which hardly change over it.
TRUTH = math.log(2 * math.pi * 0.01 * 0.02) + float(
    scipy.stats.norm(0, 100).logpdf(3) + scipy.stats.halfcauchy(scale=5).logpdf(0.5)
)


@pytest.mark.parametrize(
    "start",
    [[[3.1, 0.4]], {"a": 2.9, "b": 0.6}, {"a": (2.5, 3.5), "b": (0.3, 0.8)}, {"a": (-300, -200), "b": (30, 40)}, None],
)
def test_a_hint_is_taken_and_a_wrong_one_costs_little(start):
    r = wq.integrate(log_f, PRIORS, start=start, budget=70, progress=False)
    assert abs(r.log_z - TRUTH) < 0.01
    assert {reason["code"] for reason in r.reasons} <= {"one_climb"}
    # An answer is sure once a climb from elsewhere has ended too.
    r = wq.integrate(log_f, PRIORS, start=start, budget=100, progress=False)
    assert abs(r.log_z - TRUTH) < 0.01
    assert r.verdict == "settled" and r.reasons == []
    assert r.report["climb"]["ended"] and r.report["climb"]["images"] == 1


def test_the_points_are_evaluated_first():
    seen = []
    wq.integrate(lambda x: seen.append(dict(x)) or log_f(x), PRIORS, start=[[1, 2], [3, 4]], budget=3, progress=False)
    assert seen[:2] == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]


def test_a_scipy_prior_and_a_vector_take_a_hint():
    seen = []

    def f(a, beta):
        seen.append((a, *beta))
        return -((a - 1) ** 2) - float((beta**2).sum())

    priors = {"a": scipy.stats.gumbel_r(0, 10), "beta": wq.normal(0, 1, size=2)}
    wq.integrate(f, priors, start={"a": 1.5, "beta": [0.1, 0.2]}, budget=2, progress=False)
    assert np.allclose(seen[0], (1.5, 0.1, 0.2), rtol=1e-9)
    wq.integrate(f, priors, start={"a": (1, 2), "beta": [(0, 1), (0, 2)]}, budget=2, progress=False)
    # The middle is that of the coordinate, which a quantile map bends.
    assert 1 < seen[2][0] < 2 and np.allclose(seen[2][1:], (0.5, 1.0))


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([[1.0]], "got an array of shape"),
        ("here", "must be points"),
        ({"a": 1.0}, "says nothing of 'b'"),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, "there is no parameter 'c'"),
        ({"a": 1.0, "b": (1, 2)}, "mixes points and intervals"),
        ({"a": (1, 2, 3), "b": 1.0}, "must be a value or an interval"),
        ({"a": (2, 1), "b": (1, 2)}, "low < high"),
        ([[1.0, -1.0]], "outside the support"),
    ],
)
def test_what_cannot_be_meant_is_refused(start, words):
    with pytest.raises(wq.SpecError, match="start") as error:
        wq.integrate(log_f, PRIORS, start=start, budget=3, progress=False)
    assert words in str(error.value)


def test_a_transform_has_no_inverse():
    with pytest.raises(wq.SpecError, match="no inverse"):
        wq.integrate(lambda x: -x[0], lambda u: u, dim=1, start=[[0.5]], budget=3, progress=False)

"""Every kind of prior against integrals that are known exactly."""

import math
import re

import numpy as np
import pytest
import warpquad as wq
from scipy import integrate as quadrature
from scipy import special, stats
from warpquad import _core, _priors

SQUARE = {"log_f": lambda p: -0.5 * (p["x"] - 0.3) ** 2}


def exact(dist) -> float:
    """ln of the integral of exp(-(x - 0.3)^2/2) against a law, by quadrature over its quantiles."""
    value, _ = quadrature.quad(
        lambda u: math.exp(-0.5 * (float(dist.ppf(u)) - 0.3) ** 2), 0, 1, limit=400
    )
    return math.log(value)


KNOWN = [
    (stats.norm(0.2, 1.5), "normal", (0.2, 1.5)),
    (stats.norm(loc=0.2, scale=1.5), "normal", (0.2, 1.5)),
    (stats.uniform(-5, 10), "uniform", (-5, 5)),
    (stats.loguniform(0.01, 10), "log-uniform", (0.01, 10)),
    (stats.loguniform(0.01, 10, scale=2), "log-uniform", (0.02, 20)),
    (stats.reciprocal(0.01, 10), "log-uniform", (0.01, 10)),
    (stats.lognorm(0.5, scale=2), "log-normal", (math.log(2), 0.5)),
    (stats.gamma(2.5, scale=0.5), "gamma", (2.5, 2)),
    (stats.beta(2, 3), "beta", (2, 3)),
    (stats.t(5, 0.1, 2), "student-t", (5, 0.1, 2)),
    (stats.truncnorm(-1, 2, loc=0.5, scale=2), "truncated-normal", (0.5, 2, -1.5, 4.5)),
    (stats.truncnorm(0, np.inf), "truncated-normal", (0, 1, 0, np.inf)),
    (stats.expon(scale=4), "exponential", (0.25,)),
    (stats.halfnorm(scale=3), "half-normal", (3,)),
    (stats.halfcauchy(scale=3), "half-cauchy", (3,)),
    (stats.cauchy(0.1, 2), "cauchy", (0.1, 2)),
    (stats.norm, "normal", (0, 1)),
]


@pytest.mark.parametrize(
    "dist, name, numbers", KNOWN, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_scipy_distribution_becomes_the_cores_own(dist, name, numbers):
    law, to_x, shown = _priors._law("x", dist)
    assert (law.name, to_x, shown) == (name, None, "x")
    assert law.numbers == pytest.approx(numbers, rel=1e-15)


@pytest.mark.parametrize(
    "dist, name, numbers", KNOWN[:-1:2], ids=lambda v: v if isinstance(v, str) else ""
)
def test_the_evidence_under_a_known_prior(dist, name, numbers):
    r = wq.integrate(**SQUARE, priors={"x": dist}, budget=25, progress=False)
    assert r.log_z == pytest.approx(exact(dist), abs=0.02)
    own = getattr(wq, name.replace("-", "_"))(*numbers)
    again = wq.integrate(**SQUARE, priors={"x": own}, budget=25, progress=False)
    assert again.log_z == pytest.approx(r.log_z, abs=1e-9)


OTHERS = [
    (stats.skewnorm(4, 0.1, 1.2), "score"),
    (stats.beta(2, 3, loc=-1, scale=3), "unit"),
    (stats.gamma(2.5, loc=1), "score"),
    (stats.triang(0.3, -1, 3), "unit"),
    (stats.rayleigh(), "score"),
]


@pytest.mark.parametrize(
    "dist, kind", OTHERS, ids=lambda v: v if isinstance(v, str) else v.dist.name
)
def test_any_distribution_works_through_its_quantiles(dist, kind):
    r = wq.integrate(**SQUARE, priors={"x": dist}, budget=30, progress=False)
    assert r.core.names == [f"{kind}(x)"] and r.names == ["x"]
    assert r.log_z == pytest.approx(exact(dist), abs=0.02)


def test_a_score_is_sharp_in_both_tails():
    _, to_x, _ = _priors._law("x", stats.logistic())
    # The logistic's quantile at Phi(z): ln Phi(z) - ln Phi(-z), which scipy has in logs.
    z = np.array([-30.0, -9.0, -1.0, 0.0, 1.0, 9.0, 30.0])
    assert to_x(z) == pytest.approx(special.log_ndtr(z) - special.log_ndtr(-z), rel=1e-12)


def test_an_object_with_no_more_than_a_ppf():
    class Quantiles:
        def ppf(self, u):
            return np.tan(np.pi * (np.asarray(u) - 0.5))  # Cauchy

    r = wq.integrate(
        lambda p: stats.norm.logpdf(p["x"]), {"x": Quantiles()}, budget=40, progress=False
    )
    want = quadrature.quad(lambda x: stats.norm.pdf(x) * stats.cauchy.pdf(x), -20, 20)[0]
    assert r.log_z == pytest.approx(math.log(want), abs=0.03)


@pytest.mark.skipif(not hasattr(stats, "Normal"), reason="scipy before 1.15")
def test_scipys_new_distributions():
    r = wq.integrate(
        **SQUARE, priors={"x": stats.Normal(mu=0.2, sigma=1.5)}, budget=25, progress=False
    )
    assert r.log_z == pytest.approx(exact(stats.norm(0.2, 1.5)), abs=0.02)


def test_a_prior_transform_on_the_unit_cube():
    def transform(u):
        return np.array([10 * u[0] - 5, 2 * u[1] ** 2])

    seen = []

    def log_f(x):
        seen.append(x)
        return -0.5 * x @ x

    r = wq.integrate(log_f, transform, names=["a", "b"], budget=40, progress=False)
    second = quadrature.quad(lambda u: math.exp(-2 * u**4), 0, 1)[0]
    want = math.log(math.sqrt(2 * math.pi) / 10 * special.erf(5 / math.sqrt(2)) * second)
    assert r.log_z == pytest.approx(want, abs=0.05)
    assert (
        r.names == ["a", "b"] and max(abs(x[0]) for x in seen) <= 5 and min(x[0] for x in seen) < -1
    )
    assert wq.integrate(log_f, transform, dim=2, budget=10, progress=False).names == ["x0", "x1"]


def test_multivariate_normals():
    mean, cov = np.array([0.5, -1.0]), np.array([[2.0, 0.6], [0.6, 1.0]])

    def log_f(x):
        return -0.5 * x @ x

    want = stats.multivariate_normal(mean, cov + np.eye(2)).logpdf([0, 0]) + math.log(2 * math.pi)
    for prior in [
        stats.multivariate_normal(mean, cov),
        wq.multivariate_normal(mean, cov, names=["a", "b"]),
    ]:
        r = wq.integrate(log_f, prior, budget=40, progress=False)
        assert r.log_z == pytest.approx(want, abs=0.03)
    assert r.names == ["a", "b"]


def test_draws():
    draws = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 2.0]
    r = wq.integrate(lambda x: -0.5 * x @ x, draws, names=["a", "b"], budget=50, progress=False)
    want = special.logsumexp(-0.5 * (draws**2).sum(1)) - math.log(len(draws))
    assert r.log_z == pytest.approx(want, abs=0.03)


def test_every_registered_prior_has_a_constructor():
    rows = _core.priors()
    assert len(rows) >= 10
    for name, summary, parameters in rows:
        make = getattr(wq, name.replace("-", "_"))
        assert summary in make.__doc__
        more = ["size", "periodic"] if name == "uniform" else ["size"]
        assert list(__import__("inspect").signature(make).parameters) == [*parameters, *more]
    assert wq.uniform(-1, hi=2) == wq.uniform(lo=-1, hi=2) == wq.Prior("uniform", (-1.0, 2.0))
    assert repr(wq.log_uniform(0.1, 2)) == "log_uniform(0.1, 2)"
    with pytest.raises(TypeError, match="hi"):
        wq.uniform(1)
    with pytest.raises(wq.SpecError, match="lo: must be below hi, got lo = 2 and hi = 1"):
        wq.uniform(2, 1)


WRONG = [
    ({"x": 3}, "prior of 'x': 3 is no distribution"),
    ({"x": (0, 1)}, r"prior of 'x': .*wq.uniform\(lo, hi\)"),
    ({"x": wq.normal(0, 1), "y": stats.norm(0, -1)}, "prior of 'y': sd: must be positive"),
    ({"x": stats.gamma(-1.0, loc=2)}, "prior of 'x': its median is nan"),
    ({"x": stats.gamma}, "prior of 'x': .*shapes a, missing"),
    ({"x": None}, "prior of 'x': None is no distribution"),
    ({}, "the dict is empty"),
    ({1: wq.normal(0, 1)}, "a parameter's name is a string, got 1"),
    (stats.norm(0, 1), "name it"),
    (wq.normal(0, 1), "name it"),
    (None, "must be a dict of priors"),
    (np.zeros((2, 3, 4)), r"\(n, d\)"),
    (np.array([[0.0, np.nan]]), "must be finite, got NaN"),
    (np.array([["a", "b"]]), "made of numbers"),
    (lambda u: u, "needs names"),
    (wq.multivariate_normal([0, 0], [[1, 2], [2, 1]]), "positive definite"),
]


@pytest.mark.parametrize("given, message", WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_a_wrong_prior_says_which(given, message):
    with pytest.raises(wq.SpecError, match=message) as caught:
        wq.integrate(lambda x: 0.0, given, budget=5, progress=False)
    assert isinstance(caught.value, ValueError) and "problem.toml" not in str(caught.value)


def test_a_transform_that_is_wrong():
    for transform, message in [
        (lambda u: u[:1], "2 finite numbers"),
        (lambda u: "ab", "failed at u = "),
        (lambda u: u / 0, "finite"),
    ]:
        with np.errstate(all="ignore"), pytest.raises(wq.SpecError, match=message):
            wq.integrate(lambda x: 0.0, transform, dim=2, budget=5, progress=False)


def test_names_of_the_wrong_number():
    with pytest.raises(
        wq.SpecError, match=re.escape("names: the prior has 2 parameters, got 1 names")
    ):
        wq.integrate(lambda x: 0.0, np.zeros((3, 2)), names=["a"], progress=False)

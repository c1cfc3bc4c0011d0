"""Constraints between parameters: evidences with formulas, and no point outside."""

import math
from pathlib import Path

import numpy as np
import pytest

import warpquad as wq
from warpquad import _constraints, _priors

MASSES = {"a": wq.uniform(0, 1), "b": wq.uniform(0, 1)}
QUIET = {"progress": False, "budget": 30}


def log_f(a: float, b: float) -> float:
    assert a < b
    return 3 * a - 2 * b


# 2 times the integral of exp(3 a - 2 b) over a < b.
TRUTH = math.log(math.e - 1 - math.exp(-2) * (math.exp(3) - 1) / 3)


@pytest.mark.parametrize("constraints", [["a < b"], "a < b", lambda a, b: a < b, [lambda p: p["b"] > p["a"]]])
def test_two_masses_in_order(constraints):
    r = wq.integrate(log_f, MASSES, constraints=constraints, **QUIET)
    assert r.log_z == pytest.approx(TRUTH, abs=4 * max(r.log_z_sd, 1e-3))
    assert r.log_prior_mass == pytest.approx(math.log(0.5), abs=1e-5)
    draws = r.posterior(500)
    assert np.all(np.asarray(draws["a"]) < np.asarray(draws["b"]))
    assert "log prior mass" in repr(r)


def test_the_density_may_be_kept():
    r = wq.integrate(log_f, MASSES, constraints=["a < b"], normalise=False, **QUIET)
    assert r.log_z == pytest.approx(TRUTH - math.log(2), abs=4 * max(r.log_z_sd, 1e-3))


@pytest.mark.parametrize("method", ["smc", "nested", "qmc", "mmlt", "wsabi-l"])
def test_no_method_looks_outside(method):
    budget = 2000 if method in ("smc", "nested", "qmc") else 20
    r = wq.integrate(log_f, MASSES, constraints=["a < b"], method=method, budget=budget, progress=False)
    assert r.log_z == pytest.approx(TRUTH, abs=max(4 * r.log_z_sd, 0.05))


def test_a_run_goes_on_with_its_constraints(tmp_path: Path):
    wq.integrate(log_f, MASSES, constraints=lambda a, b: a < b, run=tmp_path / "r", progress=False, budget=10)
    r = wq.resume(tmp_path / "r", log_f, budget=14, progress=False)
    assert r.evaluations == 14 and r.log_prior_mass == pytest.approx(-math.log(2))
    with pytest.raises(wq.WarpquadError, match="constraints"):
        wq.integrate(log_f, MASSES, constraints=["b < a"], run=tmp_path / "r", progress=False)


def test_nothing_left_is_an_error():
    for constraint, part in [("a > 2", "no point"), ("a + b < 0.001", "almost nothing"), ("a == b", "equality")]:
        with pytest.raises(wq.SpecError, match=part):
            wq.integrate(log_f, MASSES, constraints=[constraint], **QUIET)
    with pytest.raises(wq.SpecError, match="unknown name 'c'"):
        wq.integrate(log_f, MASSES, constraints=["a < c"], **QUIET)


def test_a_point_outside_is_refused():
    session = wq.Session(MASSES, constraints=["a < b"])
    with pytest.raises(wq.SpecError, match="outside"):
        session.tell({"a": 0.5, "b": 0.2}, log_f=1.0)


VECTOR = {"x": wq.uniform(0, 1, size=3), "c": 0.5}


@pytest.mark.parametrize(
    ("predicate", "priors", "texts"),
    [
        (lambda a, b: (a < b) & (b**2 < 0.5), MASSES, ["a < b", "(b ^ 2.0) < 0.5"]),
        (lambda a, b: np.hypot(a, b) <= 1, MASSES, ["sqrt(a^2 + b^2) <= 1.0"]),
        (lambda a, b: ~(np.exp(-a) > b), MASSES, ["(1 - (exp((-a)) > b))"]),
        (lambda a, b: np.logical_or(a < 0.1, 0.9 < b), MASSES, ["max((a < 0.1), (b > 0.9))"]),
        (lambda x, c: x.sum(axis=1) < c, VECTOR, ["((x[0] + x[1]) + x[2]) < c"]),
        (lambda x, c: np.all(np.diff(x, axis=1) > 0, axis=1), VECTOR, ["(x[1] - x[0]) > 0.0", "(x[2] - x[1]) > 0.0"]),
        (lambda x, c: x[:, 0] < x[..., 1], VECTOR, ["x[0] < x[1]"]),
    ],
)
def test_a_predicate_is_read(predicate, priors, texts):
    assert _constraints.texts(predicate, _priors.read(priors)) == texts


@pytest.mark.parametrize(
    ("predicate", "part"),
    [
        (lambda a, b: a < b < 1, "a < b < c"),
        (lambda a, b: a < b and b < 1, "and, or"),
        (lambda a, b: math.exp(a) < 1, "makes a number of a symbol"),
        (lambda a, b: np.where(a < b, True, False), "numpy.where|symbol|one comparison"),
        (lambda a, b: True, "does not depend"),
    ],
)
def test_a_predicate_that_cannot_be_read_is_explained(predicate, part):
    with pytest.raises(wq.SpecError, match=part) as error:
        wq.integrate(log_f, MASSES, constraints=predicate, **QUIET)
    assert "as text" in str(error.value)


def test_priors_that_the_core_does_not_know():
    priors = {"a": wq.uniform(0, 1), "b": type("Law", (), {"ppf": lambda self, u: u})()}
    with pytest.raises(wq.SpecError, match="of b it sees a quantile"):
        wq.integrate(log_f, priors, constraints=["a < b"], **QUIET)

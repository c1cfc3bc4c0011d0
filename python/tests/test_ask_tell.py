"""Loops with the habits of optimisers."""

import math

import numpy as np
import pytest
import warpquad as wq

PRIORS = {"x": wq.normal(0, 1), "c": 2.0, "beta": wq.normal(0, 1, size=2)}
TRUTH = -0.5 * math.log(5) - math.log(3)


def log_f(x, c, beta):
    return -c * x**2 - float(beta @ beta)


def test_a_loop_as_with_optuna():
    run = wq.ask_tell(PRIORS, seed=1)
    for k in range(60):
        trial = run.ask()
        assert trial.number == k
        run.tell(trial, log_f(**trial.params))
    assert run.result().log_z == pytest.approx(TRUTH, abs=0.05)


def test_a_loop_as_with_scikit_optimize():
    run = wq.ask_tell({"a": wq.uniform(-3, 3), "b": wq.uniform(-3, 3)})
    for _ in range(10):
        for x in run.ask(n_points=4):
            # A copy, as of a list that has been sent somewhere.
            run.tell(list(x.array), -0.5 * float(x.array @ x.array))
    r = run.result()
    assert r.evaluations == 40 and run.session.given == 0
    assert r.log_z == pytest.approx(2 * math.log(math.sqrt(2 * math.pi) * math.erf(3 / math.sqrt(2)) / 6), abs=0.02)


def test_points_of_ones_own_failures_and_f():
    run = wq.ask_tell({"a": wq.normal(0, 1)}, on_failure="skip")
    run.tell({"a": 0.5}, -0.25)
    assert run.session.given == 1
    run.tell(run.ask(), f=0.7)
    run.tell(run.ask(), failure="it would not converge")
    assert run.session.evaluations == 1 and len(run.session.failures) == 1
    with pytest.raises(wq.SpecError, match="exactly one"):
        run.tell(run.ask())


def test_names_are_there():
    assert {"ask_tell", "from_stan"} <= set(dir(wq))
    assert np.shape(wq.ask_tell({"a": wq.normal(0, 1)}).ask().array) == (1,)

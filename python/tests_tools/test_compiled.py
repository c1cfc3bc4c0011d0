"""Functions that jax and numba compile are called as their source is written."""

import functools
import math

import jax
import numba
import numpy as np
import pytest
import warpquad as wq

SMALL = {"budget": 12, "progress": False}
ONE = {"a": wq.normal(0, 1)}
TWO = {"a": wq.normal(0, 1), "b": wq.uniform(-1, 1)}
EXACT = -0.5 * math.log(3)  # of exp(-a^2) over a standard normal


def test_numba():
    of_number = numba.njit(lambda x: -(x**2))
    assert wq.integrate(of_number, ONE, **SMALL).log_z == pytest.approx(EXACT, abs=0.02)
    of_names = numba.njit(lambda a, b: -(a**2) + 0 * b)
    assert wq.integrate(of_names, TWO, budget=20, progress=False).log_z == pytest.approx(EXACT, abs=0.05)
    of_array = numba.njit(lambda x: -(x[0] ** 2))
    joint = wq.multivariate_normal([0, 0], np.eye(2))
    assert wq.integrate(of_array, joint, budget=20, progress=False).log_z == pytest.approx(EXACT, abs=0.05)


def test_jax():
    for function in (
        jax.jit(lambda x: -(x**2)),
        jax.jit(lambda a: -(a**2)),
        jax.jit(lambda p: -(p["a"] ** 2)),
        lambda x: jax.jit(lambda y: -(y**2))(x),
        functools.partial(jax.jit(lambda scale, x: -scale * x**2), 1.0),
    ):
        assert wq.integrate(function, ONE, **SMALL).log_z == pytest.approx(EXACT, abs=0.02)
    for function in (jax.jit(lambda a, b: -(a**2)), jax.jit(lambda p: -(p["a"] ** 2))):
        r = wq.integrate(function, TWO, budget=20, progress=False)
        assert r.log_z == pytest.approx(EXACT, abs=0.05)


def test_vectors():
    priors = {"x": wq.normal(0, 1), "beta": wq.normal(0, 1, size=2)}
    compiled = jax.jit(lambda x, beta: -(x**2) - beta @ beta)
    plain = wq.integrate(lambda x, beta: -(x**2) - beta @ beta, priors, **SMALL)
    # jax computes in single precision by default.
    assert wq.integrate(compiled, priors, **SMALL).log_z == pytest.approx(plain.log_z, abs=0.02)
    only = {"beta": wq.normal(0, 1, size=2)}
    for function in (numba.njit(lambda b: -np.sum(b**2)), jax.jit(lambda b: -(b @ b))):
        assert wq.integrate(function, only, **SMALL).log_z == pytest.approx(2 * EXACT, abs=0.2)

"""Functions as people write them: each is called the way that its signature says."""

import functools
import math
from collections.abc import Mapping

import numpy as np
import pytest
import warpquad as wq

SMALL = {"budget": 12, "progress": False}
ONE = {"a": wq.normal(0, 1)}
TWO = {"a": wq.normal(0, 1), "b": wq.uniform(-1, 1)}
EXACT = -0.5 * math.log(3)  # of exp(-a^2) over a standard normal


class Model:
    """A likelihood with data, called in several ways."""

    def __init__(self, factor):
        self.factor = factor

    def of_number(self, a):
        return -self.factor * a**2

    def of_names(self, a, b, power=2):
        return -self.factor * a**power + 0 * b

    @staticmethod
    def static(p):
        return -(p["a"] ** 2)

    def __call__(self, x):
        return -self.factor * x**2


def with_data(data, a, scale=1.0):
    return -data * scale * a**2


def helper(p):
    return -(p["a"] ** 2)


def keyword_only(*, a):
    return -(a**2)


def float_annotated(x: float) -> float:
    assert type(x) is float
    return -(x**2)


def dict_annotated(p: "Mapping[str, float]") -> float:
    assert type(p) is dict
    return -(p["a"] ** 2)


def array_annotated(p: np.ndarray) -> float:
    assert p.shape == (1,)
    return -(p[0] ** 2)


OF_ONE = {
    "number": lambda x: -(x**2),
    "number by its name": lambda a: -(a**2),
    "math": lambda x: math.log(math.exp(-x * x)),
    "numpy": lambda x: np.sum(-np.square([x])),
    "dict": lambda x: -(x["a"] ** 2),
    "dict by its name": lambda a: -(a["a"] ** 2),
    "dict passed on": lambda p: helper(p),
    "dict taken apart": lambda p: -sum(value**2 for value in p.values()),
    "dict as keywords": lambda p: keyword_only(**p),
    "dict items": lambda p: -dict(p.items())["a"] ** 2,
    "default": lambda x, power=2: -(x**power),
    "keyword only": keyword_only,
    "any keywords": lambda **p: -(p["a"] ** 2),
    "any positions": lambda *p: -(p[0] ** 2),
    "position only": lambda x, /: -(x**2),
    "partial": functools.partial(with_data, 1.0),
    "partial keyword": functools.partial(with_data, data=1.0),
    "partial of partial": functools.partial(functools.partial(with_data, 2.0), scale=0.5),
    "method": Model(1.0).of_number,
    "static method": Model.static,
    "object": Model(1.0),
    "float": float_annotated,
    "mapping": dict_annotated,
    "array": array_annotated,
    "ufunc": functools.partial(np.multiply, -1),
}


@pytest.mark.parametrize("how", OF_ONE)
def test_a_function_of_the_only_parameter(how):
    function = OF_ONE[how]
    if how == "ufunc":  # -a: E[exp(-a)] = exp(1/2)
        assert wq.integrate(function, ONE, **SMALL).log_z == pytest.approx(0.5, abs=0.05)
        return
    r = wq.integrate(function, ONE, **SMALL)
    assert r.log_z == pytest.approx(EXACT, abs=0.02)


def test_the_only_parameter_is_a_number_in_every_way():
    seen = []
    wq.integrate(lambda x: seen.append(x) or 0.0, ONE, **SMALL)
    x = seen[0]
    assert isinstance(x, float) and x["a"] == x and dict(x) == {"a": float(x)} and dict(**x) == dict(x)
    assert type(x["a"]) is float and type(x + 0) is float
    with pytest.raises(KeyError, match="b"):
        x["b"]
    # What is said decides.
    for argument, kind in [("dict", dict), ("array", np.ndarray)]:
        wq.integrate(lambda x: seen.append(x) or 0.0, ONE, argument=argument, **SMALL)
        assert type(seen[-1]) is kind


def test_batches_of_the_only_parameter():
    many = {**SMALL, "vectorized": True, "batch": 6}
    for function in (lambda x: -(x**2), lambda p: -(p["a"] ** 2), lambda a: -(a**2)):
        r = wq.integrate(function, ONE, **many)
        assert r.log_z == pytest.approx(EXACT, abs=0.02)
        assert float(r.mean(lambda x: x)) == pytest.approx(float(r.mean(lambda p: p["a"])), abs=1e-12)
        assert r.mean(lambda p: p["a"] ** 2).mean == pytest.approx(1 / 3, abs=0.02)


def test_priors_that_are_no_dict_give_an_array():
    for function in (lambda x: -(x**2), lambda x: -x[0] ** 2, lambda x: -x @ x):
        r = wq.integrate(function, wq.multivariate_normal([0.0], [[1.0]]), **SMALL)
        assert r.log_z == pytest.approx(EXACT, abs=0.02)
        cube = wq.integrate(lambda theta: -abs(theta[0]), lambda u: u, names=["theta"], **SMALL)
        assert cube.log_z == pytest.approx(math.log(1 - math.exp(-1)), abs=0.02)


OF_TWO = {
    "names": lambda a, b: -(a**2),
    "defaults": lambda a=0.0, b=0.0: -(a**2),
    "one default": lambda a, b=0.0, power=2: -(a**power),
    "any keywords": lambda **p: -(p["a"] ** 2),
    "some keywords": lambda a, **rest: -(a**2) + 0 * rest["b"],
    "dict": lambda p: -(p["a"] ** 2),
    "dict and a default": lambda p, power=2: -(p["a"] ** power),
    "partial": functools.partial(lambda data, a, b: -data * a**2, 1.0),
    "partial of a dict": functools.partial(lambda data, p: -data * p["a"] ** 2, 1.0),
    "method": Model(1.0).of_names,
    "positions": lambda *theta: -(theta[0] ** 2),
    "positions only": eval("lambda a, b, /: -a**2"),
}


@pytest.mark.parametrize("how", OF_TWO)
def test_a_function_of_two_parameters(how):
    r = wq.integrate(OF_TWO[how], TWO, budget=20, progress=False)
    assert r.log_z == pytest.approx(EXACT, abs=0.05)


def test_an_annotated_array_is_one_also_with_a_dict_of_priors():
    def log_f(theta: np.ndarray) -> float:
        assert theta.shape == (2,)
        return -(theta[0] ** 2)

    assert wq.integrate(log_f, TWO, budget=20, progress=False).log_z == pytest.approx(EXACT, abs=0.05)


REFUSED = [
    (lambda a, c: 0.0, TWO, "takes the arguments a, c, but the parameters are a, b"),
    (lambda: 0.0, ONE, "takes no argument, but the parameters are a"),
    (lambda *, c: 0.0, ONE, "takes the arguments c, but the parameters are a"),
    (lambda x, y: 0.0, ONE, "takes the arguments x, y, but the parameters are a; name the arguments after"),
]


@pytest.mark.parametrize("function, priors, message", REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_a_function_that_fits_nothing_is_refused_before_it_is_called(function, priors, message):
    with pytest.raises(wq.SpecError, match=message):
        wq.integrate(function, priors, **SMALL)

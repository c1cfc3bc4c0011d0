"""A sampler of Cobaya, found by its name in the input."""

import math

import numpy as np
import pytest
import scipy.special
from cobaya.log import LoggedError
from cobaya.run import run
from cobaya.yaml import yaml_load_file

import warpquad as wq


def info(**more):
    """A normal likelihood with a uniform and a normal prior, and a derived parameter."""
    calls = []

    def gauss(a, b):
        calls.append((a, b))
        return -0.5 * ((a - 0.2) / 0.1) ** 2 - 0.5 * (b - a) ** 2

    return {
        "likelihood": {"gauss": gauss},
        "params": {
            "a": {"prior": {"min": -1, "max": 1}, "latex": r"\alpha"},
            "b": {"prior": {"dist": "norm", "loc": 0, "scale": 2}},
            "total": {"derived": lambda a, b: a + b},
        },
        "sampler": {"warpquad": {"budget": 60, "seed": 1, **more}},
    }, calls


def exact(weight=lambda a, b: 1.0):
    """ln Z on a grid that is far finer than the posterior."""
    a = np.linspace(-1, 1, 2001)[:, None]
    b = np.linspace(-12, 12, 2401)[None, :]
    prior = 0.5 * np.exp(-0.5 * (b / 2) ** 2) / (2 * math.sqrt(2 * math.pi))
    f = np.exp(-0.5 * ((a - 0.2) / 0.1) ** 2 - 0.5 * (b - a) ** 2) * prior * weight(a, b)
    return math.log(f.sum() * (a[1, 0] - a[0, 0]) * (b[0, 1] - b[0, 0]))


def test_products():
    problem, calls = info()
    updated, sampler = run(problem)
    products = sampler.products()
    # Cobaya itself evaluates nothing before.
    assert len(calls) == 60
    assert products["logZ"] == pytest.approx(exact(), abs=0.05) and 0 < products["logZstd"] < 0.2
    sample = products["sample"]
    assert len(sample) == 4000 and sample.mean()[0] == pytest.approx(0.2, abs=0.02)
    assert sample["b"].std() == pytest.approx(math.sqrt(0.8 + 0.64 * 0.01), abs=0.05)
    # What the belief says is close to what the model would.
    x = sample[["a", "b"]].to_numpy()[:200]
    truth = -0.5 * ((x[:, 0] - 0.2) / 0.1) ** 2 - 0.5 * (x[:, 1] - x[:, 0]) ** 2
    assert np.median(abs(-0.5 * sample["chi2"].to_numpy()[:200] - truth)) < 0.05
    getdist = sampler.products(to_getdist=True)["sample"]
    assert getdist.mean("a") == pytest.approx(0.2, abs=0.02)
    assert products["result"].evaluations == 60
    assert updated["sampler"]["warpquad"]["version"] == wq.__version__


def test_derived_parameters_are_evaluated_if_asked():
    problem, calls = info(evaluate=True, nsamples=50)
    _, sampler = run(problem)
    sample = sampler.products()["sample"]
    assert len(calls) > 60 and sample["total"].to_numpy() == pytest.approx((sample["a"] + sample["b"]).to_numpy())


def test_priors_that_are_functions_belong_to_the_integrand():
    problem, _ = info()
    problem["prior"] = {"tilt": lambda a: -2 * a}
    _, sampler = run(problem)
    want = exact(lambda a, b: np.exp(-2 * a))
    assert sampler.products()["logZ"] == pytest.approx(want, abs=0.05)


def test_several_likelihoods():
    problem, _ = info()
    problem["likelihood"]["other"] = lambda b: -0.5 * b**2
    _, sampler = run(problem)
    products = sampler.products()
    assert products["logZ"] == pytest.approx(exact(lambda a, b: np.exp(-0.5 * b**2)), abs=0.05)
    assert np.isfinite(products["sample"]["minuslogpost"].to_numpy().astype(float)).all()


def test_output_and_resuming(tmp_path):
    output = str(tmp_path / "chain")
    problem, calls = info()
    run(problem, output=output)
    evidence = yaml_load_file(output + ".logZ")
    assert set(evidence) == {"logZ", "logZstd"}
    assert (tmp_path / "chain.1.txt").exists()
    more, calls = info()
    more["sampler"]["warpquad"]["budget"] = 70
    _, sampler = run(more, output=output, resume=True)
    assert len(calls) == 10 and len(sampler.products()["sample"]) == 4000
    again, calls = info()
    run(again, output=output, force=True)
    assert len(calls) == 60
    with pytest.raises(LoggedError):
        run(info()[0], output=output)


def test_a_typo_in_an_option_is_an_error():
    with pytest.raises(LoggedError, match="budgte"):
        run(info(budgte=3)[0])


def test_a_periodic_parameter_is_a_circle():
    problem = {
        "likelihood": {"wave": lambda phase: 30 * np.cos(phase - 0.02)},
        "params": {"phase": {"prior": {"min": 0, "max": 2 * math.pi}, "periodic": True}},
        "sampler": {"warpquad": {"budget": 16, "seed": 1}},
    }
    _, sampler = run(problem)
    assert sampler.products()["logZ"] == pytest.approx(math.log(scipy.special.ive(0, 30)) + 30, abs=0.02)
    assert sampler.products()["result"].circles == {"phase": (0.0, 2 * math.pi)}

"""Scripts that exist: the arguments of other samplers, beside the samplers themselves."""

import importlib.util
import inspect
import math
import multiprocessing
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dynesty
import dynesty.pool
import nautilus
import numpy as np
import pytest
import scipy.stats as stats
import ultranest
import warpquad as wq

# A correlated normal likelihood in a box of side 10: ln Z = ln(2 pi sqrt(0.75)) - ln(100).
PRECISION = np.linalg.inv([[1.0, 0.5], [0.5, 1.0]])
EXACT = math.log(2 * math.pi * math.sqrt(0.75)) - math.log(100)
SMALL = {"budget": 50, "progress": False}


def loglike(x):
    return -0.5 * x @ PRECISION @ x


def loglike_with(x, scale, shift=0.0):
    return scale * loglike(x) + shift


def loglike_and_blob(x):
    return loglike(x), x.sum()


def transform(u):
    return 10 * u - 5


def transform_with(u, width):
    return width * (u - 0.5)


def close(r):
    assert r.evaluations == 50 and r.log_z == pytest.approx(EXACT, abs=0.05)
    return r


def test_dynesty_itself_agrees():
    sampler = dynesty.NestedSampler(loglike, transform, 2, nlive=200, rstate=np.random.default_rng(1))
    sampler.run_nested(print_progress=False)
    results = sampler.results
    r = close(wq.like_dynesty(loglike, transform, 2, **SMALL))
    assert results.logz[-1] == pytest.approx(r.log_z, abs=5 * results.logzerr[-1])
    assert np.cov(results.samples_equal().T)[0, 1] == pytest.approx(np.cov(r.samples().T)[0, 1], abs=0.2)


def test_dynesty_arguments():
    close(wq.like_dynesty(loglike_with, transform, 2, logl_args=[1.0], logl_kwargs={"shift": 0.0}, **SMALL))
    close(wq.like_dynesty(loglike, transform_with, 2, ptform_args=[10.0], **SMALL))
    close(wq.like_dynesty(loglike, transform_with, ndim=2, ptform_kwargs={"width": 10}, **SMALL))
    r = close(wq.like_dynesty(loglike, transform, 2, names=["a", "b"], maxcall=50, progress=False))
    assert r.names == ["a", "b"] and r.samples(7).shape == (7, 2)
    with pytest.warns(UserWarning, match="nlive, bound: these options of dynesty mean nothing here"):
        close(wq.like_dynesty(loglike, transform, 2, nlive=500, bound="multi", **SMALL))
    with pytest.warns(UserWarning, match="blobs of dynesty are not kept"):
        close(wq.like_dynesty(loglike_and_blob, transform, 2, blob=True, **SMALL))
    seeds = [wq.like_dynesty(loglike, transform, 2, rstate=np.random.default_rng(s), budget=3, progress=False).seed for s in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]
    with pytest.raises(TypeError, match="unknown option 'nlives'"):
        wq.like_dynesty(loglike, transform, 2, nlives=500)


def test_pools():
    with dynesty.pool.Pool(2, loglike_with, transform, logl_args=(1.0,)) as pool:
        close(wq.like_dynesty(pool.loglike, pool.prior_transform, 2, pool=pool, **SMALL))
    with multiprocessing.Pool(2) as processes:
        close(wq.like_dynesty(loglike, transform, 2, pool=processes, queue_size=2, **SMALL))
        close(wq.like_nautilus(transform, loglike, 2, pool=(processes, None), **SMALL))
    with ThreadPoolExecutor(2) as threads:
        close(wq.like_dynesty(loglike, transform, 2, pool=threads, **SMALL))
    close(wq.like_nautilus(transform, loglike, 2, pool=2, **SMALL))
    with pytest.raises(wq.SpecError, match="pool: must be a number of processes or have submit"):
        wq.like_dynesty(loglike, transform, 2, pool=map, **SMALL)


def test_every_option_of_dynesty_is_known():
    from warpquad.adapters.dynesty import UNUSED

    ours = set(inspect.signature(wq.like_dynesty).parameters) | UNUSED | {"maxcall"}
    for function in (
        dynesty.NestedSampler.__new__,
        dynesty.DynamicNestedSampler.__init__,
        dynesty.sampler.Sampler.run_nested,
        dynesty.DynamicNestedSampler.run_nested,
    ):
        assert set(inspect.signature(function).parameters) - {"self", "cls"} <= ours


def test_ultranest_itself_agrees():
    sampler = ultranest.ReactiveNestedSampler(["a", "b"], loglike, transform)
    result = sampler.run(show_status=False, viz_callback=False, min_num_live_points=100, min_ess=100)
    r = close(wq.like_ultranest(["a", "b"], loglike, transform, **SMALL))
    assert result["logz"] == pytest.approx(r.log_z, abs=5 * result["logzerr"])
    assert r.names == ["a", "b"]


def test_ultranest_arguments():
    def many(x):
        return -0.5 * np.einsum("ni,ij,nj->n", x, PRECISION, x)

    r = wq.like_ultranest(["a", "b"], many, transform, vectorized=True, max_ncalls=56, progress=False)
    assert r.evaluations == 56 and r.log_z == pytest.approx(EXACT, abs=0.05)
    cube = wq.like_ultranest(["u"], lambda x: -x[0], budget=12, progress=False)
    assert cube.log_z == pytest.approx(math.log(1 - math.exp(-1)), abs=0.01)
    with pytest.raises(wq.SpecError, match="derived_param_names: must be empty"):
        wq.like_ultranest(["a"], loglike, transform, derived_param_names=["b"])
    from warpquad.adapters.ultranest import UNUSED

    ours = set(inspect.signature(wq.like_ultranest).parameters) | UNUSED | {"max_ncalls"}
    for function in (ultranest.ReactiveNestedSampler.__init__, ultranest.ReactiveNestedSampler.run):
        assert set(inspect.signature(function).parameters) - {"self"} <= ours


def nautilus_prior():
    prior = nautilus.Prior()
    prior.add_parameter("a", dist=(-5, 5))
    prior.add_parameter("b", dist=stats.uniform(-5, 10))
    prior.add_parameter("c", dist=2.0)
    prior.add_parameter("d", dist="a")
    return prior


def of_dict(p):
    assert p["c"] == 2.0 and p["d"] == p["a"]
    return loglike(np.array([p["a"], p["b"]]))


def test_nautilus_itself_agrees():
    sampler = nautilus.Sampler(nautilus_prior(), of_dict, n_live=400, n_networks=0, seed=1)
    sampler.run(n_eff=500)
    r = close(wq.like_nautilus(nautilus_prior(), of_dict, **SMALL))
    assert sampler.log_z == pytest.approx(r.log_z, abs=0.15)
    assert r.names == ["a", "b"]


def test_nautilus_arguments():
    close(wq.like_nautilus(nautilus_prior(), loglike, pass_dict=False, **SMALL))
    close(wq.like_nautilus(transform_with, loglike_with, 2, prior_args=[10], likelihood_args=[1.0], **SMALL))
    close(wq.like_nautilus(transform, loglike, n_dim=2, n_like_max=50, seed=3, timeout=1e6, progress=False))
    with pytest.warns(UserWarning, match="n_live: these options of nautilus mean nothing here"):
        close(wq.like_nautilus(transform, loglike, 2, n_live=100, **SMALL))
    with pytest.warns(UserWarning, match="blobs of nautilus are not kept"):
        close(wq.like_nautilus(transform, loglike_and_blob, 2, blobs_dtype=float, **SMALL))
    with pytest.raises(wq.SpecError, match="n_dim: is needed"):
        wq.like_nautilus(transform, loglike)
    from warpquad.adapters.nautilus import UNUSED

    ours = set(inspect.signature(wq.like_nautilus).parameters) | UNUSED | {"n_like_max", "seed"}
    for function in (nautilus.Sampler.__init__, nautilus.Sampler.run):
        assert set(inspect.signature(function).parameters) - {"self"} <= ours


def pocomc_module(name):
    """A module of pocoMC by its file: the package itself imports PyTorch."""
    root = Path(importlib.util.find_spec("pocomc").origin).parent
    spec = importlib.util.spec_from_file_location(f"pocomc_{name}", root / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pocomc():
    dists = [stats.uniform(-5, 10), stats.uniform(-5, 10)]
    prior = pocomc_module("prior").Prior(dists)
    r = close(wq.like_pocomc(prior, loglike, **SMALL))
    assert r.names == ["x0", "x1"]
    close(wq.like_pocomc(dists, loglike_with, 2, likelihood_args=[1.0], random_state=4, names=["a", "b"], **SMALL))
    with pytest.warns(UserWarning, match="n_effective, n_total: these options of pocoMC"):
        close(wq.like_pocomc(prior, loglike, n_effective=512, n_total=4096, **SMALL))
    many = wq.like_pocomc(prior, lambda x: -0.5 * np.einsum("ni,ij,nj->n", x, PRECISION, x), vectorize=True, **SMALL)
    assert many.log_z == pytest.approx(EXACT, abs=0.05)
    with pytest.raises(wq.SpecError, match="prior: has 2 parameters, but n_dim is 3"):
        wq.like_pocomc(prior, loglike, 3)


def test_every_option_of_pocomc_is_known():
    import ast

    from warpquad.adapters.pocomc import UNUSED

    root = Path(importlib.util.find_spec("pocomc").origin).parent
    functions = {
        node.name: {arg.arg for arg in node.args.args}
        for top in ast.parse((root / "sampler.py").read_text()).body
        if isinstance(top, ast.ClassDef) and top.name == "Sampler"
        for node in top.body
        if isinstance(node, ast.FunctionDef) and node.name in ("__init__", "run")
    }
    ours = set(inspect.signature(wq.like_pocomc).parameters) | UNUSED | {"progress"}
    assert (functions["__init__"] | functions["run"]) - {"self"} <= ours


def test_nothing_is_warned_of_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wq.like_dynesty(loglike, transform, 2, budget=5, progress=False)

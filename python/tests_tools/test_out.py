"""Results in the packages that people look at them with."""

import json
import math
import subprocess
import sys

import anesthetic
import arviz
import getdist
import numpy as np
import pytest
import scipy.stats as stats
import warpquad as wq
import xarray

PRIORS = {"x": wq.normal(0, 1), "c": 2.0, "beta": wq.uniform(-1, 1, size=2), "rate": stats.gamma(3.0, loc=1.0)}
# x | 2 x^2 has the variance 1/5.
SD = math.sqrt(1 / 5)


@pytest.fixture(scope="module")
def result():
    def log_f(x, c, beta, rate):
        return -c * x**2 - 0.1 * rate

    return wq.integrate(log_f, PRIORS, budget=40, progress=False)


def test_bounds(result):
    bounds = result.bounds
    assert bounds["x"] == (-math.inf, math.inf) and bounds["beta[1]"] == (-1.0, 1.0)
    assert bounds["rate"] == (1.0, math.inf)
    cube = wq.integrate(lambda u: 0.0, lambda u: 3 * u, dim=2, budget=5, progress=False)
    assert cube.bounds["x0"] == (-math.inf, math.inf)


def test_arviz(result, tmp_path):
    tree = result.to_arviz(n=2000, chains=4)
    posterior = tree.posterior
    assert set(posterior.data_vars) == {"x", "beta", "rate"}
    assert posterior["beta"].shape == (4, 500, 2) and tree.sample_stats["lp"].shape == (4, 500)
    draws = result.posterior(2000)
    assert np.array_equal(posterior["x"].values.ravel(), draws["x"])
    assert np.array_equal(posterior["beta"].values.reshape(-1, 2)[:, 1], draws["beta[1]"])
    for attrs in (tree.attrs, posterior.attrs):
        assert attrs["log_z"] == result.log_z and attrs["log_z_sd"] == result.log_z_sd
        assert attrs["evaluations"] == 40 and json.loads(attrs["fixed"]) == {"c": 2.0}
        assert attrs["inference_library"] == "warpquad"
    summary = arviz.summary(tree, kind="stats", round_to="none")
    assert float(summary.loc["x", "sd"]) == pytest.approx(SD, abs=0.05)
    assert "beta[1]" in summary.index
    with pytest.raises(wq.SpecError, match="chains: must be a whole number, 1 or more, got 0"):
        result.to_arviz(chains=0)


def test_today_arviz_gives_a_data_tree(result):
    tree = result.to_arviz(n=100)
    assert isinstance(tree, xarray.DataTree) and set(tree.children) == {"posterior", "sample_stats"}


def test_getdist(result, tmp_path):
    samples = result.to_getdist(n=4000, label="model 1")
    assert isinstance(samples, getdist.MCSamples) and samples.label == "model 1"
    names = [info.name for info in samples.paramNames.names]
    assert names == ["x", "beta[0]", "beta[1]", "rate"]
    assert samples.std("x") == pytest.approx(SD, abs=0.03)
    assert samples.ranges.getLower("beta[0]") == -1 and samples.ranges.getUpper("beta[0]") == 1
    assert samples.ranges.getLower("rate") == 1 and samples.ranges.getUpper("rate") is None
    # A flat marginal is flat up to its edge, because the range is known.
    density = samples.get1DDensity("beta[0]")
    assert density(-0.99) == pytest.approx(density(0.0), rel=0.25)
    assert samples.log_z == result.log_z and samples.log_z_sd == result.log_z_sd
    samples.saveAsText(str(tmp_path / "chain"))
    back = getdist.loadMCSamples(str(tmp_path / "chain"), no_cache=True)
    assert back.mean("rate") == pytest.approx(samples.mean("rate"))


def test_anesthetic(result):
    samples = result.to_anesthetic(n=3000, label="model 1")
    assert isinstance(samples, anesthetic.Samples) and len(samples) == 3000
    assert samples["x"].std() == pytest.approx(SD, abs=0.03)
    assert samples.get_label("beta[0]") == "$beta_{0}$"
    draws, log_f = result._draws(3000, 0)
    assert np.array_equal(samples["logL"].to_numpy(), log_f)
    assert samples.attrs["log_z"] == result.log_z and samples.attrs["log_z_sd"] == result.log_z_sd


def test_the_same_from_the_command_line(tmp_path, capsys):
    priors = {"a": wq.normal(0, 1), "beta": wq.uniform(-1, 1, size=2), "phi": wq.uniform(0, 6, periodic=True)}
    r = wq.integrate(lambda a, beta, phi: -(a**2), priors, budget=20, run=tmp_path / "run", progress=False)

    def export(*words):
        return subprocess.run([sys.executable, "-m", "warpquad", *map(str, words)], capture_output=True, text=True)

    for form, file in [("arviz", "draws.nc"), ("getdist", "root"), ("anesthetic", "draws.csv")]:
        done = export(tmp_path / "run", form, tmp_path / file, "--draws", 1000)
        assert done.returncode == 0, done.stderr
    tree = arviz.from_netcdf(tmp_path / "draws.nc")
    assert tree.attrs["log_z"] == r.log_z and tree.posterior["beta"].shape == (4, 250, 2)
    assert np.array_equal(tree.posterior["a"].values.ravel(), r.posterior(1000)["a"])
    chains = getdist.loadMCSamples(str(tmp_path / "root"))
    assert chains.mean("a") == pytest.approx(r.posterior(1000)["a"].mean(), rel=1e-5)
    assert "phi" in chains.ranges.periodic
    assert len(anesthetic.read_csv(tmp_path / "draws.csv")) == 1000
    nothing = export(tmp_path / "nowhere", "arviz", tmp_path / "x.nc")
    assert nothing.returncode == 1 and "holds no run" in nothing.stderr

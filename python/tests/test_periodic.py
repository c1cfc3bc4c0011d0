"""Periodic parameters: a mode across the ends is one, in answers and in plots."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import warpquad as wq

TAU = 2 * math.pi
QUIET = {"progress": False}


def ln_bessel(k: float) -> float:
    """ln I_0(k)."""
    return math.log(special.ive(0, k)) + k


@pytest.mark.parametrize("peak", [0.0, 0.02, 3.0])
def test_a_mode_may_lie_across_the_ends(peak):
    priors = {"phi": wq.uniform(0, TAU, periodic=True)}
    r = wq.integrate(lambda phi: 30 * math.cos(phi - peak), priors, budget=16, **QUIET)
    assert r.log_z == pytest.approx(ln_bessel(30), abs=0.02)
    draws = r.posterior()["phi"]
    assert np.all((draws > 0) & (draws < TAU))
    # Of a von Mises law, the mean of the cosine is I_1/I_0.
    mean = r.mean(lambda p: np.cos(p["phi"] - peak))
    assert mean.mean == pytest.approx(special.ive(1, 30) / special.ive(0, 30), abs=1e-3)


def test_two_angles_and_an_amplitude():
    def log_f(a, p, q):
        return -20 * (a - 1.5) ** 2 + 6 * math.cos(p - 0.1) + 4 * math.cos(q + p - 3)

    priors = {"a": wq.uniform(0, 3), "p": wq.uniform(-math.pi, math.pi, periodic=True), "q": wq.uniform(0, TAU, periodic=True)}
    r = wq.integrate(log_f, priors, budget=100, **QUIET)
    truth = math.log(math.sqrt(math.pi / 20) * math.erf(1.5 * math.sqrt(20)) / 3) + ln_bessel(6) + ln_bessel(4)
    assert r.log_z == pytest.approx(truth, abs=max(0.02, 3 * r.log_z_sd))
    assert r.circles == {"p": (-math.pi, math.pi), "q": (0.0, TAU)}


def test_the_run_is_that_of_the_problem_file(tmp_path: Path):
    priors = {"phi": wq.uniform(0, TAU, periodic=True, size=2)}
    wq.integrate(lambda phi: float(np.cos(phi).sum()), priors, budget=12, run=tmp_path / "run", **QUIET)
    text = (tmp_path / "run" / "journal.jsonl").read_text()
    assert "periodic = true" in text
    again = wq.resume(tmp_path / "run", lambda phi: float(np.cos(phi).sum()), budget=16, **QUIET)
    assert again.circles == {"phi[0]": (0.0, TAU), "phi[1]": (0.0, TAU)}
    assert repr(priors["phi"]) == "uniform(0, 6.28319, size=2, periodic=True)"


def test_only_a_uniform_prior_has_a_circle():
    with pytest.raises(wq.SpecError, match="put the density of normal into the integrand"):
        wq.Prior("normal", (0, 1), periodic=True)


def test_plots_cut_where_the_mass_is_least():
    priors = {"phi": wq.uniform(0, TAU, periodic=True), "x": wq.normal(0, 1)}
    r = wq.integrate(lambda phi, x: 30 * math.cos(phi) - x * x, priors, budget=40, **QUIET)
    figure = r.plot()
    axes = [one for one in figure.findobj(lambda a: hasattr(a, "get_xlabel")) if one.get_title("left").startswith("phi")]
    low, high = axes[0].get_xlim()
    assert -1.5 < low < -0.3 and 0.3 < high < 1.5
    page = r.to_html().text
    # The row of the table has the mean and the sd of the mode as a whole.
    assert "phi" in page
    assert r.to_html(parameters=["phi"]).text


def test_a_quantile_function_may_have_a_circle():
    class Sine:
        """The polar angle of a direction, read as going round."""

        periodic = True

        def ppf(self, u):
            return np.arccos(1 - 2 * np.asarray(u))

    r = wq.integrate(lambda t: 0.0 * t, {"t": Sine()}, budget=12, **QUIET)
    assert r.circles == {"t": (0.0, pytest.approx(math.pi))}
    assert r.log_z == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(wq.SpecError, match="periodic"):
        unbounded = stats.logistic()
        unbounded.periodic = True
        wq.integrate(lambda t: 0.0, {"t": unbounded}, budget=12, **QUIET)


@pytest.mark.parametrize(
    "call",
    [
        lambda f, **more: wq.like_dynesty(f, lambda u: TAU * u, 1, periodic=[0], **more),
        lambda f, **more: wq.like_ultranest(["phi"], f, lambda u: TAU * u, wrapped_params=[True], **more),
        lambda f, **more: wq.like_nautilus(lambda u: TAU * u, f, 1, periodic=[0], **more),
        lambda f, **more: wq.like_pocomc([stats.uniform(0, TAU)], f, periodic=[0], **more),
    ],
)
def test_other_samplers_periodic_parameters_are_such_here(call):
    r = call(lambda x: 30 * math.cos(x[0] - 0.02), budget=16, **QUIET)
    assert r.core.circles != [None]
    assert r.log_z == pytest.approx(ln_bessel(30), abs=0.02)


def test_a_circle_has_the_parameters_own_coordinates():
    r = wq.like_pocomc([stats.uniform(0, TAU), wq.uniform(0, 1)], lambda x: 0.0, periodic=[0, 1], budget=12, **QUIET)
    assert r.circles == {"x0": (0.0, TAU), "x1": (0.0, 1.0)}


def test_a_periodic_parameter_that_is_not_there():
    with pytest.raises(wq.SpecError, match="counted from 0, but there are 1"):
        wq.like_dynesty(lambda x: 0.0, lambda u: u, 1, periodic=[1], budget=10, **QUIET)

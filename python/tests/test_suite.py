"""The benchmark's integrands: shapes, priors, finite values, vectors, and log evidences."""

import csv
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import integrate, stats  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.suite import PROBLEMS, absorbers, defined, read_truths  # noqa: E402
from benchmarks.suite import cubature, humps, posteriors, sampling, truths  # noqa: E402

NAMES = list(PROBLEMS)
CLOSED = {p.name for p in defined() if not math.isnan(p.log_z)}


def cube(problem: Any, n: int, seed: int = 0) -> Any:
    """Points of the unit cube, the corners' neighbourhood among them."""
    u = np.random.RandomState(seed).uniform(size=(n, problem.d))
    u[: n // 4] = np.where(u[: n // 4] < 0.5, 1e-9, 1.0 - 1e-9)
    return u


def test_the_suite_is_large_and_its_halves_are_alike() -> None:
    assert len([n for n in NAMES if not n.startswith("dla")]) >= 26
    dims = [p.d for p in PROBLEMS.values()]
    assert dims == sorted(dims) and {1, 2, 3, 4, 5, 6, 8, 10} <= set(dims)
    halves = {half: [p for p in PROBLEMS.values() if p.half == half] for half in ("tune", "report")}
    assert abs(len(halves["tune"]) - len(halves["report"])) <= 2
    for half in halves.values():
        assert {1, 2, 3, 4, 5, 8, 10} <= {p.d for p in half}
        # Closed forms and real posteriors, few dimensions and many, are in both.
        assert {p.name in CLOSED for p in half} == {True, False}


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_keeps_the_contract(name: str) -> None:
    p = PROBLEMS[name]
    assert (
        p.name == name
        and name.endswith(f"_{p.d}d")
        and p.about.endswith(".")
        and p.half in ("tune", "report")
    )
    assert p.budgets == ((50, 100, 200) if p.d <= 4 else (200, 400))
    assert math.isfinite(p.log_z) and 0.0 <= p.log_z_error < 0.003
    n = 8 if name.startswith("dla") else 400
    x = p.transform(cube(p, n))
    assert x.shape == (n, p.d) and np.isfinite(p.log_prior(x)).all()
    assert (x >= p.bounds[:, 0]).all() and (x <= p.bounds[:, 1]).all()
    values = p.log_likelihoods(x)
    assert values.shape == (n,) and np.isfinite(values).all()
    for row, value in zip(x[:: n // 8], values[:: n // 8]):
        one = p.log_likelihood(row)
        assert isinstance(one, float) and one == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert p.transform(cube(p, n)[0]).shape == (p.d,)
    with pytest.raises(ValueError, match="coordinates"):
        p.log_likelihood(np.zeros(p.d + 1))


@pytest.mark.parametrize("name", NAMES)
def test_transform_and_prior_are_the_families_own(name: str) -> None:
    p = PROBLEMS[name]
    u = np.random.RandomState(1).uniform(0.01, 0.99, (50, p.d))
    x = p.transform(u)
    # The density is the derivative of the distribution function, and the transform its inverse.
    h = 1e-6
    slopes = [
        (p.transform(np.clip(u + h * e, 0, 1)) - p.transform(u - h * e)) @ e / (2 * h)
        for e in np.eye(p.d)
    ]
    assert p.log_prior(x) == pytest.approx(-np.log(slopes).sum(0), abs=1e-5)
    assert p.log_prior(x[0]) == pytest.approx(p.log_prior(x)[0], rel=1e-12)


def test_families_are_known_to_the_package() -> None:
    wq = pytest.importorskip("warpquad")
    for p in PROBLEMS.values():
        for family, *numbers in p.priors.values():
            name = {
                "loguniform": "log_uniform",
                "halfnormal": "half_normal",
                "lognormal": "log_normal",
            }.get(family, family)
            getattr(wq, name)(*numbers)


def test_the_table_is_complete_and_its_two_ways_agree() -> None:
    rows = read_truths()
    assert set(NAMES) <= set(rows) and set(absorbers.SPECTRA) <= set(rows)
    for name, row in rows.items():
        first, second = float(row["log_z"]), float(row["second_log_z"])
        error = math.hypot(float(row["error"]), float(row["second_error"]))
        assert abs(first - second) <= 4.0 * error + 1e-6, name
        assert row["method"] and row["second_method"]
        assert (row["method"] == "closed form") == (name in CLOSED)
        if name in CLOSED:
            assert first == pytest.approx(PROBLEMS[name].log_z, abs=1e-9)
        # Far below the accuracy that is asked of methods.
        assert float(row["error"]) < (0.003 if name == "dla_6d" else 0.001)


@pytest.mark.parametrize(
    "name", [n for n in NAMES if PROBLEMS[n].d <= 2 and not n.startswith("dla")]
)
def test_a_grid_finds_the_truth(name: str) -> None:
    # The funnel's throat is narrower than a panel of a coarse grid.
    tolerance = 3e-4 if name == "funnel_2d" else 1e-7
    assert cubature.log_integral(PROBLEMS[name], 100) == pytest.approx(
        PROBLEMS[name].log_z, abs=tolerance
    )


@pytest.mark.parametrize("name", ["correlated_3d", "shell_3d", "loggamma_3d"])
def test_a_grid_finds_the_truth_in_three_dimensions(name: str) -> None:
    assert cubature.log_integral(PROBLEMS[name], 16) == pytest.approx(
        PROBLEMS[name].log_z, abs=1e-4
    )


@pytest.mark.parametrize(
    "name",
    [
        "cigar_4d",
        "lumpy_5d",
        "student_5d",
        "gmm_6d",
        "correlated_8d",
        "skewed_8d",
        "eight_schools_10d",
    ],
)
def test_importance_sampling_finds_closed_forms(name: str) -> None:
    p = PROBLEMS[name]
    z, _ = sampling.tempered(p, 1500, seed=3, moves=15)
    log_z, error, _ = sampling.importance(
        p, sampling.fit(z, 6, 8.0, 1.1, seed=3), 2**15, seed=4, sobol=False
    )
    assert error < 0.03 and abs(log_z - p.log_z) < 5.0 * error


def test_a_twist_keeps_the_volume() -> None:
    p = PROBLEMS["twisted_10d"]
    # Draws of the density itself, and the share of them in the box: Z is that share over the box's
    # volume.
    y = np.random.RandomState(0).standard_normal((200_000, 10))
    y[:, 0] *= 10.0
    y[:, 1] -= 0.03 * (y[:, 0] ** 2 - 100.0)
    lo, hi = p.bounds.T
    inside = ((y > lo) & (y < hi)).all(1).mean()
    assert p.log_z == pytest.approx(np.log(inside) - np.log(hi - lo).sum(), abs=1e-3)
    x = y[:5].copy()
    x[:, 1] += 0.03 * (x[:, 0] ** 2 - 100.0)
    law = stats.norm(0.0, np.r_[10.0, np.ones(9)])
    assert p.log_likelihoods(y[:5]) == pytest.approx(law.logpdf(x).sum(1))


def test_the_chain_of_rosenbrock_is_its_integral() -> None:
    two = cubature.log_integral(PROBLEMS["banana_2d"], 120)
    assert truths.chain(PROBLEMS["banana_2d"], (40, 60)).log_z == pytest.approx(two, abs=1e-9)


def test_a_mass_far_in_a_tail_does_not_cancel() -> None:
    found = humps.log_interval(np.array([9.0, -12.0, -1.0]), np.array([9.5, -11.0, 2.0]))
    exact = [
        math.log(integrate.quad(stats.norm.pdf, a, b, epsabs=0)[0])
        for a, b in [(9, 9.5), (-12, -11), (-1, 2)]
    ]
    assert found == pytest.approx(exact, rel=1e-10)


def test_kepler_s_equation_is_solved() -> None:
    m, e = np.meshgrid(np.linspace(-3.0, 20.0, 2001), np.linspace(0.0, 0.8, 41))
    turn = posteriors.kepler(m, e)
    assert np.abs(turn - e * np.sin(turn) - np.mod(m, 2.0 * np.pi)).max() < 1e-12
    t, velocity = np.linspace(0.0, 4.0, 20_001), posteriors.velocity
    # Over a period the velocity averages to nothing, and spans twice the amplitude.
    v = velocity(t, 4.0, 50.0, 1.0, 0.5, 2.0)
    assert abs(np.trapz(v, t) if hasattr(np, "trapz") else np.trapezoid(v, t)) < 1e-4
    assert v.max() - v.min() == pytest.approx(100.0, rel=1e-6)


def test_predators_and_prey_follow_their_equations() -> None:
    rates, start = np.array([0.55, 0.028, 0.8, 0.024]), np.array([30.0, 4.0])
    a, b, c, e = rates

    def slope(_: float, s: Any) -> list[float]:
        return [(a - b * s[1]) * s[0], (e * s[0] - c) * s[1]]

    exact = integrate.solve_ivp(
        slope, (0, 20), start, t_eval=range(1, 21), rtol=1e-10, atol=1e-10
    ).y.T
    ours = posteriors.paths(rates[None], start, 20)[..., 0]
    assert ours == pytest.approx(np.log(exact), abs=1e-4)
    assert posteriors.path(rates, start, 20)[..., 0] == pytest.approx(ours, abs=1e-10)


def test_a_logistic_regression_is_a_product_of_probabilities() -> None:
    beta, t = np.array([0.3, -0.5, 1.0, 2.0]), posteriors.table("nodal")
    columns = [(t[c] - t[c].mean()) / t[c].std() for c in ("acid", "xray", "stage")]
    p = 1.0 / (1.0 + np.exp(-(beta[0] + sum(b * c for b, c in zip(beta[1:], columns)))))
    assert PROBLEMS["nodal_4d"].log_likelihood(beta) == pytest.approx(
        np.log(np.where(t["r"] == 1, p, 1 - p)).sum()
    )


def test_without_data_the_absorbers_are_absent_and_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WARPQUAD_DATA", str(tmp_path))
    assert absorbers.problems() == [] and "WARPQUAD_DATA" in (absorbers.missing() or "")


@pytest.mark.skipif(absorbers.missing() is not None, reason=str(absorbers.missing()))
@pytest.mark.parametrize("count", [1, 3])
def test_absorbers_match_the_reference_values(count: int) -> None:
    spectra = [s for s, k in absorbers.SPECTRA.values() if k == count]
    with (absorbers.folder() / f"reference_{2 * count}d.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["id"] in spectra]
    assert rows
    for row in rows:
        model = absorbers.model(row["id"])
        lo, hi = model.range
        ends = [""] if count == 1 else ["_1", "_2", "_3"]
        x = [
            v
            for k in ends
            for v in (lo + float(row[f"offset{k}"]) * (hi - lo), float(row[f"log_nhi{k}"]))
        ]
        assert model.log_likelihood(np.array(x)) == pytest.approx(
            float(row["log_likelihood"]), rel=1e-8
        )


def test_the_law_of_column_densities_integrates_to_one() -> None:
    mass = integrate.quad(lambda x: math.exp(absorbers.log_tilt(np.array(x))) / 3.0, 20.0, 23.0)[0]
    assert mass == pytest.approx(1.0, abs=1e-9)

"""Warm starts: what is known before a run, from an array, a frame, a file, a run or a sampler."""

import math
import types

import numpy as np
import pytest
import scipy.stats

import warpquad as wq

PRIORS = {"a": wq.normal(0, 10), "b": wq.uniform(-5, 5)}
GRID = np.array([[1 + 0.3 * i, -1 + 0.5 * j] for i in (-2, -1, 0, 1, 2) for j in (-2, -1, 0, 1, 2)])


def log_f(x):
    return -0.5 * (((x["a"] - 1) / 0.3) ** 2 + ((x["b"] + 1) / 0.5) ** 2)


VALUES = np.array([log_f({"a": a, "b": b}) for a, b in GRID])


def counted():
    seen = []
    return seen, lambda x: seen.append((x["a"], x["b"])) or log_f(x)


# ln Z: each parameter by itself, the normal one as a sum of two normals.
TRUTH = 0.5 * math.log(0.3**2 / (0.3**2 + 100)) - 0.5 / (0.3**2 + 100) + math.log(math.sqrt(2 * math.pi) * 0.5 / 10)


def older_run():
    """With another prior, whose points partly lie outside the present one."""
    priors = {"b": wq.uniform(-20, 20), "a": wq.normal(0, 3)}
    return wq.integrate(log_f, priors, budget=30, progress=False)


def nested():
    """Points of a nested sampler, from the prior to the peak."""
    rng = np.random.default_rng(0)
    samples = np.column_stack([rng.normal(0, 10, 3000), rng.uniform(-5, 5, 3000)]) * rng.uniform(0, 1, 3000)[:, None] ** 2
    samples += [1, -1]
    logl = np.array([log_f({"a": a, "b": b}) for a, b in samples])
    return types.SimpleNamespace(samples=samples, logl=logl)


@pytest.mark.parametrize(
    ("initial", "taken"),
    [
        ((GRID, VALUES), 25),
        ({"b": GRID[:, 1], "a": GRID[:, 0], "log_f": VALUES, "note": ["x"] * 25}, 25),
        ({"a": GRID[:, 0], "b": GRID[:, 1], "f": np.exp(VALUES)}, 25),
        (nested(), 500),
        ({"weighted_samples": {"points": GRID, "logl": VALUES}}, 25),
        ((GRID, np.zeros(25), VALUES), 25),
    ],
)
def test_values_are_data_and_cost_nothing(initial, taken):
    seen, f = counted()
    r = wq.integrate(f, PRIORS, initial=initial, budget=20, progress=False)
    assert (r.given, r.evaluations, len(seen)) == (taken, 20, 20)
    assert r.initial[0]["taken"] == taken
    assert abs(r.log_z - TRUTH) < 0.02
    assert len(r.observations["a"]) == taken + 20


def test_an_older_run_with_another_prior_serves():
    older = older_run()
    outside = int(np.count_nonzero(np.abs(older.observations["b"]) > 5))
    assert outside > 0
    seen, f = counted()
    r = wq.integrate(f, PRIORS, initial=older, budget=20, progress=False)
    assert r.initial[0]["outside"] == outside and r.given == 30 - outside
    assert len(seen) == 20 and abs(r.log_z - TRUTH) < 0.02


def test_a_file_a_run_and_a_session(tmp_path):
    known = tmp_path / "known.csv"
    rows = [f"{a},{b},{v}" for (a, b), v in zip(GRID, VALUES)]
    known.write_text("a,b,log_f\n" + "\n".join([*rows, "0.5,0.5,"]) + "\n")
    seen, f = counted()
    r = wq.integrate(f, PRIORS, initial=known, budget=12, run=tmp_path / "run", progress=False)
    assert (r.given, seen[0]) == (25, (0.5, 0.5))
    # The directory of the run serves another one, and the same command goes on with it.
    again = wq.integrate(f, PRIORS, initial=known, budget=14, run=tmp_path / "run", progress=False)
    assert (again.given, again.evaluations, len(again.initial)) == (25, 14, 1)
    other = wq.integrate(log_f, PRIORS, initial=str(tmp_path / "run"), budget=8, progress=False)
    assert other.given == 39
    looked = wq.open(tmp_path / "run").result()
    assert (looked.given, looked.log_z) == (again.given, again.log_z)


def test_points_without_values_are_evaluated_first():
    draws = np.random.default_rng(1).normal([1, -1], [0.3, 0.5], (40, 2))
    seen, f = counted()
    r = wq.integrate(f, PRIORS, initial=draws, budget=24, progress=False)
    assert r.initial[0]["evaluated_first"] == 12 and r.initial[0]["thinned"] == 28
    assert np.allclose(seen[:12], draws[[k * 40 // 12 for k in range(12)]])
    frame = {"a": draws[:3, 0], "b": draws[:3, 1]}
    s = wq.Session(PRIORS, initial=frame)
    assert [task.x["a"] for task in s.ask(3)] == draws[:3, 0].tolist()


def test_scipy_priors_take_points_in_x():
    priors = {"a": scipy.stats.gumbel_r(0, 10), "b": scipy.stats.beta(2, 2, loc=-5, scale=10)}
    points = np.vstack([GRID, [[0, 7.0]]])
    values = [*VALUES, -100]
    r = wq.integrate(log_f, priors, initial=(points, values), budget=10, progress=False)
    assert (r.given, r.initial[0]["outside"], r.initial[0]["offered"]) == (25, 1, 26)
    assert np.allclose(r.observations["a"][:25], GRID[:, 0], atol=1e-9)


def test_a_prior_transform_takes_the_unit_cube():
    def transform(u):
        return np.array([scipy.stats.norm.ppf(u[0], 0, 10), 10 * u[1] - 5])

    u = np.column_stack([scipy.stats.norm.cdf(GRID[:, 0], 0, 10), (GRID[:, 1] + 5) / 10])
    found = types.SimpleNamespace(samples=GRID, samples_u=u, logl=VALUES)
    f = lambda x: log_f({"a": x[0], "b": x[1]})
    r = wq.integrate(f, transform, dim=2, initial=found, budget=20, progress=False)
    assert r.given == 25 and abs(r.log_z - TRUTH) < 0.05
    with pytest.raises(wq.SpecError, match="no inverse"):
        wq.integrate(f, transform, dim=2, initial=GRID, budget=5, progress=False)


def test_tell_takes_points_that_were_not_asked_for():
    s = wq.Session(PRIORS)
    s.tell({"a": 1.0, "b": -1.0}, log_f=0.0)
    s.tell([1.3, -1.0], f=math.exp(-0.5))
    s.tell(np.array([0.7, -1.0]), log_f=-0.5)
    assert (s.given, s.evaluations) == (3, 0)
    for _ in range(20):
        for task in s.ask():
            s.tell(task, log_f=log_f(task.x))
    r = s.result()
    assert (r.given, r.evaluations) == (3, 20) and abs(r.log_z - TRUTH) < 0.05
    with pytest.raises(wq.SpecError, match="outside the prior"):
        s.tell({"a": 1.0, "b": 9.0}, log_f=0.0)
    with pytest.raises(wq.SpecError, match="needs log_f or f"):
        s.tell({"a": 1.0, "b": 1.0}, failure="no")


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        ([[1.0, 2.0, 3.0]], "for 2 parameters"),
        ({"a": [1.0]}, "has no column 'b'"),
        ((GRID, VALUES[:3]), "25 points and 3 values"),
        ((GRID[:1], [math.inf]), "returned"),
        ("no/such/file.csv", "cannot read"),
        (object(), "must be points"),
    ],
)
def test_what_is_wrong_is_said(initial, words):
    with pytest.raises(wq.SpecError, match=words):
        wq.integrate(log_f, PRIORS, initial=initial, budget=5, progress=False)


def test_a_baseline_refuses():
    with pytest.raises(wq.SpecError, match="chooses its own points"):
        wq.integrate(log_f, PRIORS, initial=(GRID, VALUES), method="smc", budget=500, progress=False)

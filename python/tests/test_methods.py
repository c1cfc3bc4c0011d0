"""Every method runs from Python and from the command line, with any number of workers, and
vectorized."""

import json
import math
import subprocess

import pytest
import warpquad as wq
from conftest import program
from warpquad import _core

PRIORS = {"a": wq.normal(0, 1), "b": wq.normal(0, 1)}
EXACT = -math.log(3)
# How a function is called: one point after another, four at once, and several points in one call.
HOW = {"serial": {}, "workers": {"workers": 4}, "vectorized": {"vectorized": True}}


def listed(family: str) -> list[str]:
    """The names in a registry, as the program lists them."""
    try:
        path = program()
    except pytest.skip.Exception as skipped:
        pytest.skip(str(skipped), allow_module_level=True)
    text = subprocess.run([path, "list", family], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in text.splitlines()]


METHODS, BASELINES = listed("methods"), listed("baselines")
# A mapping from a method to its options, small enough to be fast.
OPTIONS = {
    **{name: {"budget": 16} for name in METHODS},
    **{name: {"budget": 400, "particles": 24} for name in BASELINES},
    "mc": {"budget": 400},
    "qmc": {"budget": 400},
}


def bowl(p):
    return -(p["a"] ** 2) - p["b"] ** 2


def options(name):
    # The probit warp needs f to have two bounds.
    bounds = {"range": (0.0, 1.0)} if name.startswith("probit") else {}
    return {"method": name, "seed": 1, "progress": False, **OPTIONS[name], **bounds}


def check(name, log_z):
    # A published method may know little after so few evaluations.
    assert math.isfinite(log_z)
    if name == "auto" or name in BASELINES:
        assert log_z == pytest.approx(EXACT, abs=1.0)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", METHODS + BASELINES)
def test_every_method_runs(name, how):
    given = options(name)
    r = wq.integrate(bowl, PRIORS, **given, **HOW[how])
    assert (r.evaluations, r.stop) == (given["budget"], "evaluations")
    check(name, r.log_z)


@pytest.mark.parametrize("name", ["auto", "qmc", "smc"])
def test_one_worker_or_a_batch_of_one_give_the_same_run(name):
    # A batch of one point, and one worker of a pool, change nothing.
    runs = [wq.integrate(bowl, PRIORS, **options(name), **how).core.to_lines() for how in ({}, {"workers": 1})]
    # Checksums chain over the seconds of earlier lines, which differ.
    events = [[json.loads(line) for line in run.splitlines()] for run in runs]
    points = [[(e["id"], e["x"]) for e in run if e["event"] == "ask"] for run in events]
    assert points[0] == points[1]


@pytest.mark.parametrize("name", BASELINES)
def test_workers_do_not_change_what_a_baseline_says(name):
    # A baseline is told its whole batch, in whatever order it came.
    alone = wq.integrate(bowl, PRIORS, **options(name))
    for how in ("workers", "vectorized"):
        r = wq.integrate(bowl, PRIORS, **options(name), **HOW[how])
        assert (r.log_z, r.log_z_sd) == (alone.log_z, alone.log_z_sd)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("name", METHODS + BASELINES)
def test_the_program_runs_every_method(tmp_path, cli, name, workers):
    given = options(name)
    lines = ["[integrand]", 'log = "-a^2 - b^2"', "range = [0, 1]" if "range" in given else ""]
    lines += ["[parameters]", "a = { normal = [0, 1] }", "b = { normal = [0, 1] }", "[method]", f'name = "{name}"']
    lines += [f"particles = {given['particles']}"] if "particles" in given else []
    lines += ["[budget]", f"evaluations = {given['budget']}", f"workers = {workers}"]
    file = tmp_path / "problem.toml"
    file.write_text("\n".join(lines))
    r = cli("integrate", file, "--json", "--seed", "1")
    assert (r["evaluations"], r["stop"]) == (given["budget"], "evaluations")
    check(name, r["log_z"])


def test_default_budgets_are_those_of_the_program(tmp_path):
    assert wq.integrate(bowl, PRIORS, method="bmc", progress=False).evaluations == 100
    assert wq.integrate(bowl, PRIORS, method="mc", progress=False).evaluations == 10_000
    # A run that was begun without a limit, by hand, goes on with the same.
    for name, expected in (("bmc", 100), ("mc", 10_000)):
        wq.Session(PRIORS, method=name, run=tmp_path / name).close()
        core = _core.Session.open(tmp_path / name)
        assert core.budget == (None, None, None)
        core.set_options([])
        assert core.budget == (expected, None, None)


def test_a_baseline_goes_on_with_workers(tmp_path):
    given = {**options("smc"), "run": tmp_path}
    wq.integrate(bowl, PRIORS, **{**given, "budget": 150})
    r = wq.resume(tmp_path, bowl, budget=400, workers=4, progress=False)
    assert (r.evaluations, r.stop) == (400, "evaluations")
    with pytest.raises(wq.SpecError, match="on_failure: a baseline cannot leave a point out"):
        wq.resume(tmp_path, bowl, budget=500, on_failure="skip", progress=False)


def test_particles_are_for_baselines():
    with pytest.raises(wq.SpecError, match="particles"):
        wq.integrate(bowl, PRIORS, budget=10, particles=24, progress=False)
    r = wq.integrate(bowl, PRIORS, **{**options("smc"), "particles": 48})
    assert r.core.to_lines().splitlines()[0].count('"particles":48') == 1


def test_what_became_of_an_answer_is_structure():
    core = wq.Session(PRIORS, method="bmc", on_failure="retry", retries=1).core
    id, x = core.ask()
    again = core.fail(id, "no solution", True, 0.0)
    assert (again.fate, again.id, again.point, again.preface, again.reason) == ("again", None, None, "", "")
    stop = core.fail(id, "no solution", True, 0.0)
    assert (stop.fate, stop.id, stop.preface, stop.reason) == ("stop", id, "", "no solution")
    assert stop.point == dict(zip("ab", x))
    assert core.tell(id, -1.0, True, 0.0).fate == "kept"

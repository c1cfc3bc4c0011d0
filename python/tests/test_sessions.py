"""Runs by hand, runs on disk, and runs that the command line and Python share."""

import json
import math

import numpy as np
import pytest
import warpquad as wq
from scipy import stats

PRIORS = {"x": wq.uniform(-5, 5), "y": wq.normal(0, 1)}
FORMULA = """
[integrand]
log = "-x^2 - y^2/2"
[parameters]
x = { uniform = [-5, 5] }
y = { normal = [0, 1] }
[budget]
evaluations = 30
"""
EXACT = math.log(math.sqrt(math.pi) / 10) - 0.5 * math.log(2)


def log_f(p):
    return -(p["x"] ** 2) - p["y"] ** 2 / 2


def events(run):
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


def test_ask_and_tell():
    s = wq.Session(PRIORS, seed=3)
    assert (s.names, s.seed, s.evaluations) == (["x", "y"], 3, 0)
    for _ in range(10):
        for task in s.ask(3):
            s.tell(task.id, log_f=log_f(task.x), seconds=0.5)
    r = s.result()
    assert (r.evaluations, r.stop) == (30, "running") and r.report["seconds_in_integrand"] == 15
    assert r.log_z == pytest.approx(EXACT, abs=0.1)
    assert s.pending() == [] and "30 evaluations, 0 pending" in repr(s)


def test_asking_by_hand_is_what_integrate_does():
    s = wq.Session(PRIORS)
    for _ in range(15):
        (task,) = s.ask()
        s.tell(task, log_f=log_f(task.x))
    r = wq.integrate(log_f, PRIORS, budget=15, progress=False)
    assert (r.core.observations()[0] == s.core.observations()[0]).all()
    assert r.log_z == s.result().log_z


def test_telling_wrong():
    s = wq.Session(PRIORS)
    (task,) = s.ask()
    assert s.pending() == [task] and task.array.shape == (2,)
    for given in [{}, {"log_f": 0.0, "f": 1.0}]:
        with pytest.raises(wq.SpecError, match="exactly one of log_f, f and failure"):
            s.tell(task, **given)
    with pytest.raises(wq.SpecError, match="point 7 was not asked for"):
        s.tell(7, log_f=0.0)
    with pytest.raises(wq.EvaluationError, match="at x = .*, y = .*: did not converge"):
        s.tell(task, failure="did not converge")
    s.tell(task, f=1.0)
    with pytest.raises(wq.SpecError, match="point 0 has been told already"):
        s.tell(task, f=1.0)
    skipping = wq.Session(PRIORS, on_failure="skip")
    (task,) = skipping.ask()
    skipping.tell(task, failure=ValueError("no"))
    assert skipping.failures[0].point == task.x and skipping.pending() == []
    with pytest.raises(TypeError, match="unknown option 'kernal'"):
        wq.Session(PRIORS, kernal="matern32")


def test_mapped_priors_are_asked_in_the_users_x():
    s = wq.Session({"x": stats.triang(0.5, 2, 3)})
    assert all(2 < task.x["x"] < 5 for task in s.ask(8))


def test_a_run_goes_on_as_if_it_had_never_stopped(tmp_path):
    whole = wq.integrate(log_f, PRIORS, budget=30, progress=False)
    wq.integrate(log_f, PRIORS, budget=14, run=tmp_path / "run", progress=False)
    r = wq.integrate(log_f, PRIORS, budget=30, run=tmp_path / "run", progress=False)
    assert r.evaluations == 30 and r.log_z == whole.log_z
    assert (r.core.observations()[0] == whole.core.observations()[0]).all()
    again = wq.integrate(lambda p: 1 / 0, PRIORS, budget=30, run=tmp_path / "run", progress=False)
    assert again.log_z == r.log_z


def test_a_run_in_use_and_another_problem(tmp_path):
    s = wq.Session(PRIORS, run=tmp_path)
    with pytest.raises(wq.SpecError, match="in use by another process"):
        wq.Session(PRIORS, run=tmp_path)
    assert wq.open(tmp_path).evaluations == 0
    s.close()
    with pytest.raises(wq.SpecError, match="run: is closed"):
        s.ask()
    with pytest.raises(wq.JournalError, match="the run has another prior"):
        wq.Session({"x": wq.uniform(-5, 6), "y": wq.normal(0, 1)}, run=tmp_path)
    with pytest.raises(wq.SpecError, match="the run has the seed 0, not 1"):
        wq.Session(PRIORS, run=tmp_path, seed=1)
    with pytest.raises(wq.SpecError, match="holds no run"):
        wq.open(tmp_path / "none")
    (tmp_path / "journal.jsonl").write_text("nonsense\n")
    with pytest.raises(wq.JournalError, match="journal line 1"):
        wq.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        wq.Session(PRIORS, run=tmp_path / "file")


def test_failures_leave_the_point_in_the_journal(tmp_path):
    calls = []

    def broken(p):
        calls.append(p)
        if len(calls) == 9:
            raise RuntimeError("out of memory")
        return log_f(p)

    with pytest.raises(wq.EvaluationError, match="out of memory"):
        wq.integrate(broken, PRIORS, budget=20, run=tmp_path, progress=False)
    assert [e["event"] for e in events(tmp_path)[-2:]] == ["fail", "stop"]
    assert "out of memory" in events(tmp_path)[-2]["reason"]
    r = wq.resume(tmp_path, log_f=broken, budget=20, progress=False)
    assert r.evaluations == 20 and calls[8] == calls[9]


def test_the_command_line_reads_what_python_wrote(tmp_path, cli):
    run = tmp_path / "run"
    r = wq.integrate(log_f, PRIORS, budget=20, run=run, progress=False)
    report = cli("report", run, "--json")
    assert report["log_z"] == r.log_z and report["log_z_interval"] == list(r.interval(0.95))
    assert (report["evaluations"], report["stop"]) == (20, "evaluations")
    assert "20/20 evaluations" in cli("status", run)
    # Points by hand, within a larger budget, and then the same function as a formula.
    problem = tmp_path / "problem.toml"
    problem.write_text(FORMULA)
    task = json.loads(cli("ask", run, "--problem", problem))
    cli("tell", run, stdin=json.dumps({"id": task["id"], "log_f": log_f(task["params"])}))
    assert wq.open(run).evaluations == 21
    whole = wq.integrate(log_f, PRIORS, budget=30, progress=False)
    done = cli("integrate", problem, "--run", run, "--recheck", "--json")
    assert done["evaluations"] == 30 and done["log_z"] == pytest.approx(whole.log_z, abs=1e-6)
    other = tmp_path / "other"
    wq.integrate(lambda p: log_f(p) - 1, PRIORS, budget=20, run=other, progress=False)
    models = cli("compare", run, other, "--json")["models"]
    assert models[1]["log_bayes_factor"] == pytest.approx(-1, abs=0.1)


def test_python_goes_on_with_what_the_command_line_began(tmp_path, cli):
    run, problem = tmp_path / "run", tmp_path / "problem.toml"
    problem.write_text(FORMULA)
    began = cli("integrate", problem, "--run", run, "--budget", 12, "--seed", 5, "--json")
    seen = wq.open(run)
    assert seen.names == ["x", "y"] and seen.result().log_z == began["log_z"] and seen.result().stop == "evaluations"
    whole = wq.integrate(log_f, PRIORS, budget=30, seed=5, progress=False)
    r = wq.resume(run, log_f=log_f, recheck=True, progress=False)
    assert (r.evaluations, r.seed) == (30, 5)
    # The formula and the function round differently, and every later point depends on that.
    assert r.log_z == pytest.approx(whole.log_z, abs=1e-6)
    more = wq.integrate(log_f, PRIORS, budget=33, run=run, progress=False)
    assert more.evaluations == 33
    assert cli("integrate", problem, "--run", run, "--budget", 34, "--json")["evaluations"] == 34
    with pytest.raises(wq.SpecError, match="the function has changed"):
        wq.resume(run, log_f=lambda p: 0.0, budget=40, recheck=True, progress=False)


def test_the_command_line_does_not_evaluate_pythons_function(tmp_path, cli):
    wq.Session(PRIORS, run=tmp_path / "run").close()
    text = events(tmp_path / "run")[0]["text"]
    problem = tmp_path / "problem.toml"
    problem.write_text(text)
    message = cli("integrate", problem, code=1)
    assert "problem.toml:2:12: integrand.external: the values come from python" in message
    assert "warpquad ask" in message


def test_a_journal_holds_no_functions(tmp_path):
    priors = {"x": stats.triang(0.5, -1, 2), "y": stats.logistic()}
    r = wq.integrate(log_f, priors, budget=10, run=tmp_path, progress=False)
    with pytest.raises(wq.SpecError, match=r"coordinates unit\(x\), score\(y\); give the priors"):
        wq.resume(tmp_path, log_f=log_f, budget=12, progress=False)
    more = wq.resume(tmp_path, log_f=log_f, priors=priors, budget=12, progress=False)
    assert more.names == ["x", "y"] and more.evaluations == 12 and r.names == ["x", "y"]
    with pytest.raises(wq.SpecError, match=r"the run has \['unit\(x\)', 'score\(y\)'\]"):
        wq.resume(tmp_path, log_f=log_f, priors=PRIORS, budget=12, progress=False)
    with pytest.raises(wq.JournalError, match="another names"):
        wq.integrate(log_f, PRIORS, budget=14, run=tmp_path, progress=False)


def test_draws_and_joint_normals_in_a_journal(tmp_path):
    draws = np.random.default_rng(0).normal(size=(50, 2))
    for i, prior in enumerate([draws, wq.multivariate_normal([0, 0], np.eye(2))]):
        run = tmp_path / str(i)
        r = wq.integrate(lambda x: -x @ x, prior, budget=12, run=run, progress=False)
        assert wq.open(run).result().log_z == r.log_z
        assert wq.resume(run, log_f=lambda x: -x @ x, argument="array", budget=13, progress=False).evaluations == 13

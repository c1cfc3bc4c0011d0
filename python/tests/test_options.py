"""Options: one table in the core, from which the keywords, their types and the guide are made."""

import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warpquad as wq
from conftest import program
from warpquad import _problem
from warpquad._options import Options, ResumeOptions

ROOT = Path(__file__).resolve().parents[2]
PRIORS = {"x": wq.normal(0, 1)}


def log_f(p):
    return -(p["x"] ** 2)


def first_line(run):
    return json.loads((run / "journal.jsonl").read_text().splitlines()[0])


def test_what_is_made_from_the_table_is_up_to_date():
    tool = [sys.executable, str(ROOT / "tools" / "options.py"), "--check", "--program", str(program())]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_types_are_those_of_the_table():
    assert set(Options.__annotations__) == set(_problem.TABLE)
    assert set(ResumeOptions.__annotations__) == {k for k, row in _problem.TABLE.items() if not row["fixed"]}


@pytest.mark.parametrize("function", [wq.integrate, wq.Session])
def test_signatures_show_the_options(function):
    parameters = inspect.signature(function).parameters
    assert set(_problem.TABLE) < set(parameters)
    assert parameters["retries"].default == 2 and parameters["nodes"].default is None
    assert parameters["range"].default == (0.0, float("inf"))
    assert "options" not in parameters and parameters["nodes"].annotation == int | None


def test_resume_shows_what_may_change():
    parameters = inspect.signature(wq.resume).parameters
    assert "budget" in parameters and "on_failure" in parameters and "kernel" not in parameters
    assert parameters["retries"].default is None and "seconds:" in wq.resume.__doc__


def test_an_unknown_keyword_is_a_type_error_with_the_options(tmp_path):
    with pytest.raises(TypeError, match=r"integrate\(\) got an unknown option 'kernal'; did you mean 'kernel'\?.*nodes"):
        wq.integrate(log_f, PRIORS, kernal="matern52")
    with pytest.raises(TypeError, match=r"Session\(\) got an unknown option 'zzz'; The options are range"):
        wq.Session(PRIORS, zzz=1)
    with pytest.raises(TypeError, match=r"resume\(\) takes no option 'kernel': it is fixed"):
        wq.resume(tmp_path, log_f, kernel="matern52")


def test_every_option_reaches_the_problem_file():
    examples = {"name": "a", "count": 3, "positive": 0.25, "variance": 0.5, "interval": (0, 2)}
    examples.update(seconds=1.5, fields={"nugget": 1e-5}, texts=["a < 1"], flag=False)
    for keyword, row in _problem.TABLE.items():
        value = row["choices"][-1] if row["kind"] == "word" else examples[row["kind"]]
        text = _problem.text(wq._priors.read(PRIORS), {keyword: value})
        assert f"\n{row['name']} = " in text and f"[{row['section']}]" in text


def test_tables_and_lists_are_written_as_a_problem_file_has_them():
    written = wq._toml.section("method", {"tuning": {"a": 1.5, "b": 2}, "words": ["x", "y"], "file": Path("a.csv")})
    assert written == '[method]\ntuning = { "a" = 1.5, "b" = 2 }\nwords = ["x", "y"]\nfile = "a.csv"\n'
    assert wq._toml.section("method", {}) == "" and wq._toml.section("", {"start": [[0.5]]}) == "start = [[0.5]]\n"


def test_particles_can_be_set(tmp_path):
    r = wq.integrate(log_f, PRIORS, method="smc", particles=64, budget=2000, run=tmp_path / "run", progress=False)
    assert first_line(tmp_path / "run")["method"]["particles"] == 64 and r.evaluations == 2000
    with pytest.raises(wq.SpecError, match="is for the baselines smc") as caught:
        wq.integrate(log_f, PRIORS, particles=64)
    assert caught.value.field == "method.particles"


def test_a_tuning_is_a_dict_of_numbers_or_sequences(tmp_path):
    given = {"tails_sd": np.array([1, 2.5]), "axes_nodes": 300}
    wq.integrate(log_f, PRIORS, budget=6, tuning=given, run=tmp_path / "run", progress=False)
    kept = {"axes_nodes": 300.0, "tails_sd": [1.0, 2.5]}
    assert first_line(tmp_path / "run")["method"]["tuning"] == kept
    r = wq.resume(tmp_path / "run", log_f, budget=8, progress=False)
    assert r.evaluations == 8 and json.loads(r.core.to_lines().splitlines()[0])["method"]["tuning"] == kept
    with pytest.raises(wq.SpecError, match="unknown field 'tail_sd'; did you mean 'tails_sd'") as caught:
        wq.Session(PRIORS, tuning={"tail_sd": 1})
    assert caught.value.field == "method.tuning.tail_sd"
    with pytest.raises(wq.SpecError, match="mmlt has no tuning: it is auto's"):
        wq.Session(PRIORS, method="mmlt", tuning={"nugget": 1e-5})


def test_resuming_keeps_the_policy_and_takes_another_budget(tmp_path):
    wq.integrate(log_f, PRIORS, budget=8, on_failure="skip", run=tmp_path / "run", progress=False)

    def fails_once(p, calls=[]):
        calls.append(p)
        if len(calls) == 1:
            raise ArithmeticError("no")
        return log_f(p)

    r = wq.resume(tmp_path / "run", fails_once, budget=12, progress=False)
    assert len(r.failures) == 1 and r.stop == "evaluations"
    with pytest.raises(wq.SpecError, match="audit: is a part of the evaluations") as caught:
        wq.resume(tmp_path / "run", log_f, budget=14, audit=0.9)
    assert caught.value.field == "audit"


def test_coordinates_are_known_by_the_problem_not_by_their_names(tmp_path):
    plain = {"unit(x)": wq.uniform(0, 1)}
    wq.integrate(lambda p: -p["unit(x)"], plain, budget=6, run=tmp_path / "plain", progress=False)
    r = wq.resume(tmp_path / "plain", lambda p: -p["unit(x)"], budget=7, progress=False)
    assert r.evaluations == 7
    wq.integrate(lambda x: -x[0], lambda u: 2 * u, names=["x"], budget=6, run=tmp_path / "mapped", progress=False)
    assert 'mapped = ["unit(x)"]' in first_line(tmp_path / "mapped")["text"]
    with pytest.raises(wq.SpecError, match=r"coordinates unit\(x\)") as caught:
        wq.resume(tmp_path / "mapped", lambda x: -x[0])
    assert caught.value.field == "priors"


def test_errors_carry_what_their_text_says(tmp_path):
    with pytest.raises(wq.SpecError) as caught:
        wq.Session(PRIORS, nodes=0)
    error = caught.value
    assert (error.kind, error.field, error.line, error.point) == ("spec", "method.nodes", None, None)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.field) == (str(error), "method.nodes")

    def fails(p):
        raise ArithmeticError("no")

    with pytest.raises(wq.EvaluationError) as caught:
        wq.integrate(fails, PRIORS, budget=10, progress=False)
    error = caught.value
    assert error.kind == "evaluation" and error.index == 0 and set(error.point) == {"x"}

    wq.integrate(log_f, PRIORS, budget=6, run=tmp_path / "run", progress=False)
    journal = tmp_path / "run" / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:2], lines[2].replace("1", "2", 1), *lines[3:]]))
    with pytest.raises(wq.JournalError) as caught:
        wq.resume(tmp_path / "run", log_f)
    assert (caught.value.kind, caught.value.line) == ("journal", 3)

    with pytest.raises(wq.RangeError) as caught:
        wq.Data([[0.0], [1.0]], f=[1.0, -1.0]).g("log")
    assert (caught.value.kind, caught.value.index) == ("range", 1) and "-1" in caught.value.value

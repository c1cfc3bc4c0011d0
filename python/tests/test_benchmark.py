"""The benchmark: the harness with real workers, and the report on a small table."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import environments, report, run  # noqa: E402
from benchmarks.counted import Counted  # noqa: E402
from benchmarks.peers import FINISH, PEERS  # noqa: E402
from benchmarks.peers.coordinates import Natural, Standard  # noqa: E402
from benchmarks.suite import ALL, PROBLEMS, REAL  # noqa: E402


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers in this environment, which has scipy and the package: making others takes long."""
    monkeypatch.setattr(environments, "python_of", lambda peer, root: Path(sys.executable))
    monkeypatch.setattr(environments, "version", lambda peer: "0")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_harness_runs_what_is_missing_once(here: None, tmp_path: Path) -> None:
    words = ["--peers", "qmc", "warpquad-auto", "--problems", "bump_1d", "--seeds", "1", "--finish-seeds", "0", "--jobs", "1"]
    run.main([*words, "--out", str(tmp_path)])
    first = rows(tmp_path / "runs.csv")
    assert [(r["peer"], r["budget"]) for r in first] == [(p, b) for p in ("qmc", "warpquad-auto") for b in ("50", "100", "200")]
    for row in first:
        assert row["error_text"] == ""
        assert row["evaluations"] == row["budget"]
        assert abs(float(row["log_z"]) - PROBLEMS["bump_1d"].log_z) < 0.05
    run.main([*words, "--out", str(tmp_path)])
    assert rows(tmp_path / "runs.csv") == first
    report.main(["--runs", str(tmp_path / "runs.csv"), "--out", str(tmp_path)])
    assert "warpquad-auto" in (tmp_path / "report.md").read_text()
    assert 1000 < (tmp_path / "benchmark.svg").stat().st_size < 200_000
    assert len(rows(tmp_path / "summary.csv")) == 6


def test_a_tuning_reaches_the_workers_and_keeps_its_rows_apart(here: None, tmp_path: Path) -> None:
    words = ["--peers", "qmc", "warpquad-auto", "--problems", "bump_1d", "--seeds", "1", "--finish-seeds", "0", "--jobs", "1"]
    words += ["--out", str(tmp_path)]
    run.main(words)
    tuned = [*words, "--tuning", "tails_sd=1,2.5", "--tuning", "axes_nodes=300"]
    run.main(tuned)
    versions = {(r["peer"], r["version"]) for r in rows(tmp_path / "runs.csv")}
    assert versions == {("qmc", "0"), ("warpquad-auto", "0"), ("warpquad-auto", "0 axes_nodes=300 tails_sd=1,2.5")}
    assert all(r["error_text"] == "" for r in rows(tmp_path / "runs.csv"))
    before = rows(tmp_path / "runs.csv")
    run.main(tuned)
    assert rows(tmp_path / "runs.csv") == before
    job = run.Job("warpquad-auto", "bump_1d", (0,), (50,), ("no_such_field=1",))
    (row,) = run.work(job, Path(sys.executable), 60)
    assert "unknown field 'no_such_field'; the fields are" in row["error_text"]
    with pytest.raises(SystemExit, match="must be FIELD=VALUE"):
        run.main([*words, "--tuning", "tails_sd"])


def test_a_worker_that_cannot_go_on_leaves_rows_that_say_so() -> None:
    job = run.Job("vegas", "bump_1d", (0, 1), (50, FINISH))
    found = run.work(job, Path(sys.executable), 60)  # vegas is not installed here
    assert [(row["seed"], row["budget"]) for row in found] == [(0, 50), (0, FINISH), (1, 50), (1, FINISH)]
    assert all("vegas" in row["error_text"] or "gvar" in row["error_text"] for row in found)


def line(**fields: Any) -> dict[str, Any]:
    whole = {
        "version": "1",
        "problem": "bump_1d",
        "d": 1,
        "seed": 0,
        "budget": 50,
        "evaluations": 50,
        "date": "2026-01-01",
        "cpu_seconds": 1,
    }
    return {**whole, **fields}


def test_the_report_counts_wins_coverage_and_evaluations(tmp_path: Path) -> None:
    truth = PROBLEMS["bump_1d"].log_z
    run.append(
        tmp_path / "runs.csv",
        [
            line(peer="warpquad-auto", log_z=truth + 0.01, log_z_lo=truth - 1, log_z_hi=truth + 1),
            line(
                peer="warpquad-auto", budget=100, evaluations=100, log_z=truth + 0.02, log_z_lo=truth + 0.01, log_z_hi=truth + 1
            ),
            line(peer="qmc", log_z=truth - 0.1),
            line(peer="qmc", budget=100, evaluations=100, log_z=truth - 0.015),
            line(peer="dynesty", budget=FINISH, evaluations=5000, log_z=truth + 0.05),
            line(peer="emukit-wsabi-l", error_text="no"),
            line(peer="gpry", error_text="TimeUp: not done in 9 s of the processor"),
            line(peer="qmc", version="0", date="2025-01-01", log_z=truth),  # an older version does not count
        ],
    )
    every = report.read([tmp_path / "runs.csv"])
    assert "| gpry | 1 | 2026-01-01 | 1 | 1 | 1 | 0 | 1 |" in report.report(every)
    runs = report.finished(every)
    assert report.wins(runs) == {"qmc": (1, 2), "emukit-wsabi-l": (1, 1)}
    assert report.coverage([r for r in runs if r.peer == "warpquad-auto"]) == 0.5
    ratio, theirs, ours = report.ratios(runs, "dynesty")["bump_1d"]
    assert ratio == 100 and theirs == pytest.approx(0.05) and ours == pytest.approx(0.02)
    assert np.isinf(report.median_error([r for r in runs if r.peer == "emukit-wsabi-l"]))
    assert report.wins_by_problem(runs, "qmc") == ["bump_1d"]
    assert report.share_of((1, 2)) == ("50 %", "1 of 2") and report.share_of((0, 0)) == ("–", "–")


def test_an_interval_far_from_the_truth_is_a_disaster(tmp_path: Path) -> None:
    problem = REAL["real_orings_2d"]
    slack = 2 * problem.log_z_error

    def claim(seed: int, lo: float, hi: float) -> dict[str, Any]:
        truth = problem.log_z
        ends = {"log_z": truth + lo, "log_z_lo": truth + lo, "log_z_hi": truth + hi}
        return line(peer="warpquad-auto", problem=problem.name, d=2, seed=seed, **ends)

    silent = line(peer="qmc", problem=problem.name, d=2, log_z=problem.log_z + 9)
    claims = [claim(0, -1, 1), claim(1, 0.4 + slack, 2), claim(2, 0.7 + slack, 2), claim(3, -9, -0.6 - slack)]
    run.append(tmp_path / "runs.csv", [*claims, silent])
    runs = report.read([tmp_path / "runs.csv"])
    ours = [r for r in runs if r.peer == "warpquad-auto"]
    assert [r.miss for r in ours] == pytest.approx([0, 0.4, 0.7, 0.6])
    assert [r.covered for r in ours] == [True, False, False, False]
    assert report.disasters(ours) == "2 of 4"
    # Who claims nothing cannot be wrong about it.
    assert report.disasters([r for r in runs if r.peer == "qmc"]) == "–"
    report.summary(runs, tmp_path / "summary.csv")
    assert {r["peer"]: r["disasters"] for r in rows(tmp_path / "summary.csv")} == {"qmc": "0", "warpquad-auto": "2"}


def test_groups_of_the_real_posteriors_are_compared_by_half_and_budget(tmp_path: Path) -> None:
    def at(peer: str, name: str, error: float, budget: int) -> dict[str, Any]:
        z = REAL[name].log_z + error
        return line(peer=peer, problem=name, d=REAL[name].d, budget=budget, evaluations=budget, log_z=z, log_z_lo=z - 0.1, log_z_hi=z + 0.1,
            verdict="settled" if peer == "warpquad-auto" and name != "real_orings_2d" else "")  # fmt: skip

    errors = {
        ("real_orings_2d", 50): (0.01, 0.2),
        ("real_bod_3d", 50): (3.0, 0.02),
        ("real_beetles_2d", 50): (0.5, 0.7),
        ("real_wine_6d", 400): (0.3, 2.0),
    }
    assert [REAL[name].half for name, _ in errors] == ["report", "report", "tune", "report"]
    lines = [
        at(peer, name, error, budget)
        for (name, budget), both in errors.items()
        for peer, error in zip(("warpquad-auto", "pyvbmc"), both)
    ]
    run.append(tmp_path / "runs.csv", lines)
    runs = report.read([tmp_path / "runs.csv"])
    held = report.groups(runs, "report")
    assert "| d = 2 to 4 | 50 | warpquad-auto | 1.5 | 3 | 50 % | 1 of 2 | 1 of 1 | – | 20 |" in held
    assert "| d = 2 to 4 | 50 | pyvbmc | 0.11 | 0.2 | 50 % | 0 of 2 | – | 1 of 2 | 20 |" in held
    assert "| d = 5 to 10 | 400 | pyvbmc | 2 | 2 | 0 % | 1 of 1 | – | 1 of 1 | 2.5 |" in held
    assert "| d = 2 to 4 | 50 | pyvbmc | 0.7 | 0.7 | 0 % | 1 of 1 | – | 1 of 1 | 20 |" in report.groups(runs, "tune")
    report.main(["--runs", str(tmp_path / "runs.csv"), "--out", str(tmp_path)])
    assert "| pyvbmc | 75 % | 3 of 4 | 2 of 3 | real_bod_3d |" in (tmp_path / "real.md").read_text()
    assert not (tmp_path / "report.md").exists() and (tmp_path / "real.svg").stat().st_size > 1000


def test_real_posteriors_are_run_and_reported_apart(tmp_path: Path) -> None:
    assert run.arguments([]).problems == list(PROBLEMS)
    assert run.arguments(["--problems", "real", "real_cars_3d", "bump_1d"]).problems == [*REAL, "bump_1d"]
    halves = [run.named([f"real-{half}"]) for half in ("tune", "report")]
    assert sorted(halves[0] + halves[1]) == sorted(REAL)
    truth, far = PROBLEMS["bump_1d"].log_z, REAL["real_orings_2d"].log_z + 3
    run.append(
        tmp_path / "runs.csv",
        [
            line(peer="warpquad-auto", log_z=truth),
            line(peer="warpquad-auto", problem="real_orings_2d", d=2, log_z=far, log_z_lo=far - 1, log_z_hi=far + 1),
            line(peer="warpquad-auto", problem="real_orings_2d", d=2, seed=1, log_z=far, log_z_lo=far - 5, log_z_hi=far + 1),
        ],
    )
    report.main(["--runs", str(tmp_path / "runs.csv"), "--out", str(tmp_path), "--no-picture"])
    suite, real = ((tmp_path / name).read_text() for name in ("report.md", "real.md"))
    assert "real_orings_2d" not in suite and "bump_1d" not in real
    assert "| d = 2 to 4 | 50 | warpquad-auto | 2 of 2 | 1 |" in real
    assert [r["problem"] for r in rows(tmp_path / "real_summary.csv")] == ["real_orings_2d"]


@pytest.mark.parametrize("name", ALL)
def test_coordinates_of_peers_are_those_of_the_problem(name: str) -> None:
    problem = Counted(ALL[name])
    u = np.random.default_rng(0).uniform(0.05, 0.95, problem.d)
    x = problem.transform(u)
    np.testing.assert_allclose(x, ALL[name].transform(u), rtol=1e-9, atol=1e-12)
    expected = problem.log_likelihood(x)
    natural = Natural(problem)
    t = natural.of_cube(u)
    assert natural.log_likelihood(t) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert problem.evaluations == 2
    # The density of t is that of u over the slope of t, by differences.
    slopes = (natural.of_cube(u + 1e-6) - natural.of_cube(u - 1e-6)) / 2e-6
    assert natural.log_prior(t) == pytest.approx(-np.log(slopes).sum(), abs=1e-5)


def test_weights_of_a_box_under_a_normal_law_integrate_to_one() -> None:
    class Flat:
        """One uniform parameter, and a likelihood of 1."""

        priors = {"x": ("uniform", 2.0, 5.0)}

        @staticmethod
        def transform(u: Any) -> Any:
            return 2 + 3 * np.asarray(u)

        @staticmethod
        def log_likelihood(x: Any) -> float:
            assert 2 <= x[0] <= 5
            return 0.0

    standard = Standard(Flat())
    (edge,) = standard.bounds(10.0)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = edge[1] * nodes
    f = np.exp([standard.log_f([x]) for x in t])
    normal = np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)
    assert edge[1] * np.sum(weights * f * normal) == pytest.approx(1, rel=1e-12)


def test_every_peer_has_pinned_requirements() -> None:
    for name, peer in PEERS.items():
        text = environments.requirements(peer).read_text()
        pins = [entry for entry in text.splitlines() if entry and not entry.startswith("#")]
        assert pins and all("==" in entry for entry in pins), name
        assert environments.ours(peer) or environments.version(peer)


def test_the_worker_keeps_standard_output_for_its_lines() -> None:
    words = [sys.executable, "-m", "benchmarks.worker", "qmc", "edge_1d", "3,4", "50"]
    out = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [json.loads(entry)["seed"] for entry in out.splitlines()] == [3, 4]


def test_the_overhead_of_one_problem_is_a_number() -> None:
    words = [sys.executable, "-m", "benchmarks.overhead", "--one", "edge_1d"]
    out = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert float(out) > 0

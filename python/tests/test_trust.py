"""Random integrands of benchmarks/trust: their truths, their runs and the report on them."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy.special import logsumexp  # noqa: E402
from scipy.stats import qmc  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.suite.problem import FAMILIES  # noqa: E402
from benchmarks.trust import __main__ as command  # noqa: E402
from benchmarks.trust import report, suite  # noqa: E402
from benchmarks.trust.instance import KINDS, draw  # noqa: E402
from benchmarks.trust.quadrature import log_integral  # noqa: E402
from benchmarks.trust.run import COLUMNS, rows  # noqa: E402
from benchmarks.trust.shapes import Shape  # noqa: E402


def by_sobol(shape: Shape, m: int) -> tuple[float, float, float]:
    """ln Z from 2^m points of the prior, that of the points with values, and how many count."""
    u = qmc.Sobol(len(shape.priors), seed=7).random(2**m)
    laws = (FAMILIES[family](*numbers) for family, *numbers in shape.priors.values())
    x = np.stack([law.ppf(u[:, i]) for i, law in enumerate(laws)], axis=1)
    values = shape.log_f(x)
    weights = np.exp(values - values.max())
    known = values if shape.fails is None else values[~shape.fails(x)]
    effective = weights.sum() ** 2 / (weights**2).sum()
    n = math.log(2.0**m)
    return float(logsumexp(values)) - n, float(logsumexp(known)) - n, float(effective)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_truths_agree_with_points_of_the_prior(kind: str, d: int) -> None:
    if kind == "fits" and d not in (2, 3):
        pytest.skip("no point of the prior sees the peak of a larger fit")
    checked = 0
    for seed in range(60):
        shape = KINDS[kind](np.random.default_rng([seed, d]), d)
        whole, known, effective = by_sobol(shape, 13 if d < 3 else 15)
        # A narrow peak that a few points see is no check.
        if effective < 300:
            continue
        error = 6.0 / math.sqrt(effective)
        assert whole == pytest.approx(shape.log_z, abs=error), seed
        if shape.log_z_where_known is not None:
            assert known == pytest.approx(shape.log_z_where_known, abs=2.0 * error), seed
        checked += 1
        if checked == 2:
            return
    assert checked > 0


def test_the_quadrature_finds_a_narrow_peak_and_says_when_it_is_not_sure() -> None:
    narrow = log_integral(lambda x: -0.5 * (((x - 0.3) / 1e-3) ** 2).sum(1), [(-1, 1), (0, 2)])
    assert narrow == pytest.approx(math.log(2 * math.pi * 1e-6), abs=1e-6)
    with pytest.raises(ValueError, match="not sure"):
        rng = np.random.default_rng(0)
        log_integral(lambda x: 30.0 * rng.normal(size=len(x)), [(0, 1)])


def test_an_instance_is_its_seeds_and_seeds_cover_everything() -> None:
    assert draw(8).log_z == draw(8).log_z and draw(8).kind == draw(8).kind
    found = [draw(seed) for seed in range(80)]
    assert {i.kind for i in found} == set(KINDS)
    assert {i.d for i in found} == set(range(1, 9))
    assert {i.in_flight for i in found} == {1, 8} and len({i.noise_sd for i in found}) == 4
    assert all(math.isfinite(i.log_z) for i in found)
    assert {i.half for i in found if i.seed % 2 == 0} == {"tune"}


def test_runs_are_continued_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = next(s for s in range(200) if draw(s).kind == "failing" and draw(s).d == 1)
    words = ["--instances", "1", "--first-seed", str(seed), "--out", str(tmp_path)]
    command.main(words)
    table = (tmp_path / "trust.csv").read_text().splitlines()
    assert table[0] == ",".join(COLUMNS) and len(table) == 4
    command.main(words)
    assert (tmp_path / "trust.csv").read_text().splitlines() == table
    assert "0 instances to run" in capsys.readouterr().out
    text = (tmp_path / "trust.md").read_text()
    assert "| failing | 3 |" in text and ("tuning" if seed % 2 == 0 else "not tuned on") in text


def test_many_in_flight_are_told_in_any_order() -> None:
    seed = next(s for s in range(400) if draw(s).in_flight == 8 and draw(s).d == 1)
    (row,) = rows(draw(seed), budgets=(12,))
    assert row["budget"] == 12 and row["error_text"] == "" and math.isfinite(row["log_z"])


def test_a_disaster_is_silent_only_if_the_answer_looks_sure() -> None:
    row = {"truth": 0.0, "log_z": 1.0, "log_z_lo": 0.6, "log_z_hi": 1.4, "verdict": "settled"}
    assert report.is_disaster(row) and report.is_silent(row) and not report.covers(row)
    assert not report.is_silent({**row, "verdict": "unsettled"})
    assert not report.is_disaster({**row, "log_z_lo": 0.4})
    assert report.covers({**row, "log_z_lo": -0.1})
    assert not report.covers({**row, "log_z": ""}) and not report.is_disaster({**row, "log_z": ""})


def test_the_suite_is_run_in_several_ways(tmp_path: Path) -> None:
    words = ["--problems", "bump_1d", "bowl_2d", "--seeds", "1", "--out", str(tmp_path)]
    suite.main(words)
    table = report.read(tmp_path / "suite.csv")
    # Serial and eight at once, but for the bowl, and three noises each.
    assert len(table) == (2 + 3 + 3) * len(suite.BUDGETS)
    assert {r["half"] for r in table} == {"tune"} and all(r["error_text"] == "" for r in table)
    assert set(suite.ratios(table, 100)) == {"bump_1d"}
    assert "8 in flight" in (tmp_path / "suite.md").read_text()


def test_the_bowl_has_the_value_that_is_said() -> None:
    one = log_integral(lambda x: -(x[:, 0] ** 2), [(-3.0, 3.0)]) - math.log(6.0)
    assert suite.BOWL.log_z == pytest.approx(2.0 * one, abs=1e-9)

"""The oracle tables read from Python: the built module at the tolerances of the Rust tests."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpquad as wq

TABLES = Path(__file__).resolve().parents[2] / "data" / "oracle"

LOGISTIC = wq.warp_from(lambda g: 1 / (1 + np.exp(-g)), range=(0, 1))


def table(name: str) -> list[dict[str, str]]:
    with (TABLES / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def numbers(cell: str) -> list[float]:
    return [float(part) for part in cell.split(";") if part]


def build(row: dict[str, str]) -> Any:
    """The warp of a row, as the Rust test builds it; the user's logistic goes through its table."""
    value = row["parameters"].partition("=")[2]
    match row["warp"]:
        case "square":
            return wq.warp("square", alpha=float(value))
        case "polynomial":
            return wq.warp("polynomial", coefficients=numbers(value))
        case "gumbel":
            return wq.warp("gumbel", tau=float(value))
        case "numeric" if value == "logistic":
            return LOGISTIC
        case name:
            return wq.warp(name)


def moments(row: dict[str, str]) -> dict[str, float]:
    at = [[float(row[name])] for name in ("mu", "s", "mu2", "s2", "c")]
    return {name: float(value[0]) for name, value in build(row).moments(*at).items()}


def test_moments_of_warps():
    columns = ["m", "dm_dmu", "dm_ds", "K", "dK_dc", "dK_dmu", "dK_dmu2", "dK_ds", "dK_ds2"]
    rows = table("warps")
    off = []
    for row in rows:
        got = moments(row)
        tabulated = row["parameters"] == "xi=logistic"
        for name in columns:
            want = float(row[name])
            tolerance = 1e-12 if name in ("m", "K") else 1e-9
            # A partial in mu or s can vanish by symmetry: below a thousandth of K it is measured
            # against K.
            floor = 1e-3 * abs(float(row["K"])) if name.startswith(("dK_dmu", "dK_ds")) else 0.0
            size = max(abs(want), floor)
            # A table adds its own rounding, once more that of xi, which is of order 1; it shows
            # where a partial vanishes.
            slack = 2e-14 + 1e-12 * size if tabulated else 0.0
            if abs(got[name] - want) > tolerance * size + slack:
                off.append((row["warp"], row["parameters"], name, want, got[name]))
    assert not off, off
    assert len(rows) >= 295


def test_moments_where_doubles_underflow():
    for row in table("warps_ln"):
        got = moments(row)
        ln_m, ln_k = float(row["ln_m"]), float(row["ln_abs_K"])
        assert abs(got["log_m"] - ln_m) < 1e-12 * max(1, abs(ln_m)), row
        if got["log_abs_K"] == math.inf:
            assert ln_k - 2 * ln_m > 709 or ln_k > 709, row
            continue
        assert abs(got["log_abs_K"] - ln_k) < 1e-11 * max(1, abs(ln_k)), row


def test_closed_forms():
    counted = 0
    for row in table("closed_forms"):
        # Not among the blocks: the Taylor scheme is the library's.
        if row["warp"] == "exp-taylor-2":
            continue
        X = [numbers(point) for point in row["X"].split("|")]
        gp = wq.GP(
            row["kernel"],
            mean=float(row["mu0"]),
            output_scale=float(row["scale"]),
            length_scales=numbers(row["lengths"]),
        )
        posterior = gp.condition(wq.Data(X, f=numbers(row["g"])), "identity")
        if row["measure"] == "uniform":
            sides = [
                wq.measure("uniform", lo, hi)
                for lo, hi in zip(numbers(row["lo"]), numbers(row["hi"]))
            ]
            pi = sides[0]
            for side in sides[1:]:
                pi = pi * side
        else:
            pi = wq.measure(
                "gaussian",
                numbers(row["mean"]),
                [numbers(line) for line in row["covariance"].split("|")],
            )
        linearised = row["warp"] == "square-linearised"
        warp = build({**row, "warp": "square" if linearised else row["warp"]})
        belief = posterior.linearise(warp) if linearised else posterior.warp(warp)
        z = wq.integral(pi).apply(belief)
        assert z.closed_form, row["case"]
        assert z.mean == pytest.approx(float(row["z_mean"]), rel=1e-10), row["case"]
        # A variance is what is left of the prior's, whose own rounding shows where little is left.
        slack = 8 * np.finfo(float).eps * float(row["scale"])
        assert z.var == pytest.approx(float(row["z_var"]), rel=1e-10, abs=slack), row["case"]
        counted += 1
    assert counted >= 50


def test_measures():
    rows = table("measures")
    for row in rows:
        pi = wq.measure(row["name"], *numbers(row["parameters"]))
        exact, log_density = float(row["quantile"]), float(row["ln_density"])
        if row["p"]:  # masses to the right, q, have no door in Python: 1 - q rounds
            x = pi.quantile([float(row["p"])])[0, 0]
            assert abs(x - exact) <= 1e-12 * (abs(exact) or 1.0), row
        # x rounds, which moves ln p by x times its slope: here a difference, from the side that is
        # in the support.
        lo, hi = pi.support[0]
        h = 1e-3 * min(gap for gap in (abs(exact), exact - lo, hi - exact, 1e3) if gap > 0)
        below, got, above = pi.log_density([exact - h, exact, exact + h])
        slope = max(abs(side - got) / h for side in (below, above) if np.isfinite(side))
        slack = 1e-13 * (1 + abs(log_density)) + 1.1e-15 * abs(exact) * slope
        assert abs(got - log_density) < slack, (row, got)
        for value, name in ((pi.mean, "mean"), (pi.cov, "variance")):
            if row[name]:
                assert value is not None and float(np.ravel(value)[0]) == pytest.approx(
                    float(row[name]), rel=1e-12
                ), row
            else:
                assert value is None, row
    assert len(rows) >= 300


def test_sobol_nodes_are_the_measure_s():
    """Tables of special functions, rules and points are tested by their users: moments of nodes."""
    nodes = (wq.measure("normal", 0, 1) ** 3).nodes(8192)
    second = np.einsum("n,ni,nj->ij", nodes.weights, nodes.X, nodes.X)
    np.testing.assert_allclose(second, np.eye(3), atol=5e-3)

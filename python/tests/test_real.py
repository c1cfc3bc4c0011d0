"""The benchmark's real posteriors: data, halves, likelihoods against second implementations, and
truths against other ways."""

import hashlib
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import integrate, optimize, special, stats  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.suite import ALL, PROBLEMS, REAL, read_truths, real, sampling  # noqa: E402
from benchmarks.suite.problem import FAMILIES, Problem  # noqa: E402
from benchmarks.suite.real import common, kinetics, skies, symmetries, tops, truths  # noqa: E402

NAMES = list(REAL)
DEFINED = {p.name: p for p in real.defined()}
TABLE = read_truths(real.TRUTHS)


def test_the_data_are_those_of_the_checksums() -> None:
    lines = (common.DATA / "sha256.txt").read_text().split("\n")
    sums = dict(reversed(line.split()) for line in lines if line)
    assert set(sums) == {path.name for path in common.DATA.glob("*.csv")}
    for name, known in sums.items():
        assert hashlib.sha256((common.DATA / name).read_bytes()).hexdigest() == known, name


def test_every_table_has_its_source_in_the_readme() -> None:
    text = (common.DATA / "README.md").read_text()
    assert all(f"`{path.name}`" in text for path in common.DATA.glob("*.csv"))


def test_every_problem_is_in_the_readme() -> None:
    text = Path(real.__file__).with_name("README.md").read_text()
    for name, row in TABLE.items():
        assert f"| `{name}` | {REAL[name].half} |" in text and f"| {float(row['log_z']):.3f} |" in text, name


def test_the_halves_are_alike() -> None:
    assert len(NAMES) >= 24 and not set(NAMES) & set(PROBLEMS) and set(ALL) == {*NAMES, *PROBLEMS}
    halves = {half: [p for p in DEFINED.values() if p.half == half] for half in ("tune", "report")}
    assert len(halves["tune"]) == len(halves["report"])
    for low, high in ((2, 4), (5, 10), (11, 15)):
        tune, report = (sum(low <= p.d <= high for p in halves[half]) for half in ("tune", "report"))
        assert min(tune, report) > 0 and abs(tune - report) <= 1
    # Every family has both, but for one of odd size by at most one more of either.
    for family in real.FAMILIES:
        count = Counter(p.half for p in family.problems())
        assert abs(count["tune"] - count["report"]) <= 1 and min(count["tune"], count["report"]) > 0, family.__name__


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_keeps_the_contract(name: str) -> None:
    p = REAL[name]
    assert p.name == name and name.startswith("real_") and name.endswith(f"_{p.d}d") and p.about.endswith(".")
    u = np.random.RandomState(0).uniform(size=(200, p.d))
    u[:50] = np.where(u[:50] < 0.5, 1e-9, 1.0 - 1e-9)
    x = p.transform(u)
    assert x.shape == (200, p.d) and np.isfinite(x).all()
    assert (x >= p.bounds[:, 0]).all() and (x <= p.bounds[:, 1]).all()
    values = p.log_likelihoods(x)
    # Far out a likelihood may underflow to nothing; it is never infinite or undefined.
    assert values.shape == (200,) and (values < np.inf).all()
    for row, value in zip(x[::10], values[::10]):
        assert p.log_likelihood(row) == pytest.approx(value, rel=1e-7, abs=1e-7)


def test_families_are_known_to_the_package() -> None:
    wq = pytest.importorskip("warpquad")
    by_name = {name.replace("_", ""): getattr(wq, name) for name in dir(wq)}
    for p in REAL.values():
        for family, *numbers in p.priors.values():
            by_name[family](*numbers)


def test_a_quantile_that_underflows_is_still_positive() -> None:
    law = FAMILIES["gamma"](0.001, 0.001)
    assert law.ppf(1e-9) == np.finfo(float).tiny and law.ppf(0.999) == stats.gamma(0.001, scale=1000.0).ppf(0.999)


def test_the_table_is_complete_and_its_two_ways_agree() -> None:
    assert set(TABLE) == set(NAMES) <= set(DEFINED)
    for name, row in TABLE.items():
        first, second = float(row["log_z"]), float(row["bridge_log_z"])
        error, other = float(row["error"]), float(row["bridge_error"])
        assert 0.0 < error <= 0.003 and 0.0 < other <= 0.02, name
        assert abs(first - second) <= 4.0 * math.hypot(error, other), name
        assert REAL[name].log_z == first and REAL[name].log_z_error == error
        assert row["narrowest"] in REAL[name].names and 0.0 < float(row["narrowest_sd"]) < 1.0


def test_a_truth_that_the_table_lacks_is_worked_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(truths, "TRUTHS", tmp_path / "truths.csv")
    assert [p.name for p in truths.wanted([])] == list(DEFINED)
    truths.main(["real_orings_2d"])
    (row,) = read_truths(tmp_path / "truths.csv").values()
    assert float(row["log_z"]) == pytest.approx(REAL["real_orings_2d"].log_z, abs=0.005)
    assert "real_orings_2d" not in [p.name for p in truths.wanted([])]
    # A problem that is in the table is done again if it is named.
    assert [p.name for p in truths.wanted(["real_orings_2d"])] == ["real_orings_2d"]
    with pytest.raises(SystemExit, match="no real posterior is called real_nothing: they are real_beetles_2d"):
        truths.main(["real_nothing"])


def test_climbs_find_a_mode_that_tempering_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tops, "STARTS", 8)
    p = DEFINED["real_lynx_8d"]
    # Above all data but the largest the threshold decides nothing: a wide mode of a fifth of the
    # whole.
    tempered = sampling.to_x(p, sampling.tempered(p, 500, seed=1, moves=10)[0])[:, 6]
    climbed = sampling.to_x(p, tops.around(p, seed=1))[:, 6]
    assert (tempered > 3.8).all() and (climbed < 3.8).any()


def test_a_climb_ends_on_the_top() -> None:
    # A normal likelihood about 3 scores, a thousandth wide; the prior shifts its top by 3e-6.
    p = Problem("hill", "tune", "A hill.", {"a": ("normal", 0.0, 10.0), "b": ("uniform", 0.0, 1.0)}, lambda x: -0.5 * (100 * x[:, 0] - 3000) ** 2)
    z, value = tops.climbed(p, np.array([-1.0, 1.0]))
    assert z == pytest.approx([3.0, 0.0], abs=1e-4)
    assert value == pytest.approx(-4.5 - np.log(2 * np.pi), abs=1e-4)
    reach = tops.reach(p, z, value)
    assert 0.4e-3 < reach[0] < 1.5e-3 and 0.4 < reach[1] < 1.5


def test_jumps_give_each_mode_its_share() -> None:
    # Two equal modes far apart, and nine particles of ten in one of them.
    p = Problem("two", "tune", "Two hills.", {"a": ("normal", 0.0, 1.0)}, lambda x: -0.5 * (100 * (np.abs(x[:, 0]) - 1)) ** 2)
    rng = np.random.default_rng(1)
    z = np.where(rng.uniform(size=1000) < 0.9, 1.0, -1.0)[:, None] + 0.01 * rng.standard_normal((1000, 1))
    assert abs((truths.shared(p, z, 40, 1, rng) > 0).mean() - 0.5) < 0.06


def test_most_posteriors_are_narrow() -> None:
    narrow = [float(row["narrowest_sd"]) for row in TABLE.values()]
    assert np.median(narrow) < 0.01 and max(narrow) > 0.02


# Likelihoods in the plainest words, one observation at a time where that is possible, at two points
# of the posterior each.

T = common.table


def linear(name: str, y: str, sd: Callable[[float], float] = float, scaled: bool = True) -> Callable[[Any], float]:
    def f(x: Any) -> float:
        t = T(name)
        columns = [(c - np.mean(c)) / np.std(c) if scaled else c for key, c in t.items() if key != y]
        mean = x[0] + sum(b * c for b, c in zip(x[1:], columns))
        return float(stats.norm(mean, sd(x[-1])).logpdf(t[y]).sum())

    return f


def precision(tau: float) -> float:
    return tau**-0.5


def stackloss(x: Any) -> float:
    t = T("stackloss")
    mean = x[0] + sum(b * stats.zscore(t[c]) for b, c in zip(x[1:4], ("air", "water", "acid")))
    return float(stats.t(4, mean, precision(x[4])).logpdf(t["loss"]).sum())


def phones(x: Any) -> float:
    t = T("phones")
    return float(stats.t(x[3], x[0] + x[1] * t["year"], x[2]).logpdf(t["calls"]).sum())


def beetles(x: Any) -> float:
    t = T("beetles")
    p = special.expit(x[0] + x[1] * (t["log_dose"] - np.mean(t["log_dose"])))
    return float(stats.binom(t["exposed"], p).logpmf(t["killed"]).sum())


def bernoulli(name: str, y: str, link: Callable[[Any], Any], of: Callable[[Any], Any] = lambda c: c) -> Callable[[Any], float]:
    def f(x: Any) -> float:
        t = T(name)
        eta = x[0] + sum(b * of(c) for b, c in zip(x[1:], (t[k] for k in t if k != y)))
        return float(stats.bernoulli(link(eta)).logpmf(t[y]).sum())

    return f


def gelman(c: Any) -> Any:
    return stats.zscore(np.log(c)) / 2


def ordered(name: str, y: str, columns: list[str], law: Any) -> Callable[[Any], float]:
    def f(x: Any) -> float:
        t, k = T(name), len(columns)
        eta = sum(b * t[c] for b, c in zip(x, columns))
        cut = np.array([-np.inf, *np.cumsum(x[k:]), np.inf])
        level = t[y].astype(int)
        return float(np.log(law.cdf(cut[level] - eta) - law.cdf(cut[level - 1] - eta)).sum())

    return f


def negative_binomial(y: Any, mean: Any, size: float) -> float:
    return float(stats.nbinom(size, size / (size + mean)).logpmf(y).sum())


def salmonella(x: Any) -> float:
    t = T("salmonella")
    return negative_binomial(t["colonies"], np.exp(x[0] + x[1] * np.log(t["dose"] + 10) + x[2] * t["dose"]), x[3])


def epil(x: Any) -> float:
    t = T("epil")
    base = np.log(t["base"] / 4)
    columns = [base, t["progabide"], t["progabide"] * base, np.log(t["age"]), t["fourth"]]
    eta = x[0] + sum(b * (c - np.mean(c)) for b, c in zip(x[1:6], columns))
    return negative_binomial(t["seizures"], np.exp(eta), x[6])


def quine(x: Any) -> float:
    t = T("quine")
    form = np.array([0, x[3], x[4], x[5]])[t["form"].astype(int)]
    return negative_binomial(t["days"], np.exp(x[0] + x[1] * t["non_aboriginal"] + x[2] * t["male"] + form + x[6] * t["slow"]), x[7])


def ships(x: Any) -> float:
    t = T("ships")
    kind = np.array([0, *x[1:5]])[t["type"].astype(int) - 1]
    year = np.array([0, *x[5:8]])[((t["year"] - 60) / 5).astype(int)]
    mean = t["service"] * np.exp(x[0] + kind + year + x[8] * (t["period"] == 75))
    return float(stats.poisson(mean).logpmf(t["incidents"]).sum())


def lake_huron(x: Any) -> float:
    t = T("lake_huron")
    lag = np.abs(np.subtract.outer(t["year"], t["year"]))
    cov = x[3] ** 2 / (1 - x[2] ** 2) * x[2] ** lag
    return float(stats.multivariate_normal(x[0] + x[1] * (t["year"] - 1920), cov).logpdf(t["level"]))


def nhtemp(x: Any) -> float:
    y = T("nhtemp")["temperature"]
    steps = np.arange(1, len(y) + 1)
    cov = x[1] ** 2 * np.eye(len(y)) + x[2] ** 2 * np.minimum.outer(steps, steps)
    return float(stats.multivariate_normal(np.full(len(y), x[0]), cov).logpdf(y))


def lynx(x: Any) -> float:
    y, total = np.log10(T("lynx")["trapped"]), 0.0
    for before, last, now in zip(y, y[1:], y[2:]):
        a, b, c = x[:3] if before <= x[6] else x[3:6]
        total += stats.norm(a + b * last + c * before, x[7]).logpdf(now)
    return float(total)


def puromycin(x: Any) -> float:
    total = 0.0
    for s, rate, treated in zip(*T("puromycin").values()):
        fastest, half = x[:2] if treated else x[2:4]
        total += stats.norm(fastest * s / (half + s), x[4]).logpdf(rate)
    return float(total)


def bod(x: Any) -> float:
    t = T("bod")
    return float(stats.norm(x[0] * (1 - np.exp(-x[1] * t["days"])), x[2]).logpdf(t["demand"]).sum())


def theoph(x: Any) -> float:
    t = {k: v[T("theoph")["subject"] == 1] for k, v in T("theoph").items()}
    ka, ke, volume, noise = x
    level = t["dose"] / volume * ka / (ka - ke) * (np.exp(-ke * t["hours"]) - np.exp(-ka * t["hours"]))
    return float(stats.norm(level, noise).logpdf(t["concentration"]).sum())


def indometh(x: Any) -> float:
    t = {k: v[T("indometh")["subject"] == 1] for k, v in T("indometh").items()}
    level = x[0] * np.exp(-x[1] * t["hours"]) + x[2] * np.exp(-x[3] * t["hours"])
    return float(stats.norm(np.log(level), x[4]).logpdf(np.log(t["concentration"])).sum())


def dnase(x: Any) -> float:
    t = T("dnase")
    mean = x[0] + (x[1] - x[0]) / (1 + np.exp((x[2] - np.log(t["concentration"])) / x[3]))
    return float(stats.norm(mean, x[4]).logpdf(t["density"]).sum())


def ryegrass(x: Any) -> float:
    t = T("ryegrass")
    mean = x[0] + (x[1] - x[0]) / (1 + (t["concentration"] / x[2]) ** x[3])
    return float(stats.norm(mean, x[4]).logpdf(t["root"]).sum())


def epidemic(contact: float, recovery: float, start: float) -> Any:
    def slope(_: float, s: Any) -> list[float]:
        new = contact * s[0] * s[1] / 763
        return [-new, new - recovery * s[1]]

    return integrate.solve_ivp(slope, (0, 13), [763 - start, start], t_eval=range(14), rtol=1e-10, atol=1e-10).y[1]


def influenza(x: Any) -> float:
    return negative_binomial(T("influenza")["in_bed"], epidemic(*x[:3]), 1 / x[3])


def dyestuff(x: Any) -> float:
    t = T("dyestuff")
    same = np.equal.outer(t["batch"], t["batch"])
    return float(stats.multivariate_normal(np.full(30, x[0]), np.eye(30) / x[1] + same / x[2]).logpdf(t["gain"]))


def sleepstudy(x: Any) -> float:
    t, total = T("sleepstudy"), 0.0
    between = np.array([[x[2] ** 2, x[4] * x[2] * x[3]], [x[4] * x[2] * x[3], x[3] ** 2]])
    rows = np.column_stack([np.ones(10), np.arange(10)])
    law = stats.multivariate_normal(rows @ x[:2], rows @ between @ rows.T + x[5] ** 2 * np.eye(10))
    for who in np.unique(t["subject"]):
        total += law.logpdf(t["reaction"][t["subject"] == who])
    return float(total)


def bcg(x: Any) -> float:
    total = 0.0
    for a, n, c, m, latitude in zip(*T("bcg").values()):
        variance = 1 / a - 1 / n + 1 / c - 1 / m
        total += stats.norm(x[0] + x[1] * latitude, math.sqrt(variance + x[2] ** 2)).logpdf(math.log(a / n / (c / m)))
    return float(total)


def orange(x: Any) -> float:
    t, total = T("orange"), 0.0
    for tree in range(1, 6):
        mine = t["tree"] == tree
        shape = 1 / (1 + np.exp(-(t["days"][mine] - x[2]) / x[3]))
        cov = x[4] ** 2 * np.eye(7) + x[1] ** 2 * np.outer(shape, shape)
        total += stats.multivariate_normal(x[0] * shape, cov).logpdf(t["circumference"][mine])
    return float(total)


def pumps(x: Any) -> float:
    t = T("pumps")
    return float(stats.poisson(t["hours"] * np.exp(x[0] + x[1] * np.asarray(x[2:]))).logpmf(t["failures"]).sum())


def faithful(x: Any) -> float:
    y = T("faithful")["waiting"]
    return float(np.log(x[4] * stats.norm(x[0], x[2]).pdf(y) + (1 - x[4]) * stats.norm(x[1], x[3]).pdf(y)).sum())


def galaxies(x: Any) -> float:
    y, w = T("galaxies")["velocity"] / 1000, special.softmax(x[3:6])
    return float(np.log(sum(w[k] * stats.norm(x[k], x[6]).pdf(y) for k in range(3))).sum())


def weibull(times: Any, ended: Any, shape: float, eta: Any) -> float:
    law = stats.weibull_min(shape, scale=np.exp(-np.asarray(eta) / shape))
    return float(np.where(ended == 1, law.logpdf(times), law.logsf(times)).sum())


def gehan(x: Any) -> float:
    t = T("gehan")
    return weibull(t["weeks"], t["relapse"], x[0], x[1] + x[2] * t["mercaptopurine"])


def mice(x: Any) -> float:
    t = T("mice")
    return weibull(t["weeks"], t["died"], x[0], np.array(x[1:])[t["group"].astype(int) - 1])


def veteran(x: Any) -> float:
    t = T("veteran")
    used = ("test", "karnofsky", "age", "small", "adeno", "large")
    return weibull(t["days"], t["died"], x[0], x[1] + sum(b * t[c] for b, c in zip(x[2:], used)))


def coal(x: Any) -> float:
    y = T("coal")["date"]
    rate = np.where(y < x[2], x[0], x[1])
    return float(np.log(rate).sum() - x[0] * (x[2] - 1851) - x[1] * (1963 - x[2]))


def stagnant(x: Any) -> float:
    total = 0.0
    for flow, height in zip(*T("stagnant").values()):
        slope = x[1] if flow < x[3] else x[2]
        total += stats.norm(x[0] + slope * (flow - x[3]), precision(x[4])).logpdf(height)
    return float(total)


def hd20868(x: Any) -> float:
    period, amplitude, e, omega, passage, offset, jitter = x
    total = 0.0
    for day, v, error in zip(*T("hd20868").values()):
        mean = 2 * math.pi * (((day - 4000) / period - passage) % 1)
        turn = optimize.brentq(lambda a: a - e * math.sin(a) - mean, 0, 2 * math.pi, xtol=1e-14)
        true = 2 * math.atan2(math.sqrt(1 + e) * math.sin(turn / 2), math.sqrt(1 - e) * math.cos(turn / 2))
        expected = 46000 + offset + amplitude * (math.cos(true + omega) + e * math.cos(omega))
        total += stats.norm(expected, math.hypot(error, jitter)).logpdf(v)
    return float(total)


def cepheid(x: Any) -> float:
    total = 0.0
    for day, magnitude, error in zip(*T("cepheid").values()):
        a = 2 * math.pi * (day - 8400) / x[5]
        mean = x[0] + x[1] * math.cos(a) + x[2] * math.sin(a) + x[3] * math.cos(2 * a) + x[4] * math.sin(2 * a)
        total += stats.norm(mean, math.hypot(error, x[6])).logpdf(magnitude)
    return float(total)


def drop(t: str) -> str:
    return t.removeprefix("real_").rsplit("_", 1)[0]


SECOND: dict[str, Callable[[Any], float]] = {
    "cars": linear("cars", "dist", scaled=False),
    "swiss": linear("swiss", "fertility", precision, scaled=False),
    "longley": linear("longley", "employed"),
    "diabetes": linear("diabetes", "progression"),
    "uscrime": linear("uscrime", "crime"),
    "orings": bernoulli("orings", "failed", special.expit),
    "vaso": bernoulli("vaso", "y", special.expit, gelman),
    "spector": bernoulli("spector", "grade", special.ndtr),
    "biopsy": bernoulli("biopsy", "malignant", special.expit),
    "wine": ordered("wine", "rating", ["warm", "contact"], stats.logistic),
    "arthritis": ordered("arthritis", "improved", ["treated", "male", "age"], stats.norm),
}
OWN = (
    stackloss, phones, beetles, salmonella, epil, quine, ships, lake_huron, nhtemp, lynx, puromycin, bod, theoph, indometh, dnase,
    ryegrass, influenza, dyestuff, sleepstudy, bcg, orange, pumps, faithful, galaxies, gehan, mice, veteran, coal, stagnant, hd20868,
    cepheid,
)  # fmt: skip
SECOND |= {f.__name__: f for f in OWN}

POINTS: dict[str, tuple[list[float], list[float]]] = {
    "real_beetles_2d": ([0.8021, 36.68], [0.6642, 37.66]),
    "real_orings_2d": ([15.92, -0.2391], [19.87, -0.2953]),
    "real_bcg_3d": ([-0.03434, -0.02406, 0.3189], [0.6657, -0.03089, 0.4169]),
    "real_bod_3d": ([16.81, 17.78, 9.165], [21.17, 0.7969, 3.048]),
    "real_cars_3d": ([-10.28, 3.63, 12.89], [-20.55, 4.074, 16.09]),
    "real_coal_3d": ([3.047, 1.042, 1888], [2.82, 0.8811, 1890]),
    "real_dyestuff_3d": ([1525, 0.0003548, 0.0004592], [1563, 0.0002414, 0.0003826]),
    "real_gehan_3d": ([1.579, -3.727, -2.012], [1.396, -3.187, -2.391]),
    "real_nhtemp_3d": ([50.67, 1.141, 0.1009], [50.23, 0.8924, 0.2427]),
    "real_vaso_3d": ([-0.2619, 4.492, 4.034], [-0.1942, 2.964, 3.82]),
    "real_influenza_4d": ([1.912, 0.5357, 1.832, 0.01843], [1.702, 0.4939, 3.183, 0.1028]),
    "real_lake_huron_4d": ([609.6, 0.204, 0.9988, 0.7955], [580.1, -0.01817, 0.9161, 0.7813]),
    "real_phones_4d": ([-61.2, 1.252, 2.39, 0.4118], [-59.98, 1.231, 3.208, 0.4779]),
    "real_salmonella_4d": ([1.944, 0.3919, -0.001174, 15.3], [2.68, 0.1425, -0.0001673, 52.56]),
    "real_spector_4d": ([-9.638, 1.446, 0.1252, 2.243], [-7.595, 1.489, 0.07108, 1.752]),
    "real_theoph_4d": ([0.03399, 2.487, 0.005547, 0.7911], [0.04452, 2.045, 0.008667, 0.8842]),
    "real_arthritis_5d": ([1.241, -0.1355, 0.02722, 1.886, 0.6673], [1.014, -0.5719, 0.007132, 0.845, 0.5214]),
    "real_dnase_5d": ([-0.3595, 14.32, 7.592, 2.666, 0.09403], [-0.03017, 2.215, 1.221, 1.003, 0.07489]),
    "real_faithful_5d": ([79.46, 53.28, 6.1, 6.193, 0.663], [81.26, 54.3, 5.59, 5.786, 0.615]),
    "real_indometh_5d": ([0.1946, 0.08049, 1.934, 2.912, 0.4476], [3.075, 2.56, 0.2639, 0.2088, 0.1305]),
    "real_mice_5d": ([2.4, -8.0, -9.5, -8.4, -7.9], [2.0, -6.5, -8.0, -7.0, -6.7]),
    "real_orange_5d": ([164.7, 84.98, 672.5, 294.4, 9.405], [219.3, 26.03, 782.5, 404.7, 8.828]),
    "real_puromycin_5d": ([219.9, 0.08451, 132.3, 0.0263, 22.64], [219.3, 0.0752, 165.3, 0.052, 12.96]),
    "real_ryegrass_5d": ([-40.32, 8.181, 614, 0.4607, 1.203], [-28.69, 8.228, 284.5, 0.4966, 1.501]),
    "real_stackloss_5d": ([17.14, 8.919, 2.837, -2.297, 0.05827], [19.2, 7.218, 3.812, -0.1816, 0.2072]),
    "real_stagnant_5d": ([-0.3345, -0.6182, -1.527, 1.07, 49.67], [-0.3098, -0.6451, -3.401, 1.097, 68.82]),
    "real_sleepstudy_6d": ([253.6, 8.017, 22.05, 7.52, -0.3349, 26.24], [248.2, 7.309, 29.97, 5.226, 0.4426, 26.54]),
    "real_wine_6d": ([3.017, 1.714, -1.549, 2.93, 1.918, 1.992], [1.97, 0.8372, -1.826, 1.966, 2.39, 2.035]),
    "real_cepheid_7d": (
        [8.747, 0.03537, 0.4487, -0.01374, -0.1238, 16.66, 0.03271],
        [8.739, 0.03521, 0.4584, -0.009497, -0.1235, 16.66, 0.02929],
    ),
    "real_epil_7d": (
        [1.821, 0.8402, -1.39, 0.6005, 0.6442, -0.1484, 3.118],
        [1.755, 0.9835, -0.583, 0.2614, 0.5214, -0.2503, 3.158],
    ),
    "real_galaxies_7d": (
        [34.66, 21.05, 9.275, -1.461, 1.339, -1.128, 2.155],
        [9.711, 33.29, 21.49, 0.5597, -0.3032, 2.459, 1.853],
    ),
    "real_hd20868_7d": ([380.85, 100.3, 0.75, -0.066, 0.1856, 280.0, 2.0], [150.0, 57.0, 0.47, 0.67, 0.9988, 290.8, 40.0]),
    "real_swiss_7d": (
        [-152, 0.3401, -0.2966, 0.1754, 0.3843, 9.81, 0.0002675],
        [115.8, -1.145, 3.785, -5.277, 0.8542, -0.5786, 0.0002297],
    ),
    "real_longley_8d": (
        [64.23, -37.25, -9.737, -13.59, -5.71, -10.66, 71.21, 9.539],
        [68.47, 6.402, 19.04, 0.2206, -2.435, -7.331, -17.66, 6.086],
    ),
    "real_lynx_8d": (
        [1.087, 1.499, -0.874, 0.6582, -7.035, 3.24, 3.966, 0.2254],
        [0.9182, 1.353, -0.6852, -21.86, 7.254, 2.919, 3.855, 0.2205],
    ),
    "real_quine_8d": (
        [3.392, -0.887, 0.09273, -1.093, -0.3764, -0.1833, 0.3143, 1.073],
        [2.868, -0.6879, -0.1192, -0.05598, 0.1556, 0.7956, 0.2052, 1],
    ),
    "real_veteran_8d": (
        [1.099, -1.918, 0.4645, -0.0351, -0.03515, 0.9944, 1.163, 0.1607],
        [1.105, -3.619, 0.1291, -0.03415, -0.001657, 0.4937, 0.9495, 0.2279],
    ),
    "real_ships_9d": (
        [-6.278, -0.6505, -1.098, -0.08705, 0.3674, 0.6382, 0.8778, 0.4356, 0.2649],
        [-6.589, -0.5291, -1.238, 0.0135, -0.0351, 0.8406, 0.8304, 0.2932, 0.5715],
    ),
    "real_biopsy_10d": (
        [-10.87, 0.4427, -0.2364, 0.9247, 0.371, -0.2921, 0.5958, 0.3524, 0.397, 0.5269],
        [-11.71, 0.4865, 0.06256, 0.25, 0.3548, -0.01067, 0.485, 0.903, 0.2077, 0.4545],
    ),
    "real_diabetes_12d": (
        [148.4, -5.015, -17.93, 24.43, 23.25, -53.67, 33.59, 13.14, 14.77, 41.73, 4.023, 53.42],
        [151.2, -1.1, -12.55, 23.74, 11.83, -19.78, 6.591, 1.14, 13.14, 24.99, 10.5, 55.45],
    ),
    "real_pumps_12d": (
        [-1.101, 1.409, -1.22, -1.356, -0.8665, -1.138, 0.4959, 0.1898, -0.9032, 0.2973, 1.336, 0.891],
        [-1.572, 1.417, -0.9041, -0.2449, -0.3708, -0.5415, 0.3154, 0.5434, 1.476, 0.7984, 0.9171, 1.63],
    ),
    "real_uscrime_15d": (
        [967.4, 186.5, 113.8, 454.8, 299.9, 266.7, -112.2, 132.4, -80.11, 57.86, 43.43, -284.7, 194.1, -49.79, 389.8],
        [913.9, 6.779, 122.9, 22.98, 235.6, 264.9, -60.86, -114.8, 148.3, -181, 187.4, 125.9, 145.3, -30.58, 379.4],
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_likelihood_is_that_of_a_second_implementation(name: str) -> None:
    # A fourth-order step of a tenth of a day is good to 1e-5 of the infected.
    tolerance = 1e-3 if drop(name) == "influenza" else 1e-6
    for x in POINTS[name]:
        ours = DEFINED[name].log_likelihood(x)
        assert ours == pytest.approx(SECOND[drop(name)](np.array(x)), rel=1e-9, abs=tolerance)
        assert math.isfinite(ours)


@pytest.mark.parametrize("name", sorted(symmetries.LABELS))
def test_a_model_does_not_change_when_its_labels_are_swapped(name: str) -> None:
    p = DEFINED[name]
    z = np.random.default_rng(1).standard_normal((50, p.d))
    swapped = symmetries.shuffled(p, z, np.random.default_rng(2))
    assert (swapped != z).any()
    assert sampling.log_f(p, swapped) == pytest.approx(sampling.log_f(p, z), rel=1e-9)


def test_the_epidemic_follows_its_equations() -> None:
    exact = epidemic(1.7, 0.45, 2.0)
    assert np.array(kinetics.in_bed(1.7, 0.45, 2.0, 14)) == pytest.approx(exact, rel=1e-4)
    arrays = kinetics.in_bed(np.array([1.7]), np.array([0.45]), np.array([2.0]), 14)
    assert np.array(arrays)[:, 0] == pytest.approx(np.array(kinetics.in_bed(1.7, 0.45, 2.0, 14)), rel=1e-12)


def test_kepler_s_equation_is_solved() -> None:
    m, e = np.meshgrid(np.linspace(-7.0, 20.0, 2001), np.linspace(0.0, 0.95, 96))
    turn = skies.eccentric(m, e)
    assert np.abs(turn - e * np.sin(turn) - np.mod(m, 2.0 * np.pi)).max() < 1e-10


# Truths where an integral can be done by hand.


def log_quad(log_f: Callable[[float], float], lo: float, hi: float) -> float:
    """The log of the integral of exp(log_f), whose top is inside."""
    grid = np.linspace(lo, hi, 4001)
    values = np.array([log_f(v) for v in grid])
    return float(special.logsumexp(values) + np.log(grid[1] - grid[0]))


def close_to_the_truth(name: str, exact: float) -> None:
    if name not in REAL:
        pytest.skip(f"the truth of {name} is not known yet")
    assert REAL[name].log_z == pytest.approx(exact, abs=4 * REAL[name].log_z_error + 1e-4)


def log_marginals(x: Any, y: Any, sds: Any, log_noise: Any) -> Any:
    """The log densities of y = x b + noise, b normal about 0, at several noises."""
    values, vectors = np.linalg.eigh((x * np.asarray(sds, dtype=float) ** 2) @ x.T)
    variances = np.maximum(values, 0.0)[:, None] + np.exp(2 * log_noise)
    return -0.5 * ((vectors.T @ y)[:, None] ** 2 / variances + np.log(2 * np.pi * variances)).sum(0)


# Steps of a log noise, and the log of each step.
LOG_NOISE = np.linspace(-6.0, 8.0, 1401)
STEP = np.log(LOG_NOISE[1] - LOG_NOISE[0])


def log_noise_prior(p: Any) -> Any:
    """The log density of the last parameter's log standard deviation, which is that of a noise or
    of a precision."""
    if p.names[-1] == "precision":
        return p.distributions[-1].logpdf(np.exp(-2 * LOG_NOISE)) - 2 * LOG_NOISE + np.log(2)
    return p.distributions[-1].logpdf(np.exp(LOG_NOISE)) + LOG_NOISE


@pytest.mark.parametrize("name", [n for n in NAMES if drop(n) in ("cars", "swiss", "longley", "diabetes", "uscrime")])
def test_a_linear_regression_needs_one_integral(name: str) -> None:
    p, t = DEFINED[name], T(drop(name))
    y_name = {"cars": "dist", "swiss": "fertility", "longley": "employed", "diabetes": "progression", "uscrime": "crime"}[drop(name)]
    columns = [c if drop(name) in ("cars", "swiss") else stats.zscore(c) for key, c in t.items() if key != y_name]
    x = np.column_stack([np.ones(len(columns[0])), *columns])
    sds = [numbers[-1] for _, *numbers in list(p.priors.values())[:-1]]
    each = log_marginals(x, t[y_name], sds, LOG_NOISE) + log_noise_prior(p)
    close_to_the_truth(name, float(special.logsumexp(each) + STEP))


def test_two_recursions_are_linear_between_thresholds() -> None:
    p, y = DEFINED["real_lynx_8d"], np.log10(T("lynx")["trapped"])
    rows, gate = np.column_stack([np.ones(112), y[1:-1], y[:-2]]), y[:-2]
    ends = np.array([2.0, *np.unique(gate[(gate > 2) & (gate < 4)]), 4.0])
    each = []
    for lo, hi in zip(ends, ends[1:]):
        low = (gate <= (lo + hi) / 2)[:, None]
        inner = log_marginals(np.hstack([rows * low, rows * ~low]), y[2:], [10.0] * 6, LOG_NOISE) + log_noise_prior(p)
        each.append(special.logsumexp(inner) + STEP + np.log((hi - lo) / 2))
    close_to_the_truth("real_lynx_8d", float(special.logsumexp(each)))


def test_two_lines_are_linear_given_where_they_meet() -> None:
    p, t = DEFINED["real_stagnant_5d"], T("stagnant")
    changes, each = np.linspace(-1.3, 1.1, 601), []
    for change in changes:
        past = t["log_flow"] - change
        x = np.column_stack([np.ones(29), np.minimum(past, 0), np.maximum(past, 0)])
        inner = log_marginals(x, t["log_height"], [1000.0] * 3, LOG_NOISE) + log_noise_prior(p)
        each.append(special.logsumexp(inner) + STEP)
    close_to_the_truth("real_stagnant_5d", float(special.logsumexp(each) - np.log(len(changes) - 1)))


def test_the_lake_is_linear_given_its_memory() -> None:
    p, t = DEFINED["real_lake_huron_4d"], T("lake_huron")
    x, scores, each = np.column_stack([np.ones(98), t["year"] - 1920]), np.linspace(-1.0, 6.0, 351), []
    for score in scores:
        phi = math.tanh(score)

        def white(v: Any) -> Any:
            return np.concatenate([math.sqrt(1 - phi**2) * v[:1], v[1:] - phi * v[:-1]])

        inner = log_marginals(white(x), white(t["level"]), [1000.0, 100.0], LOG_NOISE) + log_noise_prior(p)
        # The uniform prior in the score, and the change of the first observation's unit.
        each.append(special.logsumexp(inner) + STEP + math.log((1 - phi**2) / 2) + 0.5 * math.log(1 - phi**2))
    close_to_the_truth("real_lake_huron_4d", float(special.logsumexp(each) + np.log(scores[1] - scores[0])))


def test_a_drifting_level_needs_two_integrals() -> None:
    y, steps = T("nhtemp")["temperature"], np.arange(1, 61)
    values, vectors = np.linalg.eigh(np.minimum.outer(steps, steps).astype(float))
    a, b, law = vectors.T @ y, vectors.sum(0), stats.halfcauchy(scale=10)
    logs, each = np.linspace(-9.0, 4.0, 521), []
    for noise in logs:
        variances = np.exp(2 * noise) + np.exp(2 * logs[:, None]) * values
        # The start's prior adds 100^2 to every covariance: Sherman and Morrison.
        yy, yb, bb = (a * a / variances).sum(1), (a * b / variances).sum(1), 1e-4 + (b * b / variances).sum(1)
        log_det = np.log(2 * np.pi * variances).sum(1) + np.log(bb * 1e4)
        inner = -0.5 * (yy - yb**2 / bb + log_det) + law.logpdf(np.exp(logs)) + logs
        each.append(special.logsumexp(inner) + law.logpdf(np.exp(noise)) + noise)
    close_to_the_truth("real_nhtemp_3d", float(special.logsumexp(each) + 2 * np.log(logs[1] - logs[0])))


def test_batches_need_two_integrals() -> None:
    p, t = DEFINED["real_dyestuff_3d"], T("dyestuff")
    groups = t["gain"].reshape(6, 5)
    means, within = groups.mean(1), ((groups - groups.mean(1, keepdims=True)) ** 2).sum()
    # Logs of precisions; the one between batches is all but free above 1, where batches are alike.
    noise, between = np.linspace(-14.0, -2.0, 241)[:, None], np.linspace(-40.0, 15.0, 2201)
    v, w = np.exp(-noise), np.exp(-between)
    total = v / 5 + w
    centre, spread = means.mean(), ((means - means.mean()) ** 2).sum()
    each = -0.5 * (within / v + 24 * np.log(2 * np.pi * v) + 6 * np.log(5))
    each = each - 0.5 * (spread / total + 5 * np.log(2 * np.pi * total) + np.log(6))
    each = each + stats.norm(0, np.sqrt(total / 6 + 1e10)).logpdf(centre)
    each = each + sum(law.logpdf(np.exp(s)) + s for law, s in zip(p.distributions[1:], (noise, between)))
    exact = special.logsumexp(each) + np.log(noise[1, 0] - noise[0, 0]) + np.log(between[1] - between[0])
    close_to_the_truth("real_dyestuff_3d", float(exact))


def test_pumps_are_independent_given_the_population() -> None:
    t, (nodes, weights) = T("pumps"), np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    spreads = np.exp(np.linspace(-5.0, 3.0, 161))

    def log_f(mean: float) -> float:
        rate = t["hours"] * np.exp(mean + spreads[:, None, None] * nodes[:, None])
        with np.errstate(divide="ignore"):
            each = np.log((weights[:, None] * stats.poisson(rate).pmf(t["failures"])).sum(1)).sum(1)
        inner = each + stats.halfnorm(scale=5).logpdf(spreads) + np.log(spreads) + np.log(8.0 / 160)
        return float(special.logsumexp(inner) + stats.norm(0, 10).logpdf(mean))

    means = np.linspace(-12.0, 8.0, 201)
    close_to_the_truth("real_pumps_12d", float(special.logsumexp([log_f(m) for m in means]) + np.log(means[1] - means[0])))


def test_rates_of_disasters_are_integrated_by_gammas() -> None:
    y, top = np.sort(T("coal")["date"]), np.log(1e6)

    def rate(count: int, years: float) -> float:
        # The integral of rate^(count - 1) exp(-rate years) over the prior's range.
        if count == 0 or years < 1e-9:
            grid = np.exp(np.linspace(np.log(1e-3), np.log(1e3), 20001))
            values = count * np.log(grid) - grid * years
            return float(special.logsumexp(values) + np.log(top / 20000))
        mass = special.gammainc(count, 1e3 * years) - special.gammainc(count, 1e-3 * years)
        return float(special.gammaln(count) - count * np.log(years) + np.log(mass))

    def log_f(change: float) -> float:
        before = int(np.searchsorted(y, change))
        return rate(before, change - 1851) + rate(len(y) - before, 1963 - change) - 2 * np.log(top) - np.log(112)

    # Steps at the dates: a rule within each interval.
    ends, (nodes, weights) = np.array([1851.0, *y, 1963.0]), np.polynomial.legendre.leggauss(8)
    parts = [
        log_f(a + (b - a) * (s + 1) / 2) + np.log(w * (b - a) / 2)
        for a, b in zip(ends, ends[1:])
        if b > a
        for s, w in zip(nodes, weights)
    ]
    close_to_the_truth("real_coal_3d", float(special.logsumexp(parts)))


def test_the_trials_need_one_integral() -> None:
    t = T("bcg")
    y = np.log(t["vaccinated_cases"] / t["vaccinated"] / (t["control_cases"] / t["control"]))
    v = 1 / t["vaccinated_cases"] - 1 / t["vaccinated"] + 1 / t["control_cases"] - 1 / t["control"]
    x = np.column_stack([np.ones(13), t["latitude"]])

    def log_f(spread: float) -> float:
        # In units of each trial's own noise.
        unit = np.sqrt(v + spread**2)
        return float(log_marginals(x / unit[:, None], y / unit, [100.0] * 2, np.zeros(1))[0] - np.log(unit).sum() - np.log(10))

    close_to_the_truth("real_bcg_3d", log_quad(log_f, 0.0, 10.0))


@pytest.mark.parametrize("name", [n for n in NAMES if REAL[n].d == 2])
def test_a_grid_about_the_top_finds_the_truth(name: str) -> None:
    p = REAL[name]
    best = optimize.minimize(lambda x: -p.log_likelihood(x) - p.log_prior(x), POINTS[name][0], method="Nelder-Mead").x
    steps = 1e-3 * np.maximum(np.abs(best), 0.1)

    def top(x: Any) -> float:
        return float(p.log_likelihood(x) + p.log_prior(x))

    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    cross = sum(a * b * top(best + steps * [a, b]) for a, b in signs) / (4 * steps[0] * steps[1])
    own = [(top(best + s) - 2 * top(best) + top(best - s)) / s.sum() ** 2 for s in np.diag(steps)]
    factor = np.linalg.cholesky(np.linalg.inv(-np.array([[own[0], cross], [cross, own[1]]])))
    grid = np.linspace(-12.0, 12.0, 481)
    a, b = np.meshgrid(grid, grid)
    x = best + np.column_stack([a.ravel(), b.ravel()]) @ factor.T
    values = p.log_likelihoods(x) + p.log_prior(x)
    exact = special.logsumexp(values) + 2 * np.log(grid[1] - grid[0]) + np.log(np.diag(factor)).sum()
    close_to_the_truth(name, float(exact))

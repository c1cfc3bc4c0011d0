"""The result: the posterior and its expectations against exact answers, tables, plots, pickles."""

import copy
import math
import pickle
import sys

import numpy as np
import pytest
import warpquad
import warpquad as wq
from scipy import stats

SMOOTH = {"kernel": "squared-exponential", "fit": "g", "progress": False}
# A standard normal prior and one datum 1 with sd 1/2: the posterior is normal with mean 4/5 and
# variance 1/5.
MEAN, SD = 0.8, math.sqrt(0.2)


@pytest.fixture(scope="module")
def normal():
    return wq.integrate(lambda x: -2 * (x["a"] - 1) ** 2, {"a": stats.norm(0, 1)}, budget=14, seed=3, **SMOOTH)


@pytest.fixture(scope="module")
def plane():
    """Two parameters as an array: the first as above, the second through its ppf only."""
    priors = {"a": stats.norm(0, 1), "b": stats.gumbel_r(0, 1)}
    return wq.integrate(lambda a, b: -2 * (a - 1) ** 2 - b**2 / 20, priors, budget=30, **SMOOTH)


def test_numbers(normal):
    low, high = normal.interval(0.95)
    assert low < normal.log_z < high and normal.log_z_sd > 0
    assert abs(normal.log_z - (-0.4 - 0.5 * math.log(5))) < 0.01
    assert normal.interval(0.5)[0] > low
    assert (normal.evaluations, normal.stop, normal.seed, normal.names) == (14, "evaluations", 3, ["a"])
    for wrong in (0, 1, -1, 95, float("nan")):
        with pytest.raises(wq.SpecError, match="probability: must be between 0 and 1"):
            normal.interval(wrong)


def test_tables(normal):
    text = str(normal)
    verdict, log_z, *_ = text.splitlines()
    assert verdict.split() == ["verdict", "settled"] and log_z.startswith("log Z ")
    # As many digits as the error leaves meaningful: two of its own.
    value, error = log_z.removeprefix("log Z").split("±")
    assert len(error.strip().lstrip("0.")) == 2 and len(value.split(".")[1].strip()) == len(error.split(".")[1])
    assert normal.z == pytest.approx(math.exp(normal.log_z), abs=4 * normal.z_sd) and "\nZ  " in text
    assert "evaluations" in text and len(text) < 700
    shown = normal._repr_html_()
    assert shown.startswith("<table>") and shown.count("<tr>") == len(text.splitlines())
    assert "<script" not in shown and len(shown) < 2500


def test_draws_follow_the_posterior(normal):
    draws = normal.posterior(4000)
    assert list(draws) == ["a"] and draws["a"].shape == (4000,)
    assert stats.kstest(draws["a"], stats.norm(MEAN, SD).cdf).statistic < 0.031  # once in a thousand times
    assert len(np.unique(draws["a"])) > 3800
    np.testing.assert_array_equal(draws["a"], normal.posterior(4000)["a"])
    assert not np.array_equal(draws["a"], normal.posterior(4000, seed=1)["a"])
    # Exchangeable: the first half is a sample too.
    assert stats.kstest(draws["a"][:2000], stats.norm(MEAN, SD).cdf).statistic < 0.044
    for wrong in (0, -3, 2.5, "many"):
        with pytest.raises(wq.SpecError, match="n: must be a whole number of draws"):
            normal.posterior(wrong)


def test_draws_come_in_the_users_parameters(plane):
    draws = plane.posterior(4000)
    assert stats.kstest(draws["a"], stats.norm(MEAN, SD).cdf).statistic < 0.035
    grid = np.linspace(-6, 14, 4001)
    density = stats.gumbel_r.pdf(grid) * np.exp(-(grid**2) / 20)
    cdf = np.cumsum(density) / density.sum()
    assert stats.kstest(draws["b"], lambda b: np.interp(b, grid, cdf)).statistic < 0.035
    exact = (grid * density).sum() / density.sum()
    known = plane.mean(lambda b, a: b)
    assert abs(known.mean - exact) < 4 * known.sd + 2e-3


@pytest.mark.parametrize(
    ("h", "exact"),
    [
        (lambda x: x["a"], MEAN),
        (lambda x: (x["a"] - MEAN) ** 2, SD**2),
        (lambda x: x["a"] > 1, stats.norm.sf(1, MEAN, SD)),
        (lambda x: math.exp(x["a"]), math.exp(MEAN + SD**2 / 2)),  # takes no array
        (lambda x: 1.0 if x["a"] > 1 else 0.0, stats.norm.sf(1, MEAN, SD)),  # nor this
        (lambda x: x["a"] / np.linalg.norm(x["a"]), 2 * stats.norm.cdf(MEAN / SD) - 1),  # of a batch, another norm
    ],
)
def test_expectations(normal, h, exact):
    known = normal.mean(h)
    low, high = known.interval(0.999)
    assert low <= exact <= high and abs(float(known) - exact) < 0.02
    assert known.sd > 0 and known.interval(0.5)[0] >= low
    assert " ± " in repr(known)


def test_expectations_of_vectors(normal, plane):
    two = normal.mean(lambda x: [x["a"], x["a"] ** 2])
    assert two.mean.shape == two.sd.shape == two.interval()[0].shape == (2,)
    np.testing.assert_allclose(two.mean, [MEAN, MEAN**2 + SD**2], atol=0.02)
    assert two.mean[0] == pytest.approx(normal.mean(lambda x: x["a"]).mean, abs=1e-12)
    np.testing.assert_array_equal(np.asarray(two), two.mean)
    with pytest.raises(TypeError, match="no single number"):
        float(two)
    outer = plane.mean(lambda x: np.outer(x, x), argument="array")
    assert outer.mean.shape == (2, 2) and outer.mean[0, 1] == outer.mean[1, 0]
    batch = plane.mean(lambda x: x[:, 0], argument="array", vectorized=True)
    assert batch.mean == plane.mean(lambda x: x[0], argument="array", vectorized=False).mean


@pytest.mark.parametrize(
    ("h", "options", "message"),
    [
        (lambda x: 1 / 0, {}, "h: failed at a = .*ZeroDivisionError"),
        (lambda x: None, {}, "h: must return real numbers, got None at a = "),
        (lambda x: "much", {}, "h: must return real numbers, got 'much' at a = "),
        (lambda x: 1j * x["a"], {}, "h: must return real numbers"),
        (lambda x: np.log(-1.0 + 0 * x["a"]), {}, "h: is nan at a = .*must be finite"),
        (lambda x: x["c"], {}, "KeyError"),
        (lambda x: 3.0, {"vectorized": True}, "must return [0-9]+ values"),
        (3.0, {}, "h: must be a function"),
        (lambda x, y: x, {}, "h: takes the arguments x, y"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_wrong_function_is_named_with_its_point(normal, h, options, message):
    with pytest.raises(wq.SpecError, match=message):
        normal.mean(h, **options)


def test_the_way_it_came(normal):
    trace = normal.trace()
    assert trace["evaluations"][-1] == 14 and np.all(np.diff(trace["evaluations"]) > 0)
    assert trace["log_z"][-1] == normal.log_z and (trace["low"][-1], trace["high"][-1]) == normal.interval(0.95)
    assert np.all(trace["low"] <= trace["log_z"]) and np.all(trace["log_z"] <= trace["high"])
    assert len(normal.trace(3)["log_z"]) == 3


def test_what_happens_later_does_not_change_a_result():
    session = wq.Session({"a": wq.normal(0, 1)}, kernel="squared-exponential", fit="g")
    for task in (task for _ in range(10) for task in session.ask()):
        session.tell(task, log_f=-2 * (task.x["a"] - 1) ** 2)
    result = session.result()
    before = (result.evaluations, result.interval(), result.posterior(50)["a"], len(result.observations["a"]))
    (task,) = session.ask()
    session.tell(task, log_f=-2 * (task.x["a"] - 1) ** 2)
    after = (result.evaluations, result.interval(), result.posterior(50)["a"], len(result.observations["a"]))
    assert before[:2] == after[:2] and before[3] == after[3] == 10
    np.testing.assert_array_equal(before[2], after[2])


def test_results_pickle_and_copy(normal, plane, tmp_path):
    kept = wq.integrate(lambda x: -x["a"] ** 2, {"a": wq.normal(0, 1)}, budget=10, run=tmp_path / "run", **SMOOTH)
    for result in (normal, plane, kept):
        for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert str(again) == str(result) and again.report == result.report
            assert again.interval(0.9) == result.interval(0.9)
            for name in result.names:
                np.testing.assert_array_equal(again.posterior(20)[name], result.posterior(20)[name])


def test_a_signed_f_has_no_posterior_and_says_so():
    r = wq.integrate(f=lambda x: x["a"] - 0.7, priors={"a": wq.uniform(0, 1)}, range=(-np.inf, np.inf), budget=10, progress=False)
    for ask in (lambda: r.posterior(10), lambda: r.mean(lambda x: x["a"])):
        with pytest.raises(wq.SpecError, match="f may be negative under this method"):
            ask()
    assert list(r.observations) == ["a", "f"] and "\nZ  " in str(r) and "log Z" not in str(r)
    assert r.z == pytest.approx(-0.2, abs=1e-3) and math.isnan(r.log_z)


def test_pandas(plane):
    pytest.importorskip("pandas")
    table = plane.to_pandas()
    assert list(table.columns) == ["a", "b", "log_f"] and len(table) == 30
    np.testing.assert_allclose(table.log_f, -2 * (table.a - 1) ** 2 - table.b**2 / 20)


def test_arviz(plane):
    arviz = pytest.importorskip("arviz")
    tree = plane.to_arviz(1000)
    assert tree["posterior"]["a"].shape == (4, 250)
    assert tree["sample_stats"]["lp"].shape == (4, 250)
    np.testing.assert_array_equal(tree["posterior"]["a"].values.ravel(), plane.posterior(1000)["a"])
    assert tree.attrs["log_z"] == plane.log_z
    table = arviz.summary(tree)
    assert set(table.index) == {"a", "b"} and (table["r_hat"].astype(float) < 1.05).all()


def five(x):
    return -sum((x[f"p{k}"] - 0.5) ** 2 * (k + 1) for k in range(5))


def test_plots(normal, plane, tmp_path):
    pytest.importorskip("matplotlib")
    many = wq.integrate(five, {f"p{k}": wq.uniform(0, 1) for k in range(5)}, budget=24, **SMOOTH)
    signed = wq.integrate(f=lambda x: x["a"] - 0.3, priors={"a": wq.uniform(0, 1)}, range=(-np.inf, np.inf), budget=9, progress=False)
    for name, result in {"normal": normal, "plane": plane, "many": many, "signed": signed}.items():
        figure = result.plot(500)
        assert figure._repr_png_().startswith(b"\x89PNG")
        figure.savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        top, corner = figure.subfigs
        assert [axes.get_ylabel() for axes in top.axes] == ["log Z"]
        # All marginals are there, in the parameters' order, and below them every pair.
        if len(result.names) > 1:
            titles = [axes.get_title(loc="left").split(" = ")[0] for axes in corner.axes if axes.get_visible()]
            assert [title for title in titles if title] == result.names
            pairs = len(result.names) * (len(result.names) + 1) // 2
            assert sum(axes.get_visible() for axes in corner.axes) == pairs + 1  # and the colours
    chosen = many.plot(500, parameters=["p3", "p1"])
    marginals = [axes.get_title(loc="left").split(" = ")[0] for axes in chosen.subfigs[1].axes if axes.get_visible()]
    assert marginals == many.names
    labels = {axes.get_xlabel() for axes in chosen.subfigs[2].axes}
    assert {"p1", "p3"} <= labels and "p0" not in labels
    with pytest.raises(wq.SpecError, match="there is no 'q'; the run has p0, p1"):
        many.plot(parameters=["q"])


def test_a_second_look_costs_nothing(normal, monkeypatch):
    first = normal.posterior(300)
    trace, page = normal.trace(), normal.to_html()
    # Without the core nothing can be worked out again.
    monkeypatch.setattr(normal, "_then", None)
    monkeypatch.setattr(warpquad._core, "findings", None)
    again = normal.posterior(300)
    assert np.array_equal(first["a"], again["a"]) and first["a"] is not again["a"]
    again["a"][:] = 0.0
    assert np.array_equal(first["a"], normal.posterior(300)["a"])
    assert np.array_equal(trace["low"], normal.trace()["low"])
    assert normal.to_html().text == page.text


def test_the_page_has_the_users_own_parameters(tmp_path):
    # A prior transform: the core sees coordinates in (0, 1), the page shows 10 to 20.
    r = wq.integrate(lambda x: -((x[0] - 14.0) ** 2), lambda u: 10.0 + 10.0 * u, names=["depth"], budget=12, progress=False)
    page = r.to_html(tmp_path / "page.html", title="A <lake>")
    text = (tmp_path / "page.html").read_text()
    assert text == page.text and "<h1>A &lt;lake&gt;</h1>" in text and "coordinates between 0 and 1" not in text
    row = text.split('<th scope="row">depth</th><td>')[1].split("</td>")
    assert abs(float(row[0]) - 14.0) < 0.2


def test_a_verdict_comes_first(normal):
    verdict = {"verdict": "unsettled", "reasons": [{"code": "moving", "sentence": "It moves."}]}
    other = copy.copy(normal)
    other.report = {**normal.report, **verdict}
    other._found = None
    assert repr(other).splitlines()[0].split(maxsplit=1) == ["verdict", "unsettled. It moves."]
    text = other.to_html().text
    assert text.index('class="verdict unsettled"') < text.index('class="headline"') and "It moves." in text


def test_a_plot_without_matplotlib_says_what_to_install(normal, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        normal.plot()

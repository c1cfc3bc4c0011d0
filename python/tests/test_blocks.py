"""The building blocks: the five steps, all registry members, pickles, an own warp, docstrings."""

import doctest
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import integrate as scipy_integrate
from scipy import stats

import warpquad as wq
from warpquad import _blocks, _core


def test_the_five_steps_in_ten_lines():
    X = np.linspace(-4, 4, 21)
    data = wq.Data(X, log_f=-9000 - 2 * X**2)  # 2  D
    warp = data.warp("log")  # 1  f = exp(g), in D's own units
    gp = wq.GP("matern32", mean=-1.0, length_scales=[1.0])  # 1  p(g)
    gp = wq.fit(gp, warp, data, space="f")  #    theta
    posterior = gp.condition(data, warp)  # 3  p(g | D)
    belief = posterior.warp()  # 4  p(f | D)
    z = wq.integral(wq.measure("uniform", -4, 4)).apply(belief)  # 5  p(Z | D)

    exact = math.log(math.sqrt(math.pi / 2) / 8) - 9000
    assert abs(z.log_mean - exact) < 0.01  # as the library's own example
    assert z.mean == 0.0 and z.sd == 0.0  # e^-9000
    assert 0 < z.log_sd < 0.1 and z.relative_node_error < 0.01
    assert not z.closed_form
    np.testing.assert_allclose(belief.log_mean(X), data.log_f, rtol=1e-12)


def test_integrate_is_made_of_these_blocks():
    """On the points that `integrate` chose, the five steps by hand say what it said."""
    seen: list[tuple[float, float, float]] = []

    def log_f(x: Any) -> float:
        value = -x["a"] - 0.3 * x["b"] ** 2
        seen.append((x["a"], x["b"], value))
        return value

    priors = {"a": wq.uniform(0, 1), "b": wq.normal(0, 1)}
    whole = wq.integrate(
        log_f,
        priors,
        budget=30,
        seed=0,
        method="mmlt-g",
        kernel="squared-exponential",
        coordinates="identity",
        progress=False,
    )
    a, b, values = np.array(seen).T
    data = wq.Data(np.column_stack([a, b]), log_f=values)
    warp = data.warp("log")
    gp = wq.fit(wq.GP("squared-exponential", length_scales=[1, 1]), warp, data, space="g")
    z = wq.integral(wq.measure("uniform", 0, 1) * wq.measure("normal", 0, 1)).apply(
        gp.condition(data, warp).warp()
    )
    exact = math.log((1 - math.exp(-1)) / math.sqrt(1.6))
    assert abs(z.log_mean - whole.log_z) < 4 * (whole.log_z_sd + z.relative_node_error) + 1e-3
    assert abs(z.log_mean - exact) < 4 * (z.log_sd + z.relative_node_error) + 1e-3


def test_a_closed_form_agrees_with_nodes_and_with_scipy():
    data = wq.Data([0.1, 0.5, 0.8], f=[1.0, 2.0, 1.5])
    belief = (
        wq.GP("squared-exponential", mean=1.0, length_scales=[0.3]).condition(data, "square").warp()
    )
    pi = wq.measure("uniform", 0, 1)
    closed = wq.integral(pi).apply(belief)
    assert closed.closed_form and closed.node_error == 0
    nodes = wq.integral(pi, nodes=pi.nodes(4096)).apply(belief)
    assert abs(closed.mean - nodes.mean) < 5 * nodes.node_error + 1e-6
    assert abs(closed.sd / nodes.sd - 1) < 1e-2
    by_scipy, _ = scipy_integrate.quad(lambda x: float(belief.mean([x])[0]), 0, 1)
    assert abs(closed.mean / by_scipy - 1) < 1e-9


def test_functionals_are_affine():
    belief = wq.GP("matern32", mean=2.0, output_scale=3.0)
    a, b = wq.at([0.0]), wq.at([0.7])
    rho = wq.kernel("matern32").correlation([0.49])[0]
    assert (2 * a - b + 1).apply(belief).mean == pytest.approx(3.0)
    assert (2 * a - b).apply(belief).var == pytest.approx(3 * (5 - 4 * rho))
    assert wq.weighted([0.0, 0.7], [2.0, -1.0]).apply(belief).var == pytest.approx(
        3 * (5 - 4 * rho)
    )
    assert a.times(2).minus(b).plus(1).apply(belief).mean == pytest.approx(3.0)
    assert (1 - a).apply(belief).mean == pytest.approx(-1.0)
    low, high = a.apply(belief).interval(0.95)
    assert (low, high) == pytest.approx(stats.norm(2, math.sqrt(3)).interval(0.95))


def test_nodes_that_follow_the_belief_find_a_narrow_peak():
    X = np.concatenate([np.linspace(0, 1, 11), 0.5 + np.linspace(-0.04, 0.04, 21)])
    X = np.unique(X)
    data = wq.Data(X, log_f=-0.5 * ((X - 0.5) / 0.002) ** 2)
    warp = data.warp("log")
    belief = (
        wq.fit(wq.GP("squared-exponential"), warp, data, space="g").condition(data, warp).warp()
    )
    z = wq.integral(wq.measure("uniform", 0, 1), follow=True).apply(belief)
    assert abs(z.log_mean - math.log(0.002 * math.sqrt(2 * math.pi))) < 0.05


def test_the_drawn_law_is_inside_the_range():
    data = wq.Data([0.0, 1.0], f=[0.02, 0.95])
    warp = wq.warp("probit")
    belief = wq.GP("matern32", output_scale=4.0).condition(data, warp).warp()
    pi = wq.measure("uniform", 0, 1)
    law = wq.law(belief, pi.nodes(512), draws=2000, seed=3)
    z = wq.integral(pi).apply(belief)
    assert 0 < law.quantile(0.0) < law.quantile(0.5) < law.quantile(1.0) < 1
    assert abs(math.exp(law.log_mean) - z.mean) < 0.1 * z.sd
    assert len(law) == 2000 and law.log_quantile(0.5) == pytest.approx(math.log(law.quantile(0.5)))


def test_beliefs_agree_with_the_formulas_in_numpy():
    rng = np.random.default_rng(0)
    X, Y = rng.random((7, 2)), rng.random((5, 2))
    f = 1 + rng.random(7)
    lengths = np.array([0.4, 0.9])
    gp = wq.GP("squared-exponential", mean=0.3, output_scale=0.8, length_scales=lengths, noise=1e-3)
    post = gp.condition(wq.Data(X, f=f), "log")

    def sigma(a: Any, b: Any) -> Any:
        return 0.8 * np.exp(-0.5 * (((a[:, None] - b[None]) / lengths) ** 2).sum(-1))

    A = np.linalg.inv(sigma(X, X) + 1e-3 * np.eye(7))
    mu = 0.3 + sigma(Y, X) @ A @ (np.log(f) - 0.3)
    S = sigma(Y, Y) - sigma(Y, X) @ A @ sigma(X, Y)
    np.testing.assert_allclose(post.mean(Y), mu, rtol=1e-10)
    np.testing.assert_allclose(post.cov(Y), S, atol=1e-11)
    belief = post.warp()
    m = np.exp(mu + np.diag(S) / 2)
    np.testing.assert_allclose(belief.mean(Y), m, rtol=1e-10)
    np.testing.assert_allclose(
        belief.cov(Y, Y), np.outer(m, m) * np.expm1(S), rtol=1e-7, atol=1e-11
    )
    np.testing.assert_allclose(belief.sd(Y), np.sqrt(belief.var(Y)), rtol=1e-12)
    np.testing.assert_allclose(belief.log_sd(Y), np.log(belief.sd(Y)), rtol=1e-12)
    np.testing.assert_allclose(post.linearise().mean(Y), np.exp(mu), rtol=1e-10)
    assert isinstance(gp, wq.Belief) and isinstance(post, wq.Belief) and belief.dim == 2
    longer = post.extend(wq.Data(Y[:1], f=[1.5]))
    again = gp.condition(wq.Data(np.vstack([X, Y[:1]]), f=[*f, 1.5]), "log")
    np.testing.assert_allclose(longer.mean(Y), again.mean(Y), rtol=1e-9)


@pytest.mark.parametrize("name", wq.warps())
def test_every_warp(name):
    warp = wq.warp(name)
    g = np.array([0.1, 0.7, 2.0])
    f = warp.forward(g)
    lo, hi = warp.range
    assert np.all((f > lo) & (f < hi)) and warp.name == name
    np.testing.assert_allclose(warp.inverse(f), g, atol=1e-7)
    np.testing.assert_allclose(warp.log_forward(g), np.log(f), atol=1e-12)
    slope = (warp.forward(g + 1e-6) - warp.forward(g - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.exp(warp.log_slope(g)), slope, rtol=1e-6)
    data = wq.Data([0.0, 0.5, 1.0], f=f)
    own = data.warp(warp)
    belief = wq.fit(wq.GP(), own, data).condition(data, own).warp()
    np.testing.assert_allclose(belief.mean([0.0, 0.5, 1.0]), f, rtol=1e-4)


@pytest.mark.parametrize("name", wq.kernels())
def test_every_kernel(name):
    kernel = wq.kernel(name)
    assert kernel.name == name and kernel.correlation([0.0])[0] == 1.0
    step = (kernel.correlation([1 + 1e-6]) - kernel.correlation([1 - 1e-6])) / 2e-6
    np.testing.assert_allclose(kernel.derivative([1.0]), step, rtol=1e-6)
    assert wq.GP(kernel).kernel.name == name


@pytest.mark.parametrize("name", wq.measures())
def test_every_measure(name):
    numbers = {
        "truncated-normal": (0.0, 1.0, -1.0, 2.0),
        "student-t": (5.0, 0.0, 1.0),
        "log-uniform": (0.1, 10.0),
    }
    default = (0.5, 2.0)[: len(wq.measures()[name])]
    pi = wq.measure(name, *numbers.get(name, default))
    median = pi.quantile([0.5])
    nodes = pi.nodes(256)
    below = float(nodes.weights @ (nodes.X <= median)[:, 0])
    assert abs(below - 0.5) < 0.01
    assert np.isfinite(pi.log_density(nodes.X)).all()
    assert (pi**2).dim == 2


def test_other_measures():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    pi = wq.measure("gaussian", [1.0, 2.0], cov)
    x = [[0.3, 0.1]]
    np.testing.assert_allclose(pi.log_density(x), stats.multivariate_normal([1, 2], cov).logpdf(x))
    np.testing.assert_allclose(pi.cov, cov)
    X = np.array([[1.0], [2.0], [6.0]])
    assert wq.measure("empirical", X).mean == 3.0
    z = wq.integral(wq.measure("empirical", X)).apply(wq.GP(mean=4.0))
    assert z.mean == pytest.approx(4.0)
    with pytest.raises(TypeError, match="products"):
        pi * pi


ROUND_TRIPS: list[Any] = [
    wq.warp("log"),
    wq.warp("polynomial", coefficients=[0.0, 1.0, 0.0, 2.0]),
    wq.warp("probit", range=(2, 5)),
    wq.warp(range=(-np.inf, 3)),
    wq.Data([0.0], f=[2.0]).warp("square"),
    wq.warp_from(np.tanh, range=(-1, 1)),
]


@pytest.mark.parametrize("warp", ROUND_TRIPS, ids=repr)
def test_warps_pickle(warp):
    back = pickle.loads(pickle.dumps(warp))
    np.testing.assert_array_equal(back.forward([0.3, -0.2]), warp.forward([0.3, -0.2]))
    assert back.range == warp.range


def test_everything_else_pickles():
    again = lambda x: pickle.loads(pickle.dumps(x))  # noqa: E731
    gp = wq.GP(
        wq.kernel("rational-quadratic", 2.0),
        mean={"peak": 1.0, "center": [0.5], "width": [2.0]},
        noise=0.1,
    )
    data = wq.Data([0.0, 0.0, 1.0], f=[1.0, 1.1, 2.0], noisy=True)
    post = gp.condition(data, "log")
    x = [0.2, 3.0]
    np.testing.assert_array_equal(again(gp).cov(x), gp.cov(x))
    np.testing.assert_array_equal(again(gp).mean(x), gp.mean(x))
    np.testing.assert_array_equal(again(post).mean(x), post.mean(x))
    for belief in (post.warp(), post.linearise(), again(post).warp()):
        np.testing.assert_array_equal(again(belief).cov(x), belief.cov(x))
    assert len(again(data)) == 3 and again(data).log_f is None
    cov = [[2, 1], [1, 2]]
    for pi in (
        wq.measure("uniform", 0, 1) ** 2,
        wq.measure("gaussian", [0, 0], cov),
        wq.measure("empirical", np.eye(2)),
    ):
        np.testing.assert_array_equal(again(pi).nodes(8).X, pi.nodes(8).X)


def test_your_own_warp_is_the_library_s():
    """A tabulated softplus and the registry's agree in moments, fits and integrals."""
    own = wq.warp_from(lambda g: np.logaddexp(0.0, g), range=(0, np.inf))
    known = wq.warp("numeric")
    at = [
        np.array(v)
        for v in (
            [-3.0, 0.2, 5.0],
            [0.5, 1e-4, 4.0],
            [-2.0, 0.0, 5.0],
            [2.0, 1e-3, 4.0],
            [0.3, 2e-4, 4.0],
        )
    ]
    for name, value in known.moments(*at).items():
        # A partial that all but vanishes has the rounding of xi, of order 1, over the sd 0.3 that
        # small variances are carried back from.
        np.testing.assert_allclose(
            own.moments(*at)[name], value, rtol=1e-9, atol=1e-14, err_msg=name
        )
    X = np.linspace(-3, 3, 12)
    data = wq.Data(X, f=np.logaddexp(0.0, 3 * np.sin(X)))
    results = []
    for warp in (own, known):
        warp = data.warp(warp)
        gp = wq.fit(wq.GP("squared-exponential"), warp, data)
        results.append(
            wq.integral(wq.measure("uniform", -3, 3)).apply(gp.condition(data, warp).warp())
        )
    assert results[0].mean == pytest.approx(results[1].mean, rel=1e-5)
    exact, _ = scipy_integrate.quad(lambda x: np.logaddexp(0.0, 3 * np.sin(x)) / 6, -3, 3)
    assert abs(results[0].mean - exact) < 4 * results[0].sd + 5 * results[0].node_error + 1e-3


def test_your_own_warp_on_its_own_range():
    tanh = wq.warp_from(np.tanh, np.arctanh, range=(-1, 1))
    np.testing.assert_allclose(tanh.inverse([0.5, -0.9]), np.arctanh([0.5, -0.9]), rtol=1e-12)
    z, w = np.polynomial.hermite_e.hermegauss(150)
    mean = (np.tanh(0.4 + np.sqrt(0.6) * z) @ w) / w.sum()
    assert tanh.mean([0.4], [0.6])[0] == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forward": np.abs}, "non-decreasing"),
        ({"forward": lambda g: np.maximum(g, 0.1 * g)}, "not smooth enough at g = "),
        ({"forward": np.exp, "range": (0, 1)}, "outside the range"),
        ({"forward": np.exp, "range": (0, np.inf), "domain": (0, 2000)}, "finite"),
        ({"forward": lambda g: 1.0}, "array"),
        ({"forward": np.sinh, "inverse": np.sin}, "inverse"),
    ],
)
def test_a_bad_warp_is_refused(arguments, message):
    with np.errstate(over="ignore"), pytest.raises(wq.SpecError, match=message):
        wq.warp_from(**arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: wq.warp("lgo"), wq.SpecError, "unknown warp 'lgo'; there are identity"),
        (lambda: wq.warp(), TypeError, "name"),
        (lambda: wq.warp("log", tau=3.0), TypeError, "gumbel"),
        (lambda: wq.warp("log", range=(0, 1)), wq.SpecError, "range"),
        (lambda: wq.kernel("matern99"), wq.SpecError, "matern32"),
        (lambda: wq.measure("uniform", 1), wq.SpecError, "takes 2 numbers"),
        (lambda: wq.measure("uniform", 2, 1), wq.SpecError, "below hi"),
        (lambda: wq.GP(output_scale=-1.0), wq.SpecError, "output_scale"),
        (lambda: wq.GP("nope"), wq.SpecError, "nope"),
        (lambda: wq.Data([0.0, 1.0], f=[1.0]), wq.SpecError, "expected length 2"),
        (lambda: wq.Data([0.0]), TypeError, "either f or log_f"),
        (lambda: wq.Data([[[0.0]]], f=[1.0]), ValueError, "shape"),
        (lambda: wq.Data([0.0, 0.0], f=[1.0, 2.0]), wq.SpecError, "points 0 and 1"),
        (lambda: wq.Data([0.0], f=[-1.0]).g("log"), wq.RangeError, "observation 0"),
        (lambda: wq.GP().mean([[0.0, 1.0]]), wq.SpecError, "expected length 1"),
        (lambda: wq.at([0.0, 1.0]).apply(wq.GP()), wq.SpecError, "functional"),
        (lambda: wq.fit(wq.GP(), "log", wq.Data([0.0], f=[1.0]), space="h"), ValueError, "space"),  # type: ignore[arg-type]
    ],
)
def test_errors_say_what(call, error, message):
    with pytest.raises(error, match=message):
        call()


def examples() -> list[tuple[str, str]]:
    """Every docstring with an example, of the compiled module and of its Python half."""
    found = {}
    for holder in (_core, _blocks):
        for name, value in vars(holder).items():
            if name.startswith("_") or inspect.ismodule(value):
                continue
            found[name] = inspect.getdoc(value) or ""
            if inspect.isclass(value):
                found.update(
                    {
                        f"{name}.{k}": inspect.getdoc(v) or ""
                        for k, v in vars(value).items()
                        if not k.startswith("_")
                    }
                )
    return [(name, text) for name, text in found.items() if ">>>" in text]


@pytest.mark.parametrize(("name", "text"), [pytest.param(*pair, id=pair[0]) for pair in examples()])
def test_examples_in_docstrings(name, text):
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        test, out=report.append
    )
    assert result.failed == 0, "".join(report)


def test_every_public_block_has_an_example():
    named = dict(examples())
    blocks = "GP Belief Data Functional Kernel Measure Posterior Warp at fit fit_detailed integral kernel kernels law measure measures "
    missing = [
        name for name in (blocks + "warp warp_from warps weighted").split() if name not in named
    ]
    assert not missing

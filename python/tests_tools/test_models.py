"""Models of PyMC and NumPyro: their evidence by hand, and by the package's own densities."""

import math

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pymc as pm
import pytest
import scipy.stats as stats
import warpquad as wq
from warpquad.adapters import pymc as adapter

Y = np.array([0.3, -0.2, 0.9, 0.4])
# y ~ N(mu, 1), mu ~ N(0, 2): the marginal of y is normal.
CONJUGATE = stats.multivariate_normal(np.zeros(4), np.eye(4) + 4.0).logpdf(Y)
SMALL = {"budget": 40, "progress": False}


def test_pymc_conjugate():
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2)
        pm.Normal("y", mu, 1, observed=Y)
    problem = wq.from_pymc(model)
    assert problem.priors == {"mu": wq.normal(0, 2)}
    r = wq.integrate(problem, **SMALL)
    assert r.names == ["mu"] and r.log_z == pytest.approx(CONJUGATE, abs=0.02)
    assert problem.integrate(**SMALL).log_z == r.log_z
    assert r.posterior()["mu"].mean() == pytest.approx(Y.sum() / (4 + 1 / 4), abs=0.05)
    with pytest.raises(wq.SpecError, match="the problem brings its own priors"):
        wq.integrate(problem, {"mu": wq.normal(0, 1)})


def hierarchy(tau, x):
    """The same prior and likelihood by hand."""
    return stats.halfnorm(scale=1.0).logpdf(tau) + stats.norm(0, tau).logpdf(x).sum() + stats.norm(x, 1.0).logpdf(Y[:2]).sum()


def hierarchical_log_z():
    """x is integrated by hand; y given tau is normal."""
    tau = np.linspace(1e-4, 12, 20001)
    like = np.array([stats.norm(0, np.sqrt(1 + t * t)).pdf(Y[:2]).prod() for t in tau])
    return math.log(np.trapezoid(like * stats.halfnorm.pdf(tau), tau))


def test_pymc_hierarchy():
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1.0)
        x = pm.Normal("x", 0, tau, shape=2)
        pm.Normal("y", x, 1, observed=Y[:2])
    problem = wq.from_pymc(model)
    assert problem.names == ["tau", "x[0]", "x[1]"]
    u = np.array([0.3, 0.6, 0.9])
    theta = problem.priors(u)
    assert theta[0] == pytest.approx(stats.halfnorm.ppf(0.3))
    assert theta[1:] == pytest.approx(stats.norm(0, theta[0]).ppf(u[1:]))
    assert problem.log_f(theta) == pytest.approx(stats.norm(theta[1:], 1).logpdf(Y[:2]).sum())
    joint = model.compile_logp(jacobian=False)
    point = {"tau_log__": np.log(theta[0]), "x": theta[1:]}
    assert float(joint(point)) == pytest.approx(hierarchy(theta[0], theta[1:]))
    r = wq.integrate(problem, budget=80, progress=False)
    assert r.log_z == pytest.approx(hierarchical_log_z(), abs=0.05)


def test_pymc_vectors_transforms_and_potentials():
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 1, shape=2)
        sigma = pm.Exponential("sigma", 2.0)
        pm.Normal("y", beta.sum(), sigma, observed=Y)
        pm.Potential("tilt", -sigma)
    problem = wq.from_pymc(model)
    assert list(problem.priors.items()) == [("beta", wq.normal(0, 1, size=2)), ("sigma", wq.exponential(2))]
    x = np.array([0.1, 0.2, 0.7])
    assert problem.log_f(x) == pytest.approx(stats.norm(0.3, 0.7).logpdf(Y).sum() - 0.7)
    r = wq.integrate(problem, budget=20, progress=False)
    assert r.names == ["beta[0]", "beta[1]", "sigma"]


def test_pymc_laws():
    u = np.array([0.02, 0.4, 0.97])
    made = {
        "u": lambda: pm.Uniform("u", -1, 2),
        "n": lambda: pm.Normal("n", 1, 2),
        "hn": lambda: pm.HalfNormal("hn", 2),
        "hc": lambda: pm.HalfCauchy("hc", 2),
        "ln": lambda: pm.LogNormal("ln", 0.5, 0.7),
        "e": lambda: pm.Exponential("e", 3),
        "g": lambda: pm.Gamma("g", 2, 4),
        "b": lambda: pm.Beta("b", 2, 3),
        "t": lambda: pm.StudentT("t", nu=4, mu=1, sigma=2),
        "c": lambda: pm.Cauchy("c", 1, 2),
    }
    for name, make in made.items():
        with pm.Model() as model:
            rv = make()
        law = adapter._law(model[name], ())
        assert law is not None, name
        own = wq.measure(law.name, *law.numbers)
        for one in np.asarray(pm.icdf(rv, u).eval(), dtype=float):
            # PyMC's quantile of u is where our law has the mass u: compare densities there.
            want = float(pm.logp(rv, one).eval())
            assert own.log_density([[one]])[0] == pytest.approx(want, rel=1e-6), name


COUNTS = np.array([3, 5, 2])
# Dirichlet-multinomial.
DIRICHLET = stats.dirichlet_multinomial(np.array([1.0, 2.0, 3.0]), 10).logpmf(COUNTS)


def test_pymc_without_quantiles():
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.array([1.0, 2.0, 3.0]))
        mu = pm.Normal("mu", 0, 2)
        pm.Multinomial("n", 10, p, observed=COUNTS)
        pm.Normal("y", mu, 1, observed=Y)
        pm.Deterministic("ratio", p[0] / p[1])
    r = wq.integrate(wq.from_pymc(model), budget=100, progress=False)
    assert r.names == ["unconstrained(p_simplex__[0])", "unconstrained(p_simplex__[1])", "unconstrained(mu)"]
    assert r.log_z == pytest.approx(DIRICHLET + CONJUGATE, abs=max(0.03, 3 * r.log_z_sd))
    draws = r.posterior()
    assert draws["p[1]"].mean() == pytest.approx(7 / 16, abs=0.01)
    assert draws["mu"].mean() == pytest.approx(Y.sum() / (4 + 1 / 4), abs=0.05)
    assert "ratio" in draws


def test_pymc_refusals():
    with pm.Model() as discrete:
        pm.Poisson("k", 3)
        pm.Normal("y", 0, 1, observed=Y)
    with pytest.raises(wq.SpecError, match="k is discrete"):
        wq.from_pymc(discrete)
    with pm.Model() as empty:
        pm.Normal("a", 0, 1)
    with pytest.raises(wq.SpecError, match="neither observed variables nor potentials"):
        wq.from_pymc(empty)


def test_numpyro_conjugate():
    def model(y, sd=1.0):
        mu = numpyro.sample("mu", dist.Normal(0, 2))
        numpyro.sample("y", dist.Normal(mu, sd), obs=y)

    r = wq.integrate(wq.from_numpyro(model, Y, sd=1.0), **SMALL)
    assert r.names == ["mu"] and r.log_z == pytest.approx(CONJUGATE, abs=0.02)


def test_numpyro_hierarchy():
    def model(y):
        tau = numpyro.sample("tau", dist.HalfNormal(1.0))
        with numpyro.plate("things", 2):
            x = numpyro.sample("x", dist.Normal(0, tau))
            numpyro.deterministic("double", 2 * x)
            numpyro.sample("y", dist.Normal(x, 1.0), obs=y)

    problem = wq.from_numpyro(model, Y[:2])
    assert problem.names == ["tau", "x[0]", "x[1]"]
    theta = problem.priors(np.array([0.3, 0.6, 0.9]))
    assert theta[0] == pytest.approx(stats.halfnorm.ppf(0.3), rel=1e-9)
    assert theta[1:] == pytest.approx(stats.norm(0, theta[0]).ppf([0.6, 0.9]), rel=1e-9)
    parameters = {"tau": theta[0], "x": jnp.asarray(theta[1:])}
    joint, _ = numpyro.infer.util.log_density(model, (Y[:2],), {}, parameters)
    prior = stats.halfnorm.logpdf(theta[0]) + stats.norm(0, theta[0]).logpdf(theta[1:]).sum()
    assert problem.log_f(theta) == pytest.approx(float(joint) - prior, abs=1e-4)
    r = wq.integrate(problem, budget=80, progress=False)
    assert r.log_z == pytest.approx(hierarchical_log_z(), abs=0.05)


def test_numpyro_vectors_factors_and_refusals():
    def model():
        beta = numpyro.sample("beta", dist.Normal(jnp.zeros(2), 1).to_event(1))
        numpyro.factor("tilt", -beta.sum())

    problem = wq.from_numpyro(model)
    # E[exp(-(b0 + b1))] = exp(1).
    assert wq.integrate(problem, budget=60, progress=False).log_z == pytest.approx(1.0, abs=0.05)

    def bad():
        numpyro.sample("p", dist.Poisson(3.0))

    with pytest.raises(wq.SpecError, match="p is discrete"):
        wq.from_numpyro(bad)


def test_numpyro_without_quantiles():
    def model(counts, y):
        p = numpyro.sample("p", dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])))
        mu = numpyro.sample("mu", dist.Normal(0, 2))
        numpyro.sample("n", dist.Multinomial(10, p), obs=counts)
        numpyro.sample("y", dist.Normal(mu, 1), obs=y)
        numpyro.deterministic("ratio", p[0] / p[1])

    r = wq.integrate(wq.from_numpyro(model, COUNTS, Y), budget=100, progress=False)
    assert sorted(r.names) == ["unconstrained(mu)", "unconstrained(p[0])", "unconstrained(p[1])"]
    assert r.log_z == pytest.approx(DIRICHLET + CONJUGATE, abs=max(0.03, 3 * r.log_z_sd))
    assert r.posterior()["p[1]"].mean() == pytest.approx(7 / 16, abs=0.01)
    assert "ratio" in r.derived

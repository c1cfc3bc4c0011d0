//! Step 5 from Python: affine functionals of a belief, and what they say of Z.

use super::belief::Belief;
use super::convert::{Numbers, flat, points};
use super::measure::{Measure, Nodes};
use crate::error::detached;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpquad::functional::Estimate as CoreEstimate;
use warpquad::numeric::special::normal_quantile;

/// An affine functional L: a constant, and weighted integrals and point values of f. Made by
/// `integral`, `at` and `weighted`, joined by +, - and *.
///
/// >>> import warpquad as wq
/// >>> gp = wq.GP("matern32", mean=2.0)
/// >>> excess = wq.integral(wq.measure("uniform", -1, 1)) - wq.at([0.0]) + 1.0
/// >>> round(excess.apply(gp).mean, 12)
/// 1.0
#[pyclass(frozen, from_py_object, module = "warpquad")]
#[derive(Clone)]
pub struct Functional {
    constant: f64,
    terms: Vec<(f64, Term)>,
}

#[derive(Clone)]
enum Term {
    Integral {
        measure: Measure,
        n: usize,
        seed: u64,
        follow: bool,
    },
    Given(Measure, Nodes),
    Value(Vec<f64>),
}

impl Term {
    fn core(&self) -> warpquad::Functional<'_> {
        match self {
            Term::Integral {
                measure,
                n,
                seed,
                follow: false,
            } => warpquad::Functional::integral(measure.inner.as_ref(), *n).seeded(*seed),
            Term::Integral {
                measure,
                n,
                seed,
                follow: true,
            } => warpquad::Functional::following(measure.inner.as_ref(), *n, *seed),
            Term::Given(measure, nodes) => {
                warpquad::Functional::on(measure.inner.as_ref(), nodes.inner.clone())
            }
            Term::Value(x) => warpquad::Functional::at(x),
        }
    }
}

/// A functional or a constant.
#[derive(FromPyObject)]
enum Summand {
    Functional(Functional),
    Constant(f64),
}

impl Functional {
    fn one(term: Term) -> Functional {
        Functional {
            constant: 0.0,
            terms: vec![(1.0, term)],
        }
    }

    fn scaled(&self, c: f64) -> Functional {
        let terms = self
            .terms
            .iter()
            .map(|(weight, term)| (weight * c, term.clone()));
        Functional {
            constant: self.constant * c,
            terms: terms.collect(),
        }
    }

    fn sum(&self, other: Summand, sign: f64) -> Functional {
        let mut out = self.clone();
        match other {
            Summand::Constant(c) => out.constant += sign * c,
            Summand::Functional(other) => {
                let other = other.scaled(sign);
                out.constant += other.constant;
                out.terms.extend(other.terms);
            }
        }
        out
    }
}

#[pymethods]
impl Functional {
    /// What the belief says about Z = L[f]: a normal law.
    fn apply(&self, py: Python<'_>, belief: PyRef<'_, Belief>) -> PyResult<Estimate> {
        let kind = belief.kind().clone();
        let inner = detached(py, || {
            let mut terms = self
                .terms
                .iter()
                .map(|(weight, term)| term.core().times(*weight));
            let first = terms
                .next()
                .ok_or_else(|| warpquad::Error::spec("functional", "has no term"))?;
            let sum = terms
                .fold(first, warpquad::Functional::plus)
                .plus_constant(self.constant);
            kind.with(|belief| sum.apply(belief))
        })?;
        Ok(Estimate { inner })
    }

    /// L + L', or L + c.
    fn plus(&self, other: Summand) -> Functional {
        self.sum(other, 1.0)
    }

    /// L - L', or L - c.
    fn minus(&self, other: Summand) -> Functional {
        self.sum(other, -1.0)
    }

    /// c L.
    fn times(&self, c: f64) -> Functional {
        self.scaled(c)
    }

    fn __add__(&self, other: Summand) -> Functional {
        self.sum(other, 1.0)
    }

    fn __radd__(&self, other: f64) -> Functional {
        self.sum(Summand::Constant(other), 1.0)
    }

    fn __sub__(&self, other: Summand) -> Functional {
        self.sum(other, -1.0)
    }

    fn __rsub__(&self, other: f64) -> Functional {
        self.scaled(-1.0).sum(Summand::Constant(other), 1.0)
    }

    fn __mul__(&self, c: f64) -> Functional {
        self.scaled(c)
    }

    fn __rmul__(&self, c: f64) -> Functional {
        self.scaled(c)
    }

    fn __neg__(&self) -> Functional {
        self.scaled(-1.0)
    }

    fn __repr__(&self) -> String {
        format!("<warpquad.Functional of {} terms>", self.terms.len())
    }
}

/// The normal law of Z, with the error of the node rule apart. Made by `Functional.apply`.
///
/// >>> import warpquad as wq
/// >>> z = wq.integral(wq.measure("normal", 0, 1)).apply(wq.GP("squared-exponential", mean=3.0))
/// >>> low, high = z.interval(0.95)
/// >>> low < z.mean < high
/// True
#[pyclass(frozen, module = "warpquad")]
pub struct Estimate {
    inner: CoreEstimate,
}

#[pymethods]
impl Estimate {
    /// The mean of Z; a tiny Z underflows: see `log_mean`.
    #[getter]
    fn mean(&self) -> f64 {
        self.inner.mean()
    }

    /// The standard deviation of Z: what the belief does not know.
    #[getter]
    fn sd(&self) -> f64 {
        self.inner.sd()
    }

    /// The variance of Z.
    #[getter]
    fn var(&self) -> f64 {
        (2.0 * self.inner.ln_unit).exp() * self.inner.var
    }

    /// ln of the mean of Z; NaN if that is negative.
    #[getter]
    fn log_mean(&self) -> f64 {
        self.inner.ln_mean()
    }

    /// The standard deviation of ln Z, for the log-normal law with the same two moments.
    #[getter]
    fn log_sd(&self) -> f64 {
        self.inner.ln_sd()
    }

    /// The standard deviation of Z over its mean.
    #[getter]
    fn relative_sd(&self) -> f64 {
        self.inner.relative_sd()
    }

    /// The standard error of the node rule in the mean; 0 for a closed form.
    #[getter]
    fn node_error(&self) -> f64 {
        self.inner.ln_unit.exp() * self.inner.node_error
    }

    /// The node rule's error over the mean: its standard error in ln Z.
    #[getter]
    fn relative_node_error(&self) -> f64 {
        self.inner.relative_node_error()
    }

    /// Whether the integral was a closed form.
    #[getter]
    fn closed_form(&self) -> bool {
        self.inner.closed_form
    }

    /// The central interval of this mass.
    #[pyo3(signature = (mass = 0.95))]
    fn interval(&self, mass: f64) -> PyResult<(f64, f64)> {
        if !(mass > 0.0 && mass < 1.0) {
            return Err(PyValueError::new_err(format!(
                "mass: must be between 0 and 1, got {mass}"
            )));
        }
        let half = normal_quantile(0.5 + 0.5 * mass) * self.inner.sd();
        Ok((self.inner.mean() - half, self.inner.mean() + half))
    }

    fn __repr__(&self) -> String {
        format!(
            "<warpquad.Estimate log Z {:.4} +- {:.4}, Z {:.4e}>",
            self.log_mean(),
            self.log_sd(),
            self.mean()
        )
    }
}

/// The integral of f against a measure. It is a closed form where there is one, else a sum over n
/// Sobol' nodes. With `follow=True` it is a sum over n importance nodes that follow the belief, for
/// a narrow f. Or give the `nodes`.
///
/// >>> import warpquad as wq
/// >>> z = wq.integral(wq.measure("normal", 0, 1)).apply(wq.GP("squared-exponential", mean=3.0))
/// >>> z.mean, z.closed_form
/// (3.0, True)
#[pyfunction]
#[pyo3(signature = (measure, n = 4096, *, seed = 0, follow = false, nodes = None))]
fn integral(
    measure: Measure,
    n: usize,
    seed: u64,
    follow: bool,
    nodes: Option<Nodes>,
) -> Functional {
    Functional::one(match nodes {
        Some(nodes) => Term::Given(measure, nodes),
        None => Term::Integral {
            measure,
            n,
            seed,
            follow,
        },
    })
}

/// The value f(x).
///
/// >>> import warpquad as wq
/// >>> round(wq.at([0.3]).apply(wq.GP(output_scale=4.0)).sd, 12)
/// 2.0
#[pyfunction]
fn at(x: Numbers<'_>) -> Functional {
    Functional::one(Term::Value(flat(&x)))
}

/// The weighted sum of f over the rows of X; weights of either sign.
///
/// >>> import warpquad as wq
/// >>> round(wq.weighted([0.0, 1.0], [2.0, -1.0]).apply(wq.GP(mean=5.0)).mean, 12)
/// 5.0
#[pyfunction]
#[allow(non_snake_case)]
fn weighted(X: Numbers<'_>, weights: Numbers<'_>) -> PyResult<Functional> {
    let (x, weights) = (points("X", &X)?, flat(&weights));
    if x.len() != weights.len() || x.is_empty() {
        let text = format!(
            "weights: expected length {} (at least 1), got {}",
            x.len(),
            weights.len()
        );
        return Err(PyValueError::new_err(text));
    }
    let terms = weights
        .into_iter()
        .zip(x.iter())
        .map(|(w, x)| (w, Term::Value(x.to_vec())));
    Ok(Functional {
        constant: 0.0,
        terms: terms.collect(),
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Functional>()?;
    module.add_class::<Estimate>()?;
    module.add_function(wrap_pyfunction!(integral, module)?)?;
    module.add_function(wrap_pyfunction!(at, module)?)?;
    module.add_function(wrap_pyfunction!(weighted, module)?)
}

//! Hand a run's belief to Python as it is at one moment: posterior draws, weighted nodes, the way
//! it came.

use crate::error::detached;
use crate::session::Session;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use warpquad::engine::Engine;
use warpquad::functional;
use warpquad::{Error, Points, Result};

/// Draws: points, ln f there, the effective number of nodes behind them, and the part of moves
/// accepted.
type Draws<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    f64,
    f64,
);
/// Means and sds.
type Interpolation<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// Evaluations, the median of ln Z, its standard deviation, and the ends of its interval.
type Step = (usize, f64, f64, f64, f64);

/// The belief of a run at one moment; what the run does later does not change it.
#[pyclass(frozen, module = "warpquad._core")]
pub struct Snapshot(Mutex<Option<Engine>>);

impl Snapshot {
    fn compute<T: Send>(
        &self,
        py: Python<'_>,
        with: impl FnOnce(&mut Engine) -> Result<T> + Send,
    ) -> PyResult<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        detached(py, || match lock().as_mut() {
            Some(engine) => with(engine),
            None => {
                let reason = "this method keeps no belief about f; take one of Bayesian quadrature";
                Err(Error::spec("posterior", reason))
            }
        })
    }
}

#[pymethods]
impl Snapshot {
    /// The belief of a session as it is now.
    #[staticmethod]
    fn of(py: Python<'_>, session: &Session) -> Snapshot {
        Snapshot(Mutex::new(session.look(py, |s| s.engine().cloned())))
    }

    /// `n` posterior draws of equal weight.
    fn draws<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Draws<'py>> {
        let drawn = self.compute(py, |engine| engine.posterior_sample(n, seed))?;
        let points = array(py, &drawn.points)?;
        let ln_f = PyArray1::from_vec(py, drawn.ln_f);
        Ok((points, ln_f, drawn.effective, drawn.accepted))
    }

    /// A derived quantity at points, from its values at the observations: means and sds.
    fn interpolate<'py>(
        &self,
        py: Python<'py>,
        values: Vec<f64>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Interpolation<'py>> {
        let rows: Vec<Vec<f64>> = points.as_array().outer_iter().map(|x| x.to_vec()).collect();
        let at = self.compute(py, |engine| {
            engine.interpolate(&values)?.at(&Points::from_rows(&rows)?)
        })?;
        let (means, sds): (Vec<f64>, Vec<f64>) = at.into_iter().unzip();
        Ok((PyArray1::from_vec(py, means), PyArray1::from_vec(py, sds)))
    }

    /// About `n` points that follow the prior.
    fn prior<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = self.compute(py, |engine| engine.prior_sample(n))?;
        array(py, &points)
    }

    /// Nodes weighted by the posterior.
    fn nodes(&self, py: Python<'_>) -> PyResult<PosteriorNodes> {
        self.compute(py, Engine::posterior_nodes)
            .map(PosteriorNodes)
    }

    /// What was known of ln Z after at most `most` numbers of evaluations, the last one the
    /// present.
    fn trace(&self, py: Python<'_>, most: usize, probability: f64) -> PyResult<Vec<Step>> {
        let outcomes = self.compute(py, |engine| engine.trace(most))?;
        let step = |outcome: &warpquad::engine::Outcome| {
            let [low, high] = outcome.ln_interval(probability);
            let median = outcome.law.ln_quantile(0.5);
            (outcome.evaluations, median, outcome.ln_sd(), low, high)
        };
        Ok(outcomes.iter().map(step).collect())
    }
}

/// Nodes weighted by the posterior under the belief's mean, and under joint draws of f.
#[pyclass(frozen, module = "warpquad._core")]
pub struct PosteriorNodes(functional::Ratio);

#[pymethods]
impl PosteriorNodes {
    /// Where.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.0.points())
    }

    /// The share of the posterior that each node stands for.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.weights())
    }

    /// The posterior expectation of h from its values on the nodes.
    fn expectation(&self, py: Python<'_>, h: PyReadonlyArray1<'_, f64>) -> PyResult<Expectation> {
        let h = h.as_array().to_vec();
        detached(py, || self.0.expectation(&h)).map(Expectation)
    }
}

/// A posterior expectation with its error bar.
#[pyclass(frozen, module = "warpquad._core")]
pub struct Expectation(functional::Expectation);

#[pymethods]
impl Expectation {
    /// Under the belief's mean.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean
    }

    /// The standard deviation, the node rule's error included.
    #[getter]
    fn sd(&self) -> f64 {
        self.0.sd()
    }

    /// The standard error of the node rule alone.
    #[getter]
    fn node_error(&self) -> f64 {
        self.0.node_error
    }

    /// The central interval with that probability, the node rule's error included.
    fn interval(&self, probability: f64) -> (f64, f64) {
        self.0.interval(probability).into()
    }
}

fn array<'py>(py: Python<'py>, points: &Points) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, points.as_slice()).reshape([points.len(), points.dim()])
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Snapshot>()?;
    module.add_class::<PosteriorNodes>()?;
    module.add_class::<Expectation>()
}

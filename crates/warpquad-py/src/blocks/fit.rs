//! Fit theta from Python.

use super::data::Data;
use super::gp::Gp;
use super::warp::WarpLike;
use crate::error::{detached, raise};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpquad::fit::{Fit, LengthPrior, Space, Starts, fit_detailed};

/// A fitted `GP` and how it was reached. Made by `fit_detailed`.
///
/// >>> import warpquad as wq
/// >>> data = wq.Data([0.0, 1.0, 2.0], f=[1.0, 3.0, 2.0])
/// >>> fitted = wq.fit_detailed(wq.GP(), data.warp("log"), data)
/// >>> fitted.starts > 0, fitted.gp.dim
/// (True, 1)
#[pyclass(frozen, get_all, module = "warpquad")]
pub struct Fitted {
    /// The prior with the best hyperparameters found.
    gp: Py<Gp>,
    /// ln p(data | theta), in the space of the fit.
    log_likelihood: f64,
    /// The jitter its matrix needed, relative to the mean of the diagonal.
    jitter: f64,
    /// Likelihood evaluations spent, over all starts.
    evaluations: usize,
    /// How many starts were tried.
    starts: usize,
    /// How many of them led nowhere.
    failed: usize,
}

#[pymethods]
impl Fitted {
    fn __repr__(&self) -> String {
        format!("<warpquad.Fitted, log likelihood {}>", self.log_likelihood)
    }
}

/// Fit theta by maximum likelihood, and give the story with it: see `fit`.
///
/// >>> import warpquad as wq
/// >>> data = wq.Data([0.0, 1.0, 2.0], f=[1.0, 3.0, 2.0])
/// >>> wq.fit_detailed(wq.GP(), data.warp("log"), data).failed
/// 0
#[pyfunction]
#[pyo3(signature = (gp, warp, data, *, space = "f", restarts = 0, seed = 0, length_prior = None, fit_noise = false, warm = false, scales = None))]
#[allow(clippy::too_many_arguments)]
#[pyo3(name = "fit_detailed")]
fn detailed(
    py: Python<'_>,
    gp: PyRef<'_, Gp>,
    warp: WarpLike,
    data: Data,
    space: &str,
    restarts: usize,
    seed: u64,
    length_prior: Option<(f64, f64)>,
    fit_noise: bool,
    warm: bool,
    scales: Option<Vec<f64>>,
) -> PyResult<Fitted> {
    let space = Space::by_name(space).map_err(|_| {
        PyValueError::new_err(format!("space: is 'f', 'g' or 'f-loo', got '{space}'"))
    })?;
    let how = Fit {
        space,
        starts: if warm { Starts::Warm } else { Starts::All },
        restarts,
        seed,
        length_prior: length_prior.map(|(median, sd)| LengthPrior { median, sd }),
        fit_noise,
        scales,
        ..Fit::default()
    };
    let warp = warp.get().map_err(|error| raise(py, &error))?;
    let process = gp.process.clone();
    let fitted = detached(py, || {
        fit_detailed(&process, warp.inner.as_ref(), &data.inner, &how)
    })?;
    let gp = gp.like(fitted.process).map_err(|error| raise(py, &error))?;
    Ok(Fitted {
        gp: Py::new(py, gp)?,
        log_likelihood: fitted.ln_likelihood,
        jitter: fitted.jitter,
        evaluations: fitted.evaluations,
        starts: fitted.starts.0,
        failed: fitted.starts.1,
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Fitted>()?;
    let function = wrap_pyfunction!(detailed, module)?;
    module.add_function(function)
}

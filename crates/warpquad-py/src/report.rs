//! Hand a report to Python: the law of ln Z, and everything else as JSON.

use pyo3::prelude::*;
use warpquad::session;

/// What a run knows about Z.
#[pyclass(frozen, module = "warpquad._core")]
pub struct Report(pub session::Report);

#[pymethods]
impl Report {
    /// The median of ln Z; NaN where Z is negative.
    #[getter]
    fn log_z(&self) -> f64 {
        self.0.ln_z()
    }

    /// The standard deviation of ln Z, the node rule's error included.
    #[getter]
    fn log_z_sd(&self) -> f64 {
        self.0.ln_z_sd()
    }

    /// The central interval of ln Z with that probability, the node rule's error included.
    fn interval(&self, probability: f64) -> (f64, f64) {
        self.0.outcome.ln_interval(probability).into()
    }

    /// The quantile of ln Z at `p`, without the node rule's error.
    fn quantile(&self, p: f64) -> f64 {
        self.0.outcome.law.ln_quantile(p)
    }

    /// The object that the command line prints with `--json`, as text.
    fn to_json(&self) -> String {
        self.0.to_json().to_string()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Report>()
}

//! Say which one-dimensional priors there are: the core's registry, as it is.

use crate::error::detached;
use pyo3::prelude::*;
use warpquad::measure::{REGISTRY, univariate};

/// One registered prior: its name, what it is, and the names of its numbers in order.
type Row = (&'static str, &'static str, Vec<&'static str>);

/// Every prior of the registry: its name, what it is, and the names of its numbers in order.
#[pyfunction]
fn priors() -> Vec<Row> {
    let row =
        |entry: &warpquad::measure::Entry| (entry.name, entry.summary, entry.parameters.to_vec());
    REGISTRY.iter().map(row).collect()
}

/// Refuse numbers that make no prior of that name.
#[pyfunction]
fn check_prior(py: Python<'_>, name: &str, numbers: Vec<f64>) -> PyResult<()> {
    detached(py, || univariate(name, &numbers).map(|_| ()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(priors, module)?)?;
    module.add_function(wrap_pyfunction!(check_prior, module)?)
}

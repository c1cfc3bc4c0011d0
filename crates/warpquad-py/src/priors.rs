//! Say which one-dimensional priors there are: the core's registry, as it is.

use crate::error::detached;
use pyo3::prelude::*;
use warpquad::measure::REGISTRY;
use warpquad::session::spec::Law;

/// One registered prior: its name, what it is, and the names of its numbers in order.
type Row = (&'static str, &'static str, Vec<&'static str>);

/// Every prior of the registry: its name, what it is, and the names of its numbers in order.
#[pyfunction]
fn priors() -> Vec<Row> {
    let row =
        |entry: &warpquad::measure::Entry| (entry.name, entry.summary, entry.parameters.to_vec());
    REGISTRY.iter().map(row).collect()
}

/// Refuse numbers that make no prior of that name, and a circle of what is not uniform.
#[pyfunction]
fn check_prior(py: Python<'_>, name: &str, numbers: Vec<f64>, is_periodic: bool) -> PyResult<()> {
    let law = Law {
        is_periodic,
        ..Law::new(name, &numbers)
    };
    detached(py, || law.build().map(|_| ()))
}

/// The lower end of the turn in which to show draws on a circle.
#[pyfunction]
fn turn(start: f64, period: f64, draws: Vec<f64>) -> f64 {
    warpquad_report::turn([start, period], &draws)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(priors, module)?)?;
    module.add_function(wrap_pyfunction!(check_prior, module)?)?;
    module.add_function(wrap_pyfunction!(turn, module)?)
}

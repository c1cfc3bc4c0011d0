//! Turn the core's errors into the package's exceptions, once and for all.

use pyo3::prelude::*;
use warpquad::Error;

/// The exception of an error; its class is in `warpquad._errors`, where it can have two parents.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Spec { .. } => "SpecError",
        Error::Range { .. } => "RangeError",
        Error::Numerics { .. } => "NumericsError",
        Error::Evaluation { .. } => "EvaluationError",
        Error::Journal { .. } | Error::Io { .. } => "JournalError",
        _ => "WarpquadError",
    };
    let made = py
        .import("warpquad._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((error.to_string(),)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Compute without the interpreter's lock, and raise what went wrong.
pub fn detached<T: Send>(
    py: Python<'_>,
    compute: impl FnOnce() -> warpquad::Result<T> + Send,
) -> PyResult<T> {
    py.detach(compute).map_err(|error| raise(py, &error))
}

//! Turn the core's errors into the package's exceptions, once and for all.

use pyo3::prelude::*;
use warpquad::Error;

/// The exception of an error; its class is in `warpquad._errors`, where it can have two parents.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let (class, kind) = match error {
        Error::Spec { .. } => ("SpecError", "spec"),
        Error::Range { .. } => ("RangeError", "range"),
        Error::Numerics { .. } => ("NumericsError", "numerics"),
        Error::Evaluation { .. } => ("EvaluationError", "evaluation"),
        Error::Journal { .. } => ("JournalError", "journal"),
        Error::Io { .. } => ("JournalError", "io"),
        _ => ("WarpquadError", "other"),
    };
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let made = py
            .import("warpquad._errors")?
            .getattr(class)?
            .call1((error.to_string(),))?;
        made.setattr("kind", kind)?;
        describe(error, &made)?;
        Ok(made)
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Say in the exception's attributes what its text says.
fn describe(error: &Error, made: &Bound<'_, PyAny>) -> PyResult<()> {
    match error {
        Error::Spec { field, place, .. } => {
            if !field.is_empty() {
                made.setattr("field", field)?;
            }
            if let Some(place) = place {
                made.setattr("file", &place.file)?;
                made.setattr("line", place.line)?;
                made.setattr("column", place.column)?;
            }
        }
        Error::Range { index, value, .. } => {
            made.setattr("index", index)?;
            made.setattr("value", value)?;
        }
        Error::Numerics { step, .. } => made.setattr("step", step.to_string())?,
        Error::Evaluation { id, .. } => made.setattr("index", id)?,
        Error::Journal { line, .. } => made.setattr("line", line)?,
        Error::Io { path, .. } => made.setattr("file", path)?,
        _ => {}
    }
    Ok(())
}

/// Compute without the interpreter's lock, and raise what went wrong.
pub fn detached<T: Send>(
    py: Python<'_>,
    compute: impl FnOnce() -> warpquad::Result<T> + Send,
) -> PyResult<T> {
    py.detach(compute).map_err(|error| raise(py, &error))
}

//! Hand what became of an answer to Python, and what to do next: as structure, never as text to
//! read.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpquad::session::evaluator::Task;
use warpquad::session::{self, FinalFailure};

/// A point that was asked for: its number, and where it is.
pub type Asked<'py> = (u64, Bound<'py, PyArray1<f64>>);

pub fn asked(py: Python<'_>, task: Task) -> Asked<'_> {
    (task.id, PyArray1::from_vec(py, task.x))
}

/// What became of an answer.
#[pyclass(frozen, module = "warpquad._core")]
pub struct Taken(pub session::Taken);

impl Taken {
    fn failure(&self) -> Option<&FinalFailure> {
        match &self.0 {
            session::Taken::Stop(failure) => Some(failure),
            _ => None,
        }
    }
}

#[pymethods]
impl Taken {
    /// "kept", "again", "given up" or "stop".
    #[getter]
    fn fate(&self) -> &'static str {
        match self.0 {
            session::Taken::Kept => "kept",
            session::Taken::Again(_) => "again",
            session::Taken::GivenUp => "given up",
            session::Taken::Stop(_) => "stop",
        }
    }

    /// Of a failure that stops the run: what to know before it; empty, or it ends with "; ".
    #[getter]
    fn preface(&self) -> &str {
        self.failure().map_or("", |failure| &failure.preface)
    }

    /// Of a failure that stops the run: the evaluation's number.
    #[getter]
    fn id(&self) -> Option<u64> {
        self.failure().map(|failure| failure.id)
    }

    /// Of a failure that stops the run: the core's parameters by name.
    #[getter]
    fn point<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(failure) = self.failure() else {
            return Ok(None);
        };
        let point = PyDict::new(py);
        for (name, x) in &failure.point {
            point.set_item(name, x)?;
        }
        Ok(Some(point))
    }

    /// Of a failure that stops the run: what the integrand said, or what is wrong with its value.
    #[getter]
    fn reason(&self) -> &str {
        self.failure().map_or("", |failure| &failure.reason)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Taken>()
}

//! Step 2 from Python: what was observed, as f or as ln f.

use super::convert::{Matrix, Numbers, Reduced, Vector, flat, points, rows, vector};
use super::warp::{Warp, WarpLike};
use crate::error::raise;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use warpquad::Value;

/// Points with what was observed there: `Data(X, f=...)` or `Data(X, log_f=...)`, log_f = -inf
/// being f = 0.
///
/// X has shape (n, d), or (n,) in one dimension. Exact observations at one point have to agree and
/// count once. With `noisy=True` they may differ.
///
/// >>> import warpquad as wq
/// >>> data = wq.Data([0.0, 1.0], log_f=[-23000.0, -23005.0])
/// >>> data.g(data.warp("log"))
/// array([ 0., -5.])
#[pyclass(frozen, from_py_object, module = "warpquad")]
#[derive(Clone)]
pub struct Data {
    pub inner: Arc<warpquad::Data>,
    noisy: bool,
}

#[pymethods]
impl Data {
    #[new]
    #[pyo3(signature = (X, f = None, log_f = None, *, noisy = false))]
    #[allow(non_snake_case)] // X is what Python calls a matrix of inputs
    fn new(
        py: Python<'_>,
        X: Numbers<'_>,
        f: Option<Numbers<'_>>,
        log_f: Option<Numbers<'_>>,
        noisy: bool,
    ) -> PyResult<Data> {
        let values: Vec<Value> = match (f, log_f) {
            (Some(f), None) => flat(&f).into_iter().map(Value::Linear).collect(),
            (None, Some(log_f)) => flat(&log_f).into_iter().map(Value::Log).collect(),
            _ => return Err(PyTypeError::new_err("Data() takes either f or log_f")),
        };
        let x = points("X", &X)?;
        let made = if noisy {
            warpquad::Data::noisy(x, values)
        } else {
            warpquad::Data::new(x, values)
        };
        let inner = Arc::new(made.map_err(|error| raise(py, &error))?);
        Ok(Data { inner, noisy })
    }

    /// Where it was observed, (n, d).
    #[getter]
    #[allow(non_snake_case)]
    fn X<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        rows(py, self.inner.points())
    }

    /// The observations as f; None if they were given as ln f.
    #[getter]
    fn f<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        let value = |value: &Value| match value {
            Value::Linear(f) => Some(*f),
            Value::Log(_) => None,
        };
        let values: Option<Vec<f64>> = self.inner.values().iter().map(value).collect();
        values.map(|values| vector(py, values))
    }

    /// The observations as ln f; None if they were given as f.
    #[getter]
    fn log_f<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        let value = |value: &Value| match value {
            Value::Log(ln_f) => Some(*ln_f),
            Value::Linear(_) => None,
        };
        let values: Option<Vec<f64>> = self.inner.values().iter().map(value).collect();
        values.map(|values| vector(py, values))
    }

    /// The warp in units of the largest observation, where its range allows a change of units. So g
    /// never sees the scale, and all results come back in the units of f.
    fn warp(&self, py: Python<'_>, warp: WarpLike) -> PyResult<Warp> {
        let scaled = warp.get().and_then(|warp| {
            let ln_scale = if warp.inner.scales() {
                self.inner.ln_scale()
            } else {
                0.0
            };
            warp.scaled(ln_scale)
        });
        scaled.map_err(|error| raise(py, &error))
    }

    /// g = xi^-1(f) of every observation; a zero under a warp that never reaches it gets a floor.
    fn g<'py>(&self, py: Python<'py>, warp: WarpLike) -> PyResult<Vector<'py>> {
        let g = warp
            .get()
            .and_then(|warp| self.inner.g(warp.inner.as_ref()));
        Ok(vector(py, g.map_err(|error| raise(py, &error))?))
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<warpquad.Data of {} observations in {} dimensions>",
            self.inner.len(),
            self.inner.points().dim()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Bound<'py, PyAny>> {
        let keywords = PyDict::new(py);
        keywords.set_item("X", self.X(py)?)?;
        keywords.set_item("f", self.f(py))?;
        keywords.set_item("log_f", self.log_f(py))?;
        keywords.set_item("noisy", self.noisy)?;
        let partial = py.import("functools")?.getattr("partial")?;
        let class = py.get_type::<Data>();
        let make = partial.call((class,), Some(&keywords))?;
        Ok((make, pyo3::types::PyTuple::empty(py).into_any()))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Data>()
}

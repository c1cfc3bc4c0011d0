//! Kernels from Python, by name.

use super::convert::{Numbers, Reduced, Vector, vector};
use crate::error::raise;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use warpquad::kernel::{self as core, RationalQuadratic};

/// A stationary correlation function of the scaled squared distance r^2. Made by `kernel`.
///
/// >>> import warpquad as wq
/// >>> wq.kernel("matern12").correlation([0.0, 4.0]).round(6)
/// array([1.      , 0.135335])
#[pyclass(frozen, from_py_object, module = "warpquad")]
#[derive(Clone)]
pub struct Kernel {
    pub inner: Arc<dyn core::Kernel>,
    shape: Option<f64>,
}

/// A kernel or its name.
#[derive(FromPyObject)]
pub enum KernelLike {
    Kernel(Kernel),
    Name(String),
}

impl KernelLike {
    pub fn get(self) -> warpquad::Result<Kernel> {
        match self {
            KernelLike::Kernel(kernel) => Ok(kernel),
            KernelLike::Name(name) => Kernel::named(&name, None),
        }
    }
}

impl Kernel {
    fn named(name: &str, shape: Option<f64>) -> warpquad::Result<Kernel> {
        let inner = match (name, shape) {
            ("rational-quadratic", Some(shape)) => Arc::new(RationalQuadratic::new(shape)?),
            (_, None) => core::by_name(name)?,
            _ => {
                return Err(warpquad::Error::spec(
                    "shape",
                    format!("the {name} kernel has none"),
                ));
            }
        };
        Ok(Kernel { inner, shape })
    }
}

#[pymethods]
impl Kernel {
    /// The name in the registry.
    #[getter]
    pub fn name(&self) -> &'static str {
        self.inner.name()
    }

    /// rho at each r^2.
    fn correlation<'py>(&self, r2: Numbers<'py>) -> Vector<'py> {
        let rho = r2
            .as_array()
            .iter()
            .map(|&r2| self.inner.correlation(r2))
            .collect();
        vector(r2.py(), rho)
    }

    /// d rho / d(r^2) at each r^2.
    fn derivative<'py>(&self, r2: Numbers<'py>) -> Vector<'py> {
        let slope = r2
            .as_array()
            .iter()
            .map(|&r2| self.inner.derivative(r2))
            .collect();
        vector(r2.py(), slope)
    }

    fn __repr__(&self) -> String {
        format!("<warpquad.Kernel {}>", self.inner.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (&'static str, Option<f64>)> {
        Ok((
            py.import("warpquad._core")?.getattr("kernel")?,
            (self.name(), self.shape),
        ))
    }
}

/// The kernel of that name (see `kernels`); `shape` is the rational quadratic's.
///
/// >>> import warpquad as wq
/// >>> wq.kernel("rational-quadratic", shape=2.0)
/// <warpquad.Kernel rational-quadratic>
#[pyfunction]
#[pyo3(signature = (name, shape = None))]
fn kernel(py: Python<'_>, name: &str, shape: Option<f64>) -> PyResult<Kernel> {
    Kernel::named(name, shape).map_err(|error| raise(py, &error))
}

/// The kernels there are, each with what it is for.
///
/// >>> import warpquad as wq
/// >>> sorted(wq.kernels())
/// ['matern12', 'matern32', 'matern52', 'rational-quadratic', 'squared-exponential']
#[pyfunction]
fn kernels(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for entry in core::REGISTRY {
        out.set_item(entry.name, entry.summary)?;
    }
    Ok(out)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Kernel>()?;
    module.add_function(wrap_pyfunction!(kernel, module)?)?;
    module.add_function(wrap_pyfunction!(kernels, module)?)
}

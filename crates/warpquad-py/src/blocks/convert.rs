//! Turn numpy arrays into the core's points, vectors and matrices, and back.

use crate::error::raise;
use numpy::npyffi::NPY_ORDER;
use numpy::{
    AllowTypeChange, PyArray1, PyArray2, PyArrayLikeDyn, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpquad::Points;
use warpquad::numeric::linalg::Mat;

/// Anything numpy can make an array of numbers of.
pub type Numbers<'py> = PyArrayLikeDyn<'py, f64, AllowTypeChange>;

/// A one-dimensional array.
pub type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// A two-dimensional array.
pub type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// What a pickle keeps: a function and what it is given again.
pub type Reduced<'py, T> = PyResult<(Bound<'py, PyAny>, T)>;

/// All numbers, row after row.
pub fn flat(x: &Numbers<'_>) -> Vec<f64> {
    x.as_array().iter().copied().collect()
}

/// Points from an (n, d) array; an (n,) array is n points on the line.
pub fn points(name: &str, x: &Numbers<'_>) -> PyResult<Points> {
    let dim = match x.shape() {
        [_] => 1,
        [_, dim] => *dim,
        shape => {
            let text = format!("{name} must have shape (n, d), or (n,) on the line, got {shape:?}");
            return Err(PyValueError::new_err(text));
        }
    };
    Points::new(dim, flat(x)).map_err(|error| raise(x.py(), &error))
}

/// A one-dimensional array.
pub fn vector(py: Python<'_>, values: Vec<f64>) -> Vector<'_> {
    PyArray1::from_vec(py, values)
}

/// Points as an (n, d) array.
pub fn rows<'py>(py: Python<'py>, points: &Points) -> PyResult<Matrix<'py>> {
    vector(py, points.as_slice().to_vec()).reshape([points.len(), points.dim()])
}

/// A matrix, in the column order it is stored in.
pub fn matrix(py: Python<'_>, mat: Mat) -> PyResult<Matrix<'_>> {
    let shape = [mat.rows(), mat.cols()];
    vector(py, mat.as_slice().to_vec()).reshape_with_order(shape, NPY_ORDER::NPY_FORTRANORDER)
}

//! The library's parts, one by one: enough to write the five steps in Python.

mod belief;
mod convert;
mod data;
mod fit;
mod functional;
mod gp;
mod kernel;
mod law;
mod measure;
mod regression;
mod warp;

use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    warp::register(module)?;
    kernel::register(module)?;
    measure::register(module)?;
    data::register(module)?;
    belief::register(module)?;
    gp::register(module)?;
    fit::register(module)?;
    functional::register(module)?;
    law::register(module)?;
    regression::register(module)
}

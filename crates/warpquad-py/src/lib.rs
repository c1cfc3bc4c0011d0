//! Bind the core to Python: conversions and nothing else; the package's logic is in
//! `python/warpquad`.

mod blocks;
mod error;
mod page;
mod priors;
mod report;
mod session;
mod snapshot;
mod taken;

use pyo3::prelude::*;

/// The compiled part of warpquad.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    blocks::register(module)?;
    page::register(module)?;
    priors::register(module)?;
    report::register(module)?;
    session::register(module)?;
    snapshot::register(module)?;
    taken::register(module)
}

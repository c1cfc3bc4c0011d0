//! Hand the page of a run to Python: what it shows as JSON, and the page from that.

use crate::error::detached;
use pyo3::prelude::*;
use warpquad::session::Session;
use warpquad::session::spec::Problem;
use warpquad::{Error, Result};
use warpquad_report::Findings;

/// What a page shows of the run that these lines of a journal tell of, as JSON; under the prior of
/// another problem, if one is given.
#[pyfunction]
#[pyo3(signature = (lines, stop, prior=None))]
fn findings(py: Python<'_>, lines: &str, stop: &str, prior: Option<&str>) -> PyResult<String> {
    detached(py, || {
        let mut session = Session::from_lines(lines)?;
        if let Some(prior) = prior {
            session = session.under(Problem::parse_prior(prior)?)?;
        }
        let found = Findings::of(&mut session, stop)?;
        serde_json::to_string(&found).map_err(wrong)
    })
}

/// The page of what `findings` gave; its corner plot shows the named parameters, or all.
#[pyfunction]
fn page(
    py: Python<'_>,
    findings: &str,
    title: &str,
    parameters: Option<Vec<String>>,
) -> PyResult<String> {
    detached(py, || -> Result<String> {
        let found: Findings = serde_json::from_str(findings).map_err(wrong)?;
        warpquad_report::page(&found, title, parameters.as_deref())
    })
}

fn wrong(error: serde_json::Error) -> Error {
    Error::spec("findings", error.to_string())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(findings, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)
}

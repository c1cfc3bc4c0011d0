//! Choose the parameters that a figure shows.

use super::{MOST, column};
use crate::findings::Findings;
use warpquad::{Error, Result};

/// The places of the named parameters, or of all; of more than [`MOST`], those that the posterior
/// narrowed most. Always in the parameters' own order.
pub fn chosen(found: &Findings, names: Option<&[String]>) -> Result<Vec<usize>> {
    let Some(names) = names else {
        let mut all: Vec<usize> = (0..found.dim()).collect();
        if all.len() > MOST {
            let shrunk =
                |k: usize| spread(&column(&found.draws, k)) / spread(&column(&found.prior, k));
            let keys: Vec<f64> = all.iter().map(|&k| shrunk(k)).collect();
            all.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
            all.truncate(MOST);
            all.sort_unstable();
        }
        return Ok(all);
    };
    let mut out = Vec::new();
    for name in names {
        let place = found.names.iter().position(|own| own == name);
        let unknown = || {
            let known = found.names.join(", ");
            Error::spec(
                "parameters",
                format!("there is no '{name}'; the run has {known}"),
            )
        };
        out.push(place.ok_or_else(unknown)?);
    }
    out.sort_unstable();
    out.dedup();
    match out.is_empty() {
        true => Err(Error::spec("parameters", "name one at least")),
        false => Ok(out),
    }
}

fn spread(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    crate::axis::quantile(&sorted, 0.84) - crate::axis::quantile(&sorted, 0.16)
}

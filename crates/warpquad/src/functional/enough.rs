//! Take nodes until their error is well below what the belief does not know.

use super::{Estimate, Functional, Nodes, closed_form};
use crate::belief::Belief;
use crate::error::Result;
use crate::measure::Measure;

/// The error of the nodes is at most this part of the belief's sd ...
const PART_OF_SD: f64 = 0.25;

/// ... or this part of Z: below it no one asks which error it is.
const SMALL_PART_OF_Z: f64 = 1e-3;

/// Nodes whose error is small, and what the belief says of Z on them; by closed form where there
/// is one.
pub(crate) fn enough_nodes(
    belief: &dyn Belief,
    measure: &dyn Measure,
    n: usize,
    seed: u64,
) -> Result<(Nodes, Estimate)> {
    let (mut nodes, mut mean) = best_nodes(belief, measure, n, seed)?;
    let whole = match closed_form::integral(belief, measure) {
        Some(_) => Functional::integral(measure, n).apply(belief)?,
        None => Functional::on(measure, nodes.clone()).apply(belief)?,
    };
    if whole.closed_form {
        return Ok((nodes, whole));
    }
    for factor in [2, 4, 8] {
        if mean.relative_node_error() <= (PART_OF_SD * whole.relative_sd()).max(SMALL_PART_OF_Z) {
            break;
        }
        (nodes, mean) = best_nodes(belief, measure, factor * n, seed)?;
    }
    let unit = (whole.ln_unit - mean.ln_unit).exp();
    let var = whole.var * unit * unit;
    Ok((nodes, Estimate { var, ..mean }))
}

/// The rule with the smaller error, and the mean of Z on it: nodes that follow the belief, or
/// plain Sobol' nodes where these agree and do better, as they do for a smooth f.
fn best_nodes(
    belief: &dyn Belief,
    measure: &dyn Measure,
    n: usize,
    seed: u64,
) -> Result<(Nodes, Estimate)> {
    let on = |nodes: &Nodes| Functional::on(measure, nodes.clone()).apply_mean(belief);
    let followed = Nodes::importance(measure, belief, n, seed)?;
    let plain = Nodes::sobol(measure, n, seed)?;
    let (by_followed, by_plain) = (on(&followed)?, on(&plain)?);
    // Plain nodes that all miss a peak agree among themselves, so they must agree with the others.
    let unit = (by_plain.ln_unit - by_followed.ln_unit).exp();
    let gap = (by_plain.mean * unit - by_followed.mean).abs();
    let agree = gap <= 4.0 * by_followed.node_error.hypot(by_plain.node_error * unit);
    let better = by_plain.relative_node_error() < by_followed.relative_node_error();
    Ok(match agree && better {
        true => (plain, by_plain),
        false => (followed, by_followed),
    })
}

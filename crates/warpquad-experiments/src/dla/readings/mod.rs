//! What the paper leaves open about its method, as a designed experiment on spectra with one
//! absorber.

mod chart;
pub mod design;
mod effects;
pub mod fits;
pub mod profile;
mod report;
pub mod runs;

use super::subject::subjects;
use crate::{Context, Experiment, Finding};
use design::{allowed, beside, factorial, varied};
use runs::{Runs, few};
use warpquad::Result;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "readings",
    summary: "what the paper leaves open about MMLT: a designed experiment, by evaluations",
    run,
};

fn run(context: &Context<'_>) -> Result<Finding> {
    let all = subjects(context)?;
    let runs = Runs::new(context)?;
    let design = few(&all, context.choose(10, 2));
    let mut cells = factorial();
    cells.extend(varied());
    cells.sort();
    cells.dedup();
    runs.complete(&cells, &design)?;
    let everywhere: Vec<_> = all.iter().collect();
    runs.complete(&[allowed(), beside()].concat(), &everywhere)?;
    report::write(context, &runs, &design, &all)
}

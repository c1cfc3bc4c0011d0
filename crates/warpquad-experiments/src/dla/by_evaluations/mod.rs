//! Figure 4 and tables 3 and 4 by evaluations alone, which no implementation and no machine
//! changes.

mod curves;
pub mod population;
mod runs;
mod tables;

use super::race::Limits;
use super::readings::runs::{is_for_tuning, reported_first};
use super::subject::{Truths, subjects};
use crate::{Context, Experiment, Finding};
use runs::{COLUMNS, LOST, complete, finished};
use warpquad::Result;

/// With one absorber.
pub const TWO_DIMENSIONS: Experiment = Experiment {
    name: "evaluations-2d",
    summary: "figure 4 and tables 3 and 4 by evaluations, one absorber",
    run: |context| run(context, 1),
};

/// With three.
pub const SIX_DIMENSIONS: Experiment = Experiment {
    name: "evaluations-6d",
    summary: "the same with three absorbers",
    run: |context| run(context, 3),
};

fn limits(context: &Context<'_>, absorbers: usize) -> Limits {
    Limits {
        seconds: f64::INFINITY,
        evaluations: match absorbers {
            1 => context.choose(100, 60),
            _ => context.choose(150, 60),
        },
        looks: true,
    }
}

fn run(context: &Context<'_>, absorbers: usize) -> Result<Finding> {
    let (subjects, truths) = (subjects(context)?, Truths::new(context)?);
    let limits = limits(context, absorbers);
    let name = format!("evaluations-{}d", 2 * absorbers);
    let settings = format!("{} evaluations", limits.evaluations);
    let kept = context.kept(&name, &settings, &COLUMNS, 2)?;
    // Spectra go one after another, so that a run that was stopped has whole ones.
    let order = reported_first(&subjects);
    for (i, (_, subject)) in order.iter().enumerate() {
        if context.is_over() {
            break;
        }
        complete(&kept, &truths, subject, absorbers, (limits, context.seed))?;
        (context.progress)(&format!("{name}: {} of {} spectra", i + 1, subjects.len()));
    }
    let half = |tuning: bool| {
        let mine = order
            .iter()
            .filter(move |(i, _)| is_for_tuning(*i) == tuning);
        finished(&kept, &truths, mine.map(|(_, s)| s.id.as_str()), absorbers)
    };
    let (odd, even) = (half(false)?, half(true)?);
    let (table, scores) = (tables::table(&odd), tables::scores(&odd));
    let names = order.iter().map(|(_, s)| s.id.as_str());
    let both = tables::table(&finished(&kept, &truths, names, absorbers)?);
    let (curves, figure) = curves::curves(&odd, absorbers);
    let files = vec![
        context.write(&format!("{name}.csv"), &curves.csv())?,
        context.write(&format!("{name}_end.csv"), &table.csv())?,
        context.write(&format!("{name}_all.csv"), &both.csv())?,
        context.write(&format!("{name}_scores.csv"), &scores.csv())?,
        context.write(&format!("{name}.svg"), &figure.svg())?,
    ];
    let paragraph = format!(
        "{} evaluations, seed {}. `mmlt` was chosen on the even-numbered spectra of the table, so \
         the first table is of {} odd-numbered ones. `error` is |ln E[Z] - ln Z*|, `lost` the \
         share above {LOST} nats, `of_median` the median error of the median of ln Z, `covered` \
         how often the truth is within two sd of it. `p_mmlt_closer` is the paper's one-sided \
         paired t-test of the error being larger than that of `mmlt`, and `p_of_ln` the same of ln \
         of the error, which no single run decides:\n\n{}\nThe same of these and {} even-numbered \
         ones:\n\n{}\nTables 3 and 4 on the odd-numbered: medians of ln p(Z* | D) and of the mean \
         ln predictive density, with the share of spectra on which `mmlt` scores higher, and the \
         t-test where both are finite:\n\n{}",
        limits.evaluations,
        context.seed,
        odd[0].1.len(),
        table.markdown(),
        even[0].1.len(),
        both.markdown(),
        scores.markdown(),
    );
    Ok(Finding { paragraph, files })
}

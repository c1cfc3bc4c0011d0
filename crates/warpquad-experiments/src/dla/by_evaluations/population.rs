//! Judge the quadratures on many spectra drawn from the model, as many as the paper's 2000.

use super::runs::{COLUMNS, LOST, METHODS, complete, finished};
use super::tables;
use crate::dla::race::Limits;
use crate::dla::subject::{Maker, Truths};
use crate::table::quantile;
use crate::{Context, Experiment, Finding};
use warpquad::Result;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "drawn-2d",
    summary: "spectra drawn from the model, one absorber, by evaluations",
    run,
};

/// Real and drawn spectra together.
const SPECTRA: usize = 2000;

fn run(context: &Context<'_>) -> Result<Finding> {
    let (maker, truths) = (Maker::new(context)?, Truths::new(context)?);
    let limits = Limits {
        seconds: f64::INFINITY,
        evaluations: context.choose(100, 60),
        looks: false,
    };
    let settings = format!("{} evaluations", limits.evaluations);
    let kept = context.kept("drawn-2d", &settings, &COLUMNS, 2)?;
    let end = context.choose(SPECTRA, maker.real() + 2);
    let end = context.spectra.unwrap_or(end);
    let mut ids = Vec::new();
    for i in maker.real()..end {
        let id = Maker::drawn_id(i);
        let whole = METHODS.map(|m| kept.get(&[id.clone(), m.to_string()]).is_some());
        if whole.contains(&false) {
            if context.is_over() {
                break;
            }
            let subject = maker.subject(i)?;
            complete(&kept, &truths, &subject, 1, (limits, context.seed))?;
            (context.progress)(&format!("drawn-2d: {} of {end} spectra", i + 1));
        }
        ids.push(id);
    }
    let all = finished(&kept, &truths, ids.iter().map(String::as_str), 1)?;
    let (table, scores) = (tables::table(&all), tables::scores(&all));
    let files = vec![
        context.write("drawn-2d.csv", &table.csv())?,
        context.write("drawn-2d_scores.csv", &scores.csv())?,
    ];
    let off = |id: &String| {
        let truth = truths.kept(id, 1)?;
        let off = (truth.first.ln_z - truth.second.ln_z).abs();
        off.is_finite().then_some(off)
    };
    let checked: Vec<f64> = ids.iter().filter_map(off).collect();
    let paragraph = format!(
        "{} spectra with the pixels and the noise of real ones and a flux drawn from the model, \
         half of them with an absorber drawn from the prior; {} evaluations, seed {}. None of them \
         was used to choose a method. Truths are by adaptive cubature, every tenth checked by \
         tempering: {} checks, which differ by {:.3} nats in the median and {:.3} at most. Columns \
         are those of `evaluations-2d`, `lost` above {LOST} nats:\n\n{}\nScores of tables 3 and 4, \
         as medians:\n\n{}",
        ids.len(),
        limits.evaluations,
        context.seed,
        checked.len(),
        quantile(&checked, 0.5),
        quantile(&checked, 1.0),
        table.markdown(),
        scores.markdown(),
    );
    Ok(Finding { paragraph, files })
}

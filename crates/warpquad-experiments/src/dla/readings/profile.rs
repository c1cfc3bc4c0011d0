//! Follow each objective of a fit over the output scale: where it is flat, where it ends, and what
//! ln Z would be.

use super::fits::{DESIGNS, OBSERVATIONS, Seen, measure, observe};
use super::runs::few;
use crate::chart::{Axis, Figure, Mark, Panel, Style};
use crate::dla::subject::{Subject, Truths, subjects};
use crate::dla::truth::Truth;
use crate::table::{Table, digits, quantile};
use crate::{Context, Experiment, Finding};
use warpquad::belief::{Matching, Model};
use warpquad::fit::{Fit, Objective, Parameters, Space};
use warpquad::functional::Nodes;
use warpquad::kernel::Matern32;
use warpquad::measure::Measure;
use warpquad::numeric::optimize::{Options, minimize};
use warpquad::warp::{Affine, Identity, Log, Warp};
use warpquad::{Data, Functional, Process, Result, Theta};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "objective",
    summary: "the objectives of a fit over the output scale: where they are flat, where they end",
    run,
};

/// Output scales, in nats squared.
const SCALES: [f64; 9] = [0.3, 1.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3, 1e4];

/// Floors in nats; beyond the last nothing is told apart by anybody.
const FLOORS: [(&str, f64); 3] = [("none", f64::INFINITY), ("100", 100.0), ("30", 30.0)];

/// The criteria with their names.
const CRITERIA: [(&str, Space); 3] = [("f", Space::F), ("g", Space::G), ("f-loo", Space::FLeftOut)];

/// Nodes of the integral.
const NODES: usize = 4096;

/// What a criterion came to at a scale: its value, and the error of ln Z there.
#[derive(Debug, Clone, Copy)]
struct At {
    value: f64,
    error: f64,
}

fn run(context: &Context<'_>) -> Result<Finding> {
    let all = subjects(context)?;
    let truths = Truths::new(context)?;
    let spectra = few(&all, context.choose(10, 2));
    let mut seen = Vec::new();
    for subject in &spectra {
        seen.push(observe(context, subject, DESIGNS[1].1)?);
    }
    let mut table = Table::new(&[
        "floor",
        "criterion",
        "output scale",
        "below its best",
        "error",
    ]);
    let mut figure = Figure::new("Objectives of a fit over the output scale", 2);
    for (floor, nats) in FLOORS {
        let names = [format!("g floored at {floor}"), "ln Z there".to_string()];
        let y = [Axis::log("nats below its best"), Axis::log("error in nats")];
        let [mut values, mut errors] = [0, 1].map(|i| {
            let x = Axis::log("output scale of g");
            Panel::new(&names[i], x, y[i].clone().range(1e-2, 1e4))
        });
        for (color, (criterion, space)) in CRITERIA.iter().enumerate() {
            let mut lines = Vec::new();
            for (subject, seen) in spectra.iter().zip(&seen) {
                let truth = truths.of(subject, 1)?;
                lines.push(profile(context, subject, &truth, seen, nats, *space)?);
            }
            let medians = medians(&lines);
            for (scale, at) in SCALES.iter().zip(&medians) {
                let cells = [digits(*scale, 2), digits(at.value, 3), digits(at.error, 3)];
                let [scale, value, error] = cells;
                table.push(vec![
                    floor.into(),
                    criterion.to_string(),
                    scale,
                    value,
                    error,
                ]);
            }
            let line = |of: fn(&At) -> f64| Mark::Line {
                points: SCALES
                    .iter()
                    .zip(&medians)
                    .map(|(s, at)| (*s, of(at).clamp(1e-2, 1e4)))
                    .collect(),
                style: Style::color(color).named(&format!("fit: {criterion}")),
            };
            values = values.with(line(|at| at.value));
            errors = errors.with(line(|at| at.error));
            (context.progress)(&format!("objective: floor {floor}, {criterion}"));
        }
        figure = figure.with(values).with(errors);
    }
    let files = vec![
        context.write("objective.csv", &table.csv())?,
        context.write("objective.svg", &figure.svg())?,
    ];
    let paragraph = format!(
        "{} even-numbered spectra with one absorber, {OBSERVATIONS} observations each, chosen by \
         `wsabi-l`. At each output scale of g the mean and the lengths maximise the criterion; \
         shown are medians of how far it is below the best of all scales, in nats, and of the \
         error of ln Z with these hyperparameters. The f-space likelihood holds e^s, which no \
         double has beyond s = 709.\n\n{}",
        spectra.len(),
        table.markdown()
    );
    Ok(Finding { paragraph, files })
}

/// Medians over spectra, of values below the best of each spectrum.
fn medians(lines: &[Vec<At>]) -> Vec<At> {
    let best = |line: &Vec<At>| line.iter().map(|at| at.value).fold(f64::MIN, f64::max);
    let one = |i: usize| {
        let ran = lines.iter().filter(|line| line[i].value.is_finite());
        let below: Vec<f64> = ran.clone().map(|l| best(l) - l[i].value).collect();
        let errors: Vec<f64> = ran.map(|l| l[i].error).collect();
        At {
            value: quantile(&below, 0.5),
            error: quantile(&errors, 0.5),
        }
    };
    (0..SCALES.len()).map(one).collect()
}

fn profile(
    context: &Context<'_>,
    subject: &Subject,
    truth: &Truth,
    seen: &Seen,
    floor: f64,
    space: Space,
) -> Result<Vec<At>> {
    let measure = measure(subject)?;
    let data = Data::new(seen.points.clone(), seen.values.clone())?;
    let data = if floor.is_finite() {
        data.floored(floor)
    } else {
        data
    };
    let warp = data.warp(Log)?;
    let at = |scale: &f64| -> Result<At> {
        let (process, value) = best(&data, &warp, &measure.scale(), space, *scale)?;
        let posterior = process.condition(data.points(), &data.g(&warp)?)?;
        let model = Model::new(warp.clone(), posterior, Matching::Moments);
        let nodes = Nodes::importance(&measure, &model, NODES, context.seed)?;
        let ln_z = Functional::on(&measure, nodes).apply(&model)?.ln_mean();
        let error = match value.is_finite() {
            true => (ln_z - truth.first.ln_z).abs(),
            false => f64::NAN,
        };
        Ok(At { value, error })
    };
    SCALES.iter().map(at).collect()
}

/// The process of that output scale that maximises the criterion, and what it is there.
fn best(
    data: &Data,
    warp: &Affine,
    widths: &[f64],
    space: Space,
    scale: f64,
) -> Result<(Process, f64)> {
    let g = data.g(warp)?;
    let lengths = |part: f64| widths.iter().map(|w| part * w).collect::<Vec<f64>>();
    let process = Process::new(Matern32, Theta::constant(-1.0, scale, lengths(0.25))?);
    let how = Fit {
        space,
        confined: false,
        scales: Some(widths.to_vec()),
        ..Fit::default()
    };
    let parameters = Parameters::new(&process, data.points(), &g, warp, &how)?;
    let mut bounds = parameters.bounds().to_vec();
    bounds[1] = (scale.ln(), scale.ln());
    let identity: &dyn Warp = &Identity;
    let of = if space == Space::G { identity } else { warp };
    let objective = Objective::new(process.kernel().clone(), of, data.points(), &g, &parameters);
    let mut objective = objective.with_space(space);
    let (mut least, mut theta) = (f64::INFINITY, process.theta().clone());
    let sample = g.iter().sum::<f64>() / g.len() as f64;
    for mean in [-1.0, -2.0, -5.0, -10.0, sample] {
        for part in [0.03, 0.1, 0.5] {
            let start = parameters.vector(&Theta::constant(mean, scale, lengths(part))?);
            let options = Options {
                max_evaluations: 150,
                ..Options::default()
            };
            let evaluate = |x: &[f64], slope: &mut [f64]| objective.evaluate(x, slope);
            let end = minimize(evaluate, &start, &bounds, &options);
            if end.value < least {
                (least, theta) = (end.value, parameters.theta(&end.x));
            }
        }
    }
    Ok((process.with_theta(theta), -least))
}

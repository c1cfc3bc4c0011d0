//! Fit the same observations by each objective: what the fit does when it does not choose points.

use super::design::{Cell, FITS, FLOORS, plain};
use super::runs::few;
use crate::dla::likelihood::Workspace;
use crate::dla::prior::prior;
use crate::dla::race::mean_log_density;
use crate::dla::subject::{Subject, Truths, subjects};
use crate::dla::truth::Truth;
use crate::table::{Table, digits, quantile};
use crate::{Context, Experiment, Finding};
use warpquad::belief::MeanFunction;
use warpquad::engine::{Engine, Method};
use warpquad::measure::{Measure, Product};
use warpquad::warp::Range;
use warpquad::{Points, Result, Value};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "fits",
    summary: "the same observations fitted in f-space, in g-space and by left-out densities",
    run,
};

/// Observations of a design.
pub(super) const OBSERVATIONS: usize = 60;

/// Where the observations are: a Sobol' sequence through the prior, or what `wsabi-l` chose, which
/// is none of the readings compared.
pub(super) const DESIGNS: [(&str, &str); 2] =
    [("sobol", "quasi-random"), ("chosen", "uncertainty-prior")];

/// How near to a limit is on it, in the numbers that the optimiser moves.
const ON: f64 = 1e-6;

/// A fit and what followed from it.
#[derive(Debug, Clone, Copy)]
struct Fitted {
    error: f64,
    ln_p: f64,
    mll: f64,
    /// The mean of g below the largest observation.
    mean: f64,
    /// The variance of g.
    scale: f64,
    /// The length scale in redshift, in units of the prior's range.
    length: f64,
}

fn run(context: &Context<'_>) -> Result<Finding> {
    let all = subjects(context)?;
    let truths = Truths::new(context)?;
    let spectra = few(&all, context.choose(27, 2));
    let mut table = Table::new(&[
        "points",
        "floor",
        "fit",
        "median_error",
        "log_p",
        "mll",
        "mean",
        "output_scale",
        "length",
        "mean_on_limit",
        "scale_on_limit",
    ]);
    for (design, acquisition) in DESIGNS {
        let seen: Vec<Seen> = spectra
            .iter()
            .map(|subject| observe(context, subject, acquisition))
            .collect::<Result<_>>()?;
        for floor in FLOORS {
            for fit in FITS {
                let cell = plain([floor, fit, "uncertainty", "8"]);
                let mut fits = Vec::new();
                for (subject, seen) in spectra.iter().zip(&seen) {
                    fits.push(fit_one(
                        context,
                        subject,
                        &truths.of(subject, 1)?,
                        seen,
                        &cell,
                    )?);
                }
                table.push(row(design, &cell, &fits));
                (context.progress)(&format!("fits: {design} {floor} {fit}"));
            }
        }
    }
    let files = vec![context.write("fits.csv", &table.csv())?];
    let paragraph = format!(
        "{} even-numbered spectra with one absorber, {OBSERVATIONS} observations each: a Sobol' \
         sequence through the prior, or the points that `wsabi-l` chose. All fits see the same \
         observations, so nothing but the fit differs. `mean` (of g, below its largest value), \
         `output_scale` (its variance) and `length` (in redshift, in ranges of the prior) are \
         medians of what was learnt; the last two columns are the shares of fits that ended on the \
         limits of a fit in f-space, a mean of -10 and an output scale of 5.\n\n{}",
        spectra.len(),
        table.markdown()
    );
    Ok(Finding { paragraph, files })
}

/// Observations of a spectrum.
pub(super) struct Seen {
    pub points: Points,
    pub values: Vec<Value>,
}

pub(super) fn observe(context: &Context<'_>, subject: &Subject, acquisition: &str) -> Result<Seen> {
    let method = Method {
        acquisition: acquisition.into(),
        ..Method::by_name("wsabi-l")?
    };
    let measure = measure(subject)?;
    let mut engine = Engine::new(method, Range::POSITIVE, &measure, context.seed)?;
    let none = Points::empty(measure.dim())?;
    let mut work = Workspace::default();
    for _ in 0..OBSERVATIONS {
        let x = engine.ask(&none, &none)?;
        let value = Value::Log(subject.likelihood.ln_at(&x, &mut work)?);
        engine.tell(&x, value)?;
    }
    let (points, values) = engine.observations();
    Ok(Seen {
        points: points.clone(),
        values: values.to_vec(),
    })
}

pub(super) fn measure(subject: &Subject) -> Result<Product> {
    prior(subject.likelihood.z_range(), 1)
}

fn fit_one(
    context: &Context<'_>,
    subject: &Subject,
    truth: &Truth,
    seen: &Seen,
    cell: &Cell,
) -> Result<Fitted> {
    let (measure, range) = (measure(subject)?, subject.likelihood.z_range());
    let mut engine = Engine::new(cell.method()?, Range::POSITIVE, &measure, context.seed)?;
    for (x, value) in seen.points.iter().zip(&seen.values) {
        engine.tell(x, *value)?;
    }
    let (ln_z, mut work) = (truth.first.ln_z, Workspace::default());
    let (error, ln_p) = match engine.outcome() {
        Ok(outcome) => {
            let off = (outcome.estimate.ln_mean() - ln_z).abs();
            let ln_p = outcome.estimate.ln_density_relative(ln_z) + truth.ln_peak - ln_z;
            (off, ln_p)
        }
        Err(_) => (f64::INFINITY, f64::NEG_INFINITY),
    };
    let likelihood = &subject.likelihood;
    let mll = mean_log_density(&mut engine, likelihood, &measure, truth, &mut work);
    let mut fitted = Fitted {
        error,
        ln_p,
        mll: mll.unwrap_or(f64::NEG_INFINITY),
        mean: f64::NAN,
        scale: f64::NAN,
        length: f64::NAN,
    };
    if let Ok(Some(model)) = engine.model() {
        let theta = model.theta();
        if let MeanFunction::Constant(mean) = theta.mean {
            fitted.mean = mean;
        }
        fitted.scale = theta.output_scale;
        fitted.length = theta.length_scales[0] / (range.1 - range.0);
    }
    Ok(fitted)
}

fn row(design: &str, cell: &Cell, fits: &[Fitted]) -> Vec<String> {
    let median = |of: fn(&Fitted) -> f64| {
        let low = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
        let all: Vec<f64> = fits.iter().map(|fit| low(of(fit))).collect();
        digits(quantile(&all, 0.5), 3)
    };
    let share = |of: fn(&Fitted) -> bool| {
        let count = fits.iter().filter(|fit| of(fit)).count();
        digits(count as f64 / fits.len() as f64, 2)
    };
    vec![
        design.to_string(),
        cell.floor.to_string(),
        cell.fit.to_string(),
        median(|fit| {
            if fit.error.is_nan() {
                f64::INFINITY
            } else {
                fit.error
            }
        }),
        median(|fit| fit.ln_p),
        median(|fit| fit.mll),
        median(|fit| fit.mean),
        median(|fit| fit.scale),
        median(|fit| fit.length),
        share(|fit| (fit.mean + 10.0).abs() < ON),
        share(|fit| (fit.scale.ln() - 5.0_f64.ln()).abs() < ON),
    ]
}

//! Run readings of the paper's method on spectra with one absorber, by evaluations.

use super::design::Cell;
use crate::dla::race::{Limits, race_of};
use crate::dla::subject::{Subject, Truths};
use crate::{Context, Kept};
use warpquad::{Error, Result};

/// Evaluations of a run.
pub const EVALUATIONS: usize = 100;

const COLUMNS: [&str; 13] = [
    "floor",
    "fit",
    "acquisition",
    "first",
    "variation",
    "id",
    "error",
    "log_sd",
    "log_p",
    "mll",
    "cpu",
    "evaluations",
    "failure",
];

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// |ln Z - ln Z*| by the mean of Z; infinite if nothing was said.
    pub error: f64,
    /// The sd of ln Z.
    pub ln_sd: f64,
    /// ln p(Z* | D), as in table 3.
    pub ln_p: f64,
    /// Mean ln predictive density of f at prior points, as in table 4.
    pub mll: f64,
    /// Seconds of CPU.
    pub cpu: f64,
}

/// Whether a spectrum, by its place in the table, is one to choose a reading by; the others are
/// for reporting on it.
pub fn is_for_tuning(place: usize) -> bool {
    place.is_multiple_of(2)
}

/// The spectra with their places: those to report on, then those to choose by.
pub fn reported_first(subjects: &[Subject]) -> Vec<(usize, &Subject)> {
    let mut out: Vec<(usize, &Subject)> = subjects.iter().enumerate().collect();
    out.sort_by_key(|(place, _)| (is_for_tuning(*place), *place));
    out
}

/// Some of the spectra to tune on, spread over the table.
pub fn few(subjects: &[Subject], count: usize) -> Vec<&Subject> {
    let all = subjects.iter().enumerate();
    let half: Vec<&Subject> = all
        .filter(|(place, _)| is_for_tuning(*place))
        .map(|(_, subject)| subject)
        .collect();
    let count = count.min(half.len());
    (0..count).map(|k| half[k * half.len() / count]).collect()
}

/// Finished runs of readings.
pub struct Runs<'a> {
    context: &'a Context<'a>,
    kept: Kept,
    truths: Truths,
}

impl<'a> Runs<'a> {
    /// Begin, or go on.
    pub fn new(context: &'a Context<'a>) -> Result<Runs<'a>> {
        let settings = format!("{EVALUATIONS} evaluations");
        Ok(Runs {
            context,
            kept: context.kept("readings", &settings, &COLUMNS, 6)?,
            truths: Truths::new(context)?,
        })
    }

    /// Make the runs that are missing.
    pub fn complete(&self, cells: &[Cell], subjects: &[&Subject]) -> Result<()> {
        let all = cells.len() * subjects.len();
        for (i, subject) in subjects.iter().enumerate() {
            let truth = self.truths.of(subject, 1)?;
            for (j, cell) in cells.iter().enumerate() {
                if self.kept.get(&key(cell, &subject.id)).is_some() {
                    continue;
                }
                let limits = Limits {
                    seconds: f64::INFINITY,
                    evaluations: EVALUATIONS,
                    looks: false,
                };
                let (likelihood, seed) = (&subject.likelihood, self.context.seed);
                let course = race_of(likelihood, 1, cell.method()?, &truth, limits, seed)?;
                let last = course.moments.last();
                let number = |x: f64| format!("{x:.6e}");
                let of_last = |f: fn(&crate::dla::race::Moment) -> f64| last.map_or(f64::NAN, f);
                let off = (of_last(|m| m.ln_mean) - truth.first.ln_z).abs();
                let found = [
                    number(if off.is_nan() { f64::INFINITY } else { off }),
                    number(of_last(|m| m.ln_sd)),
                    number(course.ln_p),
                    number(course.mll),
                    format!("{:.2}", of_last(|m| m.cpu)),
                    last.map_or(0, |m| m.evaluations).to_string(),
                    course.failure.replace([',', '\n'], ";"),
                ];
                self.kept.add(&key(cell, &subject.id), &found)?;
                let done = i * cells.len() + j + 1;
                let progress = self.context.progress;
                progress(&format!("readings: {done} of {all} runs"));
            }
        }
        Ok(())
    }

    /// A finished run.
    pub fn get(&self, cell: &Cell, subject: &Subject) -> Result<Run> {
        let cells = self.kept.get(&key(cell, &subject.id)).unwrap_or_default();
        let number = |i: usize| cells.get(i).and_then(|text| text.parse::<f64>().ok());
        let run = || {
            Some(Run {
                error: number(0)?,
                ln_sd: number(1)?,
                ln_p: number(2)?,
                mll: number(3)?,
                cpu: number(4)?,
            })
        };
        let missing = || {
            Error::spec(
                "parts/readings.csv",
                format!("no {cell:?} of {}", subject.id),
            )
        };
        run().ok_or_else(missing)
    }
}

fn key(cell: &Cell, id: &str) -> Vec<String> {
    let mut key = cell.key().to_vec();
    key.push(id.to_string());
    key
}

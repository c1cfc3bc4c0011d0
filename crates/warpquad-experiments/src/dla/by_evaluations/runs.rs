//! Run the quadratures by evaluations alone, and say what a run came to.

use crate::Kept;
use crate::dla::race::{Course, Limits, Moment, race};
use crate::dla::results::{course_cells, read_course};
use crate::dla::subject::{Subject, Truths};
use crate::dla::truth::Truth;
use warpquad::Result;

/// The quadratures of figure 4, the literal MMLT, MMLT by left-out densities and `auto`.
pub const METHODS: [&str; 9] = [
    "bmc",
    "wsabi-m-g",
    "wsabi-m",
    "wsabi-l",
    "mmlt-g",
    "mmlt-literal",
    "mmlt",
    "mmlt f-loo",
    "auto",
];

/// Columns of the finished parts; the first two name one.
pub const COLUMNS: [&str; 7] = [
    "id",
    "method",
    "moments",
    "log_p",
    "log_p_drawn",
    "mll",
    "failure",
];

/// Nobody would keep an answer that is off by so many nats.
pub const LOST: f64 = 5.0;

/// A method on a spectrum.
pub struct Run {
    /// What it said.
    pub course: Course,
    /// What is true.
    pub truth: Truth,
}

impl Run {
    /// |ln Z - ln Z*| at a moment, infinite where nothing was said.
    pub fn error(&self, moment: Option<&Moment>, by: fn(&Moment) -> f64) -> f64 {
        let off = moment.map_or(f64::NAN, |m| (by(m) - self.truth.first.ln_z).abs());
        if off.is_nan() { f64::INFINITY } else { off }
    }

    /// The error of the mean of Z at the end.
    pub fn by_mean(&self) -> f64 {
        self.error(self.course.moments.last(), |m| m.ln_mean)
    }

    /// The same of the median.
    pub fn by_median(&self) -> f64 {
        self.error(self.course.moments.last(), |m| m.ln_median)
    }

    /// Whether the truth is within two sd of the median of ln Z.
    pub fn covers(&self) -> bool {
        let sd = self.course.moments.last().map_or(0.0, |m| m.ln_sd);
        self.by_median() <= 2.0 * sd
    }
}

/// Make the runs of a spectrum that are missing.
pub fn complete(
    kept: &Kept,
    truths: &Truths,
    subject: &Subject,
    absorbers: usize,
    (limits, seed): (Limits, u64),
) -> Result<()> {
    for method in METHODS {
        let key = [subject.id.clone(), method.to_string()];
        if kept.get(&key).is_none() {
            let truth = truths.of(subject, absorbers)?;
            let likelihood = &subject.likelihood;
            let course = race(likelihood, absorbers, method, &truth, limits, seed)?;
            kept.add(&key, &course_cells(&course))?;
        }
    }
    Ok(())
}

/// The finished runs of these spectra, a list a method; a spectrum that is not whole is left out.
pub fn finished<'a>(
    kept: &Kept,
    truths: &Truths,
    ids: impl Iterator<Item = &'a str>,
    absorbers: usize,
) -> Result<Vec<(&'static str, Vec<Run>)>> {
    let mut out: Vec<(&str, Vec<Run>)> = METHODS.map(|method| (method, Vec::new())).into();
    for id in ids {
        let cells = METHODS.map(|method| kept.get(&[id.to_string(), method.to_string()]));
        let Some(truth) = truths.kept(id, absorbers) else {
            continue;
        };
        if cells.iter().any(Option::is_none) {
            continue;
        }
        for ((_, runs), cells) in out.iter_mut().zip(&cells) {
            let course = read_course(cells.as_deref().unwrap_or_default())?;
            runs.push(Run { course, truth });
        }
    }
    Ok(out)
}

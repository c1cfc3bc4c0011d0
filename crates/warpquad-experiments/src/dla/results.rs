//! Figure 4 and tables 3 and 4: every method on every spectrum, once, and what these runs say.

use super::race::{Course, Limits, METHODS, Moment, race};
use super::readings::runs::reported_first;
use super::subject::{Subject, Truths, by_id, subjects};
use super::truth::{ABSORBERS, Truth};
use crate::{Context, Kept};
use warpquad::baseline::is_baseline;
use warpquad::{Error, Result};

/// A finished run with what it is judged by.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The spectrum.
    pub id: String,
    /// How many absorbers.
    pub absorbers: usize,
    /// The method.
    pub method: String,
    /// ln Z as known.
    pub truth: Truth,
    /// What the method said.
    pub course: Course,
}

impl Finished {
    /// |ln Z - ln Z*| at a moment, by the mean of Z; infinite where that is negative.
    pub fn error(&self, moment: &Moment) -> f64 {
        infinite_if_nan((moment.ln_mean - self.truth.first.ln_z).abs())
    }

    /// The same by the median of ln Z.
    pub fn median_error(&self, moment: &Moment) -> f64 {
        infinite_if_nan((moment.ln_median - self.truth.first.ln_z).abs())
    }

    /// What was known at the end.
    pub fn last(&self) -> Option<&Moment> {
        self.course.moments.last()
    }

    /// The error at the end.
    pub fn final_error(&self) -> f64 {
        self.last().map_or(f64::INFINITY, |last| self.error(last))
    }
}

fn infinite_if_nan(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x }
}

/// The limits for so many absorbers: the paper's seconds, of CPU here.
pub fn limits(context: &Context<'_>, absorbers: usize) -> Limits {
    let (full, quick, evaluations) = match absorbers {
        1 => (5.0, 1.0, 300),
        _ => (60.0, 3.0, 500),
    };
    Limits {
        seconds: context.choose(full, quick),
        evaluations: context.choose(evaluations, evaluations / 3),
        looks: true,
    }
}

/// By how much evaluations grow from one kept moment to the next: a third of the distance between
/// two points of figure 4.
const GROWTH: f64 = 1.05;

const COLUMNS: [&str; 8] = [
    "id",
    "absorbers",
    "method",
    "moments",
    "log_p",
    "log_p_drawn",
    "mll",
    "failure",
];

/// All runs of the spectra that are whole, those that are missing made now: with one absorber
/// first, spectrum after spectrum.
///
/// Monte Carlo uses one thread, so its runs go side by side on the threads' own clocks. Quadrature
/// uses several, and goes one run after another on the process's clock.
pub fn finished(context: &Context<'_>) -> Result<Vec<Finished>> {
    let (subjects, truths) = (subjects(context)?, Truths::new(context)?);
    let settings = format!("{:?}", ABSORBERS.map(|k| limits(context, k)));
    let kept = context.kept("dla_courses", &settings, &COLUMNS, 3)?;
    let mut out = Vec::new();
    for k in ABSORBERS {
        for (i, (_, subject)) in reported_first(&subjects).into_iter().enumerate() {
            let parts = METHODS.map(|m| vec![subject.id.clone(), k.to_string(), m.to_string()]);
            if !context.is_over() {
                complete(context, &kept, &subjects, &truths, &parts)?;
                let count = subjects.len();
                (context.progress)(&format!("{}-d: {} of {count} spectra", 2 * k, i + 1));
            }
            if parts.iter().all(|part| kept.get(part).is_some()) {
                let runs = parts.iter();
                let runs = runs.map(|part| read(&kept, &subjects, &truths, part));
                out.extend(runs.collect::<Result<Vec<Finished>>>()?);
            }
        }
    }
    Ok(out)
}

/// Make the runs of a spectrum that are missing.
fn complete(
    context: &Context<'_>,
    kept: &Kept,
    subjects: &[Subject],
    truths: &Truths,
    parts: &[Vec<String>],
) -> Result<()> {
    let work = |part: &[String]| cells_of(context, subjects, truths, part);
    let (single, several): (Vec<_>, Vec<_>) = parts
        .iter()
        .cloned()
        .partition(|part| is_baseline(&part[2]));
    // Before the runs, which would otherwise compute one truth side by side.
    truths.of(
        by_id(subjects, &parts[0][0])?,
        number(&parts[0][1])? as usize,
    )?;
    kept.complete(&single, work, |_, _| {})?;
    for part in several {
        if kept.get(&part).is_none() {
            kept.add(&part, &work(&part)?)?;
        }
    }
    Ok(())
}

fn cells_of(
    context: &Context<'_>,
    subjects: &[Subject],
    truths: &Truths,
    part: &[String],
) -> Result<Vec<String>> {
    let (subject, absorbers) = (by_id(subjects, &part[0])?, number(&part[1])? as usize);
    let truth = truths.of(subject, absorbers)?;
    let mut limits = limits(context, absorbers);
    if is_baseline(&part[2]) {
        // A likelihood is cheap to them: only the clock counts.
        limits.evaluations = usize::MAX;
    }
    let course = race(
        &subject.likelihood,
        absorbers,
        &part[2],
        &truth,
        limits,
        context.seed,
    )?;
    Ok(course_cells(&course))
}

/// A course as cells of a file of parts.
pub(super) fn course_cells(course: &Course) -> Vec<String> {
    let moment = |m: &Moment| {
        format!(
            "{}:{:.3}:{:.3}:{:.5}:{:.5}:{:.3e}",
            m.evaluations, m.cpu, m.wall, m.ln_mean, m.ln_median, m.ln_sd
        )
    };
    let moments: Vec<String> = thinned(&course.moments).map(moment).collect();
    vec![
        moments.join(";"),
        format!("{:.6e}", course.ln_p),
        format!("{:.6e}", course.ln_p_drawn),
        format!("{:.6e}", course.mll),
        course.failure.replace([',', '\n'], ";"),
    ]
}

/// The moments that curves are drawn from: the last one, and before it those with at least
/// [`GROWTH`] times the evaluations of the one kept before. Monte Carlo has a thousand times more.
fn thinned(moments: &[Moment]) -> impl Iterator<Item = &Moment> {
    let last = moments.len().saturating_sub(1);
    let mut next = 0.0;
    moments.iter().enumerate().filter_map(move |(i, moment)| {
        let evaluations = moment.evaluations as f64;
        if evaluations < next && i != last {
            return None;
        }
        next = GROWTH * evaluations;
        Some(moment)
    })
}

fn read(kept: &Kept, subjects: &[Subject], truths: &Truths, part: &[String]) -> Result<Finished> {
    let absorbers = number(&part[1])? as usize;
    Ok(Finished {
        id: part[0].clone(),
        absorbers,
        method: part[2].clone(),
        truth: truths.of(by_id(subjects, &part[0])?, absorbers)?,
        course: read_course(&kept.get(part).unwrap_or_default())?,
    })
}

/// A course from the cells that [`course_cells`] wrote.
pub(super) fn read_course(cells: &[String]) -> Result<Course> {
    let [moments, ln_p, ln_p_drawn, mll, failure] = cells else {
        let reason = format!("a run has no cells but {cells:?}");
        return Err(Error::spec("parts", reason));
    };
    let moment = |text: &str| {
        let numbers: Vec<f64> = text.split(':').map(number).collect::<Result<_>>()?;
        let [evaluations, cpu, wall, ln_mean, ln_median, ln_sd] = numbers[..] else {
            return Err(Error::spec("parts", format!("cannot read {text}")));
        };
        let evaluations = evaluations as usize;
        Ok(Moment {
            evaluations,
            cpu,
            wall,
            ln_mean,
            ln_median,
            ln_sd,
        })
    };
    let moments = moments.split(';').filter(|text| !text.is_empty());
    Ok(Course {
        moments: moments.map(moment).collect::<Result<_>>()?,
        ln_p: number(ln_p)?,
        ln_p_drawn: number(ln_p_drawn)?,
        mll: number(mll)?,
        failure: failure.clone(),
    })
}

fn number(text: &str) -> Result<f64> {
    let wrong = |_| Error::spec("parts", format!("'{text}' is not a number"));
    text.parse().map_err(wrong)
}

/// The runs of one method with so many absorbers, in the spectra's order.
pub fn of<'a>(all: &'a [Finished], absorbers: usize, method: &str) -> Vec<&'a Finished> {
    let wanted = |f: &&Finished| f.absorbers == absorbers && f.method == method;
    all.iter().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_thinned_by_evaluations_and_keeps_its_end() {
        let at = |evaluations| Moment {
            evaluations,
            cpu: 0.0,
            wall: 0.0,
            ln_mean: 0.0,
            ln_median: 0.0,
            ln_sd: 0.0,
        };
        let moments: Vec<Moment> = [16, 32, 33, 34, 100, 101].map(at).to_vec();
        let kept: Vec<usize> = thinned(&moments).map(|m| m.evaluations).collect();
        assert_eq!(kept, [16, 32, 34, 100, 101]);
        assert_eq!(thinned(&[]).count(), 0);
    }
}

//! Figure 4 and tables 3 and 4 by evaluations alone, which no implementation and no machine
//! changes.

use super::race::{Course, Limits, Moment, race};
use super::readings::runs::is_for_tuning;
use super::results::{course_cells, read_course};
use super::subject::{Subject, Truths, subjects};
use super::truth::Truth;
use crate::chart::{Axis, Figure, Mark, Panel, Style};
use crate::t_test::paired;
use crate::table::{Table, digits, quantile};
use crate::{Context, Experiment, Finding};
use warpquad::Result;

/// With one absorber.
pub const TWO_DIMENSIONS: Experiment = Experiment {
    name: "evaluations-2d",
    summary: "figure 4 and tables 3 and 4 by evaluations, one absorber: medians, coverage, disasters",
    run: |context| run(context, 1),
};

/// With three.
pub const SIX_DIMENSIONS: Experiment = Experiment {
    name: "evaluations-6d",
    summary: "the same with three absorbers",
    run: |context| run(context, 3),
};

/// The quadratures of figure 4, the literal MMLT and `auto`.
const METHODS: [&str; 8] = [
    "bmc",
    "wsabi-m-g",
    "wsabi-m",
    "wsabi-l",
    "mmlt-g",
    "mmlt-literal",
    "mmlt",
    "auto",
];

const COLUMNS: [&str; 7] = [
    "id",
    "method",
    "moments",
    "log_p",
    "log_p_drawn",
    "mll",
    "failure",
];

/// Nobody would keep an answer that is off by so many nats.
const LOST: f64 = 5.0;

/// A method on a spectrum.
struct Run {
    course: Course,
    truth: Truth,
}

impl Run {
    fn error(&self, moment: Option<&Moment>, by: fn(&Moment) -> f64) -> f64 {
        let off = moment.map_or(f64::NAN, |m| (by(m) - self.truth.first.ln_z).abs());
        if off.is_nan() { f64::INFINITY } else { off }
    }

    fn by_mean(&self) -> f64 {
        self.error(self.course.moments.last(), |m| m.ln_mean)
    }

    fn by_median(&self) -> f64 {
        self.error(self.course.moments.last(), |m| m.ln_median)
    }

    /// Whether the truth is within two sd of the median of ln Z.
    fn covers(&self) -> bool {
        let sd = self.course.moments.last().map_or(0.0, |m| m.ln_sd);
        self.by_median() <= 2.0 * sd
    }
}

fn limits(context: &Context<'_>, absorbers: usize) -> Limits {
    Limits {
        seconds: f64::INFINITY,
        evaluations: match absorbers {
            1 => context.choose(100, 60),
            _ => context.choose(300, 100),
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
    for (i, subject) in subjects.iter().enumerate() {
        let truth = truths.of(subject, absorbers)?;
        for method in METHODS {
            let key = [subject.id.clone(), method.to_string()];
            if kept.get(&key).is_none() {
                let (likelihood, seed) = (&subject.likelihood, context.seed);
                let course = race(likelihood, absorbers, method, &truth, limits, seed)?;
                kept.add(&key, &course_cells(&course))?;
            }
        }
        (context.progress)(&format!("{name}: {} of {} spectra", i + 1, subjects.len()));
    }
    let all = |method: &str, wanted: &dyn Fn(usize) -> bool| -> Result<Vec<Run>> {
        let places = subjects.iter().enumerate();
        let mine = places.filter(|(place, _)| wanted(*place));
        let one = |(_, subject): (usize, &Subject)| {
            let key = [subject.id.clone(), method.to_string()];
            Ok(Run {
                course: read_course(&kept.get(&key).unwrap_or_default())?,
                truth: truths.of(subject, absorbers)?,
            })
        };
        mine.map(one).collect()
    };
    let mut odd = Vec::new();
    let mut ends = Vec::new();
    for method in METHODS {
        odd.push((method, all(method, &|place| !is_for_tuning(place))?));
        let errors: Vec<f64> = all(method, &|_| true)?.iter().map(Run::by_mean).collect();
        ends.push(quantile(&errors, 0.5));
    }
    let (table, scores) = (table(&odd, &ends), scores(&odd));
    let (curves, figure) = curves(&odd, absorbers);
    let files = vec![
        context.write(&format!("{name}.csv"), &curves.csv())?,
        context.write(&format!("{name}_end.csv"), &table.csv())?,
        context.write(&format!("{name}_scores.csv"), &scores.csv())?,
        context.write(&format!("{name}.svg"), &figure.svg())?,
    ];
    let paragraph = format!(
        "{} spectra, {} evaluations, seed {}. `mmlt` was chosen on the even-numbered spectra, so \
         everything but `median_of_all` is of the {} odd-numbered ones. `error` is |ln E[Z] - ln \
         Z*|, `lost` the share above {LOST} nats, `of_median` the median error of the median of ln \
         Z, `covered` how often the truth is within two sd of it. `p_mmlt_closer` is the paper's \
         one-sided paired t-test of the error being larger than that of `mmlt`, and `p_of_ln` the \
         same of ln of the error, which no single run decides:\n\n{}\nTables 3 and 4 on the same \
         runs: medians of ln p(Z* | D) and of the mean ln predictive density, with the share of \
         spectra on which `mmlt` scores higher, and the t-test where both are finite:\n\n{}",
        subjects.len(),
        limits.evaluations,
        context.seed,
        odd[0].1.len(),
        table.markdown(),
        scores.markdown(),
    );
    Ok(Finding { paragraph, files })
}

fn table(odd: &[(&str, Vec<Run>)], ends: &[f64]) -> Table {
    let mut table = Table::new(&[
        "method",
        "median_error",
        "error_90",
        "lost",
        "of_median",
        "covered",
        "p_mmlt_closer",
        "p_of_ln",
        "median_of_all",
        "failures",
    ]);
    let ours = column(odd, "mmlt", Run::by_mean);
    for ((method, runs), end) in odd.iter().zip(ends) {
        let errors: Vec<f64> = runs.iter().map(Run::by_mean).collect();
        let by_median: Vec<f64> = runs.iter().map(Run::by_median).collect();
        let share = |of: &dyn Fn(&Run) -> bool| {
            let count = runs.iter().filter(|run| of(run)).count();
            digits(count as f64 / runs.len() as f64, 2)
        };
        let ln = |all: &[f64]| -> Vec<f64> { all.iter().map(|x| x.max(1e-4).ln()).collect() };
        let p = |theirs: &[f64], ours: &[f64]| match *method {
            "mmlt" => String::new(),
            _ => p(theirs, ours),
        };
        table.push(vec![
            method.to_string(),
            digits(quantile(&errors, 0.5), 3),
            digits(quantile(&errors, 0.9), 3),
            share(&|run| run.by_mean() > LOST),
            digits(quantile(&by_median, 0.5), 3),
            share(&|run| run.covers()),
            p(&errors, &ours),
            p(&ln(&errors), &ln(&ours)),
            digits(*end, 3),
            runs.iter()
                .filter(|run| !run.course.failure.is_empty())
                .count()
                .to_string(),
        ]);
    }
    table
}

fn column(odd: &[(&str, Vec<Run>)], method: &str, of: impl Fn(&Run) -> f64) -> Vec<f64> {
    let runs = odd.iter().find(|(name, _)| *name == method);
    runs.map_or(Vec::new(), |(_, runs)| runs.iter().map(of).collect())
}

/// The one-sided p of the first being larger, over the pairs in which both are finite.
fn p(larger: &[f64], smaller: &[f64]) -> String {
    let pairs = larger.iter().copied().zip(smaller.iter().copied());
    let finite = pairs.filter(|(a, b)| a.is_finite() && b.is_finite());
    let (a, b): (Vec<f64>, Vec<f64>) = finite.unzip();
    digits(paired(&a, &b).p, 2)
}

fn scores(odd: &[(&str, Vec<Run>)]) -> Table {
    let mut table = Table::new(&[
        "method",
        "log_p",
        "mmlt_higher",
        "p",
        "mll",
        "mmlt_higher_mll",
        "p_mll",
    ]);
    for (method, _) in odd {
        let mut line = vec![method.to_string()];
        let of: [fn(&Run) -> f64; 2] = [|run| run.course.ln_p, |run| run.course.mll];
        for of in of {
            let low = |run: &Run| match of(run) {
                x if x.is_nan() => f64::NEG_INFINITY,
                x => x,
            };
            let (theirs, ours) = (column(odd, method, low), column(odd, "mmlt", low));
            let higher = theirs.iter().zip(&ours).filter(|(a, b)| b > a).count();
            line.push(digits(quantile(&theirs, 0.5), 3));
            if *method == "mmlt" {
                line.extend([String::new(), String::new()]);
            } else {
                line.push(digits(higher as f64 / ours.len() as f64, 2));
                line.push(p(&ours, &theirs));
            }
        }
        table.push(line);
    }
    table
}

/// Medians of the error of what was last known, and their picture.
fn curves(odd: &[(&str, Vec<Run>)], absorbers: usize) -> (Table, Figure) {
    let mut table = Table::new(&["method", "evaluations", "median_error", "of_median"]);
    let title = format!("{}-d: median error of the log evidence", 2 * absorbers);
    let mut panel = Panel::new(&title, Axis::log("evaluations"), Axis::log("nats"));
    for (color, (method, runs)) in odd.iter().enumerate() {
        let mut looks: Vec<usize> = runs
            .iter()
            .flat_map(|run| run.course.moments.iter().map(|m| m.evaluations))
            .collect();
        looks.sort_unstable();
        looks.dedup();
        let mut points = Vec::new();
        for look in looks {
            let median = |by: fn(&Moment) -> f64| {
                let known = |run: &Run| {
                    let moments = run.course.moments.iter();
                    run.error(moments.take_while(|m| m.evaluations <= look).last(), by)
                };
                quantile(&runs.iter().map(known).collect::<Vec<f64>>(), 0.5)
            };
            let (by_mean, by_median) = (median(|m| m.ln_mean), median(|m| m.ln_median));
            table.push(vec![
                method.to_string(),
                look.to_string(),
                digits(by_mean, 4),
                digits(by_median, 4),
            ]);
            if by_mean.is_finite() {
                points.push((look as f64, by_mean.clamp(1e-3, 1e5)));
            }
        }
        let style = Style::color(color).named(method);
        panel = panel.with(Mark::Line { points, style });
    }
    let figure = Figure::new("Errors by evaluations, up to 100 000 nats", 1);
    (table, figure.sized(560.0, 380.0).with(panel))
}

//! Lay out what the runs came to: errors and coverage, and the scores of tables 3 and 4.

use super::runs::{LOST, Run};
use crate::t_test::paired;
use crate::table::{Table, digits, quantile};

/// How far off each method was at the end.
pub fn table(odd: &[(&str, Vec<Run>)]) -> Table {
    let mut table = Table::new(&[
        "method",
        "spectra",
        "median_error",
        "error_90",
        "lost",
        "of_median",
        "covered",
        "p_mmlt_closer",
        "p_of_ln",
        "failures",
    ]);
    let ours = column(odd, "mmlt", Run::by_mean);
    for (method, runs) in odd {
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
            runs.len().to_string(),
            digits(quantile(&errors, 0.5), 3),
            digits(quantile(&errors, 0.9), 3),
            share(&|run| run.by_mean() > LOST),
            digits(quantile(&by_median, 0.5), 3),
            share(&|run| run.covers()),
            p(&errors, &ours),
            p(&ln(&errors), &ln(&ours)),
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

/// Medians of the scores of tables 3 and 4.
pub fn scores(odd: &[(&str, Vec<Run>)]) -> Table {
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

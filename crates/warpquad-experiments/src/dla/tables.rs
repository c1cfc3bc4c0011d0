//! Tables 3 and 4: how probable each method held the truth, and the integrand, at the end.

use super::race::{FLOOR, METHODS};
use super::results::{Finished, finished, of};
use super::truth::ABSORBERS;
use crate::t_test::paired;
use crate::table::{Table, digits, mean, quantile};
use crate::{Context, Experiment, Finding};
use warpquad::Result;

/// Table 3.
pub const TABLE_3: Experiment = Experiment {
    name: "table3",
    summary: "log density of the true evidence under each method's belief at the end",
    run: |context| score(context, "table3", &LN_P),
};

/// Table 4.
pub const TABLE_4: Experiment = Experiment {
    name: "table4",
    summary: "mean log predictive density of the integrand under each method's belief at the end",
    run: |context| score(context, "table4", &MLL),
};

/// One of the two scores.
struct Score {
    of: fn(&Finished) -> f64,
    /// A second score to show beside it.
    beside: Option<fn(&Finished) -> f64>,
    /// The paper's means: method, 2-d, 6-d.
    paper: [(&'static str, f64, f64); 5],
    what: &'static str,
}

const LN_P: Score = Score {
    of: |run| run.course.ln_p,
    beside: Some(|run| run.course.ln_p_drawn),
    paper: [
        ("bmc", -0.79, 1.93),
        ("wsabi-m-g", 3.67, 3.40),
        ("wsabi-m", 3.89, 3.43),
        ("mmlt-g", -266.0, -505.0),
        ("mmlt", 10.3, 7.57),
    ],
    what: "ln p(Z* | D) under the normal law of Z. A density has a unit: ours is the largest f met \
           while the truth was computed, one for all methods on a spectrum. The paper names none, \
        but its values mean one of this kind: a belief right to 10 % of a Z that is e^-8 of the \
        peak scores 9.4. Since a few overconfident runs \
        decide a mean, the median stands beside it, and, as `median_drawn`, the median of ln p(ln \
        Z* | D) under the drawn law's median and sd of ln Z",
};

const MLL: Score = Score {
    of: |run| run.course.mll,
    beside: None,
    paper: [
        ("bmc", -1.66, 0.33),
        ("wsabi-m-g", 1.51, 1.26),
        ("wsabi-m", 1.59, 1.51),
        ("mmlt-g", -3.87, -7.28),
        ("mmlt", 1.68, 1.65),
    ],
    what: "the mean over 512 prior points of ln N(f; m, K), f in units of its peak",
};

fn score(context: &Context<'_>, name: &str, score: &Score) -> Result<Finding> {
    let all = finished(context)?;
    let mut table = Table::new(&[
        "absorbers",
        "method",
        "paper",
        "mean",
        "median",
        "not_finite",
        "p_mmlt_larger",
        "median_drawn",
    ]);
    for (i, k) in ABSORBERS.into_iter().enumerate() {
        let mmlt = of(&all, k, "mmlt");
        for method in METHODS {
            let runs = of(&all, k, method);
            let values: Vec<f64> = runs.iter().map(|run| (score.of)(run)).collect();
            if values.iter().all(|x| x.is_nan()) {
                continue;
            }
            let finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
            let ordered: Vec<f64> = values
                .iter()
                .map(|x| if x.is_nan() { f64::NEG_INFINITY } else { *x })
                .collect();
            let pairs: (Vec<f64>, Vec<f64>) = mmlt
                .iter()
                .map(|run| (score.of)(run))
                .zip(values.iter().copied())
                .filter(|(a, b)| a.is_finite() && b.is_finite())
                .unzip();
            let paper = score.paper.iter().find(|row| row.0 == method);
            let paper = paper.map_or(String::new(), |row| digits([row.1, row.2][i], 3));
            let beside = score.beside.map_or(String::new(), |beside| {
                let values: Vec<f64> = runs.iter().map(|run| beside(run)).collect();
                digits(quantile(&values, 0.5), 3)
            });
            table.push(vec![
                k.to_string(),
                method.to_string(),
                paper,
                digits(mean(&finite), 3),
                digits(quantile(&ordered, 0.5), 3),
                (values.len() - finite.len()).to_string(),
                if method == "mmlt" {
                    String::new()
                } else {
                    digits(paired(&pairs.0, &pairs.1).p, 2)
                },
                beside,
            ]);
        }
    }
    let files = vec![context.write(&format!("{name}.csv"), &table.csv())?];
    let floor = match score.beside {
        None => format!(
            " and the sd at least {FLOOR}, which caps the score at {:.2}",
            -(FLOOR * 2.5066).ln()
        ),
        Some(_) => String::new(),
    };
    let paragraph = format!(
        "Shown is {}{floor}. `not_finite` runs, whose belief has no normal law or gives the truth \
         no chance at all, are left out of the mean and count as lowest in the median. \
         `p_mmlt_larger` is the one-sided paired t-test.\n\n{}",
        score.what,
        table.markdown()
    );
    Ok(Finding { paragraph, files })
}

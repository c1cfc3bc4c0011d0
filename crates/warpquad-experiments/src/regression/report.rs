//! Lay Table 2 out: means, medians, tests, the paper's numbers beside ours.

use super::{Gains, Group, Score, Scores, prose};
use crate::chart::{Axis, Figure, Mark, Panel, Style};
use crate::t_test::paired;
use crate::table::{Table, digits, mean, quantile};
use crate::{Context, Finding};
use warpquad::Result;

/// The paper's Table 2: data set, model, RMSE, MLL.
const PAPER: [(&str, &str, f64, f64); 14] = [
    ("LDA", "none", 153.0, -1.0e10),
    ("LDA", "square root (g-space)", 142.0, -2.1e6),
    ("LDA", "square root (f-space)", 142.0, -6.1e5),
    ("LDA", "log (g-space)", 134.0, -4.1e6),
    ("LDA", "log (f-space)", 133.0, -4.8e5),
    ("SVM", "none", 0.015, 2.83),
    ("SVM", "probit (g-space)", 0.015, 2.82),
    ("SVM", "probit (f-space)", 0.015, 2.91),
    ("LR", "none", 0.036, 1.98),
    ("LR", "probit (g-space)", 0.036, 2.06),
    ("LR", "probit (f-space)", 0.035, 2.07),
    ("IM", "none", 0.281, -0.110),
    ("IM", "probit (g-space)", 0.266, -0.324),
    ("IM", "probit (f-space)", 0.256, 0.319),
];

/// Short names of models for the chart.
const SHORT: [(&str, &str); 7] = [
    ("none", "none"),
    ("square root (g-space)", "sqrt g"),
    ("square root (f-space)", "sqrt f"),
    ("log (g-space)", "log g"),
    ("log (f-space)", "log f"),
    ("probit (g-space)", "probit g"),
    ("probit (f-space)", "probit f"),
];

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Root mean squared error: smaller is better.
    Rmse,
    /// Mean log likelihood of all test points.
    Mll,
    /// The same without test points whose setting was trained on.
    MllNew,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Measure::Rmse => "RMSE",
            Measure::Mll => "MLL",
            Measure::MllNew => "MLL of new settings",
        }
    }

    fn of(self, score: &Score) -> f64 {
        match self {
            Measure::Rmse => score.rmse,
            Measure::Mll => score.mll,
            Measure::MllNew => score.mll_new,
        }
    }
}

/// A comparison of two models on the same splits: data set, data taken as, measure, the one said to
/// be better, the other, the paper's claim.
type Claim = (
    &'static str,
    &'static str,
    Measure,
    &'static str,
    &'static str,
    &'static str,
);

const SIGNIFICANT: &str = "better at 1 %";
const BETTER: &str = "better";
const NONE: &str = "-";
const CLAIMS: [Claim; 25] = {
    use Measure::{Mll, MllNew, Rmse};
    let (sg, sf) = ("square root (g-space)", "square root (f-space)");
    let (lg, lf) = ("log (g-space)", "log (f-space)");
    let (pg, pf) = ("probit (g-space)", "probit (f-space)");
    [
        ("LDA", "exact", Rmse, sg, "none", SIGNIFICANT),
        ("LDA", "exact", Rmse, sf, "none", SIGNIFICANT),
        ("LDA", "exact", Rmse, lg, "none", SIGNIFICANT),
        ("LDA", "exact", Rmse, lf, "none", SIGNIFICANT),
        ("LDA", "exact", Rmse, sf, sg, "no significant difference"),
        ("LDA", "exact", Rmse, lf, lg, "no significant difference"),
        ("LDA", "exact", Mll, sf, sg, BETTER),
        ("LDA", "exact", Mll, lf, lg, BETTER),
        ("LDA", "exact", MllNew, sf, sg, NONE),
        ("LDA", "exact", MllNew, lf, lg, NONE),
        ("LDA", "exact", MllNew, sf, "none", NONE),
        ("SVM", "exact", Mll, pf, pg, BETTER),
        ("SVM", "exact", Mll, pf, "none", BETTER),
        ("SVM", "noisy", Mll, pf, pg, BETTER),
        ("SVM", "noisy", Mll, pf, "none", BETTER),
        ("LR", "exact", Mll, pf, pg, BETTER),
        ("LR", "exact", Mll, pf, "none", BETTER),
        ("IM", "exact", Rmse, pg, "none", SIGNIFICANT),
        ("IM", "exact", Rmse, pf, "none", SIGNIFICANT),
        ("IM", "exact", Rmse, pf, pg, SIGNIFICANT),
        ("IM", "exact", Mll, "none", pg, SIGNIFICANT),
        ("IM", "exact", Mll, pf, "none", SIGNIFICANT),
        ("IM", "exact", Mll, pf, pg, SIGNIFICANT),
        ("IM", "noisy", Mll, pf, pg, SIGNIFICANT),
        ("IM", "noisy", Mll, pf, "none", SIGNIFICANT),
    ]
};

/// Write the files and the paragraph.
pub fn write(
    context: &Context<'_>,
    results: &[(Group, Scores)],
    gains: &[Gains],
) -> Result<Finding> {
    let (summary, tests) = (summary(results), tests(results));
    let likelihoods = likelihoods(gains);
    let files = vec![
        context.write("table2.csv", &summary.csv())?,
        context.write("table2_tests.csv", &tests.csv())?,
        context.write("table2_likelihoods.csv", &likelihoods.csv())?,
        context.write("table2.svg", &figure(results).svg())?,
    ];
    let paragraph = prose::paragraph(context, &summary, &tests, &likelihoods);
    Ok(Finding { paragraph, files })
}

fn column(scores: &[Option<Score>], measure: Measure) -> Vec<f64> {
    scores
        .iter()
        .flatten()
        .map(|score| measure.of(score))
        .collect()
}

fn of_model<'a>(scores: &'a Scores, model: &str) -> Option<&'a Vec<Option<Score>>> {
    scores
        .iter()
        .find(|((_, name), _)| *name == model)
        .map(|(_, scores)| scores)
}

fn summary(results: &[(Group, Scores)]) -> Table {
    let mut table = Table::new(&[
        "data",
        "inputs",
        "taken as",
        "transform",
        "splits",
        "RMSE mean",
        "RMSE median",
        "RMSE paper",
        "MLL mean",
        "MLL median",
        "MLL paper",
        "MLL mean new settings",
        "MLL median new settings",
    ]);
    for (group, scores) in results {
        for ((_, model), scores) in scores {
            let paper = PAPER
                .iter()
                .find(|row| row.0 == group.dataset && row.1 == *model);
            let both = |measure: Measure| {
                let values = column(scores, measure);
                [digits(mean(&values), 3), digits(quantile(&values, 0.5), 3)]
            };
            let [rmse, rmse_median] = both(Measure::Rmse);
            let [mll, mll_median] = both(Measure::Mll);
            let [new, new_median] = both(Measure::MllNew);
            let splits = scores.iter().flatten().count().to_string();
            table.push(vec![
                group.dataset.into(),
                group.inputs.into(),
                group.noise.into(),
                model.to_string(),
                splits,
                rmse,
                rmse_median,
                paper.map_or(String::new(), |p| p.2.to_string()),
                mll,
                mll_median,
                paper.map_or(String::new(), |p| digits(p.3, 3)),
                new,
                new_median,
            ]);
        }
    }
    table
}

fn tests(results: &[(Group, Scores)]) -> Table {
    let mut table = Table::new(&[
        "data",
        "taken as",
        "measure",
        "said to be better",
        "than",
        "the paper says",
        "gain",
        "t",
        "p",
        "here",
    ]);
    for (dataset, noise, measure, better, worse, paper) in CLAIMS {
        let group = results
            .iter()
            .find(|(g, _)| g.dataset == dataset && g.noise == noise && g.inputs == "log");
        let Some((a, b)) = group
            .and_then(|(_, scores)| Some((of_model(scores, better)?, of_model(scores, worse)?)))
        else {
            continue;
        };
        let pairs: Vec<(f64, f64)> = a
            .iter()
            .zip(b)
            .filter_map(|(a, b)| Some((measure.of(a.as_ref()?), measure.of(b.as_ref()?))))
            .collect();
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        // A smaller error is the better one.
        let (high, low) = if measure == Measure::Rmse {
            (&b, &a)
        } else {
            (&a, &b)
        };
        let test = paired(high, low);
        let verdict = match test.p {
            p if p < 0.01 => "better at 1 %",
            p if p > 0.99 => "worse at 1 %",
            _ => "not significant",
        };
        table.push(vec![
            dataset.into(),
            noise.into(),
            measure.name().into(),
            better.into(),
            worse.into(),
            paper.into(),
            digits(mean(high) - mean(low), 3),
            digits(test.t, 3),
            digits(test.p, 2),
            verdict.into(),
        ]);
    }
    table
}

fn likelihoods(gains: &[Gains]) -> Table {
    let mut table = Table::new(&[
        "data",
        "transform",
        "splits",
        "gain in nats: least",
        "median",
        "most",
    ]);
    for Gains {
        dataset,
        warp,
        gains,
    } in gains
    {
        let at = |p: f64| digits(quantile(gains, p), 3);
        table.push(vec![
            dataset.to_string(),
            warp.to_string(),
            gains.len().to_string(),
            at(0.0),
            at(0.5),
            at(1.0),
        ]);
    }
    table
}

/// Quartiles over splits of both measures, with the paper's numbers.
fn figure(results: &[(Group, Scores)]) -> Figure {
    let mut figure =
        Figure::new("Table 2: median and quartiles over splits", 4).sized(290.0, 270.0);
    for measure in [Measure::Rmse, Measure::MllNew] {
        for dataset in ["LDA", "SVM", "LR", "IM"] {
            let group = results
                .iter()
                .find(|(g, _)| g.dataset == dataset && g.inputs == "log" && g.noise == "exact");
            if let Some((_, scores)) = group {
                figure.panels.push(panel(dataset, measure, scores));
            }
        }
    }
    figure
}

fn panel(dataset: &str, measure: Measure, scores: &Scores) -> Panel {
    let short = |model: &str| {
        SHORT
            .iter()
            .find(|(long, _)| *long == model)
            .map_or("", |(_, short)| short)
    };
    let names: Vec<&str> = scores.keys().map(|(_, model)| short(model)).collect();
    let title = format!("{dataset}: {}", measure.name());
    let mut panel = Panel::new(&title, Axis::names("", &names), Axis::linear(""));
    let mut paper = Vec::new();
    for (i, ((_, model), scores)) in scores.iter().enumerate() {
        let values = column(scores, measure);
        let at = |p: f64| quantile(&values, p);
        let (color, name) = match model {
            model if model.contains("(g-space)") => (1, "fitted in g-space"),
            model if model.contains("(f-space)") => (0, "fitted in f-space"),
            _ => (6, "no transform"),
        };
        let style = Style::color(color).named(name).sized(2.2);
        panel.marks.push(Mark::Intervals {
            points: vec![(i as f64, at(0.25), at(0.5), at(0.75))],
            style,
        });
        let mean = Style::color(color).sized(2.5);
        panel.marks.push(Mark::Dots {
            points: vec![(i as f64 - 0.15, self::mean(&values))],
            style: mean,
        });
        let row = PAPER.iter().find(|row| row.0 == dataset && row.1 == *model);
        if let Some(&(_, _, rmse, mll)) = row {
            paper.push((
                i as f64 + 0.2,
                if measure == Measure::Rmse { rmse } else { mll },
            ));
        }
    }
    // The paper's likelihoods of LDA are those of the twin setting and have no place on this axis.
    if dataset != "LDA" || measure == Measure::Rmse {
        panel.marks.push(Mark::Dots {
            points: paper,
            style: Style::black().named("the paper (a mean)").sized(3.0),
        });
    }
    panel
}

//! Reproduce the experiments of Chai and Garnett (2019): every table and figure, by name.
//!
//! An [`Experiment`] is a function from a [`Context`] to a [`Finding`]. It writes a CSV and an SVG
//! into the context's folder and hands back a section of a page, with the paper's
//! numbers beside ours.

pub mod chart;
mod claims;
pub mod dla;
pub mod experiment;
pub mod kept;
pub mod moments;
mod pages;
pub mod regression;
pub mod sources;
pub mod t_test;
pub mod table;
pub mod toy;
mod wrap;

pub use experiment::{Context, Experiment, Finding, Scope};
pub use kept::Kept;

use warpquad::{Error, Result};

/// All experiments, in the paper's order.
pub static REGISTRY: &[Experiment] = &[
    dla::fig1::EXPERIMENT,
    Experiment {
        name: "fig2",
        summary: "a bounded function with and without a transform",
        run: toy::fig2,
    },
    Experiment {
        name: "fig3",
        summary: "fitting in f-space against fitting in g-space",
        run: toy::fig3,
    },
    Experiment {
        name: "table1",
        summary: "moments against simulation, and misprints",
        run: moments::table1,
    },
    Experiment {
        name: "table2",
        summary: "regression on constrained data",
        run: regression::table2,
    },
    dla::truth::EXPERIMENT,
    dla::fig4::EXPERIMENT,
    dla::tables::TABLE_3,
    dla::tables::TABLE_4,
    regression::fits::EXPERIMENT,
    dla::readings::EXPERIMENT,
    dla::readings::fits::EXPERIMENT,
    dla::readings::profile::EXPERIMENT,
    dla::by_evaluations::TWO_DIMENSIONS,
    dla::by_evaluations::SIX_DIMENSIONS,
    dla::by_evaluations::population::EXPERIMENT,
];

/// The experiment of that name.
pub fn by_name(name: &str) -> Result<&'static Experiment> {
    REGISTRY.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|e| e.name).collect();
        let reason = format!(
            "unknown experiment '{name}'; there are all, {}",
            names.join(", ")
        );
        Error::spec("experiment", reason)
    })
}

/// The experiments of those names in the paper's order, each once; `all` is every one.
pub fn select(names: &[String]) -> Result<Vec<&'static Experiment>> {
    let all = names.iter().any(|name| name == "all");
    for name in names.iter().filter(|name| *name != "all") {
        by_name(name)?;
    }
    let wanted = |e: &&Experiment| all || names.iter().any(|name| name == e.name);
    Ok(REGISTRY.iter().filter(wanted).collect())
}

/// Run experiments one after another; each leaves its files and its section in `context.out`.
///
/// A folder holds the results of one scope and one seed. Sections of experiments that are not run
/// stay as they are.
pub fn reproduce(experiments: &[&Experiment], context: &Context<'_>) -> Result<Vec<Finding>> {
    pages::check(context)?;
    let mut findings = Vec::new();
    for experiment in experiments {
        (context.progress)(&format!("{}: {}", experiment.name, experiment.summary));
        let finding = (experiment.run)(context)?;
        pages::put(context, experiment, &finding)?;
        findings.push(finding);
    }
    Ok(findings)
}

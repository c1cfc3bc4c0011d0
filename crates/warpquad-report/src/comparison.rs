//! Set models side by side on one page: evidence, Bayes factors, and marginals over each other.

use crate::cut::{turn, within};
use crate::figure::corner::column;
use crate::figure::overlay::{Drawn, evidences, marginals};
use crate::findings::Findings;
use crate::page::{figure, render};
use crate::words::{decimals, fixed};
use minijinja::context;
use minijinja::value::Value;
use serde_json::Value as Json;
use warpquad::Result;

/// The page of several runs. `compared` is the object of `warpquad compare --json`: its models are
/// the runs in their order.
pub fn comparison(runs: &[(String, Findings)], compared: &Json) -> Result<String> {
    let models = compared["models"].as_array().cloned().unwrap_or_default();
    let known: Vec<(String, f64, [f64; 2])> = runs.iter().filter_map(evidence).collect();
    let row = |(model, (name, found)): (&Json, &(String, Findings))| {
        let number = |field: &str| model[field].as_f64().unwrap_or(f64::NAN);
        let pair = |field: &str| {
            let sd = number(&format!("{field}_sd"));
            let d = decimals(sd);
            format!("{} ± {}", fixed(number(field), d), fixed(sd, d))
        };
        let end = |i: usize| percent(model["probability_interval"][i].as_f64());
        context! {
            name, log_z => pair("log_z"), factor => pair("log_bayes_factor"),
            is_reference => model["run"] == compared["reference"],
            probability => percent(model["probability"].as_f64()),
            interval => format!("{} to {}", end(0), end(1)),
            verdict => found.report["verdict"].as_str(),
            parameters => found.names.join(", "),
            evaluations => found.evaluated(),
        }
    };
    let rows: Vec<Value> = models.iter().zip(runs).map(row).collect();
    let mut drawn = Vec::new();
    for name in shared(runs) {
        drawn.push(figure(&overlaid(&name, runs)?));
    }
    let evidences = match known.len() == runs.len() {
        true => Some(figure(&evidences(&known)?)),
        false => None,
    };
    render(
        "comparison.html",
        context! {
            title => "Models compared", rows, evidences, marginals => drawn,
            reference => runs.first().map(|run| run.0.as_str()),
            version => env!("CARGO_PKG_VERSION"),
        },
    )
}

fn percent(part: Option<f64>) -> String {
    part.map_or("–".into(), |part| format!("{:.1} %", 100.0 * part))
}

fn evidence((name, found): &(String, Findings)) -> Option<(String, f64, [f64; 2])> {
    let report = &found.report;
    let end = |i: usize| report["log_z_interval"][i].as_f64();
    Some((name.clone(), report["log_z"].as_f64()?, [end(0)?, end(1)?]))
}

/// Parameters with draws in two runs at least, in the order they are met.
fn shared(runs: &[(String, Findings)]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (_, found) in runs {
        for name in &found.names {
            let has = |(_, other): &&(String, Findings)| {
                !other.draws.is_empty() && other.names.contains(name)
            };
            if runs.iter().filter(has).count() >= 2 && !out.contains(name) {
                out.push(name.clone());
            }
        }
    }
    out
}

fn overlaid(name: &str, runs: &[(String, Findings)]) -> Result<crate::Figure> {
    let (mut drawn, mut prior): (Vec<Drawn<'_>>, Option<Vec<f64>>) = (Vec::new(), None);
    let turn = common_turn(name, runs);
    let shown = |rows: &[Vec<f64>], k: usize| match turn {
        Some((low, period)) => column(rows, k)
            .iter()
            .map(|x| within(*x, low, period))
            .collect(),
        None => column(rows, k),
    };
    for (place, (run, found)) in runs.iter().enumerate() {
        let Some(k) = found.names.iter().position(|own| own == name) else {
            continue;
        };
        if !found.draws.is_empty() {
            prior.get_or_insert_with(|| shown(&found.prior, k));
            drawn.push((run, place, shown(&found.draws, k)));
        }
    }
    marginals(name, &prior.unwrap_or_default(), &drawn)
}

/// The turn that shows the draws of all runs, of a parameter that has one circle in all: its lower
/// end and its period.
fn common_turn(name: &str, runs: &[(String, Findings)]) -> Option<(f64, f64)> {
    let (mut circles, mut draws) = (Vec::new(), Vec::new());
    for (_, found) in runs {
        if let Some(k) = found.names.iter().position(|own| own == name) {
            circles.push(found.circles.get(k).copied().flatten()?);
            draws.extend(column(&found.draws, k));
        }
    }
    let first = *circles.first()?;
    let same = circles.iter().all(|circle| *circle == first);
    same.then(|| (turn(first, &draws), first[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, parameters: &[&str]) -> (String, Findings) {
        let found = Findings {
            names: parameters.iter().map(|name| name.to_string()).collect(),
            draws: vec![vec![0.0; parameters.len()]],
            ..Findings::default()
        };
        (name.into(), found)
    }

    #[test]
    fn a_parameter_is_shared_if_two_runs_have_it() {
        let runs = [
            run("a", &["x", "y"]),
            run("b", &["y", "z"]),
            run("c", &["z"]),
        ];
        assert_eq!(shared(&runs), ["y", "z"]);
    }
}

//! Compare the models of several runs by their evidence.

use crate::args::Compare;
use crate::figures::title;
use crate::output::{self, measured, number};
use serde_json::json;
use std::path::PathBuf;
use warpquad::Result;
use warpquad::session::Session;
use warpquad_report::{comparison, look};

/// Draws of the joint uncertainty: runs are independent, so draw k of each goes together.
const LEVELS: usize = 999;

pub fn compare(args: &Compare) -> Result<()> {
    let mut models = Vec::new();
    for dir in &args.runs {
        let outcome = Session::peek(dir)?.outcome()?;
        let sd = outcome.ln_sd();
        models.push((dir.display().to_string(), outcome.law.ln_quantile(0.5), sd));
    }
    let rows: Vec<_> = (0..models.len())
        .map(|i| {
            let (name, ln_z, sd) = &models[i];
            let reference = &models[0];
            let factor_sd = if i == 0 { 0.0 } else { sd.hypot(reference.2) };
            let [low, middle, high] = probability(&models, i);
            json!({
                "run": name, "log_z": ln_z, "log_z_sd": sd,
                "log_bayes_factor": ln_z - reference.1, "log_bayes_factor_sd": factor_sd,
                "probability": middle, "probability_interval": [low, high],
            })
        })
        .collect();
    let compared = json!({"models": rows, "reference": models[0].0, "prior": "equal"});
    if args.json {
        output::json(&compared);
        return Ok(());
    }
    if let Some(file) = &args.html {
        let look = |dir: &PathBuf| Ok((title(dir), look(dir)?));
        let found = args.runs.iter().map(look).collect::<Result<Vec<_>>>()?;
        output::write(file, comparison(&found, &compared)?)?;
        output::line(&format!("wrote {}", file.display()));
        return Ok(());
    }
    let width = models.iter().map(|m| m.0.chars().count()).max();
    let width = width.unwrap_or(0).max("run".len());
    output::line(&format!(
        "{:<width$} {:>22} {:>22}  probability",
        "run", "log Z", "log Bayes factor"
    ));
    for row in &rows {
        let get = |key: &str| number(row[key].as_f64().unwrap_or(f64::NAN));
        let end = |i: usize| number(row["probability_interval"][i].as_f64().unwrap_or(f64::NAN));
        let pair = |key: &str| {
            let part = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
            measured(part(key), part(&format!("{key}_sd")))
        };
        output::line(&format!(
            "{:<width$} {:>22} {:>22}  {} [{}, {}]",
            row["run"].as_str().unwrap_or(""),
            pair("log_z"),
            pair("log_bayes_factor"),
            get("probability"),
            end(0),
            end(1),
        ));
    }
    output::line(&format!(
        "Bayes factors are against {}; models are equally likely beforehand. +- is one standard \
         deviation, [] are 95 %.",
        models[0].0
    ));
    Ok(())
}

/// The 2.5 %, 50 % and 97.5 % quantiles of a model's probability, each ln Z normal.
fn probability(models: &[(String, f64, f64)], i: usize) -> [f64; 3] {
    let mut rng = warpquad::numeric::random::Rng::new(0);
    let mut draws: Vec<f64> = (0..LEVELS)
        .map(|_| {
            let ln_z: Vec<f64> = models.iter().map(|m| m.1 + m.2 * rng.normal()).collect();
            (ln_z[i] - warpquad::numeric::special::ln_sum_exp(&ln_z)).exp()
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    [0.025, 0.5, 0.975].map(|p| draws[(p * (LEVELS - 1) as f64) as usize])
}

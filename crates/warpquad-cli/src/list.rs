//! List what the registries hold.

use crate::args::{Family, List};
use crate::output;
use clap::ValueEnum;
use serde_json::{Value as Json, json};
use warpquad::session::options;
use warpquad::{Result, acquisition, baseline, engine, kernel, measure, warp};

pub fn list(args: &List) -> Result<()> {
    let families = [
        (
            Family::Warps,
            "warps",
            pairs(warp::REGISTRY, |e| (e.name, e.summary)),
        ),
        (
            Family::Kernels,
            "kernels",
            pairs(kernel::REGISTRY, |e| (e.name, e.summary)),
        ),
        (Family::Measures, "measures", measures()),
        (
            Family::Acquisitions,
            "acquisitions",
            pairs(acquisition::REGISTRY, |e| (e.name, e.summary)),
        ),
        (
            Family::Methods,
            "methods",
            pairs(engine::REGISTRY, |e| (e.name, e.summary)),
        ),
        (
            Family::Baselines,
            "baselines: methods for a cheap f, and to check",
            pairs(baseline::REGISTRY, |e| (e.name, e.summary)),
        ),
        (
            Family::Experiments,
            "experiments",
            pairs(warpquad_experiments::REGISTRY, |e| (e.name, e.summary)),
        ),
        (Family::Options, "options", settings()),
        (
            Family::Tuning,
            "tuning: numbers that auto decides by, for experiments",
            tuning(),
        ),
    ];
    if args.json {
        let chosen = families.iter();
        let chosen = chosen.filter(|(family, ..)| args.what.is_none_or(|what| what == *family));
        output::json(
            &chosen
                .map(|(family, _, rows)| json(*family, rows))
                .collect(),
        );
        return Ok(());
    }
    let mut first = true;
    for (family, title, rows) in families {
        if args.what.is_some_and(|what| what != family) {
            continue;
        }
        if args.what.is_none() {
            output::line(&format!("{}{title}", if first { "" } else { "\n" }));
            first = false;
        }
        output::rows(&rows);
    }
    Ok(())
}

/// A family as JSON: its name, and what it holds.
fn json(family: Family, rows: &[(String, String)]) -> (String, Json) {
    let held = match family {
        Family::Options => options::listing(),
        _ => {
            let row =
                |(name, summary): &(String, String)| json!({"name": name, "summary": summary});
            rows.iter().map(row).collect()
        }
    };
    let name = family.to_possible_value();
    let name = name.map_or(String::new(), |value| value.get_name().to_string());
    (name, held)
}

/// The options by their names in the problem file.
fn settings() -> Vec<(String, String)> {
    let rows = options::TABLE.iter();
    rows.map(|option| (option.field(), option.help.into()))
        .collect()
}

/// The fields of the tuning: the default with its unit, and what it is.
fn tuning() -> Vec<(String, String)> {
    let defaults = engine::Tuning::default();
    let row = |field: &engine::Field| {
        let numbers = defaults.get(field.name).unwrap_or_default();
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let (value, unit) = (numbers.join(","), field.unit);
        let summary = field.summary.trim();
        (field.name.into(), format!("{value} [{unit}] {summary}"))
    };
    engine::Tuning::FIELDS.iter().map(row).collect()
}

fn pairs<E>(entries: &[E], pair: fn(&E) -> (&'static str, &'static str)) -> Vec<(String, String)> {
    let texts = entries.iter().map(pair);
    texts
        .map(|(name, summary)| (name.into(), summary.into()))
        .collect()
}

fn measures() -> Vec<(String, String)> {
    let rows = measure::REGISTRY.iter();
    rows.map(|e| {
        (
            format!("{} [{}]", e.name, e.parameters.join(", ")),
            e.summary.into(),
        )
    })
    .collect()
}

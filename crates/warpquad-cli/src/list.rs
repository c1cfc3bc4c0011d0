//! List what the registries hold.

use crate::args::{Family, List};
use crate::output;
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
    ];
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

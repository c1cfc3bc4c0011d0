//! Read the sections of a problem file.

use super::reader::{self, Item, Section};
use super::{Budget, Integrand, MethodSpec, OnFailure, Problem, SpecError, prior};
use crate::session::expression::{self, Expression};
use crate::warp::Range;

type Result<T> = std::result::Result<T, SpecError>;

const SECTIONS: &[&str] = &["integrand", "parameters", "joint", "method", "budget"];

/// The keys of `[integrand]` of which a file has exactly one.
const INTEGRANDS: &[&str] = &[
    "log", "value", "command", "driver", "umbridge", "table", "external",
];

/// The most workers: each is a thread, and may be a process too.
const MOST_WORKERS: usize = 1024;
/// The most points asked for at once.
const MOST_IN_A_BATCH: usize = 1024;
/// The most nodes: 64 times the default, and about 200 MB.
const MOST_NODES: usize = 1 << 20;
/// The most particles of a pass: some hundred MB in ten dimensions.
const MOST_PARTICLES: usize = 1_000_000;
/// The longest time limit, thirty years; a clock cannot count to much more.
const LONGEST_TIMEOUT_SECONDS: f64 = 1e9;

/// Read a whole problem file.
pub(super) fn problem(source: &str) -> Result<Problem> {
    let table = reader::document(source)?;
    let top = Section::top(source, table.get_ref());
    top.only(SECTIONS, "sections")?;
    let Some(item) = top.get("integrand") else {
        return Err(top.missing("integrand", "is missing; add a section [integrand]"));
    };
    let section = item.section("a section [integrand]")?;
    // First the integrand's own mistakes, which stand first in the file; its formula needs the names.
    let chosen = choose(&section)?;
    let (names, prior) = prior::prior(&top)?;
    let mut problem = Problem::new(integrand(chosen, &names)?, names, prior);
    settings(&section, &mut problem)?;
    if let Some(item) = top.get("method") {
        problem.method = method(&item.section("a section [method]")?)?;
    }
    if let Some(item) = top.get("budget") {
        problem.budget = budget(&item.section("a section [budget]")?)?;
    }
    let mut places = Vec::new();
    top.places(&mut places);
    problem.places = places.into_iter().collect();
    problem.source = source.to_string();
    Ok(problem)
}

/// The one key that says what the integrand is.
fn choose<'s, 'a>(section: &'s Section<'a>) -> Result<&'s Item<'a>> {
    let settings = ["range", "on_failure", "retries", "timeout", "noise"];
    section.only(&[INTEGRANDS, &settings].concat(), "fields of [integrand]")?;
    let is_integrand = |item: &&Item| INTEGRANDS.contains(&item.name.as_str());
    let mut chosen = section.items.iter().filter(is_integrand);
    let Some(first) = chosen.next() else {
        let known = INTEGRANDS.join(", ");
        return Err(section.error(format!("has no integrand; add one of {known}")));
    };
    match chosen.next() {
        Some(second) => {
            let reason = format!("is a second integrand beside '{}'; keep one", first.name);
            Err(second.error_at_name(reason))
        }
        None => Ok(first),
    }
}

fn integrand(item: &Item, names: &[String]) -> Result<Integrand> {
    let program = "a list of words, like [\"python3\", \"model.py\"]";
    Ok(match item.name.as_str() {
        "log" => Integrand::Log(formula(item, names)?),
        "value" => Integrand::Value(formula(item, names)?),
        "command" => Integrand::Command {
            argv: item.texts(program)?,
        },
        "driver" => Integrand::Driver {
            argv: item.texts(program)?,
        },
        "umbridge" => umbridge(&item.section("a table { url = ..., model = ... }")?)?,
        "external" => Integrand::External { by: item.text()? },
        _ => Integrand::Table { path: item.text()? },
    })
}

/// A formula that can be read with these names.
fn formula(item: &Item, names: &[String]) -> Result<String> {
    let text = item.text()?;
    if let Some(name) = names.iter().find(|name| !expression::is_name(name)) {
        let reason = format!(
            "cannot use the parameter '{name}': in a formula a name is made of letters, digits and underscores, a letter first"
        );
        return Err(item.error(reason));
    }
    match Expression::parse(&text, names) {
        Ok(_) => Ok(text),
        Err(error) => Err(match error.position {
            Some(position) => item.error_inside(position, error.reason),
            None => item.error(error.reason),
        }),
    }
}

fn umbridge(section: &Section) -> Result<Integrand> {
    section.only(&["url", "model", "config"], "fields of umbridge")?;
    let item = section.require("url")?;
    let url = item.text()?;
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(item.error(format!("must start with http:// or https://, got '{url}'")));
    }
    let model = section.require("model")?.text()?;
    let config = match section.get("config") {
        Some(item) => {
            item.section("a table")?;
            item.json()?
        }
        None => serde_json::Value::Object(Default::default()),
    };
    Ok(Integrand::UmBridge { url, model, config })
}

/// What `[integrand]` says beside the integrand.
fn settings(section: &Section, problem: &mut Problem) -> Result<()> {
    if let Some(item) = section.get("range") {
        problem.range = range(item, &problem.integrand)?;
    }
    if let Some(item) = section.get("on_failure") {
        problem.on_failure = match item.word(&["stop", "skip", "retry"], "choices")?.as_str() {
            "skip" => OnFailure::Skip,
            "retry" => OnFailure::Retry,
            _ => OnFailure::Stop,
        };
    }
    if let Some(item) = section.get("retries") {
        problem.retries = item.count(0)?;
    }
    if let Some(item) = section.get("timeout") {
        problem.timeout = Some(item.seconds_up_to(LONGEST_TIMEOUT_SECONDS)?);
    }
    if let Some(item) = section.get("noise") {
        let noise = item.number()?;
        if !(noise.is_finite() && noise >= 0.0) {
            return Err(item.error(format!(
                "is a variance: it must not be negative, got {noise}"
            )));
        }
        problem.noise = Some(noise);
    }
    Ok(())
}

fn range(item: &Item, integrand: &Integrand) -> Result<Range> {
    let wanted = "two numbers [lo, hi]";
    let [lo, hi] = item.numbers(wanted)?[..] else {
        return Err(item.error(format!("must be {wanted}")));
    };
    if lo.is_nan() || hi.is_nan() || lo >= hi {
        return Err(item.error(format!("is empty: lo must be below hi, got [{lo}, {hi}]")));
    }
    if matches!(integrand, Integrand::Log(_)) && hi <= 0.0 {
        let reason =
            format!("leaves nothing: f = exp(log) is positive, and the range ends at {hi}");
        return Err(item.error(reason));
    }
    Ok(Range { lo, hi })
}

fn method(section: &Section) -> Result<MethodSpec> {
    const KNOWN: &[&str] = &[
        "name",
        "warp",
        "kernel",
        "fit",
        "acquisition",
        "coordinates",
        "nodes",
        "refit_every",
        "batch",
        "particles",
    ];
    section.only(KNOWN, "fields of [method]")?;
    let text = |name| section.get(name).map(Item::text).transpose();
    let count = |name, most| {
        let item = section.get(name);
        item.map(|item| item.count_up_to(most)).transpose()
    };
    let fit = section
        .get("fit")
        .map(|item| item.word(&["f", "g"], "choices"));
    Ok(MethodSpec {
        name: text("name")?,
        warp: text("warp")?,
        kernel: text("kernel")?,
        fit: fit.transpose()?,
        acquisition: text("acquisition")?,
        coordinates: text("coordinates")?,
        nodes: count("nodes", MOST_NODES)?,
        refit_every: count("refit_every", usize::MAX)?,
        batch: count("batch", MOST_IN_A_BATCH)?,
        particles: count("particles", MOST_PARTICLES)?,
    })
}

fn budget(section: &Section) -> Result<Budget> {
    section.only(
        &["evaluations", "seconds", "log_z_sd", "audit", "workers"],
        "fields of [budget]",
    )?;
    let count = |name| section.get(name).map(|item| item.count(1)).transpose();
    let positive = |name| section.get(name).map(Item::positive).transpose();
    let workers = section.get("workers");
    let workers = workers.map(|item| item.count_up_to(MOST_WORKERS));
    Ok(Budget {
        evaluations: count("evaluations")?,
        seconds: positive("seconds")?,
        log_z_sd: positive("log_z_sd")?,
        audit: positive("audit")?,
        workers: workers.transpose()?.unwrap_or(1),
    })
}

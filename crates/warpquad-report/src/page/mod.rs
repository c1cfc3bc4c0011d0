//! Make the page of a run: one file that needs nothing else.

use crate::answer::{bibtex, stop, verdict, words};
use crate::figure::time::spent;
use crate::figure::{Figure, drawing};
use crate::figures;
use crate::findings::Findings;
use crate::summary::summary;
use crate::words::{decimals, digits, fixed, seconds, short};
use minijinja::value::Value;
use minijinja::{Environment, context};
use std::collections::BTreeMap;
use warpquad::Result;
use warpquad::session::count;

/// Failures that are listed one by one; of more, the rest are counted.
const MOST_FAILURES: usize = 20;

/// The page of a run, under this name; its corner plot shows the named parameters, or all.
pub fn page(found: &Findings, title: &str, parameters: Option<&[String]>) -> Result<String> {
    let drawn = figures(found, parameters)?;
    let by_name: BTreeMap<&str, Value> = drawn.iter().map(|f| (f.name, figure(f))).collect();
    let (verdict, reasons) = verdict(found);
    let reasons: Vec<Value> = reasons
        .iter()
        .map(|reason| context! { code => &reason.code, sentence => &reason.sentence })
        .collect();
    let answer = words(found).map(|words| {
        context! {
            headline => words.headline, sentence => words.sentence, latex => words.latex,
            other => words.other, has_log => found.report["log_z"].is_number(),
        }
    });
    render(
        "run.html",
        context! {
            title, verdict, reasons, answer,
            no_answer => &found.no_answer,
            stop => stop(found),
            warnings => warnings(found),
            bibtex => bibtex(found),
            facts => facts(found),
            figures => by_name,
            summary => rows(found),
            derived => derived(found),
            no_draws => &found.no_draws,
            mapped => &found.mapped,
            has_draws => !found.draws.is_empty(),
            has_model => found.trust.is_some(),
            draws => found.draws.len(),
            kinds => kinds(found),
            checks => checks(found),
            failures => failures(found),
            names => &found.names,
            times => times(found),
            settings => pretty(&found.report["method"]),
            hyperparameters => pretty(&found.report["hyperparameters"]),
            text => &found.text,
            version => found.report["version"].as_str().unwrap_or(env!("CARGO_PKG_VERSION")),
        },
    )
}

/// Fill in a template, with the style and the script inside of it.
pub(crate) fn render(name: &str, values: Value) -> Result<String> {
    let mut all = Environment::new();
    let parts = [
        ("base.html", include_str!("base.html")),
        ("comparison.html", include_str!("comparison.html")),
        ("figure.html", include_str!("figure.html")),
        ("run.html", include_str!("run.html")),
        ("page.css", include_str!("page.css")),
        ("page.js", include_str!("page.js")),
    ];
    for (name, text) in parts {
        all.add_template(name, text).map_err(drawing)?;
    }
    let template = all.get_template(name).map_err(drawing)?;
    template.render(values).map_err(drawing)
}

/// A figure as a template takes it.
pub(crate) fn figure(figure: &Figure) -> Value {
    // A script's text ends at "</": no label may bring that.
    let hover = serde_json::to_string(&figure.hover)
        .unwrap_or_default()
        .replace("</", "<\\/");
    context! {
        name => figure.name,
        title => &figure.title,
        alt => &figure.alt,
        caption => &figure.caption,
        least_width => figure.least_width,
        svg => Value::from_safe_string(figure.svg.clone()),
        hover => Value::from_safe_string(hover),
    }
}

fn warnings(found: &Findings) -> Vec<String> {
    let all = found.report["warnings"].as_array();
    let text = |json: &serde_json::Value| json.as_str().unwrap_or("").to_string();
    all.into_iter().flatten().map(text).collect()
}

/// Short facts beside the answer.
fn facts(found: &Findings) -> Vec<(String, String)> {
    let report = &found.report;
    let mut out = Vec::new();
    let mut fact = |name: &str, text: String| out.push((name.to_string(), text));
    let number = |json: &serde_json::Value| json.as_f64();
    let interval = &report["log_z_interval"];
    if let Some(((low, high), sd)) = number(&interval[0])
        .zip(number(&interval[1]))
        .zip(number(&report["log_z_sd"]))
    {
        let d = decimals(sd);
        fact(
            "95 % of log Z",
            format!("{} to {}", fixed(low, d), fixed(high, d)),
        );
    }
    let failed = match found.failures.len() {
        0 => String::new(),
        k => format!(", {k} failed"),
    };
    fact("Evaluations", format!("{}{failed}", found.evaluated()));
    if let Some(given) = report["given"].as_u64().filter(|&given| given > 0) {
        fact("Given, not asked for", count(given as usize, "value"));
    }
    fact("Parameters", found.dim().to_string());
    if let Some(ln_mass) = number(&report["log_prior_mass"]) {
        let part = digits(100.0 * ln_mass.exp(), 3);
        fact("The constraints leave", format!("{part} % of the prior"));
    }
    if let Some(wall) = number(&report["seconds"]) {
        fact("Time", seconds(wall));
    }
    if let Some(name) = report["method"]["name"].as_str() {
        fact("Method", name.into());
    }
    if let Some(seed) = report["seed"].as_u64() {
        fact("Seed", seed.to_string());
    }
    out
}

/// A number with as many digits as its spread makes meaningful.
fn within(x: f64, sd: f64) -> String {
    match (1e-4..1e6).contains(&sd) {
        true => fixed(x, decimals(sd) + 1),
        false => digits(x, 4),
    }
}

fn rows(found: &Findings) -> Vec<Value> {
    let row = |row: &crate::summary::Row| {
        let write = |x: f64| within(x, row.sd);
        context! {
            name => &row.name, mean => write(row.mean), sd => digits(row.sd, 2), median => write(row.median),
            low => write(row.interval[0]), high => write(row.interval[1]),
            best => row.best.map(write),
        }
    };
    summary(found).iter().map(row).collect()
}

fn derived(found: &Findings) -> Vec<Value> {
    let all = found.report["derived"].as_object();
    let row = |(name, one): (&String, &serde_json::Value)| {
        let number = |json: &serde_json::Value| json.as_f64().unwrap_or(f64::NAN);
        let sd = number(&one["sd"]);
        let write = |json: &serde_json::Value| within(number(json), sd);
        context! {
            name, mean => write(&one["mean"]), sd => digits(sd, 2), low => write(&one["interval"][0]),
            high => write(&one["interval"][1]), own => digits(number(&one["interpolation_sd"]), 2),
        }
    };
    all.into_iter().flatten().map(row).collect()
}

fn kinds(found: &Findings) -> Vec<Value> {
    let kinds = found.trust.iter().flat_map(|trust| &trust.kinds);
    let kind = |kind: &crate::findings::Kind| {
        let d = decimals(kind.log_z_sd.unwrap_or(f64::NAN));
        context! {
            label => &kind.label,
            weight => format!("{:.0} %", 100.0 * kind.weight),
            log_z => kind.log_z.map(|x| fixed(x, d)),
            log_z_sd => kind.log_z_sd.map(|x| fixed(x, d)),
            widening => format!("{:.2}", kind.widening),
        }
    };
    kinds.map(kind).collect()
}

/// What else there is to judge by: a name, a value, and what it means.
fn checks(found: &Findings) -> Vec<Value> {
    let mut out = Vec::new();
    let mut check = |name: &str, value: String, meaning: String| {
        out.push(context! { name, value, meaning });
    };
    let report = &found.report;
    let number = |json: &serde_json::Value| json.as_f64();
    let answer = number(&report["log_z"]).zip(number(&report["log_z_sd"]));
    let audit = &report["audit"];
    match number(&audit["log_z"]).zip(number(&audit["log_z_sd"])) {
        Some((log_z, sd)) => {
            let d = decimals(sd);
            let apart = answer.map_or(String::new(), |(own, own_sd)| {
                format!(
                    "It is {} of their joint standard deviations away from the answer. ",
                    fixed((log_z - own).abs() / sd.hypot(own_sd), 1)
                )
            });
            let n = audit["evaluations"].as_u64().unwrap_or(0) as usize;
            check(
                "Audit",
                format!("log Z = {} ± {}", fixed(log_z, d), fixed(sd, d)),
                format!(
                    "{apart}It trusts no model: true values at {} drawn from the belief.",
                    count(n, "point")
                ),
            );
        }
        None if found.trust.is_none() => {}
        None => check(
            "Audit",
            "none".into(),
            "Give a part of the budget to an audit (audit = 0.2) for a check that trusts no model."
                .into(),
        ),
    }
    if let Some(trust) = &found.trust {
        let meaning = match trust.hindsight > 1.0 {
            true => {
                "The interval of log Z after three quarters of the evaluations was too narrow for where log Z \
                     is now, so the present one is made wider by this factor."
            }
            false => {
                "The interval of log Z after three quarters of the evaluations held what log Z is now: \
                      nothing had to be made wider."
            }
        };
        check(
            "Hindsight",
            format!("× {:.2}", trust.hindsight),
            meaning.into(),
        );
    }
    if let Some(error) = number(&report["node_error"]).filter(|_| found.trust.is_some()) {
        let part = answer.map_or(String::new(), |(_, sd)| {
            format!(", {:.1} % of the standard deviation", 100.0 * error / sd)
        });
        check(
            "Node error",
            format!("{}{part}", digits(error, 2)),
            "The error of adding up the belief, in parts of Z. It is inside the interval.".into(),
        );
    }
    if let Some(climb) = climb(&report["climb"]) {
        check("Narrow peak", climb.0, climb.1.into());
    }
    out
}

/// How the climb to a narrow peak went, and what it means; `None` without one.
fn climb(climb: &serde_json::Value) -> Option<(String, &'static str)> {
    let frames = climb["frames"].as_array()?;
    let Some(first) = frames.first() else {
        return Some((
            "its top is not reached yet".into(),
            "Far below the top nothing is known of Z: raise the budget.",
        ));
    };
    let images = match climb["images"].as_u64().unwrap_or(1) {
        0 | 1 => String::new(),
        images => format!(", {images} mirrored peaks"),
    };
    let peaks = match climb["peaks"].as_u64().unwrap_or(1) {
        0 | 1 => String::new(),
        peaks => format!(" of {peaks} peaks"),
    };
    let after = count(first.as_u64().unwrap_or(0) as usize, "evaluation");
    Some((
        format!(
            "top reached after {after}, {}{peaks} since{images}",
            count(frames.len(), "frame")
        ),
        "The posterior is a small part of the prior. The run climbed to it, and models f in coordinates of the \
         peak's own size and shape. It may have missed another peak as narrow, far from this one.",
    ))
}

fn failures(found: &Findings) -> Option<Value> {
    let all = found.failures.len();
    if all == 0 {
        return None;
    }
    let given_up = found.failures.iter().filter(|one| one.is_given_up).count();
    let listed = found.failures.iter().take(MOST_FAILURES).map(|one| {
        let x: Vec<String> = one.x.iter().map(|&x| short(x)).collect();
        context! { x, reason => &one.reason, seconds => seconds(one.seconds) }
    });
    Some(context! {
        all => count(all, "attempt"),
        given_up => count(given_up, "point"),
        listed => listed.collect::<Vec<_>>(),
        unlisted => all.saturating_sub(MOST_FAILURES),
    })
}

fn times(found: &Findings) -> Vec<(String, String)> {
    let spent = spent(found);
    let workers = found.budget["workers"].as_u64().unwrap_or(1);
    let mut out = vec![
        ("In all".to_string(), seconds(spent.wall)),
        ("In the integrand".into(), seconds(spent.integrand)),
    ];
    if workers > 1 {
        let busy = format!("{workers}, busy {:.0} % of the time", 100.0 * spent.busy);
        out.push(("Workers".into(), busy));
    } else {
        match spent.choosing > 0.0 {
            true => {
                out.push(("Choosing points, about".into(), seconds(spent.choosing)));
                out.push(("Fitting and the rest, about".into(), seconds(spent.fitting)));
            }
            false => out.push(("Fitting and choosing".into(), seconds(spent.fitting))),
        }
        out.push((
            "The worker was busy".into(),
            format!("{:.0} %", 100.0 * spent.busy),
        ));
    }
    if let Some(journal) = found.report["seconds_in_journal"].as_f64() {
        out.push(("Writing the journal".into(), seconds(journal)));
    }
    let n = found.evaluated();
    if n > 0 {
        let each = spent.integrand / n as f64;
        out.push(("One evaluation, on average".into(), seconds(each)));
    }
    out
}

fn pretty(json: &serde_json::Value) -> Option<String> {
    match json.is_null() {
        true => None,
        false => serde_json::to_string_pretty(json).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::climb;
    use serde_json::json;

    #[test]
    fn the_climb_says_how_many_frames_peaks_and_images_there_are() {
        let words = |json| climb(&json).map(|(words, _)| words);
        assert_eq!(words(json!(null)), None);
        let under_way = json!({"frames": [], "peaks": 0, "images": 1});
        assert_eq!(words(under_way).unwrap(), "its top is not reached yet");
        let one = json!({"frames": [40], "peaks": 1, "images": 2});
        let one = words(one).unwrap();
        assert_eq!(
            one,
            "top reached after 40 evaluations, 1 frame since, 2 mirrored peaks"
        );
        let two = json!({"frames": [40, 71, 90], "peaks": 2, "images": 1});
        let two = words(two).unwrap();
        assert_eq!(
            two,
            "top reached after 40 evaluations, 3 frames of 2 peaks since"
        );
    }
}

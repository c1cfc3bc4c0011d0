//! Say what a run has found, in a table a person can read.

use crate::args::{self, Look};
use crate::figures;
use crate::output::{self, number, seconds};
use warpquad::session::{Climbed, Report, Session};
use warpquad::{Error, Result};

/// The table of a report.
pub fn print(report: &Report) {
    let outcome = &report.outcome;
    let estimate = &outcome.estimate;
    let [low, high] = report.ln_z_interval();
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |label: &str, text: String| rows.push((label.into(), text));
    row("verdict", report.verdict().into());
    for reason in &report.reasons {
        row(reason.code, reason.sentence.clone());
    }
    if report.ln_z().is_nan() {
        row(
            "Z",
            format!("{} +- {}", number(estimate.mean()), number(estimate.sd())),
        );
    } else {
        row(
            "log Z",
            format!("{} +- {}", number(report.ln_z()), number(report.ln_z_sd())),
        );
        row(
            "95 % interval",
            format!("[{}, {}]", number(low), number(high)),
        );
        row("log of the mean", number(estimate.ln_mean()));
    }
    if let Some(audit) = &report.audit {
        let plural = if audit.evaluations == 1 { "" } else { "s" };
        row(
            "audit",
            format!(
                "{} +- {} from {} evaluation{plural} drawn from the belief",
                number(audit.ln_z),
                number(audit.ln_z_sd),
                audit.evaluations
            ),
        );
    }
    if outcome.theta.is_some() {
        row("node error", number(estimate.relative_node_error()));
    }
    let failed = match report.failures {
        0 => String::new(),
        k => format!(", {k} failed"),
    };
    row("evaluations", format!("{}{failed}", outcome.evaluations));
    if let Some(climb) = &report.climb {
        row("climb", climb_words(climb));
    }
    row(
        "time",
        format!(
            "{}, {} in the integrand, {} in the journal",
            seconds(report.seconds),
            seconds(report.seconds_in_integrand),
            seconds(report.seconds_in_journal)
        ),
    );
    row("stopped by", report.stop.clone());
    let part = |name: &str| report.method[name].as_str().unwrap_or("").to_string();
    let parts = match outcome.theta {
        None => String::new(),
        Some(_) => format!(
            " ({} warp, {}, {}-space)",
            part("warp"),
            part("kernel"),
            part("fit")
        ),
    };
    row("method", part("name") + &parts);
    if let Some(theta) = &outcome.theta {
        let lengths = theta.coordinate_lengths();
        let lengths = report.names.iter().zip(lengths.iter());
        let lengths: Vec<String> = lengths
            .map(|(n, l)| format!("{n} {}", number(*l)))
            .collect();
        row("length scales", lengths.join(", "));
        if let Some(effects) = &theta.effects {
            let percent = 100.0 * effects.share;
            row("main effects", format!("{percent:.0} % of the variance"));
        }
    }
    row("seed", report.seed.to_string());
    for warning in &report.warnings {
        row("warning", warning.clone());
    }
    output::rows(&rows);
}

/// How a climb to a narrow peak went, in words.
fn climb_words(climb: &Climbed) -> String {
    let Some(first) = climb.frames.first() else {
        return "to a narrow peak, its top not reached yet".into();
    };
    let images = match climb.images {
        1 => String::new(),
        images => format!(", {images} mirrored peaks"),
    };
    let count = climb.frames.len();
    let plural = if count == 1 { "" } else { "s" };
    format!("top of a narrow peak after {first} evaluations, {count} frame{plural} since{images}")
}

pub fn report(args: &args::Report) -> Result<()> {
    if args.html.is_some() || args.plots.is_some() {
        return figures::report(args);
    }
    if args.parameters.is_some() {
        let reason = "are for the figures: give --html FILE or --plots DIR too";
        return Err(Error::spec("parameters", reason));
    }
    let mut session = Session::peek(&args.run)?;
    let report = look(&mut session)?;
    if args.json {
        output::json(&report.to_json());
    } else {
        print(&report);
    }
    Ok(())
}

fn look(session: &mut Session) -> Result<Report> {
    let stop = session.last_stop().unwrap_or("running").to_string();
    Report::new(session, &stop)
}

pub fn status(args: &Look) -> Result<()> {
    let mut session = Session::peek(&args.run)?;
    let (n, pending, failures) = (
        session.evaluations(),
        session.pending().len(),
        session.failures(),
    );
    let limit = session.problem().budget.evaluations;
    let stop = session.last_stop().unwrap_or("running").to_string();
    // Before the first positive value there is nothing to say about Z.
    let outcome = session.outcome().ok();
    if args.json {
        output::json(&serde_json::json!({
            "evaluations": n, "budget": limit, "pending": pending, "failures": failures,
            "stop": stop,
            "log_z": outcome.as_ref().map(|o| o.law.ln_quantile(0.5)),
            "log_z_interval": outcome.as_ref().map(|o| o.ln_interval(0.95)),
        }));
        return Ok(());
    }
    let of = limit.map_or(String::new(), |limit| format!("/{limit}"));
    let z = outcome.map_or("log Z not known yet".into(), |o| {
        let [low, high] = o.ln_interval(0.95);
        format!(
            "log Z {} [{}, {}]",
            number(o.law.ln_quantile(0.5)),
            number(low),
            number(high)
        )
    });
    output::line(&format!(
        "{n}{of} evaluations, {pending} pending, {failures} failed, {stop}; {z}"
    ));
    Ok(())
}

//! Say what a run has found, in a table a person can read.

use crate::args::{self, Look};
use crate::figures;
use crate::groups::{self, Group, Tone};
use crate::output::{self, interval, measured, number, seconds, within};
use std::path::Path;
use warpquad::session::spec::Problem;
use warpquad::session::{Climbed, Report, Session, count};
use warpquad::{Error, Result};

/// The report in groups, the verdict first.
pub fn print(report: &Report) {
    let mut groups = vec![verdict(report)];
    groups.extend(warnings(report));
    groups.push(answer(report));
    groups.extend(derived(report));
    groups.extend([checks(report), cost(report), parts(report)]);
    // A baseline has nothing to check.
    groups.retain(|group| group.tone() != Tone::Plain || !group.is_empty());
    groups::print(&groups);
}

fn verdict(report: &Report) -> Group {
    let tone = match report.reasons.is_empty() {
        true => Tone::Good,
        false => Tone::Bad,
    };
    let mut group = Group::new(&format!("verdict  {}", report.verdict()), tone);
    for reason in &report.reasons {
        group.row(reason.code, &reason.sentence);
    }
    group
}

fn warnings(report: &Report) -> Option<Group> {
    let mut group = Group::new("warnings", Tone::Bad);
    for warning in &report.warnings {
        group.row("warning", warning);
    }
    (!report.warnings.is_empty()).then_some(group)
}

/// Within so many nats of 0 Z itself is worth a line: e^7 is about a thousand.
const ORDER_ONE: f64 = 7.0;

fn answer(report: &Report) -> Group {
    let mut group = Group::new("answer", Tone::Plain);
    let estimate = &report.outcome.estimate;
    let z = measured(estimate.mean(), estimate.sd());
    if report.ln_z().is_nan() {
        group.row("Z", z);
        return group;
    }
    let sd = report.ln_z_sd();
    group.row("log Z", measured(report.ln_z(), sd));
    group.row("95 % interval", interval(report.ln_z_interval(), sd));
    group.row("log of the mean", within(estimate.ln_mean(), sd));
    if let Some(ln_mass) = report.ln_prior_mass {
        let text = format!("{}, of the constraints", number(ln_mass));
        group.row("log prior mass", text);
    }
    if report.ln_z().abs() < ORDER_ONE {
        group.row("Z", z);
    }
    group
}

/// Derived quantities, with how much of each is interpolation.
fn derived(report: &Report) -> Option<Group> {
    let mut group = Group::new("derived", Tone::Plain);
    for one in &report.derived {
        let own = number(one.interpolation_sd);
        let (value, ends) = (measured(one.mean, one.sd), interval(one.interval, one.sd));
        let text = format!("{value}, 95 % {ends}, interpolated to {own}");
        group.row(&one.name, text);
    }
    (!report.derived.is_empty()).then_some(group)
}

fn checks(report: &Report) -> Group {
    let mut group = Group::new("checks", Tone::Plain);
    if let Some(audit) = &report.audit {
        let plural = if audit.evaluations == 1 { "" } else { "s" };
        let text = format!(
            "{} from {} evaluation{plural} drawn from the belief",
            measured(audit.ln_z, audit.ln_z_sd),
            audit.evaluations
        );
        group.row("audit", text);
    }
    if report.outcome.theta.is_some() {
        let error = report.outcome.estimate.relative_node_error();
        group.row("node error", format!("{error:.1e} of Z"));
    }
    if let Some(climb) = &report.climb {
        group.row("climb", climb_words(climb));
    }
    group
}

fn cost(report: &Report) -> Group {
    let mut group = Group::new("cost", Tone::Plain);
    let failed = match report.failures {
        0 => String::new(),
        k => format!(", {k} failed"),
    };
    group.row("evaluations", format!("{}{failed}", report.evaluations()));
    if report.given > 0 {
        group.row(
            "given",
            format!("{} not asked for", count(report.given, "value")),
        );
    }
    if let Some(looked) = &report.looked {
        let near = looked.near;
        group.row(
            "another prior",
            format!("{} near its posterior", count(near, "evaluation")),
        );
    }
    for initial in &report.initial {
        group.row("initial", initial.words());
    }
    let time = format!(
        "{}, {} in the integrand, {} in the journal",
        seconds(report.seconds),
        seconds(report.seconds_in_integrand),
        seconds(report.seconds_in_journal)
    );
    group.row("time", time);
    group.row("stopped by", &report.stop);
    group
}

/// What the answer was made with.
fn parts(report: &Report) -> Group {
    let mut group = Group::new("made with", Tone::Plain);
    let part = |name: &str| report.method[name].as_str().unwrap_or("").to_string();
    let theta = report.outcome.theta.as_ref();
    let parts = theta.map_or(String::new(), |_| {
        let [warp, kernel, fit] = ["warp", "kernel", "fit"].map(part);
        format!(" ({warp} warp, {kernel}, {fit}-space)")
    });
    group.row("method", part("name") + &parts);
    if let Some(theta) = theta {
        let lengths = theta.coordinate_lengths();
        let lengths = report.names.iter().zip(lengths.iter());
        let lengths: Vec<String> = lengths
            .map(|(n, l)| format!("{n} {}", number(*l)))
            .collect();
        group.row("length scales", lengths.join(", "));
        if let Some(effects) = &theta.effects {
            let percent = 100.0 * effects.share;
            group.row("main effects", format!("{percent:.0} % of the variance"));
        }
    }
    group.row("seed", report.seed.to_string());
    group
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
    let peaks = match climb.peaks {
        0 | 1 => String::new(),
        peaks => format!(" of {peaks} peaks"),
    };
    let count = climb.frames.len();
    let plural = if count == 1 { "" } else { "s" };
    format!(
        "top of a narrow peak after {first} evaluations, {count} frame{plural}{peaks} since{images}"
    )
}

pub fn report(args: &args::Report) -> Result<()> {
    if args.html.is_some() || args.plots.is_some() {
        return figures::report(args);
    }
    if args.parameters.is_some() {
        let reason = "are for the figures: give --html FILE or --plots DIR too";
        return Err(Error::spec("parameters", reason));
    }
    let mut session = match &args.prior {
        Some(prior) => under(&args.run, prior)?,
        None => Session::peek(&args.run)?,
    };
    let report = look(&mut session)?;
    if args.json {
        output::json(&report.to_json());
    } else {
        print(&report);
    }
    Ok(())
}

/// The run in a directory under the prior of a file.
pub fn under(run: &Path, prior: &Path) -> Result<Session> {
    let name = prior.display().to_string();
    let problem = Problem::parse_prior(&output::read(prior)?);
    let problem = problem.map_err(|error| Error::from(error.in_file(&name)))?;
    let session = Session::peek(run)?;
    let stop = session.last_stop().unwrap_or("running").to_string();
    let mut under = session.under(problem)?;
    under.set_last_stop(&stop);
    Ok(under)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_climb_says_how_many_frames_peaks_and_images_there_are() {
        let climb = |frames: &[usize], peaks, images| Climbed {
            has_ended: true,
            frames: frames.to_vec(),
            peaks,
            images,
        };
        let one = climb_words(&climb(&[40], 1, 2));
        assert!(
            one.ends_with("after 40 evaluations, 1 frame since, 2 mirrored peaks"),
            "{one}"
        );
        let two = climb_words(&climb(&[40, 71, 90], 2, 1));
        assert!(
            two.ends_with("after 40 evaluations, 3 frames of 2 peaks since"),
            "{two}"
        );
    }
}

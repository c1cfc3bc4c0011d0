//! Say what a run has found, for people and for programs.

use super::Session;
use super::audit::Audit;
use super::derived::DerivedMarginal;
use super::event::theta_json;
use super::initial::Initial;
use super::setup::exceeded;
use super::verdict::{Evidence, Reason, SETTLED, UNSETTLED, reasons};
use super::words::count;
use crate::baseline::BaselineOutcome;
use crate::data::Value;
use crate::engine::{Engine, Looked, Outcome};
use crate::error::Result;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Something that a reader of the result should know.
pub type Warning = String;

/// How a climb to a narrow peak went.
#[derive(Debug, Clone, PartialEq)]
pub struct Climbed {
    /// Whether its top is known.
    pub has_ended: bool,
    /// The number of values after which each frame was taken: the first when the climb had ended.
    pub frames: Vec<usize>,
    /// How many peaks have frames.
    pub peaks: usize,
    /// How many images each has under exchanges of parameters, itself among them.
    pub images: usize,
}

impl Climbed {
    fn to_json(&self) -> Json {
        json!({
            "ended": self.has_ended, "frames": self.frames, "peaks": self.peaks,
            "images": self.images,
        })
    }
}

/// What a run has found.
#[derive(Debug, Clone)]
pub struct Report {
    /// The law of Z.
    pub outcome: Outcome,
    /// How many of the values were given without being asked for.
    pub given: usize,
    /// What became of what was known before the run.
    pub initial: Vec<Initial>,
    /// Failed attempts.
    pub failures: usize,
    /// Seconds of wall clock, of all the processes that worked on the run one after another.
    pub seconds: f64,
    /// Seconds that evaluations took, added up over workers.
    pub seconds_in_integrand: f64,
    /// Seconds of writing the journal.
    pub seconds_in_journal: f64,
    /// Why the run stopped, or "running".
    pub stop: String,
    /// The method's parts.
    pub method: Json,
    /// What the audit found, if there was one.
    pub audit: Option<Audit>,
    /// Why the answer is not settled; empty if it is.
    pub reasons: Vec<Reason>,
    /// The climb to a narrow peak, if there was one.
    pub climb: Option<Climbed>,
    /// How well the run looked where the posterior is, if the prior is not the run's own.
    pub looked: Option<Looked>,
    /// The marginals of derived quantities.
    pub derived: Vec<DerivedMarginal>,
    /// ln of the mass that constraints leave of the prior; `None` without constraints.
    pub ln_prior_mass: Option<f64>,
    /// What to know.
    pub warnings: Vec<Warning>,
    /// The seed.
    pub seed: u64,
    /// The parameters' names.
    pub names: Vec<String>,
}

impl Report {
    /// The report of a session that stopped for this reason.
    pub fn new(session: &mut Session, stop: &str) -> Result<Report> {
        let outcome = session.outcome()?;
        let audit = session.audit();
        let looked = session.looked()?;
        let derived = session.derived_marginals()?;
        let mut warnings = warnings(session, &outcome, audit.as_ref(), stop);
        warnings.extend(derived.iter().filter_map(uncertain));
        let evidence = evidence(session, &outcome, audit.as_ref())?;
        let reasons = reasons(&Evidence { looked, ..evidence });
        Ok(Report {
            reasons,
            climb: climbed(session),
            looked,
            given: session.given(),
            initial: session.initial().to_vec(),
            ln_prior_mass: session.problem().ln_prior_mass()?,
            failures: session.failures(),
            seconds: session.seconds(),
            seconds_in_integrand: session.seconds_in_integrand(),
            seconds_in_journal: session.seconds_in_journal(),
            stop: stop.into(),
            method: session.method_json(),
            warnings,
            derived,
            audit,
            seed: session.seed(),
            names: session.problem().names.clone(),
            outcome,
        })
    }

    /// Evaluations of the run: values that it rests on, without those that were given.
    pub fn evaluations(&self) -> usize {
        self.outcome.evaluations - self.given
    }

    /// The median of ln Z; NaN where Z is negative.
    pub fn ln_z(&self) -> f64 {
        self.outcome.law.ln_quantile(0.5)
    }

    /// The standard deviation of ln Z, the node rule's error included.
    pub fn ln_z_sd(&self) -> f64 {
        self.outcome.ln_sd()
    }

    /// The central 95 % of ln Z, the node rule's error included.
    pub fn ln_z_interval(&self) -> [f64; 2] {
        self.outcome.ln_interval(0.95)
    }

    /// "settled", or "unsettled" where there is a reason.
    pub fn verdict(&self) -> &'static str {
        match self.reasons.is_empty() {
            true => SETTLED,
            false => UNSETTLED,
        }
    }

    /// The object that `--json` prints.
    pub fn to_json(&self) -> Json {
        let estimate = &self.outcome.estimate;
        let reasons: Vec<Json> = self.reasons.iter().map(Reason::to_json).collect();
        json!({
            "verdict": self.verdict(),
            "reasons": reasons,
            "log_z": self.ln_z(),
            "log_z_sd": self.ln_z_sd(),
            "log_z_interval": self.ln_z_interval(),
            "log_z_mean": estimate.ln_mean(),
            "node_error": estimate.relative_node_error(),
            "z": estimate.mean(),
            "z_sd": estimate.sd_with_nodes(),
            "log_prior_mass": self.ln_prior_mass,
            "audit": self.audit.as_ref().map(Audit::to_json),
            "evaluations": self.evaluations(),
            "given": self.given,
            "initial": self.initial.iter().map(Initial::to_json).collect::<Vec<_>>(),
            "failures": self.failures,
            "seconds": self.seconds,
            "seconds_in_integrand": self.seconds_in_integrand,
            "seconds_in_journal": self.seconds_in_journal,
            "stop": self.stop,
            "method": self.method,
            "climb": self.climb.as_ref().map(Climbed::to_json),
            "another_prior": self.looked.map(|looked| {
                json!({"outside": looked.outside, "near": looked.near})
            }),
            "derived": self.derived.iter().map(|one| (one.name.clone(), one.to_json()))
                .collect::<serde_json::Map<_, _>>(),
            "hyperparameters": self.outcome.theta.as_ref().map(theta_json),
            "warnings": self.warnings,
            "version": env!("CARGO_PKG_VERSION"),
            "seed": self.seed,
        })
    }
}

/// Kinds of models with less weight are no reason to doubt an answer.
const DOUBTED_WEIGHT: f64 = 0.15;

/// What the verdict is made from.
fn evidence(session: &mut Session, outcome: &Outcome, audit: Option<&Audit>) -> Result<Evidence> {
    let models = session.models_say(DOUBTED_WEIGHT)?;
    let effective_draws = session.effective_draws()?;
    let noise = session.problem().settings.noise.unwrap_or(0.0);
    let (law, estimate) = (&outcome.law, &outcome.estimate);
    let answer = session.engine().and_then(Engine::answered);
    let (_, values) = session.observations();
    let above = estimate.ln_mean() - law.ln_quantile(0.5);
    Ok(Evidence {
        evaluations: values.len(),
        frames: session
            .engine()
            .map_or(Vec::new(), Engine::frames_since_climb),
        dim: session.problem().names.len(),
        // A negative Z has no logarithm.
        tail_nats: if above.is_finite() { above } else { 0.0 },
        ln_z_sd: if above.is_finite() {
            outcome.ln_sd()
        } else {
            0.0
        },
        node_error: estimate.relative_node_error(),
        belief_sd: law.ln_sd(),
        ln_f: values.iter().map(|value| value.ln_abs()).collect(),
        is_climbing: session.engine().is_some_and(Engine::is_climbing),
        is_signed: session.problem().settings.range.lo < 0.0,
        noise_sd: noise.sqrt(),
        failed_part: answer.and_then(|answer| answer.doubts.failed_part),
        looked_elsewhere: session.engine().and_then(Engine::has_looked_elsewhere),
        outside_part: answer.and_then(|answer| answer.doubts.outside_part),
        suspected_noise_sd: answer.and_then(|answer| answer.doubts.noise_sd),
        widening: answer.map(|answer| answer.ensemble.widening()),
        models,
        audit: audit.and_then(|audit| audit.warning(outcome, |x| session.at(x))),
        failures: session.failures(),
        effective_draws,
        has_model: session.baseline().is_none(),
        looked: None,
    })
}

fn climbed(session: &Session) -> Option<Climbed> {
    let engine = session.engine()?;
    let frames = engine.frames();
    let images = frames
        .last()
        .map_or(1, |frame| frame.peak.images().len().max(1));
    engine.climb().map(|_| Climbed {
        has_ended: !engine.is_climbing(),
        frames: frames.iter().map(|frame| frame.n).collect(),
        peaks: engine.components(),
        images,
    })
}

fn warnings(
    session: &Session,
    outcome: &Outcome,
    audit: Option<&Audit>,
    stop: &str,
) -> Vec<Warning> {
    let mut out = Vec::new();
    match audit {
        Some(audit) => out.extend(audit.warning(outcome, |x| session.at(x))),
        None => out.extend(unaudited(session, stop)),
    }
    out.extend(beyond(session));
    let (_, values) = session.observations();
    out.extend(repeated(values));
    // A baseline climbs on purpose, and says itself when too few points carry Z.
    if session.baseline().is_none() {
        out.extend(late_jump(values));
    }
    let (node, sd) = (outcome.estimate.relative_node_error(), outcome.law.ln_sd());
    // Half a percent of Z is below what anyone asks of an evidence.
    if node > 0.5 * sd && node > 5e-3 {
        out.push(format!(
            "the node rule's error in ln Z, {node:.1e}, is not small beside the belief's own, \
             {sd:.1e}: raise method.nodes"
        ));
    }
    out.extend(session.baseline().and_then(doubtful));
    out.extend(failed(session));
    out
}

/// How many evaluations failed, and the first line of what the last of them said.
fn failed(session: &Session) -> Option<Warning> {
    let all = session.failures();
    let last = session.account().failures.pop()?;
    let said = last.reason.lines().next().unwrap_or("").to_string();
    let which = if all == 1 { "it said" } else { "the last said" };
    Some(format!(
        "{} failed; {which}: {said}",
        count(all, "evaluation")
    ))
}

/// What a baseline's own error estimate does not say.
fn doubtful(known: &BaselineOutcome) -> Option<Warning> {
    if !known.complete {
        return Some(
            "not an answer yet: the first pass has not come to its end, and the interval is what it leaves \
             possible; raise the budget"
                .into(),
        );
    }
    // Below this the spread that the error comes from is that of a handful of points.
    let few = known.effective.filter(|&effective| effective < 50.0)?;
    Some(format!(
        "Z is carried by about {few:.1} points: the error is not to be trusted, and Z is likely to be \
         larger; try smc or nested, or raise the budget"
    ))
}

/// A run that another limit stopped has not come to its audit.
fn unaudited(session: &Session, stop: &str) -> Option<Warning> {
    let early = ["log_z_sd", "seconds"].contains(&stop);
    (early && session.problem().budget.audit.is_some()).then(|| {
        format!(
            "no audit: the run was stopped by {stop} before it, and the audit is the last part of the evaluations"
        )
    })
}

/// The method was asked for where it is out of its reach.
fn beyond(session: &Session) -> Option<Warning> {
    let dim = session.problem().names.len();
    let most = exceeded(session.method()?, dim)?;
    Some(format!(
        "{dim} dimensions are out of reach of integration by a surrogate, which ends at about \
         {most}: do not trust the interval; check with smc or nested"
    ))
}

/// A marginal that is as much of the interpolation as of the posterior.
fn uncertain(one: &DerivedMarginal) -> Option<Warning> {
    (one.interpolation_sd > 0.5 * one.sd).then(|| {
        format!(
            "{} is interpolated with an sd of {:.2e}, of the {:.2e} of its marginal: raise the budget, \
             or evaluate it at the draws of `warpquad posterior`",
            one.name, one.interpolation_sd, one.sd
        )
    })
}

/// The same finite value again and again looks like a failure disguised as a value.
fn repeated(values: &[Value]) -> Option<Warning> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for Value::Linear(x) | Value::Log(x) in values.iter().copied() {
        if x.is_finite() && x != 0.0 {
            *counts.entry(x.to_bits()).or_default() += 1;
        }
    }
    let (bits, times) = counts
        .into_iter()
        .max_by_key(|&(bits, count)| (count, bits))?;
    // A constant f repeats too, and is no failure.
    if times < 3 || times == values.len() || times * 10 < values.len() {
        return None;
    }
    Some(format!(
        "the value {} came back {times} times: is it what the integrand says when it fails?",
        f64::from_bits(bits)
    ))
}

/// A value far above all others late in a run moved the scale of everything.
fn late_jump(values: &[Value]) -> Option<Warning> {
    let start = (values.len() / 2).max(10);
    let ln = |value: &Value| match *value {
        Value::Linear(f) => f.abs().ln(),
        Value::Log(ln_f) => ln_f,
    };
    let mut top = values
        .iter()
        .take(start)
        .map(ln)
        .fold(f64::NEG_INFINITY, f64::max);
    for (i, value) in values.iter().enumerate().skip(start) {
        // e^20 above the best of so many points: a mode that narrow is rare, a sentinel is not.
        if ln(value) > top + 20.0 {
            return Some(format!(
                "evaluation {} is {value}, {:.0} nats above all before it: a new mode, or a \
                 failure disguised as a value?",
                i + 1,
                ln(value) - top
            ));
        }
        top = top.max(ln(value));
    }
    None
}

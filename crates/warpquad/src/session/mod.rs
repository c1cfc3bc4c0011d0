//! Run a problem: ask and tell over a journal that loses nothing.

mod audit;
mod change;
mod coroutine;
pub mod evaluator;
mod event;
pub mod expression;
mod guard;
mod integrator;
mod journal;
pub mod options;
mod replay;
mod report;
mod runner;
mod setup;
pub mod spec;
mod suggest;
mod target;

pub use audit::Audit;
pub use guard::within;
pub use report::{Report, Warning};
pub use runner::{Progress, Stop, run};
pub use setup::{baseline, method, source, table};

use crate::baseline::BaselineOutcome;
use crate::data::Value;
use crate::engine::{Engine, LastFit, Method, Outcome};
use crate::error::{Error, Result};
use crate::points::Points;
use evaluator::{Answer, Task};
use event::{Drawn, Event};
use integrator::Integrator;
use journal::Journal;
use spec::{OnFailure, Problem};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// So many points given up, with no success at all, stop a run that skips failures: a program that
/// always fails would otherwise burn the whole budget.
const HOPELESS: usize = 10;

/// A run of a problem: an engine, and the journal that restores it.
///
/// ```
/// use warpquad::session::{Session, evaluator::Answer, spec::Problem};
/// use warpquad::Value;
/// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
/// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
/// for _ in 0..12 {
///     let task = session.ask()?;
///     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
/// }
/// let z = session.outcome()?;
/// assert!((z.law.ln_quantile(0.5) + 0.5 * 3.0_f64.ln()).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    problem: Problem,
    engine: Integrator,
    journal: Option<Journal>,
    /// Everything that happened, as the journal has it.
    events: Vec<Event>,
    seed: u64,
    next_id: u64,
    pending: BTreeMap<u64, Vec<f64>>,
    /// How often a pending point has failed.
    attempts: BTreeMap<u64, usize>,
    failed: Points,
    /// Failed attempts, given up or not.
    failures: usize,
    told: Vec<(u64, Value)>,
    /// How the points of the audit were drawn.
    audit: BTreeMap<u64, Drawn>,
    /// The last estimate, if it met the target.
    narrow: Option<target::Narrow>,
    /// Why the run last stopped, if it has not gone on since.
    last_stop: Option<String>,
    /// Seconds that earlier processes took, and when this one began, if it works on the run.
    seconds_before: f64,
    began: Option<Instant>,
    seconds_in_integrand: f64,
    seconds_in_journal: f64,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// The value is kept.
    Kept,
    /// The evaluation failed and is to be tried again.
    Again(Task),
    /// The evaluation failed and the point is given up.
    GivenUp,
    /// The evaluation failed and the run has to stop, for this reason.
    Stop(String),
}

impl Session {
    /// A run that is kept in memory only.
    pub fn new(problem: Problem, text: &str, seed: u64) -> Result<Session> {
        Session::start(problem, text, seed, None)
    }

    /// A run kept in a directory that has none yet.
    pub fn create(problem: Problem, text: &str, seed: u64, dir: &Path) -> Result<Session> {
        Session::start(problem, text, seed, Some(dir))
    }

    fn start(problem: Problem, text: &str, seed: u64, dir: Option<&Path>) -> Result<Session> {
        let planned = problem.budget.evaluations;
        setup::audit(&problem)?;
        let mut session = Session::empty(problem, seed, planned)?;
        let first = Event::Start {
            program: env!("CARGO_PKG_VERSION").into(),
            problem: session.problem.canonical(),
            text: text.into(),
            seed,
            method: session.method_json(),
        };
        if let Some(dir) = dir {
            session.journal = Some(Journal::create(dir, &first)?);
        }
        session.events.push(first);
        Ok(session)
    }

    fn empty(problem: Problem, seed: u64, planned: Option<usize>) -> Result<Session> {
        let failed = Points::empty(problem.names.len())?;
        Ok(Session {
            engine: Integrator::new(&problem, seed, planned)?,
            problem,
            journal: None,
            events: Vec::new(),
            seed,
            next_id: 0,
            pending: BTreeMap::new(),
            attempts: BTreeMap::new(),
            failed,
            failures: 0,
            told: Vec::new(),
            audit: BTreeMap::new(),
            narrow: None,
            last_stop: None,
            seconds_before: 0.0,
            began: Some(Instant::now()),
            seconds_in_integrand: 0.0,
            seconds_in_journal: 0.0,
        })
    }

    /// Whether a directory holds a run.
    pub fn exists(dir: &Path) -> bool {
        Journal::exists(dir)
    }

    /// Go on with the run in a directory. If a problem is given it must be the run's own: the same
    /// integrand, range, parameters in order, and priors; its budget may differ.
    pub fn open(dir: &Path, problem: Option<Problem>) -> Result<Session> {
        let (journal, events) = Journal::open(dir)?;
        let mut session = Session::replay(events, problem)?;
        session.journal = Some(journal);
        Ok(session)
    }

    /// Look at the run in a directory, which may be going on; nothing is written.
    pub fn peek(dir: &Path) -> Result<Session> {
        let mut session = Session::replay(Journal::peek(dir)?, None)?;
        session.began = None;
        if session.last_stop.is_none() {
            let word = if Journal::in_use(dir) {
                "running"
            } else {
                "unfinished"
            };
            session.last_stop = Some(word.into());
        }
        Ok(session)
    }

    /// The run as the lines of its journal, whether or not a directory holds them.
    pub fn to_lines(&self) -> String {
        let lines = self.events.iter();
        lines.map(|event| journal::seal(&event.to_json())).collect()
    }

    /// The run that [`Session::to_lines`] wrote, to be looked at or gone on with in memory.
    pub fn from_lines(lines: &str) -> Result<Session> {
        let (events, _) = journal::parse(lines.as_bytes())?;
        let mut session = Session::replay(events, None)?;
        session.began = None;
        Ok(session)
    }

    fn keep(&mut self, id: u64, x: &[f64], value: Value, seconds: f64) -> Result<()> {
        self.engine.tell(x, value)?;
        self.told.push((id, value));
        self.attempts.remove(&id);
        self.seconds_in_integrand += seconds;
        Ok(())
    }

    fn count_failure(&mut self, id: u64, seconds: f64, last: bool) -> Result<()> {
        self.failures += 1;
        self.seconds_in_integrand += seconds;
        *self.attempts.entry(id).or_insert(0) += 1;
        if last {
            self.attempts.remove(&id);
            if let Some(x) = self.pending.remove(&id) {
                self.failed.push(&x)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, event: &Event) -> Result<()> {
        let started = Instant::now();
        if let Some(journal) = &mut self.journal {
            journal.append(event)?;
        }
        self.events.push(event.clone());
        self.seconds_in_journal += started.elapsed().as_secs_f64();
        self.last_stop = None;
        Ok(())
    }

    /// The next point to evaluate; it is in the journal when this returns.
    pub fn ask(&mut self) -> Result<Task> {
        let before = self.engine.last_fit().map(|fit| fit.n);
        let (x, audit) = self.choose()?;
        let fit = self
            .engine
            .last_fit()
            .cloned()
            .filter(|fit| Some(fit.n) != before);
        if let Some(LastFit {
            theta,
            n,
            full,
            tau,
        }) = fit
        {
            self.record(&Event::Fit {
                n,
                full: full == n,
                theta,
                tau,
            })?;
        }
        self.hand_out(x, audit)
    }

    /// The next point, and how likely it was if it was drawn for the audit.
    fn choose(&mut self) -> Result<(Vec<f64>, Option<Drawn>)> {
        if self.audit_is_due()
            && let Some(draw) = self.engine.draw(self.next_id)?
        {
            return Ok((draw.x, Some((draw.ln_ratio, draw.misses))));
        }
        let mut pending = Points::empty(self.failed.dim())?;
        for x in self.pending.values() {
            pending.push(x)?;
        }
        Ok((self.engine.ask(&pending, &self.failed)?, None))
    }

    /// Ask for a point of the caller's own choice.
    pub fn ask_for(&mut self, x: Vec<f64>) -> Result<Task> {
        self.hand_out(x, None)
    }

    fn hand_out(&mut self, x: Vec<f64>, audit: Option<Drawn>) -> Result<Task> {
        if let Some(journal) = &self.journal {
            journal.reserve()?;
        }
        let id = self.next_id;
        self.record(&Event::Ask {
            id,
            x: x.clone(),
            audit,
        })?;
        self.audit.extend(audit.map(|draw| (id, draw)));
        self.next_id += 1;
        self.engine.asked(&x);
        self.pending.insert(id, x.clone());
        Ok(Task { id, x })
    }

    /// Take an answer, by the problem's policy for failures; it is in the journal when this returns.
    pub fn tell(&mut self, id: u64, answer: Answer, seconds: f64) -> Result<Told> {
        let Some(x) = self.pending.get(&id).cloned() else {
            let reason = match self.told.iter().any(|(told, _)| *told == id) {
                true => format!("point {id} has been told already"),
                false => format!("point {id} was not asked for; ask first, and tell its id"),
            };
            return Err(Error::spec("id", reason));
        };
        let at = self.seconds();
        match within(self.problem.settings.range, answer) {
            Answer::Value(value) => {
                self.record(&Event::Tell {
                    id,
                    value,
                    seconds,
                    at,
                })?;
                self.pending.remove(&id);
                self.keep(id, &x, value, seconds)?;
                Ok(Told::Kept)
            }
            Answer::Failure(failure) => {
                let tries = self.attempts.get(&id).copied().unwrap_or(0) + 1;
                let retry = self.problem.settings.on_failure == OnFailure::Retry;
                let again = failure.recoverable && retry && tries <= self.problem.settings.retries;
                let skip =
                    failure.recoverable && self.problem.settings.on_failure == OnFailure::Skip;
                let reason = failure.reason.clone();
                self.record(&Event::Fail {
                    id,
                    reason,
                    seconds,
                    at,
                    last: skip,
                })?;
                self.count_failure(id, seconds, skip)?;
                let hopeless = self.told.is_empty() && self.failed.len() >= HOPELESS;
                let first = match skip && hopeless {
                    true => format!("no evaluation has succeeded, {} failed; ", self.failures),
                    false => String::new(),
                };
                Ok(match (again, skip && !hopeless) {
                    (true, _) => Told::Again(Task { id, x }),
                    (_, true) => Told::GivenUp,
                    _ => Told::Stop(format!(
                        "{first}failed at {}: {}",
                        self.at(&x),
                        failure.reason
                    )),
                })
            }
        }
    }

    /// A point with its parameters' names.
    fn at(&self, x: &[f64]) -> String {
        let pairs = self.problem.names.iter().zip(x);
        let texts: Vec<String> = pairs.map(|(name, x)| format!("{name} = {x}")).collect();
        texts.join(", ")
    }

    /// Say in the journal that the run stopped.
    pub fn stopped(&mut self, reason: &str) -> Result<()> {
        if self.last_stop.as_deref() == Some(reason) {
            return Ok(());
        }
        self.record(&Event::Stop {
            reason: reason.into(),
            at: self.seconds(),
            in_journal: self.seconds_in_journal,
        })?;
        self.last_stop = Some(reason.into());
        Ok(())
    }

    /// Let go of the run's directory, for other processes; whether there was one. What happens
    /// later is kept in memory only.
    pub fn release(&mut self) -> bool {
        self.journal.take().is_some()
    }

    /// Why the run last stopped; `None` if it has gone on since, or never did. Of a run that was
    /// only looked at and has not stopped: "running", or "unfinished" if no process works on it.
    pub fn last_stop(&self) -> Option<&str> {
        self.last_stop.as_deref()
    }

    /// Points asked for and not told, in the order they were asked.
    pub fn pending(&self) -> Vec<Task> {
        let pending = self.pending.iter();
        pending.map(|(&id, x)| Task { id, x: x.clone() }).collect()
    }

    /// Values kept so far.
    pub fn evaluations(&self) -> usize {
        self.told.len()
    }

    /// Points that were given up.
    pub fn given_up(&self) -> usize {
        self.failed.len()
    }

    /// Failed attempts.
    pub fn failures(&self) -> usize {
        self.failures
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The parts of Bayesian quadrature; `None` for a baseline.
    pub fn method(&self) -> Option<&Method> {
        self.engine.method()
    }

    /// What a baseline knows; `None` for Bayesian quadrature, and before the first estimate.
    pub fn baseline(&self) -> Option<&BaselineOutcome> {
        self.engine.baseline()
    }

    /// The method by name and by parts.
    pub fn method_json(&self) -> serde_json::Value {
        self.engine.json(&self.problem)
    }

    /// Whether a point can be asked for now: a baseline may have to be told all of its batch first.
    pub fn is_ready(&self) -> bool {
        self.engine.is_ready()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Every observation, with its point.
    pub fn observations(&self) -> (&Points, &[Value]) {
        self.engine.observations()
    }

    /// Seconds that evaluations took, added up over workers.
    pub fn seconds_in_integrand(&self) -> f64 {
        self.seconds_in_integrand
    }

    /// Seconds of wall clock that the run has taken, in this process and in earlier ones; of one
    /// that was killed, up to its last answer.
    pub fn seconds(&self) -> f64 {
        let now = self
            .began
            .map_or(0.0, |began| began.elapsed().as_secs_f64());
        self.seconds_before + now
    }

    /// Seconds spent writing the journal, in this process and in earlier ones that were not killed.
    pub fn seconds_in_journal(&self) -> f64 {
        self.seconds_in_journal
    }

    /// What is known of Z. Looking leaves no trace in the run.
    pub fn outcome(&mut self) -> Result<Outcome> {
        self.engine.outcome(&self.problem)
    }

    /// The engine, which knows the posterior besides Z; `None` for a method that keeps no belief.
    pub fn engine(&self) -> Option<&Engine> {
        self.engine.engine()
    }
}

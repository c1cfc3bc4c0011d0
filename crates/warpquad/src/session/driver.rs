//! Decide what a run does next: a machine without files, threads or a clock.
//!
//! All that a run decides is decided here, for every front end: what to evaluate, what to make of
//! an answer, and when to stop. Whoever drives it asks for [`Next`] whenever a worker is free and
//! hands every answer back. The time is passed in, in seconds. An event is written to a [`Record`]
//! before it counts, and a journal is replayed through [`Driver::apply`], which takes events in.

mod apply;
mod estimate;
mod fate;
mod follows;
mod give;
mod seen;

use super::audit;
use super::book::Record;
use super::derived::Derived;
use super::estimates::Estimates;
use super::evaluator::{Answer, Failure, Task};
use super::event::{AuditDraw, Event};
use super::guard::within;
use super::initial::Initial;
use super::integrator::Integrator;
use super::setup;
use super::spec::{OnFailure, Problem};
use super::stop::{FinalFailure, Next, Stop, Taken, named};
use super::target::Target;
use crate::data::Value;
use crate::engine::{Engine, LastFit, Outcome};
use crate::error::{Error, Result};
use crate::measure::Measure;
use crate::points::Points;
use fate::{Fate, fate, limit};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// So many points given up, with no success at all, stop a run that skips failures: a program that
/// always fails would otherwise burn the whole budget.
const HOPELESS: usize = 10;

/// When an answer came, and what it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Seconds of the evaluation.
    pub seconds: f64,
    /// Seconds of wall clock that the run had taken by then.
    pub at: f64,
}

/// The state of a run.
#[derive(Debug)]
pub(super) struct Driver {
    problem: Problem,
    integrator: Integrator,
    /// How many points are asked for at once.
    batch: usize,
    next_id: u64,
    /// Points asked for and not told.
    pending: BTreeMap<u64, Vec<f64>>,
    /// Those of the pending points that nobody evaluates, in the order in which they are handed
    /// out: what a killed process left behind, points to be tried again, and the rest of a batch.
    queue: VecDeque<u64>,
    /// How often a pending point has failed.
    attempts: BTreeMap<u64, usize>,
    /// Points that were given up.
    given_up: Points,
    /// Failed attempts, given up or not.
    failures: usize,
    told: Vec<(u64, Value)>,
    /// What was derived beside a value, by its place among those told.
    derived: BTreeMap<usize, Derived>,
    /// How many of them were given without being asked for.
    given: usize,
    /// What became of what was known before.
    initial: Vec<Initial>,
    /// How the points of the audit were drawn.
    audit: BTreeMap<u64, AuditDraw>,
    target: Target,
    estimates: Estimates,
    /// What the last estimate said.
    estimate: Option<Outcome>,
    /// Why no more points are handed out.
    stop: Option<Stop>,
    /// Why the run last stopped, if it has not gone on since.
    last_stop: Option<String>,
    seconds_in_integrand: f64,
}

impl Driver {
    /// A run that has not begun.
    pub fn new(problem: Problem, integrator: Integrator) -> Result<Driver> {
        let given_up = Points::empty(problem.names.len())?;
        Ok(Driver {
            batch: problem.method.batch.unwrap_or(1),
            problem,
            integrator,
            next_id: 0,
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
            attempts: BTreeMap::new(),
            given_up,
            failures: 0,
            told: Vec::new(),
            derived: BTreeMap::new(),
            given: 0,
            initial: Vec::new(),
            audit: BTreeMap::new(),
            target: Target::default(),
            estimates: Estimates::default(),
            estimate: None,
            stop: None,
            last_stop: None,
            seconds_in_integrand: 0.0,
        })
    }

    /// What to do next, now that a worker is free and the run has taken so many seconds.
    pub fn next(&mut self, seconds: f64, book: &mut dyn Record) -> Result<Next> {
        if let Some(stop) = self.stop_at(seconds) {
            return Ok(match self.under_way() {
                0 => Next::Stop(stop),
                _ => Next::Wait,
            });
        }
        if self.queue.is_empty() {
            self.ask_batch(book)?;
        }
        Ok(match (self.next_queued(), self.under_way()) {
            (Some(task), _) => Next::Evaluate(task),
            // Nothing is under way and there is nothing to hand out: all evaluations are in.
            (None, 0) => Next::Stop(Stop::Evaluations),
            (None, _) => Next::Wait,
        })
    }

    /// Why no more points are handed out, after so many seconds.
    pub fn stop_at(&mut self, seconds: f64) -> Option<Stop> {
        if self.stop.is_none() {
            self.stop = limit(&self.problem.budget, self.spent(), seconds);
        }
        self.stop.clone()
    }

    /// Stop without waiting for what is under way, which stays pending: why the run stopped.
    pub fn interrupt(&mut self) -> Stop {
        self.stop.get_or_insert(Stop::Interrupted).clone()
    }

    /// A point that has been asked for already, within the budget: with its whole batch at once a
    /// vectorised function is called once.
    pub fn next_queued(&mut self) -> Option<Task> {
        if self.stop.is_some() || self.spent() + self.under_way() >= self.most_evaluations() {
            return None;
        }
        let id = self.queue.pop_front()?;
        let x = self.pending.get(&id)?.clone();
        Some(Task { id, x })
    }

    /// Ask for as many points at once as the method says, within the budget.
    fn ask_batch(&mut self, book: &mut dyn Record) -> Result<()> {
        for _ in 0..self.batch {
            if self.committed() >= self.most_evaluations() || !self.integrator.is_ready() {
                break;
            }
            self.ask_one(book)?;
        }
        Ok(())
    }

    /// Choose the next point for a caller who evaluates it himself, whatever the budget.
    pub fn ask(&mut self, book: &mut dyn Record) -> Result<Task> {
        let id = self.ask_one(book)?;
        self.hand_out(id)
    }

    /// Ask for a point of the caller's own choice.
    pub fn ask_for(&mut self, x: Vec<f64>, book: &mut dyn Record) -> Result<Task> {
        if let Some(constraint) = self.problem.violated(&x)? {
            let at = self.at(&x);
            let reason = format!("{at} violates the constraint {constraint}");
            return Err(Error::spec("x", reason));
        }
        let id = self.put_in_queue(x, None, book)?;
        self.hand_out(id)
    }

    /// Give a queued point to whoever evaluates it.
    fn hand_out(&mut self, id: u64) -> Result<Task> {
        self.queue.retain(|&queued| queued != id);
        let x = self.pending.get(&id).cloned();
        let x = x.ok_or_else(|| Error::spec("id", format!("point {id} was not asked for")))?;
        Ok(Task { id, x })
    }

    /// Choose a point and put it in the queue: its number.
    fn ask_one(&mut self, book: &mut dyn Record) -> Result<u64> {
        let frames = self.integrator.frames().len();
        let before = self.integrator.fits();
        let (x, audit) = self.choose()?;
        // The engine has new frames and the fits already: they are only written down.
        let new = self.integrator.frames()[frames..].to_vec();
        let is_new = |component: usize| new.iter().any(|frame| frame.component == component);
        for frame in &new {
            book.record(&Event::Frame(frame.clone()))?;
            self.last_stop = None;
        }
        for (component, fit) in self.integrator.fits().into_iter().enumerate() {
            let known = before.get(component).and_then(Option::as_ref);
            let is_known = !is_new(component) && fit.as_ref().map(|f| f.n) == known.map(|f| f.n);
            let Some(fit) = fit.filter(|_| !is_known) else {
                continue;
            };
            book.record(&Event::Fit {
                component,
                n: fit.n,
                full: fit.full == fit.n,
                theta: fit.theta,
                tau: fit.tau,
            })?;
            self.last_stop = None;
        }
        self.put_in_queue(x, audit, book)
    }

    /// The next point, and how likely it was if it was drawn for the audit.
    fn choose(&mut self) -> Result<(Vec<f64>, Option<AuditDraw>)> {
        if self.audit_is_due()
            && let Some(draw) = self.integrator.draw(self.next_id)?
        {
            return Ok((draw.x, Some((draw.ln_ratio, draw.misses))));
        }
        let mut pending = Points::empty(self.given_up.dim())?;
        for x in self.pending.values() {
            pending.push(x)?;
        }
        Ok((self.integrator.ask(&pending, &self.given_up)?, None))
    }

    fn put_in_queue(
        &mut self,
        x: Vec<f64>,
        audit: Option<AuditDraw>,
        book: &mut dyn Record,
    ) -> Result<u64> {
        book.reserve()?;
        let id = self.next_id;
        self.commit(Event::Ask { id, x, audit }, book)?;
        Ok(id)
    }

    /// Take a value in. One that the range of f excludes is a failure.
    pub fn tell(
        &mut self,
        id: u64,
        value: Value,
        derived: Derived,
        times: Times,
        book: &mut dyn Record,
    ) -> Result<Taken> {
        let value = match within(self.problem.settings.range, Answer::Value(value)) {
            Answer::Value(value) | Answer::With(value, _) => value,
            Answer::Failure(failure) => return self.fail(id, failure, times, book),
        };
        self.pending_point(id)?;
        let Times { seconds, at } = times;
        let event = Event::Tell {
            id,
            value,
            derived,
            seconds,
            at,
        };
        self.commit(event, book)?;
        Ok(Taken::Kept)
    }

    /// Take a failure in, by the problem's policy.
    pub fn fail(
        &mut self,
        id: u64,
        failure: Failure,
        times: Times,
        book: &mut dyn Record,
    ) -> Result<Taken> {
        let x = self.pending_point(id)?.to_vec();
        let tries = self.attempts.get(&id).copied().unwrap_or(0) + 1;
        let settings = &self.problem.settings;
        let fate = fate(
            settings.on_failure,
            settings.retries,
            failure.recoverable,
            tries,
        );
        let Times { seconds, at } = times;
        let event = Event::Fail {
            id,
            reason: failure.reason.clone(),
            seconds,
            at,
            last: fate == Fate::GiveUp,
        };
        self.commit(event, book)?;
        let hopeless = self.told.is_empty() && self.given_up.len() >= HOPELESS;
        let preface = match fate {
            Fate::TryAgain => return Ok(Taken::Again(Task { id, x })),
            Fate::GiveUp if !hopeless => return Ok(Taken::GivenUp),
            Fate::GiveUp => format!("no evaluation has succeeded, {} failed; ", self.failures),
            Fate::Stop => String::new(),
        };
        let names = self.problem.names.iter().cloned();
        let last = FinalFailure {
            preface,
            id,
            point: names.zip(x).collect(),
            reason: failure.reason,
        };
        self.stop.get_or_insert(Stop::Failure(last.clone()));
        Ok(Taken::Stop(last))
    }

    /// Where a pending point is; an error that says why it is not pending.
    fn pending_point(&self, id: u64) -> Result<&[f64]> {
        self.pending.get(&id).map(Vec::as_slice).ok_or_else(|| {
            let reason = match self.told.iter().any(|(told, _)| *told == id) {
                true => format!("point {id} has been told already"),
                false => format!("point {id} was not asked for; ask first, and tell its id"),
            };
            Error::spec("id", reason)
        })
    }

    /// Write an event, then take it in: what cannot be written has not happened.
    pub fn commit(&mut self, event: Event, book: &mut dyn Record) -> Result<()> {
        book.record(&event)?;
        self.apply(event)
    }

    /// Go on after a replay, which ended when the run had taken so many seconds: nobody evaluates
    /// what is pending, and it is handed out first.
    pub fn go_on(&mut self, seconds: f64) {
        self.queue = self.pending.keys().copied().collect();
        self.estimates = Estimates::from(seconds);
    }

    fn audit_is_due(&self) -> bool {
        audit::is_due(&self.problem.budget, self.committed())
    }

    fn most_evaluations(&self) -> usize {
        self.problem.budget.evaluations.unwrap_or(usize::MAX)
    }

    /// Points that are paid for and done with: told or given up. What was given cost nothing.
    fn spent(&self) -> usize {
        self.told.len() - self.given + self.given_up.len()
    }

    /// Points that the budget has to pay for: asked for, in whatever state.
    fn committed(&self) -> usize {
        self.spent() + self.pending.len()
    }

    /// Points that someone evaluates.
    fn under_way(&self) -> usize {
        self.pending.len() - self.queue.len()
    }

    /// Go on with other options than the problem's, where they are left open: the budget, the batch
    /// and what to do about failures.
    pub fn change(&mut self, problem: Problem) -> Result<()> {
        let skip = problem.settings.on_failure == OnFailure::Skip;
        if skip && self.integrator.engine().is_none() {
            let reason = "a baseline cannot leave a point out; use \"stop\" or \"retry\"";
            return Err(Error::spec("on_failure", reason));
        }
        setup::audit(&problem)?;
        self.batch = problem.method.batch.unwrap_or(1);
        self.problem = problem;
        self.stop = None;
        Ok(())
    }

    /// Ask for so many points at once.
    pub fn set_batch(&mut self, points: usize) {
        self.batch = points.max(1);
    }

    /// A point with its parameters' names.
    pub fn at(&self, x: &[f64]) -> String {
        let names = self.problem.names.iter().map(String::as_str);
        named(names.zip(x.iter().copied()))
    }

    /// What is known of Z. Looking leaves no trace in the run.
    pub fn outcome(&mut self) -> Result<Outcome> {
        self.integrator.outcome(&self.problem)
    }

    /// Answer under another prior, which the problem has.
    pub fn answer_under(
        &mut self,
        problem: Problem,
        old: Arc<dyn Measure>,
        new: Arc<dyn Measure>,
    ) -> Result<()> {
        let reason = "a baseline keeps no belief about f that would serve another prior";
        let engine = self
            .engine_mut()
            .ok_or_else(|| Error::spec("prior", reason))?;
        *engine = engine.under(old, new)?;
        self.problem = problem;
        self.audit.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;

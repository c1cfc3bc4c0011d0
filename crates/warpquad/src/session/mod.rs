//! Run a problem: ask and tell over a journal that loses nothing.

mod account;
pub mod arguments;
mod audit;
mod book;
mod budget;
mod change;
mod coroutine;
pub mod derived;
mod driver;
mod estimates;
pub mod evaluator;
mod event;
pub mod expression;
mod guard;
mod initial;
mod integrator;
mod journal;
pub mod options;
mod replay;
mod report;
mod runner;
mod setup;
pub mod spec;
mod stop;
mod suggest;
mod target;
mod under;
pub mod verdict;
mod words;

pub use account::{Account, Evaluation, FailedAttempt, FitMade};
pub use audit::Audit;
pub use budget::bounded;
pub use guard::{LARGEST_LN_F, is_sentinel, within};
pub use initial::{Initial, Offered};
pub use integrator::OwnIntegrator;
pub use journal::{Cut, Repaired, repair};
pub use report::{Climbed, Report, Warning};
pub use runner::run;
pub use setup::{baseline, method, source, table};
pub use stop::{FinalFailure, Next, Stop, Taken};
pub use words::count;

use crate::baseline::BaselineOutcome;
use crate::data::Value;
use crate::engine::{Engine, Looked, Method, Outcome};
use crate::error::Result;
use crate::measure::Form;
use crate::points::Points;
use book::Book;
use driver::{Driver, Times};
use evaluator::{Answer, Task};
use event::Event;
use integrator::Integrator;
use journal::{Journal, Torn};
use spec::Problem;
use std::path::Path;
use std::time::Instant;

/// A run of a problem: what decides, the journal that restores it, and the clock.
///
/// By hand, [`Session::ask`] and [`Session::tell`] are all that it takes. A loop over workers asks
/// for [`Session::next`] instead, which minds the budget.
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
    driver: Driver,
    book: Book,
    /// What a crash had left of the journal's last write.
    torn: Option<Torn>,
    seed: u64,
    /// Seconds that earlier processes took, and when this one began, if it works on the run.
    seconds_before: f64,
    began: Option<Instant>,
    /// Whether someone looks, so that it is worth working out Z now and then.
    watched: bool,
}

impl Session {
    /// A run that is kept in memory only.
    pub fn new(problem: Problem, text: &str, seed: u64) -> Result<Session> {
        let integrator = Integrator::new(&problem, seed, problem.budget.evaluations)?;
        Session::start(problem, text, seed, None, integrator)
    }

    /// A run kept in a directory that has none yet.
    pub fn create(problem: Problem, text: &str, seed: u64, dir: &Path) -> Result<Session> {
        let integrator = Integrator::new(&problem, seed, problem.budget.evaluations)?;
        Session::start(problem, text, seed, Some(dir), integrator)
    }

    /// A run of an engine or a baseline that no registry has, in memory or in a directory; a run
    /// that the directory holds already is gone on with. The problem's `[method]` is not read.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use warpquad::baseline::{self, Baseline, Halt, MonteCarlo, Run};
    /// use warpquad::session::{Next, OwnIntegrator, Session, evaluator::Answer, spec::Problem};
    /// use warpquad::Value;
    ///
    /// #[derive(Debug)]
    /// struct Mine;
    /// impl Baseline for Mine {
    ///     fn name(&self) -> &'static str {
    ///         "mine"
    ///     }
    ///     fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
    ///         MonteCarlo.integrate(run)
    ///     }
    /// }
    ///
    /// let budget = "budget.evaluations = 2000";
    /// let text = &format!("integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n{budget}");
    /// let own = OwnIntegrator::Baseline(Arc::new(Mine));
    /// let mut session = Session::with_integrator(Problem::parse(text)?, text, 0, None, own)?;
    /// while let Next::Evaluate(task) = session.next()? {
    ///     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
    /// }
    /// let z = session.outcome()?;
    /// assert!((z.law.ln_quantile(0.5) + 0.5 * 3.0_f64.ln()).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_integrator(
        mut problem: Problem,
        text: &str,
        seed: u64,
        dir: Option<&Path>,
        own: OwnIntegrator,
    ) -> Result<Session> {
        problem.method.name = Some(own.name().into());
        if let Some(dir) = dir.filter(|dir| Session::exists(dir)) {
            let (journal, events, torn) = Journal::open(dir)?;
            let mut session = Session::replay(events, Some(problem), Some(own))?;
            session.book.journal = Some(journal);
            session.torn = torn;
            return Ok(session);
        }
        let integrator = own.integrator(&problem, seed, problem.budget.evaluations)?;
        Session::start(problem, text, seed, dir, integrator)
    }

    fn start(
        problem: Problem,
        text: &str,
        seed: u64,
        dir: Option<&Path>,
        integrator: Integrator,
    ) -> Result<Session> {
        setup::audit(&problem)?;
        let mut session = Session::empty(problem, seed, integrator)?;
        let first = Event::Start {
            program: env!("CARGO_PKG_VERSION").into(),
            problem: session.problem().canonical(),
            text: text.into(),
            seed,
            method: session.method_json(),
        };
        if let Some(dir) = dir {
            session.book.journal = Some(Journal::create(dir, &first)?);
        }
        session.book.events.push(first);
        Ok(session)
    }

    fn empty(problem: Problem, seed: u64, integrator: Integrator) -> Result<Session> {
        Ok(Session {
            driver: Driver::new(problem, integrator)?,
            book: Book::default(),
            torn: None,
            seed,
            seconds_before: 0.0,
            began: Some(Instant::now()),
            watched: false,
        })
    }

    /// Whether a directory holds a run.
    pub fn exists(dir: &Path) -> bool {
        Journal::exists(dir)
    }

    /// Go on with the run in a directory. If a problem is given it must be the run's own: the same
    /// integrand, range, parameters in order, and priors; its budget may differ.
    pub fn open(dir: &Path, problem: Option<Problem>) -> Result<Session> {
        let (journal, events, torn) = Journal::open(dir)?;
        let mut session = Session::replay(events, problem, None)?;
        session.book.journal = Some(journal);
        session.torn = torn;
        Ok(session)
    }

    /// Look at the run in a directory, which may be going on; nothing is written.
    pub fn peek(dir: &Path) -> Result<Session> {
        let mut session = Session::replay(Journal::peek(dir)?, None, None)?;
        session.began = None;
        if session.last_stop().is_none() {
            let word = if Journal::in_use(dir) {
                "running"
            } else {
                "unfinished"
            };
            session.driver.set_last_stop(word);
        }
        Ok(session)
    }

    /// The run as the lines of its journal, whether or not a directory holds them.
    pub fn to_lines(&self) -> String {
        journal::lines(&self.book.events)
    }

    /// The run that [`Session::to_lines`] wrote, to be looked at or gone on with in memory.
    pub fn from_lines(lines: &str) -> Result<Session> {
        let mut session = Session::replay(journal::parse(lines.as_bytes())?, None, None)?;
        session.began = None;
        Ok(session)
    }

    /// What to do next, within the budget: ask whenever a worker is free. A point that is to be
    /// evaluated is in the journal when this returns.
    ///
    /// ```
    /// use warpquad::session::{Next, Session, Stop, evaluator::Answer, spec::Problem};
    /// use warpquad::Value;
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\nbudget.evaluations = 2";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// let mut tasks = Vec::new();
    /// while let Next::Evaluate(task) = session.next()? {
    ///     tasks.push(task);
    /// }
    /// assert_eq!((tasks.len(), session.next()?), (2, Next::Wait));
    /// for task in tasks {
    ///     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
    /// }
    /// assert_eq!(session.next()?, Next::Stop(Stop::Evaluations));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    // An iterator's `next` has no error and no "wait".
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Next> {
        self.stop_now();
        self.driver.next(self.seconds(), &mut self.book)
    }

    /// Another point of the batch that [`Session::next`] began, for a function that takes several
    /// points at once.
    pub fn next_of_batch(&mut self) -> Option<Task> {
        self.driver.next_queued()
    }

    /// Why no more points are handed out, if none are: the first limit or target that is met.
    pub fn stop_now(&mut self) -> Option<Stop> {
        let began = self.seconds();
        let stop = self.driver.stop_at(began);
        if stop.is_some() || !self.driver.estimate_is_due(began, self.watched) {
            return stop;
        }
        let made = self.driver.outcome();
        let ended = self.seconds();
        self.driver.take_estimate(made, began, ended);
        self.driver.stop_at(ended)
    }

    /// Stop without waiting for what is under way, which stays pending: why the run stopped.
    pub fn interrupt(&mut self) -> Stop {
        self.driver.interrupt()
    }

    /// Say whether someone looks, so that it is worth working out Z now and then.
    pub fn set_watched(&mut self, watched: bool) {
        self.watched = watched;
    }

    /// What was known of Z when it was last worked out while the run went on.
    pub fn estimate(&self) -> Option<&Outcome> {
        self.driver.estimate()
    }

    /// The next point to evaluate, whatever the budget; it is in the journal when this returns.
    pub fn ask(&mut self) -> Result<Task> {
        self.driver.ask(&mut self.book)
    }

    /// Ask for a point of the caller's own choice.
    pub fn ask_for(&mut self, x: Vec<f64>) -> Result<Task> {
        self.driver.ask_for(x, &mut self.book)
    }

    /// Take an answer, by the problem's policy for failures; it is in the journal when this
    /// returns.
    pub fn tell(&mut self, id: u64, answer: Answer, seconds: f64) -> Result<Taken> {
        let at = self.seconds();
        let times = Times { seconds, at };
        match answer {
            Answer::Value(value) => self
                .driver
                .tell(id, value, Vec::new(), times, &mut self.book),
            Answer::With(value, derived) => {
                self.driver.tell(id, value, derived, times, &mut self.book)
            }
            Answer::Failure(failure) => self.driver.fail(id, failure, times, &mut self.book),
        }
    }

    /// Take a value at a point that was not asked for; at a pending point it answers that one. The
    /// budget does not pay for it.
    ///
    /// ```
    /// use warpquad::session::{Session, spec::Problem};
    /// use warpquad::Value;
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// for x in [-2.0, -1.0, 0.0, 1.0, 2.0_f64] {
    ///     session.tell_at(&[x], Value::Log(-x * x))?;
    /// }
    /// assert_eq!((session.given(), session.evaluations()), (5, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tell_at(&mut self, x: &[f64], value: Value) -> Result<Taken> {
        let at = self.seconds();
        self.driver.tell_at(x, value, at, &mut self.book)
    }

    /// Take in what is known before the run: values are data, and points without one are evaluated
    /// first. What the run has already is left out, so offering it again changes nothing.
    ///
    /// ```
    /// use warpquad::session::{Offered, Session, spec::Problem};
    /// use warpquad::Value;
    /// let text = "integrand.log = '-x^2'\nparameters.x.uniform = [-3, 3]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// let log = |x: f64| Some(Value::Log(-x * x));
    /// let rows = vec![(vec![0.5], log(0.5)), (vec![9.0], log(9.0)), (vec![1.0], None)];
    /// let offered = Offered { source: "last week".into(), rows, outside: 0 };
    /// let initial = session.take_initial(&offered)?;
    /// assert_eq!((initial.taken, initial.outside), (1, 1));
    /// assert_eq!(session.ask()?.x, [1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_initial(&mut self, offered: &Offered) -> Result<Initial> {
        let at = self.seconds();
        self.driver.take_initial(offered, at, &mut self.book)
    }

    /// Ask for so many points at once.
    pub fn set_batch(&mut self, points: usize) {
        self.driver.set_batch(points);
    }

    /// A point with its parameters' names.
    fn at(&self, x: &[f64]) -> String {
        self.driver.at(x)
    }

    /// Say in the journal that the run stopped.
    pub fn stopped(&mut self, reason: &str) -> Result<()> {
        if self.last_stop() == Some(reason) {
            return Ok(());
        }
        let event = Event::Stop {
            reason: reason.into(),
            at: self.seconds(),
            in_journal: self.book.seconds,
        };
        self.driver.commit(event, &mut self.book)
    }

    /// Let go of the run's directory, for other processes; whether there was one. What happens
    /// later is kept in memory only.
    pub fn release(&mut self) -> bool {
        self.book.journal.take().is_some()
    }

    /// Why the run last stopped; `None` if it has gone on since, or never did. Of a run that was
    /// only looked at and has not stopped: "running", or "unfinished" if no process works on it.
    pub fn last_stop(&self) -> Option<&str> {
        self.driver.last_stop()
    }

    /// What a crash had left of the journal's last write and opening it cut off, in words.
    pub fn torn(&self) -> Option<String> {
        self.torn.as_ref().map(Torn::to_string)
    }

    /// Points asked for and not told, in the order they were asked.
    pub fn pending(&self) -> Vec<Task> {
        self.driver.pending()
    }

    /// Values kept so far, but for those that were given without being asked for.
    pub fn evaluations(&self) -> usize {
        self.driver.told().len() - self.given()
    }

    /// Values that were given without being asked for; the budget does not pay for them.
    pub fn given(&self) -> usize {
        self.driver.given()
    }

    /// What became of what was known before the run.
    pub fn initial(&self) -> &[Initial] {
        self.driver.initial()
    }

    /// Points that were given up.
    pub fn given_up(&self) -> usize {
        self.driver.given_up()
    }

    /// Failed attempts.
    pub fn failures(&self) -> usize {
        self.driver.failures()
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        self.driver.problem()
    }

    /// The parts of a named method of Bayesian quadrature; `None` for a baseline and for an engine
    /// of the caller's own.
    pub fn method(&self) -> Option<&Method> {
        self.driver.integrator().method()
    }

    /// What a baseline knows; `None` for Bayesian quadrature, and before the first estimate.
    pub fn baseline(&self) -> Option<&BaselineOutcome> {
        self.driver.integrator().baseline()
    }

    /// The method by name and by parts.
    pub fn method_json(&self) -> serde_json::Value {
        self.driver.integrator().json(self.problem())
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Every observation, with its point.
    pub fn observations(&self) -> (&Points, &[Value]) {
        self.driver.integrator().observations()
    }

    /// Seconds that evaluations took, added up over workers.
    pub fn seconds_in_integrand(&self) -> f64 {
        self.driver.seconds_in_integrand()
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
        self.book.seconds
    }

    /// What is known of Z. Looking leaves no trace in the run.
    pub fn outcome(&mut self) -> Result<Outcome> {
        self.driver.outcome()
    }

    /// The smallest and the largest median of ln Z that a kind of models with at least this weight
    /// believes in; `None` for a method without models, or where Z has no logarithm.
    pub(super) fn models_say(&mut self, least_weight: f64) -> Result<Option<[f64; 2]>> {
        let Some(engine) = self.driver.engine_mut() else {
            return Ok(None);
        };
        if engine.ensemble()?.kinds().len() < 2 {
            return Ok(None);
        }
        let says = engine.kinds_say(least_weight)?;
        let ln_z = says.iter().map(|kind| kind.ln_z);
        let [low, high] = ln_z.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], ln_z| {
            [low.min(ln_z), high.max(ln_z)]
        });
        Ok((low.is_finite() && high.is_finite()).then_some([low, high]))
    }

    /// How well the run looked where the posterior under another prior is; `None` under its own.
    pub(super) fn looked(&mut self) -> Result<Option<Looked>> {
        self.driver.engine_mut().map_or(Ok(None), Engine::looked)
    }

    /// The effective number of draws that carry Z, for a prior that is a sample.
    pub(super) fn effective_draws(&mut self) -> Result<Option<f64>> {
        let measure = self.problem().measure()?;
        if !matches!(measure.form(), Form::Sample(_)) {
            return Ok(None);
        }
        let Some(engine) = self.driver.engine_mut() else {
            return Ok(None);
        };
        Ok(Some(engine.posterior_sample(1, 0)?.effective))
    }

    /// The engine, which knows the posterior besides Z; `None` for a method that keeps no belief.
    pub fn engine(&self) -> Option<&Engine> {
        self.driver.integrator().engine()
    }
}

//! Drive a session: keep the workers busy until the budget is met.

use super::evaluator::{Answer, Evaluator, Source, Task};
use super::spec::Budget;
use super::{Session, Told};
use crate::engine::Outcome;
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// How often the loop looks at the clock and at the interrupt while it waits.
const TICK: Duration = Duration::from_millis(50);

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The budget of evaluations is spent.
    Evaluations,
    /// The budget of seconds is spent.
    Seconds,
    /// ln Z is known as well as was asked.
    LogZSd,
    /// All evaluations of a table are in.
    Table,
    /// The user said so.
    Interrupted,
    /// An evaluation failed, and the policy is to stop.
    Failure {
        /// Which one.
        id: u64,
        /// Where, and what the integrand said.
        reason: String,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Stop::Evaluations => "evaluations",
            Stop::Seconds => "seconds",
            Stop::LogZSd => "log_z_sd",
            Stop::Table => "table",
            Stop::Interrupted => "interrupted",
            Stop::Failure { .. } => "failure",
        })
    }
}

/// Where a run is, for whoever watches.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The session.
    pub session: &'a Session,
    /// Seconds that the run has taken, in earlier processes too.
    pub seconds: f64,
    /// What is known of Z, when it has just been worked out.
    pub outcome: Option<&'a Outcome>,
}

/// Run until the budget is met. `interrupt` is looked at between events; `watch` hears of each one.
pub fn run(
    session: &mut Session,
    source: &dyn Source,
    interrupt: &AtomicBool,
    mut watch: impl FnMut(&Progress<'_>),
) -> Result<Stop> {
    // A run that has met its budget is only looked at: its integrand need not be there any more.
    if let Some(stop) = limit(session, interrupt) {
        session.stopped(&stop.to_string())?;
        return Ok(stop);
    }
    source.check()?;
    let workers = session.problem().budget.workers.max(1);
    let crew = (0..workers)
        .map(|i| source.worker(i))
        .collect::<Result<Vec<_>>>()?;
    let (answers, inbox) = mpsc::channel();
    let (mut desks, mut threads) = (Vec::new(), Vec::new());
    for (index, evaluator) in crew.into_iter().enumerate() {
        let (send, tasks) = mpsc::channel();
        let answers = answers.clone();
        threads.push(thread::spawn(move || {
            work(index, evaluator, &tasks, &answers)
        }));
        desks.push(send);
    }
    let mut dispatch = Dispatch {
        free: (0..desks.len()).rev().collect(),
        desks,
        inbox,
        again: session.pending().into(),
        estimated: 0,
        last_estimate: Instant::now(),
        cost: Duration::ZERO,
    };
    let stop = dispatch.until_done(session, interrupt, &mut watch);
    if stop.is_err() {
        dispatch.drain(session, interrupt);
    }
    let idle = dispatch.busy() == 0;
    drop(dispatch);
    if idle {
        // Let programs that stay alive finish their files. A worker that is busy still, after an
        // interrupt, may wait for a server for hours: it is left behind.
        for thread in threads {
            let _ = thread.join();
        }
    }
    let stop = stop?;
    session.stopped(&stop.to_string())?;
    Ok(stop)
}

/// The limit that is met, if one is.
fn limit(session: &Session, interrupt: &AtomicBool) -> Option<Stop> {
    let Budget {
        evaluations,
        seconds,
        ..
    } = session.problem().budget;
    if interrupt.load(Ordering::Relaxed) {
        return Some(Stop::Interrupted);
    }
    let spent = session.evaluations() + session.given_up();
    if evaluations.is_some_and(|limit| spent >= limit) {
        return Some(Stop::Evaluations);
    }
    seconds
        .is_some_and(|limit| session.seconds() >= limit)
        .then_some(Stop::Seconds)
}

/// A worker's life: evaluate what comes until nothing does.
fn work(
    index: usize,
    mut evaluator: Box<dyn Evaluator>,
    tasks: &Receiver<Task>,
    answers: &Sender<(usize, u64, Answer, f64)>,
) {
    for task in tasks {
        let started = Instant::now();
        let answer = evaluator.evaluate(&task);
        let seconds = started.elapsed().as_secs_f64();
        if answers.send((index, task.id, answer, seconds)).is_err() {
            return;
        }
    }
}

struct Dispatch {
    desks: Vec<Sender<Task>>,
    free: Vec<usize>,
    inbox: Receiver<(usize, u64, Answer, f64)>,
    /// Tasks to hand out: what a killed run left behind, retries, and the rest of a batch.
    again: VecDeque<Task>,
    /// Evaluations at the last estimate of Z.
    estimated: usize,
    last_estimate: Instant,
    /// What the last estimate took.
    cost: Duration,
}

impl Dispatch {
    fn until_done(
        &mut self,
        session: &mut Session,
        interrupt: &AtomicBool,
        watch: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Stop> {
        let mut stop = None;
        loop {
            if stop.is_none() {
                stop = limit(session, interrupt);
            }
            if stop.is_none() {
                stop = self.estimate(session, watch)?;
            }
            if stop.is_none() {
                self.hand_out(session)?;
            }
            if self.busy() == 0 {
                if let Some(stop) = stop {
                    return Ok(stop);
                }
                // Nothing under way and nothing to hand out: the budget's evaluations are all in.
                return Ok(Stop::Evaluations);
            }
            // An interrupt does not wait for what is under way: it is in the journal as pending.
            if stop == Some(Stop::Interrupted) {
                super::evaluator::end_programs();
                return Ok(Stop::Interrupted);
            }
            if let Some(failure) = self.take_one(session)? {
                stop = stop.or(Some(failure));
            }
            watch(&Progress {
                session,
                seconds: session.seconds(),
                outcome: None,
            });
        }
    }

    fn busy(&self) -> usize {
        self.desks.len() - self.free.len()
    }

    /// Keep what is under way when the run cannot go on: it is paid for.
    fn drain(&mut self, session: &mut Session, interrupt: &AtomicBool) {
        while self.busy() > 0 && !interrupt.load(Ordering::Relaxed) {
            // One error is on its way to the user already.
            let _ = self.take_one(session);
        }
        if self.busy() > 0 {
            super::evaluator::end_programs();
        }
    }

    /// Work out Z now and then: for whoever watches, and to stop when it is known well enough.
    fn estimate(
        &mut self,
        session: &mut Session,
        watch: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Option<Stop>> {
        let n = session.evaluations();
        let target = session.problem().budget.log_z_sd;
        // Every fifth more, so that a target costs a constant share of the run; for a watcher at
        // most once a second, and never more than a twentieth of the time.
        let due = n >= 8 && n >= self.estimated + (n / 5).max(2);
        let pause = Duration::from_secs(1).max(20 * self.cost);
        let wanted = target.is_some() || self.last_estimate.elapsed() >= pause;
        if !due || !wanted {
            return Ok(None);
        }
        self.estimated = n;
        let began = Instant::now();
        // Until some f is positive there is nothing to say.
        let Ok(outcome) = session.outcome() else {
            return Ok(None);
        };
        self.cost = began.elapsed();
        self.last_estimate = Instant::now();
        watch(&Progress {
            session,
            seconds: session.seconds(),
            outcome: Some(&outcome),
        });
        Ok(target
            .filter(|&target| session.is_settled(&outcome, target))
            .map(|_| Stop::LogZSd))
    }

    fn hand_out(&mut self, session: &mut Session) -> Result<()> {
        while let Some(&desk) = self.free.last() {
            let limit = session.problem().budget.evaluations;
            let committed = session.evaluations() + session.given_up() + self.busy();
            if limit.is_some_and(|limit| committed >= limit) {
                return Ok(());
            }
            if self.again.is_empty() {
                self.ask_batch(session)?;
            }
            let Some(task) = self.again.pop_front() else {
                return Ok(());
            };
            if self.desks[desk].send(task).is_err() {
                return Err(Error::spec("workers", "a worker stopped by itself"));
            }
            self.free.pop();
        }
        Ok(())
    }

    /// Ask for as many points at once as the method says, within the budget.
    fn ask_batch(&mut self, session: &mut Session) -> Result<()> {
        let limit = session.problem().budget.evaluations.unwrap_or(usize::MAX);
        for _ in 0..session.problem().method.batch.unwrap_or(1) {
            let pending = session.pending().len();
            if session.evaluations() + session.given_up() + pending >= limit || !session.is_ready()
            {
                break;
            }
            self.again.push_back(session.ask()?);
        }
        Ok(())
    }

    /// Wait a little for an answer; a reason to stop, if the answer is one.
    fn take_one(&mut self, session: &mut Session) -> Result<Option<Stop>> {
        let (desk, id, answer, seconds) = match self.inbox.recv_timeout(TICK) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::spec("workers", "all workers stopped by themselves"));
            }
        };
        self.free.push(desk);
        match session.tell(id, answer, seconds)? {
            Told::Kept | Told::GivenUp => Ok(None),
            Told::Again(task) => {
                self.again.push_back(task);
                Ok(None)
            }
            Told::Stop(reason) => Ok(Some(Stop::Failure { id, reason })),
        }
    }
}

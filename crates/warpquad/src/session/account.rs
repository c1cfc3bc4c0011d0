//! Give an account of a run: every value, failure and fit, with when it came and what it took.

use super::Session;
use super::event::Event;
use super::journal::Journal;
use crate::data::Value;
use std::collections::HashMap;
use std::path::Path;

/// A value that came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The point's number.
    pub id: u64,
    /// Where.
    pub x: Vec<f64>,
    /// f or ln f.
    pub value: Value,
    /// Seconds that the evaluation took.
    pub seconds: f64,
    /// Seconds of wall clock that the run had taken by then.
    pub at: f64,
    /// Whether it was drawn for the audit.
    pub is_audit: bool,
    /// Whether it was given without being asked for.
    pub is_given: bool,
}

/// An attempt that gave no value.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedAttempt {
    /// The point's number.
    pub id: u64,
    /// Where.
    pub x: Vec<f64>,
    /// What the integrand said.
    pub reason: String,
    /// Seconds that the attempt took.
    pub seconds: f64,
    /// Seconds of wall clock that the run had taken by then.
    pub at: f64,
    /// Whether the point was given up; otherwise it was tried again, or the run stopped.
    pub is_given_up: bool,
}

/// A fit that chose points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitMade {
    /// How many values it was made from.
    pub evaluations: usize,
    /// Whether it began from all starting points.
    pub is_full: bool,
}

/// What happened in a run, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// Values, in the order they came.
    pub evaluations: Vec<Evaluation>,
    /// Failed attempts, in the order they came.
    pub failures: Vec<FailedAttempt>,
    /// Fits, in the order they were made.
    pub fits: Vec<FitMade>,
}

impl Session {
    /// What happened so far.
    ///
    /// ```
    /// use warpquad::session::{Session, evaluator::{Answer, Failure}, spec::Problem};
    /// use warpquad::Value;
    /// let integrand = "integrand.log = '-x^2'\nintegrand.on_failure = 'skip'";
    /// let text = &format!("{integrand}\nparameters.x.normal = [0, 1]");
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// let [a, b] = [session.ask()?, session.ask()?];
    /// session.tell(a.id, Answer::Value(Value::Log(-1.0)), 0.5)?;
    /// let failure = Failure { reason: "no memory".into(), recoverable: true };
    /// session.tell(b.id, Answer::Failure(failure), 0.25)?;
    /// let account = session.account();
    /// assert_eq!((account.evaluations[0].seconds, &account.evaluations[0].x), (0.5, &a.x));
    /// let failed = &account.failures[0];
    /// assert_eq!((failed.reason.as_str(), &failed.x), ("no memory", &b.x));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn account(&self) -> Account {
        let mut account = Account::default();
        let mut asked: HashMap<u64, (&[f64], bool)> = HashMap::new();
        let unknown: (&[f64], bool) = (&[], false);
        for event in &self.book.events {
            match event {
                Event::Ask { id, x, audit } => {
                    asked.insert(*id, (x, audit.is_some()));
                }
                Event::Tell {
                    id,
                    value,
                    seconds,
                    at,
                    ..
                } => {
                    let (x, is_audit) = *asked.get(id).unwrap_or(&unknown);
                    account.evaluations.push(Evaluation {
                        id: *id,
                        x: x.to_vec(),
                        value: *value,
                        seconds: *seconds,
                        at: *at,
                        is_audit,
                        is_given: false,
                    });
                }
                Event::Given { id, x, value, at } => account.evaluations.push(Evaluation {
                    id: *id,
                    x: x.clone(),
                    value: *value,
                    seconds: 0.0,
                    at: *at,
                    is_audit: false,
                    is_given: true,
                }),
                Event::Fail {
                    id,
                    reason,
                    seconds,
                    at,
                    last,
                } => account.failures.push(FailedAttempt {
                    id: *id,
                    x: asked.get(id).unwrap_or(&unknown).0.to_vec(),
                    reason: reason.clone(),
                    seconds: *seconds,
                    at: *at,
                    is_given_up: *last,
                }),
                // A fit counts the observations in its frame; here all of them are counted.
                Event::Fit { full, .. } => account.fits.push(FitMade {
                    evaluations: account.evaluations.len(),
                    is_full: *full,
                }),
                Event::Start { .. } | Event::Initial(_) | Event::Frame(_) | Event::Stop { .. } => {}
            }
        }
        account
    }

    /// The problem file's text, as the run was started from it.
    pub fn text(&self) -> &str {
        match self.book.events.first() {
            Some(Event::Start { text, .. }) => text,
            _ => "",
        }
    }

    /// Whether a process works on the run in a directory, as far as its lock says.
    pub fn is_in_use(dir: &Path) -> bool {
        Journal::in_use(dir)
    }

    /// The length of the journal in a directory in bytes, and a checksum of it. What was worked out
    /// from a journal is true while these stay. `None` if there is none that can be read.
    pub fn journal_mark(dir: &Path) -> Option<(u64, u32)> {
        Journal::mark(dir)
    }
}

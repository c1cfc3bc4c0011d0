//! Say why a run stopped, and what became of an answer.

use super::evaluator::Task;
use std::fmt;

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
    Failure(FinalFailure),
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Stop::Evaluations => "evaluations",
            Stop::Seconds => "seconds",
            Stop::LogZSd => "log_z_sd",
            Stop::Table => "table",
            Stop::Interrupted => "interrupted",
            Stop::Failure(_) => "failure",
        })
    }
}

/// A failed evaluation that ends a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FinalFailure {
    /// What to know before the failure itself; empty, or it ends with "; ".
    pub preface: String,
    /// The evaluation's number.
    pub id: u64,
    /// The parameters' names and values.
    pub point: Vec<(String, f64)>,
    /// What the integrand said, or what is wrong with its value.
    pub reason: String,
}

impl fmt::Display for FinalFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = named(self.point.iter().map(|(name, x)| (name.as_str(), *x)));
        write!(out, "{}failed at {at}: {}", self.preface, self.reason)
    }
}

/// A point with its parameters' names.
pub(super) fn named<'a>(point: impl Iterator<Item = (&'a str, f64)>) -> String {
    let texts: Vec<String> = point.map(|(name, x)| format!("{name} = {x}")).collect();
    texts.join(", ")
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    /// The value is kept.
    Kept,
    /// The evaluation failed and is to be tried again.
    Again(Task),
    /// The evaluation failed and the point is given up.
    GivenUp,
    /// The evaluation failed and the run has to stop.
    Stop(FinalFailure),
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Evaluate the integrand at this point.
    Evaluate(Task),
    /// There is nothing to hand out before an answer comes in.
    Wait,
    /// The run is over, and nothing is under way.
    Stop(Stop),
}

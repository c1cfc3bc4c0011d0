//! Decide what becomes of a point that failed, and when a budget is spent.

use super::Stop;
use crate::session::spec::{Budget, OnFailure};

/// The limit that is met after so many evaluations and seconds, if one is.
pub(super) fn limit(budget: &Budget, evaluations: usize, seconds: f64) -> Option<Stop> {
    if budget.evaluations.is_some_and(|most| evaluations >= most) {
        return Some(Stop::Evaluations);
    }
    let late = budget.seconds.is_some_and(|most| seconds >= most);
    late.then_some(Stop::Seconds)
}

/// What becomes of a point that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    TryAgain,
    GiveUp,
    Stop,
}

/// What becomes of a point whose last try failed, by a policy.
pub(super) fn fate(on_failure: OnFailure, retries: usize, recoverable: bool, tries: usize) -> Fate {
    match on_failure {
        OnFailure::Retry if recoverable && tries <= retries => Fate::TryAgain,
        OnFailure::Skip if recoverable => Fate::GiveUp,
        _ => Fate::Stop,
    }
}

//! Decide when Z is worked out on the way, and whether it meets the target.

use super::{Driver, Outcome, Result, Stop, Target};
use crate::session::target::Verdict;

impl Driver {
    /// Whether Z is to be worked out now, for a target or for a watcher.
    pub fn estimate_is_due(&self, seconds: f64, watched: bool) -> bool {
        let target = self.problem.budget.log_z_sd.is_some();
        self.estimates
            .is_due(self.told.len(), target, watched, seconds)
    }

    /// Take an estimate in, made between two times: it may meet the target. Until some f is
    /// positive there is nothing to say, and no estimate.
    pub fn take_estimate(&mut self, made: Result<Outcome>, began: f64, ended: f64) {
        self.estimates.tried(self.told.len());
        let Ok(outcome) = made else { return };
        self.estimates.made(began, ended);
        let target = self.problem.budget.log_z_sd;
        if target.is_some_and(|sd| self.is_settled(&outcome, sd)) {
            self.stop.get_or_insert(Stop::LogZSd);
        }
        self.estimate = Some(outcome);
    }

    /// Whether a run whose ln Z is to be known to `sd` may stop, now that it knows `outcome`.
    fn is_settled(&mut self, outcome: &Outcome, sd: f64) -> bool {
        let known = self.integrator.baseline();
        if known.is_some_and(|known| !known.complete) {
            // A baseline that is not at its end has an interval, but no answer.
            self.target = Target::default();
            return false;
        }
        let settled = match self.target.hear(outcome, sd) {
            Verdict::Wide => false,
            // A run that stopped so, and has not gone on since, need not show it again.
            Verdict::Narrow => self.last_stop.as_deref() == Some(&Stop::LogZSd.to_string()),
            Verdict::Stayed => true,
        };
        // An audit that has begun comes to its end.
        settled && !self.audit_is_due()
    }
}

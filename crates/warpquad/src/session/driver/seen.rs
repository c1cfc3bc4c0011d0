//! Say what is seen of a run from outside.

use super::{
    AuditDraw, BTreeMap, Derived, Driver, Engine, Initial, Integrator, Outcome, Problem, Task,
    Value,
};

impl Driver {
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    pub fn integrator(&self) -> &Integrator {
        &self.integrator
    }

    /// The engine, to be asked for what takes work; `None` for a baseline.
    pub fn engine_mut(&mut self) -> Option<&mut Engine> {
        self.integrator.engine_mut()
    }

    /// What the last estimate said, if there was one.
    pub fn estimate(&self) -> Option<&Outcome> {
        self.estimate.as_ref()
    }

    /// Points asked for and not told, in the order they were asked.
    pub fn pending(&self) -> Vec<Task> {
        let pending = self.pending.iter();
        pending.map(|(&id, x)| Task { id, x: x.clone() }).collect()
    }

    /// The values kept so far, in the order they came.
    pub fn told(&self) -> &[(u64, Value)] {
        &self.told
    }

    /// What was derived beside a value, by its place among those told.
    pub fn derived(&self) -> &BTreeMap<usize, Derived> {
        &self.derived
    }

    /// How many of the values kept were given without being asked for.
    pub fn given(&self) -> usize {
        self.given
    }

    /// What became of what was known before.
    pub fn initial(&self) -> &[Initial] {
        &self.initial
    }

    /// How a point of the audit was drawn; `None` for any other.
    pub fn audit_draw(&self, id: u64) -> Option<AuditDraw> {
        self.audit.get(&id).copied()
    }

    /// Points that were given up.
    pub fn given_up(&self) -> usize {
        self.given_up.len()
    }

    /// Failed attempts.
    pub fn failures(&self) -> usize {
        self.failures
    }

    /// Why the run last stopped, if it has not gone on since.
    pub fn last_stop(&self) -> Option<&str> {
        self.last_stop.as_deref()
    }

    /// Say in what state a run is that is only looked at.
    pub fn set_last_stop(&mut self, word: &str) {
        self.last_stop = Some(word.into());
    }

    pub fn seconds_in_integrand(&self) -> f64 {
        self.seconds_in_integrand
    }
}

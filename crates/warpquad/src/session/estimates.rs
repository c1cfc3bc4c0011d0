//! Say when to work out Z in the middle of a run.

/// No estimate before so many evaluations.
const FIRST_EVALUATIONS: usize = 8;
/// A target costs a constant share of the run: an estimate for every fifth more evaluations.
const MORE_EVALUATIONS: usize = 5;
/// For a watcher there is at most one estimate in so many seconds.
const LEAST_PAUSE_SECONDS: f64 = 1.0;
/// For a watcher, one estimate's time is at most this part of the time until the next: 1 in 20.
const PAUSE_PER_COST: f64 = 20.0;

/// When the last estimate was made, and what it took.
#[derive(Debug, Default)]
pub(super) struct Estimates {
    evaluations: usize,
    /// Seconds on the run's clock.
    at: f64,
    cost_seconds: f64,
}

impl Estimates {
    /// The schedule of a run that goes on when its clock is at so many seconds.
    pub fn from(now: f64) -> Estimates {
        Estimates {
            at: now,
            ..Estimates::default()
        }
    }

    /// Whether an estimate is due after so many evaluations: for a target, or for a watcher.
    pub fn is_due(&self, evaluations: usize, target: bool, watched: bool, now: f64) -> bool {
        let more = (evaluations / MORE_EVALUATIONS).max(2);
        let enough = evaluations >= FIRST_EVALUATIONS && evaluations >= self.evaluations + more;
        let pause = LEAST_PAUSE_SECONDS.max(PAUSE_PER_COST * self.cost_seconds);
        enough && (target || (watched && now - self.at >= pause))
    }

    /// An estimate was tried after so many evaluations.
    pub fn tried(&mut self, evaluations: usize) {
        self.evaluations = evaluations;
    }

    /// The estimate was made in this time.
    pub fn made(&mut self, began: f64, ended: f64) {
        self.at = ended;
        self.cost_seconds = ended - began;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_looked_at_every_fifth_more_evaluations() {
        let mut estimates = Estimates::default();
        let mut at = Vec::new();
        for n in 0..=40 {
            if estimates.is_due(n, true, false, 0.0) {
                estimates.tried(n);
                at.push(n);
            }
        }
        assert_eq!(at, [8, 10, 12, 14, 17, 21, 26, 32, 39]);
    }

    #[test]
    fn a_watcher_waits_a_second_and_twenty_times_the_cost() {
        let mut estimates = Estimates::from(5.0);
        assert!(!estimates.is_due(10, false, true, 5.9));
        assert!(estimates.is_due(10, false, true, 6.0));
        estimates.tried(10);
        estimates.made(6.0, 6.5);
        assert!(!estimates.is_due(11, false, true, 99.0));
        assert!(!estimates.is_due(20, false, true, 16.4));
        assert!(estimates.is_due(20, false, true, 16.5));
        // Where nobody looks and nothing is asked for, there is no estimate.
        assert!(!estimates.is_due(20, false, false, 99.0));
    }
}

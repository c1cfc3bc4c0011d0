//! Say when ln Z is known as well as was asked, and has stayed so.

use super::{Session, Stop};
use crate::engine::Outcome;

/// An estimate that met the target: how many evaluations it rests on, and its 95 % interval.
#[derive(Debug, Clone)]
pub(super) struct Narrow {
    evaluations: usize,
    interval: [f64; 2],
}

impl Session {
    /// Whether a run whose ln Z is to be known to `sd` may stop, now that it knows `outcome`.
    ///
    /// One narrow interval can be luck: a belief is surest just before it finds what it has missed. So two estimates in a
    /// row, with evaluations between them, must meet the target, and the median of the later one must lie in the earlier
    /// one's 95 % interval. A run that stopped so, and has not gone on since, need not show it again. An audit that has begun
    /// comes to its end.
    pub fn is_settled(&mut self, outcome: &Outcome, sd: f64) -> bool {
        // A baseline that is not at its end has an interval, but no answer.
        let answered = self.baseline().is_none_or(|known| known.complete);
        if !answered || outcome.ln_sd().is_nan() || outcome.ln_sd() > sd {
            self.narrow = None;
            return false;
        }
        let now = Narrow {
            evaluations: outcome.evaluations,
            interval: outcome.ln_interval(0.95),
        };
        let median = outcome.law.ln_quantile(0.5);
        let stayed = self.narrow.as_ref().is_some_and(|earlier| {
            let [low, high] = earlier.interval;
            earlier.evaluations < now.evaluations && low <= median && median <= high
        });
        if self
            .narrow
            .as_ref()
            .is_none_or(|earlier| earlier.evaluations < now.evaluations)
        {
            self.narrow = Some(now);
        }
        let stopped = self.last_stop() == Some(&Stop::LogZSd.to_string());
        (stayed || stopped) && !self.audit_is_due()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::functional::{Estimate, Law};
    use crate::session::spec::Problem;

    /// An answer with a normal law of ln Z.
    pub fn outcome(evaluations: usize, ln_z: f64, sd: f64) -> Outcome {
        let estimate = Estimate {
            offset: 0.0,
            ln_unit: ln_z,
            mean: 1.0,
            var: sd * sd,
            node_error: 0.0,
            closed_form: false,
        };
        Outcome {
            law: Law::log_normal(ln_z, sd),
            estimate,
            theta: None,
            evaluations,
        }
    }

    /// What is said to a row of estimates (evaluations, ln Z, sd), with 0.1 as the target.
    fn said(estimates: &[(usize, f64, f64)]) -> Vec<bool> {
        let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
        let mut session = Session::new(Problem::parse(text).unwrap(), text, 0).unwrap();
        let settled = |&(n, ln_z, sd)| session.is_settled(&outcome(n, ln_z, sd), 0.1);
        estimates.iter().map(settled).collect()
    }

    #[test]
    fn two_in_a_row_that_agree() {
        assert_eq!(said(&[(10, 1.0, 0.08), (12, 1.05, 0.09)]), [false, true]);
    }

    #[test]
    fn a_wide_one_between_them_starts_afresh() {
        let row = [
            (10, 1.0, 0.08),
            (12, 1.0, 0.2),
            (14, 1.0, 0.08),
            (16, 1.0, 0.08),
        ];
        assert_eq!(said(&row), [false, false, false, true]);
    }

    #[test]
    fn a_jump_out_of_the_interval_is_not_settled() {
        let row = [(10, 1.0, 0.01), (12, 1.05, 0.01), (14, 1.06, 0.01)];
        assert_eq!(said(&row), [false, false, true]);
    }

    #[test]
    fn looking_twice_at_the_same_values_says_nothing_new() {
        assert_eq!(said(&[(10, 1.0, 0.08), (10, 1.0, 0.08)]), [false, false]);
    }
}

//! Say when ln Z is known as well as was asked, and has stayed so.

use crate::engine::Outcome;

/// What a row of estimates says of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The estimate does not meet the target.
    Wide,
    /// The estimate meets the target, and may be luck.
    Narrow,
    /// Two estimates in a row meet the target, and agree.
    Stayed,
}

/// The last estimate that met the target: how many evaluations it rests on, and its 95 % interval.
#[derive(Debug, Default)]
pub(super) struct Target {
    narrow: Option<(usize, [f64; 2])>,
}

impl Target {
    /// Hear an estimate of a run whose ln Z is to be known to `sd`.
    ///
    /// One narrow interval can be luck: a belief is surest just before it finds what it has missed.
    /// So two estimates in a row, with evaluations between them, must meet the target, and the
    /// median of the later one must lie in the earlier one's 95 % interval.
    pub fn hear(&mut self, outcome: &Outcome, sd: f64) -> Verdict {
        if outcome.ln_sd().is_nan() || outcome.ln_sd() > sd {
            self.narrow = None;
            return Verdict::Wide;
        }
        let median = outcome.law.ln_quantile(0.5);
        let later = |&(earlier, _): &(usize, _)| earlier < outcome.evaluations;
        let within = |(_, [low, high]): &(usize, [f64; 2])| *low <= median && median <= *high;
        let (new, stayed) = match &self.narrow {
            None => (true, false),
            Some(earlier) => (later(earlier), later(earlier) && within(earlier)),
        };
        if new {
            self.narrow = Some((outcome.evaluations, outcome.ln_interval(0.95)));
        }
        match stayed {
            true => Verdict::Stayed,
            false => Verdict::Narrow,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::functional::{Estimate, Law};

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
        let mut target = Target::default();
        let settled = |&(n, ln_z, sd)| target.hear(&outcome(n, ln_z, sd), 0.1) == Verdict::Stayed;
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

//! Decide how much wider than it claims the answer is: left-out errors, and hindsight.

use super::Tuning;
use super::scores::{own_share, understatement};
use crate::belief::Model;
use crate::functional::Law;

/// The interval that an estimate should stay in has this probability beyond each end.
const TAIL: f64 = 0.025;

/// How many times as uncertain as it claims a member is: by how far its left-out predictions are
/// off, and by what the models are wrong about together, which no average over them shows. What
/// declared noise of this variance leaves unknown is no fault of theirs.
pub(super) fn member_widening(model: &Model, noise: f64, tuning: &Tuning) -> f64 {
    let own = if noise > 0.0 {
        own_share(model, noise, tuning)
    } else {
        1.0
    };
    (1.0 + (tuning.shared_widening - 1.0) * own) * understatement(model, tuning)
}

/// What a law of ln Z says, for a comparison with another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Said {
    /// The median of ln Z.
    pub ln_z: f64,
    /// Half of its central 95 % interval.
    pub half_width: f64,
    /// The relative error of the nodes.
    pub node_error: f64,
}

impl Said {
    pub fn by(law: &Law, node_error: f64) -> Said {
        Said {
            ln_z: law.ln_quantile(0.5),
            half_width: 0.5 * (law.ln_quantile(1.0 - TAIL) - law.ln_quantile(TAIL)),
            node_error,
        }
    }
}

/// How many times too narrow the interval was after a part of the observations, if the present
/// median is where it should have reached; 1 at least, and no more than makes the present interval
/// as wide to each side as the median would move in as many evaluations again.
///
/// A mode that was found late, or a flank that turned out to be a peak, shows here and nowhere
/// else: all models describe the points they have.
pub(super) fn hindsight(then: Said, now: Said, part: f64) -> f64 {
    let moved = (now.ln_z - then.ln_z).abs();
    let nodes = then.node_error.hypot(now.node_error);
    let ratio = moved / then.half_width.hypot(2.0 * nodes);
    // At the pace of the last part, so far again in as many evaluations as there were before it.
    let further = moved * part / (1.0 - part);
    let wider = ratio.min(further / now.half_width);
    // A negative Z has no logarithm and no ratio.
    match wider.is_finite() {
        true => wider.max(1.0),
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ln_z: f64, half_width: f64) -> Said {
        Said {
            ln_z,
            half_width,
            node_error: 0.0,
        }
    }

    #[test]
    fn an_estimate_that_stayed_where_it_should_is_not_widened() {
        assert_eq!(hindsight(said(-3.0, 0.2), said(-3.1, 0.1), 0.75), 1.0);
    }

    #[test]
    fn one_that_moved_too_far_is_as_wide_as_it_was_wrong() {
        assert!((hindsight(said(-3.0, 0.1), said(-2.5, 0.3), 0.75) - 5.0).abs() < 1e-12);
        // ... but no wider than the way it may still go: 3 x 0.5 of a half-width of 0.6.
        assert!((hindsight(said(-3.0, 0.1), said(-2.5, 0.6), 0.75) - 2.5).abs() < 1e-12);
    }

    #[test]
    fn a_negative_z_is_not_widened() {
        assert_eq!(hindsight(said(f64::NAN, 0.1), said(-2.5, 0.3), 0.75), 1.0);
    }
}

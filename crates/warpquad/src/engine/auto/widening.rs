//! Decide how much wider than it claims the answer is: left-out errors, hindsight, and values that
//! say nothing of how f varies.

use super::Tuning;
use super::scores::{own_share, understatement};
use crate::belief::Model;
use crate::data::Value;
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

/// How many nats a 95 % interval must reach to each side where values say nothing of how f varies:
/// all are the same, or there are fewer than a first fit takes. 0 elsewhere.
///
/// n points miss a part p of the prior with probability (1 - p)^n, which is 5 % at
/// -ln(1 - p) = ln(20)/n. If f is 0 in that part, ln Z is lower by just this. What f adds if it is
/// larger there has no bound, so the same is taken above.
pub(super) fn unseen_nats(values: &[Value], first_fit: usize) -> f64 {
    let same = values.windows(2).all(|pair| pair[0] == pair[1]);
    match same || values.len() < first_fit {
        true => -(2.0 * TAIL).ln() / values.len().max(1) as f64,
        false => 0.0,
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
    fn values_that_say_nothing_leave_room_for_what_they_missed() {
        // One point misses 95 % of the prior with probability 5 %: ln Z may be lower by ln 20.
        assert!((unseen_nats(&[Value::Log(-3.0)], 8) - 20.0_f64.ln()).abs() < 1e-14);
        // 25 that are the same: (1 - p)^25 = 0.05.
        let nats = unseen_nats(&[Value::Log(-1e10); 25], 8);
        assert!(((-25.0 * nats).exp() - 0.05).abs() < 1e-14);
        let mut other = [Value::Log(-1e10); 25];
        other[3] = Value::Log(-1.0);
        assert_eq!(unseen_nats(&other, 8), 0.0);
        assert!(unseen_nats(&other[..7], 8) > 0.0);
    }

    #[test]
    fn a_negative_z_is_not_widened() {
        assert_eq!(hindsight(said(f64::NAN, 0.1), said(-2.5, 0.3), 0.75), 1.0);
    }
}

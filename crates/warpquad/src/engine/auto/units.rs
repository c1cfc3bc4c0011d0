//! Decide how far above and below the largest observation f is told apart.

use super::Tuning;
use super::scores::largest;

/// How far above the largest observation f may well be, in nats: as far as that has risen over the
/// last half of the run, within limits.
pub(super) fn headroom_nats(ln_f: &[f64], tuning: &Tuning) -> f64 {
    let best = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rise = best(ln_f) - best(&ln_f[..ln_f.len() / 2]);
    // A choice may expect no less than the answer does.
    let most = tuning.choice_headroom_nats.max(tuning.least_headroom_nats);
    rise.clamp(tuning.least_headroom_nats, most)
}

/// How far below the largest observation the others are told apart, in nats: far enough that Z
/// knows nothing of what is lower, and far enough to hold some observations for each parameter,
/// whose slope shows the way up.
///
/// A likelihood with an unknown noise falls to -10^8 nats. A smooth g that tells such depths apart
/// has no room for the peak.
pub(super) fn floor_nats(ln_f: &[f64], dim: usize, tuning: &Tuning) -> f64 {
    let count = tuning.above_floor_per_dimension * (dim + 1);
    let (top, held) = largest(ln_f.iter().copied(), count);
    let by_dimension = &tuning.floor_nats;
    let least = by_dimension[dim.clamp(1, by_dimension.len()) - 1];
    let negligible = tuning.floor_base_nats + tuning.floor_nats_per_dimension * dim as f64;
    least.max(negligible).max(top - held)
}

/// Whether f is of one order, so that its square root is a fair g. The square of g does not tell
/// one deep value from another, nor what is unknown from a hundredth of the peak.
pub(super) fn is_of_one_order(ln_f: &[f64], tuning: &Tuning) -> bool {
    let top = ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ln_f.iter().all(|ln_f| top - ln_f <= tuning.square_nats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_is_what_the_largest_value_rose_by_lately() {
        let tuning = Tuning::default();
        assert_eq!(headroom_nats(&[-9.0, -2.0, -1.0, -5.0], &tuning), 3.0);
        assert_eq!(headroom_nats(&[-9.0, -12.0, -1.0, -5.0], &tuning), 8.0);
        assert_eq!(headroom_nats(&[-900.0, -800.0, -1.0, -5.0], &tuning), 30.0);
        // Nothing to compare with: as far as a choice may expect.
        assert_eq!(headroom_nats(&[-1.0], &tuning), 30.0);
    }

    #[test]
    fn the_floor_holds_some_observations_whatever_their_depth() {
        let tuning = Tuning::default();
        let shallow = vec![0.0, -1.0, -2.0, -3.0];
        assert_eq!(floor_nats(&shallow, 1, &tuning), 300.0);
        assert_eq!(floor_nats(&shallow, 5, &tuning), 60.0);
        assert_eq!(floor_nats(&shallow, 9, &tuning), 83.0);
        let steep: Vec<f64> = (0..10).map(|k| -1000.0 * f64::from(k)).collect();
        assert_eq!(floor_nats(&steep, 1, &tuning), 5000.0);
        let zeros = [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
        assert_eq!(floor_nats(&zeros, 1, &tuning), 300.0);
    }

    #[test]
    fn one_order_is_ten_nats() {
        let tuning = Tuning::default();
        assert!(is_of_one_order(&[700.0, 697.0, 691.0], &tuning));
        assert!(!is_of_one_order(&[700.0, 697.0, 689.0], &tuning));
        assert!(!is_of_one_order(&[700.0, f64::NEG_INFINITY], &tuning));
    }
}

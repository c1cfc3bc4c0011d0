//! Decide whether a prior is too vague for a process in its coordinates.

use crate::engine::auto::{Parameters, Tuning};

/// The largest of some values; -inf without any.
pub(super) fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// Between the drops of `narrow_nats` a process looks at so many points for each parameter first.
const LATE_PER_DIMENSION: usize = 15;
/// The prior is too vague where the best value rises by more than this, and by so many sds of the
/// noise, over the last third of them.
const LATE_RISE_NATS: f64 = 3.0;
const LATE_RISE_NOISES: f64 = 4.0;

/// How much higher the best value is than before the last third of the observations; `None` while
/// there are too few.
pub(super) fn late_rise(values: &[f64], dim: usize) -> Option<f64> {
    let before = &values[..2 * values.len() / 3];
    let rise = highest(values.iter().copied()) - highest(before.iter().copied());
    (values.len() >= LATE_PER_DIMENSION * dim).then_some(rise)
}

/// The least late rise that says that a process has no room for the peak.
pub(super) fn least_late_rise(noise_sd: f64) -> f64 {
    LATE_RISE_NATS + LATE_RISE_NOISES * noise_sd
}

/// How far ln f falls over a prior that may be too vague for a process in its coordinates; beyond
/// `Tuning::narrow_nats` it is.
pub(super) fn narrow_nats(tuning: &Tuning, dim: usize) -> f64 {
    let part = match dim {
        0..=3 => 1.0,
        4 => tuning.narrow_part_of_many.sqrt(),
        _ => tuning.narrow_part_of_many,
    };
    part * tuning.narrow_nats
}

/// Whether ln f falls so far over the prior that a process in the prior's coordinates has no room
/// for the peak: the median of space-filling points is so many nats below the best of all. Where f
/// is 0 says nothing of how narrow a peak is, as long as it is positive at a few points.
pub(super) fn is_narrow(values: &[f64], top: f64, narrow_nats: f64) -> bool {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let few = finite.len() < FEW_POSITIVE;
    top - median(if few { values } else { &finite }) > narrow_nats
}

/// Fewer points where f is positive do not tell how it varies.
const FEW_POSITIVE: usize = 3;

/// Whether a parameter is a positive one over more than a decade, as the width of a noise is.
pub(super) fn has_scale(parameters: &Parameters) -> bool {
    let mut all = parameters.units.iter().zip(&parameters.is_positive);
    all.any(|(unit, positive)| unit.is_some() && *positive)
}

/// Whether ln f falls over a small part of the prior by orders of magnitude more than over most of
/// it, as a likelihood does where the width of its noise is small: the peak is at the foot of that
/// cliff, in less of the prior than a process looks at.
pub(super) fn is_funnel(values: &[f64], top: f64, tuning: &Tuning) -> bool {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let depth = top - finite.fold(f64::INFINITY, f64::min);
    let usual = (top - median(values)).max(1.0);
    depth.is_finite() && depth > tuning.funnel_nats.max(tuning.funnel_ratio * usual)
}

/// The middle one of the values, or the lower of two.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut values: Vec<f64> = values.to_vec();
    values.sort_by(|a, b| b.total_cmp(a));
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_rise_is_that_of_the_last_third() {
        let mut values = vec![-9.0; 15];
        (values[9], values[12]) = (-5.0, -1.0);
        assert_eq!(late_rise(&values[..14], 1), None);
        assert_eq!(late_rise(&values, 1), Some(4.0));
        assert_eq!(late_rise(&values, 2), None);
        values[9] = -0.5;
        assert_eq!(late_rise(&values, 1), Some(0.0));
        assert!(least_late_rise(1.0) > least_late_rise(0.0));
    }

    #[test]
    fn a_funnel_falls_far_in_a_small_part_of_the_prior() {
        let (tuning, few) = (Tuning::default(), [0.0, -3.0, -8.0, -9.0, -20.0, -2e4]);
        assert!(is_funnel(&few, 0.0, &tuning));
        // Neither a bell of any width, nor shallow drops, nor zeros.
        assert!(!is_funnel(&[0.0, -400.0, -900.0, -2e3, -1e4], 0.0, &tuning));
        assert!(!is_funnel(&[0.0, -0.1, -1.0, -2.0, -300.0], 0.0, &tuning));
        assert!(!is_funnel(
            &[0.0, -1.0, -2.0, f64::NEG_INFINITY],
            0.0,
            &tuning
        ));
        assert!(!is_funnel(
            &[f64::NEG_INFINITY; 4],
            f64::NEG_INFINITY,
            &tuning
        ));
    }

    #[test]
    fn a_peak_is_narrow_where_half_of_the_prior_is_far_below() {
        let drops = |far: f64| [0.0, -3.0, -far, -far, -2.0 * far];
        assert!(is_narrow(&drops(1e4), 0.0, 1e3));
        assert!(!is_narrow(&drops(900.0), 0.0, 1e3));
        assert!(is_narrow(
            &[-1.0, f64::NEG_INFINITY, f64::NEG_INFINITY],
            -1.0,
            1e3
        ));
        assert!(!is_narrow(&[f64::NEG_INFINITY; 4], f64::NEG_INFINITY, 1e3));
        // An order of two parameters by zeros.
        let zeros = [f64::NEG_INFINITY; 4];
        assert!(!is_narrow(&[&drops(9.0)[..], &zeros].concat(), 0.0, 1e3));
    }
}

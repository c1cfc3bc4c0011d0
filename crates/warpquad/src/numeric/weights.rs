//! Handle weights that are known by their logs: make them sum to 1, count them, resample by them.

use super::special::ln_sum_exp;

/// Weights with sum 1; `None` if none is positive or one is not finite.
///
/// ```
/// use warpquad::numeric::weights::normalised;
/// let weights = normalised(&[-900.0, -900.0, -901.0]).unwrap();
/// assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12 && weights[0] == weights[1]);
/// assert_eq!(normalised(&[f64::NEG_INFINITY]), None);
/// ```
pub fn normalised(ln_weights: &[f64]) -> Option<Vec<f64>> {
    let total = ln_sum_exp(ln_weights);
    let weights = || ln_weights.iter().map(|w| (w - total).exp()).collect();
    total.is_finite().then(weights)
}

/// The effective number of weighted points, (sum w)^2 / sum w^2; 0 if no weight is positive.
///
/// ```
/// use warpquad::numeric::weights::effective;
/// assert!((effective(&[-900.0; 7]) - 7.0).abs() < 1e-9);
/// assert_eq!(effective(&[f64::NEG_INFINITY]), 0.0);
/// ```
pub fn effective(ln_weights: &[f64]) -> f64 {
    normalised(ln_weights).map_or(0.0, |weights| {
        1.0 / weights.iter().map(|w| w * w).sum::<f64>()
    })
}

/// Systematic resampling: `count` indices, each as often as its weight says to within one. Weights
/// sum to 1. `start` in [0, 1) is the one random number.
///
/// ```
/// use warpquad::numeric::weights::systematic;
/// assert_eq!(systematic(&[0.5, 0.0, 0.25, 0.25], 4, 0.5), [0, 0, 2, 3]);
/// ```
pub fn systematic(weights: &[f64], count: usize, start: f64) -> Vec<usize> {
    let (mut sum, mut last) = (0.0, 0);
    let mut picks = Vec::with_capacity(count);
    for (i, weight) in weights.iter().enumerate() {
        sum += weight * count as f64;
        if *weight > 0.0 {
            last = i;
        }
        while picks.len() < count && picks.len() as f64 + start < sum {
            picks.push(i);
        }
    }
    // Rounding may leave the last place empty.
    picks.resize(count, last);
    picks
}

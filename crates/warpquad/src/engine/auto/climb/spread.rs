//! Work out how the best observations spread about the best one.

use crate::numeric::linalg::Mat;

/// The spread of the best observations about the best one, tempered so that about 2 d + 2 of them
/// count; along no parameter less than a hundredth of its step.
pub(super) fn spread(points: &[Vec<f64>], values: &[f64], steps: &[f64]) -> Option<Mat> {
    let d = steps.len();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return None;
    }
    let wanted = ((2 * d + 2) as f64).min(0.9 * values.len() as f64);
    let weights_at = |temperature: f64| -> Vec<f64> {
        let weigh = |v: &f64| ((v - top) / temperature).exp();
        values.iter().map(weigh).collect()
    };
    let (mut low, mut high) = (-7.0_f64, 30.0_f64);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        let weights = weights_at(middle.exp());
        let sum: f64 = weights.iter().sum();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        match sum * sum / squares < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    let weights = weights_at(high.exp());
    let total: f64 = weights.iter().sum();
    let mean = |i: usize| {
        let terms = weights.iter().zip(points);
        terms.map(|(w, z)| w * z[i]).sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..d).map(mean).collect();
    Some(Mat::from_fn(d, d, |i, j| {
        let terms = weights.iter().zip(points);
        let sum: f64 = terms
            .map(|(w, z)| w * (z[i] - mean[i]) * (z[j] - mean[j]))
            .sum();
        let least = if i == j {
            (0.01 * steps[i]).powi(2)
        } else {
            0.0
        };
        sum / total + least
    }))
}

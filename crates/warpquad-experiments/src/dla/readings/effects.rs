//! Turn runs of a design into effects: by which factor a level changes the error.

use crate::table::quantile;

/// Errors are compared between these: below the first Z is known as well as anybody asks, above the
/// second nothing is known.
const LEAST: f64 = 1e-3;
const MOST: f64 = 1e4;

/// How a level compares with the first level of its factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The median error of all its runs.
    pub median: f64,
    /// By what its errors are larger, as a geometric mean over runs that differ in nothing else.
    pub factor: f64,
    /// What the factor is known to: exp of the standard error of its ln over spectra.
    pub known_to: f64,
}

/// An effect from the errors of a level and of the first level: a list a spectrum, runs in one
/// order.
pub fn effect(level: &[Vec<f64>], first: &[Vec<f64>]) -> Effect {
    let all: Vec<f64> = level.concat();
    let gains: Vec<f64> = level.iter().zip(first).map(|(a, b)| gain(a, b)).collect();
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let squares: f64 = gains.iter().map(|x| (x - mean).powi(2)).sum();
    Effect {
        median: quantile(&all, 0.5),
        factor: mean.exp(),
        known_to: (squares / (n - 1.0) / n).sqrt().exp(),
    }
}

/// The mean of ln(a / b).
fn gain(a: &[f64], b: &[f64]) -> f64 {
    let ln = |x: f64| x.clamp(LEAST, MOST).ln();
    let sum: f64 = a.iter().zip(b).map(|(a, b)| ln(*a) - ln(*b)).sum();
    sum / a.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_a_ratio_with_its_error_over_spectra() {
        // Twice and eight times as large: four times on average, known to a factor of 2.
        let level = [vec![2.0, 4.0], vec![8.0, 16.0]];
        let first = [vec![1.0, 2.0], vec![1.0, 2.0]];
        let found = effect(&level, &first);
        assert_eq!(found.median, 6.0);
        assert!((found.factor - 4.0).abs() < 1e-12 && (found.known_to - 2.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_known_is_as_bad_as_a_huge_error() {
        let found = effect(&[vec![f64::INFINITY], vec![1e9]], &[vec![1.0], vec![1.0]]);
        assert!((found.factor / MOST - 1.0).abs() < 1e-12);
    }
}

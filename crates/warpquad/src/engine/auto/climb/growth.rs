//! Fit a line of ln f along the logarithm of a noise: a slope, and an exponential cliff.

use crate::numeric::loops::dot;

/// ln f = a + slope t - c exp(rate t), which has a top where the slope and c are of such signs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Growth {
    /// Nats for each step.
    pub slope: f64,
    /// E-folds of the cliff for each step.
    pub rate: f64,
    /// The step to the top.
    pub top: f64,
    /// How much higher the top is than the best trial, in nats.
    pub gain: f64,
}

/// E-folds of a cliff for each e-fold of the parameter: squares of a standard deviation, variances
/// and precisions, both ways.
const RATES: [f64; 6] = [2.0, 1.0, -2.0, -1.0, -0.5, 0.5];

/// The growth that explains the trials best, steps with values; `unit` is the number of e-folds of
/// the parameter for each step. `None` where none of them has a top, or with fewer than three
/// finite values. Three values are explained by any rate: then the first one counts.
pub(super) fn fitted(trials: &[(f64, f64)], unit: f64) -> Option<Growth> {
    let finite: Vec<(f64, f64)> = trials.iter().copied().filter(|t| t.1.is_finite()).collect();
    if finite.len() < 3 {
        return None;
    }
    let best = finite.iter().map(|t| t.1).fold(f64::NEG_INFINITY, f64::max);
    let of_rate = |&rate: &f64| at_rate(&finite, best, rate * unit);
    let mut fits = RATES.iter().filter_map(of_rate);
    match finite.len() {
        3 => fits.next(),
        _ => fits.min_by(|a, b| a.0.total_cmp(&b.0)),
    }
    .map(|(_, growth)| growth)
}

/// The growth of one rate with the sum of squares that it leaves. What lies far below the best
/// counts in relation to that.
fn at_rate(trials: &[(f64, f64)], best: f64, rate: f64) -> Option<(f64, Growth)> {
    let highest = trials
        .iter()
        .map(|t| rate * t.0)
        .fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = trials.iter().map(|t| 1.0 / (1.0 + best - t.1)).collect();
    let column = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
        trials
            .iter()
            .zip(&weights)
            .map(|(t, w)| w * of(t.0))
            .collect()
    };
    let columns = [
        column(&|_| 1.0),
        column(&|t| t),
        column(&|t| -(rate * t - highest).exp()),
    ];
    let drops: Vec<f64> = trials
        .iter()
        .zip(&weights)
        .map(|(t, w)| w * (t.1 - best))
        .collect();
    let ([level, slope, cliff], left) = least_squares(columns, drops)?;
    if cliff <= 0.0 || slope * rate <= 0.0 {
        return None;
    }
    let top = ((slope / (cliff * rate)).ln() + highest) / rate;
    let gain = level + slope * top - slope / rate;
    let growth = Growth {
        slope,
        rate,
        top,
        gain,
    };
    (top.is_finite() && gain.is_finite()).then_some((left, growth))
}

/// The coefficients of three columns, by orthogonalising them in turn, and the sum of squares that
/// is left.
fn least_squares(mut columns: [Vec<f64>; 3], mut values: Vec<f64>) -> Option<([f64; 3], f64)> {
    let mut r = [[0.0; 3]; 3];
    let mut along = [0.0; 3];
    for k in 0..3 {
        let (before, rest) = columns.split_at_mut(k);
        let own = &mut rest[0];
        let size = dot(own, own).sqrt();
        for (j, other) in before.iter().enumerate() {
            r[j][k] = dot(other, own);
            own.iter_mut()
                .zip(other)
                .for_each(|(o, b)| *o -= r[j][k] * b);
        }
        r[k][k] = dot(own, own).sqrt();
        if r[k][k].is_nan() || r[k][k] <= 1e-13 * size {
            return None;
        }
        own.iter_mut().for_each(|o| *o /= r[k][k]);
        along[k] = dot(own, &values);
        values
            .iter_mut()
            .zip(&*own)
            .for_each(|(v, o)| *v -= along[k] * o);
    }
    let mut found = [0.0; 3];
    for k in (0..3).rev() {
        let known: f64 = (k + 1..3).map(|j| r[k][j] * found[j]).sum();
        found[k] = (along[k] - known) / r[k][k];
    }
    Some((found, dot(&values, &values)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noise_is_known_from_four_values() {
        // 40 normal errors with the logarithm of their sd, a thousand times too small at first.
        let f = |t: f64| -40.0 * t - 0.5e7 * (-2.0 * t).exp();
        let trials = [0.0, 1.0, 3.0, 9.0].map(|t| (t, f(t)));
        let growth = fitted(&trials, 1.0).unwrap();
        assert!((growth.rate + 2.0).abs() < 1e-12);
        assert!((growth.slope + 40.0).abs() < 1e-6, "{growth:?}");
        assert!((growth.top - 0.5 * (1e7_f64 / 40.0).ln()).abs() < 1e-6);
        assert!((growth.gain - (f(growth.top) - f(9.0))).abs() < 1e-5);
    }

    #[test]
    fn a_parabola_without_a_cliff_has_a_top_too_but_a_slope_has_none() {
        assert!(fitted(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], 1.0).is_none());
        assert!(fitted(&[(0.0, 0.0), (1.0, 1.0)], 1.0).is_none());
        assert!(fitted(&[(0.0, 0.0), (1.0, f64::NEG_INFINITY), (2.0, 1.0)], 1.0).is_none());
    }
}

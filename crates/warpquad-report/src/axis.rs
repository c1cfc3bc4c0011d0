//! Decide how one parameter is laid out: on which scale, and over which window.

use crate::words::short;

/// The scale and the window of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Whether places are log10 of the parameter.
    pub is_log: bool,
    /// The ends of the window, as places.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A prior whose central 95 % span more than this factor is laid out by factors.
const LOG_FROM_FACTOR: f64 = 100.0;

/// The part of the draws that may lie outside of the window at each end.
const CUT: f64 = 0.002;

impl Axis {
    /// The axis of a parameter with these points of the prior and draws of the posterior; the
    /// window is the posterior's with a margin, never wider than the prior's.
    pub fn of(prior: &[f64], draws: &[f64]) -> Axis {
        let is_log = spans_factors(prior);
        let place = |x: f64| if is_log { x.log10() } else { x };
        let seen = if draws.is_empty() { prior } else { draws };
        let mut seen: Vec<f64> = seen.iter().map(|&x| place(x)).collect();
        seen.retain(|x| x.is_finite());
        seen.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&seen, CUT), quantile(&seen, 1.0 - CUT));
        let margin = 0.25 * (high - low);
        let (first, last) = ends(prior.iter().map(|&x| place(x)));
        let (low, high) = ((low - margin).max(first), (high + margin).min(last));
        let (low, high) = opened(low, high);
        Axis { is_log, low, high }
    }

    /// Where a value stands on the axis.
    pub fn place(&self, x: f64) -> f64 {
        if self.is_log { x.log10() } else { x }
    }

    /// The label of a place.
    pub fn label(&self, place: f64) -> String {
        short(if self.is_log {
            10f64.powf(place)
        } else {
            place
        })
    }

    /// Whether a place is within the window.
    pub fn holds(&self, place: f64) -> bool {
        (self.low..=self.high).contains(&place)
    }
}

/// Whether all points are positive and their central 95 % span a large factor.
fn spans_factors(x: &[f64]) -> bool {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = sorted.first().copied().unwrap_or(0.0);
    least > 0.0 && quantile(&sorted, 0.975) > LOG_FROM_FACTOR * quantile(&sorted, 0.025)
}

/// The least and the largest of the finite numbers; 0 and 1 without any.
pub fn ends(x: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let finite = x.filter(|x| x.is_finite());
    let (low, high) = finite.fold(start, |(low, high), x| (low.min(x), high.max(x)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// A window with an inside: one that is a point is opened to both sides.
pub fn opened(low: f64, high: f64) -> (f64, f64) {
    // Below this part of its size a difference is lost in the digits of a label.
    let least = 1e-9 * low.abs().max(high.abs()).max(1e-300);
    match high - low > least {
        true => (low, high),
        false => {
            let half = (0.05 * low.abs()).max(0.5e-3);
            (low - half, high + half)
        }
    }
}

/// The quantile of sorted numbers; NaN of none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let at = p * (sorted.len() - 1) as f64;
    let (i, part) = (at.floor() as usize, at.fract());
    let next = sorted[(i + 1).min(sorted.len() - 1)];
    sorted[i] + part * (next - sorted[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_over_decades_is_laid_out_by_factors() {
        let decades: Vec<f64> = (0..100).map(|i| 10f64.powf(0.05 * f64::from(i))).collect();
        assert!(Axis::of(&decades, &[]).is_log);
        let line: Vec<f64> = (0..100).map(|i| 1.0 + f64::from(i)).collect();
        assert!(!Axis::of(&line, &[]).is_log);
    }

    #[test]
    fn the_window_stays_within_the_prior() {
        let prior: Vec<f64> = (0..=100).map(|i| 0.01 * f64::from(i)).collect();
        let draws: Vec<f64> = (0..=100).map(|i| 0.9 + 0.001 * f64::from(i)).collect();
        let axis = Axis::of(&prior, &draws);
        assert!(
            axis.high == 1.0 && axis.low > 0.8 && axis.low < 0.9,
            "{axis:?}"
        );
    }

    #[test]
    fn a_window_always_has_an_inside() {
        for x in [0.0, 3.0, -1e9] {
            let axis = Axis::of(&[x, x], &[x]);
            assert!(axis.low < axis.high && axis.holds(x), "{axis:?}");
        }
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}

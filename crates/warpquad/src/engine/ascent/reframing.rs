//! Decide when a frame is given up for another, and how far it is trusted before.

use crate::engine::Peak;
use crate::numeric::linalg::Mat;

/// Evaluations in frames for each parameter, and for one more, before the shape of a peak is known.
const SHAPE_PER_DIMENSION: usize = 6;

/// How far the interval of ln Z must reach where so few evaluations were made in frames that a
/// process cannot know how the peak falls off: a nat for each parameter at first, nothing in the
/// end.
pub(in crate::engine) fn unknown_shape_nats(in_frames: usize, dim: usize) -> f64 {
    let needed = SHAPE_PER_DIMENSION * (dim + 1);
    dim as f64 * (1.0 - in_frames as f64 / needed as f64).max(0.0)
}

pub(super) fn scale(covariance: &mut Mat, by: f64) {
    for j in 0..covariance.cols() {
        covariance.col_mut(j).iter_mut().for_each(|c| *c *= by);
    }
}

/// The mean and covariance of weighted points.
pub(super) fn moments(points: &[Vec<f64>], weights: &[f64]) -> (Vec<f64>, Mat) {
    let (d, total) = (points[0].len(), weights.iter().sum::<f64>());
    let over = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
        let terms = points.iter().zip(weights);
        terms.map(|(z, w)| w * of(z)).sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..d).map(|i| over(&|z| z[i])).collect();
    let covariance = Mat::from_fn(d, d, |i, j| over(&|z| (z[i] - mean[i]) * (z[j] - mean[j])));
    (mean, covariance)
}

/// How far the centre may be off, in sds of the frame, and how many times wider or narrower a peak
/// may be along any axis, before a frame is given up for another one.
const CENTER_SD: f64 = 0.5;
const WIDTH: f64 = 1.35;

/// Whether a peak is another one than that of the frame.
pub(super) fn differs(frame: &Peak, peak: &Peak) -> bool {
    let d = peak.center().len();
    // The shape of the peak in coordinates in which that of the frame is the unit ball.
    let whiten = |mut v: Vec<f64>| -> Vec<f64> {
        for (i, row) in frame.factor().iter().enumerate() {
            let known: f64 = row[..i].iter().zip(&v).map(|(l, v)| l * v).sum();
            v[i] = (v[i] - known) / row[i];
        }
        v
    };
    let apart = peak.center().iter().zip(frame.center());
    let shift = whiten(apart.map(|(a, b)| a - b).collect());
    let column = |j: usize| {
        whiten(
            (0..d)
                .map(|i| peak.factor()[i].get(j).copied().unwrap_or(0.0))
                .collect(),
        )
    };
    let columns: Vec<Vec<f64>> = (0..d).map(column).collect();
    let shape = Mat::from_fn(d, d, |i, j| columns.iter().map(|c| c[i] * c[j]).sum());
    let far = shift.iter().map(|s| s * s).sum::<f64>().sqrt() > CENTER_SD;
    let Some((variances, _)) = shape.symmetric_eigen() else {
        return true;
    };
    let limits = WIDTH.powi(-2)..=WIDTH.powi(2);
    far || variances.iter().any(|v| !limits.contains(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_peak_is_known_after_a_while() {
        assert_eq!(unknown_shape_nats(0, 5), 5.0);
        assert_eq!(unknown_shape_nats(18, 5), 2.5);
        assert_eq!(unknown_shape_nats(36, 5), 0.0);
        assert_eq!(unknown_shape_nats(100, 5), 0.0);
    }

    #[test]
    fn a_frame_is_given_up_for_a_peak_elsewhere_or_of_another_width() {
        let peak = |center: f64, sd: f64| {
            Peak::new(vec![center, 0.0], vec![vec![sd], vec![0.5 * sd, 1.0]]).unwrap()
        };
        let frame = peak(3.0, 0.01);
        assert!(!differs(&frame, &frame));
        assert!(!differs(&frame, &peak(3.003, 0.011)));
        assert!(differs(&frame, &peak(3.006, 0.01)));
        assert!(differs(&frame, &peak(3.0, 0.02)) && differs(&frame, &peak(3.0, 0.005)));
    }

    #[test]
    fn moments_are_weighted() {
        let points = [vec![0.0, 1.0], vec![2.0, 1.0]];
        let (mean, covariance) = moments(&points, &[1.0, 3.0]);
        assert_eq!(mean, [1.5, 1.0]);
        assert!((covariance[(0, 0)] - 0.75).abs() < 1e-15 && covariance[(1, 1)] == 0.0);
    }
}

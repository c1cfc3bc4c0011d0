//! Put angles on circles in the plane, so that a distance between them goes the shorter way round.

use super::Theta;
use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

/// The columns that distances are taken in: a coordinate on the line is one, an angle is two.
///
/// A circle of circumference P has the radius P/(2 pi). Two of its points are as far apart as the
/// chord between them, (P/pi) sin(pi delta/P), which for P = 2 pi is 2 sin(delta/2). So every
/// kernel of r^2 stays one.
#[derive(Debug, Clone)]
pub(crate) struct Embedding {
    /// The period along each axis, if it is that of an angle.
    periods: Vec<Option<f64>>,
    /// The axis of each column.
    axes: Vec<usize>,
}

impl Embedding {
    /// Of a process with this theta.
    pub fn of(theta: &Theta) -> Embedding {
        let periods: Vec<Option<f64>> = (0..theta.dim()).map(|d| theta.period(d)).collect();
        let columns = |(d, period): (usize, &Option<f64>)| match period {
            None => vec![d],
            Some(_) => vec![d, d],
        };
        Embedding {
            axes: periods.iter().enumerate().flat_map(columns).collect(),
            periods,
        }
    }

    /// The axis of each column.
    pub fn axes(&self) -> &[usize] {
        &self.axes
    }

    fn is_flat(&self) -> bool {
        self.axes.len() == self.periods.len()
    }

    /// The columns of a point along the axes.
    pub fn columns<'a>(&self, y: &'a [f64]) -> Cow<'a, [f64]> {
        if self.is_flat() {
            return Cow::Borrowed(y);
        }
        let mut out = Vec::with_capacity(self.axes.len());
        for (y, period) in y.iter().zip(&self.periods) {
            match period {
                None => out.push(*y),
                Some(period) => {
                    let (radius, angle) = (period / TAU, TAU * y / period);
                    out.extend([radius * angle.cos(), radius * angle.sin()]);
                }
            }
        }
        Cow::Owned(out)
    }

    /// How fast each column grows along its axis.
    pub fn slopes(&self, y: &[f64]) -> Vec<f64> {
        let of = |(y, period): (&f64, &Option<f64>)| match period {
            None => vec![1.0],
            Some(period) => {
                let angle = TAU * y / period;
                vec![-angle.sin(), angle.cos()]
            }
        };
        y.iter().zip(&self.periods).flat_map(of).collect()
    }
}

/// The length of the chord under a difference on a circle, with its sign, and its slope in the
/// difference; the difference itself on a line.
pub(crate) fn chord(difference: f64, period: Option<f64>) -> (f64, f64) {
    match period {
        None => (difference, 1.0),
        Some(period) => {
            let half = PI * difference / period;
            (period / PI * half.sin(), half.cos())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Circle, Circles};
    use std::sync::Arc;

    fn theta() -> Theta {
        let circle = Circle {
            start: -1.0,
            period: 3.0,
        };
        Theta {
            circles: Circles::new(vec![None, Some(circle)]).map(Arc::new),
            ..Theta::constant(0.0, 1.0, vec![1.0; 2]).unwrap()
        }
    }

    #[test]
    fn distances_are_chords() {
        let embedding = Embedding::of(&theta());
        let (x, y) = ([0.5, -0.9], [0.5, 1.7]);
        let pairs = embedding.columns(&x).into_owned();
        let pairs = pairs.into_iter().zip(embedding.columns(&y).into_owned());
        let r2: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
        let (length, _) = chord(x[1] - y[1], Some(3.0));
        assert!((r2 - length.powi(2)).abs() < 1e-15);
        // 0.4 the other way round.
        let short = 3.0 / PI * (PI * 0.4 / 3.0).sin();
        assert!((r2.sqrt() - short).abs() < 1e-14);
        assert_eq!(embedding.axes(), [0, 1, 1]);
    }

    #[test]
    fn slopes_are_differences() {
        let (embedding, y, h) = (Embedding::of(&theta()), [0.2, 0.7], 1e-6);
        let (above, below) = ([y[0] + h, y[1] + h], [y[0] - h, y[1] - h]);
        let (above, below) = (embedding.columns(&above), embedding.columns(&below));
        for (k, slope) in embedding.slopes(&y).into_iter().enumerate() {
            assert!((slope - (above[k] - below[k]) / (2.0 * h)).abs() < 1e-9);
        }
        let (here, slope) = chord(0.4, Some(3.0));
        assert!((slope - (chord(0.4 + h, Some(3.0)).0 - here) / h).abs() < 1e-5);
    }
}

//! Fit a quadratic to the observations around the best one, and find its top.

use crate::numeric::linalg::{Cholesky, Mat, transpose_mul};
use crate::numeric::loops::dot;

/// A quadratic of ln f + ln pi around the best observation, in units of its own:
/// drop(y) = slope y + y' H y / 2 at the point center + unit y.
#[derive(Debug, Clone)]
pub(super) struct Quadratic {
    center: Vec<f64>,
    top: f64,
    unit: Vec<f64>,
    slope: Vec<f64>,
    hessian: Mat,
    /// The part of a drop that the quadratic does not explain.
    pub unexplained: f64,
    /// Observations that it was fitted to.
    observations: usize,
}

/// The way to the top of a quadratic within a radius.
#[derive(Debug, Clone)]
pub(super) struct Ascent {
    /// The step, in the quadratic's units.
    pub step: Vec<f64>,
    /// What it promises, in nats.
    pub gain: f64,
    /// What its slope alone would promise.
    pub slope_gain: f64,
    /// Whether the top lies inside the radius.
    pub is_inside: bool,
}

/// The parts of a drop that may be left unexplained; the evidence decides.
const UNEXPLAINED: [f64; 5] = [1e-4, 1e-3, 1e-2, 0.1, 0.5];
/// The sd of a coefficient, in units of a typical drop; the evidence decides.
const AMPLITUDES: [f64; 3] = [1.0, 10.0, 100.0];
/// Observations that fell by more than so many times a typical drop are of another landscape.
const FARTHEST: f64 = 1e3;
/// Typical is what so many of the best observations for each parameter have.
const TYPICAL_PER_DIMENSION: usize = 2;
/// A quadratic that leaves more of a drop unexplained does not know where the top is.
const DETERMINED: f64 = 0.1;
/// Exact observations still differ from a quadratic by so much.
const LEAST_NATS: f64 = 0.05;

/// 1, y, and the products y_i y_j with i <= j.
fn features(y: &[f64]) -> Vec<f64> {
    let mut out = vec![1.0];
    out.extend_from_slice(y);
    for i in 0..y.len() {
        out.extend(y[i..].iter().map(|other| y[i] * other));
    }
    out
}

impl Quadratic {
    /// The quadratic that the evidence is best for, by Bayesian linear regression: how much of a
    /// drop it leaves unexplained, and how large its coefficients are, are chosen. `steps` are
    /// lengths of the parameters, as far as they are known. `None` where nothing can be fitted.
    pub fn fit(points: &[Vec<f64>], values: &[f64], steps: &[Option<f64>]) -> Option<Quadratic> {
        let d = steps.len();
        let best = (0..values.len()).fold(0, |b, i| if values[i] > values[b] { i } else { b });
        let (center, top) = (points.get(best)?.clone(), *values.get(best)?);
        let mut order: Vec<usize> = (0..values.len())
            .filter(|&i| values[i].is_finite())
            .collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let typical = TYPICAL_PER_DIMENSION * (d + 1);
        let reach = top - values[*order.get(typical.min(order.len().checked_sub(1)?))?];
        let numbers = (d + 1) * (d + 2) / 2;
        order.retain(|&i| top - values[i] <= FARTHEST * reach.max(1.0));
        order.truncate(2 * numbers + 2 * d);
        // A parameter without a step is in units of its spread among the best.
        let near = &order[..typical.min(order.len())];
        let spread = |j: usize| {
            let squares = near.iter().map(|&i| (points[i][j] - center[j]).powi(2));
            let spread = (squares.sum::<f64>() / near.len() as f64).sqrt();
            if spread > 0.0 { spread } else { 1.0 }
        };
        let step = |j: usize| steps[j].unwrap_or_else(|| spread(j));
        let steps: Vec<f64> = (0..d).map(step).collect();
        let scaled = |i: usize| -> Vec<f64> {
            let apart = points[i].iter().zip(&center).zip(&steps);
            apart.map(|((z, c), s)| (z - c) / s).collect()
        };
        let mut y: Vec<Vec<f64>> = order.iter().map(|&i| scaled(i)).collect();
        let drops: Vec<f64> = order.iter().map(|&i| top - values[i]).collect();
        let near = typical.min(y.len());
        let mut square: Vec<f64> = y[..near].iter().map(|y| dot(y, y)).collect();
        square.sort_by(f64::total_cmp);
        let radius = square[near / 2].sqrt().max(1e-12);
        y.iter_mut().flatten().for_each(|y| *y /= radius);
        let (numbers, unexplained) = regression(&y, &drops, drops[near / 2].max(0.5))?;
        let slope = numbers[1..=d].to_vec();
        let mut hessian = Mat::zeros(d, d);
        let mut k = d + 1;
        for i in 0..d {
            for j in i..d {
                let twice = if i == j { 2.0 } else { 1.0 };
                hessian[(i, j)] = twice * numbers[k];
                hessian[(j, i)] = twice * numbers[k];
                k += 1;
            }
        }
        let fine = numbers.iter().all(|number| number.is_finite());
        fine.then(|| Quadratic {
            center,
            top,
            unit: steps.iter().map(|s| s * radius).collect(),
            slope,
            hessian,
            unexplained,
            observations: order.len(),
        })
    }

    /// The best value that it was fitted to.
    pub fn top(&self) -> f64 {
        self.top
    }

    /// Whether the observations leave no coefficient open, and it explains what they show.
    pub fn is_determined(&self) -> bool {
        let d = self.slope.len();
        self.observations >= (d + 1) * (d + 2) / 2 && self.unexplained <= DETERMINED
    }

    /// The way to the top within a radius, in the quadratic's units.
    pub fn ascent(&self, radius: f64) -> Option<Ascent> {
        let d = self.slope.len();
        let (curvatures, axes) = self.hessian.symmetric_eigen()?;
        let slope: Vec<f64> = (0..d).map(|k| dot(axes.col(k), &self.slope)).collect();
        let along = |shift: f64| -> Vec<f64> {
            let pairs = slope.iter().zip(&curvatures);
            pairs.map(|(s, c)| s / (shift - c)).collect()
        };
        let length = |t: &[f64]| dot(t, t).sqrt();
        let concave = curvatures.iter().all(|c| *c < -1e-12);
        let is_inside = concave && length(&along(0.0)) <= radius;
        let turned = match is_inside {
            true => along(0.0),
            false => {
                let highest = curvatures[d - 1].max(0.0);
                let size = highest.abs().max(curvatures[0].abs()) + length(&slope) / radius;
                let (mut low, mut high) = (highest, highest + 2.0 * size + 1e-12);
                for _ in 0..100 {
                    let middle = 0.5 * (low + high);
                    match length(&along(middle)) > radius {
                        true => low = middle,
                        false => high = middle,
                    }
                }
                along(high)
            }
        };
        let mut step = vec![0.0; d];
        for (k, t) in turned.iter().enumerate() {
            step.iter_mut()
                .zip(axes.col(k))
                .for_each(|(s, a)| *s += t * a);
        }
        let slope_gain = dot(&self.slope, &step);
        let gain = slope_gain + 0.5 * dot(&step, &self.hessian.mul_vec(&step));
        (gain.is_finite() && step.iter().all(|s| s.is_finite())).then_some(Ascent {
            step,
            gain,
            slope_gain,
            is_inside,
        })
    }

    /// The point after this part of a step.
    pub fn point(&self, step: &[f64], part: f64) -> Vec<f64> {
        let terms = self.center.iter().zip(&self.unit).zip(step);
        terms.map(|((c, u), s)| c + part * u * s).collect()
    }

    /// The covariance that the curvature implies, with no sd beyond `most` along any axis of the
    /// curvature in the quadratic's units.
    pub fn covariance(&self, most: f64) -> Option<Mat> {
        let d = self.slope.len();
        let (curvatures, axes) = self.hessian.symmetric_eigen()?;
        let variance = |c: &f64| match *c < 0.0 {
            true => (-1.0 / c).min(most * most),
            false => most * most,
        };
        let variances: Vec<f64> = curvatures.iter().map(variance).collect();
        Some(Mat::from_fn(d, d, |i, j| {
            let sum = |k: usize| variances[k] * axes[(i, k)] * axes[(j, k)];
            self.unit[i] * self.unit[j] * (0..d).map(sum).sum::<f64>()
        }))
    }
}

/// The coefficients of -drop in the features of y, and the part of a drop left unexplained.
fn regression(y: &[Vec<f64>], drops: &[f64], typical: f64) -> Option<(Vec<f64>, f64)> {
    let n = y.len();
    let table: Vec<Vec<f64>> = y.iter().map(|y| features(y)).collect();
    let columns = Mat::from_fn(table[0].len(), n, |i, j| table[j][i]);
    let gram = transpose_mul(&columns, &columns);
    let cubes: Vec<f64> = y
        .iter()
        .map(|y| dot(y, y).sqrt().min(30.0).powi(3))
        .collect();
    let mut best: Option<(f64, Vec<f64>, f64)> = None;
    for amplitude in AMPLITUDES {
        let variance = (amplitude * typical).powi(2);
        for part in UNEXPLAINED {
            let noise = |i: usize| {
                let terms = [LEAST_NATS, part * drops[i], part * typical * cubes[i]];
                dot(&terms, &terms)
            };
            let scale: Vec<f64> = (0..n)
                .map(|i| (variance * gram[(i, i)] + noise(i)).sqrt())
                .collect();
            let scaled = Mat::from_fn(n, n, |i, j| match i == j {
                true => 1.0 + 1e-12,
                false => variance * gram[(i, j)] / scale[i] / scale[j],
            });
            let Some(factor) = Cholesky::new(scaled) else {
                continue;
            };
            let mut solved: Vec<f64> = (0..n).map(|i| -drops[i] / scale[i]).collect();
            factor.solve_lower_vec(&mut solved);
            let ln_scales: f64 = scale.iter().map(|s| s.ln()).sum();
            let evidence = -0.5 * dot(&solved, &solved) - 0.5 * factor.ln_det() - ln_scales;
            if evidence.is_finite() && best.as_ref().is_none_or(|(most, _, _)| evidence > *most) {
                factor.solve_lower_transposed_vec(&mut solved);
                let weights: Vec<f64> = solved
                    .iter()
                    .zip(&scale)
                    .map(|(s, c)| variance * s / c)
                    .collect();
                best = Some((evidence, columns.mul_vec(&weights), part));
            }
        }
    }
    best.map(|(_, numbers, part)| (numbers, part))
}

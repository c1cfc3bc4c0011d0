//! Integrate against a sample: points of equal weight.

use super::{Chart, Coordinates, Form, Identity, Measure};
use crate::error::{Error, Result};
use crate::numeric::special::{ln_normal_pdf, ln_sum_exp};
use crate::points::Points;
use std::sync::Arc;

/// The empirical measure of n points.
///
/// # Definition
/// Mass 1/n on each point; [`quantile`](Measure::quantile) picks point floor(n u_0) and ignores the
/// other coordinates of u.
///
/// # Moments
/// Those of the sample, divided by n: they are the moments of this measure.
///
/// # Range
/// At least one point.
///
/// # Numerics
/// The measure has no density. [`ln_density`](Measure::ln_density) is that of a Gaussian kernel
/// estimate with Scott's bandwidth. This smooth stand-in ranks candidate points and serves nothing
/// else. Integrals use the points themselves.
///
/// # Reference
/// Scott, *Multivariate Density Estimation* (1992), section 6.3.
///
/// ```
/// use warpquad::{Points, measure::{Empirical, Measure}};
/// let pi = Empirical::new(Points::from_rows(&[vec![1.0], vec![2.0], vec![6.0]])?)?;
/// assert_eq!(pi.mean(), Some(vec![3.0]));
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Empirical {
    points: Arc<Points>,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    scale: Vec<f64>,
    bandwidth: Vec<f64>,
}

impl Empirical {
    /// The measure with mass 1/n on each of `points`.
    pub fn new(points: Points) -> Result<Empirical> {
        if points.is_empty() {
            return Err(Error::spec("points", "needs at least one point"));
        }
        let (n, d) = (points.len() as f64, points.dim());
        let mean = mean(&points);
        let covariance = covariance(&points, &mean);
        let scale: Vec<f64> = (0..d).map(|j| length(&points, j)).collect();
        let shrink = n.powf(-1.0 / (d as f64 + 4.0));
        let sd = |j: usize| covariance[j * d + j].sqrt();
        // A coordinate without spread takes its (arbitrary) typical length instead.
        let width = |j: usize| if sd(j) > 0.0 { sd(j) } else { scale[j] };
        let bandwidth = (0..d).map(|j| shrink * width(j)).collect();
        Ok(Empirical {
            points: Arc::new(points),
            mean,
            covariance,
            scale,
            bandwidth,
        })
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// ln of the kernel at each point, as seen from `x`.
    fn ln_kernels(&self, x: &[f64]) -> Vec<f64> {
        let kernel = |row: &[f64]| -> f64 {
            let scores = x.iter().zip(row).zip(&self.bandwidth);
            scores
                .map(|((x, c), h)| ln_normal_pdf((x - c) / h) - h.ln())
                .sum()
        };
        self.points.iter().map(kernel).collect()
    }
}

fn mean(points: &Points) -> Vec<f64> {
    let mut out = vec![0.0; points.dim()];
    for row in points.iter() {
        for (m, x) in out.iter_mut().zip(row) {
            *m += x / points.len() as f64;
        }
    }
    out
}

fn covariance(points: &Points, mean: &[f64]) -> Vec<f64> {
    let d = mean.len();
    let mut out = vec![0.0; d * d];
    for row in points.iter() {
        for i in 0..d {
            for j in 0..d {
                let product = (row[i] - mean[i]) * (row[j] - mean[j]);
                out[i * d + j] += product / points.len() as f64;
            }
        }
    }
    out
}

/// Twice the interquartile range of coordinate `j`, else its range, else one.
fn length(points: &Points, j: usize) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|row| row[j]).collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let range = values[n - 1] - values[0];
    let quartiles = 2.0 * (values[(3 * n) / 4] - values[n / 4]);
    if quartiles > 0.0 {
        quartiles.min(range)
    } else if range > 0.0 {
        range
    } else {
        1.0
    }
}

impl Measure for Empirical {
    fn dim(&self) -> usize {
        self.points.dim()
    }

    fn quantile(&self, u: &[f64], x: &mut [f64]) {
        let n = self.points.len();
        // A cast saturates, so that even u_0 = 1 or NaN picks a point.
        let i = (u[0] * n as f64) as usize;
        x.copy_from_slice(self.points.row(i.min(n - 1)));
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        ln_sum_exp(&self.ln_kernels(x)) - (self.points.len() as f64).ln()
    }

    fn ln_density_gradient(&self, x: &[f64], out: &mut [f64]) {
        let terms = self.ln_kernels(x);
        let total = ln_sum_exp(&terms);
        out.fill(0.0);
        for (row, term) in self.points.iter().zip(terms) {
            let weight = (term - total).exp();
            for j in 0..x.len() {
                out[j] -= weight * (x[j] - row[j]) / self.bandwidth[j].powi(2);
            }
        }
    }

    fn support(&self) -> Vec<(f64, f64)> {
        let side = |j: usize| {
            let values = self.points.iter().map(|row| row[j]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| {
                (lo.min(x), hi.max(x))
            })
        };
        (0..self.dim()).map(side).collect()
    }

    fn scale(&self) -> Vec<f64> {
        self.scale.clone()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        Some(self.mean.clone())
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        Some(self.covariance.clone())
    }

    fn form(&self) -> Form<'_> {
        Form::Sample(&self.points)
    }

    fn coordinates(&self, chart: Chart) -> Result<Box<dyn Coordinates>> {
        match chart {
            Chart::Identity | Chart::Natural => Ok(self.natural()),
            Chart::Score | Chart::Unit | Chart::Free => {
                let reason = format!(
                    "a sample has no \"{}\" chart; use identity, or rescale the points themselves",
                    chart.name()
                );
                Err(Error::spec("chart", reason))
            }
        }
    }

    fn natural(&self) -> Box<dyn Coordinates> {
        Box::new(Identity(self.clone()))
    }
}

//! Say where a narrow peak lies and which shape it has: the measure q of a frame.

use super::Image;
use super::frame::nearest;
use crate::error::{Error, Result};
use crate::measure::Circles;
use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::special::{ln_normal_pdf, ln_sum_exp};

/// A peak: a centre and a shape in the free coordinates of the prior (`Chart::Free`).
///
/// Its measure q is the law of center + L t, where each t = sinh(a y)/a of a standard normal y. So
/// q has the covariance of the peak near its centre, and tails heavier than normal beyond it.
///
/// A peak of a model whose labels may be swapped has images. Then the measure that carries the
/// integral is the mean of q over them, and one frame stands for all.
///
/// ```
/// use warpquad::engine::Peak;
/// let peak = Peak::new(vec![0.3, -1.0], vec![vec![1e-3], vec![2e-4, 5e-3]])?;
/// let y = peak.to_standard(&peak.from_standard(&[0.4, -2.0]));
/// assert!((y[0] - 0.4).abs() < 1e-9 && (y[1] + 2.0).abs() < 1e-9);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    center: Vec<f64>,
    /// The lower triangle of L, row after row.
    factor: Vec<Vec<f64>>,
    /// The maps under which f and pi do not change, that which changes nothing first.
    images: Vec<Image>,
}

/// How heavy the tails are: t = 3 of a normal law is t = 3.5 here, and t = 5 is t = 8.
const TAIL: f64 = 0.35;

impl Peak {
    /// A peak with the lower triangle of the factor L of its covariance L L'.
    pub fn new(center: Vec<f64>, factor: Vec<Vec<f64>>) -> Result<Peak> {
        let triangular = factor.len() == center.len()
            && factor.iter().enumerate().all(|(i, row)| row.len() == i + 1);
        let finite = |x: &f64| x.is_finite();
        let fine = triangular
            && center.iter().all(finite)
            && factor.iter().flatten().all(finite)
            && factor
                .iter()
                .all(|row| row.last().is_some_and(|x| *x > 0.0));
        match fine {
            true => Ok(Peak {
                center,
                factor,
                images: Vec::new(),
            }),
            false => Err(Error::spec(
                "frame",
                "needs a centre and the lower triangle of a factor with a positive diagonal",
            )),
        }
    }

    /// The peak with this covariance; `None` where it is not positive definite.
    pub(super) fn with_covariance(center: Vec<f64>, covariance: &Mat) -> Option<Peak> {
        let d = center.len();
        // Correlations are factored, so that scales of many orders lose no digits.
        let sds: Vec<f64> = (0..d).map(|i| covariance[(i, i)].sqrt()).collect();
        let correlation = Mat::from_fn(d, d, |i, j| match i == j {
            true => 1.0 + 1e-10,
            false => covariance[(i, j)] / sds[i] / sds[j],
        });
        let factor = Cholesky::new(correlation)?;
        let row = |i: usize| (0..=i).map(|j| sds[i] * factor.lower()[(i, j)]).collect();
        Peak::new(center, (0..d).map(row).collect()).ok()
    }

    /// The same peak with its images: all maps under which f and pi do not change, that which
    /// changes nothing first.
    pub fn with_images(mut self, images: Vec<Image>) -> Result<Peak> {
        let dim = self.center.len();
        if images.iter().any(|image| image.entries().len() != dim) {
            let reason = format!("an image is not of {dim} parameters");
            return Err(Error::spec("frame", reason));
        }
        self.images = images;
        Ok(self)
    }

    /// All maps under which f and pi do not change; none where there is only the one that changes
    /// nothing.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The centre, in free coordinates.
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// The lower triangle of the factor of the covariance, row after row.
    pub fn factor(&self) -> &[Vec<f64>] {
        &self.factor
    }

    /// The free coordinates of a point y that is standard normal under q.
    pub fn from_standard(&self, y: &[f64]) -> Vec<f64> {
        let t: Vec<f64> = y.iter().map(|y| (TAIL * y).sinh() / TAIL).collect();
        let row = |i: usize| -> f64 { self.factor[i].iter().zip(&t).map(|(l, t)| l * t).sum() };
        (0..y.len()).map(|i| self.center[i] + row(i)).collect()
    }

    /// y of free coordinates.
    pub fn to_standard(&self, z: &[f64]) -> Vec<f64> {
        let t = self.whitened(z);
        t.iter().map(|t| (TAIL * t).asinh() / TAIL).collect()
    }

    /// Where free coordinates are in units of the peak's own covariance: t with z = center + L t.
    pub(super) fn whitened(&self, z: &[f64]) -> Vec<f64> {
        let mut t = vec![0.0; z.len()];
        for (i, row) in self.factor.iter().enumerate() {
            let known: f64 = row.iter().zip(&t[..i]).map(|(l, t)| l * t).sum();
            t[i] = (z[i] - self.center[i] - known) / row[i];
        }
        t
    }

    /// The sd along each free coordinate where the others stand still.
    pub(super) fn conditional_sds(&self) -> Vec<f64> {
        let along = |axis: usize| {
            let mut z = self.center.clone();
            z[axis] += self.factor[axis][axis];
            let t = self.whitened(&z);
            self.factor[axis][axis] / t.iter().map(|t| t * t).sum::<f64>().sqrt()
        };
        (0..self.center.len()).map(along).collect()
    }

    /// ln of the density of q at free coordinates z. With images q is its mean over them.
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        self.ln_density_on(z, None)
    }

    /// The same where some coordinates are angles: each image is taken at the turn that is nearest
    /// to the peak.
    pub(super) fn ln_density_on(&self, z: &[f64], circles: Option<&Circles>) -> f64 {
        let one = |mut z: Vec<f64>| {
            nearest(&mut z, &self.center, circles);
            self.ln_density_of_one(&z)
        };
        match self.images.len() {
            0 | 1 => one(z.to_vec()),
            count => {
                let at = |image: &Image| one(image.apply(z));
                let terms: Vec<f64> = self.images.iter().map(at).collect();
                ln_sum_exp(&terms) - (count as f64).ln()
            }
        }
    }

    /// The same for the peak without its images.
    fn ln_density_of_one(&self, z: &[f64]) -> f64 {
        let y = self.to_standard(z);
        let terms = y.iter().map(|&y| ln_normal_pdf(y) - ln_cosh(TAIL * y));
        let diagonal = self.factor.iter().filter_map(|row| row.last());
        terms.sum::<f64>() - diagonal.map(|l| l.ln()).sum::<f64>()
    }
}

/// ln cosh x, which does not overflow.
fn ln_cosh(x: f64) -> f64 {
    let x = x.abs();
    x + (0.5 * (1.0 + (-2.0 * x).exp())).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conditional_sd_is_that_of_the_precision() {
        // The variance of one given the other is 4 - 2 * 2 / 3, and 3 - 2 * 2 / 4.
        let covariance = Mat::from_fn(2, 2, |i, j| [[4.0, 2.0], [2.0, 3.0]][i][j]);
        let peak = Peak::with_covariance(vec![1.0, -7.0], &covariance).unwrap();
        let [first, second] = peak.conditional_sds()[..] else {
            panic!("two parameters have two sds");
        };
        assert!((first * first - 8.0 / 3.0).abs() < 1e-8, "{first}");
        assert!((second * second - 2.0).abs() < 1e-8, "{second}");
    }

    #[test]
    fn q_is_a_density() {
        let peak = Peak::new(vec![0.4], vec![vec![0.8]]).unwrap();
        assert!(ln_mass(&peak).abs() < 1e-10);
    }

    /// ln of the integral of q over z, by the trapezoidal rule.
    fn ln_mass(peak: &Peak) -> f64 {
        let step = 0.01;
        let terms: Vec<f64> = (-4000..=4000)
            .map(|k| peak.ln_density(&[step * f64::from(k)]))
            .collect();
        ln_sum_exp(&terms) + step.ln()
    }

    #[test]
    fn images_share_the_mass() {
        let peak = Peak::new(vec![1.0], vec![vec![0.5]]).unwrap();
        let flip = Image::new(vec![-1]).unwrap();
        let peak = peak
            .with_images(vec![Image::new(vec![1]).unwrap(), flip])
            .unwrap();
        assert!(ln_mass(&peak).abs() < 1e-9);
        assert_eq!(peak.ln_density(&[0.7]), peak.ln_density(&[-0.7]));
    }

    #[test]
    fn a_covariance_of_many_orders_keeps_its_digits() {
        let (a, b) = (1e-7_f64, 0.3_f64);
        let cov = Mat::from_fn(2, 2, |i, j| {
            [a, b][i] * [a, b][j] * if i == j { 1.0 } else { 0.999 }
        });
        let peak = Peak::with_covariance(vec![1e-4, -2.0], &cov).unwrap();
        let y = [1.3, -0.2];
        let back = peak.to_standard(&peak.from_standard(&y));
        assert!(
            (back[0] - y[0]).abs() < 1e-8 && (back[1] - y[1]).abs() < 1e-6,
            "{back:?}"
        );
        assert!(Peak::with_covariance(vec![0.0], &Mat::zeros(1, 1)).is_none());
    }

    #[test]
    fn bad_factors_are_refused() {
        assert!(Peak::new(vec![0.0], vec![vec![0.0]]).is_err());
        assert!(Peak::new(vec![0.0, 1.0], vec![vec![1.0], vec![1.0]]).is_err());
        assert!(Peak::new(vec![f64::NAN], vec![vec![1.0]]).is_err());
    }
}

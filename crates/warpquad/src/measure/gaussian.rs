//! Put a normal law with full covariance on R^d.

use super::coordinates::open;
use super::{Chart, Coordinates, Form, Identity, Measure, Normal, Product, Uniform, Univariate};
use crate::error::{Error, Result, finite, same_length};
use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::special::{ln_normal_pdf, normal_cdf, normal_quantile};
use std::sync::Arc;

/// The multivariate normal law.
///
/// # Definition
/// ln p(x) = -(x - mean)' cov^-1 (x - mean)/2 - ln|2 pi cov|/2.
///
/// # Moments
/// Mean `mean`, covariance `cov`.
///
/// # Range
/// `cov` symmetric and positive definite.
///
/// # Numerics
/// With cov = L L', the quantile map is x = mean + L z, z being the normal scores of u. The first
/// coordinates of u move all of x.
///
/// # Reference
/// Rosenblatt, "Remarks on a multivariate transformation" (1952).
///
/// ```
/// use warpquad::measure::{Gaussian, Measure};
/// let pi = Gaussian::new(vec![1.0, 2.0], vec![2.0, 0.5, 0.5, 1.0])?;
/// let mut x = [0.0; 2];
/// pi.quantile(&[0.5, 0.5], &mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gaussian {
    mean: Vec<f64>,
    cov: Vec<f64>,
    factor: Cholesky,
}

impl Gaussian {
    /// The normal law with this mean and this covariance, row after row.
    pub fn new(mean: Vec<f64>, cov: Vec<f64>) -> Result<Gaussian> {
        let d = mean.len();
        if d == 0 {
            return Err(Error::spec("mean", "needs at least one parameter"));
        }
        same_length("covariance", cov.len(), d * d)?;
        for (i, &m) in mean.iter().enumerate() {
            finite(&format!("mean[{i}]"), m)?;
        }
        symmetric(&cov, d)?;
        let a = Mat::from_fn(d, d, |i, j| cov[i * d + j]);
        let factor = Cholesky::new(a).filter(|f| well_posed(f, &cov));
        let factor = factor.ok_or_else(|| Error::spec("covariance", SINGULAR))?;
        Ok(Gaussian { mean, cov, factor })
    }

    /// x = mean + L z.
    fn colour(&self, z: &[f64], x: &mut [f64]) {
        let l = self.factor.lower();
        for i in 0..z.len() {
            x[i] = self.mean[i] + (0..=i).map(|j| l[(i, j)] * z[j]).sum::<f64>();
        }
    }

    /// z = L^-1 (x - mean).
    fn whiten(&self, x: &[f64], z: &mut [f64]) {
        for i in 0..x.len() {
            z[i] = x[i] - self.mean[i];
        }
        self.factor.solve_lower_vec(z);
    }
}

const SINGULAR: &str = "is not positive definite: some combination of the parameters has no spread. Drop a parameter \
    that the others determine, or add a small number to the diagonal";

/// Refuse a matrix that is not finite or not symmetric up to rounding.
fn symmetric(cov: &[f64], d: usize) -> Result<()> {
    for i in 0..d {
        for j in 0..=i {
            let (a, b) = (cov[i * d + j], cov[j * d + i]);
            finite(&format!("covariance[{i}][{j}]"), a)?;
            // Entries made by A A' in another order of summation differ by a few roundings, not by
            // 1e-10.
            if (a - b).abs() > 1e-10 * (a.abs() + b.abs()) || b.is_nan() {
                let reason = format!(
                    "is not symmetric: [{i}][{j}] is {a} but [{j}][{i}] is {b}; give (C + C')/2"
                );
                return Err(Error::spec("covariance", reason));
            }
        }
    }
    Ok(())
}

/// Whether every pivot is above the rounding of its own diagonal entry: below, L_ii is noise.
fn well_posed(factor: &Cholesky, cov: &[f64]) -> bool {
    let d = factor.order();
    (0..d).all(|i| {
        let pivot = factor.lower()[(i, i)];
        pivot * pivot > 4.0 * d as f64 * f64::EPSILON * cov[i * d + i]
    })
}

impl Measure for Gaussian {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    fn quantile(&self, u: &[f64], x: &mut [f64]) {
        let z: Vec<f64> = u.iter().map(|&u| normal_quantile(open(u))).collect();
        self.colour(&z, x);
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        let mut z = vec![0.0; self.dim()];
        self.whiten(x, &mut z);
        z.iter().map(|&z| ln_normal_pdf(z)).sum::<f64>() - 0.5 * self.factor.ln_det()
    }

    fn ln_density_gradient(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..x.len() {
            out[i] = self.mean[i] - x[i];
        }
        self.factor.solve_vec(out);
    }

    fn support(&self) -> Vec<(f64, f64)> {
        vec![(f64::NEG_INFINITY, f64::INFINITY); self.dim()]
    }

    fn scale(&self) -> Vec<f64> {
        let d = self.dim();
        // Twice the interquartile range of a standard normal: 4 Phi^-1(3/4).
        let unit = -4.0 * normal_quantile(0.25);
        let side = |i| unit * f64::sqrt(self.cov[i * d + i]);
        (0..d).map(side).collect()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        Some(self.mean.clone())
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        Some(self.cov.clone())
    }

    fn form(&self) -> Form<'_> {
        Form::Gaussian {
            mean: &self.mean,
            cov: &self.cov,
        }
    }

    fn coordinates(&self, chart: Chart) -> Result<Box<dyn Coordinates>> {
        Ok(match chart {
            Chart::Identity | Chart::Natural => self.natural(),
            Chart::Score | Chart::Free => Box::new(Whitened::new(self, false)),
            Chart::Unit => Box::new(Whitened::new(self, true)),
        })
    }

    fn natural(&self) -> Box<dyn Coordinates> {
        Box::new(Identity(self.clone()))
    }
}

/// The normal scores z = L^-1 (x - mean) of a [`Gaussian`], or the cube u = Phi(z).
///
/// ```
/// use warpquad::measure::{Chart, Gaussian, Measure};
/// let pi = Gaussian::new(vec![0.0], vec![4.0])?;
/// // x = 2 z, so ln |dx/dz| = ln 2.
/// let score = pi.coordinates(Chart::Score)?;
/// assert!((score.ln_jacobian(&[0.7]) - 2_f64.ln()).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Whitened {
    gaussian: Gaussian,
    law: Product,
    unit: bool,
}

impl Whitened {
    /// The chart of `gaussian`; on the unit cube if `unit`.
    pub fn new(gaussian: &Gaussian, unit: bool) -> Whitened {
        let d = gaussian.dim();
        let law: Arc<dyn Univariate> = if unit {
            Arc::new(Uniform::unit())
        } else {
            Arc::new(Normal::standard())
        };
        let law = Product::of_laws((0..d).map(|_| law.clone()).collect());
        Whitened {
            gaussian: gaussian.clone(),
            law,
            unit,
        }
    }
}

impl Coordinates for Whitened {
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()> {
        same_length("point", x.len(), self.gaussian.dim())?;
        self.gaussian.whiten(x, z);
        if self.unit {
            z.iter_mut().for_each(|z| *z = normal_cdf(*z));
        }
        Ok(())
    }

    fn from_natural(&self, z: &[f64], x: &mut [f64]) {
        if self.unit {
            self.gaussian.quantile(z, x);
        } else {
            self.gaussian.colour(z, x);
        }
    }

    fn ln_jacobian(&self, z: &[f64]) -> f64 {
        let linear = 0.5 * self.gaussian.factor.ln_det();
        if !self.unit {
            return linear;
        }
        // du/dz = phi(z) at the score of u.
        let ln_slope = |&u: &f64| -ln_normal_pdf(normal_quantile(open(u)));
        linear + z.iter().map(ln_slope).sum::<f64>()
    }

    fn measure(&self) -> &dyn Measure {
        &self.law
    }
}

//! Step 1: the Gaussian process on g before anything is observed.

use super::{Belief, MeanFunction, Moments, Posterior, Theta};
use crate::error::{Result, same_length};
use crate::kernel::Kernel;
use crate::numeric::linalg::Mat;
use crate::numeric::loops;
use crate::points::Points;
use std::sync::Arc;

/// p(g) = GP(mu, Sigma): a kernel and its hyperparameters.
///
/// ```
/// use warpquad::{Belief, Points, Prior, Theta, kernel::Matern32};
/// let prior = Prior::new(Matern32, Theta::constant(-1.0, 2.0, vec![0.5])?);
/// let belief = prior.condition(&Points::from_rows(&[vec![0.3]])?, &[0.7])?;
/// let there = belief.moments(&Points::from_rows(&[vec![0.3]])?)?;
/// assert!((there.mean[0] - 0.7).abs() < 1e-12 && there.var[0] < 1e-12);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prior {
    kernel: Arc<dyn Kernel>,
    theta: Theta,
}

impl Prior {
    /// The prior with this kernel and these hyperparameters.
    pub fn new(kernel: impl Kernel + 'static, theta: Theta) -> Prior {
        Prior::shared(Arc::new(kernel), theta)
    }

    /// The same for a kernel from the registry.
    pub fn shared(kernel: Arc<dyn Kernel>, theta: Theta) -> Prior {
        Prior { kernel, theta }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.kernel
    }

    /// The hyperparameters.
    pub fn theta(&self) -> &Theta {
        &self.theta
    }

    /// The same kernel with other hyperparameters.
    pub fn with_theta(&self, theta: Theta) -> Prior {
        Prior::shared(self.kernel.clone(), theta)
    }

    /// p(g | D): step 3.
    pub fn condition(&self, x: &Points, g: &[f64]) -> Result<Posterior> {
        Posterior::new(self.clone(), x.clone(), g.to_vec())
    }

    /// mu at the points.
    pub fn means(&self, x: &Points) -> Vec<f64> {
        x.iter().map(|x| self.mean_at(x)).collect()
    }

    /// mu at one point.
    pub(crate) fn mean_at(&self, x: &[f64]) -> f64 {
        match &self.theta.mean {
            MeanFunction::Constant(mean) => *mean,
            mean @ MeanFunction::Quadratic { .. } => mean.at(&self.theta.turn(x)),
        }
    }

    /// Sigma between two sets of points.
    pub fn sigma(&self, x: &Points, y: &Points) -> Result<Mat> {
        same_length("point", x.dim(), self.theta.dim())?;
        same_length("point", y.dim(), self.theta.dim())?;
        Ok(self.sigma_scaled(&Scaled::new(x, &self.theta), y))
    }

    /// Sigma between points already scaled and others.
    pub(crate) fn sigma_scaled(&self, x: &Scaled, y: &Points) -> Mat {
        let mut out = Mat::zeros(x.len, y.len());
        for (j, y) in y.iter().enumerate() {
            x.squared_distances(y, &self.theta, out.col_mut(j));
        }
        self.fill(&mut out, None);
        out
    }

    /// Replace squared distances by covariances, with their derivatives in r^2 where asked for.
    pub(crate) fn fill(&self, r2: &mut Mat, mut derivative: Option<&mut Mat>) {
        let scale = self.theta.output_scale;
        for j in 0..r2.cols() {
            let column = r2.col_mut(j);
            let beside = derivative.as_mut().map(|d| d.col_mut(j));
            self.kernel.fill(column, beside);
            column.iter_mut().for_each(|k| *k *= scale);
        }
        if let Some(derivative) = derivative {
            for j in 0..derivative.cols() {
                derivative.col_mut(j).iter_mut().for_each(|d| *d *= scale);
            }
        }
    }

    fn unconditioned(&self) -> Result<Posterior> {
        self.condition(&Points::empty(self.theta.dim())?, &[])
    }
}

impl Belief for Prior {
    fn dim(&self) -> usize {
        self.theta.dim()
    }

    fn moments(&self, x: &Points) -> Result<Moments> {
        self.unconditioned()?.moments(x)
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<Mat> {
        self.sigma(x, y)
    }

    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        Ok((self.theta.output_scale.ln(), vec![0.0; x.len()]))
    }
}

/// Points along the axes, divided by the length scales, a dimension after another: the layout that distance loops want.
#[derive(Debug, Clone)]
pub(crate) struct Scaled {
    pub len: usize,
    coordinates: Vec<f64>,
}

impl Scaled {
    pub fn new(x: &Points, theta: &Theta) -> Scaled {
        let mut coordinates = vec![0.0; x.len() * x.dim()];
        for (i, point) in x.iter().enumerate() {
            for (d, y) in scaled(point, theta).into_iter().enumerate() {
                coordinates[d * x.len() + i] = y;
            }
        }
        Scaled {
            len: x.len(),
            coordinates,
        }
    }

    /// Coordinate d of all points.
    pub fn dimension(&self, d: usize) -> &[f64] {
        &self.coordinates[d * self.len..(d + 1) * self.len]
    }

    /// r^2 from every point to x.
    pub fn squared_distances(&self, x: &[f64], theta: &Theta, out: &mut [f64]) {
        loops::squared_distances(&self.coordinates, self.len, 0, &scaled(x, theta), out);
    }
}

/// x along the axes, in length scales.
fn scaled(x: &[f64], theta: &Theta) -> Vec<f64> {
    let turned = theta.turn(x);
    let pairs = turned.iter().zip(&theta.length_scales);
    pairs.map(|(y, l)| y / l).collect()
}

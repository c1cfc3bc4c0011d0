//! Step 1: the Gaussian process on g before anything is observed.

use super::embedding::Embedding;
use super::{Belief, MeanFunction, Moments, PosteriorProcess, Theta};
use crate::error::{Result, same_length};
use crate::kernel::Kernel;
use crate::numeric::linalg::{Mat, dot};
use crate::numeric::loops;
use crate::points::Points;
use std::sync::Arc;

/// p(g) = GP(mu, Sigma): a kernel and its hyperparameters.
///
/// ```
/// use warpquad::{Belief, Points, Process, Theta, kernel::Matern32};
/// let process = Process::new(Matern32, Theta::constant(-1.0, 2.0, vec![0.5])?);
/// let belief = process.condition(&Points::from_rows(&[vec![0.3]])?, &[0.7])?;
/// let there = belief.moments(&Points::from_rows(&[vec![0.3]])?)?;
/// assert!((there.mean[0] - 0.7).abs() < 1e-12 && there.var[0] < 1e-12);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Process {
    kernel: Arc<dyn Kernel>,
    theta: Theta,
}

impl Process {
    /// The prior with this kernel and these hyperparameters.
    pub fn new(kernel: impl Kernel + 'static, theta: Theta) -> Process {
        Process::shared(Arc::new(kernel), theta)
    }

    /// The same for a kernel from the registry.
    pub fn shared(kernel: Arc<dyn Kernel>, theta: Theta) -> Process {
        Process { kernel, theta }
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
    pub fn with_theta(&self, theta: Theta) -> Process {
        Process::shared(self.kernel.clone(), theta)
    }

    /// p(g | D): step 3.
    pub fn condition(&self, x: &Points, g: &[f64]) -> Result<PosteriorProcess> {
        self.condition_noisy(x, g, &[])
    }

    /// The same for observations with a noise variance each, beside that of theta; none of them is
    /// the same as zeros.
    ///
    /// ```
    /// use warpquad::{Belief, Points, Process, Theta, kernel::Matern32};
    /// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.5])?);
    /// let x = Points::from_rows(&[vec![0.0], vec![1.0]])?;
    /// let belief = process.condition_noisy(&x, &[0.7, 0.7], &[0.0, 1.0])?;
    /// let there = belief.moments(&x)?;
    /// assert!(there.var[0] < 1e-12 && there.var[1] > 0.4);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn condition_noisy(
        &self,
        x: &Points,
        g: &[f64],
        noise: &[f64],
    ) -> Result<PosteriorProcess> {
        PosteriorProcess::new(self.clone(), x.clone(), g.to_vec(), noise.to_vec())
    }

    /// mu at the points.
    pub fn means(&self, x: &Points) -> Vec<f64> {
        x.iter().map(|x| self.mean_at(x)).collect()
    }

    /// mu at one point.
    pub(crate) fn mean_at(&self, x: &[f64]) -> f64 {
        match &self.theta.mean {
            MeanFunction::Constant(mean) => *mean,
            MeanFunction::Quadratic { .. } => self.theta.mean_along(&self.theta.turn(x)),
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
            self.sigma_to(x, y, out.col_mut(j));
        }
        out
    }

    /// Sigma from points already scaled to y.
    pub(crate) fn sigma_to(&self, x: &Scaled, y: &[f64], out: &mut [f64]) {
        self.fill_sigma(x, y, out, None);
    }

    /// The same, and their slopes in y.
    pub(crate) fn sigma_slopes(&self, x: &Scaled, y: &[f64], out: &mut [f64]) -> Slopes {
        let mut slopes = Slopes {
            len: x.len,
            values: vec![0.0; y.len() * x.len],
        };
        self.fill_sigma(x, y, out, Some(&mut slopes));
        slopes
    }

    /// The correlation of all coordinates together, and those of each one alone.
    fn fill_sigma(&self, x: &Scaled, y: &[f64], out: &mut [f64], slopes: Option<&mut Slopes>) {
        let turned = self.theta.turn(y);
        let y = scaled(&turned, &self.theta, &x.embedding);
        let (axes, lengths) = (x.embedding.axes(), &self.theta.length_scales);
        let (joint, own) = self.scales();
        let mut slopes = slopes.map(|slopes| (slopes, vec![0.0; x.len]));
        let growths = match slopes {
            Some(_) => x.embedding.slopes(&turned),
            None => Vec::new(),
        };
        x.squared_distances(&y, out);
        self.kernel
            .fill(out, slopes.as_mut().map(|(_, d)| d.as_mut_slice()));
        out.iter_mut().for_each(|k| *k *= joint);
        if let Some((slopes, derivative)) = &mut slopes {
            for (k, (&d, &y)) in axes.iter().zip(&y).enumerate() {
                // d rho(r^2) / d y_d = rho' 2 z_d / l_d.
                let factor = joint * 2.0 / lengths[d] * growths[k];
                slopes.add(d, factor, derivative, x.column(k), y);
            }
        }
        let Some(effects) = &self.theta.effects else {
            return;
        };
        let mut rho = vec![0.0; x.len];
        for (d, l) in lengths.iter().enumerate() {
            let columns = || (0..axes.len()).filter(|&k| axes[k] == d);
            rho.fill(0.0);
            columns().for_each(|k| effects.add_squares(x.column(k), y[k], &mut rho));
            self.kernel
                .fill(&mut rho, slopes.as_mut().map(|(_, d)| d.as_mut_slice()));
            out.iter_mut()
                .zip(&rho)
                .for_each(|(k, rho)| *k += own * rho);
            if let Some((slopes, derivative)) = &mut slopes {
                let factor = 2.0 * own / (l * effects.stretch.powi(2));
                for k in columns() {
                    slopes.add(d, factor * growths[k], derivative, x.column(k), y[k]);
                }
            }
        }
    }

    /// The factor of the correlation of all coordinates together, and that of each one alone.
    fn scales(&self) -> (f64, f64) {
        let scale = self.theta.output_scale;
        match &self.theta.effects {
            Some(effects) => {
                let own = effects.share / self.theta.dim() as f64;
                ((1.0 - effects.share) * scale, own * scale)
            }
            None => (scale, 0.0),
        }
    }

    fn unconditioned(&self) -> Result<PosteriorProcess> {
        self.condition(&Points::empty(self.theta.dim())?, &[])
    }
}

impl Belief for Process {
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

/// Points along the axes, divided by the length scales, one column after another: the layout that
/// distance loops want.
#[derive(Debug, Clone)]
pub(crate) struct Scaled {
    pub len: usize,
    columns: Vec<f64>,
    embedding: Embedding,
}

impl Scaled {
    pub fn new(x: &Points, theta: &Theta) -> Scaled {
        let embedding = Embedding::of(theta);
        let mut columns = vec![0.0; x.len() * embedding.axes().len()];
        for (i, point) in x.iter().enumerate() {
            let point = scaled(&theta.turn(point), theta, &embedding);
            for (k, y) in point.into_iter().enumerate() {
                columns[k * x.len() + i] = y;
            }
        }
        Scaled {
            len: x.len(),
            columns,
            embedding,
        }
    }

    /// Column k of all points.
    fn column(&self, k: usize) -> &[f64] {
        &self.columns[k * self.len..(k + 1) * self.len]
    }

    /// r^2 from every point to y, which is scaled too.
    fn squared_distances(&self, y: &[f64], out: &mut [f64]) {
        loops::squared_distances(&self.columns, self.len, 0, y, out);
    }
}

/// Slopes of covariances between a point and others as the point moves along an axis, one axis
/// after another.
pub(crate) struct Slopes {
    len: usize,
    values: Vec<f64>,
}

impl Slopes {
    /// Add factor rho' (y - x) along axis d.
    fn add(&mut self, d: usize, factor: f64, derivative: &[f64], x: &[f64], y: f64) {
        let along = self.values[d * self.len..(d + 1) * self.len].iter_mut();
        for (k, (x, slope)) in along.zip(x.iter().zip(derivative)) {
            *k += factor * slope * (y - x);
        }
    }

    /// The slopes of a weighted sum of the covariances, in the coordinates.
    pub fn sums(&self, weights: &[f64], theta: &Theta) -> Vec<f64> {
        let along = |d: usize| dot(&self.values[d * self.len..(d + 1) * self.len], weights);
        theta.pull_back((0..theta.dim()).map(along).collect())
    }
}

/// The columns of a point along the axes, in length scales.
fn scaled(turned: &[f64], theta: &Theta, embedding: &Embedding) -> Vec<f64> {
    let columns = embedding.columns(turned);
    let pairs = columns.iter().zip(embedding.axes());
    pairs.map(|(y, &d)| y / theta.length_scales[d]).collect()
}

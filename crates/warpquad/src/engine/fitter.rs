//! Go from data to a model: fit theta, condition the process, pair it with its warp.

use crate::belief::Matching;
use crate::belief::{Axes, MeanFunction, Model, Process, Theta};
use crate::data::Data;
use crate::error::Result;
use crate::fit::{Fit, LengthPrior, Space, Starts, fit, laplace};
use crate::kernel::Kernel;
use crate::measure::{Circles, Measure};
use crate::numeric::optimize::Options;
use crate::numeric::random::Rng;
use crate::warp::{Affine, sample_marginal};
use std::sync::Arc;

/// Everything that a model is made from.
#[derive(Clone)]
pub(super) struct Fitter<'a> {
    pub data: &'a Data,
    pub measure: &'a dyn Measure,
    pub warp: Affine,
    pub kernel: Arc<dyn Kernel>,
    pub matching: Matching,
    pub space: Space,
    /// Whether a fit in f-space stays within the warp's limits.
    pub confined: bool,
    /// The variance on g: noise, and a nugget.
    pub noise: f64,
    pub length_prior: Option<LengthPrior>,
    /// Whether the mean falls off as a quadratic; otherwise it is constant.
    pub quadratic_mean: bool,
    /// The optimiser ends where a step gains less; `None` for its own limit.
    pub tolerance: Option<f64>,
    pub seed: u64,
}

impl Fitter<'_> {
    /// Fit from all starting points, along axes if some are given.
    pub fn fit_all(&self, axes: Option<Arc<Axes>>) -> Result<Model> {
        self.fit_from(self.first_theta(axes)?, Starts::All)
    }

    /// Only improve on a theta.
    pub fn improve(&self, theta: &Theta) -> Result<Model> {
        self.fit_from(theta.clone(), Starts::Warm)
    }

    fn fit_from(&self, mut theta: Theta, starts: Starts) -> Result<Model> {
        theta.noise = self.noise;
        theta.circles = self.circles();
        let how = self.how(starts, &theta);
        let process = Process::shared(self.kernel.clone(), theta);
        let process = fit(&process, &self.warp, self.data, &how)?;
        self.condition(process.theta().clone())
    }

    /// Condition on the data with hyperparameters as they are.
    pub fn condition(&self, mut theta: Theta) -> Result<Model> {
        theta.circles = self.circles();
        let process = Process::shared(self.kernel.clone(), theta);
        let g = self.data.g(&self.warp)?;
        let posterior = process.condition(self.data.points(), &g)?;
        Ok(Model::new(self.warp.clone(), posterior, self.matching))
    }

    /// Models with hyperparameters drawn around those of a fitted one, and their weights.
    pub fn drawn(&self, fitted: &Model, count: usize, rng: &mut Rng) -> Result<Vec<(Model, f64)>> {
        let process = fitted.process().process();
        let how = self.how(Starts::Warm, process.theta());
        let drawn = laplace(process, &self.warp, self.data, &how, count, rng)?;
        // A draw whose matrix cannot be factored is one that the data rule out.
        let models = drawn.into_iter();
        Ok(models
            .filter_map(|(theta, weight)| Some((self.condition(theta).ok()?, weight)))
            .collect())
    }

    fn circles(&self) -> Option<Arc<Circles>> {
        self.measure.circles().map(Arc::new)
    }

    fn how(&self, starts: Starts, theta: &Theta) -> Fit {
        let plain = Fit::default();
        Fit {
            optimizer: Options {
                tolerance_value: self.tolerance.unwrap_or(plain.optimizer.tolerance_value),
                ..plain.optimizer
            },
            space: self.space,
            confined: self.confined,
            starts,
            seed: self.seed,
            scales: Some(scales(self.measure, theta.axes.as_deref())),
            length_prior: self.length_prior,
            ..plain
        }
    }

    /// Where the very first fit starts from, besides the warp's own starts.
    pub fn first_theta(&self, axes: Option<Arc<Axes>>) -> Result<Theta> {
        let g = self.data.g(&self.warp)?;
        let at = sample_marginal(&g);
        let scales = scales(self.measure, axes.as_deref());
        let quarter: Vec<f64> = scales.iter().map(|w| 0.25 * w).collect();
        let mut theta = Theta::constant(at.mu, at.s, quarter.clone())?;
        theta.axes = axes;
        theta.circles = self.circles();
        if self.quadratic_mean {
            let top = (0..g.len()).fold(0, |best, i| if g[i] > g[best] { i } else { best });
            theta.mean = MeanFunction::Quadratic {
                peak: g[top],
                center: theta.turn(self.data.points().row(top)).into_owned(),
                width: quarter,
            };
        }
        Ok(theta)
    }
}

/// A typical length along each axis: axes are in units of the measure's scale already.
fn scales(measure: &dyn Measure, axes: Option<&Axes>) -> Vec<f64> {
    match axes {
        Some(axes) => vec![1.0; axes.dim()],
        None => measure.scale(),
    }
}

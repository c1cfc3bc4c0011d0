//! Figures 2 and 3: the bounded function 0.95 exp(-2 x^2), with and without transforms, in either
//! space.

mod fig2;
mod fig3;

pub use fig2::fig2;
pub use fig3::{Comparison, fifteen, fig3};

use std::sync::Arc;
use warpquad::belief::MeanFunction;
use warpquad::fit::{Fit, Space, fit_detailed};
use warpquad::kernel::Matern32;
use warpquad::warp::{Affine, Marginal, Warp, by_name};
use warpquad::{Belief, Data, Points, PosteriorProcess, Process, Result, Theta, Value, Warped};

/// f(x) = 0.95 exp(-2 x^2).
pub fn f(x: f64) -> f64 {
    ln_f(x).exp()
}

fn ln_f(x: f64) -> f64 {
    0.95_f64.ln() - 2.0 * x * x
}

/// Observations of f at these x.
fn observe(x: &[f64]) -> Result<Data> {
    let rows: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
    let values = x.iter().map(|&x| Value::Log(ln_f(x))).collect();
    Data::new(Points::from_rows(&rows)?, values)
}

/// A grid of points for drawing.
fn grid(low: f64, high: f64, steps: usize) -> Result<Points> {
    let at = |i: usize| low + (high - low) * i as f64 / steps as f64;
    Points::from_rows(&(0..=steps).map(|i| vec![at(i)]).collect::<Vec<_>>())
}

/// A fitted model of the toy function.
pub struct Model {
    /// The warp, in units of the largest observation.
    pub warp: Arc<Affine>,
    /// p(g | D).
    pub posterior: PosteriorProcess,
    /// The observed g.
    pub g: Vec<f64>,
}

/// Belief about f and g on a grid.
pub struct Curves {
    /// Mean and sd of f under the matched belief.
    pub f: Vec<(f64, f64)>,
    /// Mean and variance of g.
    pub g: Vec<Marginal>,
}

impl Model {
    /// Fit a Matern 3/2 process on g = xi^-1(f).
    pub fn fit(data: &Data, warp: &str, space: Space) -> Result<Model> {
        let warp = data.warp_shared(by_name(warp)?)?;
        let start = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![1.0])?);
        let how = Fit {
            space,
            ..Fit::default()
        };
        let process = fit_detailed(&start, &warp, data, &how)?.process;
        let g = data.g(&warp)?;
        Ok(Model {
            posterior: process.condition(data.points(), &g)?,
            warp: Arc::new(warp),
            g,
        })
    }

    /// The prior's mean and output scale.
    pub fn process(&self) -> (f64, f64) {
        let theta = self.posterior.process().theta();
        let mean = match theta.mean {
            MeanFunction::Constant(mean) => mean,
            MeanFunction::Quadratic { peak, .. } => peak,
        };
        (mean, theta.output_scale)
    }

    /// The belief on a grid.
    pub fn curves(&self, x: &Points) -> Result<Curves> {
        let moments = Warped::new(self.warp.as_ref(), &self.posterior).moments(x)?;
        let sds = moments.vars().into_iter().map(f64::sqrt);
        Ok(Curves {
            f: moments.means().into_iter().zip(sds).collect(),
            g: self.posterior.marginals(x)?,
        })
    }
}

/// The ends of the central interval that has the mass of two sd of a normal.
fn exact(warp: &dyn Warp, at: Marginal) -> (f64, f64) {
    let reach = 2.0 * at.s.sqrt();
    (warp.forward(at.mu - reach), warp.forward(at.mu + reach))
}

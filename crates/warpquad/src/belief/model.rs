//! Pair a warp with the posterior process behind it: one model of f.

use super::{Anatomy, Belief, Feasible, Linearised, Moments, PosteriorProcess, Theta, Warped};
use crate::error::Result;
use crate::numeric::linalg::Mat;
use crate::points::Points;
use crate::warp::{Affine, Marginal, Warp};
use std::sync::Arc;

/// How the belief about f is made from that about g: step 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Match both moments of xi(g).
    Moments,
    /// Expand xi about the mean of g.
    Linearised,
}

/// A model of f: a warp in the data's units, and the posterior process of g.
///
/// ```
/// use warpquad::{Belief, Matching, Model, Points, Process, Theta, Warped};
/// use warpquad::{kernel::Matern32, warp::{Affine, Log}};
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![1.0])?);
/// let posterior = process.condition(&Points::from_rows(&[vec![0.0]])?, &[-3.0])?;
/// let warp = Affine::scaled(std::sync::Arc::new(Log), 0.0)?;
/// let model = Model::new(warp.clone(), posterior.clone(), Matching::Moments);
/// let at = Points::from_rows(&[vec![0.5]])?;
/// assert_eq!(model.moments(&at)?, Warped::new(&warp, &posterior).moments(&at)?);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    warp: Affine,
    process: Arc<PosteriorProcess>,
    matching: Matching,
    feasible: Option<Arc<Feasible>>,
}

impl Model {
    /// The model of f = xi(g) with this posterior process of g.
    pub fn new(warp: Affine, process: PosteriorProcess, matching: Matching) -> Model {
        Model {
            warp,
            process: Arc::new(process),
            matching,
            feasible: None,
        }
    }

    /// The same, of an f that is positive only where this says.
    pub fn within(mut self, feasible: Option<Arc<Feasible>>) -> Model {
        self.feasible = feasible;
        self
    }

    /// The warp, in the data's units.
    pub fn warp(&self) -> &Affine {
        &self.warp
    }

    /// p(g | D).
    pub fn process(&self) -> &PosteriorProcess {
        &self.process
    }

    /// The hyperparameters.
    pub fn theta(&self) -> &Theta {
        self.process.process().theta()
    }

    /// How the belief about f is made.
    pub fn matching(&self) -> Matching {
        self.matching
    }

    /// The same model as if `pending` points had been observed at their current mean.
    pub fn with_pending(&self, pending: &Points) -> Result<Model> {
        if pending.is_empty() {
            return Ok(self.clone());
        }
        let means = self.process.means(pending)?;
        Ok(Model {
            process: Arc::new(self.process.extend(pending, &means)?),
            ..self.clone()
        })
    }

    /// Whether f is positive under this model whatever g is, so that Z has a logarithm.
    pub fn is_positive(&self) -> bool {
        let moments = self.matching == Matching::Moments;
        moments && self.warp.range().lo >= 0.0 && self.warp.offset() == 0.0
    }

    /// f less the warp's offset, as ln of a unit and a value in it, at a g whose mean is `mu`.
    pub fn value_at(&self, g: f64, mu: f64) -> (f64, f64) {
        match self.matching {
            Matching::Moments => {
                let local = self.warp.local(g);
                (local.ln_unit, local.value)
            }
            Matching::Linearised => {
                let local = self.warp.local(mu);
                (local.ln_unit, local.value + local.slope * (g - mu))
            }
        }
    }

    /// The mean of f less the warp's offset, as ln of a unit and a value in it.
    pub fn mean_at(&self, at: Marginal) -> (f64, f64) {
        match self.matching {
            Matching::Moments => {
                let mean = self.warp.mean(at);
                (mean.ln_unit, mean.value)
            }
            Matching::Linearised => self.value_at(at.mu, at.mu),
        }
    }

    fn with<T>(&self, apply: impl FnOnce(&dyn Belief) -> T) -> T {
        match self.matching {
            Matching::Moments => apply(&Warped::new(&self.warp, &self.process)),
            Matching::Linearised => apply(&Linearised::new(&self.warp, &self.process)),
        }
    }
}

impl Belief for Model {
    fn dim(&self) -> usize {
        self.process.dim()
    }

    fn moments(&self, x: &Points) -> Result<Moments> {
        self.with(|belief| belief.moments(x))
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<Mat> {
        self.with(|belief| belief.cov(x, y))
    }

    fn cov_lower(&self, x: &Points) -> Result<Mat> {
        self.with(|belief| belief.cov_lower(x))
    }

    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        self.with(|belief| belief.ln_var_gradient(x))
    }

    fn feasible(&self) -> Option<&Arc<Feasible>> {
        self.feasible.as_ref()
    }

    fn anatomy(&self) -> Option<Anatomy<'_>> {
        let link = match self.matching {
            Matching::Moments => super::Link::Matched(&self.warp),
            Matching::Linearised => super::Link::Linearised(&self.warp),
        };
        Some(Anatomy {
            posterior: &self.process,
            link,
        })
    }
}

//! Steps 3 and 4: what is believed about g, and through the warp about f.
//!
//! Process, posterior process and warped belief are one kind of thing: each gives a mean, a
//! variance and a covariance anywhere, and [`Functional`](crate::Functional) integrates any of
//! them.

mod axes;
mod effects;
mod embedding;
mod ensemble;
mod feasible;
mod linearised;
mod model;
mod posterior_process;
mod process;
mod propagation;
mod theta;
mod warped;

pub use axes::Axes;
pub use effects::Effects;
pub(crate) use embedding::{Embedding, chord};
pub use ensemble::{Ensemble, Kind, Member};
pub use feasible::{Edges, Feasible};
pub use linearised::Linearised;
pub use model::{Matching, Model};
pub(crate) use posterior_process::{JITTERS, not_positive_definite, well_conditioned};
pub use posterior_process::{Latent, PosteriorProcess};
pub use process::Process;
pub(crate) use process::{Scaled, Slopes};
pub use theta::{MeanFunction, Theta};
pub use warped::Warped;

use crate::error::Result;
use crate::numeric::linalg::Mat;
use crate::points::Points;
use crate::warp::{Identity, LnVar, Marginal, Warp};
use std::sync::Arc;

/// Means and variances at some points, each in a unit of its own:
/// m = offset + exp(ln_unit) mean, K(x, x) = exp(2 ln_unit) var.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// The constant that all means share.
    pub offset: f64,
    /// ln of each point's unit.
    pub ln_unit: Vec<f64>,
    /// Means less the offset, in units.
    pub mean: Vec<f64>,
    /// Variances in squared units.
    pub var: Vec<f64>,
}

impl Moments {
    /// The means in the user's units; they may underflow to the offset.
    pub fn means(&self) -> Vec<f64> {
        let pairs = self.ln_unit.iter().zip(&self.mean);
        pairs.map(|(u, m)| self.offset + u.exp() * m).collect()
    }

    /// ln of each mean or sd, whichever is larger: what a point can add to an integral. An sd that
    /// overflows its unit, of a g known to no better than 26 nats, says nothing and is left out.
    pub fn ln_reach(&self) -> Vec<f64> {
        let sizes = self
            .mean
            .iter()
            .zip(&self.var)
            .map(|(m, v)| match v.is_finite() {
                true => m.abs().max(v.sqrt()),
                false => m.abs(),
            });
        self.ln_unit
            .iter()
            .zip(sizes)
            .map(|(u, size)| u + size.ln())
            .collect()
    }

    /// The variances in the user's units.
    pub fn vars(&self) -> Vec<f64> {
        let pairs = self.ln_unit.iter().zip(&self.var);
        pairs.map(|(u, v)| (2.0 * u).exp() * v).collect()
    }
}

/// A Gaussian belief about a function on R^d.
pub trait Belief: Sync {
    /// d.
    fn dim(&self) -> usize;

    /// Means and variances at the points.
    fn moments(&self, x: &Points) -> Result<Moments>;

    /// Covariances between f(x_i) and f(y_j), in the units of [`Belief::moments`] at x and y.
    fn cov(&self, x: &Points, y: &Points) -> Result<Mat>;

    /// The lower triangle of the covariance among the points.
    fn cov_lower(&self, x: &Points) -> Result<Mat> {
        self.cov(x, x)
    }

    /// ln K(x, x) with its gradient in x.
    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)>;

    /// What the belief is made of: closed forms and importance nodes look inside.
    fn anatomy(&self) -> Option<Anatomy<'_>> {
        None
    }

    /// The model that shows best where f is large: importance nodes start at its observations.
    fn guide(&self) -> Option<Anatomy<'_>> {
        self.anatomy()
    }

    /// Where f is positive, if that had to be learnt: the rest of the belief is about f there, and
    /// nodes carry the probability of it.
    fn feasible(&self) -> Option<&Arc<Feasible>> {
        None
    }

    /// ln of what f may well be at the points, in size: |xi - offset| at the mean of g plus and
    /// minus u standard deviations, whichever is larger.
    ///
    /// The mean of f would not do for a log warp: where g is known to 30 nats it is all tail, and
    /// nodes that follow it lose sight of the peak that is known.
    fn ln_reach(&self, x: &Points, u: f64) -> Result<Vec<f64>> {
        let Some(anatomy) = self.anatomy() else {
            return Ok(self.moments(x)?.ln_reach());
        };
        let warp = anatomy.link.warp();
        let marginals = anatomy.posterior.marginals(x)?;
        Ok(marginals.iter().map(|&at| ln_reach(warp, at, u)).collect())
    }
}

/// ln of the larger |xi - offset| at the mean of g plus and minus u standard deviations.
pub(crate) fn ln_reach(warp: &dyn Warp, at: Marginal, u: f64) -> f64 {
    let sd = at.s.sqrt();
    let [above, below] = [at.mu + u * sd, at.mu - u * sd].map(|g| ln_size(warp, g));
    above.max(below)
}

/// ln |xi(g) - offset|.
fn ln_size(warp: &dyn Warp, g: f64) -> f64 {
    let local = warp.local(g);
    local.ln_unit + local.value.abs().ln()
}

/// The same for every g.
pub(crate) fn ln_sizes(warp: &dyn Warp, g: &[f64]) -> Vec<f64> {
    g.iter().map(|&g| ln_size(warp, g)).collect()
}

/// The latent posterior behind a belief, and how f comes from it.
#[derive(Debug, Clone, Copy)]
pub struct Anatomy<'a> {
    /// The Gaussian process on g.
    pub posterior: &'a PosteriorProcess,
    /// How f comes from g.
    pub link: Link<'a>,
}

/// How f comes from g.
#[derive(Debug, Clone, Copy)]
pub enum Link<'a> {
    /// f = g.
    Latent,
    /// f = xi(g), moments matched.
    Matched(&'a dyn Warp),
    /// f = xi(mu) + xi'(mu) (g - mu).
    Linearised(&'a dyn Warp),
}

impl<'a> Link<'a> {
    /// xi, the identity where f is g itself.
    pub fn warp(self) -> &'a dyn Warp {
        match self {
            Link::Latent => &Identity,
            Link::Matched(warp) | Link::Linearised(warp) => warp,
        }
    }
}

/// The gradient in x of a ln variance, from its partials and the latent gradients.
fn chain(ln_var: LnVar, d_mu: &[f64], d_s: &[f64]) -> (f64, Vec<f64>) {
    if ln_var.value == f64::NEG_INFINITY {
        return (ln_var.value, vec![0.0; d_mu.len()]);
    }
    let pairs = d_mu.iter().zip(d_s);
    let gradient = pairs.map(|(m, s)| ln_var.d_mu * m + ln_var.d_s * s);
    (ln_var.value, gradient.collect())
}

//! Integrate f against a measure of another density: the law of Z, nodes and draws, all tilted by
//! the ratio of the densities.

use super::{Follower, Nodes};
use crate::belief::{Belief, Ensemble};
use crate::error::Result;
use crate::measure::Measure;
use crate::points::Points;

/// ln of the ratio of two densities at a point.
pub type LnRatio = dyn Fn(&[f64]) -> f64 + Sync;

/// A measure, and ln of the ratio of another density to its own.
///
/// Z of the other density is the integral of f r against the measure. Nodes follow f r, not f, so
/// they are where the other posterior has its mass.
#[derive(Clone, Copy)]
pub struct Tilt<'a> {
    /// What the belief about f lives on.
    pub measure: &'a dyn Measure,
    /// ln r at a point; `None` for the measure itself.
    pub ln_ratio: Option<&'a LnRatio>,
}

impl<'a> Tilt<'a> {
    /// The measure as it is.
    pub fn none(measure: &'a dyn Measure) -> Tilt<'a> {
        Tilt {
            measure,
            ln_ratio: None,
        }
    }

    /// ln r at a point.
    pub fn ln_ratio_at(&self, x: &[f64]) -> f64 {
        self.ln_ratio.map_or(0.0, |ln_ratio| ln_ratio(x))
    }

    /// ln of the other density at a point.
    pub fn ln_density(&self, x: &[f64]) -> f64 {
        match self.ln_ratio {
            None => self.measure.ln_density(x),
            Some(ln_ratio) => self.measure.ln_density(x) + ln_ratio(x),
        }
    }

    /// The nodes, weighted for the other density.
    pub fn weighted(&self, mut nodes: Nodes) -> Nodes {
        if let Some(ln_ratio) = self.ln_ratio {
            let pairs = nodes.ln_weights.iter_mut().zip(nodes.points.iter());
            pairs.for_each(|(weight, x)| *weight += ln_ratio(x));
        }
        nodes
    }

    /// Nodes that follow what f r may well be: see [`Nodes::plausible`].
    pub fn plausible(&self, ensemble: &Ensemble, u: f64, n: usize, seed: u64) -> Result<Nodes> {
        if self.ln_ratio.is_none() {
            return Nodes::plausible(self.measure, ensemble, u, n, seed);
        }
        let reach = |x: &Points| self.reach(ensemble, u, x);
        let follower = Follower::new(self.measure, ensemble, &reach, n, seed)?;
        Ok(self.weighted(follower.nodes(n, follower.seed)?))
    }

    /// ln of what f r may well be, at so many sd of g.
    pub(super) fn reach(&self, ensemble: &Ensemble, u: f64, x: &Points) -> Result<Vec<f64>> {
        let mut reach = ensemble.ln_reach(x, u)?;
        let pairs = reach.iter_mut().zip(x.iter());
        pairs.for_each(|(reach, x)| *reach += self.ln_ratio_at(x));
        Ok(reach)
    }
}

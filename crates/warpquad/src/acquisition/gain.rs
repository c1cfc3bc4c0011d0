//! Score points by how much observing there lowers the variance of the integral.
//!
//! Under a Gaussian belief with covariance K, observing f(x) lowers `L^2[K]` by `L[K(x, .)]^2 /
//! K(x, x)`, whatever value is seen. With L on nodes x_j of weight w_j and units exp(u), the unit
//! of x cancels:
//!
//! ```text
//! score = 2 ln |sum_j exp(ln w_j + u_j) k(x, x_j)| - ln k(x, x),    k = K in units
//! ```

use super::candidates::Space;
use super::cross::Cross;
use crate::belief::{Anatomy, Belief, Latent, Link};
use crate::error::Result;
use crate::functional::Nodes;
use crate::numeric::linalg::dot;
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// How many nodes to place: the integral guides a choice, and ten per cent of it is precise enough.
const GAIN_NODES: usize = 512;

/// Nodes dropped together weigh less than e^-14, a millionth, of the heaviest one.
const LIGHT: f64 = 14.0;

/// A latent variance is noise below this many roundings (or jitters) of the prior variance, and a
/// ratio of two such numbers could win.
const ROUNDINGS: f64 = 10.0;

/// Nodes of the measure that follow the belief; evenly spread where f = g, whose covariance has no
/// peak to follow.
pub(super) fn nodes(space: &Space<'_>, belief: &dyn Belief, seed: u64) -> Result<Nodes> {
    if space
        .sample()
        .is_some_and(|sample| sample.len() > GAIN_NODES)
    {
        let points = space.quasi_random(seed, GAIN_NODES)?;
        return Ok(Nodes {
            ln_weights: vec![-(points.len() as f64).ln(); points.len()],
            points,
            replicates: 1,
        });
    }
    match belief.anatomy().map(|anatomy| anatomy.link) {
        Some(Link::Latent) | None => Nodes::sobol(space.measure, GAIN_NODES, seed),
        Some(_) => Nodes::importance(space.measure, belief, GAIN_NODES, seed),
    }
}

/// The nodes that matter to a belief, with weights that carry the nodes' units.
pub(super) struct Weighted {
    points: Points,
    /// exp(ln w + u), relative to the largest.
    weights: Vec<f64>,
}

impl Weighted {
    pub fn new(belief: &dyn Belief, nodes: &Nodes) -> Result<Weighted> {
        let moments = belief.moments(&nodes.points)?;
        let ln_w: Vec<f64> = nodes
            .ln_weights
            .iter()
            .zip(&moments.ln_unit)
            .map(|(w, u)| w + u)
            .collect();
        // w sd bounds a node's share in any L[K(x, .)], up to the sd at x.
        let share = ln_w.iter().zip(&moments.var).map(|(w, v)| w + 0.5 * v.ln());
        let share: Vec<f64> = share.collect();
        let heaviest = share.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = heaviest - LIGHT - (share.len() as f64).ln();
        let kept: Vec<usize> = (0..share.len()).filter(|&j| share[j] > least).collect();
        let top = kept
            .iter()
            .map(|&j| ln_w[j])
            .fold(f64::NEG_INFINITY, f64::max);
        Ok(Weighted {
            points: nodes.points.select(&kept),
            weights: kept.iter().map(|&j| (ln_w[j] - top).exp()).collect(),
        })
    }

    /// Scores through the belief's own moments and covariances: for beliefs of unknown anatomy.
    pub fn values(&self, belief: &dyn Belief, x: &Points) -> Result<Vec<f64>> {
        let moments = belief.moments(x)?;
        let cov = belief.cov(&self.points, x)?;
        let score =
            |i: usize| 2.0 * dot(&self.weights, cov.col(i)).abs().ln() - moments.var[i].ln();
        Ok((0..x.len()).map(score).collect())
    }
}

/// The same score through the latent process, with an exact gradient: O(n^2 + n m) a point for n
/// observations and m nodes.
pub(super) struct Gain<'a> {
    anatomy: Anatomy<'a>,
    cross: Cross<'a>,
    /// Weights of K in units; of the latent covariance where K = slope c slope'.
    weights: Vec<f64>,
    /// The warp's features at the nodes.
    features: Vec<f64>,
}

impl<'a> Gain<'a> {
    pub fn new(anatomy: Anatomy<'a>, nodes: Weighted) -> Result<Gain<'a>> {
        let posterior = anatomy.posterior;
        let cross = Cross::new(posterior, nodes.points)?;
        let marginals = &cross.marginals;
        let (mut weights, mut features) = (nodes.weights, Vec::new());
        match anatomy.link {
            Link::Latent => {}
            // K = slope c slope': the slope at x cancels like its unit, the node's joins its
            // weight.
            Link::Linearised(warp) => {
                for (w, at) in weights.iter_mut().zip(marginals) {
                    *w *= warp.local(at.mu).slope;
                }
            }
            Link::Matched(warp) => {
                features = marginals
                    .iter()
                    .flat_map(|&at| features_at(warp, at))
                    .collect();
            }
        }
        Ok(Gain {
            anatomy,
            cross,
            weights,
            features,
        })
    }

    /// Scores of many points.
    pub fn values(&self, x: &Points) -> Result<Vec<f64>> {
        let (marginals, mut cov) = self.cross.columns(x)?;
        let score = |(i, at): (usize, Marginal)| {
            let column = cov.col_mut(i);
            if at.s <= self.least_variance() {
                return f64::NAN;
            }
            let var = match self.anatomy.link {
                Link::Matched(warp) => {
                    let features = features_at(warp, at);
                    warp.cov_column(&features, &self.features, column);
                    warp.cov(&features, &features, at.s)
                }
                _ => at.s,
            };
            2.0 * dot(&self.weights, column).abs().ln() - var.ln()
        };
        Ok(marginals.into_iter().enumerate().map(score).collect())
    }

    /// The score of one point with its gradient.
    pub fn gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let latent = self.anatomy.posterior.latent(x)?;
        if latent.marginal.s <= self.least_variance() {
            return Ok((f64::NEG_INFINITY, vec![0.0; x.len()]));
        }
        let crossed = self.cross.at(x);
        let parts = match self.anatomy.link {
            Link::Matched(warp) => self.matched(warp, latent.marginal, &crossed.cov),
            _ => self.latent(latent.marginal, &crossed.cov),
        };
        let slope = crossed.gradient(&parts.d_c);
        let Latent { d_mu, d_s, .. } = &latent;
        let total = (0..x.len()).map(|d| slope[d] + parts.d_mu * d_mu[d] + parts.d_s * d_s[d]);
        Ok((parts.value, total.collect()))
    }

    /// The score of an unwarped or linearised belief.
    fn latent(&self, at: Marginal, cov: &[f64]) -> Parts {
        let sum = dot(&self.weights, cov);
        Parts {
            value: 2.0 * sum.abs().ln() - at.s.ln(),
            d_c: self.weights.iter().map(|w| 2.0 * w / sum).collect(),
            d_mu: 0.0,
            d_s: -1.0 / at.s,
        }
    }

    /// The score of a matched belief: S = sum_j w_j k_j and ln k(x, x) = ln Var f - 2 ln u.
    fn matched(&self, warp: &dyn Warp, at: Marginal, cov: &[f64]) -> Parts {
        let own = features_at(warp, at);
        let (mut sum, mut sum_mu, mut sum_s) = (0.0, 0.0, 0.0);
        let mut d_c = Vec::with_capacity(cov.len());
        let nodes = self.features.chunks_exact(warp.feature_count());
        for ((features, &c), &w) in nodes.zip(cov).zip(&self.weights) {
            let k = warp.cov_partials(&own, features, c);
            sum += w * k.value;
            sum_mu += w * k.d_mu;
            sum_s += w * k.d_s;
            d_c.push(w * k.d_c);
        }
        d_c.iter_mut().for_each(|d| *d *= 2.0 / sum);
        let (mean, ln_var) = (warp.mean(at), warp.ln_var(at));
        Parts {
            value: 2.0 * (sum.abs().ln() + mean.ln_unit) - ln_var.value,
            d_c,
            d_mu: 2.0 * (sum_mu / sum + mean.ln_unit_mu) - ln_var.d_mu,
            d_s: 2.0 * (sum_s / sum + mean.ln_unit_s) - ln_var.d_s,
        }
    }

    fn least_variance(&self) -> f64 {
        let posterior = self.anatomy.posterior;
        let rounding = f64::EPSILON * (1 + posterior.points().len()) as f64;
        ROUNDINGS * posterior.process().theta().output_scale * rounding.max(posterior.jitter())
    }
}

/// A score with its partials in each c_j, in mu and in s at x.
struct Parts {
    value: f64,
    d_c: Vec<f64>,
    d_mu: f64,
    d_s: f64,
}

fn features_at(warp: &dyn Warp, at: Marginal) -> Vec<f64> {
    let mut out = vec![0.0; warp.feature_count()];
    warp.features(at, &mut out);
    out
}

//! Sum the surface of a model's median on all nodes, and thin the nodes that are drawn jointly.

use super::Nodes;
use super::draws::{ln_weighted_sum, mirrored, widen};
use crate::belief::{Model, ln_sizes};
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_sum_exp};
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// Sums of weighted f under a model: as logarithms for a positive f, in a unit otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub model: &'a Model,
    /// ln of the unit of Z where f may be negative; `None` where Z is summed as ln Z.
    pub ln_unit: Option<f64>,
}

impl Terms<'_> {
    /// The sum at latent values g whose means are `mu`.
    pub fn sum(&self, ln_weights: &[f64], g: &[f64], mu: &[f64]) -> f64 {
        let Some(ln_unit) = self.ln_unit else {
            return ln_weighted_sum(self.model.warp(), ln_weights, g);
        };
        let offset = self.model.warp().offset();
        let weights: Vec<f64> = ln_weights.iter().map(|w| (w - ln_unit).exp()).collect();
        let value = |(&g, &mu): (&f64, &f64)| {
            let (ln_unit, value) = self.model.value_at(g, mu);
            offset + ln_unit.exp() * value
        };
        let values: Vec<f64> = g.iter().zip(mu).map(value).collect();
        dot(&weights, &values)
    }

    /// By how much the sum is larger in the mean where every g has this variance of its own.
    ///
    /// Draws carry such a variance where a covariance can only be factored with it. Over many nodes
    /// it averages out, so that all draws are larger alike.
    pub fn lift(&self, ln_weights: &[f64], mu: &[f64], variance: f64) -> f64 {
        // Below this part of a nat the quadrature of a mean says less than nothing.
        if variance < 1e-9 {
            return 0.0;
        }
        let offset = self.model.warp().offset();
        let means = mu
            .iter()
            .map(|&mu| self.model.mean_at(Marginal { mu, s: variance }));
        let terms = means.zip(ln_weights);
        let mean = match self.ln_unit {
            None => {
                let ln = terms.map(|((ln_unit, value), w)| w + ln_unit + value.ln());
                ln_sum_exp(&ln.collect::<Vec<f64>>())
            }
            Some(ln_unit) => terms
                .map(|((ln, value), w)| (w - ln_unit).exp() * (offset + ln.exp() * value))
                .sum(),
        };
        mean - self.sum(ln_weights, mu, mu)
    }

    /// What each replicate of the nodes says of the surface of the median.
    pub fn replicates(&self, nodes: &Nodes, mu: &[f64]) -> Replicates {
        let size = mu.len() / nodes.replicates;
        let whole = (nodes.replicates as f64).ln();
        let one = |r: usize| {
            let part = r * size..(r + 1) * size;
            let ln_weights: Vec<f64> = nodes.ln_weights[part.clone()]
                .iter()
                .map(|w| w + whole)
                .collect();
            self.sum(&ln_weights, &mu[part.clone()], &mu[part])
        };
        Replicates {
            each: (0..nodes.replicates).map(one).collect(),
            is_log: self.ln_unit.is_none(),
        }
    }

    /// The same, with the means worked out.
    pub fn replicates_of_median(&self, nodes: &Nodes) -> Result<Replicates> {
        Ok(self.replicates(nodes, &self.model.process().means(&nodes.points)?))
    }
}

/// What each replicate of the nodes says of Z: its logarithm, or Z in a unit.
pub(crate) struct Replicates {
    each: Vec<f64>,
    is_log: bool,
}

impl Replicates {
    /// What all say together.
    pub fn mean(&self) -> f64 {
        let n = self.each.len() as f64;
        match self.is_log {
            true => ln_sum_exp(&self.each) - n.ln(),
            false => self.each.iter().sum::<f64>() / n,
        }
    }

    /// What each says, in parts of that.
    pub fn parts(&self) -> Vec<f64> {
        let mean = self.mean();
        let part = |z: &f64| match self.is_log {
            true => (z - mean).exp(),
            false => z / mean,
        };
        self.each.iter().map(part).collect()
    }
}

/// A few of the nodes, resampled in proportion to what they can add, with weights that make up
/// for it.
pub(crate) struct Thin {
    pub chosen: Vec<usize>,
    pub points: Points,
    pub ln_weights: Vec<f64>,
}

impl Thin {
    /// About `count` nodes, by the mean of several guesses of ln f at the nodes: the mass of no
    /// guess is left out. All nodes, where they are no more.
    pub fn new(nodes: &Nodes, guesses: &[&[f64]], count: usize) -> Thin {
        if nodes.points.len() <= count {
            return Thin {
                chosen: (0..nodes.points.len()).collect(),
                points: nodes.points.clone(),
                ln_weights: nodes.ln_weights.clone(),
            };
        }
        let mut ln_mass = vec![f64::NEG_INFINITY; nodes.ln_weights.len()];
        for guess in guesses {
            let own: Vec<f64> = nodes
                .ln_weights
                .iter()
                .zip(*guess)
                .map(|(w, f)| w + f)
                .collect();
            let total = ln_sum_exp(&own);
            for (mass, own) in ln_mass.iter_mut().zip(own) {
                *mass = ln_add_exp(*mass, own - total);
            }
        }
        let total = ln_sum_exp(&ln_mass) - (count as f64).ln();
        let (mut chosen, mut ln_weights) = (Vec::new(), Vec::new());
        // Systematic: a node is taken whenever the cumulative mass passes the next half step.
        let mut passed = 0.5;
        for (i, ln_mass) in ln_mass.iter().enumerate() {
            let expected = (ln_mass - total).exp();
            passed += expected;
            if passed >= 1.0 {
                let times = passed.floor();
                passed -= times;
                chosen.push(i);
                ln_weights.push(nodes.ln_weights[i] + (times / expected).ln());
            }
        }
        Thin {
            points: nodes.points.select(&chosen),
            chosen,
            ln_weights,
        }
    }
}

/// A model's surface on the nodes of all: summed on all of them, drawn from on a few.
pub(crate) struct Surface<'a> {
    terms: Terms<'a>,
    thin: Thin,
    /// What all nodes say of Z, less what the thinned ones say.
    shift: f64,
    /// The [parts](Replicates::parts) of the nodes' replicates.
    pub parts: Vec<f64>,
}

impl<'a> Surface<'a> {
    /// `reach` is ln of what f may be at the nodes; `boxes` know the surface to many digits, where
    /// there are such.
    pub fn new(
        terms: Terms<'a>,
        nodes: &Nodes,
        boxes: Option<&Nodes>,
        reach: &[f64],
        joint_nodes: usize,
    ) -> Result<Surface<'a>> {
        let process = terms.model.process();
        let mu = process.means(&nodes.points)?;
        // On the surface of the median all nodes can be used, and thinning be undone.
        let replicates = terms.replicates(nodes, &mu);
        let full = match boxes {
            Some(boxes) => {
                let mu = process.means(&boxes.points)?;
                terms.sum(&boxes.ln_weights, &mu, &mu)
            }
            None => replicates.mean(),
        };
        let median = ln_sizes(terms.model.warp(), &mu);
        let thin = Thin::new(nodes, &[reach, &median], joint_nodes);
        let thin_mu: Vec<f64> = thin.chosen.iter().map(|&i| mu[i]).collect();
        Ok(Surface {
            shift: full - terms.sum(&thin.ln_weights, &thin_mu, &thin_mu),
            terms,
            thin,
            parts: replicates.parts(),
        })
    }

    /// `count` draws of Z, or one more, under a model whose surface differs little from this one;
    /// so many times as wide about their median as the model claims.
    pub fn draws(
        &self,
        model: &Model,
        widening: f64,
        count: usize,
        rng: &mut Rng,
    ) -> Result<Vec<f64>> {
        let thin = &self.thin;
        let terms = Terms {
            model,
            ..self.terms
        };
        let mu = model.process().means(&thin.points)?;
        let mut draws = Vec::with_capacity(count + 1);
        let drawn = mirrored(model.process(), &thin.points, &mu, count, rng)?;
        let shift = self.shift - terms.lift(&thin.ln_weights, &mu, drawn.added);
        for g in drawn.draws {
            draws.push(shift + terms.sum(&thin.ln_weights, &g, &mu));
        }
        // About the median, in ln Z: wider draws of g would make Z itself larger.
        widen(&mut draws, widening);
        Ok(draws)
    }
}

//! Average over several models of g: the late intervals of any single one are too narrow.

use super::Method;
use super::model::{Model, ModelMaker, Shape};
use crate::belief::Theta;
use crate::error::Result;
use crate::functional::{Estimate, Law, Nodes, draw, follow, ln_reach, ln_weighted_sum};
use crate::numeric::linalg::dot;
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_normal_pdf, ln_sum_exp};
use crate::points::Points;
use crate::warp::{Gumbel, Marginal, Warp};
use std::sync::Arc;

/// A model with less weight than this is left out: it moves no quantile that is reported.
const LEAST: f64 = 0.02;

/// Bootstraps of the scores.
const BOOTSTRAPS: usize = 200;

/// Observations this far below the largest, in nats, do not judge the models: Z does not depend on how
/// well f is known there.
const DEPTH: f64 = 15.0;

/// Nodes follow what g reaches at so many sd: between the median, where Z is, and the 97.5 % quantile.
const REACH: f64 = 1.5;

/// Nodes drawn jointly: the covariance is factored, in O(n^3).
const JOINT: usize = 600;

/// The law of Z under all the models, its moments, and the hyperparameters of the heaviest model.
pub(super) fn average(
    maker: &ModelMaker<'_>,
    lead: &Model,
    draws: usize,
    rng: &mut Rng,
) -> Result<(Law, Estimate, Theta)> {
    let ensemble = Ensemble::fit(maker, lead, rng)?;
    let nodes = ensemble.nodes(maker, rng.next_u64())?;
    let (law, relative_error) = ensemble.law(&nodes, draws, rng)?;
    let (ln_unit, mean, var) = law.moments();
    let estimate = Estimate {
        offset: 0.0,
        ln_unit,
        mean,
        var,
        node_error: relative_error * mean.abs(),
        closed_form: false,
    };
    Ok((law, estimate, ensemble.heaviest().theta().clone()))
}

/// Models of the same data, the heaviest first, and their weights.
struct Ensemble {
    members: Vec<(Model, f64)>,
}

impl Ensemble {
    fn fit(maker: &ModelMaker<'_>, lead: &Model, rng: &mut Rng) -> Result<Ensemble> {
        let others = others(maker)?;
        // A model that cannot be fitted to these data is no loss: the lead has been.
        let fitted = parallel::map(others.len(), |i| {
            let (method, shape) = &others[i];
            let other = ModelMaker {
                method,
                shape: shape.clone(),
                ..*maker
            };
            other.fit(None).ok()
        });
        let models: Vec<Model> = std::iter::once(lead.clone())
            .chain(fitted.into_iter().flatten())
            .collect();
        let weights = weights(&models, rng);
        let mut members: Vec<(Model, f64)> = models.into_iter().zip(weights).collect();
        members.sort_by(|a, b| b.1.total_cmp(&a.1));
        members.retain(|(_, weight)| *weight >= LEAST);
        let total: f64 = members.iter().map(|(_, weight)| weight).sum();
        members.iter_mut().for_each(|(_, weight)| *weight /= total);
        Ok(Ensemble { members })
    }

    fn heaviest(&self) -> &Model {
        &self.members[0].0
    }

    /// Nodes that follow what the models reach together.
    fn nodes(&self, maker: &ModelMaker<'_>, seed: u64) -> Result<Nodes> {
        let model = self.heaviest();
        let ln_observed = ln_sizes(model, model.posterior().g());
        let reach = |x: &Points| self.ln_reach(x);
        let (measure, n) = (maker.measure, maker.method.nodes);
        follow(measure, model.posterior(), &ln_observed, &reach, n, seed)
    }

    fn ln_reach(&self, x: &Points) -> Result<Vec<f64>> {
        let mut sum = vec![f64::NEG_INFINITY; x.len()];
        for (model, weight) in &self.members {
            let marginals = model.posterior().marginals(x)?;
            for (sum, at) in sum.iter_mut().zip(marginals) {
                *sum = ln_add_exp(*sum, weight.ln() + ln_reach(model.warp(), at, REACH));
            }
        }
        Ok(sum)
    }

    /// Draws of Z, each model's share of them, and the relative error of the nodes.
    fn law(&self, nodes: &Nodes, draws: usize, rng: &mut Rng) -> Result<(Law, f64)> {
        let reach: Vec<f64> = self.ln_reach(&nodes.points)?;
        let thin = Thin::new(nodes, &reach);
        let positive =
            self.heaviest().warp().range().lo >= 0.0 && self.heaviest().warp().offset() == 0.0;
        let ln_unit = (!positive).then(|| ln_sum_exp(&reach) - (reach.len() as f64).ln());
        let mut samples = Vec::with_capacity(draws);
        let mut error = None;
        for (k, (model, weight)) in self.members.iter().enumerate() {
            let mu = model.posterior().means(&nodes.points)?;
            let terms = Terms {
                warp: model.warp(),
                ln_unit,
            };
            // On the surface of the median all nodes can be used, and thinning be undone.
            let replicates = terms.replicates(nodes, &mu);
            let full = terms.mean(&replicates);
            error.get_or_insert_with(|| terms.relative_error(&replicates));
            let thin_mu: Vec<f64> = thin.chosen.iter().map(|&i| mu[i]).collect();
            let shift = full - terms.sum(&thin.ln_weights, &thin_mu);
            let rest: f64 = self.members[k..].iter().map(|(_, weight)| weight).sum();
            let count = ((draws - samples.len()) as f64 * weight / rest).round() as usize;
            let (g, _) = draw(model.posterior(), &thin.points, &thin_mu, count.max(1), rng)?;
            samples.extend((0..count).map(|k| shift + terms.sum(&thin.ln_weights, g.col(k))));
        }
        Ok((Law::of_draws(samples, ln_unit), error.unwrap_or(0.0)))
    }
}

/// Sums of weighted xi(g): as logarithms for a positive f, in a unit otherwise.
struct Terms<'a> {
    warp: &'a dyn Warp,
    ln_unit: Option<f64>,
}

impl Terms<'_> {
    fn sum(&self, ln_weights: &[f64], g: &[f64]) -> f64 {
        let Some(ln_unit) = self.ln_unit else {
            return ln_weighted_sum(self.warp, ln_weights, g);
        };
        let offset = self.warp.offset();
        let weights: Vec<f64> = ln_weights.iter().map(|w| (w - ln_unit).exp()).collect();
        let values: Vec<f64> = g
            .iter()
            .map(|&g| {
                let local = self.warp.local(g);
                offset + local.ln_unit.exp() * local.value
            })
            .collect();
        dot(&weights, &values)
    }

    /// What each replicate alone says of the whole.
    fn replicates(&self, nodes: &Nodes, g: &[f64]) -> Vec<f64> {
        let size = g.len() / nodes.replicates;
        let whole = (nodes.replicates as f64).ln();
        let one = |r: usize| {
            let part = r * size..(r + 1) * size;
            let ln_weights: Vec<f64> = nodes.ln_weights[part.clone()]
                .iter()
                .map(|w| w + whole)
                .collect();
            self.sum(&ln_weights, &g[part])
        };
        (0..nodes.replicates).map(one).collect()
    }

    fn mean(&self, replicates: &[f64]) -> f64 {
        let n = replicates.len() as f64;
        match self.ln_unit {
            None => ln_sum_exp(replicates) - n.ln(),
            Some(_) => replicates.iter().sum::<f64>() / n,
        }
    }

    /// The standard error of the mean, relative to it.
    fn relative_error(&self, replicates: &[f64]) -> f64 {
        let n = replicates.len() as f64;
        let mean = self.mean(replicates);
        let ratio = |z: &f64| match self.ln_unit {
            None => (z - mean).exp(),
            Some(_) => z / mean,
        };
        let squares: f64 = replicates.iter().map(|z| (ratio(z) - 1.0).powi(2)).sum();
        (squares / (n * (n - 1.0).max(1.0))).sqrt()
    }
}

/// A few of the nodes, resampled in proportion to what they can add, with weights that make up for it.
struct Thin {
    chosen: Vec<usize>,
    points: Points,
    ln_weights: Vec<f64>,
}

impl Thin {
    fn new(nodes: &Nodes, reach: &[f64]) -> Thin {
        let ln_mass: Vec<f64> = nodes
            .ln_weights
            .iter()
            .zip(reach)
            .map(|(w, r)| w + r)
            .collect();
        let total = ln_sum_exp(&ln_mass) - (JOINT as f64).ln();
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

/// The other models: a rougher kernel, a warp that saturates later, and a mean that falls off once there are
/// two observations for each of its 3 d + 2 hyperparameters: three points lie on some parabola exactly.
fn others(maker: &ModelMaker<'_>) -> Result<Vec<(Method, Shape)>> {
    let method = maker.method;
    let plain = Shape::default();
    let with_kernel = |kernel: &str| Method {
        kernel: kernel.into(),
        ..method.clone()
    };
    let mut out = vec![(with_kernel("matern52"), plain.clone())];
    let enough = maker.data.len() >= 2 * (3 * maker.measure.dim() + 2);
    let falls_off = enough && ["gumbel", "log"].contains(&method.warp.as_str());
    if falls_off {
        let quadratic = Shape {
            quadratic: true,
            ..plain.clone()
        };
        out.push((method.clone(), quadratic));
    }
    if method.warp == "gumbel" {
        let later = Shape {
            warp: Some(Arc::new(Gumbel::new(100.0)?)),
            ..plain
        };
        out.push((method.clone(), later));
    }
    Ok(out)
}

/// ln |f - offset| where g is known.
fn ln_sizes(model: &Model, g: &[f64]) -> Vec<f64> {
    let exact = |&g: &f64| ln_reach(model.warp(), Marginal { mu: g, s: 0.0 }, 0.0);
    g.iter().map(exact).collect()
}

/// ln p(f_i | the others) at the observations that matter.
///
/// These are densities of f itself, N(g_i) / |xi'(g_i)|, and so comparable between warps.
fn scores(model: &Model) -> Vec<f64> {
    let posterior = model.posterior();
    let sizes = ln_sizes(model, posterior.g());
    let top = sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let left_out = posterior.leave_one_out();
    let score = |i: usize| {
        let (g, at) = (posterior.g()[i], left_out[i]);
        let local = model.warp().local(g);
        let sd = at.s.sqrt();
        ln_normal_pdf((g - at.mu) / sd) - sd.ln() - local.ln_unit - local.slope.abs().ln()
    };
    (0..sizes.len())
        .filter(|&i| sizes[i] > top - DEPTH)
        .map(score)
        .collect()
}

/// Weights by pseudo-BMA+ (Yao, Vehtari, Simpson and Gelman 2018): the softmax of summed scores, averaged over
/// Bayesian bootstraps, so that models which differ by chance share the weight.
fn weights(models: &[Model], rng: &mut Rng) -> Vec<f64> {
    let all: Vec<Vec<f64>> = models.iter().map(scores).collect();
    let n = all[0].len();
    let mut out = vec![0.0; models.len()];
    for _ in 0..BOOTSTRAPS {
        let shares: Vec<f64> = (0..n).map(|_| -rng.uniform().ln()).collect();
        let scale = n as f64 / shares.iter().sum::<f64>();
        let sums: Vec<f64> = all
            .iter()
            .map(|scores| scale * dot(scores, &shares))
            .collect();
        let total = ln_sum_exp(&sums);
        for (out, sum) in out.iter_mut().zip(&sums) {
            *out += (sum - total).exp() / BOOTSTRAPS as f64;
        }
    }
    out
}

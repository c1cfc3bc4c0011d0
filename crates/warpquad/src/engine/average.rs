//! Average over several models of g: the late intervals of any single one are too narrow.

use super::Method;
use super::model::{Model, ModelMaker, Shape, TAUS};
use super::score::{ln_sizes, weights};
use crate::belief::Theta;
use crate::error::Result;
use crate::functional::{Estimate, Law, Nodes, draw, follow, ln_reach, ln_weighted_sum};
use crate::numeric::linalg::dot;
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_sum_exp};
use crate::points::Points;
use crate::warp::Warp;

/// A model with less weight than this is left out: it moves no quantile that is reported.
const LEAST: f64 = 0.02;

/// Hyperparameters drawn, over all models.
const HYPERDRAWS: usize = 12;

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

/// Models of the same data, with their weights, the heaviest first.
struct Ensemble {
    /// One for each kind.
    fitted: Vec<(Model, f64)>,
    /// The same with their hyperparameters drawn.
    drawn: Vec<(Model, f64)>,
}

impl Ensemble {
    fn fit(maker: &ModelMaker<'_>, lead: &Model, rng: &mut Rng) -> Result<Ensemble> {
        let variants = variants(maker);
        let makers: Vec<ModelMaker<'_>> = variants
            .iter()
            .map(|(method, shape)| ModelMaker {
                method,
                shape: *shape,
                ..*maker
            })
            .collect();
        let fitted = parallel::map(makers.len(), |i| match i {
            0 => Some(lead.clone()),
            _ => makers[i].fit(None).ok(),
        });
        // A model that cannot be fitted to these data is no loss: the lead has been.
        let (makers, models): (Vec<_>, Vec<_>) = makers
            .iter()
            .zip(fitted)
            .filter_map(|(maker, model)| Some((maker, model?)))
            .unzip();
        let weights = weights(&models, rng);
        let total: f64 = weights.iter().filter(|weight| **weight >= LEAST).sum();
        let (mut fitted, mut drawn) = (Vec::new(), Vec::new());
        for ((maker, model), weight) in makers.into_iter().zip(models).zip(weights) {
            if weight < LEAST {
                continue;
            }
            let share = weight / total;
            let count = (HYPERDRAWS as f64 * share).round().max(1.0) as usize;
            // Where theta cannot be drawn, the best one stands for all.
            match maker.drawn(&model, count, rng) {
                Ok(models) => drawn.extend(models.into_iter().map(|(m, w)| (m, share * w))),
                Err(_) => drawn.push((model.clone(), share)),
            }
            fitted.push((model, share));
        }
        fitted.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(Ensemble { fitted, drawn })
    }

    fn heaviest(&self) -> &Model {
        &self.fitted[0].0
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
        for (model, weight) in &self.fitted {
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
        let positive =
            self.heaviest().warp().range().lo >= 0.0 && self.heaviest().warp().offset() == 0.0;
        let ln_unit = (!positive).then(|| ln_sum_exp(&reach) - (reach.len() as f64).ln());
        let mut samples = Vec::with_capacity(draws);
        let mut error = 0.0;
        for (k, (model, weight)) in self.drawn.iter().enumerate() {
            let mu = model.posterior().means(&nodes.points)?;
            let terms = Terms {
                warp: model.warp(),
                ln_unit,
            };
            // On the surface of the median all nodes can be used, and thinning be undone.
            let replicates = terms.replicates(nodes, &mu);
            let full = terms.mean(&replicates);
            error += weight * terms.relative_error(&replicates);
            let thin = Thin::new(nodes, &[&reach, &ln_sizes(model, &mu)]);
            let thin_mu: Vec<f64> = thin.chosen.iter().map(|&i| mu[i]).collect();
            let shift = full - terms.sum(&thin.ln_weights, &thin_mu);
            let rest: f64 = self.drawn[k..].iter().map(|(_, weight)| weight).sum();
            let count = ((draws - samples.len()) as f64 * weight / rest).round() as usize;
            let (g, _) = draw(model.posterior(), &thin.points, &thin_mu, count.max(1), rng)?;
            samples.extend((0..count).map(|k| shift + terms.sum(&thin.ln_weights, g.col(k))));
        }
        Ok((Law::of_draws(samples, ln_unit), error))
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
    /// By the mean of several ideas of what f may be, each given as ln f at the nodes: no idea's mass is left out.
    fn new(nodes: &Nodes, ideas: &[&[f64]]) -> Thin {
        let mut ln_mass = vec![f64::NEG_INFINITY; nodes.ln_weights.len()];
        for idea in ideas {
            let own: Vec<f64> = nodes
                .ln_weights
                .iter()
                .zip(*idea)
                .map(|(w, f)| w + f)
                .collect();
            let total = ln_sum_exp(&own);
            for (mass, own) in ln_mass.iter_mut().zip(own) {
                *mass = ln_add_exp(*mass, own - total);
            }
        }
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

/// The lead's model, and others: a rougher kernel, warps that saturate sooner and later, and a mean that falls off once
/// there are two observations for each of its 3 d + 2 hyperparameters: three points lie on some parabola exactly.
fn variants(maker: &ModelMaker<'_>) -> Vec<(Method, Shape)> {
    let (method, lead) = (maker.method, maker.shape);
    let rougher = Method {
        kernel: "matern52".into(),
        ..method.clone()
    };
    let mut out = vec![(method.clone(), lead), (rougher, lead)];
    let enough = maker.data.len() >= 2 * (3 * maker.measure.dim() + 2);
    if enough && ["gumbel", "log"].contains(&method.warp.as_str()) {
        let quadratic = true;
        out.push((method.clone(), Shape { quadratic, ..lead }));
    }
    let near = |tau: &f64, own: f64| *tau != own && (tau / own).ln().abs() < 1.5;
    for &tau in TAUS
        .iter()
        .filter(|tau| lead.tau.is_some_and(|own| near(tau, own)))
    {
        out.push((
            method.clone(),
            Shape {
                tau: Some(tau),
                ..lead
            },
        ));
    }
    out
}

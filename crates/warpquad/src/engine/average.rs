//! Average over several models of g: the late intervals of any single one are too narrow.

use super::Method;
use super::model::{Model, ModelMaker, Shape, TAUS};
use super::score::weights;
use super::surface::Surface;
use crate::belief::Theta;
use crate::error::Result;
use crate::functional::{Law, Nodes, cubature, follow, ln_reach, ln_sizes};
use crate::measure::Measure;
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

/// Boxes take the place of the nodes where their relative error is below this, a tenth of the nodes' own.
const BOXES: f64 = 1e-4;

/// Nodes that are kept beside them: enough to draw some hundred from.
const BESIDE: usize = 4096;

/// What all the models together say of Z.
pub(super) struct Average {
    pub law: Law,
    pub relative_node_error: f64,
    /// The hyperparameters of the heaviest model.
    pub theta: Theta,
}

/// The law of Z under all the models.
pub(super) fn average(
    maker: &ModelMaker<'_>,
    lead: &Model,
    draws: usize,
    rng: &mut Rng,
) -> Result<Average> {
    Ensemble::fit(maker, lead, rng)?.average(maker, draws, rng)
}

/// The same under the leading model alone, with its hyperparameters as they are, on fewer nodes.
pub(super) fn alone(
    maker: &ModelMaker<'_>,
    lead: &Model,
    draws: usize,
    rng: &mut Rng,
) -> Result<Average> {
    let method = &Method {
        nodes: maker.method.nodes / 4,
        ..maker.method.clone()
    };
    let maker = &ModelMaker {
        method,
        shape: sober(maker.shape),
        ..*maker
    };
    let own = maker.condition(lead.theta().clone())?;
    let only = vec![(own, 1.0)];
    let ensemble = Ensemble {
        fitted: only.clone(),
        drawn: only,
    };
    ensemble.average(maker, draws, rng)
}

fn sober(shape: Shape) -> Shape {
    Shape {
        sober: true,
        ..shape
    }
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
        let own = makers[0].condition(lead.theta().clone())?;
        let fitted = parallel::map(makers.len(), |i| match i {
            0 => Some(own.clone()),
            _ => makers[i].fit_like(lead).ok(),
        });
        // Another model that cannot be fitted to these data is no loss.
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
                Ok(models) if !models.is_empty() => {
                    drawn.extend(models.into_iter().map(|(m, w)| (m, share * w)));
                }
                _ => drawn.push((model.clone(), share)),
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
        let ln_observed = ln_sizes(model.warp(), model.posterior().g());
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

    /// Nodes that integrate the surfaces of the medians to many digits, where there are such, and their relative error.
    fn boxes(&self, measure: &dyn Measure, nodes: &Nodes) -> Result<Option<(Nodes, f64)>> {
        let ln_f = |x: &Points| {
            let mut sum = vec![f64::NEG_INFINITY; x.len()];
            for (model, weight) in &self.fitted {
                let sizes = ln_sizes(model.warp(), &model.posterior().means(x)?);
                for (sum, size) in sum.iter_mut().zip(sizes) {
                    *sum = ln_add_exp(*sum, weight.ln() + size);
                }
            }
            Ok(sum)
        };
        let pairs = ln_f(&nodes.points)?.into_iter().zip(&nodes.ln_weights);
        let ln_mass: Vec<f64> = pairs.map(|(f, w)| f + w).collect();
        cubature(measure, (&nodes.points, &ln_mass), &ln_f, BOXES)
    }

    /// Draws of Z, each model's share of them.
    fn average(&self, maker: &ModelMaker<'_>, draws: usize, rng: &mut Rng) -> Result<Average> {
        let mut nodes = self.nodes(maker, rng.next_u64())?;
        let positive =
            self.heaviest().warp().range().lo >= 0.0 && self.heaviest().warp().offset() == 0.0;
        let boxes = match positive {
            true => self.boxes(maker.measure, &nodes)?,
            false => None,
        };
        if boxes.is_some() {
            nodes = nodes.at_most(BESIDE);
        }
        let reach: Vec<f64> = self.ln_reach(&nodes.points)?;
        let ln_unit = (!positive).then(|| ln_sum_exp(&reach) - (reach.len() as f64).ln());
        let mut samples = Vec::with_capacity(draws);
        let mut error = 0.0;
        for (k, (model, weight)) in self.drawn.iter().enumerate() {
            let rest: f64 = self.drawn[k..].iter().map(|(_, weight)| weight).sum();
            let count = ((draws - samples.len()) as f64 * weight / rest).round() as usize;
            let surface = Surface {
                model,
                nodes: &nodes,
                boxes: boxes.as_ref(),
                ln_unit,
            };
            let (own, node_error) = surface.draws(&reach, count, rng)?;
            samples.extend(own);
            error += weight * node_error;
        }
        Ok(Average {
            law: Law::of_draws(samples, ln_unit),
            relative_node_error: error,
            theta: self.heaviest().theta().clone(),
        })
    }
}

/// The lead's model, and others: a rougher kernel, one that follows the observations more closely, a warp that saturates
/// sooner, and a mean that falls off once there are two observations for each of its 3 d + 2 hyperparameters: three points lie on some parabola exactly.
///
/// All extrapolate more cautiously than the lead. A bolder one, whose peaks between the points no choice has ever put to the
/// test, can predict the observations best and Z by nats too high.
fn variants(maker: &ModelMaker<'_>) -> Vec<(Method, Shape)> {
    let method = maker.method;
    let shape = sober(maker.shape);
    let rougher = Method {
        kernel: "matern52".into(),
        ..method.clone()
    };
    let close = Shape {
        close: true,
        ..shape
    };
    let mut out = vec![
        (method.clone(), shape),
        (rougher, shape),
        (method.clone(), close),
    ];
    let enough = maker.data.len() >= 2 * (3 * maker.measure.dim() + 2);
    if enough && ["gumbel", "log"].contains(&method.warp.as_str()) {
        let quadratic = true;
        out.push((method.clone(), Shape { quadratic, ..shape }));
    }
    let sooner = TAUS
        .iter()
        .rev()
        .find(|tau| shape.tau.is_some_and(|own| **tau < own));
    if let Some(&tau) = sooner {
        let tau = Some(tau);
        out.push((method.clone(), Shape { tau, ..shape }));
    }
    out
}

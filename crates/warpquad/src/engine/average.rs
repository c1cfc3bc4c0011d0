//! Average over several models of g: the late intervals of any single one are too narrow.

use super::Method;
use super::model::{Model, ModelMaker, Shape};
use super::score::weights;
use super::surface::{Replicates, Surface, error_between, relative_error};
use crate::belief::Theta;
use crate::error::Result;
use crate::functional::{Follower, Law, Nodes, cubature, ln_reach, ln_sizes};
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

/// Where the error of the nodes is more than this part of the sd of ln Z, the surface of the heaviest model is summed on so many
/// times as many. All models share the nodes, and where Z is known that well their surfaces differ little: what is put right for
/// one is put right for all, as with a control variate.
const MATTERS: f64 = 0.1;
const FINER: usize = 8;

/// From so many observations on, models with theta drawn around the best differ little from that one: what all nodes put right for
/// its surface is put right for theirs too.
const LATE: usize = 200;

/// The square warp is one of the models where no observation is further below the largest, in nats.
const SHALLOW: f64 = 10.0;

/// The nugget of the square warp, where g is in roots of the largest observation: a ten thousandth.
const SQUARE_NUGGET: f64 = 1e-8;

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
    Ensemble::fit(maker, lead, rng)?.average(maker, draws, FINER, rng)
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
    let kinds = vec![Kind {
        drawn: vec![(own.clone(), 1.0)],
        fitted: own,
        weight: 1.0,
    }];
    Ensemble { kinds }.average(maker, draws, 1, rng)
}

fn sober(shape: Shape) -> Shape {
    Shape {
        sober: true,
        ..shape
    }
}

/// Models of the same data, of several kinds; one at least.
struct Ensemble {
    kinds: Vec<Kind>,
}

/// Models that differ in their hyperparameters only.
struct Kind {
    fitted: Model,
    /// The weights of all kinds sum to 1.
    weight: f64,
    /// The same with its hyperparameters drawn, and weights that sum to 1 at most.
    drawn: Vec<(Model, f64)>,
}

impl Kind {
    /// Models, each group with the one whose surface is summed on all nodes for it: its own for every model, or the fitted one's for all.
    fn by_surface(&self, shared: bool) -> Vec<(&Model, &[(Model, f64)])> {
        match shared {
            true => vec![(&self.fitted, &self.drawn)],
            false => self.drawn.chunks(1).map(|one| (&one[0].0, one)).collect(),
        }
    }
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
        let mut kinds = Vec::new();
        for ((maker, fitted), weight) in makers.into_iter().zip(models).zip(weights) {
            if weight < LEAST {
                continue;
            }
            let weight = weight / total;
            let count = (HYPERDRAWS as f64 * weight).round().max(1.0) as usize;
            // Where theta cannot be drawn, the best one stands for all.
            let drawn = match maker.drawn(&fitted, count, rng) {
                Ok(models) if !models.is_empty() => models,
                _ => vec![(fitted.clone(), 1.0)],
            };
            kinds.push(Kind {
                fitted,
                weight,
                drawn,
            });
        }
        Ok(Ensemble { kinds })
    }

    fn heaviest(&self) -> &Model {
        let first = &self.kinds[0];
        let heaviest = self.kinds.iter().fold(first, |most, kind| {
            if kind.weight > most.weight {
                kind
            } else {
                most
            }
        });
        &heaviest.fitted
    }

    /// Of all models that are drawn from: 1, less what could not be conditioned on the data.
    fn total_weight(&self) -> f64 {
        let drawn = |kind: &Kind| kind.weight * kind.drawn.iter().map(|(_, w)| w).sum::<f64>();
        self.kinds.iter().map(drawn).sum()
    }

    /// The fitted models with their weights.
    fn fitted(&self) -> impl Iterator<Item = (&Model, f64)> {
        self.kinds.iter().map(|kind| (&kind.fitted, kind.weight))
    }

    /// A proposal of nodes that follow what the models reach together.
    fn follower<'a>(&self, maker: &ModelMaker<'a>, seed: u64) -> Result<Follower<'a>> {
        let model = self.heaviest();
        let ln_observed = ln_sizes(model.warp(), model.posterior().g());
        let reach = |x: &Points| self.ln_reach(x);
        let (measure, n) = (maker.measure, maker.method.nodes);
        Follower::new(measure, model.posterior(), &ln_observed, &reach, n, seed)
    }

    fn ln_reach(&self, x: &Points) -> Result<Vec<f64>> {
        let mut sum = vec![f64::NEG_INFINITY; x.len()];
        for (model, weight) in self.fitted() {
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
            for (model, weight) in self.fitted() {
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
    fn average(
        &self,
        maker: &ModelMaker<'_>,
        draws: usize,
        finer: usize,
        rng: &mut Rng,
    ) -> Result<Average> {
        let follower = self.follower(maker, rng.next_u64())?;
        let mut nodes = follower.nodes(maker.method.nodes, follower.seed)?;
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
        // What each replicate of the nodes says of the average surface, in parts of what all say.
        let mut parts = vec![0.0; nodes.replicates];
        let (total, mut passed) = (self.total_weight(), 0.0);
        for kind in &self.kinds {
            let on_boxes = boxes.as_ref().map(|(boxes, _)| boxes);
            for (base, models) in kind.by_surface(maker.data.len() >= LATE) {
                let surface = Surface::new(base, &nodes, on_boxes, &reach, ln_unit)?;
                for (model, weight) in models {
                    let share = kind.weight * weight / total;
                    passed += share;
                    let until = (draws as f64 * passed).round() as usize;
                    let count = until.saturating_sub(samples.len());
                    samples.extend(surface.draws(model, count, rng)?);
                    let pairs = parts.iter_mut().zip(&surface.parts);
                    pairs.for_each(|(sum, part)| *sum += share * part);
                }
            }
        }
        let mut law = Law::of_draws(samples, ln_unit);
        let mut error = match &boxes {
            Some((_, error)) => *error,
            None => relative_error(&parts),
        };
        if boxes.is_none() && finer > 1 && error > MATTERS * law.ln_sd() {
            let heaviest = Replicates::new(self.heaviest(), &nodes, ln_unit)?;
            let many = follower.nodes(finer * maker.method.nodes, rng.next_u64())?;
            let finer = Replicates::new(self.heaviest(), &many, ln_unit)?;
            law = law.shifted(finer.mean() - heaviest.mean());
            error = relative_error(&finer.parts()).hypot(error_between(&parts, &heaviest.parts()));
        }
        Ok(Average {
            law,
            relative_node_error: error,
            theta: self.heaviest().theta().clone(),
        })
    }
}

/// The lead's model, and others: a rougher kernel, one that follows the observations more closely, a warp that saturates
/// sooner, a mean that falls off once there are two observations for each of its 3 d + 2 hyperparameters (three points lie on some
/// parabola exactly), and the square warp where f is of one order.
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
    let sooner = maker
        .taus()
        .iter()
        .rev()
        .find(|tau| shape.tau.is_some_and(|own| **tau < own));
    if let Some(&tau) = sooner {
        let tau = Some(tau);
        out.push((method.clone(), Shape { tau, ..shape }));
    }
    if method.warp == "gumbel" && is_shallow(maker) {
        let square = Method {
            warp: "square".into(),
            nugget: SQUARE_NUGGET,
            ..method.clone()
        };
        out.push((square, Shape { tau: None, ..shape }));
    }
    out
}

/// Whether f is of one order. g^2 does not tell one deep value from another, nor what is unknown from a hundredth of the peak;
/// where f spans more, the many observations that lie close together would outvote the few that show it.
fn is_shallow(maker: &ModelMaker<'_>) -> bool {
    let data = maker.data;
    let mut depths = data.values().iter().map(|v| data.ln_scale() - v.ln_abs());
    depths.all(|depth| depth <= SHALLOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Data, Value};
    use crate::measure::Product;
    use crate::warp::Range;

    /// The warps of the average for observations at these depths.
    fn warps(depths: &[f64]) -> Vec<String> {
        let points = Points::new(1, (0..depths.len()).map(|i| 0.1 * i as f64).collect()).unwrap();
        let values = depths.iter().map(|depth| Value::Log(700.0 - depth));
        let data = Data::new(points, values.collect()).unwrap();
        let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
        let method = Method::auto(Range::POSITIVE);
        let maker = ModelMaker::new(&method, Range::POSITIVE, &measure, &data, 0);
        variants(&maker).into_iter().map(|(m, _)| m.warp).collect()
    }

    #[test]
    fn the_square_warp_joins_where_f_is_of_one_order() {
        assert!(warps(&[0.0, 3.0, 9.0, 1.0]).contains(&"square".into()));
        assert!(!warps(&[0.0, 3.0, 11.0, 1.0]).contains(&"square".into()));
        assert!(!warps(&[0.0, 3.0, f64::INFINITY, 1.0]).contains(&"square".into()));
    }
}

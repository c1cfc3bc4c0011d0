//! Draw Z under one model: the surface of its median on all nodes, what is uncertain about it on a few of them.

use super::Model;
use super::score::understatement;
use crate::error::Result;
use crate::functional::{Nodes, draw, ln_sizes, ln_weighted_sum};
use crate::numeric::linalg::dot;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_sum_exp};
use crate::points::Points;
use crate::warp::Warp;

/// Nodes drawn jointly: the covariance is factored, in O(n^3).
const JOINT: usize = 400;

/// What the models are wrong about together no average over them shows: their sds are taken this much larger. On the
/// tuning half of the benchmark the intervals are too narrow with 1 (benchmarks/TUNING.md).
const SHARED: f64 = 2.0;

/// A model on the nodes of all: the surface of its median, summed on all of them.
pub(super) struct Surface<'a> {
    terms: Terms<'a>,
    thin: Thin,
    /// What all nodes say of Z, less what the thinned ones say.
    shift: f64,
    /// The [parts](Replicates::parts) of the nodes' replicates.
    pub parts: Vec<f64>,
}

impl<'a> Surface<'a> {
    /// `reach` is ln of what f may be at the nodes; `boxes` know the surface to many digits, where there are such; `ln_unit` is
    /// the unit of Z where f may be negative, otherwise Z is drawn as ln Z.
    pub fn new(
        model: &'a Model,
        nodes: &Nodes,
        boxes: Option<&Nodes>,
        reach: &[f64],
        ln_unit: Option<f64>,
    ) -> Result<Surface<'a>> {
        let (posterior, warp) = (model.posterior(), model.warp());
        let mu = posterior.means(&nodes.points)?;
        let terms = Terms { warp, ln_unit };
        // On the surface of the median all nodes can be used, and thinning be undone.
        let replicates = terms.replicates(nodes, &mu);
        let full = match boxes {
            Some(boxes) => terms.sum(&boxes.ln_weights, &posterior.means(&boxes.points)?),
            None => replicates.mean(),
        };
        let thin = Thin::new(nodes, &[reach, &ln_sizes(warp, &mu)]);
        let thin_mu: Vec<f64> = thin.chosen.iter().map(|&i| mu[i]).collect();
        Ok(Surface {
            shift: full - terms.sum(&thin.ln_weights, &thin_mu),
            terms,
            thin,
            parts: replicates.parts(),
        })
    }

    /// `count` draws of Z, or one more, under the model, or under one whose surface differs little.
    pub fn draws(&self, model: &Model, count: usize, rng: &mut Rng) -> Result<Vec<f64>> {
        let (posterior, thin) = (model.posterior(), &self.thin);
        let mu = posterior.means(&thin.points)?;
        let (g, _) = draw(posterior, &thin.points, &mu, count.div_ceil(2), rng)?;
        let mut draws = Vec::with_capacity(count + 1);
        // With every draw its mirror image: where Z is linear in what is not known of g, the median of the draws is the surface's, with no
        // error of sampling.
        for k in 0..g.cols() {
            let mirrored: Vec<f64> = mu
                .iter()
                .zip(g.col(k))
                .map(|(mu, g)| 2.0 * mu - g)
                .collect();
            let pair = [g.col(k), &mirrored];
            draws.extend(pair.map(|g| self.shift + self.terms.sum(&thin.ln_weights, g)));
        }
        // About the median, in ln Z: wider draws of g would make Z itself larger.
        let wider = SHARED * understatement(model);
        let middle = median(&draws);
        draws
            .iter_mut()
            .for_each(|z| *z = middle + wider * (*z - middle));
        Ok(draws)
    }
}

/// Of an even number of draws.
fn median(draws: &[f64]) -> f64 {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() / 2 {
        0 => 0.0,
        half => 0.5 * (sorted[half - 1] + sorted[half]),
    }
}

/// What each replicate of the nodes says of Z: its logarithm for a positive f, in a unit otherwise.
pub(super) struct Replicates {
    each: Vec<f64>,
    is_log: bool,
}

impl Replicates {
    /// On the surface of a model's median.
    pub fn new(model: &Model, nodes: &Nodes, ln_unit: Option<f64>) -> Result<Replicates> {
        let mu = model.posterior().means(&nodes.points)?;
        let warp = model.warp();
        Ok(Terms { warp, ln_unit }.replicates(nodes, &mu))
    }

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

/// The standard error of the mean of replicates, relative to it.
pub(super) fn relative_error(parts: &[f64]) -> f64 {
    error_between(parts, &vec![1.0; parts.len()])
}

/// The same of the ratio of two means on the same nodes.
pub(super) fn error_between(parts: &[f64], others: &[f64]) -> f64 {
    let n = parts.len() as f64;
    let squares = parts.iter().zip(others).map(|(a, b)| (a - b).powi(2));
    (squares.sum::<f64>() / (n * (n - 1.0).max(1.0))).sqrt()
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
    fn replicates(&self, nodes: &Nodes, g: &[f64]) -> Replicates {
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
        Replicates {
            each: (0..nodes.replicates).map(one).collect(),
            is_log: self.ln_unit.is_none(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Data, Value};
    use crate::engine::Method;
    use crate::engine::model::ModelMaker;
    use crate::measure::Product;
    use crate::warp::Range;

    /// A model of a peak on the unit interval, its length scale so many times the best, with nodes, and what f may be at them.
    fn peak(stretch: f64) -> (Model, Nodes, Vec<f64>) {
        let x: Vec<f64> = (0..12).map(|i| f64::from(i) / 11.0).collect();
        let values = x.iter().map(|x| Value::Log(-20.0 * (x - 0.4).powi(2)));
        let values = values.collect();
        let data = Data::new(Points::new(1, x).unwrap(), values).unwrap();
        let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
        let method = Method::auto(Range::POSITIVE);
        let maker = ModelMaker::new(&method, Range::POSITIVE, &measure, &data, 0);
        let mut theta = maker.fit(None).unwrap().theta().clone();
        theta.length_scales[0] *= stretch;
        let nodes = Nodes::sobol(&measure, 4096, 0).unwrap();
        let reach = vec![0.0; nodes.points.len()];
        (maker.condition(theta).unwrap(), nodes, reach)
    }

    #[test]
    fn a_surface_stands_for_those_of_models_around_its_own() {
        let (model, nodes, reach) = peak(1.0);
        let other = peak(0.8).0;
        let [own, shared] = [&other, &model].map(|base| {
            let surface = Surface::new(base, &nodes, None, &reach, None).unwrap();
            let mut draws = surface.draws(&other, 400, &mut Rng::new(3)).unwrap();
            draws.sort_by(f64::total_cmp);
            draws
        });
        let spread = own[390] - own[10];
        for k in [10, 100, 200, 300, 390] {
            let apart = (own[k] - shared[k]).abs();
            assert!(apart < 0.05 * spread, "{k}: {apart} {spread}");
        }
    }

    #[test]
    fn the_median_of_few_draws_is_the_surface_where_z_is_known() {
        let (model, nodes, reach) = peak(1.0);
        let surface = Surface::new(&model, &nodes, None, &reach, None).unwrap();
        let draws = surface.draws(&model, 21, &mut Rng::new(3)).unwrap();
        assert_eq!(draws.len(), 22);
        let whole = Replicates::new(&model, &nodes, None).unwrap().mean();
        let spread = draws
            .iter()
            .fold(0.0_f64, |most, z| most.max((z - whole).abs()));
        let error = (median(&draws) - whole).abs();
        assert!(error < 1e-3 * spread, "{error} {spread}");
    }

    #[test]
    fn parts_and_errors_are_the_same_in_logs_and_in_a_unit() {
        let sums = [2.0, 2.2, 1.9, 2.1_f64];
        let in_unit = Replicates {
            each: sums.to_vec(),
            is_log: false,
        };
        let in_logs = Replicates {
            each: sums.iter().map(|z| z.ln()).collect(),
            is_log: true,
        };
        assert!((in_logs.mean() - in_unit.mean().ln()).abs() < 1e-15);
        for (a, b) in in_logs.parts().iter().zip(in_unit.parts()) {
            assert!((a - b).abs() < 1e-15);
        }
        // The mean is 2.05 and the squared deviations sum to 0.05.
        let error = (0.05_f64 / 12.0).sqrt() / 2.05;
        assert!((relative_error(&in_unit.parts()) - error).abs() < 1e-15);
        assert_eq!(error_between(&in_unit.parts(), &in_unit.parts()), 0.0);
    }
}

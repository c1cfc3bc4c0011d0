//! Score models of the same f by what they say of each observation given the others.

use super::Model;
use crate::functional::ln_sizes;
use crate::numeric::linalg::dot;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_normal_pdf, ln_sum_exp};
use crate::warp::{Marginal, Warp};

/// Bootstraps of the scores.
const BOOTSTRAPS: usize = 200;

/// Observations this far below the largest, in nats, do not judge the models: Z does not depend on how
/// well f is known there. On the way up to a peak there may be one or two above that; 2 (d + 1) judge in any case.
const DEPTH: f64 = 15.0;
const JUDGES: usize = 2;

/// The largest of the finite values and the count-th largest, or the last if they are fewer; 0 twice without any.
pub(super) fn largest(values: impl Iterator<Item = f64>, count: usize) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.truncate(count);
    let end = |value: Option<&f64>| value.copied().unwrap_or(0.0);
    (end(sorted.first()), end(sorted.last()))
}

/// What matters of the observations left out one by one: g, and what the others say of it.
fn left_out(model: &Model) -> Vec<(f64, Marginal)> {
    let posterior = model.posterior();
    let sizes = ln_sizes(model.warp(), posterior.g());
    let judges = JUDGES * (posterior.points().dim() + 1);
    let (top, last) = largest(sizes.iter().copied(), judges);
    let lowest = last.min(top - DEPTH);
    let all = posterior.g().iter().copied().zip(posterior.leave_one_out());
    let pairs = all.zip(sizes);
    pairs
        .filter(|(_, size)| *size >= lowest)
        .map(|(pair, _)| pair)
        .collect()
}

/// ln p(f_i | the others) at the observations that matter.
///
/// These are densities of f itself, N(g_i) / |xi'(g_i)|, and so comparable between warps.
pub(super) fn scores(model: &Model) -> Vec<f64> {
    coarse_scores(model, 0.0)
}

/// The same where f is asked for to this part of itself only: what is predicted better than that is as good.
pub(super) fn coarse_scores(model: &Model, part: f64) -> Vec<f64> {
    let score = |(g, at): (f64, Marginal)| {
        let local = model.warp().local(g);
        // d g / d ln f = (xi - offset) / xi'.
        let sd = at.s.sqrt().hypot(part * local.value / local.slope);
        ln_normal_pdf((g - at.mu) / sd) - sd.ln() - local.ln_unit - local.slope.abs().ln()
    };
    left_out(model).into_iter().map(score).collect()
}

/// By how much one model's scores are better in sum than another's, with its standard error.
pub(super) fn difference(new: &[f64], old: &[f64]) -> (f64, f64) {
    let each: Vec<f64> = new.iter().zip(old).map(|(new, old)| new - old).collect();
    let sum: f64 = each.iter().sum();
    let mean = sum / each.len().max(1) as f64;
    let squares: f64 = each.iter().map(|x| (x - mean).powi(2)).sum();
    (sum, squares.sqrt())
}

/// How many of its own sds a model is off where an observation is left out, in the root of the mean square; 1 at least.
pub(super) fn understatement(model: &Model) -> f64 {
    let left_out = left_out(model);
    let squares = left_out.iter().map(|(g, at)| (g - at.mu).powi(2) / at.s);
    (squares.sum::<f64>() / left_out.len().max(1) as f64)
        .sqrt()
        .max(1.0)
}

/// Weights by pseudo-BMA+ (Yao, Vehtari, Simpson and Gelman 2018): the softmax of summed scores, averaged over
/// Bayesian bootstraps, so that models which differ by chance share the weight.
pub(super) fn weights(models: &[Model], rng: &mut Rng) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Data, Value};
    use crate::engine::Method;
    use crate::measure::Product;
    use crate::points::Points;
    use crate::warp::Range;

    #[test]
    fn digits_that_are_not_asked_for_win_nothing() {
        let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 19.0).collect();
        let values = x.iter().map(|x| Value::Log(-9.0 * (x - 0.4).powi(2)));
        let values = values.collect();
        let data = Data::new(Points::new(1, x).unwrap(), values).unwrap();
        let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
        let [exact, blurred] = [1e-6, 1e-4].map(|nugget| {
            let auto = Method::auto(Range::POSITIVE);
            let method = Method { nugget, ..auto };
            Model::new(&method, Range::POSITIVE, &measure, &data, 0).unwrap()
        });
        let gain = |part: f64| {
            let [exact, blurred] = [&exact, &blurred].map(|model| coarse_scores(model, part));
            difference(&exact, &blurred).0 / exact.len() as f64
        };
        assert!(gain(0.0) > 1.0, "{}", gain(0.0));
        assert!(gain(0.1).abs() < 0.02, "{}", gain(0.1));
        assert_eq!(scores(&exact), coarse_scores(&exact, 0.0));
    }
}

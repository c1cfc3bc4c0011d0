//! Decide which models join the answer, and with which weights.

use super::Auto;
use super::maker::{Maker, Shape, Warping};
use super::saturation;
use super::scores::scores;
use super::units::is_of_one_order;
use super::widening::member_widening;
use crate::belief::{Ensemble, Kind, Member, Model};
use crate::engine::fitter::Fitter;
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::special::ln_sum_exp;
use crate::numeric::stream::Stream;

/// The shapes that join: the leading one first, then a rougher kernel, one that takes observations
/// as exact, a mean that falls off, a warp that saturates sooner, and the root of f where f is of
/// one order.
///
/// All extrapolate more cautiously than the leading one. A bolder model, whose peaks between the
/// points no choice has ever put to the test, can predict the observations best and Z by nats too
/// high. A mean that falls off needs observations for each of its 3 d + 2 numbers: three points
/// lie on some parabola exactly. On a circle there is nowhere to fall to: where such a mean joined,
/// the mean of Z came out e^7 times its median.
///
/// Under noise such a mean explains all that is seen, and the process has nothing left to be
/// unsure about: its numbers are fitted, and the law of Z took them for known. The root of f knows
/// its noise on ln f no more.
fn shapes(maker: &Maker<'_>, tau: Option<f64>) -> Vec<Shape> {
    let tuning = &maker.auto.tuning;
    let lead = Shape::of_answer(maker.warping(tau));
    let rough = Shape {
        is_rough: true,
        ..lead
    };
    let mut out = vec![lead, rough];
    let is_noisy = maker.seen.noise() > 0.0;
    if !is_noisy {
        out.push(Shape {
            is_exact: true,
            ..lead
        });
    }
    let numbers = 3 * maker.dim() + 2;
    let enough = maker.data.len() >= tuning.observations_per_number * numbers;
    let is_flat = maker.seen.frame().measure().circles().is_none();
    if !is_noisy && enough && is_flat && maker.auto.warp.follows_ln_f() {
        out.push(Shape {
            quadratic_mean: true,
            ..lead
        });
    }
    let candidates = saturation::candidates(maker.dim(), maker.seen.noise(), tuning);
    if let Some(sooner) = tau.and_then(|tau| saturation::next_shorter(tau, &candidates)) {
        out.push(Shape::of_answer(Warping::Saturating(sooner)));
    }
    if !is_noisy && tau.is_some() && is_of_one_order(&maker.ln_f(), tuning) {
        out.push(Shape::of_answer(Warping::Root));
    }
    out
}

/// Weights by pseudo-BMA+ (Yao, Vehtari, Simpson and Gelman 2018): the softmax of summed scores,
/// averaged over Bayesian bootstraps, so that models which differ by chance share the weight.
fn weights(scores: &[Vec<f64>], bootstraps: usize, rng: &mut Rng) -> Vec<f64> {
    let n = scores[0].len();
    let mut out = vec![0.0; scores.len()];
    for _ in 0..bootstraps {
        let shares: Vec<f64> = (0..n).map(|_| -rng.uniform().ln()).collect();
        let scale = n as f64 / shares.iter().sum::<f64>();
        let sums: Vec<f64> = scores
            .iter()
            .map(|scores| scale * dot(scores, &shares))
            .collect();
        let total = ln_sum_exp(&sums);
        for (out, sum) in out.iter_mut().zip(&sums) {
            *out += (sum - total).exp() / bootstraps as f64;
        }
    }
    out
}

/// The weights without the light ones, `None` for those, so that the rest sum to 1. A light model
/// moves no quantile that is reported.
fn without_light(weights: &[f64], least: f64) -> Vec<Option<f64>> {
    let total: f64 = weights.iter().filter(|weight| **weight >= least).sum();
    let keep = |weight: &f64| (*weight >= least).then_some(weight / total);
    weights.iter().map(keep).collect()
}

/// The models of the answer, with theta drawn around the best of each kind.
pub(super) fn ensemble(maker: &Maker<'_>, lead: &Model, tau: Option<f64>) -> Result<Ensemble> {
    let (tuning, streams) = (&maker.auto.tuning, maker.seen.streams());
    let shapes = shapes(maker, tau);
    let own = maker.condition(&shapes[0], lead.theta().clone())?;
    let fitted = parallel::map(shapes.len(), |i| match i {
        0 => Some(own.clone()),
        _ => maker.fit_like(&shapes[i], lead).ok(),
    });
    // Another model that cannot be fitted to these data is no loss.
    let found: Vec<(Shape, Model)> = shapes
        .into_iter()
        .zip(fitted)
        .filter_map(|(shape, model)| Some((shape, model?)))
        .collect();
    let scores: Vec<Vec<f64>> = found.iter().map(|(_, m)| scores(m, tuning)).collect();
    let weights = weights(
        &scores,
        tuning.bootstraps,
        &mut streams.rng(Stream::Weights),
    );
    let mut kinds = Vec::new();
    let kept = without_light(&weights, tuning.least_weight);
    for (i, ((shape, fitted), weight)) in found.into_iter().zip(kept).enumerate() {
        let Some(weight) = weight else {
            continue;
        };
        let rng = &mut streams.rng(Stream::Hyperparameters).child(i as u64);
        let members = members(maker, &maker.fitter(&shape)?, &fitted, weight, rng);
        kinds.push(Kind {
            fitted,
            weight,
            members,
        });
    }
    Ok(Ensemble::of(kinds))
}

/// A kind's members: as many draws of theta as its weight is worth.
fn members(
    maker: &Maker<'_>,
    fitter: &Fitter<'_>,
    fitted: &Model,
    weight: f64,
    rng: &mut Rng,
) -> Vec<Member> {
    let (tuning, noise) = (&maker.auto.tuning, maker.seen.noise());
    let count = (tuning.hyperdraws as f64 * weight).round().max(1.0) as usize;
    // Where theta cannot be drawn, the best one stands for all.
    let drawn = match fitter.drawn(fitted, count, rng) {
        Ok(models) if !models.is_empty() => models,
        _ => vec![(fitted.clone(), 1.0)],
    };
    let member = |(model, weight): (Model, f64)| Member {
        widening: member_widening(&model, noise, tuning),
        model,
        weight,
    };
    drawn.into_iter().map(member).collect()
}

/// The leading model alone, with its hyperparameters as they are.
pub(super) fn lead_alone(maker: &Maker<'_>, lead: &Model, tau: Option<f64>) -> Result<Ensemble> {
    let shape = Shape::of_answer(maker.warping(tau));
    let model = maker.condition(&shape, lead.theta().clone())?;
    let (Auto { tuning, .. }, noise) = (maker.auto, maker.seen.noise());
    Ok(Ensemble::of(vec![Kind {
        members: vec![Member {
            model: model.clone(),
            weight: 1.0,
            widening: member_widening(&model, noise, tuning),
        }],
        fitted: model,
        weight: 1.0,
    }]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{auto, history};
    use super::*;

    fn warpings(depths: &[f64]) -> Vec<Warping> {
        let points: Vec<Vec<f64>> = (0..depths.len()).map(|i| vec![0.1 * i as f64]).collect();
        let at = |x: &[f64]| 700.0 - depths[(10.0 * x[0]).round() as usize];
        let seen = history(&[(0.0, 1.0)], &points, at);
        let (auto, data) = (auto(), seen.data().unwrap());
        let maker = Maker {
            auto: &auto,
            seen: &seen,
            data: &data,
        };
        let shapes = shapes(&maker, Some(10.0));
        shapes.into_iter().map(|shape| shape.warping).collect()
    }

    #[test]
    fn the_root_joins_where_f_is_of_one_order() {
        assert!(warpings(&[0.0, 3.0, 9.0, 1.0]).contains(&Warping::Root));
        assert!(!warpings(&[0.0, 3.0, 11.0, 1.0]).contains(&Warping::Root));
        assert!(!warpings(&[0.0, 3.0, f64::INFINITY, 1.0]).contains(&Warping::Root));
        assert!(warpings(&[0.0, 3.0, 9.0, 1.0]).contains(&Warping::Saturating(3.0)));
    }

    #[test]
    fn models_that_differ_by_chance_share_the_weight() {
        let mut rng = Rng::new(1);
        let alike = weights(&[vec![0.1, 0.0, 0.2], vec![0.0, 0.1, 0.2]], 200, &mut rng);
        assert!((alike[0] - 0.5).abs() < 0.05 && (alike[0] + alike[1] - 1.0).abs() < 1e-12);
        let apart = weights(&[vec![9.0; 8], vec![0.0; 8]], 200, &mut rng);
        assert!(apart[1] < 1e-6, "{apart:?}");
    }

    #[test]
    fn light_models_are_left_out() {
        assert_eq!(without_light(&[0.49, 0.01, 0.5], 0.02)[1], None);
        let kept: f64 = without_light(&[0.49, 0.01, 0.5], 0.02)
            .iter()
            .flatten()
            .sum();
        assert!((kept - 1.0).abs() < 1e-12);
    }
}

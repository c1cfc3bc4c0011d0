//! Decide what speaks against an answer: mass where evaluations fail, and noise undeclared.

use super::Tuning;
use super::feasible::{self, Asked};
use super::maker::{Maker, Shape};
use super::scores::{difference, left_out_error, scores};
use crate::belief::{Belief, Ensemble, Model};
use crate::engine::Doubts;
use crate::engine::fitter::Fitter;
use crate::functional::{Nodes, posterior_weights};
use crate::numeric::stream::Stream;

/// What speaks against the answer of this ensemble, whose leading model is given.
pub(super) fn doubts(
    maker: &Maker<'_>,
    ensemble: &Ensemble,
    lead: &Model,
    tau: Option<f64>,
) -> Doubts {
    Doubts {
        failed_part: failed_part(maker, ensemble),
        noise_sd: suspected_noise(maker, lead, tau),
        outside_part: None,
    }
}

/// The part of Z where evaluations fail and f is not taken for 0.
fn failed_part(maker: &Maker<'_>, ensemble: &Ensemble) -> Option<f64> {
    let (auto, seen) = (maker.auto, maker.seen);
    if seen.failed_is_zero() || seen.failed().next().is_none() {
        return Some(0.0);
    }
    let succeeds = feasible::learnt(auto, seen, Asked::Choice)?;
    let positive = ensemble.feasible();
    let seed = seen.streams().rng(Stream::Edge).child(1).next_u64();
    let (measure, n) = (seen.frame().measure(), auto.tuning.edge_nodes);
    let nodes = Nodes::plausible(measure, ensemble, 1.0, n, seed).ok()?;
    let weights = posterior_weights(ensemble, &nodes).ok()?;
    let chances = succeeds.ln_chance(&nodes.points);
    let known = match positive {
        Some(positive) => positive.ln_chance(&nodes.points),
        None => vec![0.0; chances.len()],
    };
    // Where f is 0 an evaluation gives no positive value either, and that is known.
    let part = |i: usize| weights[i] * (1.0 - (chances[i] - known[i]).min(0.0).exp());
    Some((0..chances.len()).map(part).sum())
}

/// The sd of noise on ln f under which left-out observations are far better explained than by any
/// exact model; `None` where noise is declared, or none is better.
fn suspected_noise(maker: &Maker<'_>, lead: &Model, tau: Option<f64>) -> Option<f64> {
    let tuning = &maker.auto.tuning;
    if maker.seen.noise() > 0.0 || maker.data.len() < tuning.suspected_least {
        return None;
    }
    let shape = Shape::of_answer(maker.warping(tau));
    let exact = maker.condition(&shape, lead.theta().clone()).ok()?;
    let axes = || lead.theta().axes.clone();
    let mut sd = left_out_error(&exact, tuning);
    if sd < tuning.suspected_least_sd {
        return None;
    }
    // A kink is no noise to a rougher kernel. Main effects beside short lengths, and a falling mean
    // with short lengths about it, are noise by another name: noise need not beat those.
    let rough = Shape {
        is_rough: true,
        ..shape
    };
    let plain = match lead.theta().effects {
        None => exact.clone(),
        Some(_) => maker.fitter(&shape).ok()?.fit_all(axes()).ok()?,
    };
    let all_scores = |model: &Model| scores(model, tuning);
    let plain_scores: Vec<Vec<f64>> = maker
        .fit_like(&rough, &plain)
        .iter()
        .chain([&plain])
        .map(all_scores)
        .collect();
    let own_scores = all_scores(&exact);
    let mut found = None;
    for _ in 0..tuning.suspected_rounds {
        let fitter = Fitter {
            noise: sd * sd,
            ..maker.fitter(&shape).ok()?
        };
        // Next to the exact model's short lengths there is no better one.
        let Ok(noisy) = fitter.fit_all(axes()) else {
            break;
        };
        let noisy_scores = all_scores(&noisy);
        let over = |rival: &Vec<f64>| difference(&noisy_scores, rival);
        let n = noisy_scores.len();
        let is_clear = plain_scores
            .iter()
            .all(|s| is_suspicious(over(s), n, tuning));
        let (gain, error) = over(&own_scores);
        if is_clear && gain > -error {
            found = Some(sd);
        }
        // An exact model of noisy values is off by far more than the noise: it follows each.
        let left = left_out_error(&noisy, tuning);
        if left > tuning.suspected_falls * sd {
            break;
        }
        sd = left;
    }
    found
}

/// Whether a gain in left-out scores, with its standard error, is too large for exact values.
fn is_suspicious((gain, error): (f64, f64), n: usize, tuning: &Tuning) -> bool {
    gain > tuning.suspected_errors * error && gain > tuning.suspected_gain_nats * n as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{auto, line_history};
    use super::*;
    use crate::engine::Strategy;

    fn suspected(ln_f: impl Fn(f64) -> f64) -> Option<f64> {
        let seen = line_history(40, ln_f);
        let (auto, data) = (auto(), seen.data().unwrap());
        let maker = Maker {
            auto: &auto,
            seen: &seen,
            data: &data,
        };
        let (lead, fit) = auto.fit(&seen).unwrap();
        suspected_noise(&maker, &lead, fit.tau)
    }

    #[test]
    fn noise_is_suspected_where_there_is_some() {
        let smooth = |x: f64| -9.0 * (x - 0.4).powi(2);
        // Digits of a product that know nothing of x.
        let jitter = |x: f64| 0.6 * ((43758.5 * (1e3 * x * x + x).sin()).fract() - 0.5);
        assert_eq!(suspected(smooth), None);
        assert!(suspected(|x| smooth(x) + jitter(x)).is_some());
    }

    #[test]
    fn a_gain_must_be_clear_and_large() {
        let tuning = Tuning::default();
        assert!(is_suspicious((10.0, 3.0), 20, &tuning));
        assert!(!is_suspicious((10.0, 12.0), 20, &tuning));
        assert!(!is_suspicious((0.9, 0.1), 20, &tuning));
    }

    #[test]
    fn a_kink_is_no_noise() {
        assert_eq!(suspected(|x| -9.0 * (x - 0.37).abs()), None);
    }
}

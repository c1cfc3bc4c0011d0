//! Decide where the warp saturates, by the densities of left-out observations.

use super::Tuning;
use super::maker::{Maker, Shape, Warping};
use super::refinement::refined;
use super::schedule::is_sparing;
use super::scores::{coarse_scores, difference};
use crate::belief::{Model, Theta};
use crate::error::Result;

/// Where the warp may saturate in this many dimensions, under noise of this variance on ln f,
/// shortest first.
///
/// A warp that bends takes noise of variance s for a shift of s/(2 tau) at the top, so under noise
/// the shortest are left out.
///
/// Beyond `plain_tau_nats` g is ln f nearly as it is, and a smooth kernel follows depths that do
/// not matter: many dimensions have no points to spare for them.
pub(super) fn candidates(dim: usize, noise: f64, tuning: &Tuning) -> Vec<f64> {
    let all_fit = dim <= tuning.plain_dimensions;
    let taus = tuning.taus_nats.iter().copied();
    let fit: Vec<f64> = taus
        .filter(|tau| all_fit || *tau <= tuning.plain_tau_nats)
        .collect();
    let last = fit.last().copied();
    let straight = |tau: &f64| *tau >= tuning.noise_taus * noise || Some(*tau) == last;
    fit.into_iter().filter(straight).collect()
}

/// The next tau below this one among the candidates.
pub(super) fn next_shorter(tau: f64, candidates: &[f64]) -> Option<f64> {
    candidates.iter().rev().copied().find(|other| *other < tau)
}

/// What a candidate must show against the best so far.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Demand {
    /// f is asked for to this part of itself.
    part: f64,
    /// The gain with each left-out observation, in nats.
    gain_nats: f64,
}

/// What tau must show, where the last choice was `last`.
///
/// Beyond `plain_tau_nats` the variance of g is so large that the nugget cannot be made small, so a
/// warp there must be clearly better. To be taken up it must be so to a tenth of f: digits more
/// where f is smooth anyway would outvote the few observations that show where it is not.
fn demand(tau: f64, last: f64, tuning: &Tuning) -> Demand {
    let is_plain = |tau: f64| tau > tuning.plain_tau_nats;
    let (part, gain_nats) = match (is_plain(tau), is_plain(last)) {
        (true, true) => (0.0, tuning.plain_gain_nats),
        (true, false) => (tuning.plain_part, tuning.plain_gain_nats),
        (false, _) => (0.0, 0.0),
    };
    Demand { part, gain_nats }
}

/// Whether left-out scores are so much better.
fn meets(demand: Demand, own: &[f64], best: &[f64]) -> bool {
    difference(own, best).0 > demand.gain_nats * own.len() as f64
}

/// The model, among those whose warp saturates at different depths, that predicts the observations
/// best, refined, with its tau. `last` is the last theta.
///
/// In a long run only the tau of the last choice is fitted from all starting points, the others
/// from where that one ends.
pub(super) fn choose(
    maker: &Maker<'_>,
    last_tau: Option<f64>,
    last: Option<&Theta>,
) -> Result<(Model, f64)> {
    let tuning = &maker.auto.tuning;
    let shape = |tau: f64| Shape::of_choice(Warping::Saturating(tau));
    let candidates = candidates(maker.dim(), maker.seen.noise(), tuning);
    let first_tau = tuning.first_tau_nats.max(candidates[0]);
    let last_tau = last_tau.unwrap_or(first_tau);
    let fit_all = |tau: f64| maker.fitter(&shape(tau))?.fit_all(None);
    let first = fit_all(last_tau);
    let sparing = is_sparing(maker.data.len(), maker.dim(), tuning);
    let fitted = |tau: f64| match &first {
        Ok(first) if tau == last_tau => Ok(first.clone()),
        Ok(first) if sparing => maker.fit_like(&shape(tau), first),
        _ => fit_all(tau),
    };
    let mut best: Option<(f64, Model)> = None;
    for tau in candidates {
        let shorter = |(best, _): &(f64, Model)| *best < tuning.plain_tau_nats;
        // Where one that saturates sooner is better, plain ones are not tried.
        if tau > tuning.plain_tau_nats && best.as_ref().is_some_and(shorter) {
            break;
        }
        // A warp that cannot be fitted to these data is no loss while another one can.
        let Ok(model) = fitted(tau) else {
            continue;
        };
        let demand = demand(tau, last_tau, tuning);
        let is_better = best.as_ref().is_none_or(|(_, best)| {
            let own = coarse_scores(&model, demand.part, tuning);
            meets(demand, &own, &coarse_scores(best, demand.part, tuning))
        });
        if is_better {
            best = Some((tau, model));
        }
    }
    match best {
        Some((tau, model)) => Ok((refined(maker, &shape(tau), model, last), tau)),
        None => first.map(|model| (model, last_tau)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_warps_are_for_few_dimensions() {
        let tuning = Tuning::default();
        let few = candidates(3, 0.0, &tuning);
        assert_eq!(candidates(2, 0.0, &tuning), [3.0, 10.0, 30.0, 100.0, 300.0]);
        assert_eq!(few, [3.0, 10.0, 30.0]);
        assert_eq!(next_shorter(30.0, &few), Some(10.0));
        assert_eq!(next_shorter(3.0, &few), None);
    }

    #[test]
    fn noise_leaves_warps_out_that_bend_within_it() {
        let tuning = Tuning::default();
        assert_eq!(candidates(3, 0.09, &tuning), [3.0, 10.0, 30.0]);
        assert_eq!(candidates(3, 9.0, &tuning), [30.0]);
        assert_eq!(candidates(3, 1e4, &tuning), [30.0]);
    }

    #[test]
    fn a_plain_warp_must_gain_half_a_nat_an_observation() {
        let tuning = Tuning::default();
        assert_eq!(
            demand(10.0, 10.0, &tuning),
            Demand {
                part: 0.0,
                gain_nats: 0.0
            }
        );
        assert_eq!(
            demand(100.0, 30.0, &tuning),
            Demand {
                part: 0.1,
                gain_nats: 0.5
            }
        );
        assert_eq!(
            demand(300.0, 100.0, &tuning),
            Demand {
                part: 0.0,
                gain_nats: 0.5
            }
        );
        let plain = demand(100.0, 30.0, &tuning);
        assert!(!meets(plain, &[1.4, 1.5], &[1.0, 1.0]));
        assert!(meets(plain, &[1.6, 1.5], &[1.0, 1.0]));
        assert!(meets(demand(10.0, 3.0, &tuning), &[1.1, 1.0], &[1.0, 1.0]));
    }
}

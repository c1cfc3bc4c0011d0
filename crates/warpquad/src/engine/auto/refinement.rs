//! Put what may be learnt about the coordinates to the test of left-out observations.

use super::Tuning;
use super::axes::along_axes;
use super::effects::with_effects;
use super::maker::{Maker, Shape};
use super::scores::{difference, scores};
use crate::belief::{Model, Theta};

/// How many numbers were learnt of axes and effects in theta, which a plain one has not.
fn learnt(theta: &Theta) -> f64 {
    let d = theta.dim() as f64;
    let axes = theta.axes.as_ref().map_or(0.0, |_| 0.5 * d * (d - 1.0));
    axes + theta.effects.map_or(0.0, |_| 2.0)
}

/// What theta gains over a plain one, in nats: a nat is the price of each number that was learnt,
/// and some standard errors of the difference are kept back.
fn gain_nats(theta: &Theta, (better, error): (f64, f64), tuning: &Tuning) -> f64 {
    let errors = match theta.effects {
        None => tuning.axes_errors,
        Some(_) => tuning.effects_errors,
    };
    better - errors * error - learnt(theta)
}

/// The same model along axes learnt from it, and with main effects, or with those of the last fit,
/// where that predicts the observations better.
pub(super) fn refined(
    maker: &Maker<'_>,
    shape: &Shape,
    model: Model,
    last: Option<&Theta>,
) -> Model {
    let tuning = &maker.auto.tuning;
    let plain = scores(&model, tuning);
    let turned = along_axes(
        &model,
        maker.seen.frame().measure(),
        maker.seen.seed(),
        tuning,
    );
    let kept = last.filter(|theta| learnt(theta) > 0.0).cloned();
    let mut best = (0.0, model);
    let consider = |best: &mut (f64, Model), theta: &Theta| {
        let fitted = maker.fitter(shape).and_then(|fitter| fitter.improve(theta));
        let Ok(fitted) = fitted else {
            return;
        };
        let better = difference(&scores(&fitted, tuning), &plain);
        let gain = gain_nats(fitted.theta(), better, tuning);
        if gain > best.0 {
            *best = (gain, fitted);
        }
    };
    turned.iter().for_each(|theta| consider(&mut best, theta));
    // Before the last fit's, which may stay where effects of another length would be far better.
    let effects = with_effects(best.1.theta());
    effects
        .iter()
        .chain(&kept)
        .for_each(|theta| consider(&mut best, theta));
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Axes, Effects};
    use std::sync::Arc;

    #[test]
    fn every_number_learnt_costs_a_nat() {
        let plain = Theta::constant(0.0, 1.0, vec![1.0; 3]).unwrap();
        let rows = [
            vec![1.0, 0.0, 0.0],
            vec![0.0, 1.0, 0.0],
            vec![0.0, 0.0, 1.0],
        ];
        let turned = Theta {
            axes: Some(Arc::new(Axes::new(&rows).unwrap())),
            ..plain.clone()
        };
        let effects = Some(Effects {
            share: 0.5,
            stretch: 1.0,
        });
        let both = Theta {
            effects,
            ..turned.clone()
        };
        assert_eq!([&plain, &turned, &both].map(learnt), [0.0, 3.0, 5.0]);
        let tuning = Tuning::default();
        assert_eq!(gain_nats(&turned, (9.0, 2.0), &tuning), 4.0);
        assert_eq!(gain_nats(&both, (9.0, 2.0), &tuning), 0.0);
    }
}

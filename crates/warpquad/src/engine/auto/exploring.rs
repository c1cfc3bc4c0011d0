//! Look for further modes, once what is known of Z has settled.

use super::maker::{Maker, Shape, Warping};
use super::{Auto, Tuning, feasible, schedule};
use crate::belief::{Belief, Model, Theta};
use crate::engine::strategy::Kept;
use crate::engine::{History, LastFit};
use crate::error::Result;
use crate::points::Points;

/// The model that explores: the leading warp without its floor.
///
/// To the leading model all that lies below the floor is one plain, on which a mode may hide
/// anywhere. Without the floor the plain has slopes, and most of it is too low to hide one. Where
/// the warp has no floor, or the depths cannot be fitted, it is the lead.
pub(super) fn explorer(
    auto: &Auto,
    seen: &History,
    lead: &Model,
    pending: &Points,
    turn: usize,
    kept: &mut Kept,
) -> Result<Model> {
    let data = feasible::data(auto, seen)?;
    let tau = seen.last_fit().and_then(|fit| fit.tau);
    let explore = |tau: f64, kept: &mut Kept| -> Option<Model> {
        let theta = theta(auto, seen, tau, kept)?;
        let theta = with_lengths(theta, turn, &auto.tuning);
        let maker = Maker {
            auto,
            seen,
            data: &data,
        };
        maker.condition(&shape(tau), theta).ok()
    };
    match tau.and_then(|tau| explore(tau, kept)) {
        Some(model) => Ok(model
            .with_pending(pending)?
            .within(lead.feasible().cloned())),
        None => Ok(lead.clone()),
    }
}

/// The lengths of this turn.
///
/// Lengths are fitted to modes that are known. A model of long lengths is sure that nothing
/// narrower is between the points.
fn with_lengths(theta: Theta, turn: usize, tuning: &Tuning) -> Theta {
    let is_large = theta.length_scales.len() >= tuning.exploring_shorter_dimensions;
    let factor = match (turn + 1).is_multiple_of(tuning.exploring_shorter_one_in) {
        true if is_large => tuning.exploring_shorter,
        _ => 1.0,
    };
    let lengths = theta.length_scales.iter().map(|length| factor * length);
    Theta {
        length_scales: lengths.collect(),
        ..theta
    }
}

fn shape(tau: f64) -> Shape {
    Shape {
        has_floor: false,
        ..Shape::of_choice(Warping::Saturating(tau))
    }
}

/// Its theta, fitted to the observations up to the last milestone.
fn theta(auto: &Auto, seen: &History, tau: f64, kept: &mut Kept) -> Option<Theta> {
    let n = schedule::milestone(seen.len(), &auto.tuning);
    let serves = |last: &LastFit| (last.n, last.tau) == (n, Some(tau));
    if !kept.explorer.as_ref().is_some_and(serves) {
        let data = feasible::data(auto, &seen.first(n)).ok()?;
        let maker = Maker {
            auto,
            seen,
            data: &data,
        };
        let fitted = maker.fitter(&shape(tau)).ok()?.fit_all(None).ok()?;
        kept.explorer = Some(LastFit {
            theta: fitted.theta().clone(),
            n,
            full: n,
            tau: Some(tau),
        });
    }
    kept.explorer.as_ref().map(|last| last.theta.clone())
}

#[cfg(test)]
mod tests {
    use super::super::tests::auto;
    use super::*;
    use crate::data::Value;
    use crate::engine::{Engine, Method};
    use crate::measure::Product;
    use crate::warp::Range;

    fn new(range: Range) -> Engine {
        let square = Product::uniform(&[(-1.0, 1.0), (-1.0, 1.0)]).unwrap();
        let mut method = Method::auto(range);
        // In the prior's frame, whatever the peak.
        method.tune("narrow_nats", &[1e300]).unwrap();
        Engine::new(method, range, &square, 1).unwrap()
    }

    /// A run on a peak whose flanks fall far below the floor, and the same restored from its last
    /// fit.
    fn run_and_restored() -> (Engine, Engine) {
        let none = Points::empty(2).unwrap();
        let (mut run, mut restored) = (new(Range::POSITIVE), new(Range::POSITIVE));
        for _ in 0..37 {
            let x = run.ask(&none, &none).unwrap();
            let value = Value::Log(-5e3 * (x[0] * x[0] + (x[1] - 0.3).powi(2)));
            run.tell(&x, value).unwrap();
            restored.tell(&x, value).unwrap();
        }
        restored.restore(run.last_fit().unwrap().clone());
        (run, restored)
    }

    fn explorer_of(run: &mut Engine) -> Model {
        let lead = run.model().unwrap().unwrap().clone();
        let none = Points::empty(2).unwrap();
        explorer(
            &auto(),
            run.history(),
            &lead,
            &none,
            0,
            &mut Kept::default(),
        )
        .unwrap()
    }

    #[test]
    fn a_restored_run_explores_with_the_same_model() {
        let (mut run, mut restored) = run_and_restored();
        let (own, other) = (explorer_of(&mut run), explorer_of(&mut restored));
        assert_eq!(own.theta(), other.theta());
    }

    #[test]
    fn the_explorer_tells_depths_apart_that_are_one_to_the_lead() {
        let (mut run, _) = run_and_restored();
        let lead = run.model().unwrap().unwrap().clone();
        let explorer = explorer_of(&mut run);
        let lowest = |model: &Model| model.process().g().iter().copied().fold(0.0, f64::min);
        let at_lowest = |model: &Model| {
            let g = model.process().g();
            g.iter().filter(|g| **g == lowest(model)).count()
        };
        assert!(at_lowest(&lead) > 1);
        assert_eq!(at_lowest(&explorer), 1);
        assert!(lowest(&explorer) < lowest(&lead));
    }

    #[test]
    fn lengths_are_shorter_in_turn() {
        let theta = |lengths| Theta::constant(0.0, 1.0, lengths).unwrap();
        let tuning = Tuning::default();
        let lengths = |of: &[f64], turn| with_lengths(theta(of.to_vec()), turn, &tuning);
        let lengths = |of: &[f64], turn| lengths(of, turn).length_scales;
        assert_eq!(lengths(&[2.0, 0.5, 1.0], 5), [0.4, 0.1, 0.2]);
        assert_eq!(lengths(&[2.0, 0.5, 1.0], 6), [2.0, 0.5, 1.0]);
        assert_eq!(lengths(&[2.0, 0.5], 5), [2.0, 0.5]);
    }

    #[test]
    fn without_a_floor_the_lead_explores() {
        let mut run = new(Range::REAL);
        for x in [[0.1, 0.2], [-0.3, 0.5], [0.7, -0.6]] {
            run.tell(&x, Value::Linear(x[0] - x[1])).unwrap();
        }
        let lead = run.model().unwrap().unwrap().clone();
        assert_eq!(explorer_of(&mut run).theta(), lead.theta());
    }
}

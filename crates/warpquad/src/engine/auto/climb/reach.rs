//! Decide how far a step towards the top of a quadratic goes.
//!
//! Along a bent ridge a part of the whole step leads off it. A shorter step turns to where ln f
//! rises most steeply (Levenberg's damping), so it stays on the ridge.

use super::differences::Local;
use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::loops::dot;

/// A step to the top of a quadratic, or as far towards it as it is trusted.
#[derive(Debug, Clone)]
pub(super) struct LocalStep {
    /// The step, in units.
    pub by: Vec<f64>,
    /// How far it reaches, in square roots of nats: half of what the curvatures along the
    /// parameters alone make of it.
    pub reach: f64,
    /// The rise along the slope at its beginning, in nats.
    pub rise: f64,
    /// What it promises, in nats.
    pub promised: f64,
}

/// A step that was tried.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub step: LocalStep,
    pub value: f64,
}

/// The logarithm of a damping lies between these; so many halvings find it.
const LN_DAMPING: (f64, f64) = (-16.0, 40.0);
const HALVINGS: usize = 40;
/// A step keeps at least this part of its promise, or a shorter one is tried.
const KEPT_PART: f64 = 0.2;
/// A step that keeps more than this part of its promise is tried farther.
const SURPASSED: f64 = 1.2;
const FARTHER: f64 = 3.0;
const MOST_TRIALS: usize = 5;
/// The parts of a step that a shorter one goes, at least and at most.
const SHORTER: [f64; 2] = [0.05, 0.5];

impl Local {
    /// The step to the highest point of the quadratic that is no farther than `reach`.
    pub fn step_within(&self, reach: f64) -> Option<LocalStep> {
        let mut step = self.damped(0.0)?;
        if step.reach > reach {
            let (mut low, mut high) = LN_DAMPING;
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                let trial = self.damped(middle.exp())?;
                match trial.reach > reach {
                    true => low = middle,
                    false => (high, step) = (middle, trial),
                }
            }
        }
        Some(step)
    }

    /// The same, and beyond the top where `reach` is farther.
    pub fn step_beyond(&self, reach: f64) -> Option<LocalStep> {
        let mut step = self.step_within(reach)?;
        if step.reach < reach {
            step.by.iter_mut().for_each(|b| *b *= reach / step.reach);
            step.reach = reach;
        }
        Some(step)
    }

    /// The step to the top with the diagonal of the bend so much larger.
    fn damped(&self, damping: f64) -> Option<LocalStep> {
        let r = self.slope.len();
        let bend = Mat::from_fn(r, r, |i, j| match i == j {
            true => (1.0 + damping) * self.bend[(i, j)],
            false => self.bend[(i, j)],
        });
        let mut by = self.slope.clone();
        Cholesky::new(bend)?.solve_vec(&mut by);
        let rise = dot(&by, &self.slope);
        let promised = rise - 0.5 * dot(&by, &self.bend.mul_vec(&by));
        let squares = by
            .iter()
            .enumerate()
            .map(|(k, b)| self.bend[(k, k)] * b * b);
        let reach = (0.5 * squares.sum::<f64>()).sqrt();
        (reach.is_finite() && promised.is_finite() && promised >= 0.0).then_some(LocalStep {
            by,
            reach,
            rise,
            promised,
        })
    }
}

/// How far the step to try next reaches: farther where the last one does better than promised,
/// nearer where it does not keep its promise; `None` once one is good enough, or nothing is left to
/// try.
pub(super) fn next_reach(trials: &[Trial], start: f64) -> Option<f64> {
    let (last, before) = trials.split_last()?;
    let keeps = |trial: &Trial| trial.value > start + KEPT_PART * trial.step.promised;
    if keeps(last) {
        let is_best = before.iter().all(|trial| last.value > trial.value);
        let surpasses = last.value - start > SURPASSED * last.step.promised;
        let was_shorter = before
            .last()
            .is_some_and(|b| b.step.reach < last.step.reach);
        let farther = is_best && (surpasses || was_shorter) && trials.len() < MOST_TRIALS - 1;
        return farther.then_some(FARTHER * last.step.reach);
    }
    if trials.len() >= MOST_TRIALS || trials.iter().any(keeps) {
        return None;
    }
    // The parabola through the start, its slope and the value.
    let bend = last.value - start - last.step.rise;
    let vertex = match bend < 0.0 && bend.is_finite() {
        true => -0.5 * last.step.rise / bend,
        false => 0.1,
    };
    Some(vertex.clamp(SHORTER[0], SHORTER[1]) * last.step.reach)
}

/// How many times as far as a step the next one may reach, after it kept this part of its promise.
pub(super) fn trust(kept: f64) -> f64 {
    match kept {
        kept if kept > 0.75 => 4.0,
        kept if kept > 0.25 => 1.0,
        _ => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ridge along the diagonal, a hundred times as long as wide, and a slope towards its top.
    fn ridge() -> Local {
        let bend = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { -0.9998 });
        let slope = bend.mul_vec(&[30.0, 31.0]);
        Local {
            axes: vec![0, 1],
            unit: vec![1.0, 1.0],
            slope,
            bend,
        }
    }

    #[test]
    fn a_step_of_any_reach_is_the_best_one_of_that_reach() {
        let local = ridge();
        let whole = local.step_within(f64::INFINITY).unwrap();
        assert!((whole.by[0] - 30.0).abs() < 1e-6 && (whole.by[1] - 31.0).abs() < 1e-6);
        assert!((whole.promised - 0.5 * whole.rise).abs() < 1e-9);
        let short = local.step_within(0.5).unwrap();
        assert!((short.reach - 0.5).abs() < 1e-6, "{}", short.reach);
        // A part of the whole step that reaches as far promises less.
        let part = 0.5 / whole.reach;
        let of_part = part * whole.rise - part * part * 0.5 * whole.rise;
        assert!(
            short.promised > 2.0 * of_part,
            "{} {of_part}",
            short.promised
        );
        let beyond = local.step_beyond(2.0 * whole.reach).unwrap();
        assert!((beyond.by[0] - 60.0).abs() < 1e-6);
    }

    fn trial(reach: f64, promised: f64, value: f64) -> Trial {
        Trial {
            step: LocalStep {
                by: Vec::new(),
                reach,
                rise: 2.0 * promised,
                promised,
            },
            value,
        }
    }

    #[test]
    fn a_step_that_keeps_its_promise_is_the_last_one() {
        assert_eq!(next_reach(&[trial(2.0, 4.0, 3.0)], 0.0), None);
        // One that gains more is tried farther, and one that loses nearer.
        assert_eq!(next_reach(&[trial(2.0, 4.0, 6.0)], 0.0), Some(6.0));
        let nearer = next_reach(&[trial(2.0, 4.0, -8.0)], 0.0).unwrap();
        assert!((nearer - 0.5).abs() < 1e-12, "{nearer}");
        let failed = next_reach(&[trial(2.0, 4.0, f64::NEG_INFINITY)], 0.0).unwrap();
        assert!((failed - 0.2).abs() < 1e-12, "{failed}");
    }

    #[test]
    fn trust_grows_with_what_was_kept() {
        assert!(trust(1.0) > trust(0.5) && trust(0.5) > trust(0.1));
    }
}

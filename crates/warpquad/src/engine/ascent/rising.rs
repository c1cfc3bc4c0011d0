//! Decide how far ln Z may be off while the climb goes on.

use super::Ascent;
use super::vague::{highest, median};

/// No interval of ln Z reaches farther, in nats: it says that nothing is known. Regressions whose
/// covariates stand in their own units have risen by 5e5 nats and were as far below their top.
const FARTHEST_RISE: f64 = 1e7;

impl Ascent {
    /// How far the climb may still rise, in nats: as far as the best value has risen above the
    /// space-filling points, or over the last half of the observations if that is farther.
    ///
    /// Of a climb that has hardly begun nothing is known but how far f falls over the prior.
    pub fn rise_nats(&self) -> f64 {
        let top = highest(self.values.iter().copied());
        let first_half = self.values[..self.values.len() / 2].iter().copied();
        let design = self.values.iter().zip(&self.is_design);
        let design: Vec<f64> = design.filter(|(_, is)| **is).map(|(v, _)| *v).collect();
        // Of a run that began with given points there may be no space-filling ones.
        let before = [highest(first_half), highest(design.iter().copied())];
        let begun = self.awaited >= self.tuning.climb_begun_per_dimension * self.free.dim();
        let usual = (!begun).then(|| median(&design));
        let below = before.into_iter().chain(usual).map(|value| top - value);
        let farthest = below.filter(|nats| nats.is_finite()).fold(0.0, f64::max);
        farthest.min(FARTHEST_RISE)
    }
}

//! Judge the present law of Z by an earlier one: how far the run has moved since, against what it said then.

use super::average::{Average, alone};
use super::run::{Engine, initial};
use crate::functional::Law;
use crate::numeric::random::Rng;

/// The earlier law is that of this part of the observations: few enough for the rest to put it to the test, enough to be the
/// same kind of knowledge.
const EARLIER: f64 = 0.75;

/// Draws of the earlier law: its quantiles need not be known to more than a tenth.
const DRAWS: usize = 400;

/// The interval that an estimate should stay in.
const TAIL: f64 = 0.025;

impl Engine {
    /// How many times too narrow the 95 % interval of the leading model was after three quarters of the observations, if
    /// the median of `now` is where it should have reached; 1 at least, and no more than makes the present interval three times
    /// as wide to each side as the median has moved.
    ///
    /// A mode that was found late, or a flank that turned out to be a peak, shows here and nowhere else: all models
    /// describe the points they have. Where nothing can be said of the earlier law, as before the first fit, it is 1.
    pub(super) fn hindsight(&self, now: &Average, rng: &mut Rng) -> f64 {
        let n = (EARLIER * self.len() as f64) as usize;
        if n < initial(self.coordinates.measure().dim()) {
            return 1.0;
        }
        let Some(then) = self.average_after(n, rng) else {
            return 1.0;
        };
        let moved = (now.law.ln_quantile(0.5) - then.law.ln_quantile(0.5)).abs();
        let nodes = then.relative_node_error.hypot(now.relative_node_error);
        let ratio = moved / half_width(&then.law).hypot(2.0 * nodes);
        // At the pace of the last quarter, so far again in as many evaluations as there were before it.
        let further = moved * EARLIER / (1.0 - EARLIER);
        let wider = ratio.min(further / half_width(&now.law));
        // A negative Z has no logarithm and no ratio.
        if wider.is_finite() {
            wider.max(1.0)
        } else {
            1.0
        }
    }

    /// What the leading model of the first n observations said of Z.
    fn average_after(&self, n: usize, rng: &mut Rng) -> Option<Average> {
        let mut then = self.first(n);
        let lead = then.model().ok()??.clone();
        let data = then.data().ok()?;
        alone(&then.current_maker(&data), &lead, DRAWS, rng).ok()
    }
}

/// Half of the central 95 % interval of ln Z.
fn half_width(law: &Law) -> f64 {
    0.5 * (law.ln_quantile(1.0 - TAIL) - law.ln_quantile(TAIL))
}

//! Hold what is known of Z.

use crate::belief::Theta;
use crate::functional::{Estimate, Law};
use crate::numeric::special::normal_quantile;

/// What a run knows about Z.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The law of Z by drawing g.
    pub law: Law,
    /// The normal law of Z.
    pub estimate: Estimate,
    /// The hyperparameters of the heaviest model; a baseline has none.
    pub theta: Option<Theta>,
    /// Evaluations used.
    pub evaluations: usize,
}

impl Outcome {
    /// The standard deviation of ln Z: the belief's own and the node rule's error together, and no
    /// smaller than the 95 % interval allows.
    pub fn ln_sd(&self) -> f64 {
        let sd = self.law.ln_sd().hypot(self.estimate.relative_node_error());
        let [low, high] = self.ln_interval(0.95);
        let by_interval = 0.5 * (high - low) / normal_quantile(0.975);
        // A negative Z has no logarithm.
        if by_interval > sd { by_interval } else { sd }
    }

    /// The central interval of ln Z with that probability: the law's quantiles, each moved out by
    /// the node rule's error.
    pub fn ln_interval(&self, probability: f64) -> [f64; 2] {
        let tail = 0.5 * (1.0 - probability);
        let median = self.law.ln_quantile(0.5);
        let z = normal_quantile(1.0 - tail);
        let node = z * self.estimate.relative_node_error();
        let (low, high) = (self.law.ln_quantile(tail), self.law.ln_quantile(1.0 - tail));
        [
            median - (median - low).hypot(node),
            median + (high - median).hypot(node),
        ]
    }
}

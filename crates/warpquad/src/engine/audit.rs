//! Draw points from the belief with their exact density, for a check of Z that trusts no model.

use super::run::{Engine, initial};
use crate::error::Result;
use crate::functional::Nodes;
use crate::numeric::random::Rng;

/// Nodes of which one is taken: with fewer, the mixture that they are fitted by is coarse.
const NODES: usize = 2048;

/// A stream of random numbers beside those of `posterior.rs`; each draw has a child of it.
const AUDIT: u64 = 1 << 34;

/// A point drawn from a proposal q that follows the belief.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The point, in the user's coordinates.
    pub x: Vec<f64>,
    /// ln of pi/q there. E_q[f pi/q] = Z, whatever the belief, because q covers all that pi covers.
    pub ln_ratio: f64,
    /// Draws before it that fell where pi vanishes: terms f pi/q = 0 that cost no evaluation.
    pub misses: usize,
}

impl Engine {
    /// A point drawn from the belief as it is now; the same for the same `stream` and observations.
    ///
    /// Every node of a randomised rule is distributed as its share of the mixture says, so one that is chosen
    /// uniformly is a draw from the whole mixture q, with pi/q = N w. A fifth of q is pi itself. Before there is a
    /// model q is pi.
    pub fn draw(&mut self, stream: u64) -> Result<Draw> {
        let dim = self.coordinates.measure().dim();
        let model = match self.len() < initial(dim) {
            true => None,
            false => self.model()?.cloned(),
        };
        if model.is_some() {
            self.count_fit();
        }
        let measure = self.coordinates.measure();
        let mut rng = Rng::new(self.seed).child(AUDIT).child(stream);
        let mut misses = 0;
        // At least a fifth of the draws are within the support, so this ends.
        loop {
            let seed = rng.next_u64() >> 8;
            let nodes = match &model {
                Some(model) => {
                    model.belief(|belief| Nodes::plausible(measure, belief, 1.0, NODES, seed))?
                }
                None => Nodes::sobol(measure, NODES, seed)?,
            };
            let n = nodes.points.len();
            let chosen = rng.below(n);
            let ln_ratio = nodes.ln_weights[chosen] + (n as f64).ln();
            if ln_ratio > f64::NEG_INFINITY {
                let mut x = vec![0.0; dim];
                let z = nodes.points.row(chosen);
                self.coordinates.from_natural(z, &mut x);
                return Ok(Draw {
                    x,
                    ln_ratio,
                    misses,
                });
            }
            misses += 1;
        }
    }
}

//! Draw points from the belief with their exact density, for a check of Z that trusts no model.

use super::Engine;
use crate::error::Result;
use crate::functional::Nodes;
use crate::numeric::stream::{Stream, Streams};

/// Nodes of which one is taken: with fewer, the mixture that they are fitted by is coarse.
const PROPOSAL_NODES: usize = 2048;

/// Draws between two beliefs: an answer takes longer than a choice.
const DRAWS_A_BELIEF: usize = 10;

/// A point drawn from a proposal q that follows the belief.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The point, in the user's coordinates.
    pub x: Vec<f64>,
    /// ln of pi/q there. E_q[f pi/q] = Z, whatever the belief, because q covers all of pi.
    pub ln_ratio: f64,
    /// Draws before it that fell where pi vanishes: terms f pi/q = 0 that cost no evaluation.
    pub misses: usize,
}

impl Engine {
    /// A point drawn from the belief; the same for the same `number` and observations.
    ///
    /// Every node of a randomised rule is distributed as its share of the mixture says, so one that
    /// is chosen uniformly is a draw from the whole mixture q, with pi/q = N w. A fifth of q is pi
    /// itself. Before there is a model q is pi.
    pub fn draw(&mut self, number: u64) -> Result<Draw> {
        let known = self.len() / DRAWS_A_BELIEF * DRAWS_A_BELIEF;
        let frame = self.history().frame.clone();
        let measure = frame.measure();
        let early = known < self.strategy.initial_points(frame.dim());
        let answered = matches!(&self.proposal, Some((_, n)) if *n == known);
        if !early && !answered {
            let mut then = self.first(known)?;
            let zeros = then.model()?.is_none();
            let ensemble = if zeros {
                None
            } else {
                // The audit tells anew where f is positive.
                Some(then.ensemble()?.clone().within(None))
            };
            self.proposal = Some((ensemble, known));
        }
        let belief = match &self.proposal {
            Some((Some(ensemble), _)) if !early => Some(ensemble),
            _ => None,
        };
        let mut rng = Streams::new(self.history.seed, number).rng(Stream::Audit);
        let mut misses = 0;
        // At least a fifth of the draws are within the support, so this ends.
        loop {
            let seed = rng.next_u64() >> 8;
            let nodes = match belief {
                Some(ensemble) => Nodes::plausible(measure, ensemble, 1.0, PROPOSAL_NODES, seed)?,
                None => Nodes::sobol(measure, PROPOSAL_NODES, seed)?,
            };
            let n = nodes.points.len();
            let chosen = rng.below(n);
            let y = nodes.points.row(chosen);
            let ln_ratio = nodes.ln_weights[chosen] + (n as f64).ln() + frame.ln_ratio(y);
            if ln_ratio > f64::NEG_INFINITY {
                return Ok(Draw {
                    x: frame.point_from_frame(y),
                    ln_ratio,
                    misses,
                });
            }
            misses += 1;
        }
    }
}

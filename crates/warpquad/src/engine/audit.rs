//! Draw points from the belief with their exact density, for a check of Z that trusts no model.

use super::answered::shares;
use super::run::Proposed;
use super::{Engine, Frame};
use crate::error::{Error, Result};
use crate::functional::Nodes;
use crate::numeric::stream::{Stream, Streams};

/// Nodes of which one is taken: with fewer, the mixture that they are fitted by is coarse.
const PROPOSAL_NODES: usize = 2048;

/// Draws between two beliefs: an answer takes longer than a choice.
const DRAWS_A_BELIEF: usize = 10;

/// Of several frames this part of the draws goes to all alike.
const LEAST_PART: f64 = 0.2;

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
    /// itself. Before there is a model q is pi. Of several frames one is drawn by its part of Z.
    pub fn draw(&mut self, number: u64) -> Result<Draw> {
        let known = self.len() / DRAWS_A_BELIEF * DRAWS_A_BELIEF;
        let early = known < self.strategy.initial_points(self.points.dim());
        if early {
            let frame = self.history().frame.clone();
            return self.draw_from(&[Proposed::plain(frame)], number);
        }
        if !matches!(&self.proposal, Some((_, n)) if *n == known) {
            self.proposal = Some((self.first(known)?.proposals()?, known));
        }
        match &self.proposal {
            Some((proposed, _)) => self.draw_from(proposed, number),
            None => Err(Error::spec("audit", "there is nothing to draw from")),
        }
    }

    /// What an audit draws from in each frame.
    fn proposals(&mut self) -> Result<Vec<Proposed>> {
        if self.model()?.is_none() {
            return Ok(vec![Proposed::plain(self.history().frame.clone())]);
        }
        let believed = self.believed()?;
        let shares = shares(believed.iter().map(|of| &of.law));
        // The audit tells anew where f is positive, and looks at every frame.
        let least = LEAST_PART / believed.len() as f64;
        let each = believed
            .into_iter()
            .zip(shares)
            .map(|(of, share)| Proposed {
                frame: of.frame,
                belief: Some(of.ensemble.within(None)),
                share: least + (1.0 - LEAST_PART) * share,
            });
        Ok(each.collect())
    }

    fn draw_from(&self, proposed: &[Proposed], number: u64) -> Result<Draw> {
        let mut rng = Streams::new(self.whole.seen.seed, number).rng(Stream::Audit);
        let mut misses = 0;
        // At least a fifth of the draws are within the support, so this ends.
        loop {
            let (one, ln_share) = match proposed {
                [one] => (one, 0.0),
                _ => {
                    let one = chosen(proposed, rng.uniform());
                    (one, one.share.ln())
                }
            };
            let measure = one.frame.measure();
            let seed = rng.next_u64() >> 8;
            let nodes = match &one.belief {
                Some(ensemble) => Nodes::plausible(measure, ensemble, 1.0, PROPOSAL_NODES, seed)?,
                None => Nodes::sobol(measure, PROPOSAL_NODES, seed)?,
            };
            let n = nodes.points.len();
            let node = rng.below(n);
            let y = nodes.points.row(node);
            let ln_ratio =
                nodes.ln_weights[node] + (n as f64).ln() + one.frame.ln_ratio(y) - ln_share;
            if ln_ratio > f64::NEG_INFINITY {
                return Ok(Draw {
                    x: one.frame.point_from_frame(y),
                    ln_ratio,
                    misses,
                });
            }
            misses += 1;
        }
    }
}

impl Proposed {
    /// The measure of a frame alone.
    fn plain(frame: Frame) -> Proposed {
        Proposed {
            frame,
            belief: None,
            share: 1.0,
        }
    }
}

/// The one that a uniform number falls to.
fn chosen(proposed: &[Proposed], uniform: f64) -> &Proposed {
    let mut left = uniform;
    for one in proposed {
        left -= one.share;
        if left < 0.0 {
            return one;
        }
    }
    &proposed[proposed.len() - 1]
}

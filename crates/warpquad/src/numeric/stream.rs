//! Name the streams of random numbers, so that no consumer can move another.

use super::random::Rng;

/// Who draws. Each has a stream of its own: how much one takes changes nothing for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Candidates and nodes of a choice.
    Choice,
    /// Nodes that carry an integral.
    Nodes,
    /// More nodes, where those are not enough.
    FineNodes,
    /// Draws of the law of Z.
    Law,
    /// Bootstraps of left-out scores.
    Weights,
    /// Hyperparameters around their best.
    Hyperparameters,
    /// The law after fewer observations.
    Hindsight,
    /// Nodes and draws of posterior expectations.
    Expectation,
    /// Posterior draws.
    Posterior,
    /// Points of the audit.
    Audit,
    /// Draws of where f is positive.
    Edge,
    /// Draws of what lies outside the frame.
    Outside,
}

/// Numbers that no step of a run reaches.
const BEYOND_STEPS: u64 = 1 << 48;

/// The streams of one step of a run: the same for the same seed and the same number.
///
/// ```
/// use warpquad::numeric::stream::{Stream, Streams};
/// let at = Streams::new(7, 100);
/// let mut law = at.rng(Stream::Law);
/// law.next_u64();
/// // What the law took has moved no other stream, nor that of another step.
/// assert_eq!(at.seed(Stream::Nodes), Streams::new(7, 100).seed(Stream::Nodes));
/// assert_ne!(at.seed(Stream::Nodes), Streams::new(7, 101).seed(Stream::Nodes));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
    step: u64,
}

impl Streams {
    /// The streams of a step, such as a number of observations, of the run with this seed.
    pub fn new(seed: u64, step: u64) -> Streams {
        Streams { seed, step }
    }

    /// The generator of a stream. That of a choice is the child `step` of the run's own.
    pub fn rng(self, stream: Stream) -> Rng {
        let run = Rng::new(self.seed);
        match stream {
            Stream::Choice => run.child(self.step),
            other => run.child(BEYOND_STEPS + other as u64).child(self.step),
        }
    }

    /// The seed of a stream, for a sequence that takes one.
    pub fn seed(self, stream: Stream) -> u64 {
        self.rng(stream).next_u64() >> 8
    }
}

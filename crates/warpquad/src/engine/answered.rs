//! Put the answers in several frames together: Z is the sum of its parts.

use super::Frame;
use super::strategy::{Answer, Doubts};
use crate::belief::Ensemble;
use crate::functional::Law;
use crate::numeric::random::Rng;
use crate::numeric::weights::normalised;

/// What is believed of f in one frame, and of the part of Z that it carries.
#[derive(Debug, Clone)]
pub(super) struct Believed {
    pub frame: Frame,
    pub ensemble: Ensemble,
    pub law: Law,
}

/// What is believed of f and of Z, after so many observations.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    /// The law of Z and what speaks against it; the belief is that in the frame with most of Z.
    pub whole: Answer,
    /// The number of that frame.
    pub lead: usize,
    /// Every frame with its belief, where there are several.
    parts: Vec<Believed>,
    /// The number of observations.
    pub n: usize,
}

impl Answered {
    /// One frame carries all of Z.
    pub fn one(whole: Answer, n: usize) -> Answered {
        Answered {
            whole,
            lead: 0,
            parts: Vec::new(),
            n,
        }
    }

    /// The frames carry Z together.
    pub fn sum(each: Vec<(Frame, Answer)>, n: usize, rng: &mut Rng) -> Answered {
        let middle = |answer: &Answer| answer.law.ln_quantile(0.5);
        let most = |a: &usize, b: &usize| middle(&each[*a].1).total_cmp(&middle(&each[*b].1));
        let lead = (0..each.len()).max_by(most).unwrap_or(0);
        let laws: Vec<Law> = each.iter().map(|(_, answer)| answer.law.clone()).collect();
        let law = Law::sum(&laws, rng);
        let shares = shares(laws.iter());
        let answers = || each.iter().map(|(_, answer)| answer).zip(&shares);
        let squares = answers()
            .map(|(answer, share)| (share * answer.estimate.relative_node_error()).powi(2));
        let node_error = squares.sum::<f64>().sqrt();
        let failed = answers().map(|(answer, share)| Some(share * answer.doubts.failed_part?));
        let whole = Answer {
            estimate: law.estimate(node_error),
            law,
            ensemble: each[lead].1.ensemble.clone(),
            doubts: Doubts {
                failed_part: failed.sum(),
                noise_sd: each[lead].1.doubts.noise_sd,
                outside_part: None,
            },
        };
        let believed = |(frame, answer): (Frame, Answer)| Believed {
            frame,
            ensemble: answer.ensemble,
            law: answer.law,
        };
        Answered {
            whole,
            lead,
            parts: each.into_iter().map(believed).collect(),
            n,
        }
    }

    /// Every frame with its belief and its part of Z; `frame` is the only one, where there is one.
    pub fn believed(&self, frame: &Frame) -> Vec<Believed> {
        match self.parts.is_empty() {
            true => vec![Believed {
                frame: frame.clone(),
                ensemble: self.whole.ensemble.clone(),
                law: self.whole.law.clone(),
            }],
            false => self.parts.clone(),
        }
    }
}

/// The part of Z in each frame, by the middles of their laws.
pub(super) fn shares<'a>(laws: impl Iterator<Item = &'a Law>) -> Vec<f64> {
    let middles: Vec<f64> = laws.map(|law| law.ln_quantile(0.5)).collect();
    // Where no part is known to be positive all are alike.
    let alike = || vec![1.0 / middles.len() as f64; middles.len()];
    normalised(&middles).unwrap_or_else(alike)
}

//! Look where an observation says most about the integral.

use super::candidates::{Hints, Space};
use super::gain::{Gain, Weighted, nodes};
use super::{Acquisition, Context, Maximise, Score, maximise};
use crate::belief::Belief;
use crate::error::Result;
use crate::functional::Nodes;

/// The expected information gain about Z under the matched Gaussian process.
///
/// # Definition
/// argmax over x of `L[K(x, .)]^2 / K(x, x)`, by which observing f(x) lowers `L^2[K]`, the variance
/// of Z. For a Gaussian Z the gain in nats is a monotone function of it. Observations count as
/// exact.
///
/// # Numerics
/// L is a sum over 512 nodes, half of them around the highest observations (balance heuristic), of
/// which those that matter are kept. The score is a ln, in which the unit of x cancels, with an
/// exact gradient through the latent process. A belief that does not show its latent process is
/// searched without refinement.
///
/// # Reference
/// Osborne, Duvenaud, Garnett, Rasmussen, Roberts and Ghahramani (2012); Minka (2000) for the
/// closed form.
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, InformationGain};
/// use warpquad::{Points, Process, Theta, kernel::Matern52, measure::Product};
/// let pi = Product::uniform(&[(-1.0, 1.0)])?;
/// let process = Process::new(Matern52, Theta::constant(0.0, 1.0, vec![0.5])?);
/// let taken = Points::empty(1)?;
/// let nothing = process.condition(&taken, &[])?;
/// let at = Context { belief: &nothing, measure: &pi, taken: &taken, seed: 1, step: 0 };
/// assert!(InformationGain.choose(&at)?[0].abs() < 0.01);     // the middle says most
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct InformationGain;

impl Acquisition for InformationGain {
    fn name(&self) -> &'static str {
        "information-gain"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let space = Space::new(at.measure, at.taken)?;
        let hints = Hints::new(at.belief, at.measure)?;
        let nodes = nodes(&space, at.belief, at.choice_seed())?;
        most_informative(at, at.belief, &nodes, &hints)
    }
}

/// The point that lowers the variance of the integral of `belief` over the nodes most.
pub(super) fn most_informative(
    at: &Context<'_>,
    belief: &dyn Belief,
    nodes: &Nodes,
    hints: &Hints,
) -> Result<Vec<f64>> {
    // An integral over x is smoother than a variance, and a candidate costs m covariances: fewer
    // do.
    let options = Maximise {
        candidates: 128,
        around: 2,
        refined: 3,
        near: Some(&hints.near),
        lengths: Some(&hints.lengths),
        ..Maximise::default()
    };
    let (measure, taken, seed) = (at.measure, at.taken, at.choice_seed());
    let weighted = Weighted::new(belief, nodes)?;
    let Some(anatomy) = belief.anatomy() else {
        let score = Score {
            values: &|x| weighted.values(belief, x),
            gradient: None,
        };
        return maximise(measure, taken, seed, &score, &options);
    };
    let gain = Gain::new(anatomy, weighted)?;
    let score = Score {
        values: &|x| gain.values(x),
        gradient: Some(&|x| gain.gradient(x)),
    };
    maximise(measure, taken, seed, &score, &options)
}

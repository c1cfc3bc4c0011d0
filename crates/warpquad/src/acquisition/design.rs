//! Place points for the integral of a Gaussian process, before anything is observed if need be.

use super::candidates::{Hints, Space};
use super::gain::nodes;
use super::information_gain::most_informative;
use super::{Acquisition, Context};
use crate::belief::{Belief, Process};
use crate::error::Result;
use crate::measure::Measure;
use crate::points::Points;

/// Greedy minimum-variance design under the latent process.
///
/// # Definition
/// argmax over x of `L[Sigma_D(x, .)]^2 / Sigma_D(x, x)`, Sigma_D the posterior covariance of g:
/// the [information gain](super::InformationGain) of the identity warp. It depends on where was
/// observed and not on what, so the points can be made in advance: [`design`].
///
/// # Numerics
/// As for the information gain, with 512 quasi-random nodes of the measure.
///
/// # Reference
/// Minka, "Deriving quadrature rules from Gaussian processes" (2000).
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, Design};
/// use warpquad::{Points, Process, Theta, Warped, kernel::Matern32, measure::Product, warp::Log};
/// let pi = Product::uniform(&[(0.0, 1.0)])?;
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.3])?);
/// let taken = Points::from_rows(&[vec![0.4], vec![0.7]])?;
/// let choose = |g: &[f64]| {
///     let posterior = process.condition(&taken, g)?;
///     let belief = Warped::new(&Log, &posterior);
///     Design.choose(&Context { belief: &belief, measure: &pi, taken: &taken, seed: 1, step: 2 })
/// };
/// // Values do not matter.
/// assert!((choose(&[0.0, 1.0])?[0] - choose(&[5.0, -9.0])?[0]).abs() < 1e-3);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Design;

impl Acquisition for Design {
    fn name(&self) -> &'static str {
        "design"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let latent: &dyn Belief = match at.belief.anatomy() {
            Some(anatomy) => anatomy.posterior,
            None => at.belief,
        };
        let mut hints = Hints::new(latent, at.measure)?;
        // Where g was high is no place to look: values do not matter here.
        hints.near = Points::empty(at.measure.dim())?;
        // The run's seed, so that every step integrates over the same nodes.
        let nodes = nodes(&Space::new(at.measure, at.taken)?, latent, at.seed)?;
        most_informative(at, latent, &nodes, &hints)
    }
}

/// All `n` points of the greedy design of a prior, made in advance.
///
/// ```
/// use warpquad::acquisition::design;
/// use warpquad::{Process, Theta, kernel::Matern32, measure::Product};
/// let pi = Product::uniform(&[(-1.0, 1.0)])?;
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.5])?);
/// let points = design(&process, &pi, 3, 1)?;
/// // The middle first, then one point on either side.
/// assert!(points.row(0)[0].abs() < 0.01);
/// assert!(points.row(1)[0] * points.row(2)[0] < 0.0);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn design(process: &Process, measure: &dyn Measure, n: usize, seed: u64) -> Result<Points> {
    let mut taken = Points::empty(measure.dim())?;
    let mut posterior = process.condition(&taken, &[])?;
    for step in 0..n {
        let x = Design.choose(&Context {
            belief: &posterior,
            measure,
            taken: &taken,
            seed,
            step,
        })?;
        let added = Points::new(x.len(), x)?;
        // Any value will do; the mean keeps the weights small.
        posterior = posterior.extend(&added, &posterior.means(&added)?)?;
        taken.extend(&added)?;
    }
    Ok(taken)
}

//! Look at a draw from the prior.

use super::candidates::{Cube, Space};
use super::{Acquisition, Context};
use crate::error::Result;

/// A draw from the measure, which asks the belief nothing.
///
/// # Definition
/// x = Q(u), u uniform on the unit cube and Q the measure's quantile map.
///
/// # Numerics
/// The generator is the child `step` of the run's seed. A draw that is taken already is drawn
/// again.
///
/// # Reference
/// The baseline of every comparison: Rasmussen and Ghahramani, "Bayesian Monte Carlo" (2003).
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, PriorDraw};
/// use warpquad::{Points, Process, Theta, kernel::Matern32, measure::Product};
/// let pi = Product::uniform(&[(2.0, 3.0)])?;
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.3])?);
/// let none = Points::empty(1)?;
/// let at = |step| Context { belief: &process, measure: &pi, taken: &none, seed: 1, step };
/// let x = PriorDraw.choose(&at(0))?;
/// assert!(2.0 < x[0] && x[0] < 3.0 && x != PriorDraw.choose(&at(1))?);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct PriorDraw;

impl Acquisition for PriorDraw {
    fn name(&self) -> &'static str {
        "prior"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let seed = at.choice_seed();
        let draws = Cube::random(at.measure.dim(), seed);
        Space::new(at.measure, at.taken)?.first_free(draws, seed)
    }
}

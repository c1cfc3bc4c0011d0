//! Look where a mode may hide.

use super::{Acquisition, Context, LookAhead};
use crate::error::Result;

/// Explore: the look-ahead with its tails far out.
///
/// # Definition
/// argmin over x of the integral over pi of |xi(mu + u sd') - xi(mu - u sd')|, as in [`LookAhead`],
/// with u = `exploring_sd`: where nothing is known, and most of all where f may be large.
///
/// # Numerics
/// Those of the look-ahead.
///
/// # Reference
/// Jarvenpaa, Gutmann, Vehtari and Marttinen (2021), with 0.67 in place of 5.
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, Explore};
/// use warpquad::{Points, Process, Theta, Warped};
/// use warpquad::{kernel::SquaredExponential, measure::Product, warp::Log};
/// let pi = Product::uniform(&[(0.0, 1.0)])?;
/// let process = Process::new(SquaredExponential, Theta::constant(-5.0, 9.0, vec![0.05])?);
/// let taken = Points::from_rows(&[vec![0.05], vec![0.1], vec![0.15], vec![0.2]])?;
/// let posterior = process.condition(&taken, &[-9.0, 0.0, 0.0, -9.0])?;
/// let belief = Warped::new(&Log, &posterior);
/// let at = Context { belief: &belief, measure: &pi, taken: &taken, seed: 1, step: 4 };
/// assert!(Explore::default().choose(&at)?[0] > 0.25);     // away from the peak that is known
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Explore(pub LookAhead);

impl Acquisition for Explore {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        self.0.choose_at(at, self.0.exploring_sd)
    }
}

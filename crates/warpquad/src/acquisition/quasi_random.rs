//! Look at the next point of a low-discrepancy sequence.

use super::candidates::{Cube, Space};
use super::{Acquisition, Context};
use crate::error::Result;

/// The scrambled Sobol' sequence through the measure's quantile map.
///
/// # Definition
/// x = Q(u_i), i = `step`, u the scrambled Sobol' sequence of the run's seed: the seed must stay
/// the same from step to step for the points to form one sequence.
///
/// # Numerics
/// A point that is taken already is passed over. Beyond 64 dimensions the points are independent
/// draws.
///
/// # Reference
/// Sobol' (1967); Matousek (1998) for the scramble.
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, QuasiRandom};
/// use warpquad::{Points, Process, Theta, kernel::Matern32, measure::Product};
/// let pi = Product::uniform(&[(0.0, 8.0)])?;
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.3])?);
/// let mut taken = Points::empty(1)?;
/// for step in 0..8 {
///     let at = Context { belief: &process, measure: &pi, taken: &taken, seed: 7, step };
///     let x = QuasiRandom.choose(&at)?;
///     taken.push(&x)?;
/// }
/// // One point in each eighth of the interval.
/// let mut cells: Vec<usize> = taken.iter().map(|x| x[0] as usize).collect();
/// cells.sort();
/// assert_eq!(cells, [0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct QuasiRandom;

impl Acquisition for QuasiRandom {
    fn name(&self) -> &'static str {
        "quasi-random"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let sequence = Cube::from_index(at.measure.dim(), at.seed, at.step);
        Space::new(at.measure, at.taken)?.first_free(sequence, at.choice_seed())
    }
}

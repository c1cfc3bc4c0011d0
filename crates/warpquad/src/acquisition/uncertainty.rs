//! Look where the belief about f is least certain.

use super::candidates::Hints;
use super::{Acquisition, Context, Maximise, Score, maximise};
use crate::belief::Belief;
use crate::error::Result;
use crate::points::Points;

/// Uncertainty sampling in f-space, the acquisition of MMLT.
///
/// # Definition
/// argmax over x of K_D(x, x), the variance of f after moment matching. With the log warp that is
/// m(x)^2 expm1(s(x)): large where f is both large and unknown.
///
/// # Numerics
/// The score is ln K_D(x, x) with its exact gradient, so a variance of e^-40000 is as good as any.
/// On an infinite support the search stops where a millionth of the measure's mass is left.
///
/// # Reference
/// Chai and Garnett (2019), section 4; Gunter et al. (2014).
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, Uncertainty};
/// use warpquad::{Points, Process, Theta, kernel::Matern32, measure::Product};
/// let pi = Product::uniform(&[(0.0, 1.0)])?;
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.3])?);
/// let taken = Points::from_rows(&[vec![0.0], vec![1.0]])?;
/// let posterior = process.condition(&taken, &[2.0, 1.0])?;
/// let at = Context { belief: &posterior, measure: &pi, taken: &taken, seed: 1, step: 2 };
/// assert!((Uncertainty.choose(&at)?[0] - 0.5).abs() < 1e-4);     // halfway
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Uncertainty;

impl Acquisition for Uncertainty {
    fn name(&self) -> &'static str {
        "uncertainty"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let score = Score {
            values: &|x| ln_vars(at.belief, x),
            gradient: Some(&|x| at.belief.ln_var_gradient(x)),
        };
        climb(at, &score)
    }
}

/// Maximise a score around what the belief finds high.
pub(super) fn climb(at: &Context<'_>, score: &Score<'_>) -> Result<Vec<f64>> {
    let hints = Hints::new(at.belief, at.measure)?;
    let options = Maximise {
        near: Some(&hints.near),
        lengths: Some(&hints.lengths),
        ..Maximise::default()
    };
    maximise(at.measure, at.taken, at.choice_seed(), score, &options)
}

/// ln K(x, x) at the points.
pub(super) fn ln_vars(belief: &dyn Belief, x: &Points) -> Result<Vec<f64>> {
    let moments = belief.moments(x)?;
    let ln_var = |i: usize| {
        if moments.var[i] > 0.0 {
            Ok(2.0 * moments.ln_unit[i] + moments.var[i].ln())
        } else {
            // A variance in a unit of 1 can underflow (probit at mu = -40); its ln does not.
            belief.ln_var_gradient(x.row(i)).map(|(value, _)| value)
        }
    };
    (0..x.len()).map(ln_var).collect()
}

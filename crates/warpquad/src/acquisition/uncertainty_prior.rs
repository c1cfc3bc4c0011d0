//! Look where the belief is least certain about f times the prior density.

use super::uncertainty::{climb, ln_vars};
use super::{Acquisition, Context, Score};
use crate::error::{Error, Result};

/// Uncertainty sampling of the integrand f pi, the acquisition of WSABI.
///
/// # Definition
/// argmax over x of K_D(x, x) pi(x)^2: the variance of f(x) pi(x).
///
/// # Numerics
/// The score is ln K_D(x, x) + 2 ln pi(x), with its exact gradient. For a uniform measure it is
/// [`Uncertainty`](super::Uncertainty). The density is that of the coordinates the belief lives in,
/// so the choice depends on the chart. A sample is ranked by its kernel density estimate.
///
/// # Reference
/// Gunter, Osborne, Garnett, Hennig and Roberts (2014), section 4.
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, UncertaintyPrior};
/// use warpquad::measure::{Product, univariate};
/// use warpquad::{Points, Process, Theta, kernel::Matern32};
/// let pi = Product::new(vec![univariate("normal", &[0.0, 1.0])?])?;
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.3])?);
/// let taken = Points::empty(1)?;
/// let nothing = process.condition(&taken, &[])?;
/// let at = Context { belief: &nothing, measure: &pi, taken: &taken, seed: 1, step: 0 };
/// assert!(UncertaintyPrior.choose(&at)?[0].abs() < 1e-4);        // the mode of the prior
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct UncertaintyPrior;

impl Acquisition for UncertaintyPrior {
    fn name(&self) -> &'static str {
        "uncertainty-prior"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        if !at.measure.has_density() {
            let reason = "uncertainty-process needs the density of the measure; give it, work in the \
                          measure's natural coordinates, or use uncertainty";
            return Err(Error::spec("acquisition", reason));
        }
        let score = Score {
            values: &|x| {
                let ln_var = ln_vars(at.belief, x)?.into_iter().zip(x.iter());
                Ok(ln_var
                    .map(|(l, x)| l + 2.0 * at.measure.ln_density(x))
                    .collect())
            },
            gradient: Some(&|x| {
                let (value, mut gradient) = at.belief.ln_var_gradient(x)?;
                let mut slope = vec![0.0; x.len()];
                at.measure.ln_density_gradient(x, &mut slope);
                for (g, s) in gradient.iter_mut().zip(slope) {
                    *g += 2.0 * s;
                }
                Ok((value + 2.0 * at.measure.ln_density(x), gradient))
            }),
        };
        climb(at, &score)
    }
}

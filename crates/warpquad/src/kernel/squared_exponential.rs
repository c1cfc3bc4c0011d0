//! Tie very smooth functions: rho = exp(-r^2 / 2).

use super::{Family, Kernel};
use crate::numeric::vmath;

/// The squared exponential kernel.
///
/// * Definition: rho = exp(-r^2 / 2), d rho / d(r^2) = -rho / 2.
/// * Numerics: its matrices are nearly singular when points are closer than a length scale, so the
///   jitter ladder is used more often than for the Matern kernels.
/// * Reference: Rasmussen and Williams (2006), eq. 4.9.
///
/// Products of squared exponentials are squared exponentials, which is why integrals close:
///
/// ```
/// use warpquad::kernel::{Kernel, SquaredExponential};
/// let k = |r2| SquaredExponential.correlation(r2);
/// assert!((k(0.3) * k(1.1) - k(1.4)).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SquaredExponential;

impl Kernel for SquaredExponential {
    fn name(&self) -> &'static str {
        "squared-exponential"
    }

    fn family(&self) -> Family {
        Family::SquaredExponential
    }

    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>) {
        for x in r2.iter_mut() {
            *x *= -0.5;
        }
        vmath::exp(r2);
        if let Some(derivative) = derivative {
            for (d, rho) in derivative.iter_mut().zip(r2) {
                *d = -0.5 * *rho;
            }
        }
    }
}

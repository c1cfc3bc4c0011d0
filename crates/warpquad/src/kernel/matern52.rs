//! Tie twice differentiable functions.

use super::matern32::decayed;
use super::{Family, Kernel, fill_matern};

/// The Matern kernel with nu = 5/2.
///
/// * Definition: rho = (1 + a + a^2/3) exp(-a) with a = sqrt(5) r, d rho / d(r^2) = -(5/6) (1 + a)
///   exp(-a).
/// * Reference: Rasmussen and Williams (2006), eq. 4.17.
///
/// ```
/// use warpquad::kernel::{Kernel, Matern52};
/// let a = 5.0_f64.sqrt();
/// assert!((Matern52.correlation(1.0) - (1.0 + a + a * a / 3.0) * (-a).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Matern52;

impl Kernel for Matern52 {
    fn name(&self) -> &'static str {
        "matern52"
    }

    fn family(&self) -> Family {
        Family::Matern { p: 2 }
    }

    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>) {
        fill_matern(5.0, r2, derivative, |a, e| {
            let rho = decayed(1.0 + a + a * a / 3.0, e);
            (rho, -5.0 / 6.0 * decayed(1.0 + a, e))
        });
    }
}

//! Tie once differentiable functions: the paper's default kernel.

use super::{Family, Kernel, fill_matern};

/// The Matern kernel with nu = 3/2.
///
/// * Definition: rho = (1 + a) exp(-a) with a = sqrt(3) r, d rho / d(r^2) = -(3/2) exp(-a).
/// * Reference: Rasmussen and Williams (2006), eq. 4.17; the default of Chai and Garnett (2019).
///
/// ```
/// use warpquad::kernel::{Kernel, Matern32};
/// let a = 3.0_f64.sqrt();
/// assert!((Matern32.correlation(1.0) - (1.0 + a) * (-a).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Matern32;

impl Kernel for Matern32 {
    fn name(&self) -> &'static str {
        "matern32"
    }

    fn family(&self) -> Family {
        Family::Matern { p: 1 }
    }

    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>) {
        fill_matern(3.0, r2, derivative, |a, e| (decayed(1.0 + a, e), -1.5 * e));
    }
}

/// poly * e, where e = 0 wins over an infinite polynomial (r^2 = infinity).
pub(super) fn decayed(poly: f64, e: f64) -> f64 {
    if e == 0.0 { 0.0 } else { poly * e }
}

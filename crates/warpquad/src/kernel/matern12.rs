//! Tie rough functions: rho = exp(-r).

use super::{Family, Kernel, fill_matern};

/// The Matern kernel with nu = 1/2, also called exponential.
///
/// * Definition: rho = exp(-r), d rho / d(r^2) = -exp(-r) / (2 r).
/// * Numerics: the derivative is infinite at r = 0, where 0 is written instead: it only ever
///   multiplies a difference that vanishes.
/// * Reference: Rasmussen and Williams (2006), eq. 4.18.
///
/// In one dimension it is Markov: what lies beyond a point is tied only through that point.
///
/// ```
/// use warpquad::kernel::{Kernel, Matern12};
/// let k = |r: f64| Matern12.correlation(r * r);
/// assert!((k(0.4) * k(0.8) - k(1.2)).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Matern12;

impl Kernel for Matern12 {
    fn name(&self) -> &'static str {
        "matern12"
    }

    fn family(&self) -> Family {
        Family::Matern { p: 0 }
    }

    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>) {
        fill_matern(1.0, r2, derivative, |a, e| {
            (e, if a > 0.0 { -0.5 * e / a } else { 0.0 })
        });
    }
}

//! Tie functions that vary on many length scales at once.

use super::Kernel;
use crate::error::{Result, positive};

/// The rational quadratic kernel, a mixture of squared exponentials over length scales.
///
/// * Definition: rho = (1 + r^2 / (2 a))^-a, d rho / d(r^2) = -(1/2) (1 + r^2 / (2 a))^(-a-1).
/// * Parameter: the shape a, fixed when the kernel is made (1 by default), not fitted.
/// * Reference: Rasmussen and Williams (2006), eq. 4.19.
///
/// It tends to the squared exponential as its shape grows:
///
/// ```
/// use warpquad::kernel::{Kernel, RationalQuadratic};
/// let kernel = RationalQuadratic::new(1e9)?;
/// assert!((kernel.correlation(0.7) - (-0.35_f64).exp()).abs() < 1e-8);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RationalQuadratic {
    shape: f64,
}

impl RationalQuadratic {
    /// A rational quadratic kernel with that shape.
    pub fn new(shape: f64) -> Result<RationalQuadratic> {
        positive("shape", shape).map(|shape| RationalQuadratic { shape })
    }
}

impl Default for RationalQuadratic {
    fn default() -> RationalQuadratic {
        RationalQuadratic { shape: 1.0 }
    }
}

impl Kernel for RationalQuadratic {
    fn name(&self) -> &'static str {
        "rational-quadratic"
    }

    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>) {
        let a = self.shape;
        // ln_1p keeps the small r^2 / (2 a) of a large shape.
        let rho = |x: f64| (-a * (x / (2.0 * a)).ln_1p()).exp();
        if let Some(derivative) = derivative {
            for (d, x) in derivative.iter_mut().zip(r2.iter()) {
                *d = -0.5 * rho(*x) / (1.0 + x / (2.0 * a));
            }
        }
        for x in r2.iter_mut() {
            *x = rho(*x);
        }
    }
}

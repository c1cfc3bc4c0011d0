//! A kernel of one's own: rho = 1 / (1 + r^2).

use warpquad::kernel::Kernel;

/// The Cauchy kernel, with long tails.
#[derive(Debug, Clone, Copy)]
pub struct Cauchy;

impl Kernel for Cauchy {
    fn name(&self) -> &'static str {
        "cauchy"
    }

    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>) {
        r2.iter_mut().for_each(|r2| *r2 = 1.0 / (1.0 + *r2));
        if let Some(derivative) = derivative {
            for (slope, rho) in derivative.iter_mut().zip(r2.iter()) {
                *slope = -rho * rho;
            }
        }
    }
}

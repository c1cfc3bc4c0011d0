//! Say how strongly g at two points is tied: rho(r^2), and its one derivative.
//!
//! A kernel is two functions of the scaled squared distance r^2 = sum over d of ((x_d - x'_d) /
//! l_d)^2: the correlation rho and d rho / d(r^2). Length scales and the output scale live in
//! [`Theta`](crate::belief::Theta). So every gradient, in hyperparameters and in inputs, follows
//! from d rho / d(r^2) by the chain rule.

mod matern12;
mod matern32;
mod matern52;
mod rational_quadratic;
mod squared_exponential;

pub use matern12::Matern12;
pub use matern32::Matern32;
pub use matern52::Matern52;
pub use rational_quadratic::RationalQuadratic;
pub use squared_exponential::SquaredExponential;

use crate::error::{Error, Result};
use crate::numeric::vmath;
use std::fmt::Debug;
use std::sync::Arc;

/// A stationary correlation function.
pub trait Kernel: Debug + Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// Replace each r^2 by rho, and write d rho / d(r^2) beside it where it is asked for.
    ///
    /// At r = 0 a kernel with a kink (Matern 1/2) writes 0: the derivative is always multiplied by
    /// a difference, or a squared one, which vanishes there.
    fn fill(&self, r2: &mut [f64], derivative: Option<&mut [f64]>);

    /// Whether closed forms know this kernel.
    fn family(&self) -> Family {
        Family::Other
    }

    /// rho at one squared distance.
    fn correlation(&self, r2: f64) -> f64 {
        let mut rho = [r2];
        self.fill(&mut rho, None);
        rho[0]
    }

    /// d rho / d(r^2) at one squared distance.
    fn derivative(&self, r2: f64) -> f64 {
        let mut derivative = [0.0];
        self.fill(&mut [r2], Some(&mut derivative));
        derivative[0]
    }
}

/// The families that the table of closed forms tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// exp(-r^2 / 2).
    SquaredExponential,
    /// A Matern kernel with nu = p + 1/2.
    Matern {
        /// nu less one half.
        p: usize,
    },
    /// Anything else.
    Other,
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Make one.
    pub build: fn() -> Arc<dyn Kernel>,
}

/// All kernels.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: "squared-exponential",
        summary: "exp(-r^2/2): very smooth functions; has closed-form integrals",
        build: || Arc::new(SquaredExponential),
    },
    Entry {
        name: "matern12",
        summary: "exp(-r): continuous, nowhere smooth",
        build: || Arc::new(Matern12),
    },
    Entry {
        name: "matern32",
        summary: "once differentiable; the paper's default",
        build: || Arc::new(Matern32),
    },
    Entry {
        name: "matern52",
        summary: "twice differentiable",
        build: || Arc::new(Matern52),
    },
    Entry {
        name: "rational-quadratic",
        summary: "a mixture of squared exponentials over length scales",
        build: || Arc::new(RationalQuadratic::default()),
    },
];

/// The kernel of that name.
///
/// ```
/// let kernel = warpquad::kernel::by_name("matern32")?;
/// assert_eq!(kernel.correlation(0.0), 1.0);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn Kernel>> {
    let entry = REGISTRY.iter().find(|entry| entry.name == name);
    entry.map(|entry| (entry.build)()).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        let reason = format!("unknown kernel '{name}'; there are {}", names.join(", "));
        Error::spec("kernel", reason)
    })
}

/// Fill a kernel of the form poly(a) exp(-a), a = sqrt(scale r^2): the Matern family's shape.
///
/// `finish(a, e)` gives rho and d rho / d(r^2) from a and e = exp(-a).
#[inline(always)]
fn fill_matern(
    scale: f64,
    r2: &mut [f64],
    derivative: Option<&mut [f64]>,
    finish: impl Fn(f64, f64) -> (f64, f64),
) {
    // Chunks keep a, e and the results in the first-level cache.
    const CHUNK: usize = 256;
    let mut a = [0.0; CHUNK];
    let mut none = [0.0; CHUNK];
    let mut derivative = derivative;
    for (k, r2) in r2.chunks_mut(CHUNK).enumerate() {
        let a = &mut a[..r2.len()];
        for (a, r2) in a.iter_mut().zip(r2.iter_mut()) {
            *a = (scale * *r2).sqrt();
            *r2 = -*a;
        }
        vmath::exp(r2);
        let derivative = match &mut derivative {
            Some(derivative) => &mut derivative[k * CHUNK..k * CHUNK + r2.len()],
            None => &mut none[..r2.len()],
        };
        for ((e, &a), d) in r2.iter_mut().zip(a.iter()).zip(derivative) {
            (*e, *d) = finish(a, *e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_keeps_the_contract() {
        for entry in REGISTRY {
            let kernel = (entry.build)();
            assert_eq!(kernel.name(), entry.name);
            assert_eq!(kernel.correlation(0.0), 1.0, "{}", entry.name);
            let mut last = 1.0;
            for i in 1..60 {
                let r2 = 0.02 * (i * i) as f64;
                let rho = kernel.correlation(r2);
                assert!(rho > 0.0 && rho < last, "{} falls with r", entry.name);
                last = rho;
                let h = 1e-5 * r2;
                let difference =
                    (kernel.correlation(r2 + h) - kernel.correlation(r2 - h)) / (2.0 * h);
                let exact = kernel.derivative(r2);
                let error = (difference - exact).abs() / exact.abs();
                assert!(error < 1e-6, "{} at r2 = {r2}: {error}", entry.name);
            }
            assert!(kernel.derivative(0.0).is_finite());
            assert_eq!(kernel.correlation(f64::INFINITY), 0.0, "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = by_name("matern99").unwrap_err().to_string();
        assert!(message.contains("matern99") && message.contains("matern32"));
    }
}

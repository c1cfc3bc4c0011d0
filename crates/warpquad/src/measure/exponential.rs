//! Let a positive parameter decay at a constant rate.

use super::{Coordinate, Entry, LnGamma, Univariate};
use crate::error::{Result, positive};
use crate::numeric::quantile::Tail;
use std::sync::Arc;

/// The exponential law.
///
/// # Definition
/// p(x) = rate e^(-rate x).
///
/// # Moments
/// Mean 1/rate, variance 1/rate^2.
///
/// # Range
/// Any positive finite rate.
///
/// # Numerics
/// Quantiles by ln(1 - p) and ln q, each accurate in its tail. The natural coordinate is ln x.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 19.
///
/// ```
/// use warpquad::measure::{Exponential, Univariate};
/// let x = Exponential::new(2.0)?;
/// // No memory: P(X > 3) = P(X > 1) P(X > 2).
/// assert!((x.sf(3.0) - x.sf(1.0) * x.sf(2.0)).abs() < 1e-16);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    rate: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "exponential",
    summary: "exponential with a rate",
    parameters: &["rate"],
    build: |v| Ok(Arc::new(Exponential::new(v[0])?)),
};

impl Exponential {
    /// Exponential with rate `rate`.
    pub fn new(rate: f64) -> Result<Exponential> {
        Ok(Exponential {
            rate: positive("rate", rate)?,
        })
    }
}

impl Univariate for Exponential {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let y = match tail {
            Tail::Lower(p) => -(-p).ln_1p(),
            Tail::Upper(q) => -q.ln(),
        };
        (y / self.rate).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    fn cdf(&self, x: f64) -> f64 {
        -(-self.rate * x.max(0.0)).exp_m1()
    }

    fn sf(&self, x: f64) -> f64 {
        (-self.rate * x.max(0.0)).exp()
    }

    fn ln_density(&self, x: f64) -> f64 {
        if x < 0.0 {
            f64::NEG_INFINITY
        } else {
            self.rate.ln() - self.rate * x
        }
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if x < 0.0 { 0.0 } else { -self.rate }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        Some(1.0 / self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(1.0 / self.rate / self.rate)
    }

    fn coordinate(&self) -> Coordinate {
        Coordinate::Log
    }

    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        Some(Arc::new(LnGamma::new(1.0, -self.rate.ln(), 1.0)))
    }
}

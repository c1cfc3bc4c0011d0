//! Give a positive parameter a power law at zero and an exponential tail.

use super::{Coordinate, Entry, Univariate};
use crate::error::{Result, positive, positive_up_to};
use crate::numeric::quantile::{
    Tail, digamma, gamma_ln_density, gamma_ln_weight, gamma_quantile_ln, gamma_tails, trigamma,
};
use std::sync::Arc;

/// The gamma law.
///
/// # Definition
/// p(x) = rate^shape x^(shape-1) e^(-rate x)/Gamma(shape).
///
/// # Moments
/// Mean shape/rate, variance shape/rate^2.
///
/// # Range
/// Positive finite rate, shape up to 1e8, where it is normal to four digits; checked for shapes
/// from 0.01 to 1e6.
///
/// # Numerics
/// All goes through z = ln x, the natural coordinate, whose law is [`LnGamma`]. A quantile that
/// underflows in x is still right in z.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 17.
///
/// ```
/// use warpquad::measure::{Exponential, Gamma, Univariate};
/// // Shape one is the exponential law.
/// let (a, b) = (Gamma::new(1.0, 3.0)?, Exponential::new(3.0)?);
/// assert!((a.quantile(0.9) / b.quantile(0.9) - 1.0).abs() < 1e-14);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    shape: f64,
    rate: f64,
    log: LnGamma,
}

pub(super) const ENTRY: Entry = Entry {
    name: "gamma",
    summary: "gamma with a shape and a rate",
    parameters: &["shape", "rate"],
    build: |v| Ok(Arc::new(Gamma::new(v[0], v[1])?)),
};

/// The largest shape that quantiles are computed for.
pub(super) const LARGEST_SHAPE: f64 = 1e8;

impl Gamma {
    /// Gamma with shape `shape` and rate `rate`.
    pub fn new(shape: f64, rate: f64) -> Result<Gamma> {
        // A quantile takes some multiple of sqrt(shape) terms: at 1e300 it would take for ever.
        let instead = "take normal = [shape/rate, sqrt(shape)/rate]";
        let shape = positive_up_to("shape", shape, LARGEST_SHAPE, instead)?;
        let rate = positive("rate", rate)?;
        let log = LnGamma {
            shape,
            offset: -rate.ln(),
            slope: 1.0,
        };
        Ok(Gamma { shape, rate, log })
    }
}

impl Univariate for Gamma {
    fn quantile_at(&self, tail: Tail) -> f64 {
        // Divided by the rate rather than shifted by its log, which saves a rounding of z.
        let y = gamma_quantile_ln(self.shape, tail).exp();
        (y / self.rate).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    fn cdf(&self, x: f64) -> f64 {
        self.log.tails((x.max(0.0) * self.rate).ln()).0
    }

    fn sf(&self, x: f64) -> f64 {
        self.log.tails((x.max(0.0) * self.rate).ln()).1
    }

    fn ln_density(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return f64::NEG_INFINITY;
        }
        gamma_ln_weight(self.shape, x * self.rate) - x.ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if x > 0.0 {
            (self.shape - 1.0) / x - self.rate
        } else {
            0.0
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.shape / self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.shape / self.rate / self.rate)
    }

    fn coordinate(&self) -> Coordinate {
        Coordinate::Log
    }

    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        Some(Arc::new(self.log))
    }
}

/// The law of z = offset + slope ln Y, Y gamma with rate one: the log of a gamma, exponential or
/// half-normal variable.
///
/// # Definition
/// With y = exp((z - offset)/slope): p(z) = y^shape e^-y/(slope Gamma(shape)), log-concave for
/// every shape.
///
/// # Moments
/// Mean offset + slope psi(shape), variance slope^2 psi'(shape).
///
/// # Range
/// That of its makers: positive shape and slope.
///
/// # Numerics
/// See [`gamma_quantile_ln`].
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2 (1995), chapter 22.
///
/// ```
/// use warpquad::measure::{Gamma, Measure, Product};
/// use std::sync::Arc;
/// // ln x of an exponential variable has variance pi^2/6.
/// let pi = Product::new(vec![Arc::new(Gamma::new(1.0, 5.0)?)])?;
/// let variance = pi.natural().measure().covariance().unwrap()[0];
/// assert!((variance - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-14);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LnGamma {
    shape: f64,
    offset: f64,
    slope: f64,
}

impl LnGamma {
    /// The law of offset + slope ln Y.
    pub(super) fn new(shape: f64, offset: f64, slope: f64) -> LnGamma {
        LnGamma {
            shape,
            offset,
            slope,
        }
    }

    /// The tails at z = ln y.
    fn tails(&self, ln_y: f64) -> (f64, f64) {
        gamma_tails(self.shape, ln_y)
    }

    fn ln_y(&self, z: f64) -> f64 {
        (z - self.offset) / self.slope
    }
}

impl Univariate for LnGamma {
    fn quantile_at(&self, tail: Tail) -> f64 {
        self.offset + self.slope * gamma_quantile_ln(self.shape, tail)
    }

    fn cdf(&self, z: f64) -> f64 {
        self.tails(self.ln_y(z)).0
    }

    fn sf(&self, z: f64) -> f64 {
        self.tails(self.ln_y(z)).1
    }

    fn ln_density(&self, z: f64) -> f64 {
        gamma_ln_density(self.shape, self.ln_y(z)) - self.slope.ln()
    }

    fn d_ln_density(&self, z: f64) -> f64 {
        (self.shape - self.ln_y(z).exp()) / self.slope
    }

    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.offset + self.slope * digamma(self.shape))
    }

    fn variance(&self) -> Option<f64> {
        Some(self.slope * self.slope * trigamma(self.shape))
    }
}

//! Fold a centred normal law onto the positive half-line.

use super::{Coordinate, Entry, LnGamma, Univariate};
use crate::error::{Result, positive};
use crate::numeric::quantile::{Tail, gamma_quantile_ln};
use crate::numeric::special::{erf, erfc, ln_normal_pdf, normal_quantile};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI, SQRT_2};
use std::sync::Arc;

/// The half-normal law, |N(0, sd^2)|.
///
/// # Definition
/// p(x) = 2 phi(x/sd)/sd for x > 0.
///
/// # Moments
/// Mean sd sqrt(2/pi), variance sd^2 (1 - 2/pi).
///
/// # Range
/// Any positive finite sd (of the normal law before folding).
///
/// # Numerics
/// x^2/(2 sd^2) is a gamma variable of shape 1/2, which gives the lower quantiles with relative
/// accuracy. The upper ones are normal quantiles of half the mass. The natural coordinate is ln x.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 13.10.
///
/// ```
/// use warpquad::measure::{HalfNormal, Normal, Univariate};
/// let (half, whole) = (HalfNormal::new(2.0)?, Normal::new(0.0, 2.0)?);
/// assert!((half.sf(3.0) - 2.0 * whole.sf(3.0)).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfNormal {
    sd: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "half-normal",
    summary: "the absolute value of a centred normal",
    parameters: &["sd"],
    build: |v| Ok(Arc::new(HalfNormal::new(v[0])?)),
};

impl HalfNormal {
    /// The law of |Y|, Y normal with mean zero and standard deviation `sd`.
    pub fn new(sd: f64) -> Result<HalfNormal> {
        Ok(HalfNormal {
            sd: positive("sd", sd)?,
        })
    }

    /// The argument of the error function.
    fn argument(&self, x: f64) -> f64 {
        x.max(0.0) / self.sd * FRAC_1_SQRT_2
    }
}

impl Univariate for HalfNormal {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let y = match tail {
            Tail::Lower(_) => SQRT_2 * (0.5 * gamma_quantile_ln(0.5, tail)).exp(),
            Tail::Upper(q) => -normal_quantile(0.5 * q),
        };
        (self.sd * y).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    fn cdf(&self, x: f64) -> f64 {
        erf(self.argument(x))
    }

    fn sf(&self, x: f64) -> f64 {
        erfc(self.argument(x))
    }

    fn ln_density(&self, x: f64) -> f64 {
        if x < 0.0 {
            return f64::NEG_INFINITY;
        }
        LN_2 + ln_normal_pdf(x / self.sd) - self.sd.ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if x < 0.0 { 0.0 } else { -x / self.sd / self.sd }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.sd * (2.0 / PI).sqrt())
    }

    fn variance(&self) -> Option<f64> {
        Some(self.sd * self.sd * (1.0 - 2.0 / PI))
    }

    fn coordinate(&self) -> Coordinate {
        Coordinate::Log
    }

    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        let offset = self.sd.ln() + 0.5 * LN_2;
        Some(Arc::new(LnGamma::new(0.5, offset, 0.5)))
    }
}

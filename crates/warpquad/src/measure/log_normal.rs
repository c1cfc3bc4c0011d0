//! Put the logarithm of a positive parameter on a normal law.

use super::{Coordinate, Entry, Normal, Univariate};
use crate::error::{Result, finite, positive};
use crate::numeric::quantile::Tail;
use std::sync::Arc;

/// The log-normal law.
///
/// # Definition
/// ln x is normal with mean `mean` and standard deviation `sd`.
///
/// # Moments
/// Mean exp(mean + sd^2/2), variance expm1(sd^2) exp(2 mean + sd^2).
///
/// # Range
/// Any finite mean of the log, any positive finite sd of the log; moments that overflow are `None`.
///
/// # Numerics
/// The natural coordinate is ln x, where the law is exactly normal.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 14.
///
/// ```
/// use warpquad::measure::{LogNormal, Univariate};
/// let x = LogNormal::new(2.0, 0.7)?;
/// assert_eq!(x.quantile(0.5), 2_f64.exp());
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    mean: f64,
    sd: f64,
    log: Normal,
}

pub(super) const ENTRY: Entry = Entry {
    name: "log-normal",
    summary: "normal in the logarithm, by the mean and sd of the log",
    parameters: &["mean", "sd"],
    build: |v| Ok(Arc::new(LogNormal::new(v[0], v[1])?)),
};

impl LogNormal {
    /// The law of e^Y, Y normal with mean `mean` and standard deviation `sd`.
    pub fn new(mean: f64, sd: f64) -> Result<LogNormal> {
        let (mean, sd) = (finite("mean", mean)?, positive("sd", sd)?);
        let log = Normal::new(mean, sd)?;
        Ok(LogNormal { mean, sd, log })
    }
}

impl Univariate for LogNormal {
    fn quantile_at(&self, tail: Tail) -> f64 {
        Coordinate::Log.from_natural(self.log.quantile_at(tail))
    }

    fn cdf(&self, x: f64) -> f64 {
        self.log.cdf(x.max(0.0).ln())
    }

    fn sf(&self, x: f64) -> f64 {
        self.log.sf(x.max(0.0).ln())
    }

    fn ln_density(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.log.ln_density(x.ln()) - x.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if x > 0.0 {
            (self.log.d_ln_density(x.ln()) - 1.0) / x
        } else {
            0.0
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        let ln_mean = self.mean + 0.5 * self.sd * self.sd;
        Some(ln_mean.exp()).filter(|m| m.is_finite())
    }

    fn variance(&self) -> Option<f64> {
        let s = self.sd * self.sd;
        Some(s.exp_m1() * (2.0 * self.mean + s).exp()).filter(|v| v.is_finite())
    }

    fn coordinate(&self) -> Coordinate {
        Coordinate::Log
    }

    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        Some(Arc::new(self.log))
    }
}

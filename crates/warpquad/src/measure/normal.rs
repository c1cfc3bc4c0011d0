//! Put the mass around a mean, with normal tails.

use super::{Entry, Form1, Univariate};
use crate::error::{Result, finite, positive};
use crate::numeric::quantile::Tail;
use crate::numeric::special::{ln_normal_pdf, normal_cdf, normal_quantile};
use std::sync::Arc;

/// The normal law.
///
/// # Definition
/// p(x) = exp(-(x - mean)^2/(2 sd^2))/(sd sqrt(2 pi)).
///
/// # Moments
/// Mean `mean`, variance `sd`^2.
///
/// # Range
/// Any finite mean, any positive finite sd.
///
/// # Numerics
/// Upper-tail quantiles are minus the lower-tail ones.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 13.
///
/// ```
/// use warpquad::measure::{Normal, Univariate};
/// let x = Normal::new(1.0, 2.0)?;
/// // Symmetry about the mean.
/// assert_eq!(x.quantile(0.01) - 1.0, 1.0 - x.quantile_sf(0.01));
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normal {
    mean: f64,
    sd: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "normal",
    summary: "normal with a mean and a standard deviation",
    parameters: &["mean", "sd"],
    build: |v| Ok(Arc::new(Normal::new(v[0], v[1])?)),
};

impl Normal {
    /// Normal with mean `mean` and standard deviation `sd`.
    pub fn new(mean: f64, sd: f64) -> Result<Normal> {
        let (mean, sd) = (finite("mean", mean)?, positive("sd", sd)?);
        Ok(Normal { mean, sd })
    }

    /// Mean zero, standard deviation one.
    pub fn standard() -> Normal {
        Normal { mean: 0.0, sd: 1.0 }
    }

    fn score(&self, x: f64) -> f64 {
        (x - self.mean) / self.sd
    }
}

impl Univariate for Normal {
    fn quantile_at(&self, tail: Tail) -> f64 {
        match tail {
            Tail::Lower(p) => self.mean + self.sd * normal_quantile(p),
            Tail::Upper(q) => self.mean - self.sd * normal_quantile(q),
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        normal_cdf(self.score(x))
    }

    fn sf(&self, x: f64) -> f64 {
        normal_cdf(-self.score(x))
    }

    fn ln_density(&self, x: f64) -> f64 {
        ln_normal_pdf(self.score(x)) - self.sd.ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        -self.score(x) / self.sd
    }

    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.mean)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.sd * self.sd)
    }

    fn form(&self) -> Form1 {
        Form1::Normal {
            mean: self.mean,
            sd: self.sd,
        }
    }
}

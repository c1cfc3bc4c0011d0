//! Fold a centred Cauchy law onto the positive half-line: the usual vague prior of a standard
//! deviation.

use super::cauchy::{d_ln_one_plus_square, ln_one_plus_square};
use super::{Coordinate, Entry, Univariate};
use crate::error::{Result, positive};
use crate::numeric::quantile::Tail;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};
use std::sync::Arc;

/// The half-Cauchy law, the absolute value of a centred Cauchy.
///
/// # Definition
/// p(x) = 2/(pi scale (1 + (x/scale)^2)) for x > 0.
///
/// # Moments
/// None.
///
/// # Range
/// Any positive finite scale, which is the median.
///
/// # Numerics
/// Lower quantiles are tangents, upper ones cotangents. The natural coordinate is ln x.
///
/// # Reference
/// Gelman, *Bayesian Analysis* 1 (2006) 515.
///
/// ```
/// use warpquad::measure::{HalfCauchy, Univariate};
/// let sd = HalfCauchy::new(5.0)?;
/// assert!((sd.quantile(0.5) - 5.0).abs() < 1e-14);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfCauchy {
    scale: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "half-cauchy",
    summary: "the absolute value of a centred Cauchy",
    parameters: &["scale"],
    build: |v| Ok(Arc::new(HalfCauchy::new(v[0])?)),
};

impl HalfCauchy {
    /// The law of |Y|, Y Cauchy about zero with this `scale`.
    pub fn new(scale: f64) -> Result<HalfCauchy> {
        Ok(HalfCauchy {
            scale: positive("scale", scale)?,
        })
    }

    fn score(&self, x: f64) -> f64 {
        x.max(0.0) / self.scale
    }
}

impl Univariate for HalfCauchy {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let t = match tail {
            Tail::Lower(p) => (FRAC_PI_2 * p).tan(),
            Tail::Upper(q) => 1.0 / (FRAC_PI_2 * q).tan(),
        };
        (self.scale * t).clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    fn cdf(&self, x: f64) -> f64 {
        FRAC_2_PI * self.score(x).atan()
    }

    fn sf(&self, x: f64) -> f64 {
        FRAC_2_PI * (1.0 / self.score(x)).atan()
    }

    fn ln_density(&self, x: f64) -> f64 {
        if x < 0.0 {
            return f64::NEG_INFINITY;
        }
        FRAC_2_PI.ln() - self.scale.ln() - ln_one_plus_square(self.score(x))
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if x < 0.0 {
            return 0.0;
        }
        -d_ln_one_plus_square(self.score(x)) / self.scale
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        None
    }

    fn variance(&self) -> Option<f64> {
        None
    }

    fn coordinate(&self) -> Coordinate {
        Coordinate::Log
    }
}

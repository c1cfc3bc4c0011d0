//! Give a location parameter tails so heavy that it has no mean.

use super::{Entry, Univariate};
use crate::error::{Result, finite, positive};
use crate::numeric::quantile::Tail;
use std::f64::consts::{FRAC_1_PI, PI};
use std::sync::Arc;

/// The Cauchy law.
///
/// # Definition
/// With t = (x - location)/scale: p(x) = 1/(pi scale (1 + t^2)).
///
/// # Moments
/// None.
///
/// # Range
/// Any finite location, any positive finite scale (half of the interquartile range).
///
/// # Numerics
/// Quantiles are tangents, each tail from its own side. The square of t never overflows.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 16.
///
/// ```
/// use warpquad::measure::{Cauchy, StudentT, Univariate};
/// // Student's t with one degree of freedom.
/// let (x, t) = (Cauchy::new(1.0, 2.5)?, StudentT::new(1.0, 1.0, 2.5)?);
/// assert!((x.quantile(0.9) - t.quantile(0.9)).abs() < 1e-13);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cauchy {
    location: f64,
    scale: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "cauchy",
    summary: "Cauchy with location and scale",
    parameters: &["location", "scale"],
    build: |v| Ok(Arc::new(Cauchy::new(v[0], v[1])?)),
};

impl Cauchy {
    /// The law with this median and half this interquartile range.
    pub fn new(location: f64, scale: f64) -> Result<Cauchy> {
        let (location, scale) = (finite("location", location)?, positive("scale", scale)?);
        Ok(Cauchy { location, scale })
    }

    fn score(&self, x: f64) -> f64 {
        (x - self.location) / self.scale
    }
}

/// ln(1 + t^2), also where the square overflows.
pub(super) fn ln_one_plus_square(t: f64) -> f64 {
    if t.abs() < 1.0 {
        (t * t).ln_1p()
    } else {
        2.0 * t.hypot(1.0).ln()
    }
}

/// Its derivative, 2 t/(1 + t^2).
pub(super) fn d_ln_one_plus_square(t: f64) -> f64 {
    if t.abs() < 1.0 {
        2.0 * t / (1.0 + t * t)
    } else {
        2.0 / (1.0 / t + t)
    }
}

/// The mass beyond `t`: small differences from one half where t is small, relative accuracy where
/// it is large.
fn beyond(t: f64) -> f64 {
    if t > 1.0 {
        (1.0 / t).atan() * FRAC_1_PI
    } else {
        0.5 - t.atan() * FRAC_1_PI
    }
}

/// The t that leaves the mass `q`, at most one half, to its right.
fn leaves(q: f64) -> f64 {
    if q < 0.25 {
        1.0 / (PI * q).tan()
    } else {
        (PI * (0.5 - q)).tan()
    }
}

impl Univariate for Cauchy {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let t = match tail {
            Tail::Lower(p) => -leaves(p),
            Tail::Upper(q) => leaves(q),
        };
        (self.location + self.scale * t).clamp(f64::MIN, f64::MAX)
    }

    fn cdf(&self, x: f64) -> f64 {
        beyond(-self.score(x))
    }

    fn sf(&self, x: f64) -> f64 {
        beyond(self.score(x))
    }

    fn ln_density(&self, x: f64) -> f64 {
        -ln_one_plus_square(self.score(x)) - PI.ln() - self.scale.ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        -d_ln_one_plus_square(self.score(x)) / self.scale
    }

    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        None
    }

    fn variance(&self) -> Option<f64> {
        None
    }
}

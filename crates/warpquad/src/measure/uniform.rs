//! Spread the mass evenly between two ends.

use super::{Circle, Entry, Form1, Univariate, inside, ordered};
use crate::error::{Result, finite};
use crate::numeric::quantile::Tail;
use std::sync::Arc;

/// The uniform law on [lo, hi].
///
/// # Definition
/// p(x) = 1/(hi - lo).
///
/// # Moments
/// Mean (lo + hi)/2, variance (hi - lo)^2/12.
///
/// # Range
/// lo < hi, both finite, as is their difference. On a circle the two ends are one point.
///
/// # Numerics
/// Quantiles are measured from the nearer end and never round onto it.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2 (1995), chapter 26.
///
/// ```
/// use warpquad::measure::{Uniform, Univariate};
/// let x = Uniform::new(-1.0, 3.0)?;
/// assert_eq!(x.quantile(x.cdf(0.5)), 0.5);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniform {
    lo: f64,
    hi: f64,
    is_periodic: bool,
}

pub(super) const ENTRY: Entry = Entry {
    name: "uniform",
    summary: "flat between two ends",
    parameters: &["lo", "hi"],
    build: |v| Ok(Arc::new(Uniform::new(v[0], v[1])?)),
};

impl Uniform {
    /// Uniform between `lo` and `hi`.
    pub fn new(lo: f64, hi: f64) -> Result<Uniform> {
        finite("lo", lo)?;
        finite("hi", hi)?;
        ordered(lo, hi)?;
        finite("hi - lo", hi - lo)?;
        Ok(Uniform {
            lo,
            hi,
            is_periodic: false,
        })
    }

    /// Uniform on the circle that closes at `hi`, where it begins again at `lo`.
    ///
    /// ```
    /// use warpquad::measure::{Uniform, Univariate};
    /// let day = Uniform::periodic(0.0, 24.0)?;
    /// assert_eq!(day.circle().unwrap().difference(23.0, 1.0), -2.0);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn periodic(lo: f64, hi: f64) -> Result<Uniform> {
        Ok(Uniform {
            is_periodic: true,
            ..Uniform::new(lo, hi)?
        })
    }

    /// Uniform on the unit interval.
    pub fn unit() -> Uniform {
        Uniform {
            lo: 0.0,
            hi: 1.0,
            is_periodic: false,
        }
    }

    /// Uniform on the circle of circumference 1.
    pub(super) fn unit_circle() -> Uniform {
        Uniform {
            is_periodic: true,
            ..Uniform::unit()
        }
    }

    fn width(&self) -> f64 {
        self.hi - self.lo
    }
}

impl Univariate for Uniform {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let x = match tail {
            Tail::Lower(p) => self.lo + p * self.width(),
            Tail::Upper(q) => self.hi - q * self.width(),
        };
        inside(x, self.lo, self.hi)
    }

    fn cdf(&self, x: f64) -> f64 {
        ((x - self.lo) / self.width()).clamp(0.0, 1.0)
    }

    fn sf(&self, x: f64) -> f64 {
        ((self.hi - x) / self.width()).clamp(0.0, 1.0)
    }

    fn ln_density(&self, x: f64) -> f64 {
        if (self.lo..=self.hi).contains(&x) {
            -self.width().ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn d_ln_density(&self, _x: f64) -> f64 {
        0.0
    }

    fn support(&self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.lo + 0.5 * self.width())
    }

    fn variance(&self) -> Option<f64> {
        Some(self.width() * self.width() / 12.0)
    }

    fn circle(&self) -> Option<Circle> {
        self.is_periodic.then(|| Circle {
            start: self.lo,
            period: self.width(),
        })
    }

    fn form(&self) -> Form1 {
        Form1::Uniform {
            lo: self.lo,
            hi: self.hi,
        }
    }
}

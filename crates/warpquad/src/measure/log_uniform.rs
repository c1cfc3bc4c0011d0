//! Spread the mass evenly over the orders of magnitude between two positive ends.

use super::{Coordinate, Entry, Uniform, Univariate, inside, ordered};
use crate::error::{Result, positive};
use crate::numeric::quantile::Tail;
use std::sync::Arc;

/// The log-uniform (reciprocal) law on [lo, hi].
///
/// # Definition
/// p(x) = 1/(x L), L = ln(hi/lo): ln x is uniform.
///
/// # Moments
/// With g = sqrt(lo hi) and l = L/2: mean g sinh(l)/l, variance g^2 (sinh(l)/l) (cosh(l) -
/// sinh(l)/l).
///
/// # Range
/// 0 < lo < hi, both finite.
///
/// # Numerics
/// The difference in the variance is summed as a series for narrow intervals. The natural
/// coordinate is ln x.
///
/// # Reference
/// Hamming, "On the distribution of numbers" (1970).
///
/// ```
/// use warpquad::measure::{LogUniform, Univariate};
/// let x = LogUniform::new(0.01, 100.0)?;
/// assert!((x.quantile(0.5) - 1.0).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogUniform {
    lo: f64,
    hi: f64,
    /// ln(hi/lo).
    length: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "log-uniform",
    summary: "flat in the logarithm between two positive ends",
    parameters: &["lo", "hi"],
    build: |v| Ok(Arc::new(LogUniform::new(v[0], v[1])?)),
};

impl LogUniform {
    /// Log-uniform between `lo` and `hi`.
    pub fn new(lo: f64, hi: f64) -> Result<LogUniform> {
        positive("lo", lo)?;
        positive("hi", hi)?;
        ordered(lo, hi)?;
        let length = ln_ratio(hi, lo);
        Ok(LogUniform { lo, hi, length })
    }
}

/// ln(a/b), accurate for neighbours and safe from overflow of the quotient.
fn ln_ratio(a: f64, b: f64) -> f64 {
    if (0.5..2.0).contains(&(a / b)) {
        ((a - b) / b).ln_1p()
    } else {
        a.ln() - b.ln()
    }
}

/// cosh(l) - sinh(l)/l = sum over k >= 1 of 2k l^2k/(2k+1)!.
fn excess(l: f64) -> f64 {
    if l > 1.0 {
        return l.cosh() - l.sinh() / l;
    }
    let l2 = l * l;
    let (mut power, mut sum) = (1.0, 0.0);
    // 1/19! is below rounding.
    for k in 1..10 {
        let n = f64::from(2 * k);
        power *= l2 / (n * (n + 1.0));
        sum += n * power;
    }
    sum
}

impl Univariate for LogUniform {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let x = match tail {
            Tail::Lower(p) => self.lo * (p * self.length).exp(),
            Tail::Upper(q) => self.hi * (-q * self.length).exp(),
        };
        inside(x, self.lo, self.hi)
    }

    fn cdf(&self, x: f64) -> f64 {
        (ln_ratio(x.max(self.lo), self.lo) / self.length).clamp(0.0, 1.0)
    }

    fn sf(&self, x: f64) -> f64 {
        (ln_ratio(self.hi, x.max(self.lo)) / self.length).clamp(0.0, 1.0)
    }

    fn ln_density(&self, x: f64) -> f64 {
        if (self.lo..=self.hi).contains(&x) {
            -x.ln() - self.length.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if (self.lo..=self.hi).contains(&x) {
            -1.0 / x
        } else {
            0.0
        }
    }

    fn support(&self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    fn mean(&self) -> Option<f64> {
        // (hi - lo)/L, whose numerator is exact for neighbours.
        Some((self.hi - self.lo) / self.length)
    }

    fn variance(&self) -> Option<f64> {
        let l = 0.5 * self.length;
        let middle = self.lo.sqrt() * self.hi.sqrt();
        Some(middle * (self.hi - self.lo) / self.length * excess(l)).filter(|v| v.is_finite())
    }

    fn coordinate(&self) -> Coordinate {
        Coordinate::Log
    }

    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        let law = Uniform::new(self.lo.ln(), self.hi.ln()).ok()?;
        Some(Arc::new(law))
    }
}

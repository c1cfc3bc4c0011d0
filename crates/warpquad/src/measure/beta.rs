//! Weigh a fraction between zero and one.

use super::gamma::LARGEST_SHAPE;
use super::{Coordinate, Entry, Univariate};
use crate::error::{Result, positive_up_to};
use crate::numeric::quantile::{
    Tail, beta_ln_density, beta_quantile_logit, beta_tails, digamma, ln_beta, trigamma,
};
use std::sync::Arc;

/// The beta law on (0, 1).
///
/// # Definition
/// p(x) = x^(a-1) (1-x)^(b-1)/B(a, b).
///
/// # Moments
/// Mean a/(a+b), variance a b/((a+b)^2 (a+b+1)).
///
/// # Range
/// Positive a and b up to 1e8; checked for shapes from 0.01 to 2e4.
///
/// # Numerics
/// All goes through the logit, the natural coordinate, whose law is [`LogitBeta`]. A quantile
/// within 1e-16 of one is the largest number below one in x, and right in the logit.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2 (1995), chapter 25.
///
/// ```
/// use warpquad::measure::{Beta, Univariate};
/// // The arcsine law: F(x) = 2 asin(sqrt(x))/pi.
/// let x = Beta::new(0.5, 0.5)?;
/// assert!((x.cdf(0.25) - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "beta",
    summary: "beta on (0, 1) with two shapes",
    parameters: &["a", "b"],
    build: |v| Ok(Arc::new(Beta::new(v[0], v[1])?)),
};

/// The logit on (0, 1).
const LOGIT: Coordinate = Coordinate::Logit { lo: 0.0, hi: 1.0 };

/// What to do where a shape is too large.
const INSTEAD: &str = "take truncated-normal, with the same mean and sd, between 0 and 1";

impl Beta {
    /// Beta with shapes `a` at zero and `b` at one.
    pub fn new(a: f64, b: f64) -> Result<Beta> {
        Ok(Beta {
            a: positive_up_to("a", a, LARGEST_SHAPE, INSTEAD)?,
            b: positive_up_to("b", b, LARGEST_SHAPE, INSTEAD)?,
        })
    }

    /// The log of x^a (1-x)^b/B(a, b).
    fn ln_weight(&self, x: f64) -> f64 {
        // Exact in x, where the logit, a difference of logs, would round. Large shapes need it the
        // other way round.
        if self.a.min(self.b) < 10.0 {
            return self.a * x.ln() + self.b * (-x).ln_1p() - ln_beta(self.a, self.b);
        }
        beta_ln_density(self.a, self.b, LOGIT.to_natural(x))
    }
}

impl Univariate for Beta {
    fn quantile_at(&self, tail: Tail) -> f64 {
        LOGIT.from_natural(beta_quantile_logit(self.a, self.b, tail))
    }

    fn cdf(&self, x: f64) -> f64 {
        beta_tails(self.a, self.b, LOGIT.to_natural(x.clamp(0.0, 1.0))).0
    }

    fn sf(&self, x: f64) -> f64 {
        beta_tails(self.a, self.b, LOGIT.to_natural(x.clamp(0.0, 1.0))).1
    }

    fn ln_density(&self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return f64::NEG_INFINITY;
        }
        self.ln_weight(x) - x.ln() - (-x).ln_1p()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return 0.0;
        }
        (self.a - 1.0) / x - (self.b - 1.0) / (1.0 - x)
    }

    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.a / (self.a + self.b))
    }

    fn variance(&self) -> Option<f64> {
        let n = self.a + self.b;
        Some(self.a / n * (self.b / n) / (n + 1.0))
    }

    fn coordinate(&self) -> Coordinate {
        LOGIT
    }

    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        Some(Arc::new(LogitBeta {
            a: self.a,
            b: self.b,
        }))
    }
}

/// The law of the logit z of a [`Beta`] variable.
///
/// # Definition
/// With x = 1/(1 + e^-z): p(z) = x^a (1-x)^b/B(a, b), log-concave for all shapes.
///
/// # Moments
/// Mean psi(a) - psi(b), variance psi'(a) + psi'(b).
///
/// # Range
/// Positive shapes.
///
/// # Numerics
/// See [`beta_quantile_logit`].
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2 (1995), chapter 23
/// (generalised logistic, type IV).
///
/// ```
/// use warpquad::measure::{Beta, Measure, Product};
/// use std::sync::Arc;
/// // Beta(1, 1) is uniform; its logit is logistic, with variance pi^2/3.
/// let pi = Product::new(vec![Arc::new(Beta::new(1.0, 1.0)?)])?;
/// let variance = pi.natural().measure().covariance().unwrap()[0];
/// assert!((variance - std::f64::consts::PI.powi(2) / 3.0).abs() < 1e-14);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogitBeta {
    a: f64,
    b: f64,
}

impl Univariate for LogitBeta {
    fn quantile_at(&self, tail: Tail) -> f64 {
        beta_quantile_logit(self.a, self.b, tail)
    }

    fn cdf(&self, z: f64) -> f64 {
        beta_tails(self.a, self.b, z).0
    }

    fn sf(&self, z: f64) -> f64 {
        beta_tails(self.a, self.b, z).1
    }

    fn ln_density(&self, z: f64) -> f64 {
        beta_ln_density(self.a, self.b, z)
    }

    fn d_ln_density(&self, z: f64) -> f64 {
        // a (1-x) - b x, each fraction from its own exponential.
        self.a / (1.0 + z.exp()) - self.b / (1.0 + (-z).exp())
    }

    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        Some(digamma(self.a) - digamma(self.b))
    }

    fn variance(&self) -> Option<f64> {
        Some(trigamma(self.a) + trigamma(self.b))
    }
}

//! Give a location parameter heavy tails.

use super::gamma::LARGEST_SHAPE;
use super::{Entry, Univariate};
use crate::error::{Result, finite, positive, positive_up_to};
use crate::numeric::quantile::{Tail, student_t_ln_density, student_t_quantile, student_t_tails};
use std::sync::Arc;

/// Student's t, shifted and scaled.
///
/// # Definition
/// With t = (x - location)/scale: p(x) = (1 + t^2/df)^(-(df+1)/2)/(scale sqrt(df) B(df/2, 1/2)).
///
/// # Moments
/// Mean `location` for df > 1, variance scale^2 df/(df - 2) for df > 2, otherwise `None`.
///
/// # Range
/// Positive df up to 1e8, positive finite scale; checked for df from 0.5 to 1e6.
///
/// # Numerics
/// df/(df + t^2) is Beta(df/2, 1/2), inverted on its logit. A quantile that overflows is the
/// largest finite number.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2 (1995), chapter 28.
///
/// ```
/// use warpquad::measure::{StudentT, Univariate};
/// // One degree of freedom is the Cauchy law.
/// let x = StudentT::new(1.0, 0.0, 1.0)?;
/// assert!((x.quantile(0.75) - 1.0).abs() < 1e-15);
/// assert_eq!(x.mean(), None);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    df: f64,
    location: f64,
    scale: f64,
}

pub(super) const ENTRY: Entry = Entry {
    name: "student-t",
    summary: "Student's t with degrees of freedom, location and scale",
    parameters: &["df", "location", "scale"],
    build: |v| Ok(Arc::new(StudentT::new(v[0], v[1], v[2])?)),
};

impl StudentT {
    /// The law of location + scale T, T Student's t with `df` degrees of freedom.
    pub fn new(df: f64, location: f64, scale: f64) -> Result<StudentT> {
        let df = positive_up_to("df", df, LARGEST_SHAPE, "take normal = [location, scale]")?;
        let scale = positive("scale", scale)?;
        let location = finite("location", location)?;
        Ok(StudentT {
            df,
            location,
            scale,
        })
    }

    fn score(&self, x: f64) -> f64 {
        (x - self.location) / self.scale
    }
}

impl Univariate for StudentT {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let x = self.location + self.scale * student_t_quantile(self.df, tail);
        x.clamp(f64::MIN, f64::MAX)
    }

    fn cdf(&self, x: f64) -> f64 {
        student_t_tails(self.df, self.score(x)).0
    }

    fn sf(&self, x: f64) -> f64 {
        student_t_tails(self.df, self.score(x)).1
    }

    fn ln_density(&self, x: f64) -> f64 {
        student_t_ln_density(self.df, self.score(x)) - self.scale.ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        // -(df+1) t/(df + t^2), divided through by t where its square would overflow.
        let t = self.score(x);
        let over = if t.abs() > 1.0 {
            1.0 / (self.df / t + t)
        } else {
            t / (self.df + t * t)
        };
        -(self.df + 1.0) * over / self.scale
    }

    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn mean(&self) -> Option<f64> {
        (self.df > 1.0).then_some(self.location)
    }

    fn variance(&self) -> Option<f64> {
        let factor = self.df / (self.df - 2.0);
        (self.df > 2.0).then_some(self.scale * self.scale * factor)
    }
}

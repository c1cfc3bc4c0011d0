//! Say what to integrate against: probability measures, their charts, and the registry of priors.
//!
//! A prior of several parameters is a [`Product`] of [`Univariate`]s, a [`Gaussian`], a sample
//! ([`Empirical`]) or a user's own map of the unit cube ([`Transform`]). All are a [`Measure`].
//! Each measure offers charts ([`Chart`]): a chart is a change of variables z <-> x together with
//! the law of z. That law is a [`Measure`] again, so a Gaussian process, its acquisition and its
//! nodes run in z, and only the user sees x.
//!
//! ```
//! use warpquad::measure::{Measure, Product, univariate};
//!
//! let rate = univariate("log-uniform", &[0.01, 100.0])?;
//! let pi = Product::new(vec![univariate("uniform", &[0.0, 2.0])?, rate])?;
//! let mut x = [0.0; 2];
//! pi.quantile(&[0.25, 0.5], &mut x);
//! assert!((x[0] - 0.5).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-14);
//!
//! // In its natural coordinates the log-uniform is uniform: the density is constant.
//! let natural = pi.natural();
//! let flat = natural.measure().ln_density(&[0.3, -4.0]);
//! assert!((flat + (2.0 * 10_000_f64.ln()).ln()).abs() < 1e-14);
//! # Ok::<(), warpquad::Error>(())
//! ```

mod beta;
mod cauchy;
mod circles;
mod coordinates;
mod empirical;
mod exponential;
mod gamma;
mod gaussian;
mod half_cauchy;
mod half_normal;
mod log_normal;
mod log_uniform;
mod mass;
mod normal;
mod product;
mod region;
mod restricted;
mod student_t;
mod transform;
mod truncated_normal;
mod uniform;

pub use crate::numeric::quantile::Tail;
pub use beta::{Beta, LogitBeta};
pub use cauchy::Cauchy;
pub(crate) use circles::Turned;
pub use circles::{Circle, Circles};
pub use coordinates::{Chart, Coordinate, Coordinates, Identity, Pushed, Separable};
pub use empirical::Empirical;
pub use exponential::Exponential;
pub use gamma::{Gamma, LnGamma};
pub use gaussian::{Gaussian, Whitened};
pub use half_cauchy::HalfCauchy;
pub use half_normal::HalfNormal;
pub use log_normal::LogNormal;
pub use log_uniform::LogUniform;
pub use normal::Normal;
pub use product::Product;
pub use region::Region;
pub use restricted::Restricted;
pub use student_t::StudentT;
pub use transform::{LnDensity, Map, Transform};
pub use truncated_normal::TruncatedNormal;
pub use uniform::Uniform;

use crate::error::{Error, Result};
use crate::points::Points;
use std::fmt::Debug;
use std::sync::Arc;

/// A probability law on the line: the prior of one parameter.
///
/// Quantiles are asked for by tail, so that the upper tail is as sharp as the lower one.
pub trait Univariate: Debug + Send + Sync {
    /// The point that leaves the given mass in the given tail. It is strictly inside a finite end
    /// of the support.
    fn quantile_at(&self, tail: Tail) -> f64;

    /// The distribution function P(X <= x).
    fn cdf(&self, x: f64) -> f64;

    /// The survival function P(X > x), accurate where [`cdf`](Self::cdf) rounds to one.
    fn sf(&self, x: f64) -> f64;

    /// The log of the density; negative infinity outside the support.
    fn ln_density(&self, x: f64) -> f64;

    /// The derivative of [`ln_density`](Self::ln_density); zero outside the support.
    fn d_ln_density(&self, x: f64) -> f64;

    /// The smallest interval that carries the mass; its ends may be infinite.
    fn support(&self) -> (f64, f64);

    /// The mean; `None` where it does not exist, overflows, or has no closed form.
    fn mean(&self) -> Option<f64>;

    /// The variance; `None` where it does not exist, overflows, or has no closed form.
    fn variance(&self) -> Option<f64>;

    /// The coordinate in which this law is closest to uniform or normal.
    fn coordinate(&self) -> Coordinate {
        Coordinate::Linear
    }

    /// The law of z in the natural coordinate, where it has a name of its own; [`Pushed`] stands in
    /// otherwise.
    fn natural_law(&self) -> Option<Arc<dyn Univariate>> {
        None
    }

    /// What closed forms may recognise.
    fn form(&self) -> Form1 {
        Form1::Other
    }

    /// The circle, if the two ends of the support are one point.
    fn circle(&self) -> Option<Circle> {
        None
    }

    /// The quantile at `p` in the open interval (0, 1).
    fn quantile(&self, p: f64) -> f64 {
        self.quantile_at(Tail::lower(p))
    }

    /// The point whose survival function is `q`.
    fn quantile_sf(&self, q: f64) -> f64 {
        self.quantile_at(Tail::upper(q))
    }
}

/// A probability measure pi on R^d.
pub trait Measure: Debug + Send + Sync {
    /// The dimension d.
    fn dim(&self) -> usize;

    /// Map a point of the open unit cube to R^d, so that uniform points become draws from pi.
    fn quantile(&self, u: &[f64], x: &mut [f64]);

    /// The log density at `x`; negative infinity outside the support.
    fn ln_density(&self, x: &[f64]) -> f64;

    /// The gradient of [`ln_density`](Self::ln_density).
    fn ln_density_gradient(&self, x: &[f64], out: &mut [f64]);

    /// Whether [`ln_density`](Self::ln_density) is known. Only a [`Transform`] without a density or
    /// an inverse says no.
    fn has_density(&self) -> bool {
        true
    }

    /// The smallest box that carries the mass, possibly infinite.
    fn support(&self) -> Vec<(f64, f64)>;

    /// A typical length of each coordinate, positive and finite: twice the interquartile range, and
    /// at most the width of the support. For a uniform this is the width of the box.
    fn scale(&self) -> Vec<f64>;

    /// The mean, if known.
    fn mean(&self) -> Option<Vec<f64>>;

    /// The covariance, d x d row after row, if known.
    fn covariance(&self) -> Option<Vec<f64>>;

    /// What closed forms may recognise.
    fn form(&self) -> Form<'_> {
        Form::Other
    }

    /// Which coordinates are angles; `None` where none is.
    fn circles(&self) -> Option<Circles> {
        None
    }

    /// The measure itself, if it is restricted to a region: then the quantile map sends some points
    /// of the cube outside.
    fn restricted(&self) -> Option<&Restricted> {
        None
    }

    /// The change of variables `chart`, or why this measure has none of that name.
    fn coordinates(&self, chart: Chart) -> Result<Box<dyn Coordinates>>;

    /// The chart a Gaussian process should live in; every measure has one.
    fn natural(&self) -> Box<dyn Coordinates>;
}

/// A univariate law that closed forms know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form1 {
    /// Uniform between two ends.
    Uniform {
        /// The lower end.
        lo: f64,
        /// The upper end.
        hi: f64,
    },
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        sd: f64,
    },
    /// Any other.
    Other,
}

/// A measure that closed forms know.
#[derive(Debug, Clone, PartialEq)]
pub enum Form<'a> {
    /// Independent coordinates.
    Product(Vec<Form1>),
    /// A normal law with full covariance.
    Gaussian {
        /// The mean.
        mean: &'a [f64],
        /// The covariance, row after row.
        cov: &'a [f64],
    },
    /// Points of equal weight.
    Sample(&'a Points),
    /// Any other.
    Other,
}

/// One line of the registry of priors.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in problem files, on the command line and in Python.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The names of its numbers, in order.
    pub parameters: &'static [&'static str],
    /// Build it from exactly those numbers.
    pub build: fn(&[f64]) -> Result<Arc<dyn Univariate>>,
}

/// Every univariate prior that has a name.
pub static REGISTRY: &[Entry] = &[
    uniform::ENTRY,
    log_uniform::ENTRY,
    normal::ENTRY,
    truncated_normal::ENTRY,
    half_normal::ENTRY,
    half_cauchy::ENTRY,
    log_normal::ENTRY,
    exponential::ENTRY,
    gamma::ENTRY,
    beta::ENTRY,
    student_t::ENTRY,
    cauchy::ENTRY,
];

/// The prior with a name from the [`REGISTRY`] and its numbers.
///
/// ```
/// use warpquad::measure::univariate;
/// let prior = univariate("normal", &[1.0, 2.0])?;
/// assert_eq!(prior.quantile(0.5), 1.0);
/// assert_eq!(
///     univariate("normal", &[1.0, -1.0]).unwrap_err().to_string(),
///     "sd: must be positive and finite, got -1"
/// );
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn univariate(name: &str, numbers: &[f64]) -> Result<Arc<dyn Univariate>> {
    let Some(entry) = REGISTRY.iter().find(|entry| entry.name == name) else {
        let names: Vec<_> = REGISTRY.iter().map(|entry| entry.name).collect();
        let reason = format!(
            "there is no prior \"{name}\"; choose one of {}",
            names.join(", ")
        );
        return Err(Error::spec("prior", reason));
    };
    if numbers.len() != entry.parameters.len() {
        let (expected, names) = (entry.parameters.len(), entry.parameters.join(", "));
        let got = numbers.len();
        let reason = format!("takes {expected} numbers [{names}], got {got}");
        return Err(Error::spec(name, reason));
    }
    (entry.build)(numbers)
}

/// Refuse an interval whose ends are not in order.
fn ordered(lo: f64, hi: f64) -> Result<()> {
    if lo < hi {
        return Ok(());
    }
    let reason = format!("must be below hi, got lo = {lo} and hi = {hi}");
    Err(Error::spec("lo", reason))
}

/// The nearest number strictly between `lo` and `hi`; a NaN stays one. So rounding never lands on
/// an end, where a density may be infinite.
fn inside(x: f64, lo: f64, hi: f64) -> f64 {
    if x <= lo {
        lo.next_up()
    } else if x >= hi {
        hi.next_down()
    } else {
        x
    }
}

#[cfg(test)]
mod tests;

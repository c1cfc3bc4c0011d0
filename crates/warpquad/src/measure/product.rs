//! Make a measure from independent coordinates.

use super::coordinates::{forms, open};
use super::{Chart, Circles, Coordinates, Form, Measure, Separable, Uniform, Univariate};
use crate::error::{Error, Result};
use std::sync::Arc;

/// The law of independent coordinates, each with its own prior.
///
/// # Definition
/// ln p(x) = sum_d ln p_d(x_d).
///
/// # Moments
/// Those of the coordinates; the covariance is diagonal.
///
/// # Range
/// At least one coordinate.
///
/// # Numerics
/// A point of the closed cube is moved into the open one before it is mapped.
///
/// ```
/// use warpquad::measure::{Measure, Product};
/// let pi = Product::uniform(&[(0.0, 2.0), (-1.0, 1.0)])?;
/// assert!((pi.ln_density(&[1.0, 0.0]) + 4_f64.ln()).abs() < 1e-15);
/// assert_eq!(pi.scale(), vec![2.0, 2.0]);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Product {
    laws: Vec<Arc<dyn Univariate>>,
}

impl Product {
    /// The product of `laws`.
    pub fn new(laws: Vec<Arc<dyn Univariate>>) -> Result<Product> {
        if laws.is_empty() {
            return Err(Error::spec("measure", "needs at least one parameter"));
        }
        Ok(Product { laws })
    }

    /// The uniform measure on a box.
    pub fn uniform(sides: &[(f64, f64)]) -> Result<Product> {
        let law = |&(lo, hi): &(f64, f64)| Ok(Arc::new(Uniform::new(lo, hi)?) as Arc<_>);
        Product::new(sides.iter().map(law).collect::<Result<_>>()?)
    }

    /// The laws of the coordinates.
    pub fn laws(&self) -> &[Arc<dyn Univariate>] {
        &self.laws
    }

    /// A product of laws known to be at least one.
    pub(super) fn of_laws(laws: Vec<Arc<dyn Univariate>>) -> Product {
        Product { laws }
    }

    fn collect(&self, of: impl Fn(&dyn Univariate) -> Option<f64>) -> Option<Vec<f64>> {
        self.laws.iter().map(|law| of(law.as_ref())).collect()
    }
}

impl Measure for Product {
    fn dim(&self) -> usize {
        self.laws.len()
    }

    fn quantile(&self, u: &[f64], x: &mut [f64]) {
        for ((law, &u), x) in self.laws.iter().zip(u).zip(x) {
            *x = law.quantile(open(u));
        }
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (law, &x) in self.laws.iter().zip(x) {
            let term = law.ln_density(x);
            // Outside in one coordinate is outside, whatever the others say: no infinity minus
            // infinity.
            if term == f64::NEG_INFINITY {
                return term;
            }
            sum += term;
        }
        sum
    }

    fn ln_density_gradient(&self, x: &[f64], out: &mut [f64]) {
        for ((law, &x), out) in self.laws.iter().zip(x).zip(out) {
            *out = law.d_ln_density(x);
        }
    }

    fn support(&self) -> Vec<(f64, f64)> {
        self.laws.iter().map(|law| law.support()).collect()
    }

    fn scale(&self) -> Vec<f64> {
        self.laws.iter().map(|law| length(law.as_ref())).collect()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        self.collect(|law| law.mean())
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        let variances = self.collect(|law| law.variance())?;
        let d = variances.len();
        let mut out = vec![0.0; d * d];
        for (i, v) in variances.into_iter().enumerate() {
            out[i * d + i] = v;
        }
        Some(out)
    }

    fn form(&self) -> Form<'_> {
        Form::Product(forms(&self.laws))
    }

    fn circles(&self) -> Option<Circles> {
        Circles::new(self.laws.iter().map(|law| law.circle()).collect())
    }

    fn coordinates(&self, chart: Chart) -> Result<Box<dyn Coordinates>> {
        Ok(Box::new(Separable::new(self, chart)))
    }

    fn natural(&self) -> Box<dyn Coordinates> {
        Box::new(Separable::new(self, Chart::Natural))
    }
}

/// Twice the interquartile range, at most the width of the support: the width itself for a uniform
/// law.
fn length(law: &dyn Univariate) -> f64 {
    let (lo, hi) = law.support();
    let spread = 2.0 * (law.quantile_sf(0.25) - law.quantile(0.25));
    // Clamped for laws whose quartiles under- or overflow, such as a gamma of shape 1e-4.
    spread.min(hi - lo).clamp(f64::MIN_POSITIVE, f64::MAX)
}

//! State the prior of absorbers: redshift uniform over the search range, column density as found in
//! earlier surveys.

use std::sync::Arc;
use warpquad::measure::{Product, Tail, TruncatedNormal, Uniform, Univariate};
use warpquad::{Error, Result};

/// The ends of log_nhi.
pub const LOG_NHI: (f64, f64) = (20.0, 23.0);
/// The fitted density is proportional to exp(-A x^2 + B x).
const A: f64 = 1.2695;
const B: f64 = 50.863;
/// Up to here it was normalised.
const NORMALISED_TO: f64 = 25.0;
/// Its weight in Garnett et al. (2017), hence in the paper.
pub const FITTED_WEIGHT: f64 = 0.9;

/// The prior of `absorbers` independent absorbers, in the order (z, log_nhi, z, log_nhi, ...).
pub fn prior((lo, hi): (f64, f64), absorbers: usize) -> Result<Product> {
    let z: Arc<dyn Univariate> = Arc::new(Uniform::new(lo, hi)?);
    let column: Arc<dyn Univariate> = Arc::new(LogNhi::new(FITTED_WEIGHT)?);
    let pairs = (0..absorbers).flat_map(|_| [z.clone(), column.clone()]);
    Product::new(pairs.collect())
}

/// The law of log10 of a column density.
///
/// # Definition
/// On [20, 23]. The weight alpha is on a normal bell with mean 20.0327 and sd 0.6276, cut at 20 and
/// normalised up to 25; the rest is on a uniform. Of the bell 2e-6 lies beyond 23. It is left out
/// and the whole normalised again.
///
/// # Moments
/// Those of the mixture.
///
/// # Range
/// 0 <= alpha <= 1.
///
/// # Numerics
/// The quantile is solved by Newton's method in a bracket, to rounding, for the tail that it was
/// asked for.
///
/// # Reference
/// Garnett, Ho, Bird and Schneider, "Detecting damped Lyman-alpha absorbers with Gaussian
/// processes" (2017), section 5.
///
/// ```
/// use warpquad::measure::Univariate;
/// use warpquad_experiments::dla::LogNhi;
/// let law = LogNhi::new(0.9)?;
/// assert!((law.cdf(law.quantile(0.3)) - 0.3).abs() < 1e-14);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LogNhi {
    /// Weight and law of each part.
    parts: [(f64, Arc<dyn Univariate>); 2],
}

impl LogNhi {
    /// With weight `alpha` on the fitted bell.
    pub fn new(alpha: f64) -> Result<LogNhi> {
        if !(0.0..=1.0).contains(&alpha) {
            let reason = format!("must be between 0 and 1, got {alpha}");
            return Err(Error::spec("alpha", reason));
        }
        let (lo, hi) = LOG_NHI;
        let (mean, sd) = (B / (2.0 * A), (2.0 * A).sqrt().recip());
        let whole = TruncatedNormal::new(mean, sd, lo, NORMALISED_TO)?;
        let inside = alpha * whole.cdf(hi);
        let total = inside + 1.0 - alpha;
        let bell = TruncatedNormal::new(mean, sd, lo, hi)?;
        Ok(LogNhi {
            parts: [
                (inside / total, Arc::new(bell)),
                ((1.0 - alpha) / total, Arc::new(Uniform::new(lo, hi)?)),
            ],
        })
    }

    fn sum(&self, of: impl Fn(&dyn Univariate) -> f64) -> f64 {
        self.parts.iter().map(|(w, law)| w * of(law.as_ref())).sum()
    }

    fn density(&self, x: f64) -> f64 {
        self.sum(|law| law.ln_density(x).exp())
    }
}

impl Univariate for LogNhi {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let (mut lo, mut hi) = LOG_NHI;
        let excess = |x: f64| match tail {
            Tail::Lower(p) => self.cdf(x) - p,
            Tail::Upper(q) => q - self.sf(x),
        };
        // The bell's own quantile begins close by.
        let mut x = self.parts[0].1.quantile_at(tail);
        // Newton's steps, or halves of the bracket where they leave it: 60 reach rounding in any
        // case.
        for _ in 0..60 {
            let off = excess(x);
            let newton = x - off / self.density(x);
            // Before the bracket is asked, which a step of nothing always leaves.
            if (newton - x).abs() <= f64::EPSILON * x {
                break;
            }
            if off > 0.0 {
                hi = x
            } else {
                lo = x
            }
            x = match lo < newton && newton < hi {
                true => newton,
                false => 0.5 * (lo + hi),
            };
        }
        x.clamp(LOG_NHI.0.next_up(), LOG_NHI.1.next_down())
    }

    fn cdf(&self, x: f64) -> f64 {
        self.sum(|law| law.cdf(x)).min(1.0)
    }

    fn sf(&self, x: f64) -> f64 {
        self.sum(|law| law.sf(x)).min(1.0)
    }

    fn ln_density(&self, x: f64) -> f64 {
        self.density(x).ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        let slope = self.sum(|law| law.ln_density(x).exp() * law.d_ln_density(x));
        let density = self.density(x);
        if density > 0.0 { slope / density } else { 0.0 }
    }

    fn support(&self) -> (f64, f64) {
        LOG_NHI
    }

    fn mean(&self) -> Option<f64> {
        let means = self.parts.iter().map(|(w, law)| Some(w * law.mean()?));
        means.sum()
    }

    fn variance(&self) -> Option<f64> {
        let mean = self.mean()?;
        let spread = |law: &dyn Univariate| Some(law.variance()? + (law.mean()? - mean).powi(2));
        let parts = self
            .parts
            .iter()
            .map(|(w, law)| Some(w * spread(law.as_ref())?));
        parts.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_both_tails() {
        let law = LogNhi::new(0.9).unwrap();
        let many = (1..1000).map(|i| 1e-3 * f64::from(i));
        for p in many.chain([1e-12, 1e-6, 1.0 - 1e-9]) {
            let x = law.quantile(p);
            // Numbers near 20 are 3.6e-15 apart, the density is 1.2 there, and the solution stops a
            // spacing or two away.
            assert!((law.cdf(x) - p).abs() < 1e-14, "{p}: {x}");
            assert!((law.cdf(x) + law.sf(x) - 1.0).abs() < 1e-14);
        }
        let far = law.quantile_sf(1e-9);
        assert!((law.sf(far) / 1e-9 - 1.0).abs() < 1e-6 && far < 23.0);
    }

    #[test]
    fn the_density_integrates_to_one_with_its_moments() {
        let law = LogNhi::new(0.9).unwrap();
        let n = 300_000;
        let h = 3.0 / n as f64;
        let mut sums = [0.0; 3];
        for i in 0..n {
            let x = 20.0 + h * (i as f64 + 0.5);
            let p = law.ln_density(x).exp() * h;
            for (sum, power) in sums.iter_mut().zip([1.0, x, x * x]) {
                *sum += p * power;
            }
        }
        let [mass, mean, square] = sums;
        assert!((mass - 1.0).abs() < 1e-9, "{mass}");
        assert!((mean - law.mean().unwrap()).abs() < 1e-8);
        assert!((square - mean * mean - law.variance().unwrap()).abs() < 1e-6);
    }

    #[test]
    fn the_slope_is_the_density_s() {
        let law = LogNhi::new(0.9).unwrap();
        for x in [20.1, 20.9, 22.3] {
            let h = 1e-5;
            let numeric = (law.ln_density(x + h) - law.ln_density(x - h)) / (2.0 * h);
            assert!((law.d_ln_density(x) - numeric).abs() < 1e-8);
        }
        assert_eq!(law.ln_density(19.9), f64::NEG_INFINITY);
        assert_eq!(law.d_ln_density(19.9), 0.0);
    }
}

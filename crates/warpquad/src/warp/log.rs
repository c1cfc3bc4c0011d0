//! Keep f positive over any range: f = exp(g).

use super::{Cov, Equal, LnVar, Local, Marginal, Mean, Range, Warp};
use crate::numeric::special::ln_expm1;
use crate::numeric::vmath;

/// The log warp, which makes the method MMLT, the moment-matched log transform.
///
/// * Definition: xi(g) = exp(g).
/// * Moments: m = exp(mu + s/2), K = m m' expm1(c).
/// * Range: (0, infinity).
/// * Numerics: the unit at a point is m itself, so nothing overflows and K never appears as a
///   difference of two large numbers.
/// * Reference: Chai and Garnett (2019), Table 1.
///
/// ```
/// use warpquad::warp::{Log, Marginal, Warp};
/// let far = Marginal { mu: -20000.0, s: 2.0 };
/// assert_eq!(Log.mean(far).ln_unit, -19999.0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Log;

impl Warp for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn range(&self) -> Range {
        Range::POSITIVE
    }

    fn follows_ln_f(&self) -> bool {
        true
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: g,
            value: 1.0,
            slope: 1.0,
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        f.ln()
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        ln_f
    }

    fn mean(&self, at: Marginal) -> Mean {
        Mean {
            ln_unit: at.mu + 0.5 * at.s,
            value: 1.0,
            d_mu: 0.0,
            d_s: 0.0,
            ln_unit_mu: 1.0,
            ln_unit_s: 0.5,
        }
    }

    fn cov(&self, _: &[f64], _: &[f64], c: f64) -> f64 {
        c.exp_m1()
    }

    fn cov_partials(&self, _: &[f64], _: &[f64], c: f64) -> Cov {
        Cov {
            value: c.exp_m1(),
            d_c: c.exp(),
            ..Cov::default()
        }
    }

    fn is_function_of_c(&self) -> bool {
        true
    }

    fn equal(&self, _: Marginal, c: &[f64], out: Equal<'_>) {
        out.value.copy_from_slice(c);
        vmath::exp_m1(out.value);
        for (d, e) in out.d_c.iter_mut().zip(out.value) {
            *d = *e + 1.0;
        }
    }

    fn cov_column(&self, _: &[f64], _: &[f64], c: &mut [f64]) {
        vmath::exp_m1(c);
    }

    /// The paper's: means -1, -2, -5 and -10 with output scale -mean/2, for g shifted so that its
    /// largest value is 0; never the mean of g, which a few hopeless points drag down.
    fn starts(&self, g: &[f64]) -> Vec<Marginal> {
        let top = g.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|depth| Marginal {
                mu: top - depth,
                s: depth / 2.0,
            })
            .collect()
    }

    /// As s grows at mu = -s the matched belief tends to a zero-mean Gaussian process of variance
    /// 1: K / K(x, x) = exp(-s (1 - rho)), and nothing is left of the constraint. The likelihood of
    /// a smooth f climbs towards that end ("lower means may result in undesirable behavior",
    /// section 3.2). So the fit stays within the paper's starts: a mean down to -10, an output
    /// scale up to 5.
    fn f_space_limits(&self, g: &[f64]) -> Marginal {
        let top = g.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Marginal {
            mu: top - 10.0,
            s: 5.0,
        }
    }

    fn is_exponential(&self) -> bool {
        true
    }

    fn ln_var(&self, at: Marginal) -> LnVar {
        LnVar {
            value: 2.0 * at.mu + at.s + ln_expm1(at.s),
            d_mu: 2.0,
            d_s: 1.0 - 1.0 / (-at.s).exp_m1(),
        }
    }
}

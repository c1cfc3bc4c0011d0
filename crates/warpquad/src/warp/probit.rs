//! Keep f between 0 and 1: f = Phi(g).

use super::{Cov, Equal, LnVar, Local, Marginal, Mean, Range, Warp};
use crate::numeric::bivariate::{EqualExcess, normal_excess, normal_pdf2};
use crate::numeric::gauss;
use crate::numeric::special::{normal_cdf, normal_pdf, normal_quantile, normal_quantile_ln};
use std::f64::consts::PI;
use std::sync::LazyLock;

/// The probit warp, for rates and other bounded functions.
///
/// * Definition: xi(g) = Phi(g), the normal distribution function.
/// * Moments: with r = sqrt(1 + s), h = mu / r and rho = c / (r r'): m = Phi(h) and
///   K = Phi2(h, h'; rho) - Phi(h) Phi(h').
/// * Range: (0, 1); other intervals by [`Affine`](super::Affine).
/// * Numerics: K is the integral of the bivariate density over the correlation, so it keeps its
///   relative accuracy where the difference would cancel.
/// * Reference: Chai and Garnett (2019), Table 1, with the derivatives of the supplement's eqs. 12
///   to 20 corrected by Plackett's identity dK/dc = phi2(mu, mu'; Sigma + I).
///
/// ```
/// use warpquad::warp::{Marginal, Probit, Warp};
/// let at = Marginal { mu: 0.0, s: 1e12 };           // a coin: f is 0 or 1
/// let (mut f, var) = ([0.0; 4], 0.25);
/// Probit.features(at, &mut f);
/// assert!((Probit.cov(&f, &f, at.s) - var).abs() < 1e-5);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Probit;

impl Warp for Probit {
    fn name(&self) -> &'static str {
        "probit"
    }

    fn range(&self) -> Range {
        Range::UNIT
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: 0.0,
            value: normal_cdf(g),
            slope: normal_pdf(g),
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        normal_quantile(f)
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        normal_quantile_ln(ln_f)
    }

    fn mean(&self, at: Marginal) -> Mean {
        let r2 = 1.0 + at.s;
        let r = r2.sqrt();
        let h = at.mu / r;
        let density = normal_pdf(h);
        Mean::plain(normal_cdf(h), density / r, -0.5 * h * density / r2)
    }

    fn feature_count(&self) -> usize {
        4
    }

    /// h, 1/r, phi(h), Phi(h).
    fn features(&self, at: Marginal, out: &mut [f64]) {
        let inv_r = 1.0 / (1.0 + at.s).sqrt();
        let h = at.mu * inv_r;
        out.copy_from_slice(&[h, inv_r, normal_pdf(h), normal_cdf(h)]);
    }

    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        normal_excess(left[0], right[0], c * left[1] * right[1])
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        let (h, k) = (left[0], right[0]);
        let rho = (c * left[1] * right[1]).clamp(-1.0, 1.0);
        let density = normal_pdf2(h, k, rho);
        let (d_mu, d_s) = side(left, k, rho, density);
        let (d_mu2, d_s2) = side(right, h, rho, density);
        Cov {
            value: normal_excess(h, k, rho),
            d_c: density * left[1] * right[1],
            d_mu,
            d_mu2,
            d_s,
            d_s2,
        }
    }

    fn equal(&self, at: Marginal, c: &[f64], out: Equal<'_>) {
        let inv_r2 = 1.0 / (1.0 + at.s);
        let h = at.mu * inv_r2.sqrt();
        let rho: Vec<f64> = c.iter().map(|c| c * inv_r2).collect();
        let table = EqualExcess::new(h, at.s * inv_r2);
        table.fill(&rho, out.value, out.d_c, out.d_mu);
        // h = mu / r moves with both arguments, rho = c / r^2 with s and c.
        let (h_mu, h_s) = (inv_r2.sqrt(), -0.5 * h * inv_r2);
        for (i, rho) in rho.iter().enumerate() {
            let (d_rho, d_h) = (out.d_c[i], out.d_mu[i]);
            out.d_c[i] = d_rho * inv_r2;
            out.d_mu[i] = d_h * h_mu;
            out.d_s[i] = d_h * h_s - d_rho * rho * inv_r2;
        }
    }

    /// K(x, x) = (1/2pi) integral over 0 < theta < asin(rho) of exp(-h^2 / (1 + sin theta)); its
    /// largest factor, at the upper end, is taken out so that h = -1000 does not underflow.
    fn ln_var(&self, at: Marginal) -> LnVar {
        let inv_r2 = 1.0 / (1.0 + at.s);
        let (rho, h) = (at.s * inv_r2, at.mu * inv_r2.sqrt());
        let h2 = h * h;
        // What lies more than 40 nats below the largest factor is less than its last bit.
        let deepest = 1.0 / (1.0 / (1.0 + rho) + 40.0 / h2) - 1.0;
        let (lower, upper) = (deepest.max(0.0).asin(), rho.asin());
        let half = 0.5 * (upper - lower);
        let (mut sum, mut sum_h) = (0.0, 0.0);
        for (z, w) in RULE.nodes.iter().zip(&RULE.weights) {
            let sin = (lower + half * (z + 1.0)).sin();
            let lost = h2 * (rho - sin) / ((1.0 + sin) * (1.0 + rho));
            let term = w * half * (-lost).exp();
            sum += term;
            sum_h -= term * 2.0 * h / (1.0 + sin);
        }
        let (d_h, d_rho) = (
            sum_h / sum,
            1.0 / (sum * ((1.0 - rho) * (1.0 + rho)).sqrt()),
        );
        LnVar {
            value: -h2 / (1.0 + rho) + (sum / (2.0 * PI)).ln(),
            d_mu: d_h * inv_r2.sqrt(),
            // rho = s / (1 + s) and h = mu / sqrt(1 + s) both move with s.
            d_s: d_rho * inv_r2 * inv_r2 - d_h * 0.5 * h * inv_r2,
        }
    }
}

static RULE: LazyLock<gauss::Rule> = LazyLock::new(|| gauss::legendre(64));
static SHORT: LazyLock<gauss::Rule> = LazyLock::new(|| gauss::legendre(10));

/// dK/dmu and dK/ds for one side, with k the other side's argument:
/// phi(h) [Phi(q) - Phi(k)] / r and -(h phi(h) [Phi(q) - Phi(k)] + rho phi2) / (2 r^2).
fn side(own: &[f64], k: f64, rho: f64, density: f64) -> (f64, f64) {
    let [h, inv_r, phi, _] = [own[0], own[1], own[2], own[3]];
    let cos = ((1.0 - rho) * (1.0 + rho)).sqrt();
    let gap = if cos == 0.0 {
        let q = (k - rho * h).signum() * f64::INFINITY;
        normal_cdf(if k == rho * h { 0.0 } else { q }) - normal_cdf(k)
    } else {
        // q - k = (k - rho h)/cos - k, with 1 - cos = rho^2 / (1 + cos) so that nothing cancels.
        cdf_difference(k, (k * rho * rho / (1.0 + cos) - rho * h) / cos)
    };
    let d_mu = phi * gap * inv_r;
    let d_s = -0.5 * inv_r * inv_r * (h * phi * gap + rho * density);
    (d_mu, d_s)
}

/// Phi(a + delta) - Phi(a), without cancellation for small delta.
fn cdf_difference(a: f64, delta: f64) -> f64 {
    // Over an interval of length 1/2 ten Gauss-Legendre nodes integrate phi to the last bit.
    if delta.abs() < 0.5 {
        let half = 0.5 * delta;
        let nodes = SHORT.nodes.iter().zip(&SHORT.weights);
        return half
            * nodes.fold(0.0, |sum, (z, w)| {
                sum + w * normal_pdf(a + half * (z + 1.0))
            });
    }
    // The tail that is small on both sides is subtracted, never two numbers near 1.
    if a > 0.0 {
        normal_cdf(-a) - normal_cdf(-a - delta)
    } else {
        normal_cdf(a + delta) - normal_cdf(a)
    }
}

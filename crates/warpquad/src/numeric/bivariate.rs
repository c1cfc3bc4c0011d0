//! Compute the bivariate normal distribution, density and excess Phi2 - Phi Phi', without
//! cancellation.
//!
//! Everything rests on one integral with a positive integrand (Plackett). With r the correlation
//! and q = sqrt((1 - r)/(1 + r)),
//!
//! ```text
//! dPhi2/dr = exp(-Q) / (2 pi sqrt(1 - r^2)),      Q = (h^2 + k^2 - 2 h k r) / (2 (1 - r^2)),
//! dr / sqrt(1 - r^2) = -2 dq / (1 + q^2),         1 + r = 2/(1 + q^2),    1 - r = 2 q^2/(1 + q^2),
//! ```
//!
//! So for rho > 0 the excess is the integral of exp(-Q) / (pi (1 + q^2)) over q from q(rho) to
//! q(0) = 1. The variable q is the tangent of half the angle arccos(r): it is smooth up to r = 1,
//! and rational. For rho < 0, excess(h, k, rho) = -excess(h, -k, -rho).

mod equal;
mod integral;

pub use equal::EqualExcess;

use super::special::{normal_cdf, normal_pdf};
use integral::{Exponent, Integral, choose};
use std::f64::consts::PI;

/// Phi(a + width) - Phi(a) with relative accuracy.
fn normal_between(a: f64, width: f64) -> f64 {
    let b = a + width;
    if width.abs() * (a.abs() + b.abs()) <= 2.0 {
        // phi(a + width u) = phi(a) exp(-width u (a + width u/2)), an exponent of at most 1: 16
        // nodes are exact.
        let rule = choose(9.0, 0.5);
        let density = |u: f64| (-width * u * (a + 0.5 * width * u)).exp();
        let mean: f64 = rule
            .nodes
            .iter()
            .zip(&rule.weights)
            .map(|(u, w)| w * density(*u))
            .sum();
        width * normal_pdf(a) * mean
    } else if a + b > 0.0 {
        normal_cdf(-a) - normal_cdf(-b)
    } else {
        normal_cdf(b) - normal_cdf(a)
    }
}

/// q = sqrt((1 - rho)/(1 + rho)), and 1 - q = 2 rho/(1 + rho + sqrt(1 - rho^2)) with relative
/// accuracy.
#[inline]
fn half_angle(rho: f64) -> (f64, f64) {
    let root = ((1.0 - rho) * (1.0 + rho)).sqrt();
    (root / (1.0 + rho), 2.0 * rho / (1.0 + rho + root))
}

/// The excess Phi2(h, k; rho) - Phi(h) Phi(k). It is the covariance of the events X <= h and Y <= k
/// for standard normals with correlation rho.
///
/// It has the sign of rho. It has relative accuracy even where both terms of the difference are
/// larger by many orders. |rho| beyond 1 is taken as 1.
///
/// ```
/// use warpquad::numeric::bivariate::normal_excess;
/// // Sheppard: Phi2(0, 0; rho) - 1/4 = asin(rho)/(2 pi).
/// assert!((normal_excess(0.0, 0.0, 0.6) - 0.6_f64.asin() / std::f64::consts::TAU).abs() < 1e-16);
/// ```
pub fn normal_excess(h: f64, k: f64, rho: f64) -> f64 {
    if h.is_nan() || k.is_nan() || rho.is_nan() {
        f64::NAN
    } else if rho < 0.0 {
        -positive_excess(h, -k, -rho)
    } else {
        positive_excess(h, k, rho)
    }
}

/// The excess for rho >= 0.
fn positive_excess(h: f64, k: f64, rho: f64) -> f64 {
    if rho >= 1.0 {
        // Phi(min) - Phi(min) Phi(max).
        normal_cdf(h.min(k)) * normal_cdf(-h.max(k))
    } else {
        let (low, width) = half_angle(rho);
        Integral::new(h, k, rho).over(low, width)
    }
}

/// The bivariate normal distribution function Phi2(h, k; rho) = P(X <= h, Y <= k), with relative
/// accuracy for either sign of rho.
///
/// For rho >= 0 it is Phi Phi' plus the excess. For rho < 0 it is counted from its value max(0,
/// Phi(h) - Phi(-k)) at rho = -1. So no difference is formed, and the result is never negative.
///
/// ```
/// use warpquad::numeric::bivariate::normal_cdf2;
/// use warpquad::numeric::special::normal_cdf;
/// let (h, k, rho) = (0.3, -1.1, 0.7);
/// assert!((normal_cdf2(h, k, rho) + normal_cdf2(h, -k, -rho) - normal_cdf(h)).abs() < 1e-15);
/// ```
pub fn normal_cdf2(h: f64, k: f64, rho: f64) -> f64 {
    if h.is_nan() || k.is_nan() || rho.is_nan() {
        f64::NAN
    } else if h.min(k) == f64::NEG_INFINITY {
        0.0
    } else if h.max(k) == f64::INFINITY || rho >= 1.0 {
        normal_cdf(h.min(k))
    } else if rho >= 0.0 {
        normal_cdf(h) * normal_cdf(k) + positive_excess(h, k, rho)
    } else {
        let overlap = if h + k > 0.0 {
            normal_between(-k, h + k)
        } else {
            0.0
        };
        overlap + Integral::new(h, -k, 1.0).over(0.0, half_angle(-rho.max(-1.0)).0)
    }
}

/// The logarithm of the standard bivariate normal density. For |rho| = 1 it is +inf on the line
/// that carries the mass and -inf elsewhere.
pub fn ln_normal_pdf2(h: f64, k: f64, rho: f64) -> f64 {
    let (minus, plus) = (1.0 - rho, 1.0 + rho);
    if h.is_nan() || k.is_nan() || rho.is_nan() {
        return f64::NAN;
    }
    if h.is_infinite() || k.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if minus <= 0.0 || plus <= 0.0 {
        let apart = if minus <= 0.0 { h - k } else { h + k };
        return if apart == 0.0 {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        };
    }
    -(2.0 * PI).ln() - 0.5 * (minus * plus).ln() - Exponent::new(h, k).at(minus, plus)
}

/// The standard bivariate normal density phi2(h, k; rho): the derivative of `normal_cdf2` and of
/// `normal_excess` by rho.
///
/// ```
/// use warpquad::numeric::bivariate::normal_pdf2;
/// use warpquad::numeric::special::normal_pdf;
/// assert!((normal_pdf2(0.4, 1.2, 0.0) - normal_pdf(0.4) * normal_pdf(1.2)).abs() < 1e-16);
/// ```
pub fn normal_pdf2(h: f64, k: f64, rho: f64) -> f64 {
    let (minus, plus) = (1.0 - rho, 1.0 + rho);
    if minus <= 0.0 || plus <= 0.0 || h.is_infinite() || k.is_infinite() {
        return ln_normal_pdf2(h, k, rho).exp();
    }
    (-Exponent::new(h, k).at(minus, plus)).exp() / (2.0 * PI * (minus * plus).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle() -> Vec<[f64; 6]> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../data/oracle/bivariate.csv"
        );
        let table = std::fs::read_to_string(path).expect("data/oracle/bivariate.csv");
        let row = |line: &str| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            <[f64; 6]>::try_from(cells).unwrap()
        };
        table.lines().skip(1).map(row).collect()
    }

    /// Relative error allowed: rounding of Q, which is the exponent, and 5e-14 of quadrature.
    fn allowed(h: f64, k: f64, rho: f64) -> f64 {
        let q = (h * h + k * k - 2.0 * h * k * rho) / (2.0 * (1.0 - rho) * (1.0 + rho));
        // Where Q is beyond this the density underflows and the integral comes from elsewhere.
        2e-14 + 4e-16 * q.min(745.0)
    }

    fn assert_close(got: f64, want: f64, relative: f64, what: &str, row: &[f64; 6]) {
        let off = (got - want).abs();
        assert!(
            off <= relative * want.abs() + 1e-320,
            "{what} at {row:?}: got {got:e}, relative {:e}",
            off / want.abs()
        );
        assert!(off <= 1e-15 || what == "pdf2");
    }

    #[test]
    fn oracle_relative() {
        let rows = oracle();
        assert!(rows.len() > 400);
        for row in &rows {
            let [h, k, rho, cdf2, excess, pdf2] = *row;
            let relative = allowed(h, k, rho);
            assert_close(normal_excess(h, k, rho), excess, relative, "excess", row);
            assert_close(normal_excess(k, h, rho), excess, relative, "excess", row);
            assert_close(normal_cdf2(h, k, rho), cdf2, relative, "cdf2", row);
            assert_close(normal_pdf2(h, k, rho), pdf2, relative, "pdf2", row);
            let ln = ln_normal_pdf2(h, k, rho);
            assert!(pdf2 < 1e-300 || (ln - pdf2.ln()).abs() <= 1e-14 * (1.0 + ln.abs()));
        }
    }

    #[test]
    fn ends_of_the_line() {
        let inf = f64::INFINITY;
        for rho in [-1.0, -0.5, 0.0, 0.5, 0.97, 1.0] {
            for k in [-inf, -2.0, 0.0, 1e200, inf] {
                assert_eq!(normal_excess(inf, k, rho), 0.0);
                assert_eq!(normal_excess(-inf, k, rho), 0.0);
                assert_eq!(normal_cdf2(k, -inf, rho), 0.0);
                assert_eq!(normal_cdf2(inf, k, rho), normal_cdf(k));
                assert_eq!(normal_pdf2(inf, k, rho), 0.0);
            }
            assert!(normal_excess(f64::NAN, 0.0, rho).is_nan());
            assert!(normal_cdf2(0.0, f64::NAN, rho).is_nan());
        }
        assert!(normal_excess(0.0, 0.0, f64::NAN).is_nan());
        assert!(normal_pdf2(0.0, 0.0, f64::NAN).is_nan());
    }

    #[test]
    fn perfect_correlation() {
        for (h, k) in [(0.3, -1.2), (-2.0, -2.0), (1.5, 4.0), (-0.4, 0.4)] {
            let (low, high) = (f64::min(h, k), f64::max(h, k));
            assert_eq!(normal_cdf2(h, k, 1.0), normal_cdf(low));
            assert_eq!(
                normal_excess(h, k, 1.0),
                normal_cdf(low) * normal_cdf(-high)
            );
            assert_eq!(normal_excess(h, k, 1.0 + 1e-15), normal_excess(h, k, 1.0));
            let both = (normal_cdf(h) - normal_cdf(-k)).max(0.0);
            assert!((normal_cdf2(h, k, -1.0) - both).abs() < 1e-16);
            assert!(
                (normal_excess(h, k, -1.0) - (both - normal_cdf(h) * normal_cdf(k))).abs() < 1e-16
            );
            // Continuous there.
            assert!((normal_cdf2(h, k, 1.0 - 1e-16) - normal_cdf(low)).abs() < 1e-8);
        }
        assert_eq!(ln_normal_pdf2(0.2, 0.2, 1.0), f64::INFINITY);
        assert_eq!(ln_normal_pdf2(0.2, 0.2, -1.0), f64::NEG_INFINITY);
    }

    #[test]
    fn the_sign_is_that_of_rho() {
        for i in 0..2000 {
            let (h, k) = (
                f64::from(i % 37) * 0.5 - 9.0,
                f64::from(i % 41) * 0.45 - 9.0,
            );
            let rho = f64::from(i % 101) / 50.5 - 1.0;
            assert!(normal_excess(h, k, rho) * rho.signum() >= 0.0);
            assert!(normal_cdf2(h, k, rho) >= 0.0);
        }
    }
}

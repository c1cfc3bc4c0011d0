//! Approximate the law of a latent function behind yes and no: expectation propagation.

use crate::numeric::linalg::{Cholesky, Mat, dot};
use crate::numeric::special::{ln_normal_cdf, ln_normal_pdf};

/// Sweeps at most: most data need five.
const MOST_SWEEPS: usize = 30;
/// The sweeps end when ln of the evidence moves by less.
const TOLERANCE: f64 = 1e-3;

/// Normal factors that stand for the observations.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sites {
    /// The precision of each.
    pub precision: Vec<f64>,
    /// The precision times the mean.
    pub shift: Vec<f64>,
    /// ln of the evidence.
    pub ln_evidence: f64,
}

/// The sites of observations a_i > 0 (`true`) or not, seen through a standard normal error, where a
/// is normal with mean 0 and covariance k. `None` where a matrix cannot be factored.
///
/// Rasmussen and Williams (2006), algorithm 3.5 and equations 3.73 to 3.75.
pub(super) fn sites(k: &Mat, positive: &[bool]) -> Option<Sites> {
    let n = positive.len();
    let mut out = Sites {
        precision: vec![0.0; n],
        shift: vec![0.0; n],
        ln_evidence: f64::NEG_INFINITY,
    };
    let (mut sigma, mut mu) = (k.clone(), vec![0.0; n]);
    for _ in 0..MOST_SWEEPS {
        let mut cavities = Vec::with_capacity(n);
        for i in 0..n {
            let cavity = Cavity::new(sigma[(i, i)], mu[i], out.precision[i], out.shift[i]);
            let (precision, shift) = cavity.matched(positive[i]);
            let change = precision - out.precision[i];
            (out.precision[i], out.shift[i]) = (precision, shift);
            let column = sigma.col(i).to_vec();
            let factor = change / (1.0 + change * column[i]);
            for (j, &c) in column.iter().enumerate() {
                let times = factor * c;
                for (s, other) in sigma.col_mut(j).iter_mut().zip(&column) {
                    *s -= times * other;
                }
            }
            mu = sigma.mul_vec(&out.shift);
            cavities.push(cavity);
        }
        let (factor, fresh) = posterior(k, &out.precision)?;
        sigma = fresh;
        mu = sigma.mul_vec(&out.shift);
        let ln_evidence = ln_evidence(&out, &factor, &mu, &cavities, positive);
        let moved = (ln_evidence - out.ln_evidence).abs();
        out.ln_evidence = ln_evidence;
        if moved < TOLERANCE {
            break;
        }
    }
    out.ln_evidence.is_finite().then_some(out)
}

/// What is known of a_i without its own observation.
struct Cavity {
    precision: f64,
    mean: f64,
}

impl Cavity {
    fn new(variance: f64, mean: f64, precision: f64, shift: f64) -> Cavity {
        // Rounding must not make a precision negative.
        let rest = (1.0 / variance - precision).max(1e-12);
        Cavity {
            precision: rest,
            mean: (mean / variance - shift) / rest,
        }
    }

    /// How many sds of all that is not known the sign is certain by.
    fn z(&self, positive: bool) -> f64 {
        let sign = if positive { 1.0 } else { -1.0 };
        sign * self.mean / (1.0 + 1.0 / self.precision).sqrt()
    }

    /// The site that gives the moments which the observation leads to.
    fn matched(&self, positive: bool) -> (f64, f64) {
        let (z, v) = (self.z(positive), 1.0 / self.precision);
        let sign = if positive { 1.0 } else { -1.0 };
        let ratio = (ln_normal_pdf(z) - ln_normal_cdf(z)).exp();
        let mean = self.mean + sign * v * ratio / (1.0 + v).sqrt();
        let variance = v - v * v * ratio * (z + ratio) / (1.0 + v);
        let precision = (1.0 / variance - self.precision).max(0.0);
        (precision, mean / variance - self.precision * self.mean)
    }
}

/// The factor of B = I + S^1/2 K S^1/2, S being the precisions, and the posterior covariance.
fn posterior(k: &Mat, precision: &[f64]) -> Option<(Cholesky, Mat)> {
    let n = precision.len();
    let factor = factor(k, precision)?;
    let mut v = Mat::from_fn(n, n, |i, j| precision[i].sqrt() * k[(i, j)]);
    factor.solve_lower(&mut v);
    let sigma = Mat::from_fn(n, n, |i, j| k[(i, j)] - dot(v.col(i), v.col(j)));
    Some((factor, sigma))
}

/// The factor of B = I + S^1/2 K S^1/2.
pub(super) fn factor(k: &Mat, precision: &[f64]) -> Option<Cholesky> {
    let n = precision.len();
    let root: Vec<f64> = precision.iter().map(|p| p.sqrt()).collect();
    Cholesky::new(Mat::from_fn(n, n, |i, j| {
        let one = if i == j { 1.0 } else { 0.0 };
        one + root[i] * k[(i, j)] * root[j]
    }))
}

/// ln of the evidence: equations 3.73 to 3.75, with Sigma nu = mu.
fn ln_evidence(
    sites: &Sites,
    factor: &Cholesky,
    mu: &[f64],
    cavities: &[Cavity],
    positive: &[bool],
) -> f64 {
    let mut sum = 0.5 * dot(&sites.shift, mu) - 0.5 * factor.ln_det();
    for (i, cavity) in cavities.iter().enumerate() {
        let (site, shift) = (sites.precision[i], sites.shift[i]);
        let both = cavity.precision + site;
        sum += ln_normal_cdf(cavity.z(positive[i]));
        sum += 0.5 * (site / cavity.precision).ln_1p();
        sum -= 0.5 * shift * shift / both;
        sum += 0.5 * cavity.mean * cavity.precision / both * (site * cavity.mean - 2.0 * shift);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::special::normal_cdf;

    #[test]
    fn one_observation_is_exact() {
        // E Phi(a) = Phi(0) = 1/2 whatever the variance.
        let found = sites(&Mat::from_fn(1, 1, |_, _| 9.0), &[true]).unwrap();
        assert!((found.ln_evidence - 0.5_f64.ln()).abs() < 1e-9);
        assert!(found.shift[0] > 0.0);
    }

    #[test]
    fn the_evidence_is_that_of_an_orthant() {
        // Two latents with this covariance and errors of variance 1 are both positive with the
        // probability 1/4 + asin(rho)/(2 pi), rho being their correlation with the errors.
        let k = Mat::from_fn(2, 2, |i, j| if i == j { 4.0 } else { 3.0 });
        let orthant = 0.25 + (3.0_f64 / 5.0).asin() / std::f64::consts::TAU;
        let both = sites(&k, &[true, true]).unwrap();
        assert!((both.ln_evidence - orthant.ln()).abs() < 0.01, "{both:?}");
        let apart = sites(&k, &[true, false]).unwrap();
        assert!((apart.ln_evidence - (0.5 - orthant).ln()).abs() < 0.02);
    }

    #[test]
    fn observations_far_from_each_other_do_not_mix() {
        let k = Mat::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 0.0 });
        let found = sites(&k, &[true, false, true]).unwrap();
        assert!((found.ln_evidence - 3.0 * normal_cdf(0.0).ln()).abs() < 1e-9);
        assert!((found.shift[0] + found.shift[1]).abs() < 1e-9);
    }
}

//! Match moments of any smooth xi by quadrature and the series K = sum of c^k/k! a_k a'_k.
//!
//! With alpha_k = s^(k/2) a_k / sqrt(k!), the k-th Hermite coefficient of xi(mu + sqrt(s) z), the
//! series is K = sum of rho^k alpha_k alpha'_k with rho = c / sqrt(s s'). It converges for every
//! correlation. It is a positive definite kernel wherever it is cut. The partial derivatives need
//! the coefficients of xi' and xi'': alpha1_k = s^(k/2) a_(k+1) / sqrt(k!), and alpha2_k likewise.

use super::{Cov, Marginal};
use crate::numeric::linalg::dot;
use crate::numeric::special::normal_pdf;
use std::sync::LazyLock;

/// Terms of the series at most. A xi with poles at distance d from the line, in units of sqrt(s),
/// has alpha_k of about exp(-d sqrt(2 k)): the logistic function at s = 9 (d = pi/3) needs 190
/// terms for a variance good to 1e-12. Most points need fewer than ten.
pub(super) const TERMS: usize = 200;
/// The step of the rule, the trapezoidal one with normal weights: its error for the same xi is
/// exp(-2 pi d / h), here 1e-16, where Gauss-Hermite with as many nodes reaches 1e-9.
const STEP: f64 = 0.18;
/// Nodes: up to |z| = 28.3, about 2 sqrt(TERMS), where the last polynomial turns to pure growth.
pub(super) const HERMITE_NODES: usize = 315;
/// Numbers that a point's features take: sqrt(s), the number of terms, three coefficient rows.
pub(super) const FEATURES: usize = 2 + 3 * TERMS;
/// Coefficients below this share of the largest are rounding.
const NEGLIGIBLE: f64 = 1e-18;

/// The rule and the orthonormal Hermite polynomials at its nodes.
pub(super) struct Basis {
    /// The nodes z_i.
    pub nodes: Vec<f64>,
    /// w_i He_k(z_i) / sqrt(k!), row k after row.
    weighted: Vec<f64>,
}

/// The one rule that every numeric warp shares.
pub(super) static BASIS: LazyLock<Basis> = LazyLock::new(|| {
    let middle = (HERMITE_NODES / 2) as f64;
    let nodes: Vec<f64> = (0..HERMITE_NODES)
        .map(|i| STEP * (i as f64 - middle))
        .collect();
    let rows = TERMS + 3;
    let mut weighted = vec![0.0; rows * HERMITE_NODES];
    for (i, &z) in nodes.iter().enumerate() {
        let (mut last, mut this) = (0.0, STEP * normal_pdf(z));
        for k in 0..rows {
            weighted[k * HERMITE_NODES + i] = this;
            // sqrt(k+1) p_(k+1) = z p_k - sqrt(k) p_(k-1)
            let next = (z * this - (k as f64).sqrt() * last) / ((k + 1) as f64).sqrt();
            (last, this) = (this, next);
        }
    }
    Basis { nodes, weighted }
});

impl Basis {
    /// E[y(z) He_k(z)] / sqrt(k!) from y at the nodes.
    pub fn coefficient(&self, k: usize, y: &[f64]) -> f64 {
        dot(
            &self.weighted[k * HERMITE_NODES..(k + 1) * HERMITE_NODES],
            y,
        )
    }

    /// The coefficients 0 .. most, cut where four in a row are negligible.
    pub fn coefficients(&self, most: usize, y: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = Vec::new();
        let mut largest = 0.0_f64;
        for k in 0..most {
            let next = self.coefficient(k, y);
            largest = largest.max(next.abs());
            out.push(next);
            let quiet = out
                .iter()
                .rev()
                .take(4)
                .all(|a| a.abs() <= NEGLIGIBLE * largest);
            if k >= 4 && quiet {
                break;
            }
        }
        out
    }
}

/// Write features from functions that give alpha, alpha1 and alpha2 of order k.
pub(super) fn write(
    root: f64,
    order: usize,
    out: &mut [f64],
    coefficient: impl Fn(usize) -> [f64; 3],
) {
    out[0] = root;
    out[1] = order as f64;
    for k in 1..=order {
        for (row, value) in coefficient(k).into_iter().enumerate() {
            out[1 + row * TERMS + k] = value;
        }
    }
}

/// Features from expectations a_1, a_2, a_3 and from the third derivative's coefficients,
/// delta_k = s^(k/2) a_(k+3) / sqrt(k!): no power of s is ever divided out.
pub(super) fn write_from_third(s: f64, a: [f64; 3], delta: &[f64], out: &mut [f64]) {
    let root = s.sqrt();
    let delta_at = |k: usize| delta.get(k).copied().unwrap_or(0.0);
    let order = (delta.len() + 2).min(TERMS);
    write(root, order, out, |k| {
        let kf = k as f64;
        let alpha = match k {
            1 => root * a[0],
            2 => s * a[1] / 2.0_f64.sqrt(),
            _ => s * root * delta_at(k - 3) / (kf * (kf - 1.0) * (kf - 2.0)).sqrt(),
        };
        let alpha1 = match k {
            1 => root * a[1],
            _ => s * delta_at(k - 2) / (kf * (kf - 1.0)).sqrt(),
        };
        let alpha2 = match k {
            1 => root * a[2],
            _ => root * delta_at(k - 1) / kf.sqrt(),
        };
        [alpha, alpha1, alpha2]
    });
}

/// The coefficient rows of a point, as long as it has terms.
fn rows(side: &[f64]) -> [&[f64]; 3] {
    let order = side[1] as usize;
    std::array::from_fn(|row| &side[2 + row * TERMS..2 + row * TERMS + order])
}

/// The correlation of a pair; `None` where a point is known exactly.
fn correlation(left: &[f64], right: &[f64], c: f64) -> Option<f64> {
    let scale = left[0] * right[0];
    (scale > 0.0).then(|| (c / scale).clamp(-1.0, 1.0))
}

/// K and its partials for a pair of features.
pub(super) fn cov_partials(left: &[f64], right: &[f64], c: f64) -> Cov {
    let mut out = Cov::default();
    let Some(rho) = correlation(left, right, c) else {
        return out;
    };
    let ([a, a1, a2], [b, b1, b2]) = (rows(left), rows(right));
    let mut power = 1.0; // rho^(k-1)
    for k in 0..a.len().min(b.len()) {
        out.d_c += (k + 1) as f64 * power * a[k] * b[k];
        power *= rho;
        out.value += power * a[k] * b[k];
        out.d_mu += power * a1[k] * b[k];
        out.d_mu2 += power * a[k] * b1[k];
        out.d_s += 0.5 * power * a2[k] * b[k];
        out.d_s2 += 0.5 * power * a[k] * b2[k];
    }
    out.d_c /= left[0] * right[0];
    out
}

/// K alone.
pub(super) fn cov(left: &[f64], right: &[f64], c: f64) -> f64 {
    let Some(rho) = correlation(left, right, c) else {
        return 0.0;
    };
    let ([a, ..], [b, ..]) = (rows(left), rows(right));
    let terms = a.len().min(b.len());
    let pairs = a[..terms].iter().zip(&b[..terms]);
    rho * pairs.rev().fold(0.0, |sum, (a, b)| sum * rho + a * b)
}

/// Pairs that share one marginal: four polynomials in rho, by Horner's rule over the whole slice.
pub(super) fn equal(
    at: Marginal,
    features: &[f64],
    c: &[f64],
    value: &mut [f64],
    d_c: &mut [f64],
    d_mu: &mut [f64],
    d_s: &mut [f64],
) {
    let [a, a1, a2] = rows(features);
    let rho: Vec<f64> = c.iter().map(|c| c / at.s).collect();
    let horner = |out: &mut [f64], coefficient: &dyn Fn(usize) -> f64| {
        out.fill(0.0);
        for k in (0..a.len()).rev() {
            let a = coefficient(k);
            for (sum, rho) in out.iter_mut().zip(&rho) {
                *sum = *sum * rho + a;
            }
        }
    };
    horner(d_c, &|k| (k + 1) as f64 * a[k] * a[k] / at.s);
    horner(value, &|k| a[k] * a[k]);
    horner(d_mu, &|k| 2.0 * a1[k] * a[k]);
    horner(d_s, &|k| a2[k] * a[k]);
    for (i, rho) in rho.iter().enumerate() {
        value[i] *= rho;
        d_mu[i] *= rho;
        d_s[i] *= rho;
    }
}

//! Move kernel and measure to coordinates where both are products over dimensions.
//!
//! In length scales the squared exponential is exp(-|x - x'|^2 / 2), which any rotation leaves as
//! it is. So a Gaussian measure with full covariance V factorises as well: rotate to the
//! eigenvectors of V in length scales, and every integral is a product of one-dimensional ones.

use super::product::{Factor, Powers, Prepared};
use crate::belief::PosteriorProcess;
use crate::measure::{Form, Form1};
use crate::numeric::linalg::{Mat, transpose_mul};

/// The observed points and the measure, centred, in length scales, rotated to independence.
#[derive(Debug)]
pub(super) struct Frame {
    factors: Vec<Factor>,
    /// A column a point.
    points: Mat,
}

impl Frame {
    /// The frame of a posterior and a measure; `None` where the measure does not factorise.
    pub fn new(posterior: &PosteriorProcess, form: &Form<'_>) -> Option<Frame> {
        let scales = &posterior.process().theta().length_scales;
        let (d, n) = (scales.len(), posterior.points().len());
        let centred = |center: &[f64]| {
            Mat::from_fn(d, n, |k, i| {
                (posterior.points().row(i)[k] - center[k]) / scales[k]
            })
        };
        match form {
            Form::Product(laws) if laws.len() == d => {
                let pairs: Option<Vec<_>> = laws.iter().zip(scales).map(factor).collect();
                let (factors, centers): (Vec<_>, Vec<_>) = pairs?.into_iter().unzip();
                let points = centred(&centers);
                Some(Frame { factors, points })
            }
            Form::Gaussian { mean, cov } if mean.len() == d => {
                let scaled = Mat::from_fn(d, d, |i, j| cov[i * d + j] / (scales[i] * scales[j]));
                let (values, vectors) = eigen(scaled);
                // Rounding may leave a vanishing eigenvalue below 0.
                let normal = |v: f64| Factor::Normal { var: v.max(0.0) };
                Some(Frame {
                    factors: values.into_iter().map(normal).collect(),
                    points: transpose_mul(&vectors, &centred(mean)),
                })
            }
            _ => None,
        }
    }

    /// The number of observed points.
    pub fn len(&self) -> usize {
        self.points.cols()
    }

    /// A rough count of operations of one single integral.
    pub fn single_cost(&self) -> f64 {
        self.factors.iter().map(|factor| factor.costs().0).sum()
    }

    /// A rough count of operations of one double integral.
    pub fn double_cost(&self) -> f64 {
        self.factors.iter().map(|factor| factor.costs().1).sum()
    }

    /// The product of squared exponentials around some of the observed points: one squared
    /// exponential to the power of their number, around their mean, times a constant.
    pub fn gather(&self, indices: &[usize]) -> Bundle {
        let d = self.factors.len();
        let mut center = vec![0.0; d];
        for &i in indices {
            for (c, x) in center.iter_mut().zip(self.points.col(i)) {
                *c += x / indices.len() as f64;
            }
        }
        let squares = indices.iter().map(|&i| {
            let pairs = self.points.col(i).iter().zip(&center);
            pairs.map(|(x, c)| (x - c) * (x - c)).sum::<f64>()
        });
        let exponent = -0.5 * squares.sum::<f64>();
        Bundle {
            power: indices.len(),
            center,
            exponent,
        }
    }

    /// The integral of a bundle.
    pub fn single(&self, bundle: &Bundle) -> f64 {
        if bundle.power == 0 {
            return 1.0;
        }
        let pairs = self.factors.iter().zip(&bundle.center);
        let integral: f64 = pairs
            .map(|(f, &c)| f.single(bundle.power as f64, c))
            .product();
        bundle.exponent.exp() * integral
    }

    /// The double integrals with these powers.
    pub fn double(&self, powers: Powers) -> Double {
        let mut constant = 1.0;
        let prepare = |factor: &Factor| {
            let (prepared, scale) = factor.prepare(powers);
            constant *= scale;
            prepared
        };
        let factors = self.factors.iter().map(prepare).collect();
        Double { factors, constant }
    }
}

/// A product of squared exponentials: exp(exponent - power |x - center|^2 / 2).
#[derive(Debug, Clone)]
pub(super) struct Bundle {
    pub power: usize,
    pub center: Vec<f64>,
    pub exponent: f64,
}

/// The double integral of a bundle in x, a bundle in y and a power of k(x, y), determinants done.
#[derive(Debug)]
pub(super) struct Double {
    factors: Vec<Prepared>,
    constant: f64,
}

impl Double {
    /// The integral for two bundles with the powers it was prepared for.
    pub fn at(&self, left: &Bundle, right: &Bundle) -> f64 {
        let (mut exponent, mut value) = (left.exponent + right.exponent, self.constant);
        let centers = left.center.iter().zip(&right.center);
        for (factor, (&c, &e)) in self.factors.iter().zip(centers) {
            let (power, scale) = factor.at(c, e);
            exponent += power;
            value *= scale;
        }
        value * exponent.exp()
    }
}

/// One coordinate's factor in length scales, and its centre.
fn factor((law, scale): (&Form1, &f64)) -> Option<(Factor, f64)> {
    match *law {
        Form1::Uniform { lo, hi } => {
            let half = 0.5 * (hi - lo);
            let factor = Factor::Uniform { half: half / scale };
            Some((factor, lo + half))
        }
        Form1::Normal { mean, sd } => {
            let sd = sd / scale;
            Some((Factor::Normal { var: sd * sd }, mean))
        }
        Form1::Other => None,
    }
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi rotations.
///
/// With the stopping rule |a_ij| <= eps sqrt(a_ii a_jj) small eigenvalues of a positive definite
/// matrix keep their relative accuracy (Demmel and Veselic 1992), which matters when scaled
/// variances span many orders. The matrix is d x d: speed does not.
fn eigen(mut a: Mat) -> (Vec<f64>, Mat) {
    let d = a.rows();
    let mut vectors = Mat::from_fn(d, d, |i, j| f64::from(i == j));
    // Convergence is quadratic: ten sweeps are ample, sixty a safe end.
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..d {
            for q in p + 1..d {
                let small = f64::EPSILON * (a[(p, p)] * a[(q, q)]).abs().sqrt();
                if a[(p, q)].abs() > small {
                    rotate(&mut a, &mut vectors, p, q);
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..d).map(|i| a[(i, i)]).collect(), vectors)
}

/// One Jacobi rotation that annihilates a_pq.
fn rotate(a: &mut Mat, vectors: &mut Mat, p: usize, q: usize) {
    let theta = 0.5 * (a[(q, q)] - a[(p, p)]) / a[(p, q)];
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let shift = t * a[(p, q)];
    a[(p, p)] -= shift;
    a[(q, q)] += shift;
    a[(p, q)] = 0.0;
    a[(q, p)] = 0.0;
    for k in 0..a.rows() {
        if k != p && k != q {
            let (kp, kq) = (a[(k, p)], a[(k, q)]);
            let (new_p, new_q) = (c * kp - s * kq, s * kp + c * kq);
            (a[(k, p)], a[(p, k)]) = (new_p, new_p);
            (a[(k, q)], a[(q, k)]) = (new_q, new_q);
        }
        let (kp, kq) = (vectors[(k, p)], vectors[(k, q)]);
        vectors[(k, p)] = c * kp - s * kq;
        vectors[(k, q)] = s * kp + c * kq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::linalg::mul;

    #[test]
    fn jacobi_rebuilds_the_matrix() {
        let d = 6;
        let a = Mat::from_fn(d, d, |i, j| {
            let scale = 10.0_f64.powi(i as i32 - 3) * 10.0_f64.powi(j as i32 - 3);
            scale * ((-0.3 * (i as f64 - j as f64).powi(2)).exp() + f64::from(i == j))
        });
        let (values, vectors) = eigen(a.clone());
        let scaled = Mat::from_fn(d, d, |i, j| vectors[(i, j)] * values[j]);
        let back = mul(&scaled, &vectors.transposed());
        let identity = transpose_mul(&vectors, &vectors);
        for i in 0..d {
            for j in 0..d {
                let size = (a[(i, i)] * a[(j, j)]).sqrt();
                assert!((back[(i, j)] - a[(i, j)]).abs() < 1e-11 * size);
                assert!((identity[(i, j)] - f64::from(i == j)).abs() < 1e-14);
            }
        }
    }
}

//! Integrate polynomials of a Gaussian process with the squared exponential kernel.
//!
//! With u_i = k(x, x_i), w the weights, A = (L L')^-1 and
//!
//! ```text
//! z = int u        zz = dint k     Q = int u u'
//! R = dint u k v'  r = dint k v    q2 = dint k^2
//! ```
//!
//! degree 1 needs z and zz, degree 2 the rest, all in O(n^3). A never appears: what Sigma_D loses
//! to the data is a squared norm of L^-1 times something.
//!
//! Degree 1 is as well conditioned as the posterior itself. From degree 2 on, the rounding of Q and
//! R (an eps of each entry) meets L^-1 on both sides, and with points much closer than a length
//! scale nothing may be left: eight points in a square of a quarter length scale a side cost all
//! but four digits of the mean. So sizes are summed beside the values, term by term in absolute
//! value, and an answer that rounding may have spoiled is not given.

use super::algebra::{Algebra, Bivariate, Term};
use super::frame::{Bundle, Frame};
use super::product::Powers;
use super::{Case, LIMIT, trusted};
use crate::numeric::linalg::{Cholesky, Mat, dot, mul};

/// Degree 0 or 1.
pub(super) fn linear(case: &Case<'_>) -> Option<(f64, f64)> {
    let frame = Frame::new(case.posterior, &case.form)?;
    let s = case.posterior.process().theta().output_scale;
    let z = (0..frame.len()).map(|i| s * frame.single(&frame.gather(&[i])));
    let zz = s * alone(&frame, 1);
    Some(linear_from(case, z.collect(), zz))
}

/// Degree 0 or 1 from the integrals of k: mean a_0 + a_1 (mu + z' w), var a_1^2 (zz - |L^-1 z|^2).
pub(super) fn linear_from(case: &Case<'_>, mut z: Vec<f64>, zz: f64) -> (f64, f64) {
    let coefficient = |k: usize| case.coefficients.get(k).copied().unwrap_or(0.0);
    let (constant, slope) = (coefficient(0), coefficient(1));
    let mean = constant + slope * (case.mu + dot(&z, case.posterior.weights()));
    case.posterior.factor().solve_lower_vec(&mut z);
    let var = (zz - dot(&z, &z)).max(0.0);
    (mean, slope * slope * var)
}

/// The double integral of k^j, in the unit output scale.
fn alone(frame: &Frame, between: usize) -> f64 {
    let none = frame.gather(&[]);
    let powers = Powers {
        left: 0,
        right: 0,
        between,
    };
    frame.double(powers).at(&none, &none)
}

/// The single integrals that degree 2 needs.
struct Singles {
    z: Vec<f64>,
    q: Mat,
    /// The output scale.
    s: f64,
}

impl Singles {
    fn new(frame: &Frame, s: f64) -> Singles {
        let n = frame.len();
        let mut q = Mat::zeros(n, n);
        for j in 0..n {
            for i in j..n {
                q[(i, j)] = s * s * frame.single(&frame.gather(&[i, j]));
            }
        }
        q.mirror_lower();
        let z = (0..n).map(|i| s * frame.single(&frame.gather(&[i])));
        Singles {
            z: z.collect(),
            q,
            s,
        }
    }
}

/// The double integrals that degree 2 needs.
struct Doubles {
    r: Mat,
    /// dint k(x, x') k(x', x_i).
    one_sided: Vec<f64>,
    zz: f64,
    /// dint k^2.
    q2: f64,
}

impl Doubles {
    fn new(frame: &Frame, s: f64) -> Doubles {
        let n = frame.len();
        let points: Vec<Bundle> = (0..n).map(|i| frame.gather(&[i])).collect();
        let none = frame.gather(&[]);
        let double = |left, right| {
            frame.double(Powers {
                left,
                right,
                between: 1,
            })
        };
        let (one, both) = (double(0, 1), double(1, 1));
        let mut r = Mat::zeros(n, n);
        for j in 0..n {
            for i in j..n {
                r[(i, j)] = s * s * s * both.at(&points[i], &points[j]);
            }
        }
        r.mirror_lower();
        let one_sided = points.iter().map(|x| s * s * one.at(&none, x));
        Doubles {
            r,
            one_sided: one_sided.collect(),
            zz: s * alone(frame, 1),
            q2: s * s * alone(frame, 2),
        }
    }
}

/// Degree 2, matched or linearised.
///
/// With t(x) = xi'(mu_D) = b + 2 a_2 w'u, b = a_1 + 2 a_2 mu:
///
/// ```text
/// matched      int xi(mu_D) + a_2 Sigma_D      dint 2 a_2^2 Sigma_D^2 + t Sigma_D t'
/// linearised   int xi(mu_D)                    dint t Sigma_D t'
/// ```
pub(super) fn quadratic(case: &Case<'_>) -> Option<(f64, f64)> {
    let frame = Frame::new(case.posterior, &case.form)?;
    let n = frame.len() as f64;
    if n * n * (3.0 * n + 0.5 * frame.double_cost()) > LIMIT {
        return None;
    }
    let &[a0, a1, a2] = &case.coefficients[..] else {
        return None;
    };
    let k = Singles::new(&frame, case.posterior.process().theta().output_scale);
    let whitener = Whitener::new(case.posterior.factor());
    let (q, q_size) = whitener.both_sides(&k.q);
    let parabola = Parabola {
        at_mu: a0 + case.mu * (a1 + case.mu * a2),
        slope: a1 + 2.0 * a2 * case.mu,
        a2,
        w: case.posterior.weights(),
    };
    let (mut mean, mut mean_size) = parabola.mean(&k);
    let unknown = k.s - trace(&q);
    if !case.linearised {
        mean += a2 * unknown;
        mean_size += a2.abs() * (k.s + trace(&q_size));
    }
    // By Cauchy and Schwarz the variance is at most this: a mean that rounding has spoiled even so
    // is not worth the double integrals.
    let bound = parabola.mean_square_slope(&k) * unknown + 2.0 * a2 * a2 * unknown * unknown;
    trusted((mean, bound), (mean_size, 0.0))?;

    let kk = Doubles::new(&frame, k.s);
    let (mut var, mut var_size) = parabola.variance(&k, &kk, &whitener);
    if !case.linearised {
        let (r, r_size) = whitener.both_sides(&kk.r);
        let square = dot(q.as_slice(), q.as_slice());
        let square_size = 2.0 * dot(&absolute(q.as_slice()), q_size.as_slice());
        let twice = 2.0 * a2 * a2;
        var += twice * (kk.q2 - 2.0 * trace(&r) + square);
        var_size += twice * (kk.q2 + 2.0 * trace(&r_size) + square_size);
    }
    trusted((mean, var), (mean_size, var_size))
}

/// xi(mu_D) = at_mu + slope h + a_2 h^2 with h = w'u; every number comes with the sum of the
/// absolute values of what makes it.
struct Parabola<'a> {
    at_mu: f64,
    slope: f64,
    a2: f64,
    w: &'a [f64],
}

impl Parabola<'_> {
    /// int xi(mu_D).
    fn mean(&self, k: &Singles) -> (f64, f64) {
        let of = |w: &[f64]| (dot(&k.z, w), dot(w, &k.q.mul_vec(w)));
        let ((z, q), (z_size, q_size)) = (of(self.w), of(&absolute(self.w)));
        (
            self.at_mu + self.slope * z + self.a2 * q,
            self.slope.abs() * z_size + self.a2.abs() * q_size,
        )
    }

    /// int t^2.
    fn mean_square_slope(&self, k: &Singles) -> f64 {
        let (slope, twice) = (self.slope, 2.0 * self.a2);
        let bent = dot(self.w, &k.q.mul_vec(self.w));
        slope * slope + twice * (2.0 * slope * dot(&k.z, self.w) + twice * bent)
    }

    /// dint t Sigma_D t'.
    fn variance(&self, k: &Singles, kk: &Doubles, whitener: &Whitener) -> (f64, f64) {
        let (slope, twice) = (self.slope, 2.0 * self.a2);
        let w_size = absolute(self.w);
        // int t u, and what rounding may add to it.
        let lost = combine(slope, &k.z, twice, &k.q.mul_vec(self.w));
        let lost = whitener.value.mul_vec(&lost);
        let noise = combine(slope.abs(), &k.z, twice.abs(), &k.q.mul_vec(&w_size));
        let lost_size = dot(&absolute(&lost), &whitener.size.mul_vec(&noise));
        let kept = |cross: f64, w: &[f64]| {
            let bent = twice * twice * dot(w, &kk.r.mul_vec(w));
            slope * slope * kk.zz + cross * dot(&kk.one_sided, w) + bent
        };
        let cross = 2.0 * slope * twice;
        (
            kept(cross, self.w) - dot(&lost, &lost),
            kept(cross.abs(), &w_size) + 2.0 * lost_size,
        )
    }
}

/// L^-1 and its absolute value, which carries the rounding of an integral to what it is used for.
pub(super) struct Whitener {
    pub value: Mat,
    pub size: Mat,
}

impl Whitener {
    pub fn new(factor: &Cholesky) -> Whitener {
        let n = factor.order();
        let mut value = Mat::from_fn(n, n, |i, j| f64::from(i == j));
        factor.solve_lower(&mut value);
        let size = Mat::from_fn(n, n, |i, j| value[(i, j)].abs());
        Whitener { value, size }
    }

    /// L^-1 M L^-T for a symmetric M of positive entries, and the same in absolute values.
    fn both_sides(&self, m: &Mat) -> (Mat, Mat) {
        let sides = |whitener: &Mat| mul(&mul(whitener, m), &whitener.transposed());
        (sides(&self.value), sides(&self.size))
    }
}

fn absolute(v: &[f64]) -> Vec<f64> {
    v.iter().map(|x| x.abs()).collect()
}

/// a x + b y.
fn combine(a: f64, x: &[f64], b: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()
}

fn trace(m: &Mat) -> f64 {
    (0..m.rows()).map(|i| m[(i, i)]).sum()
}

/// Any degree: K = sum over k of c^k / k! a_k a'_k, or xi'(mu) c xi'(mu') where linearised.
pub(super) fn polynomial(case: &Case<'_>) -> Option<(f64, f64)> {
    let algebra = Algebra::new(case.posterior, &case.form)?;
    let a = &case.coefficients;
    algebra.affords(0, case.degree(), 0)?;
    algebra.affords(1, case.degree() - 1, case.degree() - 1)?;
    let (mean, terms) = if case.linearised {
        let slope = Bivariate::power_series(&derivative(a, 1));
        let term = Term::new(1, 1.0, slope.clone(), slope);
        (Bivariate::power_series(a), vec![term])
    } else {
        (Bivariate::expectation(a), matched_terms(a))
    };
    let (mean, var) = (algebra.mean(&mean)?, algebra.double(&terms)?);
    trusted((mean.0, var.0), (mean.1, var.1))
}

fn matched_terms(a: &[f64]) -> Vec<Term> {
    let mut factorial = 1.0;
    let mut terms = Vec::new();
    for k in 1..a.len() {
        factorial *= k as f64;
        let expected = Bivariate::expectation(&derivative(a, k));
        terms.push(Term::new(k, 1.0 / factorial, expected.clone(), expected));
    }
    terms
}

/// The coefficients of the k-th derivative of a polynomial.
fn derivative(coefficients: &[f64], k: usize) -> Vec<f64> {
    let falling = |i: usize| (i - k + 1..=i).map(|i| i as f64).product::<f64>();
    let kept = coefficients.iter().enumerate().skip(k);
    kept.map(|(i, a)| a * falling(i)).collect()
}

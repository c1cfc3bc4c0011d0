//! Warp by any polynomial, with exact finite moments.

use super::{Cov, Local, Marginal, Mean, PolynomialForm, Range, Warp};
use crate::error::{Error, Result, finite};

/// A polynomial warp of any degree.
///
/// * Definition: xi(g) = a_0 + a_1 g + ... + a_p g^p.
/// * Moments: a_k = E[xi^(k)] = sum over j of xi^(k+2j)(mu) s^j / (2^j j!), then m = a_0 and
///   K = sum of c^k / k! a_k a'_k, both finite sums.
/// * Range: xi^-1 takes the rightmost branch, from the largest turning point (if there is one) to
///   infinity; the range is the image of that branch.
/// * Reference: Withers (1985); Chai and Garnett (2019), section 3.1.
///
/// ```
/// use warpquad::warp::{Marginal, Polynomial, Square, Warp};
/// let (poly, square) = (Polynomial::new(vec![0.5, 0.0, 1.0])?, Square::new(0.5)?);
/// let at = Marginal { mu: 0.3, s: 2.0 };
/// assert!((poly.mean(at).value - square.mean(at).value).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Polynomial {
    coefficients: Vec<f64>,
    /// The left end of the branch that xi^-1 takes.
    branch: f64,
}

impl Polynomial {
    /// The polynomial with these coefficients, lowest first; the last must not vanish.
    pub fn new(coefficients: Vec<f64>) -> Result<Polynomial> {
        for (k, &a) in coefficients.iter().enumerate() {
            finite(&format!("coefficients[{k}]"), a)?;
        }
        if coefficients.len() < 2 || coefficients.last() == Some(&0.0) {
            let reason = "need degree 1 or more and a last coefficient other than 0";
            return Err(Error::spec("coefficients", reason));
        }
        let branch = real_roots(&derivative(&coefficients))
            .last()
            .copied()
            .unwrap_or(f64::NEG_INFINITY);
        Ok(Polynomial {
            coefficients,
            branch,
        })
    }

    /// g + g^3 / 3: monotone with a slope of at least 1, so it needs no choice of branch.
    pub(super) fn cubic() -> Polynomial {
        Polynomial {
            coefficients: vec![0.0, 1.0, 0.0, 1.0 / 3.0],
            branch: f64::NEG_INFINITY,
        }
    }

    fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// a_0 ... a_degree at a marginal.
    fn expectations(&self, at: Marginal, out: &mut [f64]) {
        let derivatives = taylor_derivatives(&self.coefficients, at.mu);
        for (k, a) in out.iter_mut().enumerate() {
            let (mut heat, mut sum) = (1.0, 0.0);
            for (j, d) in derivatives[k..].iter().step_by(2).enumerate() {
                if j > 0 {
                    heat *= at.s / (2.0 * j as f64);
                }
                sum += d * heat;
            }
            *a = sum;
        }
    }
}

impl Warp for Polynomial {
    fn name(&self) -> &'static str {
        "polynomial"
    }

    fn range(&self) -> Range {
        let rises = self.coefficients[self.degree()] > 0.0;
        let start = if self.branch.is_finite() {
            evaluate(&self.coefficients, self.branch)
        } else if rises {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        if rises {
            Range {
                lo: start,
                hi: f64::INFINITY,
            }
        } else {
            Range {
                lo: f64::NEG_INFINITY,
                hi: start,
            }
        }
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: 0.0,
            value: evaluate(&self.coefficients, g),
            slope: evaluate(&derivative(&self.coefficients), g),
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        let Range { lo, hi } = self.range();
        if f.is_nan() || f < lo || f > hi {
            return f64::NAN;
        }
        let rise = |g: f64| {
            let lead = self.coefficients[self.degree()].signum();
            lead * (evaluate(&self.coefficients, g) - f)
        };
        monotone_root(rise, self.branch)
    }

    fn mean(&self, at: Marginal) -> Mean {
        let mut a = vec![0.0; self.degree() + 1];
        self.expectations(at, &mut a);
        Mean::plain(a[0], a[1], 0.5 * a.get(2).copied().unwrap_or(0.0))
    }

    fn feature_count(&self) -> usize {
        self.degree()
    }

    fn features(&self, at: Marginal, out: &mut [f64]) {
        let mut a = vec![0.0; self.degree() + 1];
        self.expectations(at, &mut a);
        out.copy_from_slice(&a[1..]);
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        // left[k] is a_(k+1), so term k of K is left[k - 1].
        let a = |k: usize| left.get(k - 1).copied().unwrap_or(0.0);
        let b = |k: usize| right.get(k - 1).copied().unwrap_or(0.0);
        let mut out = Cov::default();
        let mut before = 1.0; // c^(k-1) / (k-1)!
        for k in 1..=left.len() {
            let term = before * c / k as f64;
            out.value += term * a(k) * b(k);
            out.d_c += before * a(k) * b(k);
            out.d_mu += term * a(k + 1) * b(k);
            out.d_mu2 += term * a(k) * b(k + 1);
            out.d_s += 0.5 * term * a(k + 2) * b(k);
            out.d_s2 += 0.5 * term * a(k) * b(k + 2);
            before = term;
        }
        out
    }

    fn as_polynomial(&self) -> Option<PolynomialForm> {
        PolynomialForm::plain(self.coefficients.clone())
    }
}

fn evaluate(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, a| sum * x + a)
}

fn derivative(coefficients: &[f64]) -> Vec<f64> {
    let powers = coefficients.iter().enumerate().skip(1);
    powers.map(|(k, a)| k as f64 * a).collect()
}

/// xi, xi', xi'', ... at x.
fn taylor_derivatives(coefficients: &[f64], x: f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(coefficients.len());
    let mut current = coefficients.to_vec();
    while !current.is_empty() {
        out.push(evaluate(&current, x));
        current = derivative(&current);
    }
    out
}

/// All real roots where the sign changes, ascending: between turning points a polynomial is
/// monotone.
fn real_roots(coefficients: &[f64]) -> Vec<f64> {
    let Some(lead) = coefficients.last() else {
        return Vec::new();
    };
    if coefficients.len() == 1 {
        return Vec::new();
    }
    // Cauchy's bound on the modulus of every root.
    let bound = 1.0
        + coefficients
            .iter()
            .map(|a| (a / lead).abs())
            .fold(0.0, f64::max);
    let mut ends = vec![-bound];
    ends.extend(real_roots(&derivative(coefficients)));
    ends.push(bound);
    let at = |x: f64| evaluate(coefficients, x);
    ends.windows(2)
        .filter(|w| at(w[0]) * at(w[1]) < 0.0)
        .map(|w| bisect(|x| at(x) * at(w[1]).signum(), w[0], w[1]))
        .collect()
}

/// The root of an increasing function on (left, infinity).
fn monotone_root(rise: impl Fn(f64) -> f64, left: f64) -> f64 {
    let anchor = if left.is_finite() { left } else { 0.0 };
    let mut step = 1.0;
    while rise(anchor + step) < 0.0 && step < 1e300 {
        step *= 2.0;
    }
    let high = anchor + step;
    let mut low = anchor;
    if left.is_infinite() {
        step = 1.0;
        while rise(low) > 0.0 && step < 1e300 {
            low = anchor - step;
            step *= 2.0;
        }
    }
    bisect(rise, low, high)
}

/// Halve [low, high] down to neighbouring doubles; `rise` increases through its root.
fn bisect(rise: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return if rise(low).abs() < rise(high).abs() {
                low
            } else {
                high
            };
        }
        if rise(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

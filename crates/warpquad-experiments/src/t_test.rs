//! The one-sided paired t-test that the paper's claims of significance rest on.

use crate::table::mean;
use warpquad::numeric::quantile::student_t_tails;

/// The outcome of a paired test of "a is larger than b".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The statistic; positive where a is larger.
    pub t: f64,
    /// Degrees of freedom: pairs less one.
    pub df: f64,
    /// The chance of a t at least as large if the mean difference is not positive.
    pub p: f64,
}

/// Test whether `a` is larger than `b` on average, given in pairs.
///
/// NaN for fewer than two pairs. If all differences are one number, t is infinite with its sign
/// (NaN if it is 0).
///
/// ```
/// use warpquad_experiments::t_test::paired;
/// let (a, b) = ([2.0, 3.0, 5.0], [1.0, 1.0, 2.0]);
/// let (up, down) = (paired(&a, &b), paired(&b, &a));
/// assert!((up.p + down.p - 1.0).abs() < 1e-15 && up.t == -down.t);
/// ```
pub fn paired(a: &[f64], b: &[f64]) -> TTest {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let n = differences.len() as f64;
    let center = mean(&differences);
    let squares: f64 = differences.iter().map(|d| (d - center).powi(2)).sum();
    let t = center / (squares / (n - 1.0) / n).sqrt();
    let df = n - 1.0;
    let p = match t {
        t if t == f64::INFINITY => 0.0,
        t if t == f64::NEG_INFINITY => 1.0,
        t if t.is_nan() || df < 1.0 => f64::NAN,
        t => student_t_tails(df, t).1,
    };
    TTest { t, df, p }
}

//! Leave f as it is: f = g, ordinary Bayesian quadrature.

use super::{Cov, Equal, Local, Marginal, Mean, PolynomialForm, Range, Warp};

/// The identity warp, which makes the method Bayesian Monte Carlo.
///
/// * Definition: xi(g) = g.
/// * Moments: m = mu, K = c.
/// * Range: all of R.
/// * Reference: Rasmussen and Ghahramani (2003).
///
/// ```
/// use warpquad::warp::{Identity, Marginal, Warp};
/// assert_eq!(Identity.mean(Marginal { mu: -2.0, s: 3.0 }).value, -2.0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl Warp for Identity {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn range(&self) -> Range {
        Range::REAL
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: 0.0,
            value: g,
            slope: 1.0,
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        f
    }

    fn mean(&self, at: Marginal) -> Mean {
        Mean::plain(at.mu, 1.0, 0.0)
    }

    fn cov_partials(&self, _: &[f64], _: &[f64], c: f64) -> Cov {
        Cov {
            value: c,
            d_c: 1.0,
            ..Cov::default()
        }
    }

    fn is_function_of_c(&self) -> bool {
        true
    }

    fn equal(&self, _: Marginal, c: &[f64], out: Equal<'_>) {
        out.value.copy_from_slice(c);
        out.d_c.fill(1.0);
    }

    fn cov_column(&self, _: &[f64], _: &[f64], _: &mut [f64]) {}

    fn as_polynomial(&self) -> Option<PolynomialForm> {
        PolynomialForm::plain(vec![0.0, 1.0])
    }
}

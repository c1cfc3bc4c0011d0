//! Keep f above alpha by squaring: f = alpha + g^2.

use super::{Cov, Equal, Local, Marginal, Mean, PolynomialForm, Range, Warp};
use crate::error::{Result, finite};
use std::sync::Arc;

/// The square warp of WSABI, in the form of the paper's Table 1.
///
/// * Definition: xi(g) = alpha + g^2, on the branch g >= 0. WSABI's own alpha + g^2/2 is this warp
///   with g scaled by sqrt(2): the same family of beliefs.
/// * Moments: m = alpha + mu^2 + s, K = 2 c^2 + 4 mu c mu'.
/// * Range: (alpha, infinity).
/// * Numerics: alpha is in the unit of the warp, so a scaled warp scales it too.
/// * Reference: Gunter et al. (2014); Chai and Garnett (2019), Table 1.
///
/// ```
/// use warpquad::warp::{Square, Warp};
/// let warp = Square::new(0.25)?;
/// assert!((warp.forward(warp.inverse(4.25)) - 4.25).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Square {
    alpha: f64,
}

impl Square {
    /// The square warp above `alpha`.
    pub fn new(alpha: f64) -> Result<Square> {
        finite("alpha", alpha).map(|alpha| Square { alpha })
    }
}

impl Warp for Square {
    fn name(&self) -> &'static str {
        "square"
    }

    fn range(&self) -> Range {
        Range {
            lo: self.alpha,
            hi: f64::INFINITY,
        }
    }

    fn standing_on(&self, lowest: f64) -> Option<Result<Arc<dyn Warp>>> {
        Some(Square::new(lowest).map(|square| Arc::new(square) as Arc<dyn Warp>))
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: 0.0,
            value: self.alpha + g * g,
            slope: 2.0 * g,
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        (f - self.alpha).sqrt()
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        if self.alpha == 0.0 {
            (0.5 * ln_f).exp()
        } else {
            self.inverse(ln_f.exp())
        }
    }

    fn mean(&self, at: Marginal) -> Mean {
        Mean::plain(self.alpha + at.mu * at.mu + at.s, 2.0 * at.mu, 1.0)
    }

    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        2.0 * c * c + 4.0 * left[0] * c * right[0]
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        let (mu, mu2) = (left[0], right[0]);
        Cov {
            value: self.cov(left, right, c),
            d_c: 4.0 * (c + mu * mu2),
            d_mu: 4.0 * c * mu2,
            d_mu2: 4.0 * c * mu,
            ..Cov::default()
        }
    }

    fn equal(&self, at: Marginal, c: &[f64], out: Equal<'_>) {
        let mu = at.mu;
        for (i, &c) in c.iter().enumerate() {
            out.value[i] = 2.0 * c * (c + 2.0 * mu * mu);
            out.d_c[i] = 4.0 * (c + mu * mu);
            out.d_mu[i] = 8.0 * c * mu;
        }
        out.d_s.fill(0.0);
    }

    fn as_polynomial(&self) -> Option<PolynomialForm> {
        PolynomialForm::plain(vec![self.alpha, 0.0, 1.0])
    }
}

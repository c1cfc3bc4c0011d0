//! A warp of one's own: f = exp(g), its moments in closed form.

use warpquad::warp::{Cov, Local, Marginal, Mean, Range, Warp};

/// xi(g) = exp(g).
#[derive(Debug, Clone, Copy)]
pub struct Exponential;

impl Warp for Exponential {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn range(&self) -> Range {
        Range::POSITIVE
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: g,
            value: 1.0,
            slope: 1.0,
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        f.ln()
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        ln_f
    }

    fn mean(&self, at: Marginal) -> Mean {
        // m = exp(mu + s/2) is its own unit.
        Mean {
            ln_unit: at.mu + 0.5 * at.s,
            value: 1.0,
            d_mu: 0.0,
            d_s: 0.0,
            ln_unit_mu: 1.0,
            ln_unit_s: 0.5,
        }
    }

    fn cov_partials(&self, _: &[f64], _: &[f64], c: f64) -> Cov {
        // K = m m' expm1(c).
        Cov {
            value: c.exp_m1(),
            d_c: c.exp(),
            ..Cov::default()
        }
    }
}

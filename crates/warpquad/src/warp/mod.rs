//! Step 1: map an unconstrained g to a constrained f = xi(g), and match the first two moments of f.
//!
//! With g, g' jointly normal (means mu, mu', variances s, s', covariance c) and a_k = E[xi^(k)(g)],
//!
//! ```text
//! m = a_0          K = sum over k >= 1 of c^k / k! a_k a'_k
//! ```
//!
//! Every warp here is a closed form of these two lines, or evaluates them by quadrature.
//!
//! # Units
//!
//! A likelihood spans thousands of nats, so moments come in a unit of their own: f - offset =
//! exp(ln_unit) * value. The log warp's unit at a point is its own mean, so its value is 1 and its
//! covariance expm1(c), whatever the scale. Covariances are in the product of the two points'
//! units.

mod affine;
mod capped;
mod gumbel;
mod gumbel_tail;
mod hermite;
mod identity;
mod log;
mod numeric;
mod polynomial;
mod probit;
mod square;
mod table;

pub use affine::Affine;
pub use capped::Capped;
pub use gumbel::Gumbel;
pub use identity::Identity;
pub use log::Log;
pub use numeric::Numeric;
pub use polynomial::Polynomial;
pub use probit::Probit;
pub use square::Square;
pub use table::Table;

use crate::error::{Error, Result};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// The open interval that f is known to lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The lower end, possibly -infinity.
    pub lo: f64,
    /// The upper end, possibly infinity.
    pub hi: f64,
}

impl Range {
    /// All of R.
    pub const REAL: Range = Range {
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
    };
    /// The positive numbers.
    pub const POSITIVE: Range = Range {
        lo: 0.0,
        hi: f64::INFINITY,
    };
    /// The unit interval.
    pub const UNIT: Range = Range { lo: 0.0, hi: 1.0 };

    /// Whether scaling f by a positive constant leaves the range as it is, so that f may be
    /// measured in units of its largest observation.
    ///
    /// ```
    /// use warpquad::warp::Range;
    /// assert!(Range::POSITIVE.is_cone() && !Range::UNIT.is_cone());
    /// ```
    pub fn is_cone(&self) -> bool {
        let ray = |end: f64| end == 0.0 || end.is_infinite();
        ray(self.lo) && ray(self.hi)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "({}, {})", self.lo, self.hi)
    }
}

/// The latent g at one point: normal with this mean and variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marginal {
    /// The mean of g.
    pub mu: f64,
    /// The variance of g.
    pub s: f64,
}

/// xi at one g: xi(g) - offset = exp(ln_unit) value, xi'(g) = exp(ln_unit) slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Local {
    /// The ln of the unit.
    pub ln_unit: f64,
    /// xi(g) less the offset, in the unit.
    pub value: f64,
    /// xi'(g) in the unit.
    pub slope: f64,
}

/// The mean of f at one point, m = offset + exp(ln_unit) value, with its partial derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The ln of the unit u.
    pub ln_unit: f64,
    /// m less the offset, in the unit.
    pub value: f64,
    /// d value / d mu.
    pub d_mu: f64,
    /// d value / d s.
    pub d_s: f64,
    /// d ln u / d mu.
    pub ln_unit_mu: f64,
    /// d ln u / d s.
    pub ln_unit_s: f64,
}

impl Mean {
    /// A mean in the unit 1.
    fn plain(value: f64, d_mu: f64, d_s: f64) -> Mean {
        Mean {
            ln_unit: 0.0,
            value,
            d_mu,
            d_s,
            ln_unit_mu: 0.0,
            ln_unit_s: 0.0,
        }
    }
}

/// The covariance K(f, f') / (u u') with its partial derivatives, the units' own left out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cov {
    /// The covariance in the two points' units.
    pub value: f64,
    /// In the latent covariance c.
    pub d_c: f64,
    /// In the left mean mu.
    pub d_mu: f64,
    /// In the right mean mu'.
    pub d_mu2: f64,
    /// In the left variance s, with c held.
    pub d_s: f64,
    /// In the right variance s', with c held.
    pub d_s2: f64,
}

/// xi(g) = offset + exp(ln_unit) (a_0 + a_1 g + ... + a_p g^p).
#[derive(Debug, Clone, PartialEq)]
pub struct PolynomialForm {
    /// The constant outside the unit.
    pub offset: f64,
    /// ln of the unit.
    pub ln_unit: f64,
    /// a_0 to a_p.
    pub coefficients: Vec<f64>,
}

impl PolynomialForm {
    /// A polynomial in the unit 1.
    fn plain(coefficients: Vec<f64>) -> Option<PolynomialForm> {
        Some(PolynomialForm {
            offset: 0.0,
            ln_unit: 0.0,
            coefficients,
        })
    }
}

/// ln Var(f) at one point with its partial derivatives; -infinity where f is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LnVar {
    /// ln Var(f).
    pub value: f64,
    /// In the latent mean.
    pub d_mu: f64,
    /// In the latent variance.
    pub d_s: f64,
}

/// Covariances of pairs that all share one marginal, as functions of c alone.
///
/// This is the fit's hot path: under a prior with constant mean every observation has the same
/// marginal, and K is one power series in c for all pairs.
#[derive(Debug)]
pub struct Equal<'a> {
    /// The covariance in the unit squared.
    pub value: &'a mut [f64],
    /// In c.
    pub d_c: &'a mut [f64],
    /// In the shared mean (both sides together); empty if [`Warp::is_function_of_c`].
    pub d_mu: &'a mut [f64],
    /// In the shared variance (both sides together), with c held; empty if
    /// [`Warp::is_function_of_c`].
    pub d_s: &'a mut [f64],
}

impl Equal<'_> {
    /// Entry `i` from a pair's partials.
    fn set(&mut self, i: usize, cov: Cov) {
        self.value[i] = cov.value;
        self.d_c[i] = cov.d_c;
        self.d_mu[i] = cov.d_mu + cov.d_mu2;
        self.d_s[i] = cov.d_s + cov.d_s2;
    }
}

/// A warp xi: R -> Y with its two moments.
pub trait Warp: Debug + Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// Y, the range of f.
    fn range(&self) -> Range;

    /// Whether f may be measured in units of its largest observation.
    fn scales(&self) -> bool {
        self.range().is_cone()
    }

    /// The warp behind a mere change of units: a fit uses it, so that units cannot enter it.
    fn unscaled(&self) -> Option<&dyn Warp> {
        None
    }

    /// Whether g is about ln f, so that the log of a normal f is a quadratic mean of g.
    fn follows_ln_f(&self) -> bool {
        false
    }

    /// Whether it saturates at a depth that the data may choose.
    fn saturates(&self) -> bool {
        false
    }

    /// The same warp standing on a smallest value, as WSABI's does; `None` for most.
    fn standing_on(&self, _lowest: f64) -> Option<Result<Arc<dyn Warp>>> {
        None
    }

    /// xi and xi' at g, in a unit.
    fn local(&self, g: f64) -> Local;

    /// The unit and the value of [`Warp::local`] at many g, each of which becomes ln of its unit.
    fn locals(&self, g: &mut [f64], values: &mut [f64]) {
        for (g, value) in g.iter_mut().zip(values) {
            let local = self.local(*g);
            (*g, *value) = (local.ln_unit, local.value);
        }
    }

    /// The constant that moments and [`Warp::local`] leave out.
    fn offset(&self) -> f64 {
        0.0
    }

    /// xi^-1(f); NaN where f is outside the range. The ends of the range may map to infinities.
    fn inverse(&self, f: f64) -> f64;

    /// xi^-1(exp(ln_f)), without forming exp where the warp can avoid it.
    fn inverse_ln(&self, ln_f: f64) -> f64 {
        self.inverse(ln_f.exp())
    }

    /// The mean of f and its partials.
    fn mean(&self, at: Marginal) -> Mean;

    /// How many numbers [`Warp::features`] writes for a point.
    fn feature_count(&self) -> usize {
        2
    }

    /// What [`Warp::cov`] wants to know about a point, computed once a point: mu and s by default.
    fn features(&self, at: Marginal, out: &mut [f64]) {
        out[0] = at.mu;
        out[1] = at.s;
    }

    /// Cov(f, f') in the two units, from both points' features and the latent covariance c.
    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        self.cov_partials(left, right, c).value
    }

    /// The same with all partial derivatives.
    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov;

    /// Whether the covariance in units depends on c alone, so that its other partials vanish.
    fn is_function_of_c(&self) -> bool {
        false
    }

    /// Covariances of pairs that share one marginal.
    fn equal(&self, at: Marginal, c: &[f64], mut out: Equal<'_>) {
        let mut features = vec![0.0; self.feature_count()];
        self.features(at, &mut features);
        for (i, &c) in c.iter().enumerate() {
            out.set(i, self.cov_partials(&features, &features, c));
        }
    }

    /// Replace each latent covariance c between `left` and one of `rights` by K in units.
    fn cov_column(&self, left: &[f64], rights: &[f64], c: &mut [f64]) {
        for (c, right) in c.iter_mut().zip(rights.chunks_exact(self.feature_count())) {
            *c = self.cov(left, right, *c);
        }
    }

    /// Means and output scales to start a fit in f-space from, given the observed g.
    fn starts(&self, g: &[f64]) -> Vec<Marginal> {
        vec![sample_marginal(g)]
    }

    /// The lowest mean and the largest output scale that a fit in f-space may take, given the
    /// observed g.
    fn f_space_limits(&self, _g: &[f64]) -> Marginal {
        Marginal {
            mu: f64::NEG_INFINITY,
            s: f64::INFINITY,
        }
    }

    /// xi as a polynomial, if it is one: closed forms ask.
    fn as_polynomial(&self) -> Option<PolynomialForm> {
        None
    }

    /// Whether xi is exp, up to an affine map: the Taylor scheme asks.
    fn is_exponential(&self) -> bool {
        false
    }

    /// xi(g).
    fn forward(&self, g: f64) -> f64 {
        let local = self.local(g);
        self.offset() + local.ln_unit.exp() * local.value
    }

    /// ln xi(g): NaN where xi(g) is negative.
    fn ln_forward(&self, g: f64) -> f64 {
        let local = self.local(g);
        if self.offset() == 0.0 {
            local.ln_unit + local.value.ln()
        } else {
            self.forward(g).ln()
        }
    }

    /// ln Var(f) at a point, 2 ln u + ln K(x, x), with its partials: what acquisitions climb.
    fn ln_var(&self, at: Marginal) -> LnVar {
        let mut features = vec![0.0; self.feature_count()];
        self.features(at, &mut features);
        ln_var_by_cov(self, at, &features)
    }
}

/// ln Var(f) from the covariance of a point with itself.
fn ln_var_by_cov(warp: &(impl Warp + ?Sized), at: Marginal, features: &[f64]) -> LnVar {
    let mean = warp.mean(at);
    let cov = warp.cov_partials(features, features, at.s);
    // On the diagonal c = s moves with s.
    let d_s = cov.d_c + cov.d_s + cov.d_s2;
    LnVar {
        value: 2.0 * mean.ln_unit + cov.value.max(0.0).ln(),
        d_mu: 2.0 * mean.ln_unit_mu + (cov.d_mu + cov.d_mu2) / cov.value,
        d_s: 2.0 * mean.ln_unit_s + d_s / cov.value,
    }
}

/// The mean and variance of g as a marginal; the variance is 1 when the sample has none.
pub(crate) fn sample_marginal(g: &[f64]) -> Marginal {
    let n = g.len().max(1) as f64;
    let mu = g.iter().sum::<f64>() / n;
    let s = g.iter().map(|g| (g - mu).powi(2)).sum::<f64>() / n;
    Marginal {
        mu,
        s: if s > 0.0 { s } else { 1.0 },
    }
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Make one with its default parameters.
    pub build: fn() -> Arc<dyn Warp>,
}

/// All warps.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: "identity",
        summary: "f = g: no constraint (BMC)",
        build: || Arc::new(Identity),
    },
    Entry {
        name: "square",
        summary: "f = alpha + g^2: non-negative, moderate range (WSABI)",
        build: || Arc::new(Square::default()),
    },
    Entry {
        name: "log",
        summary: "f = exp(g): positive, large range (MMLT)",
        build: || Arc::new(Log),
    },
    Entry {
        name: "probit",
        summary: "f = Phi(g): between 0 and 1",
        build: || Arc::new(Probit),
    },
    Entry {
        name: "polynomial",
        summary: "f = sum of a_k g^k, on its rightmost branch; g + g^3/3 by default",
        build: || Arc::new(Polynomial::cubic()),
    },
    Entry {
        name: "gumbel",
        summary: "f = exp(-tau expm1(-g/tau)): log near the top, saturating; tau = 30",
        build: || Arc::new(Gumbel::default()),
    },
    Entry {
        name: "numeric",
        summary: "any xi and xi^-1, by quadrature; softplus by default",
        build: || Arc::new(Numeric::softplus()),
    },
];

/// The warp of that name, with its default parameters.
///
/// ```
/// let warp = warpquad::warp::by_name("probit")?;
/// assert!((warp.forward(0.0) - 0.5).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn Warp>> {
    let entry = REGISTRY.iter().find(|entry| entry.name == name);
    entry.map(|entry| (entry.build)()).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        let reason = format!("unknown warp '{name}'; there are {}", names.join(", "));
        Error::spec("warp", reason)
    })
}

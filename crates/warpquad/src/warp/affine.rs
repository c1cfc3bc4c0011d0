//! Shift, scale and flip a warp, for (-inf, a), (a, b) and (b, inf).

use super::{Cov, Equal, LnVar, Local, Marginal, Mean, PolynomialForm, Range, Warp};
use crate::error::{Error, Result, finite};
use std::sync::Arc;

/// f = offset + sign exp(ln_scale) xi(g), for any warp xi.
///
/// The scale is kept as a logarithm: a likelihood whose largest observation is 10^-10000 is an
/// ordinary log warp in units of that observation.
///
/// ```
/// use std::sync::Arc;
/// use warpquad::warp::{Affine, Log, Probit, Warp};
/// let rate = Affine::onto(2.0, 5.0)?;                       // (2, 5) through the probit
/// assert!((rate.forward(0.0) - 3.5).abs() < 1e-14);
/// let below = Affine::onto(f64::NEG_INFINITY, 1.0)?;        // (-inf, 1) through the log
/// assert!((below.forward(0.0) - 0.0).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Affine {
    warp: Arc<dyn Warp>,
    offset: f64,
    sign: f64,
    ln_scale: f64,
}

impl Affine {
    /// f = offset + scale xi(g); the scale may have either sign but not vanish.
    pub fn new(warp: Arc<dyn Warp>, offset: f64, scale: f64) -> Result<Affine> {
        finite("offset", offset)?;
        finite("scale", scale)?;
        if scale == 0.0 {
            return Err(Error::spec("scale", "must not be 0: f would be a constant"));
        }
        Ok(Affine {
            warp,
            offset,
            sign: scale.signum(),
            ln_scale: scale.abs().ln(),
        })
    }

    /// f = exp(ln_scale) xi(g): a warp in units of exp(ln_scale).
    pub fn scaled(warp: Arc<dyn Warp>, ln_scale: f64) -> Result<Affine> {
        Ok(Affine {
            warp,
            offset: 0.0,
            sign: 1.0,
            ln_scale: finite("ln_scale", ln_scale)?,
        })
    }

    /// The warp onto (lo, hi): identity, log from either end, or probit.
    pub fn onto(lo: f64, hi: f64) -> Result<Affine> {
        // A NaN end is refused here too.
        if lo.partial_cmp(&hi) != Some(std::cmp::Ordering::Less) {
            let reason = format!("must go from a lower to a higher end, got [{lo}, {hi}]");
            return Err(Error::spec("range", reason));
        }
        match (lo.is_finite(), hi.is_finite()) {
            (false, false) => Affine::new(Arc::new(super::Identity), 0.0, 1.0),
            (true, false) => Affine::new(Arc::new(super::Log), lo, 1.0),
            (false, true) => Affine::new(Arc::new(super::Log), hi, -1.0),
            (true, true) => Affine::new(Arc::new(super::Probit), lo, hi - lo),
        }
    }

    /// Shift, scale or flip a warp onto a range of the same kind as its own: bounded, half a line
    /// or the line.
    ///
    /// ```
    /// use warpquad::warp::{Affine, Range, Warp, by_name};
    /// let range = Range { lo: f64::NEG_INFINITY, hi: 1.0 };
    /// assert_eq!(Affine::between(by_name("log")?, range)?.range(), range);
    /// assert!(Affine::between(by_name("log")?, Range::UNIT).is_err());
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn between(warp: Arc<dyn Warp>, range: Range) -> Result<Affine> {
        let Range { lo, hi } = range;
        let own = warp.range();
        let finite = |range: Range| (range.lo.is_finite(), range.hi.is_finite());
        match (finite(own), finite(range)) {
            _ if own == range => Affine::new(warp, 0.0, 1.0),
            ((true, true), (true, true)) if lo < hi => {
                let scale = (hi - lo) / (own.hi - own.lo);
                Affine::new(warp, lo - scale * own.lo, scale)
            }
            ((true, false), (true, false)) => Affine::new(warp, lo - own.lo, 1.0),
            ((true, false), (false, true)) => Affine::new(warp, hi + own.lo, -1.0),
            ((false, true), (false, true)) => Affine::new(warp, hi - own.hi, 1.0),
            ((false, true), (true, false)) => Affine::new(warp, lo + own.hi, -1.0),
            _ => {
                let reason = format!(
                    "f in {range} cannot come from the {} warp, whose range is {own}; choose the \
                     identity warp (method bmc), or another range",
                    warp.name()
                );
                Err(Error::spec("range", reason))
            }
        }
    }

    fn map(&self, y: f64) -> f64 {
        // 0 times an overflowing scale is 0.
        let scaled = if y == 0.0 {
            0.0
        } else {
            self.ln_scale.exp() * y
        };
        self.offset + self.sign * scaled
    }
}

impl Warp for Affine {
    fn name(&self) -> &'static str {
        self.warp.name()
    }

    fn range(&self) -> Range {
        let inner = self.warp.range();
        let (a, b) = (self.map(inner.lo), self.map(inner.hi));
        Range {
            lo: a.min(b),
            hi: a.max(b),
        }
    }

    fn scales(&self) -> bool {
        self.offset == 0.0 && self.warp.scales()
    }

    fn unscaled(&self) -> Option<&dyn Warp> {
        let inner = self.warp.as_ref();
        (self.offset == 0.0 && self.sign > 0.0).then(|| inner.unscaled().unwrap_or(inner))
    }

    fn local(&self, g: f64) -> Local {
        let inner = self.warp.local(g);
        Local {
            ln_unit: inner.ln_unit + self.ln_scale,
            value: self.sign * inner.value,
            slope: self.sign * inner.slope,
        }
    }

    fn locals(&self, g: &mut [f64], values: &mut [f64]) {
        self.warp.locals(g, values);
        g.iter_mut().for_each(|unit| *unit += self.ln_scale);
        values.iter_mut().for_each(|value| *value *= self.sign);
    }

    fn offset(&self) -> f64 {
        match self.warp.offset() {
            0.0 => self.offset,
            inner => self.map(inner),
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        let y = self.sign * (f - self.offset);
        if self.ln_scale == 0.0 {
            return self.warp.inverse(y);
        }
        if y > 0.0 {
            self.warp.inverse_ln(y.ln() - self.ln_scale)
        } else {
            self.warp.inverse(y * (-self.ln_scale).exp())
        }
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        if self.offset == 0.0 && self.sign > 0.0 {
            self.warp.inverse_ln(ln_f - self.ln_scale)
        } else {
            self.inverse(ln_f.exp())
        }
    }

    fn mean(&self, at: Marginal) -> Mean {
        let inner = self.warp.mean(at);
        Mean {
            ln_unit: inner.ln_unit + self.ln_scale,
            value: self.sign * inner.value,
            d_mu: self.sign * inner.d_mu,
            d_s: self.sign * inner.d_s,
            ..inner
        }
    }

    fn feature_count(&self) -> usize {
        self.warp.feature_count()
    }

    fn features(&self, at: Marginal, out: &mut [f64]) {
        self.warp.features(at, out);
    }

    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        self.warp.cov(left, right, c)
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        self.warp.cov_partials(left, right, c)
    }

    fn is_function_of_c(&self) -> bool {
        self.warp.is_function_of_c()
    }

    fn equal(&self, at: Marginal, c: &[f64], out: Equal<'_>) {
        self.warp.equal(at, c, out);
    }

    fn cov_column(&self, left: &[f64], rights: &[f64], c: &mut [f64]) {
        self.warp.cov_column(left, rights, c);
    }

    fn starts(&self, g: &[f64]) -> Vec<Marginal> {
        self.warp.starts(g)
    }

    fn f_space_limits(&self, g: &[f64]) -> Marginal {
        self.warp.f_space_limits(g)
    }

    fn as_polynomial(&self) -> Option<PolynomialForm> {
        let mut form = self.warp.as_polynomial()?;
        form.offset = self.offset();
        form.ln_unit += self.ln_scale;
        form.coefficients.iter_mut().for_each(|a| *a *= self.sign);
        Some(form)
    }

    fn is_exponential(&self) -> bool {
        self.warp.is_exponential()
    }

    fn ln_var(&self, at: Marginal) -> LnVar {
        let inner = self.warp.ln_var(at);
        LnVar {
            value: 2.0 * self.ln_scale + inner.value,
            ..inner
        }
    }
}

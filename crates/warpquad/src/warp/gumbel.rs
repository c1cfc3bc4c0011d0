//! Keep f positive and bounded, log near the top: f = exp(-tau expm1(-g / tau)).

use super::gumbel_tail;
use super::hermite::{self, BASIS, FEATURES, HERMITE_NODES};
use super::{Cov, Equal, LnVar, Local, Marginal, Mean, Range, Warp};
use crate::error::{Result, positive};
use crate::numeric::gauss;
use crate::numeric::special::ln_expm1;
use crate::numeric::vmath;
use std::sync::LazyLock;

/// The saturating Gumbel warp, for likelihoods of huge range.
///
/// * Definition: ln xi(g) = -tau expm1(-g / tau). Near g = 0 it is the log warp; far down a value
///   of -27 000 nats is only g = -204 at tau = 30; and f stays below e^tau, so an overshoot of g
///   cannot run away.
/// * Moments: by quadrature and the series of the module `hermite`.
/// * Range: (0, e^tau).
/// * Numerics: the unit at a point is m. With y = exp(-g / tau) the derivatives are xi' = y xi,
///   xi'' = (y^2 - y/tau) xi, xi''' = (y^3 - 3 y^2/tau + y/tau^2) xi, taken at the nodes. Where
///   y sqrt(s), the sd of ln f, exceeds 4 the series gives way to quadrature about the mode.
/// * Reference: the Gumbel distribution function as a link.
///
/// ```
/// use warpquad::warp::{Gumbel, Warp};
/// let warp = Gumbel::new(30.0)?;
/// assert!((warp.ln_forward(0.1) - 0.1).abs() < 2e-4);          // log near the top
/// assert!((warp.ln_forward(warp.inverse_ln(-27000.0)) + 27000.0).abs() < 1e-8);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Gumbel {
    tau: f64,
}

impl Gumbel {
    /// The Gumbel warp that saturates at e^tau.
    pub fn new(tau: f64) -> Result<Gumbel> {
        positive("tau", tau).map(|tau| Gumbel { tau })
    }

    /// tau.
    pub fn tau(&self) -> f64 {
        self.tau
    }

    fn ln_xi(&self, g: f64) -> f64 {
        -self.tau * (-g / self.tau).exp_m1()
    }

    /// The sd of ln f, to first order.
    fn steepness(&self, at: Marginal) -> f64 {
        at.s.sqrt() * (-at.mu / self.tau).exp()
    }

    /// a_1, a_2, a_3 in units of m, and the third derivative over m at the nodes.
    fn at_nodes(&self, at: Marginal, ln_m: f64) -> ([f64; 3], Vec<f64>) {
        let (root, b) = (at.s.sqrt(), 1.0 / self.tau);
        let mut orders = [
            vec![0.0; HERMITE_NODES],
            vec![0.0; HERMITE_NODES],
            vec![0.0; HERMITE_NODES],
        ];
        for (i, z) in BASIS.nodes.iter().enumerate() {
            let g = at.mu + root * z;
            let (f, y) = ((self.ln_xi(g) - ln_m).exp(), (-g * b).exp());
            // Where f underflows y may overflow; their product is 0.
            if f > 0.0 {
                orders[0][i] = f * y;
                orders[1][i] = f * y * (y - b);
                orders[2][i] = f * y * (y * (y - 3.0 * b) + b * b);
            }
        }
        let a = std::array::from_fn(|k| BASIS.coefficient(0, &orders[k]));
        let [.., third] = orders;
        (a, third)
    }

    /// The pair where the series would not do.
    fn cov_tail(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        let [l, r] = [left, right].map(|side| &side[FEATURES..]);
        let (ln_ratio, pair) = self.tail_pair(l, r, c);
        if ln_ratio.abs() < 0.5 {
            return self.cov_tail_small(l, r, c);
        }
        let ratio = ln_ratio.exp();
        Cov {
            value: ln_ratio.exp_m1(),
            d_c: ratio * pair.d_c,
            d_mu: ratio * (pair.first[0] - l[0]),
            d_mu2: ratio * (pair.first[1] - r[0]),
            d_s: ratio * (pair.second[0] - l[1]),
            d_s2: ratio * (pair.second[1] - r[1]),
        }
    }

    /// The same where E[f f'] / (m m') is near 1: all but d_c are integrals over c from 0, where
    /// they vanish, of their derivatives in c, so nothing cancels.
    fn cov_tail_small(&self, l: &[f64], r: &[f64], c: f64) -> Cov {
        let mut out = Cov::default();
        for (z, w) in PRICE.nodes.iter().zip(&PRICE.weights) {
            let (ln_ratio, pair) = self.tail_pair(l, r, 0.5 * c * (z + 1.0));
            let weight = 0.5 * c * w * ln_ratio.exp();
            out.value += weight * pair.d_c;
            out.d_mu += weight * (pair.first_c[0] - l[0] * pair.d_c);
            out.d_mu2 += weight * (pair.first_c[1] - r[0] * pair.d_c);
            out.d_s += weight * (pair.second_c[0] - l[1] * pair.d_c);
            out.d_s2 += weight * (pair.second_c[1] - r[1] * pair.d_c);
        }
        let (ln_ratio, pair) = self.tail_pair(l, r, c);
        out.d_c = ln_ratio.exp() * pair.d_c;
        out
    }

    /// ln of E[f f'] / (m m'), and the expectations under f f'.
    fn tail_pair(&self, l: &[f64], r: &[f64], c: f64) -> (f64, gumbel_tail::Pair) {
        let at = |side: &[f64]| Marginal {
            mu: side[2],
            s: side[3],
        };
        let pair = gumbel_tail::pair(self.tau, at(l), at(r), c);
        (pair.ln_second - l[4] - r[4], pair)
    }
}

/// The rule for integrals over c.
static PRICE: LazyLock<gauss::Rule> = LazyLock::new(|| gauss::legendre(10));

/// The largest sd of ln f that the series serves: exp(4 z) has 1e-16 of its variance beyond 60
/// terms.
const STEEPEST: f64 = 4.0;
/// Terms of the series at that sd.
const MOST_TERMS: usize = 60;

/// Whether a point's features say that it is too uncertain for the series.
fn is_tail(side: &[f64]) -> bool {
    side[FEATURES + 5] > STEEPEST
}

impl Default for Gumbel {
    /// tau = 30: a value 10^13 times the largest seen is as far up as f may go.
    fn default() -> Gumbel {
        Gumbel { tau: 30.0 }
    }
}

impl Warp for Gumbel {
    fn name(&self) -> &'static str {
        "gumbel"
    }

    fn range(&self) -> Range {
        Range {
            lo: 0.0,
            hi: self.tau.exp(),
        }
    }

    /// Its upper end is relative to the largest observation by design.
    fn scales(&self) -> bool {
        true
    }

    fn follows_ln_f(&self) -> bool {
        true
    }

    fn saturates(&self) -> bool {
        true
    }

    fn local(&self, g: f64) -> Local {
        Local {
            ln_unit: self.ln_xi(g),
            value: 1.0,
            slope: (-g / self.tau).exp(),
        }
    }

    fn locals(&self, g: &mut [f64], values: &mut [f64]) {
        g.iter_mut().for_each(|g| *g /= -self.tau);
        vmath::exp_m1(g);
        g.iter_mut().for_each(|g| *g *= -self.tau);
        values.fill(1.0);
    }

    fn inverse(&self, f: f64) -> f64 {
        self.inverse_ln(f.ln())
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        -self.tau * (-ln_f / self.tau).ln_1p()
    }

    fn mean(&self, at: Marginal) -> Mean {
        let (ln_m, [y, y2]) = gumbel_tail::mean(self.tau, at);
        Mean {
            ln_unit: ln_m,
            value: 1.0,
            d_mu: 0.0,
            d_s: 0.0,
            ln_unit_mu: y,
            ln_unit_s: 0.5 * (y2 - y / self.tau),
        }
    }

    /// The Hermite features, then d ln m / d mu, d ln m / d s, mu, s, ln m and the sd of ln f.
    fn feature_count(&self) -> usize {
        FEATURES + 6
    }

    fn features(&self, at: Marginal, out: &mut [f64]) {
        let mean = self.mean(at);
        let steepness = self.steepness(at);
        if steepness <= STEEPEST {
            let (a, third) = self.at_nodes(at, mean.ln_unit);
            let delta = BASIS.coefficients(MOST_TERMS, &third);
            hermite::write_from_third(at.s, a, &delta, &mut out[..FEATURES]);
        }
        let rest = [
            mean.ln_unit_mu,
            mean.ln_unit_s,
            at.mu,
            at.s,
            mean.ln_unit,
            steepness,
        ];
        out[FEATURES..].copy_from_slice(&rest);
    }

    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        if c == 0.0 {
            0.0
        } else if is_tail(left) || is_tail(right) {
            self.cov_tail(left, right, c).value
        } else {
            hermite::cov(left, right, c)
        }
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        if is_tail(left) || is_tail(right) {
            return self.cov_tail(left, right, c);
        }
        let mut out = hermite::cov_partials(left, right, c);
        // The value is K / (m m'), so d ln m is subtracted: d(K/mm') = dK/mm' - (K/mm') d ln m.
        out.d_mu -= out.value * left[FEATURES];
        out.d_mu2 -= out.value * right[FEATURES];
        out.d_s -= out.value * left[FEATURES + 1];
        out.d_s2 -= out.value * right[FEATURES + 1];
        out
    }

    fn equal(&self, at: Marginal, c: &[f64], mut out: Equal<'_>) {
        let mut features = vec![0.0; self.feature_count()];
        self.features(at, &mut features);
        if is_tail(&features) {
            for (i, &c) in c.iter().enumerate() {
                out.set(i, self.cov_tail(&features, &features, c));
            }
            return;
        }
        let (u_mu, u_s) = (2.0 * features[FEATURES], 2.0 * features[FEATURES + 1]);
        hermite::equal(at, &features, c, out.value, out.d_c, out.d_mu, out.d_s);
        for i in 0..c.len() {
            out.d_mu[i] -= out.value[i] * u_mu;
            out.d_s[i] -= out.value[i] * u_s;
        }
    }

    fn ln_var(&self, at: Marginal) -> LnVar {
        let mut features = vec![0.0; self.feature_count()];
        self.features(at, &mut features);
        let own = &features[FEATURES..];
        if !is_tail(&features) {
            return super::ln_var_by_cov(self, at, &features);
        }
        let (ln_ratio, pair) = self.tail_pair(own, own, at.s);
        // d ln(e^x - 1) = dx / (1 - e^-x); on the diagonal c = s moves with s.
        let lever = -1.0 / (-ln_ratio).exp_m1();
        LnVar {
            value: 2.0 * own[4] + ln_expm1(ln_ratio),
            d_mu: 2.0 * own[0] + lever * 2.0 * (pair.first[0] - own[0]),
            d_s: 2.0 * own[1] + lever * (pair.d_c + 2.0 * (pair.second[0] - own[1])),
        }
    }

    /// As for the log warp, which it is near the top.
    fn starts(&self, g: &[f64]) -> Vec<Marginal> {
        super::Log.starts(g)
    }

    /// As for the log warp.
    fn f_space_limits(&self, g: &[f64]) -> Marginal {
        super::Log.f_space_limits(g)
    }
}

//! Cut a normal law off at two ends, however far out in its tail they lie.

use super::{Entry, Univariate, inside, ordered};
use crate::error::{Error, Result, finite, positive};
use crate::numeric::gauss::{Rule, legendre};
use crate::numeric::quantile::Tail;
use crate::numeric::special::{
    erf, erfcx, ln_add_exp, ln_normal_cdf, ln_normal_pdf, normal_quantile_ln,
};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};
use std::sync::{Arc, OnceLock};

/// The normal law restricted to [lo, hi].
///
/// # Definition
/// p(x) proportional to exp(-(x - mean)^2/(2 sd^2)) between lo and hi; either end may be infinite.
///
/// # Moments
/// By Gauss-Legendre quadrature over the part that carries the mass, since the closed form cancels
/// when lo lies in the tail.
///
/// # Range
/// Any finite mean (of the law before it is cut), positive finite sd, lo < hi. It is checked with
/// lo 30 sd above the mean.
///
/// # Numerics
/// Masses are written as phi(a) times the integral of exp(-a t - t^2/2), where a is the score of an
/// end and t the distance from it. Quantiles are solved for that distance. So nothing under- or
/// overflows, and x - lo keeps its digits.
///
/// # Reference
/// Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 1 (1994), chapter 13.10.
///
/// ```
/// use warpquad::measure::{HalfNormal, TruncatedNormal, Univariate};
/// // Cut at the mean it is half-normal.
/// let (cut, half) = (TruncatedNormal::new(0.0, 2.0, 0.0, f64::INFINITY)?, HalfNormal::new(2.0)?);
/// assert!((cut.quantile(1e-9) / half.quantile(1e-9) - 1.0).abs() < 1e-13);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedNormal {
    mean: f64,
    sd: f64,
    /// lo and hi.
    ends: (f64, f64),
    /// As seen from below and, reflected about zero, from above.
    sides: [Side; 2],
    /// ln of the mass before it is normalised, relative to the density at the mode.
    ln_mass: f64,
    moments: (f64, f64),
}

pub(super) const ENTRY: Entry = Entry {
    name: "truncated-normal",
    summary: "normal (mean and sd before the cut) between two ends",
    parameters: &["mean", "sd", "lo", "hi"],
    build: |v| Ok(Arc::new(TruncatedNormal::new(v[0], v[1], v[2], v[3])?)),
};

impl TruncatedNormal {
    /// Normal with mean `mean` and standard deviation `sd`, restricted to [lo, hi].
    pub fn new(mean: f64, sd: f64, lo: f64, hi: f64) -> Result<TruncatedNormal> {
        let (mean, sd) = (finite("mean", mean)?, positive("sd", sd)?);
        ordered(lo, hi)?;
        let (from, to) = effective(mean, sd, lo, hi);
        let below = Side::new(mean, sd, from, to);
        let sides = [below, Side::new(-mean, sd, -to, -from)];
        // Beyond 1e100 sd the squares of the scores overflow.
        if below.a > 1e100 || below.b < -1e100 || below.width == 0.0 {
            let reason = format!("[{lo}, {hi}] is too far from mean {mean} for sd {sd}");
            return Err(Error::spec("lo", reason));
        }
        let (mass, moments) = moments(&below);
        Ok(TruncatedNormal {
            mean,
            sd,
            ends: (lo, hi),
            sides,
            ln_mass: mass.ln(),
            moments,
        })
    }

    fn ends(&self) -> (f64, f64) {
        self.ends
    }
}

/// The ends that matter: one beyond which there is less mass than f64 can say is infinite.
///
/// With mean 0, sd 1 and hi = 1e9, ln of the density there is -5e17, and sums with it have no
/// digits left for the quantile.
fn effective(mean: f64, sd: f64, lo: f64, hi: f64) -> (f64, f64) {
    let (a, b) = ((lo - mean) / sd, (hi - mean) / sd);
    let mode = a.max(b.min(0.0));
    // f64 ends at e^-745; the mass beyond an end is less than its density there.
    let negligible = |end: f64| 0.5 * (end - mode).abs() * (end + mode).abs() > 800.0;
    (
        if negligible(a) { f64::NEG_INFINITY } else { lo },
        if negligible(b) { f64::INFINITY } else { hi },
    )
}

/// The interval in units of sd, seen from its lower end.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Side {
    mean: f64,
    sd: f64,
    lo: f64,
    hi: f64,
    /// The scores of the ends.
    a: f64,
    b: f64,
    width: f64,
    /// ln of the mass over phi(a), and over phi(b).
    ln_from_lo: f64,
    ln_from_hi: f64,
}

impl Side {
    fn new(mean: f64, sd: f64, lo: f64, hi: f64) -> Side {
        let (a, b, width) = ((lo - mean) / sd, (hi - mean) / sd, (hi - lo) / sd);
        let (ln_from_lo, ln_from_hi) = (ln_span(a, width), ln_span(-b, width));
        Side {
            mean,
            sd,
            lo,
            hi,
            a,
            b,
            width,
            ln_from_lo,
            ln_from_hi,
        }
    }

    /// P(X <= x).
    fn cdf(&self, x: f64) -> f64 {
        if x <= self.lo || x >= self.hi {
            return if x <= self.lo { 0.0 } else { 1.0 };
        }
        if self.a == f64::NEG_INFINITY {
            return (ln_normal_cdf((x - self.mean) / self.sd) - ln_normal_cdf(self.b)).exp();
        }
        (ln_span(self.a, (x - self.lo) / self.sd) - self.ln_from_lo)
            .exp()
            .min(1.0)
    }

    /// The point with mass `p` below it, measured from the nearest of lo, hi and the mean.
    fn quantile(&self, p: f64) -> f64 {
        if p == 0.0 || p.is_nan() {
            return if p == 0.0 { self.lo } else { p };
        }
        let guess = self.guess(p.ln());
        let h = if self.a.is_finite() {
            self.near(p, guess - self.a)
        } else {
            f64::INFINITY
        };
        let score = if self.a < 0.0 { guess } else { self.a + h };
        let k = self.b - score;
        if score.abs() <= h.min(k) {
            self.mean + self.sd * score
        } else if h <= k {
            self.lo + self.sd * h
        } else {
            self.hi - self.sd * self.far(p, k)
        }
    }

    /// The score z with Phi(z) = Phi(a) + p (Phi(b) - Phi(a)). It is of use only for a < 0, where
    /// that is at most 3/4.
    fn guess(&self, ln_p: f64) -> f64 {
        if self.a >= 0.0 {
            return self.a;
        }
        if self.a == f64::NEG_INFINITY {
            return normal_quantile_ln(ln_p + ln_normal_cdf(self.b));
        }
        let part = ln_p + self.ln_from_lo + ln_normal_pdf(self.a);
        normal_quantile_ln(ln_add_exp(ln_normal_cdf(self.a), part))
    }

    /// The distance from lo that has mass `p` within it: Newton for ln span(h), which is concave,
    /// from the left.
    fn near(&self, p: f64, guess: f64) -> f64 {
        let ln_target = p.ln() + self.ln_from_lo;
        let a = self.a;
        // span(h) <= (1 - e^(-a h))/a for either sign of a.
        let target = ln_target.exp();
        let bound = if (a * target).abs() < 1e-8 {
            target
        } else {
            -(-a * target).ln_1p() / a
        };
        let mut h = if bound.is_finite() {
            bound.max(guess)
        } else {
            guess
        };
        for _ in 0..60 {
            let value = ln_span(a, h);
            let step = (ln_target - value) * (value + h * (a + 0.5 * h)).exp();
            h = (h + step).clamp(0.5 * h, self.width);
            if step.abs() <= 1e-11 * h {
                break;
            }
        }
        h
    }

    /// The distance k from hi that has mass `p` beyond it: two Newton steps from a value that is
    /// right but for rounding.
    fn far(&self, p: f64, mut k: f64) -> f64 {
        for _ in 0..2 {
            let beyond = ln_span(k - self.b, self.width - k);
            let value = beyond - k * (0.5 * k - self.b) - self.ln_from_hi;
            let step = (value - p.ln()) * beyond.exp();
            if step.is_finite() {
                k += step;
            }
        }
        k
    }
}

fn rule() -> &'static Rule {
    static RULE: OnceLock<Rule> = OnceLock::new();
    RULE.get_or_init(|| legendre(20))
}

/// The integral of f over [from, to] by `panels` Gauss-Legendre rules.
fn integrate(from: f64, to: f64, panels: usize, f: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * (to - from) / panels as f64;
    let mut sum = 0.0;
    for i in 0..panels {
        let middle = from + half * (2 * i + 1) as f64;
        for (x, w) in rule().nodes.iter().zip(&rule().weights) {
            sum += w * f(middle + half * x);
        }
    }
    sum * half
}

/// ln of the integral over t from 0 to h of exp(-a t - t^2/2): the normal mass of [a, a + h] over
/// phi(a).
fn ln_span(a: f64, h: f64) -> f64 {
    if a.is_infinite() || h.is_nan() {
        return f64::NAN;
    }
    if h * a.abs().max(1.0) <= 2.0 {
        // The exponent stays within 4, where twenty nodes are exact to rounding.
        return integrate(0.0, h, 1, |t| (-t * (a + 0.5 * t)).exp()).ln();
    }
    let b = a + h;
    if a >= 0.0 {
        let rest = if h.is_finite() {
            mills(b) * (-h * (a + 0.5 * h)).exp()
        } else {
            0.0
        };
        (mills(a) - rest).ln()
    } else if b <= 0.0 {
        ln_span(-b, h) - h * (a + 0.5 * h)
    } else {
        let mass = 0.5 * (erf(-a * FRAC_1_SQRT_2) + erf(b * FRAC_1_SQRT_2));
        mass.ln() - ln_normal_pdf(a)
    }
}

/// Mills' ratio (1 - Phi(a))/phi(a).
fn mills(a: f64) -> f64 {
    FRAC_PI_2.sqrt() * erfcx(a * FRAC_1_SQRT_2)
}

/// The mass over the density at the mode, and mean and variance of the distance of the score from
/// the mode.
fn moments(side: &Side) -> (f64, (f64, f64)) {
    let mode = 0_f64.clamp(side.a, side.b);
    // Where the exponent -t (mode + t/2), t = score - mode, falls to -45, below rounding: t =
    // 90/(mode + sqrt(mode^2 + 90)).
    let reach = 90.0 / (mode.abs() + (mode * mode + 90.0).sqrt());
    let below = if mode == side.a {
        0.0
    } else {
        reach.min(mode - side.a).min(side.width)
    };
    let above = if mode == side.b {
        0.0
    } else {
        reach.min(side.b - mode).min(side.width)
    };
    // Twenty panels: fewer than five units of the exponent each.
    let moment = |f: &dyn Fn(f64) -> f64| {
        integrate(-below, above, 20, |t| f(t) * (-t * (mode + 0.5 * t)).exp())
    };
    let mass = moment(&|_| 1.0);
    let mean = moment(&|t| t) / mass;
    let variance = moment(&|t| (t - mean) * (t - mean)) / mass;
    (mass, (mean, variance))
}

impl Univariate for TruncatedNormal {
    fn quantile_at(&self, tail: Tail) -> f64 {
        let x = match tail {
            Tail::Lower(p) => self.sides[0].quantile(p),
            Tail::Upper(q) => -self.sides[1].quantile(q),
        };
        let (lo, hi) = self.ends();
        inside(x, lo, hi)
    }

    fn cdf(&self, x: f64) -> f64 {
        self.sides[0].cdf(x)
    }

    fn sf(&self, x: f64) -> f64 {
        self.sides[1].cdf(-x)
    }

    fn ln_density(&self, x: f64) -> f64 {
        let (lo, hi) = self.ends();
        if !(lo..=hi).contains(&x) {
            return f64::NEG_INFINITY;
        }
        let Side { a, b, .. } = self.sides[0];
        let mode = 0_f64.clamp(a, b);
        let from = if mode == 0.0 {
            self.mean
        } else if mode == a {
            lo
        } else {
            hi
        };
        let t = (x - from) / self.sd;
        -t * (mode + 0.5 * t) - self.ln_mass - self.sd.ln()
    }

    fn d_ln_density(&self, x: f64) -> f64 {
        let (lo, hi) = self.ends();
        if (lo..=hi).contains(&x) {
            -(x - self.mean) / self.sd / self.sd
        } else {
            0.0
        }
    }

    fn support(&self) -> (f64, f64) {
        self.ends()
    }

    fn mean(&self) -> Option<f64> {
        let Side { a, b, lo, hi, .. } = self.sides[0];
        let mode = if a > 0.0 {
            lo
        } else if b < 0.0 {
            hi
        } else {
            self.mean
        };
        Some(mode + self.sd * self.moments.0)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.sd * self.sd * self.moments.1)
    }
}

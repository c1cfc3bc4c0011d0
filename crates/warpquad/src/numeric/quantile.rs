//! Invert the gamma, beta and Student t distribution functions with relative accuracy in both
//! tails.
//!
//! A gamma variable is handled through its logarithm z and a beta variable through its logit z.
//! There the density is log-concave for every parameter, so the log of either tail mass is concave
//! in z. Newton's iteration on it then converges from the outside of the distribution. Nothing
//! underflows before z itself is exponentiated. Student's t is a beta variable in disguise:
//! df/(df + t^2) is Beta(df/2, 1/2).
//!
//! References: DiDonato and Morris, *ACM Transactions on Mathematical Software* 12 (1986) 377 and
//! 18 (1992) 360; Abramowitz and Stegun (1964), 6.3, 6.4, 26.4, 26.5.

use crate::numeric::special::{ln_gamma, normal_quantile};
use std::f64::consts::PI;

/// A probability, said by the smaller of the two tails so that neither end of (0, 1) is cramped.
///
/// ```
/// use warpquad::numeric::quantile::Tail;
/// assert_eq!(Tail::lower(0.25), Tail::Lower(0.25));
/// assert_eq!(Tail::lower(0.75), Tail::Upper(0.25));
/// assert_eq!(Tail::upper(1e-300), Tail::Upper(1e-300));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tail {
    /// The mass to the left, at most one half.
    Lower(f64),
    /// The mass to the right, at most one half.
    Upper(f64),
}

impl Tail {
    /// The tail with mass `p` to the left. Above one half 1 - p is exact.
    pub fn lower(p: f64) -> Tail {
        if p > 0.5 {
            Tail::Upper(1.0 - p)
        } else {
            Tail::Lower(p)
        }
    }

    /// The tail with mass `q` to the right.
    pub fn upper(q: f64) -> Tail {
        if q > 0.5 {
            Tail::Lower(1.0 - q)
        } else {
            Tail::Upper(q)
        }
    }
}

/// ln y of the quantile y of the gamma law with this shape and rate one.
///
/// ```
/// use warpquad::numeric::quantile::{Tail, gamma_quantile_ln};
/// // Shape one is the exponential law: y = -ln q.
/// let z = gamma_quantile_ln(1.0, Tail::Upper(1e-12));
/// assert!((z - (-(1e-12_f64).ln()).ln()).abs() < 1e-15);
/// ```
pub fn gamma_quantile_ln(shape: f64, tail: Tail) -> f64 {
    match tail {
        Tail::Lower(p) if p > 0.0 => {
            // P = y^a/Gamma(a+1) (1 - ...) is at most its first factor: this start is never right
            // of the root.
            let bound = (p.ln() + ln_gamma(shape + 1.0)) / shape;
            let start = bound.max(wilson_hilferty(shape, normal_quantile(p)));
            newton(start, |z| gamma_side(shape, z).lower(), p)
        }
        Tail::Upper(q) if q > 0.0 => {
            // A gamma of shape below one is stochastically smaller than an exponential: never left
            // of the root.
            let start = if shape <= 1.0 {
                (-q.ln()).ln()
            } else {
                wilson_hilferty(shape, -normal_quantile(q))
            };
            newton(start, |z| gamma_side(shape, z).upper(), q)
        }
        Tail::Lower(p) => if_zero(p, f64::NEG_INFINITY),
        Tail::Upper(q) => if_zero(q, f64::INFINITY),
    }
}

/// P(Y <= y) and P(Y > y) of the same law at y = e^z.
///
/// ```
/// use warpquad::numeric::quantile::gamma_tails;
/// let (p, q) = gamma_tails(1.0, 2_f64.ln());
/// assert!((q - (-2_f64).exp()).abs() < 1e-16 && (p + q - 1.0).abs() < 1e-16);
/// ```
pub fn gamma_tails(shape: f64, z: f64) -> (f64, f64) {
    at_ends(z).unwrap_or_else(|| gamma_side(shape, z).masses())
}

/// The log density of z = ln Y: ln(y^a e^-y/Gamma(a)).
pub fn gamma_ln_density(shape: f64, z: f64) -> f64 {
    if shape < STIRLING {
        return shape * z - z.exp() - ln_gamma(shape);
    }
    let w = z - shape.ln();
    gamma_ln_weight_near(shape, w.exp_m1(), w)
}

/// The same as a function of y, for callers who have y itself. At shape 1e6 the rounding of ln y
/// alone costs 1e-11.
///
/// ```
/// use warpquad::numeric::quantile::{gamma_ln_density, gamma_ln_weight};
/// assert!((gamma_ln_weight(20.0, 15.0) - gamma_ln_density(20.0, 15_f64.ln())).abs() < 1e-13);
/// ```
pub fn gamma_ln_weight(shape: f64, y: f64) -> f64 {
    if shape < STIRLING {
        return shape * y.ln() - y - ln_gamma(shape);
    }
    gamma_ln_weight_near(shape, (y - shape) / shape, (y / shape).ln())
}

/// a ln y - y - ln Gamma(a) for a >= 10, with u = y/a - 1 and w = ln(y/a).
///
/// Its parts cancel to leave a (w - u), at a = 1e6 a loss of seven digits if done by subtraction.
fn gamma_ln_weight_near(shape: f64, u: f64, w: f64) -> f64 {
    shape * ln_1p_less(u, w) + 0.5 * (shape / (2.0 * PI)).ln() - stirling(shape)
}

/// The logit ln(x/(1 - x)) of the quantile x of Beta(a, b).
///
/// ```
/// use warpquad::numeric::quantile::{Tail, beta_quantile_logit};
/// // Beta(1/2, 1/2) is the arcsine law: x = sin(pi p/2)^2.
/// let x = beta_quantile_logit(0.5, 0.5, Tail::Lower(1e-12)).exp();
/// assert!((x / 2.467401100272340e-24 - 1.0).abs() < 1e-13);
/// ```
pub fn beta_quantile_logit(a: f64, b: f64, tail: Tail) -> f64 {
    match tail {
        Tail::Lower(p) if p > 0.0 => beta_lower_logit(a, b, p),
        // 1 - X is Beta(b, a).
        Tail::Upper(q) if q > 0.0 => -beta_lower_logit(b, a, q),
        Tail::Lower(p) => if_zero(p, f64::NEG_INFINITY),
        Tail::Upper(q) => if_zero(q, f64::INFINITY),
    }
}

/// P(X <= x) and P(X > x) of Beta(a, b) at x = 1/(1 + e^-z).
///
/// ```
/// use warpquad::numeric::quantile::beta_tails;
/// let (p, q) = beta_tails(1.0, 1.0, 0.4_f64.ln() - 0.6_f64.ln());
/// assert!((p - 0.4).abs() < 1e-15 && (q - 0.6).abs() < 1e-15);
/// ```
pub fn beta_tails(a: f64, b: f64, z: f64) -> (f64, f64) {
    at_ends(z).unwrap_or_else(|| beta_side(a, b, z).masses())
}

/// The log density of the logit z of a Beta(a, b) variable: ln(x^a (1-x)^b/B(a, b)).
pub fn beta_ln_density(a: f64, b: f64, z: f64) -> f64 {
    if a.min(b) < STIRLING {
        return -a * ln_1p_exp(-z) - b * ln_1p_exp(z) - ln_beta(a, b);
    }
    // With x0 = a/(a+b) the exponent is a ln(x/x0) + b ln(y/y0). Its two terms cancel to first
    // order in x - x0, and that order is removed by hand: x - x0 = x y0 (1 - e^-w), w = z -
    // ln(a/b), and a (x - x0)/x0 = b (x - x0)/y0. (x = 1/(1+e^-z), y = 1 - x, y0 = b/(a+b).)
    let w = z - (a / b).ln();
    let shift = -(-w).exp_m1() / (1.0 + (-z).exp());
    let (u, v) = (shift * b / a, -shift);
    let constant = stirling(a + b) - stirling(a) - stirling(b);
    let scale = a / (a + b) * b / (2.0 * PI);
    let (ln_x, ln_y) = (-ln_1p_exp(-z), -ln_1p_exp(z));
    let at_x = ln_1p_less(u, ln_x + (b / a).ln_1p());
    let at_y = ln_1p_less(v, ln_y + (a / b).ln_1p());
    a * at_x + b * at_y + 0.5 * scale.ln() + constant
}

/// The quantile of Student's t with `df` degrees of freedom.
///
/// ```
/// use warpquad::numeric::quantile::{Tail, student_t_quantile};
/// // One degree of freedom is the Cauchy law: t = tan(pi (p - 1/2)).
/// assert!((student_t_quantile(1.0, Tail::Lower(0.25)) + 1.0).abs() < 1e-15);
/// ```
pub fn student_t_quantile(df: f64, tail: Tail) -> f64 {
    let (mass, sign) = match tail {
        Tail::Lower(p) => (p, -1.0),
        Tail::Upper(q) => (q, 1.0),
    };
    // Two tails of t are one lower tail of the beta variable. Near the median its complement 1 - 2
    // mass is exact.
    let z = beta_quantile_logit(0.5 * df, 0.5, Tail::lower(2.0 * mass));
    sign * df.sqrt() * (-0.5 * z).exp()
}

/// P(T <= t) and P(T > t) of Student's t.
///
/// ```
/// use warpquad::numeric::quantile::student_t_tails;
/// assert!((student_t_tails(1.0, -1.0).0 - 0.25).abs() < 1e-15);
/// ```
pub fn student_t_tails(df: f64, t: f64) -> (f64, f64) {
    let (both, _) = beta_tails(0.5 * df, 0.5, df.ln() - 2.0 * t.abs().ln());
    let (far, near) = (0.5 * both, 1.0 - 0.5 * both);
    if t < 0.0 { (far, near) } else { (near, far) }
}

/// The log density of Student's t.
pub fn student_t_ln_density(df: f64, t: f64) -> f64 {
    // ln(1 + t^2/df), without squaring a t of 1e200.
    let z = 2.0 * t.abs().ln() - df.ln();
    -0.5 * (df + 1.0) * ln_1p_exp(z) - ln_beta(0.5 * df, 0.5) - 0.5 * df.ln()
}

/// ln B(a, b), free of the cancellation between ln Gamma(a) and ln Gamma(a + b).
///
/// ```
/// use warpquad::numeric::quantile::ln_beta;
/// // B(a, 1) = 1/a.
/// assert!((ln_beta(1e6, 1.0) + 1e6_f64.ln()).abs() < 1e-14);
/// ```
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = (a.min(b), a.max(b));
    let sum = small + large;
    if large < STIRLING {
        return ln_gamma(small) + ln_gamma(large) - ln_gamma(sum);
    }
    // ln Gamma(large) - ln Gamma(sum) by Stirling's formula, its large terms subtracted by hand.
    let remainder = stirling(large) - stirling(sum);
    if small < STIRLING {
        let powers = (large - 0.5) * (small / large).ln_1p() + small * sum.ln();
        return ln_gamma(small) + remainder - powers + small;
    }
    let powers = (small - 0.5) * (small / sum).ln() - (large - 0.5) * (small / large).ln_1p();
    0.5 * (2.0 * PI / sum).ln() + stirling(small) + remainder + powers
}

/// The digamma function psi(x) = d ln Gamma(x)/dx, x > 0.
///
/// ```
/// use warpquad::numeric::quantile::digamma;
/// assert!((digamma(3.5) - digamma(2.5) - 1.0 / 2.5).abs() < 1e-15);
/// ```
pub fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < STIRLING {
        shift += 1.0 / x;
        x += 1.0;
    }
    // Abramowitz and Stegun 6.3.18, through x^-14; the next term is below 5e-17 at x = 10.
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
    ];
    let w = 1.0 / (x * x);
    x.ln() - 0.5 / x - w * horner(&TERMS, w) - shift
}

/// The trigamma function, the derivative of [`digamma`].
///
/// ```
/// use warpquad::numeric::quantile::trigamma;
/// assert!((trigamma(1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-15);
/// ```
pub fn trigamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < STIRLING {
        shift += 1.0 / (x * x);
        x += 1.0;
    }
    // Abramowitz and Stegun 6.4.12: the Bernoulli numbers B_2, B_4, ..., B_16.
    const TERMS: [f64; 8] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
        -3617.0 / 510.0,
    ];
    let w = 1.0 / (x * x);
    shift + (1.0 + 0.5 / x + w * horner(&TERMS, w)) / x
}

/// From here on Stirling's series in 1/x^2 is exact to rounding with seven terms.
const STIRLING: f64 = 10.0;

/// ln Gamma(x) - (x - 1/2) ln x + x - ln sqrt(2 pi), for x >= 10.
fn stirling(x: f64) -> f64 {
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    horner(&TERMS, 1.0 / (x * x)) / x
}

fn horner(terms: &[f64], x: f64) -> f64 {
    terms.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// ln(1 + u) - u, without cancellation near u = 0. ln(1 + u) is given too, since 1 + u may have
/// lost it.
fn ln_1p_less(u: f64, ln_1p: f64) -> f64 {
    if !(-0.5..1.0).contains(&u) {
        return ln_1p - u;
    }
    // ln(1+u) = 2 artanh r with r = u/(2+u), and 2r - u = -r u. |r| <= 1/3: 9^-17 is below
    // rounding.
    let r = u / (2.0 + u);
    let r2 = r * r;
    let series = (0..17)
        .rev()
        .fold(0.0, |sum, k| sum * r2 + 1.0 / f64::from(2 * k + 3));
    r * (2.0 * r2 * series - u)
}

/// ln(1 + e^z).
fn ln_1p_exp(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// The value of a quantile at mass zero; NaN for a mass that is none.
fn if_zero(mass: f64, end: f64) -> f64 {
    if mass == 0.0 { end } else { f64::NAN }
}

/// The two masses at z = -inf and inf, and NaN at NaN.
fn at_ends(z: f64) -> Option<(f64, f64)> {
    if z.is_finite() {
        None
    } else if z.is_nan() {
        Some((z, z))
    } else {
        Some(if z > 0.0 { (1.0, 0.0) } else { (0.0, 1.0) })
    }
}

/// One tail mass as density times `ratio`, the one that was computed without subtraction.
struct Side {
    ln_density: f64,
    ratio: f64,
    is_lower: bool,
}

impl Side {
    fn mass(&self) -> f64 {
        (self.ln_density.exp() * self.ratio).min(1.0)
    }

    /// (P(Z <= z), P(Z > z)).
    fn masses(&self) -> (f64, f64) {
        let (mass, rest) = (self.mass(), 1.0 - self.mass());
        if self.is_lower {
            (mass, rest)
        } else {
            (rest, mass)
        }
    }

    /// The log of a tail mass and its derivative by z.
    fn lower(&self) -> (f64, f64) {
        self.ln_mass(self.is_lower, 1.0)
    }

    fn upper(&self) -> (f64, f64) {
        self.ln_mass(!self.is_lower, -1.0)
    }

    fn ln_mass(&self, direct: bool, sign: f64) -> (f64, f64) {
        if direct {
            return (self.ln_density + self.ratio.ln(), sign / self.ratio);
        }
        let mass = self.mass();
        ((-mass).ln_1p(), sign * self.ln_density.exp() / (1.0 - mass))
    }
}

/// Solve ln mass(z) = ln target.
fn newton(start: f64, ln_mass: impl Fn(f64) -> (f64, f64), target: f64) -> f64 {
    let ln_target = target.ln();
    let mut z = start;
    // Ten steps are usual. From the plain bound far out in a law of shape 1e6, each step at least
    // halves the distance.
    for _ in 0..200 {
        let (value, slope) = ln_mass(z);
        let step = (ln_target - value) / slope;
        if !step.is_finite() {
            break;
        }
        z += step;
        // The error after a step is of the order of its square over the width of the law, here
        // below 1e-15.
        if step.abs() <= 1e-10 * z.abs().max(1.0) {
            break;
        }
    }
    z
}

/// The ln of Wilson and Hilferty's approximate gamma quantile at the normal score g; negative
/// infinity where that quantile is negative.
fn wilson_hilferty(shape: f64, g: f64) -> f64 {
    let root = 1.0 - 1.0 / (9.0 * shape) + g / (3.0 * shape.sqrt());
    shape.ln() + 3.0 * root.max(0.0).ln()
}

fn gamma_side(shape: f64, z: f64) -> Side {
    let y = z.exp();
    let is_lower = y < shape + 1.0;
    let ratio = if is_lower {
        gamma_series(shape, y)
    } else {
        gamma_fraction(shape, y)
    };
    Side {
        ln_density: gamma_ln_density(shape, z),
        ratio,
        is_lower,
    }
}

/// P(Y <= y) over y^a e^-y/Gamma(a): the series 1/a (1 + y/(a+1) + y^2/((a+1)(a+2)) + ...), all
/// terms positive.
fn gamma_series(a: f64, y: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    while term > 1e-17 * sum {
        n += 1.0;
        term *= y / n;
        sum += term;
    }
    sum
}

/// P(Y > y) over y^a e^-y/Gamma(a): Legendre's continued fraction, for y > a.
fn gamma_fraction(a: f64, y: f64) -> f64 {
    fraction(y + 1.0 - a, |n| (-n * (n - a), y + 1.0 - a + 2.0 * n))
}

/// 1/(b0 + a1/(b1 + a2/(b2 + ...))) by Lentz's algorithm; `terms(n)` gives (a_n, b_n).
fn fraction(b0: f64, terms: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut value = 1.0 / b0;
    let (mut c, mut d) = (f64::INFINITY, value);
    // Convergence takes some multiple of sqrt(parameter) terms: 1e5 serves parameters up to 1e8.
    for n in 1..100_000 {
        let (a, b) = terms(f64::from(n));
        d = 1.0 / (b + a * d);
        c = b + a / c;
        let factor = c * d;
        value *= factor;
        // Rounding keeps the factor within two units of one.
        if (factor - 1.0).abs() < 4e-16 {
            break;
        }
    }
    value
}

fn beta_lower_logit(a: f64, b: f64, p: f64) -> f64 {
    // P = integral of e^(az) (1 + e^z)^-(a+b) dz/B is at most e^(az)/(a B): this start is never
    // right of the root.
    let bound = (p.ln() + a.ln() + ln_beta(a, b)) / a;
    let start = bound.max(carter(a, b, normal_quantile(p)));
    newton(start, |z| beta_side(a, b, z).lower(), p)
}

/// The approximate logit 26.5.22 of Abramowitz and Stegun at the normal score g; negative infinity
/// outside its range.
fn carter(a: f64, b: f64, g: f64) -> f64 {
    if a < 1.0 || b < 1.0 {
        return f64::NEG_INFINITY;
    }
    let (r, s) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let h = 2.0 / (r + s);
    let lambda = (g * g - 3.0) / 6.0;
    let w = -g * (h + lambda).sqrt() / h - (s - r) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    (a / b).ln() - 2.0 * w
}

fn beta_side(a: f64, b: f64, z: f64) -> Side {
    let (x, y) = (1.0 / (1.0 + (-z).exp()), 1.0 / (1.0 + z.exp()));
    let is_lower = a * y >= b * x;
    let ratio = if is_lower {
        beta_fraction(a, b, x, y)
    } else {
        beta_fraction(b, a, y, x)
    };
    Side {
        ln_density: beta_ln_density(a, b, z),
        ratio,
        is_lower,
    }
}

/// P(X <= x) over x^a y^b/B(a, b), y = 1 - x: the continued fraction of DiDonato and Morris (1992),
/// for x <= a/(a+b).
fn beta_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    // a - (a+b) x, which cancels near the mean, written without a large term.
    let lambda = a * y - b * x;
    fraction(a / (a + 1.0) * (lambda + 1.0), |n| {
        let m = a + 2.0 * n - 1.0;
        let numerator = (a + n - 1.0) / m * ((a + b + n - 1.0) / m) * n * (b - n) * x * x;
        let denominator =
            n + n * (b - n) * x / m + (a + n) / (m + 2.0) * (lambda + 1.0 + n * (1.0 + y));
        (numerator, denominator)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_beta_is_a_t() {
        for df in [0.5, 3.0, 1e6] {
            for mass in [1e-300, 1e-12, 0.1, 0.4999] {
                let t = student_t_quantile(df, Tail::Upper(mass));
                if t.is_finite() {
                    let back = student_t_tails(df, t).1;
                    assert!((back / mass - 1.0).abs() < 1e-11, "{df} {mass} {back}");
                }
            }
        }
    }
}

//! Integrate products of squared exponentials over one interval or one normal coordinate.
//!
//! Every closed form below reduces to two one-dimensional integrals in units of the length scale,
//! with the measure's centre at 0:
//!
//! ```text
//! single(p; c)         = E exp(-p (x - c)^2 / 2)
//! double(p, q, j; c, e) = E exp(-[p (x - c)^2 + q (y - e)^2 + j (x - y)^2] / 2),  x, y independent
//! ```

use crate::numeric::gauss::{Rule, legendre};
use crate::numeric::special::{erf, normal_cdf, normal_pdf};
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::LazyLock;

/// The law of one coordinate, centred, in length scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Factor {
    /// Uniform on [-half, half].
    Uniform { half: f64 },
    /// Normal with this variance.
    Normal { var: f64 },
}

/// How many copies of k(x, .), of k(y, .) and of k(x, y) are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Powers {
    pub left: usize,
    pub right: usize,
    pub between: usize,
}

/// A factor with everything that depends on the powers alone.
#[derive(Debug, Clone, Copy)]
pub(super) enum Prepared {
    Uniform {
        half: f64,
        p: f64,
        q: f64,
        j: f64,
    },
    /// exp(-(left c^2 + right e^2 + between (c - e)^2) / 2).
    Normal {
        left: f64,
        right: f64,
        between: f64,
    },
}

impl Factor {
    /// Rough counts of operations of one single and one double integral.
    pub fn costs(&self) -> (f64, f64) {
        match self {
            // Two error functions; or four panels of 24 nodes with an exp and two of them each.
            Factor::Uniform { .. } => (12.0, 400.0),
            Factor::Normal { .. } => (4.0, 8.0),
        }
    }

    /// E exp(-p (x - c)^2 / 2).
    pub fn single(&self, p: f64, c: f64) -> f64 {
        match *self {
            Factor::Uniform { half } => {
                let root = p.sqrt();
                let mass = normal_mass((-half - c) * root, 2.0 * half * root);
                (2.0 * PI).sqrt() * mass / (2.0 * half * root)
            }
            Factor::Normal { var } => {
                let spread = 1.0 + p * var;
                (-0.5 * p * c * c / spread).exp() / spread.sqrt()
            }
        }
    }

    /// What the powers fix, and the constant factor of the integral.
    pub fn prepare(&self, powers: Powers) -> (Prepared, f64) {
        let [p, q, j] = [powers.left, powers.right, powers.between].map(|power| power as f64);
        match *self {
            Factor::Uniform { half } => (Prepared::Uniform { half, p, q, j }, 1.0),
            Factor::Normal { var } => normal_springs(p, q, j, var),
        }
    }
}

/// The normal double integral, whose exponent is the rest energy of five springs: p from c to x, q
/// from e to y, j from x to y, and 1/var from each of x and y to 0.
///
/// Eliminating x and then y leaves three springs among c, e and 0, all positive: no cancellation,
/// where h' (1/var + T)^-1 h would subtract numbers of the size of p c^2.
fn normal_springs(p: f64, q: f64, j: f64, var: f64) -> (Prepared, f64) {
    let at_x = 1.0 + var * (p + j);
    let c_to_y = var * p * j / at_x;
    let ground = j / at_x;
    // var times the sum of the springs at y, without the division by var.
    let at_y = 1.0 + var * (q + c_to_y + ground);
    let grounded = (1.0 + var * ground) / at_y;
    let springs = Prepared::Normal {
        left: p / at_x + c_to_y * grounded,
        right: q * grounded,
        between: var * q * c_to_y / at_y,
    };
    (springs, (at_x * at_y).sqrt().recip())
}

impl Prepared {
    /// The integral as (exponent, factor), so that a product over dimensions takes one exp.
    pub fn at(&self, c: f64, e: f64) -> (f64, f64) {
        match *self {
            Prepared::Uniform { half, p, q, j } => (0.0, interval(half, [p, q, j], c, e)),
            Prepared::Normal {
                left,
                right,
                between,
            } => {
                let apart = c - e;
                let energy = left * c * c + right * e * e + between * apart * apart;
                (-0.5 * energy, 1.0)
            }
        }
    }
}

/// The outer rule: on a panel of six standard deviations exp(-4.5 t^2), |t| <= 1, has Chebyshev
/// coefficients below I_k(2.25), and I_24(2.25) is 3e-23 (24 nodes are exact to degree 47).
static OUTER: LazyLock<Rule> = LazyLock::new(|| legendre(24));

/// Where the integrand is exp(-40.5) = 3e-18 of its peak it no longer counts.
const REACH: f64 = 9.0;

/// double(p, q, j; c, e) for x, y uniform on [-half, half].
///
/// The integral over y is a normal mass with relative accuracy; the one over x is Gauss-Legendre
/// in panels, on positive terms. A difference of four bivariate normal probabilities would lose
/// all digits for boxes narrower than 1e-8 length scales and in the tails.
fn interval(half: f64, [p, q, j]: [f64; 3], c: f64, e: f64) -> f64 {
    if p + q == 0.0 {
        return interval_flat(half, j);
    }
    // Completing squares: y around (q e + j x) / inner, then x around `peak`.
    let inner = q + j;
    let pull = q * j / inner;
    let precision = p + pull;
    let peak = (p * c + pull * e) / precision;
    let apart = p * pull / precision * (c - e) * (c - e);
    // exp(-apart / 2) underflows.
    if apart > 1500.0 {
        return 0.0;
    }
    let (from, to) = peak_range(half, [p, q], [c, e], peak);
    let reach = REACH / precision.sqrt();
    let (from, to) = ((from - reach).max(-half), (to + reach).min(half));
    // The integrand varies on the scale of x given y: precision p + j.
    let panels = ((to - from) * (p + j).sqrt() / 6.0).ceil().max(1.0);
    let width = (to - from) / panels;
    let root = inner.sqrt();
    let mut sum = 0.0;
    for panel in 0..panels as usize {
        let middle = from + (panel as f64 + 0.5) * width;
        for (t, w) in OUTER.nodes.iter().zip(&OUTER.weights) {
            let x = middle + 0.5 * width * t;
            let z = x - peak;
            let y = (q * e + j * x) / inner;
            let mass = normal_mass((-half - y) * root, 2.0 * half * root);
            sum += w * (-0.5 * precision * z * z).exp() * mass;
        }
    }
    let constant = (2.0 * PI / inner).sqrt() * (-0.5 * apart).exp();
    0.5 * width * sum * constant / (4.0 * half * half)
}

/// An interval that holds the maximiser over x: `peak` where both centres are in the box, since
/// the mass over y is then within a factor 2 of its largest; else the hull of the nearest points
/// of the box.
fn peak_range(half: f64, powers: [f64; 2], centers: [f64; 2], peak: f64) -> (f64, f64) {
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    let mut inside = true;
    for (power, center) in powers.into_iter().zip(centers) {
        if power > 0.0 {
            let nearest = center.clamp(-half, half);
            inside &= nearest == center;
            range = (range.0.min(nearest), range.1.max(nearest));
        }
    }
    if inside { (peak, peak) } else { range }
}

/// The double integral of exp(-j (x - y)^2 / 2) alone: (2 / w^2) times the integral over t from 0
/// to w of (w - t) exp(-j t^2 / 2). The two terms differ by a factor of 2 or more at any width.
fn interval_flat(half: f64, j: f64) -> f64 {
    if j == 0.0 {
        return 1.0;
    }
    let w = 2.0 * half * j.sqrt();
    let whole = (2.0 * PI).sqrt() * erf(w * FRAC_1_SQRT_2) / w;
    whole + 2.0 * (-0.5 * w * w).exp_m1() / (w * w)
}

/// The rule for narrow normal masses: there the exponent moves by at most 1.5, and
/// (1.5/2)^16 / 16! is 5e-16.
static NARROW: LazyLock<Rule> = LazyLock::new(|| legendre(8));

/// Phi(a + width) - Phi(a), to relative accuracy for narrow and for far intervals.
pub(super) fn normal_mass(a: f64, width: f64) -> f64 {
    let b = a + width;
    if a < 0.0 && b > 0.0 {
        return 0.5 * (erf(b * FRAC_1_SQRT_2) + erf(-a * FRAC_1_SQRT_2));
    }
    // Both ends on one side: mirror to the right, where 0 <= near < far.
    let near = if a < 0.0 { -b } else { a };
    if width * (1.0 + near) < 1.0 {
        let rule = NARROW.nodes.iter().zip(&NARROW.weights);
        let sum: f64 = rule
            .map(|(t, w)| w * normal_pdf(near + 0.5 * width * (1.0 + t)))
            .sum();
        return 0.5 * width * sum;
    }
    normal_cdf(-near) - normal_cdf(-near - width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!(
            (got - want).abs() <= tolerance * want.abs(),
            "{got} {want}: {:e}",
            (got - want).abs() / want.abs()
        );
    }

    /// A two-dimensional Gauss-Legendre rule of 60 nodes a side on one box.
    fn brute(half: f64, [p, q, j]: [f64; 3], c: f64, e: f64, density: impl Fn(f64) -> f64) -> f64 {
        let rule = legendre(160);
        let mut sum = 0.0;
        for (s, ws) in rule.nodes.iter().zip(&rule.weights) {
            for (t, wt) in rule.nodes.iter().zip(&rule.weights) {
                let (x, y) = (half * s, half * t);
                let r = p * (x - c).powi(2) + q * (y - e).powi(2) + j * (x - y).powi(2);
                sum += ws * wt * half * half * (-0.5 * r).exp() * density(x) * density(y);
            }
        }
        sum
    }

    #[test]
    fn intervals_agree_with_brute_force_at_all_widths() {
        for half in [1e-9, 1e-3, 0.5, 3.0, 8.0] {
            for powers in [
                [0, 0, 1],
                [0, 0, 2],
                [0, 2, 1],
                [1, 1, 1],
                [2, 0, 3],
                [3, 2, 1],
            ] {
                for (c, e) in [(0.0, 0.0), (0.9, -0.4), (0.99, 1.7), (-1.5, -1.9)] {
                    let factor = Factor::Uniform { half };
                    let (c, e) = (c * half, e * half);
                    let [left, right, between] = powers;
                    let (prepared, constant) = factor.prepare(Powers {
                        left,
                        right,
                        between,
                    });
                    let got = constant * prepared.at(c, e).1;
                    let want = brute(half, powers.map(|p| p as f64), c, e, |_| 0.5 / half);
                    close(got, want, 1e-13);
                }
            }
        }
    }

    #[test]
    fn normals_agree_with_brute_force() {
        for var in [1e-6, 0.3, 1.5] {
            for powers in [[0, 0, 1], [0, 2, 1], [1, 1, 1], [3, 2, 1]] {
                let factor = Factor::Normal { var };
                let (c, e) = (0.7, -1.1);
                let [left, right, between] = powers;
                let (prepared, constant) = factor.prepare(Powers {
                    left,
                    right,
                    between,
                });
                let (exponent, one) = prepared.at(c, e);
                let got = constant * exponent.exp() * one;
                let sd = f64::sqrt(var);
                let density = |x: f64| normal_pdf(x / sd) / sd;
                let want = brute(11.0 * sd, powers.map(|p| p as f64), c, e, density);
                close(got, want, 1e-12);
                let single = brute(11.0 * sd, [2.0, 0.0, 0.0], c, e, density);
                close(factor.single(2.0, c), single, 1e-12);
            }
        }
    }

    #[test]
    fn normal_masses_keep_relative_accuracy() {
        // A narrow interval is the density times its width, far out as well.
        for a in [-30.0_f64, -3.0, -0.2, 0.0, 1.0, 20.0] {
            let width = 1e-10;
            close(normal_mass(a, width), width * normal_pdf(a), 1e-8);
            // Additivity across the switch between the formulas.
            for width in [0.05, 0.4, 2.0] {
                let parts: f64 = (0..1000)
                    .map(|i| normal_mass(a + i as f64 * width / 1000.0, width / 1000.0))
                    .sum();
                close(normal_mass(a, width), parts, 4e-13);
            }
        }
    }

    #[test]
    fn a_wide_box_is_the_real_line() {
        // Width 2e6 length scales: the integral over R^2 of exp(-[(x-c)^2 + (y-e)^2 + (x-y)^2]/2)
        // is 2 pi / sqrt 3 exp(-(c-e)^2 / 6).
        let (prepared, _) = Factor::Uniform { half: 1e6 }.prepare(Powers {
            left: 1,
            right: 1,
            between: 1,
        });
        let want = 2.0 * PI / 3.0_f64.sqrt() * (-4.0 / 6.0_f64).exp();
        close(prepared.at(700.0, 702.0).1 * 4e12, want, 1e-13);
    }
}

//! Compute the scalar special functions, each with relative accuracy in its tails.

use super::vmath;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// ln sqrt(2 pi).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// 1 / sqrt(2 pi).
const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// sqrt(2 pi).
const SQRT_2PI: f64 = 2.506_628_274_631_000_7;

/// The pole of the map t = (x - 4)/(x + 4) that carries [0, inf) to [-1, 1]. Of 2, 2.5, ..., 4 the
/// value 4 makes the Chebyshev series of (x + 4) erfcx(x) fall fastest.
pub(crate) const ERFCX_POLE: f64 = 4.0;

/// Coefficients of (x + 4) erfcx(x) in powers of t = 1 - 8/(x + 4), lowest first.
///
/// The Chebyshev interpolant of degree 24 in t, computed with 60 digits and rewritten in powers.
/// The first term left out is below 1e-18. The absolute values add up to 4, so the powers are as
/// well conditioned as the series itself.
pub(crate) const ERFCX_POLYNOMIAL: [f64; 25] = [
    1.095_995_661_000_491,
    -0.976_548_729_080_882,
    0.773_208_702_265_237_1,
    -0.540_853_831_313_234_5,
    0.330_851_587_878_010_7,
    -0.174_010_937_239_932_9,
    0.076_381_514_909_405_08,
    -0.026_370_053_340_693_672,
    0.006_112_055_653_486_392_5,
    -0.000_280_958_859_188_307_95,
    -0.000_455_052_659_381_767_3,
    0.000_176_812_768_071_533_15,
    -3.635_329_756_508_496e-6,
    -1.886_065_585_165_042_3e-5,
    4.695_056_181_536_189e-6,
    1.423_544_943_950_122e-6,
    -8.478_822_846_448_528e-7,
    -7.440_264_267_692_018e-8,
    1.269_526_620_028_216e-7,
    -2.753_680_956_835_059e-10,
    -1.820_876_035_951_901_6e-8,
    7.051_218_877_756_988e-10,
    2.324_813_949_070_637e-9,
    -7.646_539_972_461_55e-11,
    -1.862_264_876_572_615_4e-10,
];

/// Error function.
///
/// ```
/// use warpquad::numeric::special::{erf, erfc};
/// assert!((erf(0.3) + erfc(0.3) - 1.0).abs() < 1e-15);
/// ```
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// Complementary error function 1 - erf(x), to a few units in the last place even where it is
/// 1e-300.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// The scaled complementary error function exp(x^2) erfc(x). It tends to 1/(x sqrt(pi)), and
/// overflows to infinity below x = -26.6.
///
/// ```
/// use warpquad::numeric::special::{erfc, erfcx};
/// assert!((erfcx(2.0) - 4.0_f64.exp() * erfc(2.0)).abs() < 1e-15);
/// ```
pub fn erfcx(x: f64) -> f64 {
    if x >= 0.0 {
        erfcx_positive(x)
    } else {
        // Reflection. erfcx(-x) <= 1 < 2 exp(x^2), so the difference never loses more than one bit.
        let (head, tail) = split_square(x);
        2.0 * head.exp() * tail.exp() - erfcx_positive(-x)
    }
}

fn erfcx_positive(x: f64) -> f64 {
    let w = 1.0 / (x + ERFCX_POLE);
    let t = 1.0 - 2.0 * ERFCX_POLE * w;
    w * ERFCX_POLYNOMIAL
        .iter()
        .rev()
        .fold(0.0, |sum, c| sum * t + c)
}

/// x^2 as head + tail with head exact: the square of the upper 26 bits, and (x - top)(x + top).
///
/// The exponential of a rounded x^2 has relative error x^2 2^-53, which is 1.5e-13 at x = 37. This
/// form has none.
fn split_square(x: f64) -> (f64, f64) {
    let top = f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000);
    let tail = (x - top) * (x + top);
    (top * top, if tail.is_nan() { 0.0 } else { tail })
}

/// exp(-x^2/2) without the error of rounding x^2.
fn half_square_exp(x: f64) -> f64 {
    let (head, tail) = split_square(x);
    (-0.5 * head).exp() * (-0.5 * tail).exp()
}

/// Standard normal density phi(x).
///
/// ```
/// use warpquad::numeric::special::{ln_normal_pdf, normal_pdf};
/// assert!((normal_pdf(1.5).ln() - ln_normal_pdf(1.5)).abs() < 1e-15);
/// ```
pub fn normal_pdf(x: f64) -> f64 {
    INV_SQRT_2PI * half_square_exp(x)
}

/// Logarithm of the standard normal density.
pub fn ln_normal_pdf(x: f64) -> f64 {
    -0.5 * x * x - LN_SQRT_2PI
}

/// Phi(-a) / exp(-a^2/2) for a >= 0: Mills' ratio over sqrt(2 pi).
fn scaled_tail(a: f64) -> f64 {
    0.5 * erfcx_positive(a * FRAC_1_SQRT_2)
}

/// Standard normal distribution function Phi(x), with relative accuracy in the lower tail.
///
/// The upper tail 1 - Phi(x) is `normal_cdf(-x)`, with the same relative accuracy.
///
/// ```
/// use warpquad::numeric::special::normal_cdf;
/// assert!((normal_cdf(0.7) + normal_cdf(-0.7) - 1.0).abs() < 1e-15);
/// assert!(normal_cdf(-37.0) > 0.0);
/// ```
pub fn normal_cdf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let tail = half_square_exp(x) * scaled_tail(x.abs());
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// ln Phi(x): -x^2/2 - ln(-x sqrt(2 pi)) far to the left, -Phi(-x) far to the right, with relative
/// accuracy in both.
///
/// ```
/// use warpquad::numeric::special::{ln_normal_cdf, normal_cdf};
/// assert!((ln_normal_cdf(-3.0) - normal_cdf(-3.0).ln()).abs() < 1e-14);
/// assert!(ln_normal_cdf(-1e8).is_finite());
/// ```
pub fn ln_normal_cdf(x: f64) -> f64 {
    if x > 0.0 {
        (-normal_cdf(-x)).ln_1p()
    } else {
        scaled_tail(-x).ln() - 0.5 * x * x
    }
}

/// Quantile of the standard normal, the x with Phi(x) = p; -inf at 0, +inf at 1, NaN outside [0,
/// 1].
///
/// ```
/// use warpquad::numeric::special::{normal_cdf, normal_quantile};
/// assert!((normal_cdf(normal_quantile(0.2)) - 0.2).abs() < 1e-15);
/// assert_eq!(normal_quantile(0.5), 0.0);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if p < 0.25 {
        tail_quantile(p.ln())
    } else if p <= 0.75 {
        central_quantile(p - 0.5)
    } else {
        // 1 - p is exact for p in [1/2, 1].
        -tail_quantile((1.0 - p).ln())
    }
}

/// Quantile of the standard normal from ln p: the x with ln Phi(x) = ln p, also where p itself
/// underflows.
///
/// ```
/// use warpquad::numeric::special::{ln_normal_cdf, normal_quantile_ln};
/// assert!((ln_normal_cdf(normal_quantile_ln(-1e5)) + 1e5).abs() < 1e-9);
/// ```
pub fn normal_quantile_ln(ln_p: f64) -> f64 {
    if ln_p < -2.0 * LN_2 {
        tail_quantile(ln_p)
    } else if ln_p <= -0.3 {
        // p - 1/2 = (exp(ln p + ln 2) - 1)/2.
        central_quantile(0.5 * (ln_p + LN_2).exp_m1())
    } else {
        -tail_quantile(ln_1m_exp(ln_p))
    }
}

/// The x with Phi(x) - 1/2 = q, for |q| up to 1/4.
fn central_quantile(q: f64) -> f64 {
    // The start is a least-squares fit on |q| <= 1/4 with error 3e-7; one Halley step cubes it. The
    // residual subtracts erf(x/sqrt 2)/2 and q, both with relative error eps, so x keeps relative
    // accuracy to q = 0.
    const START: [f64; 5] = [
        2.506_628_667_7,
        2.624_610_198,
        5.815_288_11,
        13.756_767_2,
        79.719_674,
    ];
    let q2 = q * q;
    let x = q * START.iter().rev().fold(0.0, |sum, c| sum * q2 + c);
    let newton = (0.5 * erf(x * FRAC_1_SQRT_2) - q) / normal_pdf(x);
    // Halley for F(x) = Phi(x) - 1/2 - q, F'' = -x F'.
    x - newton / (1.0 + 0.5 * x * newton)
}

/// The x < 0 with ln Phi(x) = ln_p, for p up to 1/4 or a little above.
fn tail_quantile(ln_p: f64) -> f64 {
    if ln_p == f64::NEG_INFINITY || ln_p.is_nan() || ln_p >= 0.0 {
        return if ln_p == f64::NEG_INFINITY {
            ln_p
        } else {
            f64::NAN
        };
    }
    // The start is s + x(s) with s = sqrt(-2 ln p), as a rational function: least squares on s in
    // [1.6, 40], error 1e-4. To the right of 40 it is off by ln(2 pi s^2)/(2 s) at most. The steps
    // below remove that, as ln Phi is close to a parabola there.
    let s = (-2.0 * ln_p).sqrt();
    let numerator = 2.521_788_161_3 + s * (1.082_551_488_7 + s * 0.033_419_020_99);
    let denominator = 1.0 + s * (1.571_614_821_1 + s * (0.295_266_772_01 + s * 0.005_082_915_732));
    let mut x = numerator / denominator - s;
    for _ in 0..2 {
        // Halley for F(x) = ln Phi(x) - ln p: F' = lambda = phi/Phi and F'' = -lambda (lambda + x).
        // On this scale the relative error of x is half that of ln p, so nothing is lost to p =
        // 1e-300 and beyond.
        let tail = scaled_tail(-x);
        let lambda = 1.0 / (SQRT_2PI * tail);
        let residual = tail.ln() - 0.5 * x * x - ln_p;
        x -= residual / (lambda + 0.5 * residual * (1.0 + x / lambda));
    }
    x
}

/// ln |Gamma(x)|.
///
/// ```
/// use warpquad::numeric::special::ln_gamma;
/// assert!((ln_gamma(6.5) - ln_gamma(5.5) - 5.5_f64.ln()).abs() < 1e-14);
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln(e^x - 1) for x > 0, the inverse of ln(1 + e^y); -inf at 0, NaN below.
///
/// ```
/// use warpquad::numeric::special::ln_expm1;
/// assert!((ln_expm1(3.0_f64.exp().ln_1p()) - 3.0).abs() < 1e-14);
/// ```
pub fn ln_expm1(x: f64) -> f64 {
    // Above 1 the value is x less a small positive number; below, e^x - 1 itself is accurate.
    if x > 1.0 {
        x + ln_1m_exp(-x)
    } else {
        x.exp_m1().ln()
    }
}

/// ln(1 - e^x) for x < 0; -inf at 0, NaN above.
///
/// ```
/// use warpquad::numeric::special::ln_1m_exp;
/// assert!((ln_1m_exp(0.3_f64.ln()) - 0.7_f64.ln()).abs() < 1e-15);
/// ```
pub fn ln_1m_exp(x: f64) -> f64 {
    // At e^x = 1/2 both forms are exact to rounding; each is safe on its own side.
    if x > -LN_2 {
        (-x.exp_m1()).ln()
    } else {
        (-x.exp()).ln_1p()
    }
}

/// ln sum_i e^(x_i), without overflow; -inf for an empty sum or one of zeros only.
///
/// ```
/// use warpquad::numeric::special::ln_sum_exp;
/// assert!((ln_sum_exp(&[1000.0, 1000.0]) - 1000.0 - 2.0_f64.ln()).abs() < 1e-12);
/// assert_eq!(ln_sum_exp(&[]), f64::NEG_INFINITY);
/// ```
pub fn ln_sum_exp(terms: &[f64]) -> f64 {
    if terms.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let Some(largest) = (0..terms.len()).max_by(|&i, &j| terms[i].total_cmp(&terms[j])) else {
        return f64::NEG_INFINITY;
    };
    let top = terms[largest];
    if top.is_infinite() {
        return top;
    }
    // The largest term is exactly 1; leaving it to ln_1p keeps the small ones.
    let (before, after) = (&terms[..largest], &terms[largest + 1..]);
    top + (sum_exp(before, top) + sum_exp(after, top)).ln_1p()
}

/// The ln of the sum of e^x down every column of a table with rows of this width. The entries
/// become shares of their column.
///
/// ```
/// use warpquad::numeric::special::ln_sum_exp_columns;
/// let mut table = [-900.0, 1.0, -900.0, f64::NEG_INFINITY];
/// let sums = ln_sum_exp_columns(&mut table, 2);
/// assert!((sums[0] + 900.0 - 2.0_f64.ln()).abs() < 1e-12);
/// assert_eq!((sums[1], table), (1.0, [0.5, 1.0, 0.5, 0.0]));
/// ```
pub fn ln_sum_exp_columns(table: &mut [f64], width: usize) -> Vec<f64> {
    if width == 0 {
        return Vec::new();
    }
    let mut top = vec![f64::NEG_INFINITY; width];
    for row in table.chunks_exact(width) {
        top.iter_mut().zip(row).for_each(|(t, x)| *t = t.max(*x));
    }
    // A column of zeros is none to be scaled.
    top.iter_mut()
        .filter(|t| t.is_infinite())
        .for_each(|t| *t = 0.0);
    let mut sums = vec![0.0; width];
    for row in table.chunks_exact_mut(width) {
        row.iter_mut().zip(&top).for_each(|(x, t)| *x -= t);
        vmath::exp(row);
        sums.iter_mut().zip(&*row).for_each(|(s, x)| *s += x);
    }
    for row in table.chunks_exact_mut(width) {
        let pairs = row.iter_mut().zip(&sums).filter(|(_, sum)| **sum > 0.0);
        pairs.for_each(|(x, sum)| *x /= sum);
    }
    let pairs = top.iter().zip(sums);
    pairs.map(|(top, sum)| top + sum.ln()).collect()
}

/// The sum of e^(x_i - top).
fn sum_exp(terms: &[f64], top: f64) -> f64 {
    let mut block = [0.0; 64];
    let mut sum = 0.0;
    for some in terms.chunks(block.len()) {
        let block = &mut block[..some.len()];
        block.iter_mut().zip(some).for_each(|(b, x)| *b = x - top);
        vmath::exp(block);
        sum += block.iter().sum::<f64>();
    }
    sum
}

/// ln(e^a + e^b), without overflow.
///
/// ```
/// use warpquad::numeric::special::ln_add_exp;
/// assert_eq!(ln_add_exp(-1e6, f64::NEG_INFINITY), -1e6);
/// ```
pub fn ln_add_exp(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high.is_infinite() {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Greatest error allowed, relative to max(|value|, floor).
    ///
    /// The logarithms pass through zero at an argument that is no double, where only the absolute
    /// error is small: hence the floor 1. ln_gamma has the simple zeros 1 and 2 as doubles and
    /// keeps relative accuracy there.
    fn tolerance(function: &str) -> (f64, f64) {
        match function {
            "ln_expm1" | "ln_add_exp" | "normal_quantile_ln" => (1e-15, 1.0),
            "erfcx" | "normal_cdf" | "normal_pdf" => (2e-15, 0.0),
            _ => (1e-15, 0.0),
        }
    }

    fn evaluate(function: &str, x: f64) -> f64 {
        match function {
            "normal_pdf" => normal_pdf(x),
            "ln_normal_pdf" => ln_normal_pdf(x),
            "normal_cdf" => normal_cdf(x),
            "ln_normal_cdf" => ln_normal_cdf(x),
            "normal_quantile" => normal_quantile(x),
            "normal_quantile_ln" => normal_quantile_ln(x),
            "erf" => erf(x),
            "erfc" => erfc(x),
            "erfcx" => erfcx(x),
            "ln_gamma" => ln_gamma(x),
            "ln_expm1" => ln_expm1(x),
            "ln_1m_exp" => ln_1m_exp(x),
            // One-argument sections of the two sums.
            "ln_add_exp" => ln_add_exp(x, 0.5),
            "ln_sum_exp" => ln_sum_exp(&[x, 0.5, -2.0]),
            _ => panic!("the table names an unknown function {function}"),
        }
    }

    #[test]
    fn oracle() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/oracle/special.csv");
        let table = std::fs::read_to_string(path).expect("data/oracle/special.csv");
        let mut rows = 0;
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let (x, want): (f64, f64) = (cells[1].parse().unwrap(), cells[2].parse().unwrap());
            let (relative, floor) = tolerance(cells[0]);
            let got = evaluate(cells[0], x);
            // Subnormal results are rounded to multiples of 5e-324, whatever the method.
            let allowed = relative * want.abs().max(floor) + 1e-323;
            assert!(
                got == want || (got - want).abs() <= allowed,
                "{line}: got {got:e}, off by {:e}",
                (got - want) / want
            );
            rows += 1;
        }
        assert!(rows > 400);
    }

    #[test]
    fn ends_of_the_line() {
        let inf = f64::INFINITY;
        assert_eq!((normal_cdf(-inf), normal_cdf(inf)), (0.0, 1.0));
        assert_eq!((normal_pdf(inf), normal_pdf(1e200)), (0.0, 0.0));
        assert_eq!((ln_normal_cdf(-inf), ln_normal_cdf(inf)), (-inf, 0.0));
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (-inf, inf));
        assert_eq!(
            (normal_quantile_ln(-inf), normal_quantile_ln(0.0)),
            (-inf, inf)
        );
        assert_eq!((erfcx(inf), erfcx(-inf)), (0.0, inf));
        assert_eq!((ln_expm1(0.0), ln_expm1(inf)), (-inf, inf));
        assert_eq!((ln_1m_exp(0.0), ln_1m_exp(-inf)), (-inf, 0.0));
        assert_eq!(ln_sum_exp(&[-inf, -inf]), -inf);
        assert_eq!(ln_sum_exp(&[inf, 1.0]), inf);
        assert_eq!(ln_add_exp(-inf, -inf), -inf);
        assert_eq!(ln_add_exp(inf, -inf), inf);
    }

    #[test]
    fn outside_the_domain_is_nan() {
        for value in [
            normal_cdf(f64::NAN),
            ln_normal_cdf(f64::NAN),
            erfcx(f64::NAN),
            normal_pdf(f64::NAN),
            normal_quantile(f64::NAN),
            normal_quantile(-0.1),
            normal_quantile(1.1),
            normal_quantile_ln(0.1),
            normal_quantile_ln(f64::NAN),
            ln_expm1(-1.0),
            ln_1m_exp(1.0),
            ln_sum_exp(&[0.0, f64::NAN]),
            ln_add_exp(f64::NAN, 0.0),
        ] {
            assert!(value.is_nan());
        }
    }
}

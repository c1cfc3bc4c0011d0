//! Apply elementary functions in place over slices, with the widest vector instructions the machine
//! has.
//!
//! Each function is one branch-free scalar kernel, `#[inline(always)]`, so that the compiler
//! vectorises the loop around it. The loop is compiled three times: for AVX-512, for AVX2 with
//! fused multiply-add, and for the baseline of the build. The choice is made at run time.

use super::special::{ERFCX_POLE, ERFCX_POLYNOMIAL};
use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E};

/// 1.5 * 2^52: added to |x| < 2^51 it leaves the nearest integer in the low bits of the sum.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has 32 bits, so its product with an exponent of at most 11 bits is
/// exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// ln 2 less `LN_2_HIGH`.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// (e^r - 1 - r)/r^2 in powers of r, lowest first: the Chebyshev interpolant of degree 10 on |r| <=
/// ln(2)/2, with error 1.4e-18.
const EXP_POLYNOMIAL: [f64; 11] = [
    0.5,
    0.166_666_666_666_666_7,
    0.041_666_666_666_666_67,
    0.008_333_333_333_326_136,
    0.001_388_888_888_888_374_8,
    0.000_198_412_698_748_206_27,
    2.480_158_732_554_774_3e-5,
    2.755_725_540_020_642_2e-6,
    2.755_727_364_311_03e-7,
    2.510_521_700_472_074_5e-8,
    2.091_468_696_808_687_6e-9,
];

/// Whether a fused multiply-add is an instruction of the baseline. Where it is not, `mul_add` is a
/// library call of 40 ns.
const BASELINE_FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

#[inline(always)]
fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn polynomial<const FUSED: bool, const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = fma::<FUSED>(sum, x, coefficients[i]);
    }
    sum
}

/// The double 2^n from an integer n in the low bits of `rounded` = n + ROUNDER; n in [-1022, 1023].
///
/// The low 12 bits of ROUNDER are zero, so adding the bias and shifting leaves the exponent field
/// alone.
#[inline(always)]
fn power_of_two(rounded: f64) -> f64 {
    f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// x + tail = n ln 2 + r: returns n and e^r - 1, with relative accuracy in the latter.
#[inline(always)]
fn reduced_exp_m1<const FUSED: bool>(x: f64, tail: f64) -> (f64, f64) {
    let n = fma::<FUSED>(x, LOG2_E, ROUNDER) - ROUNDER;
    let r = fma::<FUSED>(-n, LN_2_LOW, fma::<FUSED>(-n, LN_2_HIGH, x)) + tail;
    let q = polynomial::<FUSED, 11>(&EXP_POLYNOMIAL, r);
    (n, fma::<FUSED>(r * r, q, r))
}

/// e^(x + tail) for a tail of at most 1e-4.
#[inline(always)]
fn exp_kernel<const FUSED: bool>(x: f64, tail: f64) -> f64 {
    // Comparisons and not max or min, so that NaN stays. Beyond the bounds the result has left the
    // doubles.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (n, m1) = reduced_exp_m1::<FUSED>(x, tail);
    // 2^n in two factors, for n reaches 1024 and -1076.
    let half = fma::<FUSED>(n, 0.5, ROUNDER);
    let rest = n - (half - ROUNDER);
    (1.0 + m1) * power_of_two(half) * power_of_two(rest + ROUNDER)
}

#[inline(always)]
fn exp_m1_kernel<const FUSED: bool>(x: f64) -> f64 {
    // e^-50 is below half a unit in the last place of 1.
    let y = if x > 710.0 { 710.0 } else { x };
    let y = if y < -50.0 { -50.0 } else { y };
    let (n, m1) = reduced_exp_m1::<FUSED>(y, 0.0);
    // e^x - 1 = 2 (s m1 + (s - 1/2)) with s = 2^(n-1), as 2^1024 is no double.
    let s = power_of_two(n - 1.0 + ROUNDER);
    let value = 2.0 * fma::<FUSED>(s, m1, s - 0.5);
    // Halving a subnormal loses its last bit (and the sign of zero).
    if x.abs() < 1e-290 { x } else { value }
}

#[inline(always)]
fn normal_cdf_kernel<const FUSED: bool>(x: f64) -> f64 {
    // Phi(-39) underflows, and infinity would give inf - inf below.
    let a = x.abs();
    let a = if a > 39.0 { 39.0 } else { a };
    // a^2 as the exact square of the upper bits and a small rest: see special::normal_cdf.
    let top = f64::from_bits(a.to_bits() & 0xffff_ffff_f800_0000);
    let density = exp_kernel::<FUSED>(-0.5 * top * top, -0.5 * (a - top) * (a + top));
    let w = 1.0 / fma::<FUSED>(a, FRAC_1_SQRT_2, ERFCX_POLE);
    let t = fma::<FUSED>(-2.0 * ERFCX_POLE, w, 1.0);
    let tail = 0.5 * density * w * polynomial::<FUSED, 25>(&ERFCX_POLYNOMIAL, t);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// How many values of a Chebyshev series are summed side by side: two 512-bit or four 256-bit
/// registers hide the latency of the recurrence.
const BLOCK: usize = 16;

/// sum_k c_k T_k(x) by Clenshaw's recurrence b_k = c_k + 2 x b_{k+1} - b_{k+2}, the sum being c_0 +
/// x b_1 - b_2.
#[inline(always)]
fn clenshaw_block<const FUSED: bool>(coefficients: &[f64], x: &mut [f64; BLOCK]) {
    let Some((first, others)) = coefficients.split_first() else {
        return *x = [0.0; BLOCK];
    };
    let (mut near, mut far) = ([0.0; BLOCK], [0.0; BLOCK]);
    for c in others.iter().rev() {
        for i in 0..BLOCK {
            let next = fma::<FUSED>(2.0 * x[i], near[i], c - far[i]);
            far[i] = near[i];
            near[i] = next;
        }
    }
    for i in 0..BLOCK {
        x[i] = fma::<FUSED>(x[i], near[i], first - far[i]);
    }
}

/// The loops over slices, to be compiled for each set of instructions.
///
/// This is written with `for` and not with closures. A closure that is not inlined is compiled
/// apart, without the instructions of its caller.
mod loops {
    use super::*;

    #[inline(always)]
    pub fn exp<const FUSED: bool>(values: &mut [f64]) {
        for x in values {
            *x = exp_kernel::<FUSED>(*x, 0.0);
        }
    }

    #[inline(always)]
    pub fn exp_m1<const FUSED: bool>(values: &mut [f64]) {
        for x in values {
            *x = exp_m1_kernel::<FUSED>(*x);
        }
    }

    #[inline(always)]
    pub fn normal_cdf<const FUSED: bool>(values: &mut [f64]) {
        for x in values {
            *x = normal_cdf_kernel::<FUSED>(*x);
        }
    }

    #[inline(always)]
    pub fn chebyshev<const FUSED: bool>(coefficients: &[f64], values: &mut [f64]) {
        let (blocks, rest) = values.as_chunks_mut::<BLOCK>();
        for block in blocks {
            clenshaw_block::<FUSED>(coefficients, block);
        }
        let mut last = [0.0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        clenshaw_block::<FUSED>(coefficients, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Define public functions that run the loop of the same name, compiled for the best instructions
/// found at run time.
macro_rules! dispatched {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        $(#[$doc])*
        pub fn $name($($argument: $kind),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn widest($($argument: $kind),*) {
                    loops::$name::<true>($($argument),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn wide($($argument: $kind),*) {
                    loops::$name::<true>($($argument),*)
                }
                // SAFETY: each function is called only where the features it is compiled for were
                // detected. Measured reason, nanoseconds an element with AVX-512, AVX2 and SSE2:
                // exp 0.8, 1.4, 3.8 (std 4.4); exp_m1 0.7, 1.3, 4.3 (std 6.8); normal_cdf 2.3, 4.3,
                // 13 (scalar erfc 18).
                if is_x86_feature_detected!("avx512f") {
                    return unsafe { widest($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    return unsafe { wide($($argument),*) };
                }
            }
            loops::$name::<BASELINE_FUSED>($($argument),*)
        }
    )*};
}

dispatched! {
    /// Replace each x by e^x: within 2 units in the last place, infinity above 709.8, subnormal and
    /// then 0 below -708.4, NaN for NaN.
    ///
    /// ```
    /// let mut x = [0.0, f64::NEG_INFINITY, 710.0];
    /// warpquad::numeric::vmath::exp(&mut x);
    /// assert_eq!(x, [1.0, 0.0, f64::INFINITY]);
    /// ```
    fn exp(values: &mut [f64]);

    /// Replace each x by e^x - 1: within 2 units in the last place, for tiny x too.
    ///
    /// ```
    /// let mut x = [1e-300, f64::NEG_INFINITY];
    /// warpquad::numeric::vmath::exp_m1(&mut x);
    /// assert_eq!(x, [1e-300, -1.0]);
    /// ```
    fn exp_m1(values: &mut [f64]);

    /// Replace each x by the standard normal distribution function Phi(x), with relative accuracy
    /// in the lower tail.
    ///
    /// ```
    /// let mut x = [0.0, f64::INFINITY];
    /// warpquad::numeric::vmath::normal_cdf(&mut x);
    /// assert!((x[0] - 0.5).abs() < 1e-15 && x[1] == 1.0);
    /// ```
    fn normal_cdf(values: &mut [f64]);

    /// Replace each x in [-1, 1] by the Chebyshev series sum_k c_k T_k(x).
    ///
    /// ```
    /// let mut x = [0.3];
    /// warpquad::numeric::vmath::chebyshev(&[0.0, 0.0, 1.0], &mut x);
    /// assert!((x[0] - (2.0 * 0.3 * 0.3 - 1.0)).abs() < 1e-15); // T_2(x) = 2 x^2 - 1
    /// ```
    fn chebyshev(coefficients: &[f64], values: &mut [f64]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::special;

    /// Both forms of a loop, so that the baseline is tested on a machine that would not choose it.
    type Loop = fn(&mut [f64]);

    /// Distance of two doubles of one sign, in units in the last place; 0 for two NaN.
    fn ulps(a: f64, b: f64) -> u64 {
        if a.is_nan() && b.is_nan() {
            return 0;
        }
        assert!(
            a.is_sign_negative() == b.is_sign_negative(),
            "{a:e} and {b:e}"
        );
        a.to_bits().abs_diff(b.to_bits())
    }

    /// A dense grid over [low, high], powers of ten of both signs, and the ends of the line.
    fn arguments(low: f64, high: f64) -> Vec<f64> {
        let mut x: Vec<f64> = (0..=40_000)
            .map(|i| low + (high - low) * f64::from(i) / 40_000.0)
            .collect();
        for exponent in -323..=308 {
            let ten = format!("1e{exponent}").parse::<f64>().unwrap();
            x.extend([ten, -ten]);
        }
        let ends = [
            0.0,
            709.782,
            709.79,
            710.0,
            745.1,
            745.2,
            1074.0,
            f64::MAX,
            f64::INFINITY,
            f64::MIN_POSITIVE,
        ];
        x.extend(ends.iter().flat_map(|v| [*v, -v]));
        x.push(f64::NAN);
        x
    }

    fn assert_ulps(function: Loop, reference: fn(f64) -> f64, low: f64, high: f64) {
        let x = arguments(low, high);
        let mut got = x.clone();
        function(&mut got);
        for (x, got) in x.into_iter().zip(got) {
            let distance = ulps(got, reference(x));
            assert!(distance <= 2, "at {x:e}: {got:e}, {distance} units off");
        }
    }

    #[test]
    fn exp_within_two_units() {
        for function in [exp, loops::exp::<false>] {
            assert_ulps(function, f64::exp, -750.0, 712.0);
            assert_ulps(function, f64::exp, -2.0, 2.0);
        }
    }

    #[test]
    fn exp_m1_within_two_units() {
        for function in [exp_m1, loops::exp_m1::<false>] {
            assert_ulps(function, f64::exp_m1, -60.0, 712.0);
            assert_ulps(function, f64::exp_m1, -2.0, 2.0);
        }
    }

    #[test]
    fn normal_cdf_relative() {
        for function in [normal_cdf, loops::normal_cdf::<false>] {
            let x = arguments(-37.6, 9.0);
            let mut got = x.clone();
            function(&mut got);
            for (x, got) in x.into_iter().zip(got) {
                let want = special::normal_cdf(x);
                let off = (got - want).abs();
                assert!(
                    x.is_nan() && got.is_nan() || off <= 2e-15 * want + 1e-323,
                    "at {x:e}: {got:e} for {want:e}"
                );
            }
        }
    }

    #[test]
    fn chebyshev_is_a_cosine() {
        // T_k(cos a) = cos(k a), at lengths around the block's.
        for length in [0, 1, 15, 16, 17, 33] {
            let angle = |i: usize| 0.09 * i as f64;
            let mut x: Vec<f64> = (0..length).map(|i| angle(i).cos()).collect();
            chebyshev(&[0.5, 0.0, -1.0, 2.0], &mut x);
            for (i, got) in x.iter().enumerate() {
                let want = 0.5 - (2.0 * angle(i)).cos() + 2.0 * (3.0 * angle(i)).cos();
                assert!((got - want).abs() < 1e-14);
            }
        }
        let mut x = [0.2; 3];
        chebyshev(&[], &mut x);
        assert_eq!(x, [0.0; 3]);
    }
}

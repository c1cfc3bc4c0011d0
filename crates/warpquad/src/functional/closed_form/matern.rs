//! Integrate the Matern kernels nu = 1/2, 3/2 and 5/2 over an interval, in elementary functions.
//!
//! rho = P(t) exp(-t) with t = sqrt(2 nu) |x - x'| / l. Away from a point at distance a,
//! P(a + t) has positive coefficients in t, so the integral over a piece of length T is
//! exp(-a) sum over i of P^(i)(a) G_i(T), a sum of positive terms at every T, with
//! G_i(T) = (1/i!) int over [0, T] of t^i exp(-t) dt.

use super::Case;
use super::squared_exponential::linear_from;
use crate::kernel::Family;
use crate::measure::{Form, Form1};

/// Degree 0 or 1 over an interval.
pub(super) fn linear(case: &Case<'_>) -> Option<(f64, f64)> {
    let theta = case.posterior.process().theta();
    let Family::Matern { p } = case.posterior.process().kernel().family() else {
        return None;
    };
    let polynomial = shape(p)?;
    let Form::Product(laws) = &case.form else {
        return None;
    };
    let [Form1::Uniform { lo, hi }] = laws[..] else {
        return None;
    };
    let per_length = (2.0 * p as f64 + 1.0).sqrt() / theta.length_scales[0];
    let width = (hi - lo) * per_length;
    let single = |x: &[f64]| {
        let (below, above) = ((x[0] - lo) * per_length, (hi - x[0]) * per_length);
        theta.output_scale * towards(polynomial, below, above, width) / width
    };
    let z = case.posterior.points().iter().map(single).collect();
    let zz = theta.output_scale * double(polynomial, width);
    Some(linear_from(case, z, zz))
}

/// The coefficients of P for nu = p + 1/2.
fn shape(p: usize) -> Option<&'static [f64]> {
    match p {
        0 => Some(&[1.0]),
        1 => Some(&[1.0, 1.0]),
        2 => Some(&[1.0, 1.0, 1.0 / 3.0]),
        _ => None,
    }
}

/// The integral over the interval from a point `below` above its lower end.
fn towards(p: &[f64], below: f64, above: f64, width: f64) -> f64 {
    if below < 0.0 {
        piece(p, -below, width)
    } else if above < 0.0 {
        piece(p, -above, width)
    } else {
        piece(p, 0.0, below) + piece(p, 0.0, above)
    }
}

/// The integral of P(t) exp(-t) over [start, start + length].
fn piece(p: &[f64], start: f64, length: f64) -> f64 {
    let mut derivative = p.to_vec();
    let mut sum = 0.0;
    for i in 0..p.len() {
        let value = derivative.iter().rev().fold(0.0, |acc, c| acc * start + c);
        sum += value * gamma(i, length);
        derivative = (1..derivative.len())
            .map(|k| k as f64 * derivative[k])
            .collect();
    }
    (-start).exp() * sum
}

/// The double integral over the square, divided by width^2: (2 / w^2) int over [0, w] of (w - t)
/// rho.
///
/// rho falls, so the part with t is at most half of the part with w: one bit is lost, no more.
fn double(p: &[f64], width: f64) -> f64 {
    let mut shifted = vec![0.0];
    shifted.extend_from_slice(p);
    2.0 * (piece(p, 0.0, width) - piece(&shifted, 0.0, width) / width) / width
}

/// G_i(T) = (1/i!) int over [0, T] of t^i exp(-t) dt = exp(-T) sum over k > i of T^k / k!.
fn gamma(i: usize, length: f64) -> f64 {
    let mut term = (-length).exp();
    let mut head = 0.0;
    for k in 1..=i {
        head += term;
        term *= length / k as f64;
    }
    head += term;
    // Below T = i + 1 the head is more than half of the whole: sum the tail instead.
    if length > i as f64 + 1.0 {
        return 1.0 - head;
    }
    let (mut tail, mut k) = (0.0, i);
    while term > 0.25 * f64::EPSILON * tail {
        k += 1;
        term *= length / k as f64;
        tail += term;
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::gauss::legendre;

    #[test]
    fn pieces_agree_with_gauss_legendre() {
        let rule = legendre(40);
        for p in 0..3 {
            let p = shape(p).unwrap();
            for (start, length) in [(0.0, 1e-8), (0.0, 0.9), (3.0, 1e-5), (2.0, 1.7), (0.3, 9.0)] {
                let pairs = rule.nodes.iter().zip(&rule.weights);
                let want: f64 = pairs
                    .map(|(x, w)| {
                        let t = start + 0.5 * length * (1.0 + x);
                        let rho = p.iter().rev().fold(0.0, |acc, c| acc * t + c) * (-t).exp();
                        0.5 * length * w * rho
                    })
                    .sum();
                let error = (piece(p, start, length) - want).abs() / want;
                assert!(error < 2e-15, "{p:?} {start} {length}: {error:e}");
            }
        }
    }

    #[test]
    fn the_square_is_the_integral_of_its_lines() {
        let rule = legendre(60);
        for p in 0..3 {
            let p = shape(p).unwrap();
            for width in [1e-9, 0.3, 4.0, 20.0] {
                let pairs = rule.nodes.iter().zip(&rule.weights);
                let want: f64 = pairs
                    .map(|(x, w)| {
                        let below = 0.5 * width * (1.0 + x);
                        0.5 * w * towards(p, below, width - below, width) / width
                    })
                    .sum();
                let error = (double(p, width) - want).abs() / want;
                assert!(error < 1e-14, "{p:?} {width}: {error:e}");
            }
        }
    }
}

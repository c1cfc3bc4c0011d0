//! Tabulate the excess of equal arguments and its derivatives: the hot path of a likelihood.

use super::integral::{MOST_NODES, UNDERFLOW, choose};
use super::{half_angle, normal_between, normal_excess, normal_pdf2};
use crate::numeric::gauss::Rule;
use crate::numeric::special::normal_pdf;
use crate::numeric::vmath;
use std::f64::consts::{FRAC_1_PI, PI};

/// The excess of equal arguments, E(rho) = `normal_excess(h, h, rho)`, with its derivatives, for
/// one h and many rho.
///
/// With q = sqrt((1 - rho)/(1 + rho)) the exponent of the integrand is h^2 (1 + q^2)/2, so that
///
/// ```text
/// E       = rho exp(-h^2/(1 + rho)) G(q)
/// dE/dh   = rho exp(-h^2/(1 + rho)) H(q)
/// dE/drho = exp(-h^2/(1 + rho)) / (2 pi sqrt(1 - rho^2))
/// ```
///
/// with G and H smooth for 0 <= rho <= 1. Both are expanded in Chebyshev polynomials once; after
/// that an element costs an exponential, a square root and two short series. The relative error is
/// below 1e-13. Where there is no expansion (rho < 0, rho above the stated largest, |h| > 12) each
/// element is integrated by itself.
///
/// ```
/// use warpquad::numeric::bivariate::{EqualExcess, normal_excess};
/// let mut value = [0.0];
/// EqualExcess::new(-1.3, 0.9).fill_value(&[0.4], &mut value);
/// assert!((value[0] / normal_excess(-1.3, -1.3, 0.4) - 1.0).abs() < 1e-13);
/// ```
#[derive(Clone, Debug)]
pub struct EqualExcess {
    h: f64,
    rho_max: f64,
    /// 2/(1 - q(rho_max)): the series run over x = 1 - scale (1 - q).
    scale: f64,
    value: Vec<f64>,
    d_h: Vec<f64>,
}

/// Elements worked on at a time, so that the scratch rows stay in the first-level cache.
const CHUNK: usize = 256;
/// |h| up to which the factors are expanded.
const LARGEST_EXPANDED: f64 = 12.0;

impl EqualExcess {
    /// Prepare for arguments (h, h) and correlations in [0, rho_max].
    pub fn new(h: f64, rho_max: f64) -> Self {
        // A wider interval than asked for does no harm. An empty one would, and so would one that
        // misses a rho by a rounding.
        let rho_max = (rho_max * (1.0 + 1e-12)).clamp(0.01, 1.0);
        let scale = 2.0 / half_angle(rho_max).1;
        let mut law = Self {
            h,
            rho_max,
            scale,
            value: Vec::new(),
            d_h: Vec::new(),
        };
        if h.abs() <= LARGEST_EXPANDED {
            law.expand();
        } else {
            law.rho_max = f64::NEG_INFINITY;
        }
        law
    }

    /// Expand both factors, by interpolation at the Chebyshev points.
    fn expand(&mut self) {
        // Coefficients above 5e-16 of the first at rho_max = 1: 20 at h = 0, 31 at 4, 51 at 8, 68
        // at 12; fewer for a shorter interval.
        let n = 20 + (4.0 * self.h.abs()) as usize;
        let cosines: Vec<f64> = (0..4 * n)
            .map(|i| (PI * i as f64 / (2 * n) as f64).cos())
            .collect();
        let rule = choose(self.h.abs(), self.rho_max);
        let factors: Vec<(f64, f64)> = (0..n)
            .map(|j| self.factors((1.0 - cosines[2 * j + 1]) / self.scale, rule))
            .collect();
        let series = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            let coefficient = |k: usize| {
                let sum: f64 = (0..n)
                    .map(|j| pick(&factors[j]) * cosines[k * (2 * j + 1) % (4 * n)])
                    .sum();
                sum * if k == 0 { 1.0 } else { 2.0 } / n as f64
            };
            trimmed((0..n).map(coefficient).collect())
        };
        (self.value, self.d_h) = (series(|f| f.0), series(|f| f.1));
    }

    /// G and H at q = 1 - below. With M the mean over x in [q, 1] and e(x) = exp(-h^2 (x^2 -
    /// q^2)/2), G = s M[e/(1 + x^2)] and H = -h s M[e], where s = (1 - q)/(pi rho) = (1 + q^2)/(pi
    /// (1 + q)).
    fn factors(&self, below: f64, rule: &Rule) -> (f64, f64) {
        let q = 1.0 - below;
        let n = rule.nodes.len();
        let (mut terms, mut x) = ([0.0; MOST_NODES], [0.0; MOST_NODES]);
        for i in 0..n {
            let ahead = below * rule.nodes[i];
            x[i] = q + ahead;
            terms[i] = -0.5 * self.h * self.h * ahead * (q + x[i]);
        }
        vmath::exp(&mut terms[..n]);
        let (mut value, mut d_h) = (0.0, 0.0);
        for i in 0..n {
            let term = rule.weights[i] * terms[i];
            value += term / (1.0 + x[i] * x[i]);
            d_h += term;
        }
        let s = FRAC_1_PI * (1.0 + q * q) / (1.0 + q);
        (s * value, -self.h * s * d_h)
    }

    /// Write E, dE/drho and dE/dh for each rho. dE/drho is infinite at rho = 1.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn fill(&self, rho: &[f64], value: &mut [f64], d_rho: &mut [f64], d_h: &mut [f64]) {
        assert!(value.len() == rho.len() && d_rho.len() == rho.len() && d_h.len() == rho.len());
        let outputs = value
            .chunks_mut(CHUNK)
            .zip(d_rho.chunks_mut(CHUNK))
            .zip(d_h.chunks_mut(CHUNK));
        for (rho, ((value, d_rho), d_h)) in rho.chunks(CHUNK).zip(outputs) {
            self.prepare(rho, value, d_rho);
            d_h.copy_from_slice(value);
            vmath::chebyshev(&self.value, value);
            vmath::chebyshev(&self.d_h, d_h);
            for i in 0..rho.len() {
                let weight = rho[i] * d_rho[i];
                value[i] *= weight;
                d_h[i] *= weight;
                d_rho[i] *= 0.5 * FRAC_1_PI / ((1.0 - rho[i]) * (1.0 + rho[i])).sqrt();
            }
            for (i, &r) in rho.iter().enumerate().filter(|(_, r)| self.is_outside(**r)) {
                value[i] = normal_excess(self.h, self.h, r);
                d_rho[i] = normal_pdf2(self.h, self.h, r);
                d_h[i] = equal_slope(self.h, r);
            }
        }
    }

    /// Write E for each rho.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn fill_value(&self, rho: &[f64], value: &mut [f64]) {
        assert!(value.len() == rho.len());
        let mut buffer = [0.0; CHUNK];
        for (rho, value) in rho.chunks(CHUNK).zip(value.chunks_mut(CHUNK)) {
            let weight = &mut buffer[..rho.len()];
            self.prepare(rho, value, weight);
            vmath::chebyshev(&self.value, value);
            for i in 0..rho.len() {
                value[i] *= rho[i] * weight[i];
            }
            for (i, &r) in rho.iter().enumerate().filter(|(_, r)| self.is_outside(**r)) {
                value[i] = normal_excess(self.h, self.h, r);
            }
        }
    }

    /// The argument x of the series and exp(-h^2/(1 + rho)).
    fn prepare(&self, rho: &[f64], x: &mut [f64], weight: &mut [f64]) {
        let square = -self.h * self.h;
        for i in 0..rho.len() {
            x[i] = 1.0 - self.scale * half_angle(rho[i]).1;
            weight[i] = square / (1.0 + rho[i]);
        }
        vmath::exp(weight);
    }

    /// Also true for NaN.
    fn is_outside(&self, rho: f64) -> bool {
        !(0.0..=self.rho_max).contains(&rho)
    }
}

/// Leave out the last coefficients below 5e-16 of the first: rounding, not information.
fn trimmed(mut coefficients: Vec<f64>) -> Vec<f64> {
    let noise = 5e-16 * coefficients.first().map_or(0.0, |c| c.abs());
    let length = coefficients
        .iter()
        .rposition(|c| c.abs() > noise)
        .map_or(0, |last| last + 1);
    coefficients.truncate(length);
    coefficients
}

/// d/dh of `normal_excess(h, h, rho)`: 2 phi(h) (Phi(h q) - Phi(h)).
fn equal_slope(h: f64, rho: f64) -> f64 {
    if h == 0.0 || h.abs() > UNDERFLOW {
        return 0.0;
    }
    // At rho = -1, 1 - q is -infinity and comes out as -2/0.
    let below = half_angle(rho.clamp(-1.0, 1.0)).1;
    2.0 * normal_pdf(h) * normal_between(h, -below * h)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::special::normal_cdf;

    fn assert_close(got: f64, want: f64, h: f64, rho: f64) {
        // Rounding of the exponent h^2/(1 + rho), and 7e-14 for the series.
        let relative = 7e-14 + 4e-16 * (h * h / (1.0 + rho)).min(745.0);
        assert!(
            (got - want).abs() <= relative * want.abs() + 1e-320,
            "h {h} rho {rho}: {got:e} for {want:e}"
        );
    }

    /// All of `EqualExcess` against the scalar functions, which the table vouches for, and the
    /// slope against differences of them.
    fn check_equal(h: f64, rho_max: f64, rho: &[f64]) {
        let law = EqualExcess::new(h, rho_max);
        let n = rho.len();
        let (mut value, mut d_rho, mut d_h) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        law.fill(rho, &mut value, &mut d_rho, &mut d_h);
        let mut alone = vec![0.0; n];
        law.fill_value(rho, &mut alone);
        assert_eq!(value, alone);
        for i in 0..n {
            assert_close(value[i], normal_excess(h, h, rho[i]), h, rho[i]);
            assert_close(d_rho[i], normal_pdf2(h, h, rho[i]), h, rho[i]);
            assert_close(d_h[i], equal_slope(h, rho[i]), h, rho[i]);
        }
    }

    #[test]
    fn equal_arguments() {
        for rho_max in [0.0, 0.05, 0.5, 0.9, 0.999, 1.0] {
            let mut rho: Vec<f64> = (0..=300)
                .map(|i| rho_max * (f64::from(i) / 300.0).powi(1 + i % 4 * 5))
                .collect();
            rho.extend([0.0, 1e-300, 1e-20, 1e-9, -1e-9, -0.3, -0.99]);
            for h in [
                0.0, 1e-5, -0.3, 1.0, -2.5, 4.0, -6.0, 8.0, -11.9, 12.1, 30.0, -40.0,
            ] {
                rho.retain(|r| *r < 1.0);
                check_equal(h, rho_max, &rho);
            }
        }
    }

    #[test]
    fn equal_slope_is_the_derivative() {
        for h in [-3.0, -0.7, 0.2, 2.0, 6.0] {
            for rho in [-0.95, -0.4, -1e-3, 1e-6, 0.2, 0.8, 0.999] {
                let step = 1e-3;
                let at = |j: f64| normal_excess(h + j * step, h + j * step, rho);
                // Central differences of sixth order.
                let difference =
                    (45.0 * (at(1.0) - at(-1.0)) - 9.0 * (at(2.0) - at(-2.0)) + at(3.0) - at(-3.0))
                        / (60.0 * step);
                let slope = equal_slope(h, rho);
                assert!(
                    (slope - difference).abs() < 1e-9 * (at(0.0).abs() + slope.abs()),
                    "{h} {rho}"
                );
            }
        }
    }

    #[test]
    fn equal_at_the_ends() {
        let (mut value, mut d_rho, mut d_h) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        EqualExcess::new(0.8, 1.0).fill(&[1.0, -1.0, f64::NAN], &mut value, &mut d_rho, &mut d_h);
        assert!((value[0] - normal_cdf(0.8) * normal_cdf(-0.8)).abs() < 1e-15);
        assert_eq!((d_rho[0], d_rho[1]), (f64::INFINITY, 0.0));
        // d/dh of Phi (1 - Phi), and of -(1 - Phi)^2 for h > 0.
        assert!((d_h[0] - normal_pdf(0.8) * (1.0 - 2.0 * normal_cdf(0.8))).abs() < 1e-15);
        assert!((d_h[1] - 2.0 * normal_pdf(0.8) * normal_cdf(-0.8)).abs() < 1e-15);
        assert!(value[2].is_nan() && d_rho[2].is_nan() && d_h[2].is_nan());
        EqualExcess::new(f64::NAN, f64::NAN).fill_value(&[0.2], &mut value[..1]);
        assert!(value[0].is_nan());
    }
}

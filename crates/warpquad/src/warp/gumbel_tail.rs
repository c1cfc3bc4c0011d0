//! Moments of the Gumbel warp where g is too uncertain for the series: quadrature about the mode.
//!
//! ln xi is concave, so xi(g) xi(g') times the normal density has one mode. About it the integrand
//! is close to normal (its skewness is below sqrt(s)/tau), whatever the sd of ln f. With g = mu + C
//! z, the exponent is ln xi(g) + ln xi(g') - |z|^2 / 2, its gradient C'(y, y') - z, and minus its
//! second derivative H = I + C' diag(y, y') C / tau.

use super::Marginal;
use crate::numeric::gauss;
use std::sync::LazyLock;

/// Nodes a dimension: with a skewness of 0.4 (s = 4 at tau = 5) the error is below 1e-12.
static RULE: LazyLock<gauss::Rule> = LazyLock::new(|| gauss::hermite(20));

/// ln xi and y = exp(-g / tau) = d ln xi / d g.
fn ln_xi(tau: f64, g: f64) -> (f64, f64) {
    (-tau * (-g / tau).exp_m1(), (-g / tau).exp())
}

/// ln E[f], and E[f y^j] / E[f] for j = 1, 2.
pub(super) fn mean(tau: f64, at: Marginal) -> (f64, [f64; 2]) {
    let root = at.s.sqrt();
    let mode = climb([0.0, 0.0], |z| {
        let y = ln_xi(tau, at.mu + root * z[0]).1;
        let gradient = [root * y - z[0], -z[1]];
        (gradient, [1.0 + at.s * y / tau, 0.0, 1.0])
    });
    let curvature = 1.0 + at.s * ln_xi(tau, at.mu + root * mode[0]).1 / tau;
    let exponent = |z: f64| ln_xi(tau, at.mu + root * z).0 - 0.5 * z * z;
    let top = exponent(mode[0]);
    let mut sums = [0.0; 3];
    for (t, w) in RULE.nodes.iter().zip(&RULE.weights) {
        let z = mode[0] + t / curvature.sqrt();
        let weight = w * (exponent(z) - top + 0.5 * t * t).exp();
        let y = ln_xi(tau, at.mu + root * z).1;
        sums[0] += weight;
        sums[1] += weight * y;
        sums[2] += weight * y * y;
    }
    let ln_m = top + sums[0].ln() - 0.5 * curvature.ln();
    (ln_m, [sums[1] / sums[0], sums[2] / sums[0]])
}

/// Expectations under f f', each over E[f f'] itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// ln E[f f'].
    pub ln_second: f64,
    /// xi' xi'.
    pub d_c: f64,
    /// xi' on one side.
    pub first: [f64; 2],
    /// xi'' / 2 on one side.
    pub second: [f64; 2],
    /// xi'' on one side, xi' on the other: d/dc of `first`.
    pub first_c: [f64; 2],
    /// xi''' / 2 on one side, xi' on the other: d/dc of `second`.
    pub second_c: [f64; 2],
}

/// The pair's expectations.
pub(super) fn pair(tau: f64, left: Marginal, right: Marginal, c: f64) -> Pair {
    // C of the covariance [[s, c], [c, s']]; a common point makes it singular, which is harmless.
    let a = left.s.sqrt();
    let b = if a > 0.0 { c / a } else { 0.0 };
    let d = (right.s - b * b).max(0.0).sqrt();
    let latent = |z: [f64; 2]| [left.mu + a * z[0], right.mu + b * z[0] + d * z[1]];
    let slopes = |z: [f64; 2]| latent(z).map(|g| ln_xi(tau, g).1);
    let hessian = |y: [f64; 2]| {
        let [u, v] = [y[0] / tau, y[1] / tau];
        [1.0 + a * a * u + b * b * v, b * d * v, 1.0 + d * d * v]
    };
    let mode = climb([0.0, 0.0], |z| {
        let y = slopes(z);
        let gradient = [a * y[0] + b * y[1] - z[0], d * y[1] - z[1]];
        (gradient, hessian(y))
    });
    let exponent = |z: [f64; 2]| {
        let [g, g2] = latent(z);
        ln_xi(tau, g).0 + ln_xi(tau, g2).0 - 0.5 * (z[0] * z[0] + z[1] * z[1])
    };
    let top = exponent(mode);
    let [h11, h12, h22] = hessian(slopes(mode));
    // H = R'R with R upper triangular; z = mode + R^-1 t.
    let r11 = h11.sqrt();
    let r12 = h12 / r11;
    let r22 = (h22 - r12 * r12).sqrt();
    let b1 = 1.0 / tau;
    let mut sums = [0.0; 10];
    for (t2, w2) in RULE.nodes.iter().zip(&RULE.weights) {
        for (t1, w1) in RULE.nodes.iter().zip(&RULE.weights) {
            let step2 = t2 / r22;
            let z = [mode[0] + (t1 - r12 * step2) / r11, mode[1] + step2];
            let weight = w1 * w2 * (exponent(z) - top + 0.5 * (t1 * t1 + t2 * t2)).exp();
            let [y, y2] = slopes(z);
            // xi'' / xi and xi''' / xi on both sides.
            let [p, p2] = [y, y2].map(|y| y * (y - b1));
            let [q, q2] = [y, y2].map(|y| y * (y * (y - 3.0 * b1) + b1 * b1));
            let terms = [1.0, y * y2, y, y2, p, p2, p * y2, y * p2, q * y2, y * q2];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += weight * term;
            }
        }
    }
    let share = |k: usize| sums[k] / sums[0];
    Pair {
        ln_second: top + sums[0].ln() - (r11 * r22).ln(),
        d_c: share(1),
        first: [share(2), share(3)],
        second: [0.5 * share(4), 0.5 * share(5)],
        first_c: [share(6), share(7)],
        second_c: [0.5 * share(8), 0.5 * share(9)],
    }
}

/// Newton's ascent on a concave function; `at(z)` gives the gradient and minus the Hessian
/// (h11, h12, h22). The y are convex and decreasing along the way up, so after an overshoot at most
/// the first step is damped.
fn climb(start: [f64; 2], at: impl Fn([f64; 2]) -> ([f64; 2], [f64; 3])) -> [f64; 2] {
    let mut z = start;
    for _ in 0..200 {
        let (g, [h11, h12, h22]) = at(z);
        let det = h11 * h22 - h12 * h12;
        let step = [
            (h22 * g[0] - h12 * g[1]) / det,
            (h11 * g[1] - h12 * g[0]) / det,
        ];
        z = [z[0] + step[0], z[1] + step[1]];
        let size = z[0].abs().max(z[1].abs()).max(1.0);
        if step[0].abs().max(step[1].abs()) < 1e-9 * size {
            break;
        }
    }
    z
}

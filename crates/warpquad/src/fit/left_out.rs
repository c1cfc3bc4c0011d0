//! Minus the sum of ln p(f_i | the others) under the matched belief, with its exact gradient.
//!
//! With A = (Sigma + noise)^-1 and a = A (g - mu), the others say of g_i that it has mean g_i - a_i
//! / A_ii and variance 1 / A_ii. There the warp's moments m and K give the normal density of f_i.
//! With p_i and q_i the partials of the sum in a_i and A_ii, its differential is tr(W dSigma) / 2 -
//! (A p)' dmu, where W = -(A p) a' - a (A p)' - 2 A diag(q) A.
//!
//! The exact density of f_i, that of g_i over |xi'(g_i)|, would say nothing about the warp: the
//! slope at the datum does not depend on theta, so this sum would be that of g.

use super::objective::{Objective, mean_gradient};
use crate::belief::Theta;
use crate::numeric::linalg::{Mat, mul};
use crate::warp::{Marginal, Warp};
use std::f64::consts::TAU;

/// -ln p of one value, with its partials in the latent mean and variance.
#[derive(Debug, Clone, Copy)]
struct One {
    value: f64,
    d_mu: f64,
    d_s: f64,
}

/// -ln N(f; m, K), f = xi(g) and m and K matched to xi of a normal g.
fn of_one(warp: &dyn Warp, g: f64, at: Marginal) -> One {
    let (local, mean, var) = (warp.local(g), warp.mean(at), warp.ln_var(at));
    // In units of the sd: f may be e^-1000 of m, and the sd e^1000 of either.
    let ln_sd = 0.5 * var.value;
    let unit = (mean.ln_unit - ln_sd).exp();
    let z = local.value * (local.ln_unit - ln_sd).exp() - mean.value * unit;
    let partial = |d_value: f64, d_unit: f64, d_var: f64| {
        let d_z = -0.5 * d_var * z - unit * (d_value + mean.value * d_unit);
        z * d_z + 0.5 * d_var
    };
    One {
        value: 0.5 * (z * z + TAU.ln()) + ln_sd,
        d_mu: partial(mean.d_mu, mean.ln_unit_mu, var.d_mu),
        d_s: partial(mean.d_s, mean.ln_unit_s, var.d_s),
    }
}

impl Objective<'_> {
    /// The pairs' c are filled already.
    pub(super) fn evaluate_left_out(&mut self, theta: &Theta, gradient: &mut [f64]) -> Option<f64> {
        let n = self.x.len();
        self.pairs.value.copy_from_slice(&self.pairs.c);
        self.pairs.d_c.fill(1.0);
        let means = self.x.iter().map(|x| theta.mean_along(x));
        let r: Vec<f64> = self.g.iter().zip(means).map(|(g, mu)| g - mu).collect();
        let a = self.solve(&r, |_| theta.output_scale + theta.noise)?.a;
        self.inverse.mirror_lower();
        let own = |i: usize| self.inverse[(i, i)];
        let one = |i: usize| {
            let at = Marginal {
                mu: self.g[i] - a[i] / own(i),
                s: 1.0 / own(i),
            };
            of_one(self.warp, self.g[i], at)
        };
        let all: Vec<One> = (0..n).map(one).collect();
        let value: f64 = all.iter().map(|one| one.value).sum();
        let p: Vec<f64> = (0..n).map(|i| -all[i].d_mu / own(i)).collect();
        let q = |i: usize| (all[i].d_mu * a[i] - all[i].d_s) / own(i).powi(2);
        let q: Vec<f64> = (0..n).map(q).collect();
        if !value.is_finite() || !p.iter().chain(&q).all(|x| x.is_finite()) {
            return None;
        }
        let ap = self.inverse.mul_vec(&p);
        let scaled = Mat::from_fn(n, n, |i, j| q[i] * self.inverse[(i, j)]);
        let square = mul(&self.inverse, &scaled);
        for j in 0..n {
            let column = self.inverse.col_mut(j);
            for i in 0..n {
                column[i] = -(ap[i] * a[j] + a[i] * ap[j]) - 2.0 * square[(i, j)];
            }
        }
        let d_mu: Vec<f64> = ap.iter().map(|ap| -ap).collect();
        mean_gradient(theta, self.x, &d_mu, gradient);
        let d_var = 0.5 * (0..n).map(|i| self.inverse[(i, i)]).sum::<f64>();
        // W stands where the inverse was, so there is nothing to take from it.
        let sums = self.contract(&vec![0.0; n]);
        self.latent_gradient(theta, d_var, &sums, gradient);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warp::by_name;

    #[test]
    fn the_partials_of_one_density_are_its_differences() {
        for (name, g) in [
            ("log", -1.3),
            ("probit", 0.4),
            ("square", 1.1),
            ("identity", 2.0),
        ] {
            let warp = by_name(name).unwrap();
            let (mu, s) = (0.7, 0.6);
            let at = |mu: f64, s: f64| of_one(warp.as_ref(), g, Marginal { mu, s });
            let (here, h) = (at(mu, s), 1e-5);
            let d_mu = (at(mu + h, s).value - at(mu - h, s).value) / (2.0 * h);
            let d_s = (at(mu, s + h).value - at(mu, s - h).value) / (2.0 * h);
            assert!(
                (here.d_mu - d_mu).abs() < 1e-8,
                "{name}: {} {d_mu}",
                here.d_mu
            );
            assert!((here.d_s - d_s).abs() < 1e-8, "{name}: {} {d_s}", here.d_s);
        }
    }

    #[test]
    fn under_the_log_warp_it_is_the_closed_form() {
        // m = e^(mu + s/2), K = m^2 (e^s - 1).
        let (g, mu, s) = (-2.0_f64, -1.5_f64, 0.4_f64);
        let m = (mu + 0.5 * s).exp();
        let k = m * m * (s.exp() - 1.0);
        let direct = 0.5 * ((g.exp() - m).powi(2) / k + k.ln() + TAU.ln());
        let ours = of_one(&crate::warp::Log, g, Marginal { mu, s }).value;
        assert!((ours - direct).abs() < 1e-13);
    }
}

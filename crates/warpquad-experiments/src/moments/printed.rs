//! The supplement's formulas as printed, beside the right ones and two independent checks.

use super::{PAIRS, Pair, Simulated, simulate};
use std::f64::consts::TAU;
use warpquad::numeric::bivariate::{normal_cdf2, normal_pdf2};
use warpquad::numeric::gauss::legendre;
use warpquad::numeric::special::{normal_cdf, normal_pdf};

/// A formula that does not hold as printed.
#[derive(Debug, Clone)]
pub struct Misprint {
    /// Where it stands.
    pub place: &'static str,
    /// What it should be.
    pub what: &'static str,
    /// What it is as printed.
    pub printed: f64,
    /// What it is.
    pub ours: f64,
    /// A central difference of the moment that it is a derivative of.
    pub difference: Option<f64>,
    /// A simulation.
    pub simulated: Simulated,
}

/// The pair in the standardised quantities of the right formulas.
struct Probit {
    pair: Pair,
    r: [f64; 2],
    h: [f64; 2],
    rho: f64,
}

impl Probit {
    fn new(pair: Pair) -> Probit {
        let r = pair.s.map(|s| (1.0 + s).sqrt());
        Probit {
            pair,
            r,
            h: [pair.mu[0] / r[0], pair.mu[1] / r[1]],
            rho: pair.c / (r[0] * r[1]),
        }
    }

    /// C = E[Phi(g) Phi(g')].
    fn c(&self) -> f64 {
        normal_cdf2(self.h[0], self.h[1], self.rho)
    }

    fn density(&self) -> f64 {
        normal_pdf2(self.h[0], self.h[1], self.rho)
    }

    /// Phi(q), q = (k - rho h) / sqrt(1 - rho^2).
    fn conditional(&self) -> f64 {
        normal_cdf((self.h[1] - self.rho * self.h[0]) / (1.0 - self.rho * self.rho).sqrt())
    }

    /// dC/dmu.
    fn d_mu(&self) -> f64 {
        normal_pdf(self.h[0]) * self.conditional() / self.r[0]
    }

    /// dC/dc, by Plackett.
    fn d_c(&self) -> f64 {
        self.density() / (self.r[0] * self.r[1])
    }

    /// dC/ds with c held.
    fn d_s(&self) -> f64 {
        -(self.h[0] * normal_pdf(self.h[0]) * self.conditional() + self.rho * self.density())
            / (2.0 * self.r[0] * self.r[0])
    }

    /// The integral over b <= mu of the density of N(0, Sigma + I) times a function of b.
    fn truncated(&self, value: impl Fn(f64, f64) -> f64) -> f64 {
        let rule = legendre(80);
        // 12 sd hold all but 1e-32 of the mass.
        let side = |i: usize| {
            let low = -12.0 * self.r[i];
            let half = 0.5 * (self.pair.mu[i] - low);
            rule.nodes
                .iter()
                .zip(&rule.weights)
                .map(move |(x, w)| (low + half * (x + 1.0), half * w))
                .collect::<Vec<_>>()
        };
        let (left, right) = (side(0), side(1));
        let mut sum = 0.0;
        for &(a, v) in &left {
            for &(b, w) in &right {
                let density =
                    normal_pdf2(a / self.r[0], b / self.r[1], self.rho) / (self.r[0] * self.r[1]);
                sum += v * w * density * value(a, b);
            }
        }
        sum
    }
}

/// C where the pair is changed by `change(step)`, differenced.
fn difference(pair: Pair, change: impl Fn(&mut Pair, f64)) -> Option<f64> {
    let step = 1e-5;
    let at = |step: f64| {
        let mut moved = pair;
        change(&mut moved, step);
        Probit::new(moved).c()
    };
    Some((at(step) - at(-step)) / (2.0 * step))
}

/// b' M^-1 b for a symmetric M.
fn inverse_form(m: [f64; 3], a: f64, b: f64) -> f64 {
    let [p, q, r] = m;
    (r * a * a - 2.0 * q * a * b + p * b * b) / (p * r - q * q)
}

/// Every formula known to be wrong as printed, evaluated.
pub fn misprints(draws: usize, seed: u64) -> Vec<Misprint> {
    let pair = PAIRS[0];
    let probit = Probit::new(pair);
    let [s, t] = pair.s;
    let [mu, nu] = pair.mu;
    let c = pair.c;
    // The same point twice, for the diagonal formulas.
    let same = Pair {
        mu: [mu, mu],
        s: [s, s],
        c: s,
    };
    let diagonal = Probit::new(same);
    let own = s / (s + 1.0);
    let phi = |g: f64| normal_pdf(g);
    let [d_mu, d_c, d_s] = simulate(&pair, draws, seed ^ 0x5eed, |g, h| {
        let b = normal_cdf(h);
        // (1/2) xi'' = -g phi(g) / 2.
        [phi(g) * b, phi(g) * phi(h), -0.5 * g * phi(g) * b]
    });
    let [own_mu, own_s] = simulate(&same, draws, seed ^ 0xd1a6, |g, _| {
        let (p, d) = (normal_cdf(g), phi(g));
        // d/dmu and d/ds of E[Phi(g)^2]: E[(Phi^2)'] and E[(Phi^2)''] / 2.
        [2.0 * p * d, d * d - g * p * d]
    });
    let unit = normal_pdf(diagonal.h[0]);
    let det = s * t - c * c;
    let [moment] = simulate(
        &Pair {
            mu: [0.0, 0.0],
            s: [s + 1.0, t + 1.0],
            c,
        },
        draws,
        seed ^ 0x15,
        |a, b| [if a <= mu && b <= nu { a * a } else { 0.0 }],
    );
    let small = Pair {
        mu: [-0.1, -0.1],
        s: [0.05, 0.05],
        c: 0.04,
    };
    let m = (small.mu[0] + 0.5 * small.s[0]).exp();
    let [raw] = simulate(&small, draws, seed ^ 6, |g, h| {
        [(g.exp() - m) * (h.exp() - m)]
    });
    vec![
        Misprint {
            place: "main eq. 6",
            what: "K of exp at mu = -0.1; s = 0.05; c = 0.04 (second order)",
            printed: 1.0
                + small.c
                + 0.5 * small.c * small.c
                + small.c * 2.0 * (small.mu[0] + 0.5 * small.s[0]),
            ours: m * m * small.c.exp_m1(),
            difference: None,
            simulated: raw,
        },
        Misprint {
            place: "supplement eq. 12",
            what: "d E[x_i^2] / d mu_i",
            printed: 2.0 * unit * normal_cdf((mu - own * mu) / (own + 1.0).sqrt()),
            ours: 2.0 * diagonal.d_mu(),
            difference: difference(same, |p, d| p.mu.iter_mut().for_each(|mu| *mu += d)),
            simulated: own_mu,
        },
        Misprint {
            place: "supplement eq. 13",
            what: "d E[x_i x_j] / d mu_i",
            printed: normal_pdf(probit.h[0])
                * normal_cdf((nu - c / (s + 1.0) * mu) / (t + 1.0 - c * c / (s + 1.0)).sqrt()),
            ours: probit.d_mu(),
            difference: difference(pair, |p, d| p.mu[0] += d),
            simulated: d_mu,
        },
        Misprint {
            place: "supplement eq. 14",
            what: "d E[x_i x_j] / d Sigma_ij",
            printed: -c / det
                * (probit.c() + probit.truncated(|a, b| inverse_form([s, c, t], a, b) - a * b / c)),
            ours: probit.d_c(),
            difference: difference(pair, |p, d| p.c += d),
            simulated: d_c,
        },
        Misprint {
            place: "supplement eq. 15",
            what: "truncated second moment of b_1",
            printed: rosenbaum(
                s + 1.0,
                probit.c(),
                c * c / ((s + 1.0) * (t + 1.0)),
                mu / (s + 1.0),
                nu / (t + 1.0),
            ),
            ours: rosenbaum(s + 1.0, probit.c(), probit.rho, probit.h[0], probit.h[1]),
            difference: Some(probit.truncated(|a, _| a * a)),
            simulated: moment,
        },
        Misprint {
            place: "supplement eq. 19",
            what: "d E[x_i x_j] / d Sigma_ii",
            printed: -(t + 1.0) / (2.0 * det)
                * (probit.c()
                    + probit.truncated(|a, b| inverse_form([s, c, t], a, b) + b * b / (t + 1.0))),
            ours: probit.d_s(),
            difference: difference(pair, |p, d| p.s[0] += d),
            simulated: d_s,
        },
        Misprint {
            place: "supplement eq. 20",
            what: "d E[x_i^2] / d Sigma_ii",
            printed: -1.0 / (2.0 * s + 1.0)
                * (diagonal.c() - diagonal.truncated(|a, b| inverse_form([s, s + 1.0, s], a, b))),
            // Both variances and the covariance move together.
            ours: 2.0 * diagonal.d_s() + diagonal.d_c(),
            difference: difference(same, |p, d| {
                p.s.iter_mut().for_each(|s| *s += d);
                p.c += d;
            }),
            simulated: own_s,
        },
    ]
}

/// Equation 15's form: the second moment of the first of two truncated normals.
fn rosenbaum(variance: f64, mass: f64, rho: f64, h: f64, k: f64) -> f64 {
    let root = (1.0 - rho * rho).sqrt();
    let t1 = h * normal_pdf(h) * normal_cdf((k - rho * h) / root);
    let t2 = k * normal_pdf(k) * normal_cdf((h - rho * k) / root);
    let t3 = normal_pdf(((h * h - 2.0 * rho * h * k + k * k).sqrt()) / root) / TAU.sqrt();
    variance * (mass - t1 - rho * rho * t2 + rho * root * t3)
}

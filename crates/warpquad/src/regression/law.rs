//! The exact law of f = xi(g) for a normal g, and of an observation of it with noise on f.
//!
//! An observation is f plus normal noise, and has no mass outside the range: it is given that it
//! lies inside, or what would lie outside counts as the end.

use crate::numeric::gauss;
use crate::numeric::special::{ln_normal_pdf, ln_sum_exp, normal_cdf, normal_pdf, normal_quantile};
use crate::warp::{Marginal, Range, Warp};

/// The law of an observation.
///
/// ```
/// use warpquad::{regression::ObservationLaw, warp::{Marginal, Probit}};
/// let at = Marginal { mu: 0.0, s: 1.0 };              // Phi(g) is uniform
/// let law = ObservationLaw::new(&Probit, at, 0.0);
/// assert!((law.quantile(0.3) - 0.3).abs() < 1e-12 && law.ln_density(0.7).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct ObservationLaw<'a> {
    warp: &'a dyn Warp,
    at: Marginal,
    /// The sd of the noise on f; 0 without any that matters.
    sd: f64,
    /// Values of f with their weights, so close that the noise bridges them.
    nodes: Vec<(f64, f64)>,
    /// The mass of the nodes with noise below the range, and up to its end.
    ends: (f64, f64),
    /// Whether what lies outside counts as the end.
    clips: bool,
}

/// g is looked at within so many sds of its mean.
const REACH: f64 = 8.5;
/// Panels of g, each with Gauss and Legendre's rule.
const PANELS: usize = 34;
const ORDER: usize = 4;
/// A panel is cut until f moves by no more than an sd of the noise within a part, but not into
/// more.
const MOST_PARTS: usize = 1000;
/// Newton's steps for a quantile, and how near they come.
const STEPS: usize = 200;
const TOLERANCE: f64 = 1e-10;

impl<'a> ObservationLaw<'a> {
    /// The law where g has this marginal, with noise of this variance on f.
    pub fn new(warp: &'a dyn Warp, at: Marginal, noise: f64) -> ObservationLaw<'a> {
        let mut law = ObservationLaw {
            warp,
            at,
            sd: noise.max(0.0).sqrt(),
            nodes: Vec::new(),
            ends: (0.0, 1.0),
            clips: false,
        };
        if law.sd > 0.0 {
            law.nodes = nodes(warp, at, law.sd);
            let Range { lo, hi } = warp.range();
            law.ends = (law.below(lo), law.below(hi));
        }
        law
    }

    /// The law of an instrument that shows an end of the range for all beyond: values on an end
    /// have a mass of their own.
    pub fn clipped(self) -> ObservationLaw<'a> {
        ObservationLaw {
            clips: true,
            ..self
        }
    }

    /// The mass within the range.
    fn inside(&self) -> f64 {
        if self.clips {
            1.0
        } else {
            self.ends.1 - self.ends.0
        }
    }

    /// The mass of f + noise below y, the range left aside.
    fn below(&self, y: f64) -> f64 {
        if y.is_infinite() {
            return if y > 0.0 { 1.0 } else { 0.0 };
        }
        let terms = self.nodes.iter();
        terms.map(|(f, w)| w * normal_cdf((y - f) / self.sd)).sum()
    }

    /// ln of the density at y; -infinity outside the range, and ln of the mass on an end that has
    /// one.
    pub fn ln_density(&self, y: f64) -> f64 {
        let Range { lo, hi } = self.warp.range();
        if !(lo..=hi).contains(&y) {
            return f64::NEG_INFINITY;
        }
        if self.clips && self.sd > 0.0 && y == lo {
            return self.ends.0.ln();
        }
        if self.clips && self.sd > 0.0 && y == hi {
            return (1.0 - self.ends.1).ln();
        }
        if self.sd > 0.0 {
            let terms = self.nodes.iter();
            let terms: Vec<f64> = terms
                .map(|(f, w)| w.ln() + ln_normal_pdf((y - f) / self.sd))
                .collect();
            return ln_sum_exp(&terms) - self.sd.ln() - self.inside().ln();
        }
        let g = self.warp.inverse(y);
        if !g.is_finite() {
            return f64::NEG_INFINITY;
        }
        let local = self.warp.local(g);
        let ln_slope = local.ln_unit + local.slope.abs().ln();
        ln_normal_pdf((g - self.at.mu) / self.at.s.sqrt()) - 0.5 * self.at.s.ln() - ln_slope
    }

    /// Below this value lies the part p of the mass.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.sd == 0.0 {
            let rises = self.warp.local(self.at.mu).slope >= 0.0;
            let z = normal_quantile(if rises { p } else { 1.0 - p });
            return self.warp.forward(self.at.mu + self.at.s.sqrt() * z);
        }
        let Range { lo, hi } = self.warp.range();
        let fs = self.nodes.iter().map(|(f, _)| *f);
        let (least, most) = fs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), f| {
            (a.min(f), b.max(f))
        });
        let mut low = lo.max(least - REACH * self.sd);
        let mut high = hi.min(most + REACH * self.sd);
        let wanted = if self.clips {
            p
        } else {
            self.ends.0 + p * self.inside()
        };
        if wanted <= self.ends.0 {
            return lo;
        }
        if wanted >= self.ends.1 {
            return hi;
        }
        let mut y = 0.5 * (low + high);
        for _ in 0..STEPS {
            let over = self.below(y) - wanted;
            if over > 0.0 {
                high = y;
            } else {
                low = y;
            }
            let terms = self.nodes.iter();
            let slope: f64 = terms
                .map(|(f, w)| w * normal_pdf((y - f) / self.sd) / self.sd)
                .sum();
            let newton = y - over / slope;
            let next = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            if (next - y).abs() <= TOLERANCE * self.sd {
                return next;
            }
            y = next;
        }
        y
    }

    /// The mean and the sd.
    pub fn moments(&self) -> (f64, f64) {
        if self.sd == 0.0 {
            let mean = self.warp.mean(self.at);
            let m = self.warp.offset() + mean.ln_unit.exp() * mean.value;
            return (m, (0.5 * self.warp.ln_var(self.at).value).exp());
        }
        // Of each node's normal law, the part within the range.
        let Range { lo, hi } = self.warp.range();
        let (mut mean, mut square) = (0.0, 0.0);
        let center = self.nodes.iter().map(|(f, w)| f * w).sum::<f64>();
        for (f, w) in &self.nodes {
            let (a, b) = ((lo - f) / self.sd, (hi - f) / self.sd);
            let mass = normal_cdf(b) - normal_cdf(a);
            let (at_a, at_b) = (normal_pdf(a), normal_pdf(b));
            let weighed = |z: f64, density: f64| if z.is_finite() { z * density } else { 0.0 };
            // E[z; in] and E[z^2; in] of a standard normal z.
            let first = at_a - at_b;
            let second = mass + weighed(a, at_a) - weighed(b, at_b);
            let away = f - center;
            mean += w * (away * mass + self.sd * first);
            square += w
                * (away * away * mass + 2.0 * away * self.sd * first + self.sd * self.sd * second);
        }
        if self.clips {
            for (end, mass) in [(lo, self.ends.0), (hi, 1.0 - self.ends.1)] {
                if mass > 0.0 {
                    mean += mass * (end - center);
                    square += mass * (end - center).powi(2);
                }
            }
        }
        let total = self.inside();
        let (mean, square) = (mean / total, square / total);
        (center + mean, (square - mean * mean).max(0.0).sqrt())
    }
}

/// Values of f = xi(g) and their weights.
fn nodes(warp: &dyn Warp, at: Marginal, sd: f64) -> Vec<(f64, f64)> {
    let root = at.s.max(0.0).sqrt();
    let f_at = |z: f64| warp.forward(at.mu + root * z);
    if root == 0.0 {
        return vec![(f_at(0.0), 1.0)];
    }
    let rule = gauss::legendre(ORDER);
    let width = 2.0 * REACH / PANELS as f64;
    let mut out = Vec::with_capacity(PANELS * ORDER);
    for panel in 0..PANELS {
        let start = -REACH + panel as f64 * width;
        let moves = (f_at(start + width) - f_at(start)).abs() / sd;
        let parts = (moves.ceil() as usize).clamp(1, MOST_PARTS);
        let part = width / parts as f64;
        for k in 0..parts {
            let middle = start + (k as f64 + 0.5) * part;
            for (node, weight) in rule.nodes.iter().zip(&rule.weights) {
                let z = middle + 0.5 * part * node;
                out.push((f_at(z), 0.5 * part * weight * normal_pdf(z)));
            }
        }
    }
    let total: f64 = out.iter().map(|(_, w)| w).sum();
    out.iter_mut().for_each(|(_, w)| *w /= total);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warp::{Affine, Identity, Log, Probit};

    #[test]
    fn under_the_identity_variances_add() {
        let law = ObservationLaw::new(&Identity, Marginal { mu: 0.3, s: 0.4 }, 0.6);
        let (mean, sd) = law.moments();
        assert!((mean - 0.3).abs() < 1e-12 && (sd - 1.0).abs() < 1e-10);
        assert!((law.quantile(0.975) - 0.3 - normal_quantile(0.975)).abs() < 1e-9);
        assert!((law.ln_density(1.1) - ln_normal_pdf(0.8)).abs() < 1e-10);
    }

    /// Mass, mean and sd by the density, and a quantile by its sum.
    #[test]
    fn the_density_has_the_moments_and_quantiles_and_all_mass_in_the_range() {
        let up = Affine::onto(-2.0, 3.0).unwrap();
        for (mu, s, noise) in [
            (0.0, 1.0, 0.01),
            (2.5, 0.3, 0.04),
            (-4.0, 4.0, 1.0),
            (0.5, 1e-8, 0.25),
        ] {
            let law = ObservationLaw::new(&up, Marginal { mu, s }, noise);
            let n = 40_000;
            let y = |i: usize| -2.0 + 5.0 * (i as f64 + 0.5) / n as f64;
            let density: Vec<f64> = (0..n)
                .map(|i| law.ln_density(y(i)).exp() * 5.0 / n as f64)
                .collect();
            let mass: f64 = density.iter().sum();
            let mean: f64 = (0..n).map(|i| density[i] * y(i)).sum();
            let var: f64 = (0..n).map(|i| density[i] * (y(i) - mean).powi(2)).sum();
            let q = law.quantile(0.2);
            let below: f64 = (0..n).filter(|&i| y(i) < q).map(|i| density[i]).sum();
            let (m, sd) = law.moments();
            assert!((mass - 1.0).abs() < 1e-6, "{mu} {s}: {mass}");
            assert!(
                (mean - m).abs() < 1e-6 && (var.sqrt() - sd).abs() < 1e-6,
                "{mean} {m}"
            );
            assert!((below - 0.2).abs() < 1e-3, "{below}");
            assert_eq!(law.ln_density(3.1), f64::NEG_INFINITY);
            assert!(law.quantile(1e-6) >= -2.0 && law.quantile(1.0 - 1e-6) <= 3.0);
        }
    }

    #[test]
    fn a_clipped_observation_has_mass_on_the_ends() {
        let at = Marginal { mu: 1.5, s: 0.3 };
        let (noise, n) = (0.01, 40_000);
        let law = ObservationLaw::new(&Probit, at, noise).clipped();
        let y = |i: usize| (i as f64 + 0.5) / n as f64;
        let inside: Vec<f64> = (0..n)
            .map(|i| law.ln_density(y(i)).exp() / n as f64)
            .collect();
        let (low, high) = (law.ln_density(0.0).exp(), law.ln_density(1.0).exp());
        let mass = low + high + inside.iter().sum::<f64>();
        let mean: f64 = high + (0..n).map(|i| inside[i] * y(i)).sum::<f64>();
        let square: f64 = high + (0..n).map(|i| inside[i] * y(i).powi(2)).sum::<f64>();
        let (m, sd) = law.moments();
        assert!((mass - 1.0).abs() < 1e-6 && high > 0.1, "{mass} {high}");
        assert!((m - mean).abs() < 1e-6 && (sd - (square - mean * mean).sqrt()).abs() < 1e-6);
        assert!(law.quantile(0.99) == 1.0 && law.quantile(0.3) < 1.0);
    }

    #[test]
    fn little_noise_changes_little() {
        let at = Marginal { mu: 0.4, s: 0.5 };
        for warp in [&Probit as &dyn Warp, &Log] {
            let (exact, near) = (
                ObservationLaw::new(warp, at, 0.0),
                ObservationLaw::new(warp, at, 1e-6),
            );
            assert!((exact.quantile(0.1) - near.quantile(0.1)).abs() < 1e-4);
            assert!((exact.ln_density(0.6) - near.ln_density(0.6)).abs() < 1e-3);
            assert!((exact.moments().1 - near.moments().1).abs() < 1e-4);
        }
    }

    #[test]
    fn a_falling_warp_has_its_quantiles_the_right_way() {
        let down = Affine::onto(f64::NEG_INFINITY, 2.0).unwrap();
        let law = ObservationLaw::new(&down, Marginal { mu: 0.0, s: 1.0 }, 0.0);
        assert!(law.quantile(0.1) < law.quantile(0.9) && law.quantile(0.9) < 2.0);
    }
}

//! Fit a mixture of normals to draws, by expectation and maximisation.

use super::cloud::{Shape, normalised};
use crate::numeric::random::Rng;
use crate::numeric::special::ln_sum_exp;
use crate::points::Points;

/// Rounds of expectation and maximisation: a proposal need not be the optimum.
const ROUNDS: usize = 20;

/// A mixture of normals.
#[derive(Debug, Clone)]
pub(super) struct Mixture {
    parts: Vec<(f64, Shape)>,
}

impl Mixture {
    /// A mixture fitted to points: one part for each 50 d of them, at most 4. It starts from parts
    /// around points far from each other.
    pub fn fit(points: &Points, rng: &mut Rng) -> Mixture {
        let (n, dim) = (points.len(), points.dim());
        let count = (n / (50 * dim)).clamp(1, 4);
        let whole = Shape::of(points, &vec![0.0; n]);
        let mut mixture = Mixture {
            parts: vec![(1.0, whole.clone())],
        };
        if count == 1 {
            return mixture;
        }
        let centres = spread(points, &whole, count, rng);
        let part = |&i: &usize| {
            let near: Vec<f64> = points
                .iter()
                .map(|z| -2.0 * whole.squared_between(z, points.row(i)))
                .collect();
            (1.0 / count as f64, Shape::of(points, &near))
        };
        mixture.parts = centres.iter().map(part).collect();
        for _ in 0..ROUNDS {
            mixture = mixture.improved(points);
        }
        mixture
    }

    fn improved(&self, points: &Points) -> Mixture {
        let shares: Vec<Vec<f64>> = points
            .iter()
            .map(|z| {
                let terms = self.terms(z);
                let total = ln_sum_exp(&terms);
                terms.iter().map(|term| term - total).collect()
            })
            .collect();
        let part = |k: usize| {
            let ln_shares: Vec<f64> = shares.iter().map(|share| share[k]).collect();
            let weight = ln_sum_exp(&ln_shares).exp() / points.len() as f64;
            // A part that holds hardly any points would collapse onto them.
            let enough = weight * points.len() as f64 > 4.0 * points.dim() as f64;
            enough.then(|| (weight, Shape::of(points, &ln_shares)))
        };
        let parts: Vec<(f64, Shape)> = (0..self.parts.len()).filter_map(part).collect();
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        if parts.is_empty() {
            return self.clone();
        }
        let scaled = parts
            .into_iter()
            .map(|(weight, shape)| (weight / total, shape));
        Mixture {
            parts: scaled.collect(),
        }
    }

    fn terms(&self, z: &[f64]) -> Vec<f64> {
        let term = |(weight, shape): &(f64, Shape)| weight.ln() + shape.ln_density(z);
        self.parts.iter().map(term).collect()
    }

    pub fn ln_density(&self, z: &[f64]) -> f64 {
        ln_sum_exp(&self.terms(z))
    }

    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let mut at = rng.uniform();
        let mut chosen = &self.parts[0].1;
        for (weight, shape) in &self.parts {
            chosen = shape;
            at -= weight;
            if at < 0.0 {
                break;
            }
        }
        let jump = chosen.draw(rng);
        chosen.mean.iter().zip(&jump).map(|(m, j)| m + j).collect()
    }
}

/// Points far from each other: each next one has a probability in proportion to its squared
/// distance to the nearest before.
fn spread(points: &Points, whole: &Shape, count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut chosen = vec![rng.below(points.len())];
    while chosen.len() < count {
        let nearest = |z: &[f64]| {
            let to = chosen
                .iter()
                .map(|&i| whole.squared_between(z, points.row(i)));
            to.fold(f64::INFINITY, f64::min)
        };
        let ln_weights: Vec<f64> = points.iter().map(|z| nearest(z).ln()).collect();
        if ln_sum_exp(&ln_weights) == f64::NEG_INFINITY {
            break;
        }
        let mut at = rng.uniform();
        let weights = normalised(&ln_weights);
        let next = weights.iter().position(|w| {
            at -= w;
            at < 0.0
        });
        chosen.push(next.unwrap_or(points.len() - 1));
    }
    chosen
}

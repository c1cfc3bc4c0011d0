//! Draw points from f pi / Z under the belief's mean, all of one weight.

use super::Nodes;
use super::ratio::{Positive, no_mass};
use crate::belief::Belief;
use crate::error::Result;
use crate::measure::{Form, Measure};
use crate::numeric::random::Rng;
use crate::numeric::weights::{normalised, systematic};
use crate::points::Points;

/// Nodes to resample from, at least and at most.
const NODES: [usize; 2] = [16_384, 65_536];

/// Fewest members of the ensemble that moves: its differences have to span every direction.
const ENSEMBLE: usize = 256;

/// Moves of each member. About a quarter are accepted, so 1 - 0.75^12 = 97 % of the points move.
const MOVES: usize = 12;

/// Points of equal weight.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Where.
    pub points: Points,
    /// ln of the belief's mean of f there.
    pub ln_f: Vec<f64>,
    /// The effective number of the weighted nodes that they were resampled from.
    pub effective: f64,
    /// The part of the proposed moves that was accepted; 0 if the measure has no density to move by.
    pub accepted: f64,
}

/// `n` points that follow pi times the belief's mean.
///
/// Nodes that follow the belief are resampled by their weight, which finds every mode in its
/// proportion but repeats points. Then each half of the ensemble moves in turn along differences of
/// two members of the other half, accepted by Metropolis' rule: the law stays and the repeats part.
/// A measure without a density, or one that is itself a sample, is only resampled.
pub fn sample(
    belief: &dyn Belief,
    measure: &dyn Measure,
    n: usize,
    rng: &mut Rng,
) -> Result<Sample> {
    let f = Positive::new(belief)?;
    let members = n.max(ENSEMBLE).next_multiple_of(2);
    let count = (4 * members).clamp(NODES[0], NODES[1]);
    let nodes = Nodes::plausible(measure, belief, 1.0, count, rng.next_u64())?;
    let ln_f = f.ln_centres(&nodes.points)?;
    let ln_weights: Vec<f64> = nodes
        .ln_weights
        .iter()
        .zip(&ln_f)
        .map(|(w, f)| w + f)
        .collect();
    let weights = normalised(&ln_weights).ok_or_else(no_mass)?;
    let mut picks = systematic(&weights, members, rng.uniform());
    rng.shuffle(&mut picks);
    let mut ensemble = Ensemble {
        measure,
        points: nodes.points.select(&picks),
        ln_f: picks.iter().map(|&i| ln_f[i]).collect(),
        f,
    };
    let fixed = !measure.has_density() || matches!(measure.form(), Form::Sample(_));
    let (mut accepted, moves) = (0, if fixed { 0 } else { MOVES });
    for _ in 0..moves {
        for half in 0..2 {
            accepted += ensemble.step(half, rng)?;
        }
    }
    Ok(Sample {
        points: ensemble.points.slice(0, n),
        ln_f: ensemble.ln_f[..n].to_vec(),
        effective: 1.0 / weights.iter().map(|w| w * w).sum::<f64>(),
        accepted: accepted as f64 / (moves.max(1) * members) as f64,
    })
}

struct Ensemble<'a> {
    f: Positive<'a>,
    measure: &'a dyn Measure,
    points: Points,
    ln_f: Vec<f64>,
}

impl Ensemble<'_> {
    /// Propose a move to every member of one half; say how many were accepted.
    fn step(&mut self, half: usize, rng: &mut Rng) -> Result<usize> {
        let size = self.points.len() / 2;
        let (start, other) = (half * size, (1 - half) * size);
        let dim = self.points.dim();
        // 2.38 / sqrt(2 d) is the best length for a normal target; shorter steps serve bent ones.
        let best = 2.38 / (2.0 * dim as f64).sqrt();
        let mut proposed = Points::empty(dim)?;
        let mut x = vec![0.0; dim];
        for i in start..start + size {
            let (a, b) = (other + rng.below(size), other + rng.below(size));
            let length = best * rng.uniform();
            for (d, x) in x.iter_mut().enumerate() {
                let difference = self.points.row(a)[d] - self.points.row(b)[d];
                *x = self.points.row(i)[d] + length * difference;
            }
            proposed.push(&x)?;
        }
        let ln_f = self.f.ln_centres(&proposed)?;
        let mut points = Points::empty(dim)?;
        let mut accepted = 0;
        for i in 0..self.points.len() {
            let row = self.points.row(i);
            let Some(k) = i.checked_sub(start).filter(|&k| k < size) else {
                points.push(row)?;
                continue;
            };
            let ln_ratio = ln_f[k] + self.measure.ln_density(proposed.row(k))
                - self.ln_f[i]
                - self.measure.ln_density(row);
            if rng.uniform().ln() < ln_ratio && proposed.row(k) != row {
                points.push(proposed.row(k))?;
                self.ln_f[i] = ln_f[k];
                accepted += 1;
            } else {
                points.push(row)?;
            }
        }
        self.points = points;
        Ok(accepted)
    }
}

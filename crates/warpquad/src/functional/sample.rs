//! Draw points from f pi / Z as an ensemble believes in it, all of one weight.

use super::density::{Density, no_mass};
use super::{Nodes, Tilt};
use crate::belief::Ensemble;
use crate::error::Result;
use crate::measure::{Form, Measure};
use crate::numeric::random::Rng;
use crate::numeric::weights::{normalised, systematic};
use crate::points::Points;

/// Nodes to resample from, at least and at most.
const SAMPLED_NODES: [usize; 2] = [8_192, 65_536];

/// Fewest walkers: their differences have to span every direction.
const LEAST_WALKERS: usize = 256;

/// Moves of each walker. About a quarter are accepted, so 1 - 0.75^12 = 97 % of the points move.
const MOVES: usize = 12;

/// Points of equal weight.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Where.
    pub points: Points,
    /// ln of f there, by the density that they follow.
    pub ln_f: Vec<f64>,
    /// The effective number of the weighted nodes that they were resampled from.
    pub effective: f64,
    /// The part of the proposed moves that was accepted; 0 if the measure has no density to move
    /// by.
    pub accepted: f64,
}

impl Sample {
    /// Samples of parts of the posterior, each in its proportion, as one in a random order.
    pub(crate) fn joined(mut samples: Vec<Sample>, rng: &mut Rng) -> Result<Sample> {
        if let [_] = samples[..] {
            return samples.pop().ok_or_else(no_mass);
        }
        let total = samples.iter().map(|of| of.points.len()).sum::<usize>() as f64;
        let mut points = Points::empty(samples.first().ok_or_else(no_mass)?.points.dim())?;
        let (mut ln_f, mut squares, mut accepted) = (Vec::new(), 0.0, 0.0);
        for of in &samples {
            let share = of.points.len() as f64 / total;
            points.extend(&of.points)?;
            ln_f.extend(&of.ln_f);
            squares += share * share / of.effective;
            accepted += share * of.accepted;
        }
        let mut order: Vec<usize> = (0..ln_f.len()).collect();
        rng.shuffle(&mut order);
        Ok(Sample {
            points: points.select(&order),
            ln_f: order.into_iter().map(|i| ln_f[i]).collect(),
            effective: 1.0 / squares,
            accepted,
        })
    }
}

/// `n` points that follow the ensemble's mean of f pi / Z.
///
/// Nodes that follow the belief are resampled by their weight, which finds every mode in its
/// proportion but repeats points. Then each half of the walkers moves in turn along differences of
/// two walkers of the other half, accepted by Metropolis' rule: the law stays and the repeats part.
/// A walker belongs to one kind of models, drawn by what each adds to the density where the walker
/// begins, and moves under that kind's density: point and kind together follow the mixture, and a
/// move asks one kind instead of all. A move is accepted in two stages (Christen and Fox 2005). f
/// at the mean of g, which is cheap, turns most of them down; the density itself has the last word.
/// A measure without a density, or one that is itself a sample, is only resampled.
pub fn sample(
    ensemble: &Ensemble,
    measure: &dyn Measure,
    n: usize,
    rng: &mut Rng,
) -> Result<Sample> {
    sample_tilted(ensemble, Tilt::none(measure), n, rng)
}

/// The same, for a measure of another density.
pub(crate) fn sample_tilted(
    ensemble: &Ensemble,
    tilt: Tilt<'_>,
    n: usize,
    rng: &mut Rng,
) -> Result<Sample> {
    let measure = tilt.measure;
    let count = n.max(LEAST_WALKERS).next_multiple_of(2);
    let on = (2 * count).clamp(SAMPLED_NODES[0], SAMPLED_NODES[1]);
    let nodes = tilt.plausible(ensemble, 1.0, on, rng.next_u64())?;
    let (density, on) = Density::new(ensemble, &nodes)?;
    let ln_density = density.mixed(&on.by_kind);
    let weights = weights_of(&nodes, &ln_density)?;
    let mut picks = systematic(&weights, count, rng.uniform());
    rng.shuffle(&mut picks);
    let kinds: Vec<usize> = picks
        .iter()
        .map(|&node| density.draw_kind(&on.by_kind, node, rng))
        .collect();
    let points = nodes.points.select(&picks);
    let chances = density.ln_chance(&points);
    let pairs = picks.iter().zip(&kinds).zip(&chances);
    let mut walkers = Walkers {
        tilt,
        points,
        ln_density: pairs
            .map(|((&node, &k), chance)| on.by_kind[k][node] + chance)
            .collect(),
        ln_cheap: Vec::new(),
        kinds,
        density,
    };
    let fixed = !measure.has_density() || matches!(measure.form(), Form::Sample(_));
    let (mut accepted, moves) = (0, if fixed { 0 } else { MOVES });
    if moves > 0 {
        walkers.ln_cheap =
            walkers.by_kind(&walkers.points, &walkers.kinds, Density::at_mean_of_g)?;
    }
    for _ in 0..moves {
        for half in 0..2 {
            accepted += walkers.step(half, rng)?;
        }
    }
    let ln_z = walkers.density.ln_z();
    let points = walkers.points.slice(0, n);
    let ln_density = walkers.density.ln_density(&points)?;
    Ok(Sample {
        points,
        ln_f: ln_density.iter().map(|f| f + ln_z).collect(),
        effective: 1.0 / weights.iter().map(|w| w * w).sum::<f64>(),
        accepted: accepted as f64 / (moves.max(1) * count) as f64,
    })
}

/// The parts of the nodes in the ensemble's mean of f pi / Z.
pub(crate) fn posterior_weights(ensemble: &Ensemble, nodes: &Nodes) -> Result<Vec<f64>> {
    let (density, on) = Density::new(ensemble, nodes)?;
    weights_of(nodes, &density.mixed(&on.by_kind))
}

/// The parts of the nodes in an integral of this density.
fn weights_of(nodes: &Nodes, ln_density: &[f64]) -> Result<Vec<f64>> {
    let pairs = nodes.ln_weights.iter().zip(ln_density);
    let ln_weights: Vec<f64> = pairs.map(|(w, f)| w + f).collect();
    normalised(&ln_weights).ok_or_else(no_mass)
}

struct Walkers<'a> {
    density: Density<'a>,
    tilt: Tilt<'a>,
    points: Points,
    /// The place of each walker's kind.
    kinds: Vec<usize>,
    /// ln of f / Z under the walker's own kind, and the same with f at the mean of g.
    ln_density: Vec<f64>,
    ln_cheap: Vec<f64>,
}

impl<'a> Walkers<'a> {
    /// Propose a move to every walker of one half; say how many were accepted.
    fn step(&mut self, half: usize, rng: &mut Rng) -> Result<usize> {
        let size = self.points.len() / 2;
        let (start, other) = (half * size, (1 - half) * size);
        let dim = self.points.dim();
        // 2.38 / sqrt(2 d) is the best length for a normal target; shorter steps serve bent ones.
        let best = 2.38 / (2.0 * dim as f64).sqrt();
        let circles = self.tilt.measure.circles();
        let mut proposed = Points::empty(dim)?;
        let mut x = vec![0.0; dim];
        for i in start..start + size {
            let (a, b) = (other + rng.below(size), other + rng.below(size));
            let length = best * rng.uniform();
            for (d, x) in x.iter_mut().enumerate() {
                let (a, b) = (self.points.row(a)[d], self.points.row(b)[d]);
                let difference = circles.as_ref().map_or(a - b, |c| c.difference(d, a, b));
                *x = self.points.row(i)[d] + length * difference;
            }
            if let Some(circles) = &circles {
                circles.wrap(&mut x);
            }
            proposed.push(&x)?;
        }
        let kinds = &self.kinds[start..start + size];
        let ln_cheap = self.by_kind(&proposed, kinds, Density::at_mean_of_g)?;
        let ln_prior = |x: &[f64]| self.tilt.ln_density(x);
        let is_hopeful = |k: &usize| {
            let (i, row) = (start + k, proposed.row(*k));
            let ln_ratio =
                ln_cheap[*k] + ln_prior(row) - self.ln_cheap[i] - ln_prior(self.points.row(i));
            rng.uniform().ln() < ln_ratio && row != self.points.row(i)
        };
        let hopeful: Vec<usize> = (0..size).filter(is_hopeful).collect();
        let own: Vec<usize> = hopeful.iter().map(|&k| kinds[k]).collect();
        let ln_density = self.by_kind(&proposed.select(&hopeful), &own, Density::of_kind)?;
        // The first stage has taken the ratio of the cheap densities in, and the prior's.
        let mut moved = vec![None; size];
        for (&k, ln_density) in hopeful.iter().zip(ln_density) {
            let i = start + k;
            let ln_ratio = ln_density - ln_cheap[k] - (self.ln_density[i] - self.ln_cheap[i]);
            if rng.uniform().ln() < ln_ratio {
                (self.ln_density[i], self.ln_cheap[i]) = (ln_density, ln_cheap[k]);
                moved[k] = Some(proposed.row(k));
            }
        }
        let mut points = Points::empty(dim)?;
        for i in 0..self.points.len() {
            let to = i.checked_sub(start).and_then(|k| *moved.get(k)?);
            points.push(to.unwrap_or(self.points.row(i)))?;
        }
        let accepted = moved.iter().flatten().count();
        self.points = points;
        Ok(accepted)
    }

    /// A density at the points, each under the kind at its place.
    fn by_kind(
        &self,
        x: &Points,
        kinds: &[usize],
        density: impl Fn(&Density<'a>, usize, &Points) -> Result<Vec<f64>>,
    ) -> Result<Vec<f64>> {
        let mut out = vec![0.0; x.len()];
        let most = kinds.iter().copied().max().unwrap_or(0);
        for kind in 0..=most {
            let own: Vec<usize> = (0..x.len()).filter(|&i| kinds[i] == kind).collect();
            let found = density(&self.density, kind, &x.select(&own))?;
            own.into_iter().zip(found).for_each(|(i, f)| out[i] = f);
        }
        Ok(out)
    }
}

//! Place nodes: Sobol' points through the quantile map, or a mixture that follows the belief.

use super::following::follow;
use crate::belief::{Anatomy, Belief, PosteriorProcess, ln_sizes};
use crate::error::{Error, Result, Step};
use crate::measure::{Circle, Circles, Form, Measure, Restricted};
use crate::numeric::loops::squared_distances;
use crate::numeric::parallel;
use crate::numeric::sobol::{MAX_DIM, Sobol};
use crate::numeric::special::{
    ln_add_exp, ln_sum_exp, ln_sum_exp_columns, normal_cdf, normal_quantile,
};
use crate::points::Points;
use std::f64::consts::TAU;

/// Independent randomisations a rule is split into; their spread is the node error.
const REPLICATES: usize = 8;

/// Widths of the importance mixture, in units of half a length scale.
const PROPOSAL_WIDTHS: [f64; 3] = [1.0, 0.3, 0.1];

/// Weighted points: the integral of f against the measure is about sum of exp(ln_weights)
/// f(points).
///
/// The points come in `replicates` runs of equal length, each an independent randomisation of the
/// same rule, so that the spread over runs estimates the error of the rule.
#[derive(Debug, Clone)]
pub struct Nodes {
    /// Where.
    pub points: Points,
    /// ln of each weight; the weights of one replicate sum to about 1 / replicates.
    pub ln_weights: Vec<f64>,
    /// How many independent runs.
    pub replicates: usize,
}

impl Nodes {
    /// Scrambled Sobol' points through the measure's quantile map. A sample is its own set of
    /// nodes.
    ///
    /// ```
    /// use warpquad::functional::Nodes;
    /// use warpquad::measure::{Product, univariate};
    /// let pi = Product::new(vec![univariate("normal", &[1.0, 2.0])?])?;
    /// let nodes = Nodes::sobol(&pi, 1024, 0)?;
    /// let terms = nodes.points.iter().zip(&nodes.ln_weights).map(|(x, w)| x[0] * w.exp());
    /// let mean: f64 = terms.sum();
    /// assert!((mean - 1.0).abs() < 1e-2);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn sobol(measure: &dyn Measure, n: usize, seed: u64) -> Result<Nodes> {
        if let Form::Sample(sample) = measure.form() {
            return Ok(Nodes {
                ln_weights: vec![-(sample.len() as f64).ln(); sample.len()],
                points: sample.clone(),
                replicates: 1,
            });
        }
        let (replicates, size) = split(n);
        let mut points = Points::empty(measure.dim())?;
        for r in 0..replicates {
            own_nodes(
                measure,
                sequence(measure.dim(), seed, r)?,
                size,
                &mut points,
            )?;
        }
        let ln_weight = ln_total(measure) - ((replicates * size) as f64).ln();
        let mut ln_weights = vec![ln_weight; points.len()];
        if let Some(restricted) = measure.restricted() {
            let pairs = points.iter().zip(&mut ln_weights);
            let outside = pairs.filter(|(x, _)| !restricted.holds(x));
            outside.for_each(|(_, ln_weight)| *ln_weight = f64::NEG_INFINITY);
        }
        Ok(Nodes {
            points,
            ln_weights,
            replicates,
        })
    }

    /// Nodes that follow the belief's mean or sd of f, whichever is larger.
    ///
    /// Nodes from the prior alone miss a narrow peak. A scout, half from the measure and half
    /// around the best observed points, is followed by rounds in each of which a mixture of
    /// Gaussians is fitted to the nodes of the round before. A fifth of the nodes are the
    /// measure's own, so no weight exceeds 5. Where the measure has no density, or the belief no
    /// observation, these are plain Sobol' nodes.
    pub fn importance(
        measure: &dyn Measure,
        belief: &dyn Belief,
        n: usize,
        seed: u64,
    ) -> Result<Nodes> {
        let reach = |x: &Points| Ok(belief.moments(x)?.ln_reach());
        follow(measure, belief, &reach, n, seed)
    }

    /// The same for what f may well be: xi at u sd of g above or below its mean, whichever is
    /// larger in size.
    ///
    /// A log warp's mean exp(mu + s/2) is largest where g is known least. Where a smooth ln f is
    /// extrapolated s can be thousands, and nodes that follow the mean are all out there.
    pub fn plausible(
        measure: &dyn Measure,
        belief: &dyn Belief,
        u: f64,
        n: usize,
        seed: u64,
    ) -> Result<Nodes> {
        let reach = |x: &Points| belief.ln_reach(x, u);
        follow(measure, belief, &reach, n, seed)
    }

    /// The same nodes, with weights for integrals over where the belief knows f to be positive.
    pub(crate) fn within(mut self, belief: &dyn Belief) -> Nodes {
        if let Some(feasible) = belief.feasible() {
            let chances = feasible.ln_chance(&self.points);
            let pairs = self.ln_weights.iter_mut().zip(chances);
            pairs.for_each(|(weight, chance)| *weight += chance);
        }
        self
    }

    /// The first replicates that together have at most `most` nodes, as a rule of its own.
    pub(crate) fn at_most(&self, most: usize) -> Nodes {
        let size = self.points.len() / self.replicates;
        let replicates = (most / size.max(1)).clamp(1, self.replicates);
        let rescale = (self.replicates as f64 / replicates as f64).ln();
        let kept = replicates * size;
        Nodes {
            points: self.points.slice(0, kept),
            ln_weights: self.ln_weights[..kept]
                .iter()
                .map(|w| w + rescale)
                .collect(),
            replicates,
        }
    }
}

pub(super) fn split(n: usize) -> (usize, usize) {
    let replicates = REPLICATES.min(n.max(1));
    (replicates, n.max(1).div_ceil(replicates))
}

/// Draws a node that may be needed before one is inside a region: its mass is at least 1e-4.
const MOST_DRAWS_A_NODE: usize = 1_000_000;

/// ln of the mass of a measure: 0 but for one that has kept the density it had before it was
/// restricted to a region.
pub(super) fn ln_total(measure: &dyn Measure) -> f64 {
    measure.restricted().map_or(0.0, Restricted::ln_total)
}

/// `count` points of a sequence through the measure's quantile map. Of a measure that is restricted
/// to a region they are those inside; where the mass of the region is not known all count, and
/// those outside have no weight.
pub(super) fn own_nodes(
    measure: &dyn Measure,
    mut sequence: Sobol,
    count: usize,
    points: &mut Points,
) -> Result<()> {
    let dim = measure.dim();
    let (mut u, mut x) = (vec![0.0; dim], vec![0.0; dim]);
    let region = measure.restricted().filter(|one| one.is_mass_known());
    let (mut found, mut draws) = (0, 0);
    while found < count {
        sequence.next_into(&mut u);
        measure.quantile(&u, &mut x);
        draws += 1;
        if region.is_none_or(|region| region.holds(&x)) {
            points.push(&x)?;
            found += 1;
        } else if draws > MOST_DRAWS_A_NODE * count {
            let what = "hardly a draw from the prior satisfies the constraints".to_string();
            return Err(Error::numerics(Step::Integrate, what));
        }
    }
    Ok(())
}

pub(super) fn sequence(dim: usize, seed: u64, replicate: usize) -> Result<Sobol> {
    let seed = seed
        .wrapping_mul(REPLICATES as u64)
        .wrapping_add(replicate as u64);
    Sobol::scrambled(dim, seed).ok_or_else(|| {
        let what = format!("Sobol' nodes reach {MAX_DIM} dimensions, not {dim}; use a baseline");
        Error::numerics(Step::Integrate, what)
    })
}

/// Points whose densities are computed at once: few enough for their terms to stay in the cache.
const BLOCK: usize = 64;

/// Blocks that a thread is worth.
const BLOCKS: usize = 16;

/// A number for each point, block by block, on several threads where there are many.
pub(super) fn in_blocks(points: &Points, numbers: impl Fn(&Points) -> Vec<f64> + Sync) -> Vec<f64> {
    let some = |from: usize, to: usize, size: usize| {
        let starts = (from..to).step_by(size);
        starts.map(move |start| (start, (start + size).min(to)))
    };
    let shares: Vec<_> = some(0, points.len(), BLOCK * BLOCKS).collect();
    let done = parallel::map(shares.len(), |k| {
        let blocks = some(shares[k].0, shares[k].1, BLOCK);
        let numbers = blocks.flat_map(|(from, to)| numbers(&points.slice(from, to)));
        numbers.collect::<Vec<f64>>()
    });
    done.concat()
}

/// Half of the nodes from the measure, half around the observed points.
pub(super) struct Scout<'a> {
    pub measure: &'a dyn Measure,
    pub observed: &'a Proposal,
}

impl Scout<'_> {
    pub fn nodes(&self, n: usize, seed: u64) -> Result<Nodes> {
        let (replicates, size) = split(n);
        let dim = self.measure.dim();
        // Whole numbers of nodes: the shares that are sampled are the shares that are weighted.
        let near = size / 2;
        let own = size - near;
        let mut points = Points::empty(dim)?;
        let mut x = vec![0.0; dim];
        for r in 0..replicates {
            own_nodes(self.measure, sequence(dim, seed, r)?, own, &mut points)?;
            // One more coordinate chooses the component.
            let mut sobol = sequence(dim + 1, seed ^ 0x9e37_79b9_7f4a_7c15, r)?;
            for u in sobol.points(near).chunks_exact(dim + 1) {
                self.observed.draw(u, &mut x);
                points.push(&x)?;
            }
        }
        let share = |count: usize| (count as f64 / size as f64).ln();
        let ln_own = share(own) - ln_total(self.measure);
        let total = ((replicates * size) as f64).ln();
        let ln_weights = in_blocks(&points, |block| {
            let ln_pi: Vec<f64> = block.iter().map(|x| self.measure.ln_density(x)).collect();
            let pairs = ln_pi.iter().zip(self.observed.ln_densities(block));
            let weight = |(&pi, around): (&f64, f64)| match pi == f64::NEG_INFINITY {
                true => f64::NEG_INFINITY,
                false => pi - ln_add_exp(ln_own + pi, share(near) + around) - total,
            };
            pairs.map(weight).collect()
        });
        Ok(Nodes {
            points,
            ln_weights,
            replicates,
        })
    }
}

/// Centers that the proposal at the observed points has at most.
const OBSERVED_CENTERS: usize = 64;

/// A mixture of axis-aligned Gaussians; along a circle each is cut opposite to its center.
#[derive(Debug)]
pub(super) struct Proposal {
    centers: Vec<Vec<f64>>,
    /// Cumulative weights of the centers.
    cumulative: Vec<f64>,
    ln_weights: Vec<f64>,
    half_lengths: Vec<f64>,
    circles: Option<Circles>,
    /// ln of the density's constant, over all centers and widths.
    ln_norm: f64,
}

impl Proposal {
    fn new(
        centers: Vec<Vec<f64>>,
        ln_weights: &[f64],
        half_lengths: Vec<f64>,
        circles: Option<Circles>,
    ) -> Proposal {
        let ln_volume: f64 = half_lengths.iter().map(|l| l.ln()).sum();
        let widths = (PROPOSAL_WIDTHS.len() as f64).ln();
        let ln_norm = -0.5 * half_lengths.len() as f64 * TAU.ln() - ln_volume - widths;
        let total = ln_sum_exp(ln_weights);
        let ln_weights: Vec<f64> = ln_weights.iter().map(|w| w - total).collect();
        let mut sum = 0.0;
        let cumulative = ln_weights.iter().map(|w| {
            sum += w.exp();
            sum
        });
        Proposal {
            ln_norm,
            cumulative: cumulative.collect(),
            centers,
            half_lengths,
            circles,
            ln_weights,
        }
    }

    fn circle(&self, d: usize) -> Option<&Circle> {
        self.circles.as_ref()?.each()[d].as_ref()
    }

    /// The mass that the law of a width has on the far side of a circle's cut, at each end.
    fn beyond(&self, d: usize, width: f64) -> f64 {
        let circle = self.circle(d);
        circle.map_or(0.0, |circle| {
            normal_cdf(-0.5 * circle.period / (width * self.half_lengths[d]))
        })
    }

    /// ln of the mass that the cuts leave of a width.
    fn ln_kept(&self, width: f64) -> f64 {
        let kept = |d: usize| (-2.0 * self.beyond(d, width)).ln_1p();
        (0..self.half_lengths.len()).map(kept).sum()
    }

    /// At observed points within 8 + d nats of the best, weighted by exp((ln f - ln f_max) / 3).
    pub fn at_observed(anatomy: Anatomy<'_>, measure: &dyn Measure) -> Option<Proposal> {
        let posterior = anatomy.posterior;
        let ln_f = ln_sizes(anatomy.link.warp(), posterior.g());
        let top = ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let depth = 8.0 + posterior.points().dim() as f64;
        let mut near: Vec<usize> = (0..ln_f.len())
            .filter(|&i| ln_f[i] >= top - depth)
            .collect();
        // Of many, some at every depth: the modes have points enough, and each center costs its
        // density at every node.
        near.sort_by(|&i, &j| ln_f[j].total_cmp(&ln_f[i]));
        let near = near.iter().step_by(near.len().div_ceil(OBSERVED_CENTERS));
        let (centers, ln_weights): (Vec<_>, Vec<_>) = near
            .map(|&i| (posterior.points().row(i).to_vec(), (ln_f[i] - top) / 3.0))
            .unzip();
        let circles = measure.circles();
        Some(Proposal::new(
            centers,
            &ln_weights,
            halves(posterior),
            circles,
        ))
    }

    /// Map d + 1 uniform numbers to a point.
    pub fn draw(&self, u: &[f64], x: &mut [f64]) {
        let pick = u[0] * PROPOSAL_WIDTHS.len() as f64;
        let width = PROPOSAL_WIDTHS[(pick as usize).min(PROPOSAL_WIDTHS.len() - 1)];
        let chosen = self.cumulative.partition_point(|&c| c < pick.fract());
        let center = &self.centers[chosen.min(self.centers.len() - 1)];
        for (d, x) in x.iter_mut().enumerate() {
            let beyond = self.beyond(d, width);
            let within = beyond + (1.0 - 2.0 * beyond) * u[d + 1];
            *x = center[d] + width * self.half_lengths[d] * normal_quantile(within);
        }
        if let Some(circles) = &self.circles {
            circles.wrap(x);
        }
    }

    /// ln of the density at every point.
    pub fn ln_densities(&self, points: &Points) -> Vec<f64> {
        let (n, dim) = (points.len(), points.dim() as f64);
        let mut columns = points.columns();
        for (column, l) in columns.chunks_exact_mut(n).zip(&self.half_lengths) {
            column.iter_mut().for_each(|x| *x /= l);
        }
        let mut r2 = vec![0.0; n];
        let ln_kept = PROPOSAL_WIDTHS.map(|width| self.ln_kept(width));
        let mut table = Vec::with_capacity(PROPOSAL_WIDTHS.len() * self.centers.len() * n);
        for (center, ln_weight) in self.centers.iter().zip(&self.ln_weights) {
            let pairs = center.iter().zip(&self.half_lengths);
            let center: Vec<f64> = pairs.map(|(c, l)| c / l).collect();
            squared_distances(&columns, n, 0, &center, &mut r2);
            self.shorten(&columns, &center, &mut r2);
            for (width, ln_kept) in PROPOSAL_WIDTHS.into_iter().zip(ln_kept) {
                let ln_norm = ln_weight - dim * width.ln() - ln_kept;
                let per = -0.5 / (width * width);
                table.extend(r2.iter().map(|r2| ln_norm + per * r2));
            }
        }
        let mut out = ln_sum_exp_columns(&mut table, n);
        out.iter_mut().for_each(|ln| *ln += self.ln_norm);
        out
    }
}

impl Proposal {
    /// Take every angle's part of r^2 the shorter way round.
    fn shorten(&self, columns: &[f64], center: &[f64], r2: &mut [f64]) {
        for (d, l) in self.half_lengths.iter().enumerate() {
            let Some(circle) = self.circle(d) else {
                continue;
            };
            let column = &columns[d * r2.len()..(d + 1) * r2.len()];
            for (r2, x) in r2.iter_mut().zip(column) {
                let apart = x - center[d];
                let shorter = circle.difference(x * l, center[d] * l) / l;
                *r2 = (*r2 - apart * apart + shorter * shorter).max(0.0);
            }
        }
    }
}

fn halves(posterior: &PosteriorProcess) -> Vec<f64> {
    let lengths = posterior.process().theta().coordinate_lengths();
    lengths.iter().map(|l| 0.5 * l).collect()
}

//! Weigh nodes by f: expectations under f pi / Z, as ratios of two affine functionals on one set of
//! nodes.

use super::Nodes;
use super::density::{Density, no_mass, whole};
use super::draws::{mirrored, widen};
use super::law::{Law, sorted_quantile};
use super::replicates::{quantile_of_error, standard_error};
use super::surface::Thin;
use crate::belief::{Ensemble, Model};
use crate::error::{Result, finite, same_length};
use crate::numeric::linalg::{Mat, dot};
use crate::numeric::random::Rng;
use crate::numeric::weights::normalised;
use crate::points::Points;
use crate::warp::Warp;

/// Nodes lighter than this part of the heaviest are left out: together they weigh less than
/// rounding.
const LIGHT: f64 = 1e-16;

/// The posterior f pi / Z on nodes, under its mean and under joint draws of f.
///
/// # Definition
/// With nodes x_i and weights w_i of pi, `E[h] = L_h[f] / L_1[f]` is about the sum of p_i h(x_i),
/// where p_i is proportional to w_i f(x_i).
///
/// ```
/// use warpquad::functional::{Nodes, Ratio};
/// use warpquad::measure::Product;
/// use warpquad::numeric::random::Rng;
/// use warpquad::{Ensemble, Matching, Model, Points, Process, Theta};
/// use warpquad::{kernel::SquaredExponential, warp::{Affine, Log}};
/// // ln f = -x is known at 33 points: under a uniform pi on (0, 1), E[x] = (e - 2) / (e - 1).
/// let points = Points::from_rows(&(0..33).map(|i| vec![i as f64 / 32.0]).collect::<Vec<_>>())?;
/// let g: Vec<f64> = points.iter().map(|x| -x[0]).collect();
/// let process = Process::new(SquaredExponential, Theta::constant(0.0, 1.0, vec![0.5])?);
/// let posterior = process.condition(&points, &g)?;
/// let warp = Affine::scaled(std::sync::Arc::new(Log), 0.0)?;
/// let belief = Ensemble::one(Model::new(warp, posterior, Matching::Moments));
/// let nodes = Nodes::sobol(&Product::uniform(&[(0.0, 1.0)])?, 1024, 0)?;
/// let ratio = Ratio::new(&belief, &nodes, 100, 400, &Rng::new(0))?;
/// let h: Vec<f64> = ratio.points().iter().map(|x| x[0]).collect();
/// let e = std::f64::consts::E;
/// assert!((ratio.expectation(&h)?.mean - (e - 2.0) / (e - 1.0)).abs() < 1e-4);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ratio {
    points: Points,
    /// p_i under the mean of f pi / Z; they sum to 1.
    weights: Vec<f64>,
    /// The same of each frame by itself, their nodes in turn.
    parts: Vec<Part>,
    /// ln of each frame's part of Z, drawn together; nothing where there is one frame.
    ln_parts: Vec<Vec<f64>>,
}

/// The posterior on nodes of one frame.
#[derive(Debug, Clone)]
struct Part {
    /// The first coordinate of each node.
    along: Vec<f64>,
    dim: usize,
    /// p_i under the mean of f pi / Z; they sum to 1.
    weights: Vec<f64>,
    /// Which independent run of the node rule each node belongs to.
    run: Vec<usize>,
    runs: usize,
    /// The nodes that are drawn jointly.
    chosen: Vec<usize>,
    kinds: Vec<KindWeights>,
    /// Every draw is so many times as far from the median as its members say.
    widening: f64,
}

/// The weights of the nodes under models that differ in their hyperparameters only.
#[derive(Debug, Clone)]
struct KindWeights {
    /// p_i under the best of them; they sum to 1.
    weights: Vec<f64>,
    /// The same on the chosen nodes.
    chosen: Vec<f64>,
    /// For each member its widening, and p_i of the chosen nodes under its draws, a column each.
    members: Vec<(f64, Mat)>,
}

/// What is known of an expectation.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The mean of the ratio over draws of f.
    pub mean: f64,
    /// The standard error of the node rule.
    pub node_error: f64,
    /// The independent runs of the rule that this error comes from.
    pub runs: usize,
    /// The ratio under each draw of f, sorted.
    pub samples: Vec<f64>,
}

impl Expectation {
    /// The standard deviation: what the belief does not know and the node rule's error together.
    pub fn sd(&self) -> f64 {
        let spread: f64 = self.samples.iter().map(|e| (e - self.mean).powi(2)).sum();
        (spread / self.samples.len() as f64)
            .sqrt()
            .hypot(self.node_error)
    }

    /// The central interval with that probability: quantiles of the draws, each moved out by the
    /// node rule's error.
    pub fn interval(&self, probability: f64) -> [f64; 2] {
        let tail = 0.5 * (1.0 - probability);
        let node = quantile_of_error(1.0 - tail, self.runs) * self.node_error;
        let middle = self.quantile(0.5);
        let (low, high) = (self.quantile(tail), self.quantile(1.0 - tail));
        [
            middle - (middle - low).hypot(node),
            middle + (high - middle).hypot(node),
        ]
    }

    fn quantile(&self, p: f64) -> f64 {
        sorted_quantile(&self.samples, p)
    }
}

/// Which of two sets of nodes serves expectations best: those that follow the belief, or plain ones
/// where these agree on the mean of every coordinate and know all of them better, as Sobol' nodes
/// do for a broad and smooth f.
pub(crate) fn better_nodes(ensemble: &Ensemble, followed: Nodes, plain: Nodes) -> Result<Nodes> {
    let by_followed = weights(ensemble, &followed)?;
    // Plain nodes may all miss a narrow peak, and then they have no mass at all.
    let Ok(by_plain) = weights(ensemble, &plain) else {
        return Ok(followed);
    };
    for d in 0..followed.points.dim() {
        let along = |nodes: &Nodes, weights: &[f64]| {
            let h: Vec<f64> = nodes.points.iter().map(|x| x[d]).collect();
            let size = nodes.points.len() / nodes.replicates;
            let error = node_error(weights, &h, nodes.replicates, |i| i / size);
            (dot(weights, &h), error)
        };
        let (own, others) = (along(&plain, &by_plain), along(&followed, &by_followed));
        let agree = (own.0 - others.0).abs() <= 4.0 * own.1.hypot(others.1);
        if !agree || own.1 > others.1 {
            return Ok(followed);
        }
    }
    Ok(plain)
}

/// p_i under the mean of f pi / Z.
fn weights(ensemble: &Ensemble, nodes: &Nodes) -> Result<Vec<f64>> {
    let (density, on) = Density::new(ensemble, nodes)?;
    let mixed = density.mixed(&on.by_kind);
    let ln: Vec<f64> = mixed
        .iter()
        .zip(&nodes.ln_weights)
        .map(|(f, w)| f + w)
        .collect();
    normalised(&ln).ok_or_else(no_mass)
}

/// The standard error of a ratio of sums over independent runs: that of each run's residual sum of
/// p_i (h_i - mean), by which the ratio moves to first order.
fn node_error(weights: &[f64], h: &[f64], runs: usize, run_of: impl Fn(usize) -> usize) -> f64 {
    let mean = dot(weights, h);
    let mut residuals = vec![0.0; runs];
    for (i, (p, h)) in weights.iter().zip(h).enumerate() {
        // Each run is 1/runs of an estimate of its own.
        residuals[run_of(i)] += runs as f64 * p * (h - mean);
    }
    standard_error(&residuals)
}

impl Ratio {
    /// Weigh the nodes by the mean of f pi / Z, and those that matter by `draws` joint draws of f.
    pub fn new(
        ensemble: &Ensemble,
        nodes: &Nodes,
        draws: usize,
        joint_nodes: usize,
        rng: &Rng,
    ) -> Result<Ratio> {
        let (density, on) = Density::new(ensemble, nodes)?;
        let mixed = density.mixed(&on.by_kind);
        let thin = Thin::new(nodes, &[&on.ln_reach, &mixed], joint_nodes);
        let weighed = |ln_weights: &[f64], ln_f: &mut dyn Iterator<Item = f64>| {
            let ln: Vec<f64> = ln_weights.iter().zip(ln_f).map(|(w, f)| w + f).collect();
            normalised(&ln).ok_or_else(no_mass)
        };
        let mut kinds: Vec<KindWeights> = Vec::new();
        for ln_f in &on.by_kind {
            let mut on_thin = thin.chosen.iter().map(|&i| ln_f[i]);
            kinds.push(KindWeights {
                weights: weighed(&nodes.ln_weights, &mut ln_f.iter().copied())?,
                chosen: weighed(&thin.ln_weights, &mut on_thin)?,
                members: Vec::new(),
            });
        }
        for (i, (kind, member, share)) in ensemble.members().enumerate() {
            let Some(place) = density.place(&kind.fitted) else {
                continue;
            };
            let count = (draws as f64 * share).ceil() as usize;
            let drawn = member_draws(&member.model, &thin, count, &mut rng.child(i as u64))?;
            kinds[place].members.push((member.widening, drawn));
        }
        let size = nodes.points.len() / nodes.replicates;
        let part = Part {
            along: nodes.points.iter().map(|x| x[0]).collect(),
            dim: nodes.points.dim(),
            weights: weighed(&nodes.ln_weights, &mut mixed.into_iter())?,
            run: (0..nodes.points.len()).map(|i| i / size).collect(),
            runs: nodes.replicates,
            chosen: thin.chosen,
            kinds,
            widening: ensemble.widening(),
        };
        let (part, kept) = part.trimmed();
        Ok(Ratio {
            points: nodes.points.select(&kept),
            weights: part.weights.clone(),
            parts: vec![part],
            ln_parts: Vec::new(),
        })
    }

    /// The posterior on the nodes of several frames, each with the law of its part of Z.
    pub(crate) fn joined(mut ratios: Vec<Ratio>, laws: &[Law], rng: &mut Rng) -> Result<Ratio> {
        same_length("laws", laws.len(), ratios.len())?;
        if let [_] = ratios[..] {
            return ratios.pop().ok_or_else(no_mass);
        }
        let middles: Vec<f64> = laws.iter().map(|law| law.ln_quantile(0.5)).collect();
        let shares = normalised(&middles).ok_or_else(no_mass)?;
        let mut points = Points::empty(ratios.first().ok_or_else(no_mass)?.points.dim())?;
        let (mut weights, mut parts) = (Vec::new(), Vec::new());
        for (ratio, share) in ratios.into_iter().zip(shares) {
            points.extend(&ratio.points)?;
            weights.extend(ratio.weights.iter().map(|w| share * w));
            parts.extend(ratio.parts);
        }
        Ok(Ratio {
            points,
            weights,
            parts,
            ln_parts: Law::together(laws, rng),
        })
    }

    /// The nodes.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The share of f pi / Z that each node stands for.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The same nodes in other coordinates.
    pub fn with_points(mut self, points: Points) -> Result<Ratio> {
        same_length("points", points.len(), self.points.len())?;
        if let [part] = &mut self.parts[..] {
            part.along = points.iter().map(|x| x[0]).collect();
        }
        Ok(Ratio { points, ..self })
    }

    /// The expectation of h from its values on the nodes.
    ///
    /// The draws see only the nodes that matter; those of each kind of model are shifted to what
    /// all nodes say under its best. Of several frames each draw has their parts of Z drawn too.
    pub fn expectation(&self, h: &[f64]) -> Result<Expectation> {
        same_length("h", h.len(), self.weights.len())?;
        for (i, &h) in h.iter().enumerate() {
            finite(&format!("h[{i}]"), h)?;
        }
        let mut from = 0;
        let mut each: Vec<Expectation> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let until = from + part.weights.len();
            each.push(part.expectation(&h[from..until]));
            from = until;
        }
        match each.len() {
            1 => each.pop().ok_or_else(no_mass),
            _ => Ok(self.together(&each)),
        }
    }

    /// The expectation over all frames from that in each.
    fn together(&self, each: &[Expectation]) -> Expectation {
        let count = self.ln_parts.first().map_or(0, Vec::len);
        // Draws of an expectation are sorted: an order of their own makes them independent.
        let mut rng = Rng::new(count as u64);
        let mut order = || {
            let mut order: Vec<usize> = (0..count).collect();
            rng.shuffle(&mut order);
            order
        };
        let orders: Vec<Vec<usize>> = each.iter().map(|_| order()).collect();
        let (mut samples, mut squares) = (Vec::with_capacity(count), vec![0.0; each.len()]);
        for i in 0..count {
            let ln: Vec<f64> = self.ln_parts.iter().map(|of| of[i]).collect();
            let Some(shares) = normalised(&ln) else {
                continue;
            };
            let mut sum = 0.0;
            for (k, one) in each.iter().enumerate() {
                let known = &one.samples;
                sum += shares[k] * known[orders[k][i] * known.len() / count];
                squares[k] += (shares[k] * one.node_error).powi(2) / count as f64;
            }
            samples.push(sum);
        }
        samples.sort_by(f64::total_cmp);
        Expectation {
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            node_error: squares.iter().sum::<f64>().sqrt(),
            runs: each.iter().map(|one| one.runs).min().unwrap_or(1),
            samples,
        }
    }
}

impl Part {
    /// The same without nodes that weigh nothing, and those that are kept: the others may lie
    /// outside the support, where h has no value.
    fn trimmed(mut self) -> (Part, Vec<usize>) {
        let top = self.weights.iter().copied().fold(0.0, f64::max);
        let mut keep: Vec<bool> = self.weights.iter().map(|&w| w > LIGHT * top).collect();
        self.chosen.iter().for_each(|&i| keep[i] = true);
        let kept: Vec<usize> = (0..keep.len()).filter(|&i| keep[i]).collect();
        let mut position = vec![0; keep.len()];
        kept.iter()
            .enumerate()
            .for_each(|(to, &i)| position[i] = to);
        let select = |weights: &[f64]| -> Vec<f64> { kept.iter().map(|&i| weights[i]).collect() };
        for kind in &mut self.kinds {
            kind.weights = select(&kind.weights);
        }
        let part = Part {
            along: select(&self.along),
            weights: select(&self.weights),
            run: kept.iter().map(|&i| self.run[i]).collect(),
            chosen: self.chosen.iter().map(|&i| position[i]).collect(),
            ..self
        };
        (part, kept)
    }

    /// The expectation of h under this frame's part of the posterior.
    fn expectation(&self, h: &[f64]) -> Expectation {
        let part: Vec<f64> = self.chosen.iter().map(|&i| h[i]).collect();
        let mut samples = Vec::new();
        for kind in &self.kinds {
            let shift = dot(&kind.weights, h) - dot(&kind.chosen, &part);
            for (widening, draws) in &kind.members {
                let one = |k: usize| shift + dot(draws.col(k), &part);
                let mut own: Vec<f64> = (0..draws.cols()).map(one).collect();
                widen(&mut own, *widening);
                samples.extend(own);
            }
        }
        widen(&mut samples, self.widening);
        samples.sort_by(f64::total_cmp);
        Expectation {
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            node_error: self.node_error(h),
            runs: self.runs,
            samples,
        }
    }

    /// The error of the nodes: by the spread of the runs, and in one dimension by the jumps of h.
    ///
    /// In one dimension every run has a node in each of the same cells. Where h jumps inside a
    /// cell, the nodes of all runs may lie on one side, and their spread says nothing. A jump from
    /// one node to the next in a cell of weight p is an error of p/2 of it at most, in sd.
    fn node_error(&self, h: &[f64]) -> f64 {
        let by_runs = node_error(&self.weights, h, self.runs, |i| self.run[i]);
        if self.dim > 1 {
            return by_runs;
        }
        let mut order: Vec<usize> = (0..h.len()).collect();
        let key = |i: usize| (self.run[i], self.along[i]);
        order.sort_by(|&i, &j| {
            let ((a, x), (b, y)) = (key(i), key(j));
            a.cmp(&b).then(x.total_cmp(&y))
        });
        let jump = |pair: &[usize]| match self.run[pair[0]] == self.run[pair[1]] {
            true => self.weights[pair[0]].max(self.weights[pair[1]]) * (h[pair[1]] - h[pair[0]]),
            false => 0.0,
        };
        let squares: f64 = order.windows(2).map(|pair| jump(pair).powi(2)).sum();
        by_runs.hypot(0.5 * squares.sqrt())
    }
}

/// The weights of the thinned nodes under joint draws of f, a column each.
fn member_draws(model: &Model, thin: &Thin, count: usize, rng: &mut Rng) -> Result<Mat> {
    let mu = model.process().means(&thin.points)?;
    let drawn = mirrored(model.process(), &thin.points, &mu, count.max(1), rng)?.draws;
    let offset = model.warp().offset();
    let mut out = Mat::zeros(mu.len(), drawn.len());
    for (k, g) in drawn.iter().enumerate() {
        let terms = (0..mu.len()).map(|i| {
            let (ln_unit, value) = whole(offset, model.value_at(g[i], mu[i]));
            (thin.ln_weights[i] + ln_unit, value)
        });
        fill_normalised(terms, out.col_mut(k));
    }
    Ok(out)
}

/// Terms exp(ln_unit) value, scaled to sum to 1.
fn fill_normalised(terms: impl Iterator<Item = (f64, f64)> + Clone, out: &mut [f64]) {
    let tops = terms.clone().map(|(ln_unit, value)| match value {
        0.0 => f64::NEG_INFINITY,
        value => ln_unit + value.abs().ln(),
    });
    let top = tops.fold(f64::NEG_INFINITY, f64::max);
    for (out, (ln_unit, value)) in out.iter_mut().zip(terms) {
        *out = (ln_unit - top).exp() * value;
    }
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= total);
}

//! Nested sampling: live points climb f while the prior volume above them shrinks by known steps.

use super::Baseline;
use super::cloud::{Cloud, Shape, squared};
use super::passes::{Pass, passes};
use super::run::{Halt, Known, Run, Samples};
use crate::numeric::random::{Rng, mix};
use crate::numeric::special::{ln_1m_exp, ln_add_exp, ln_sum_exp};
use crate::points::Points;

/// This part of the live points is replaced at a time, so that evaluations can go in parallel.
const AT_ONCE: usize = 8;

/// A pass ends when the live points can add no more than this part of Z.
const REST: f64 = 1e-2;

/// Simulated sequences of volumes: their spread is known to 7 %.
const SIMULATIONS: usize = 100;

/// Tries to find a point of a slice before a chain stays where it is: the bracket is down to 2^-60
/// or so.
const PATIENCE: usize = 60;

/// Nested sampling with a fixed number of live points.
///
/// # Definition
/// With n live points, let X be the prior volume above the lowest. As that point is removed, X
/// shrinks by a factor t, the largest of n uniforms. Z = sum L_i (X_i-1 - X_i), and what is left at
/// the end, X times the mean over the live points. Slice moves from survivors, along random
/// directions in the live points' own shape, replace removed points. Points with equal f are
/// ordered by a hash of their coordinates, so plateaus, zeros included, do no harm.
///
/// # Error
/// The spread of ln Z over 100 simulated sequences of volumes. What correlated replacements add is
/// not in it.
///
/// # Reference
/// Skilling (2006); Neal (2003) for slices; Keeton (2011) for simulating the volumes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nested;

impl Baseline for Nested {
    fn name(&self) -> &'static str {
        "nested"
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        let smallest = (8 * run.dim()).max(32);
        passes(run, smallest, one_pass)
    }
}

/// Points in the order of their removal.
struct Dead {
    cloud: Cloud,
    /// How many were live when each was removed.
    live: Vec<usize>,
    /// ln X, at its mean, and ln of the sum so far.
    ln_x: f64,
    ln_z: f64,
}

impl Dead {
    fn remove(&mut self, cloud: &Cloud, i: usize, live: usize) -> Result<(), Halt> {
        self.cloud.extend(&cloud.select(&[i]))?;
        self.live.push(live);
        let ln_t = -1.0 / live as f64;
        self.ln_z = ln_add_exp(self.ln_z, self.ln_x + ln_1m_exp(ln_t) + cloud.ln_f[i]);
        self.ln_x += ln_t;
        Ok(())
    }

    /// ln weight of every point, dead then live, for a sequence of ln t.
    fn ln_weights(&self, live: usize, mut ln_t: impl FnMut(usize) -> f64) -> Vec<f64> {
        let mut ln_x = 0.0;
        let mut out: Vec<f64> = Vec::with_capacity(self.live.len() + live);
        for &n in &self.live {
            let ln_t = ln_t(n);
            out.push(ln_x + ln_1m_exp(ln_t));
            ln_x += ln_t;
        }
        out.extend(std::iter::repeat_n(ln_x - (live as f64).ln(), live));
        out
    }
}

fn one_pass(run: &mut Run<'_>, n: usize, rng: &mut Rng) -> Result<Option<Pass>, Halt> {
    let mut live = Cloud::draw(run, n, rng)?;
    let mut dead = Dead {
        cloud: live.select(&[]),
        live: Vec::new(),
        ln_x: 0.0,
        ln_z: f64::NEG_INFINITY,
    };
    loop {
        let order = sorted(&live);
        let (low, high) = (live.ln_f[order[0]], live.ln_f[order[n - 1]]);
        // On a plateau the rest of the integral is known but for its volume.
        if low == high || dead.ln_x + high < dead.ln_z + REST.ln() {
            break;
        }
        if !run.has_answer() && high > f64::NEG_INFINITY {
            run.know(not_there_yet(&dead, &live));
        }
        let (worst, rest) = order.split_at(n.div_ceil(AT_ONCE));
        for (k, &i) in worst.iter().enumerate() {
            dead.remove(&live, i, n - k)?;
        }
        let limit = key(&live, worst[worst.len() - 1]);
        let mut next = live.select(rest);
        let new = replace(run, &next, limit, worst.len(), rng)?;
        next.extend(&new)?;
        live = next;
    }
    if live.top() == f64::NEG_INFINITY {
        return Ok(None);
    }
    finish(run, dead, &live, rng).map(Some)
}

fn finish(run: &Run<'_>, dead: Dead, live: &Cloud, rng: &mut Rng) -> Result<Pass, Halt> {
    let mut all = dead.cloud.clone();
    all.extend(live)?;
    let terms = |ln_weights: Vec<f64>| -> Vec<f64> {
        ln_weights
            .iter()
            .zip(&all.ln_f)
            .map(|(w, f)| w + f)
            .collect()
    };
    let at_mean = terms(dead.ln_weights(live.len(), |n| -1.0 / n as f64));
    let simulated: Vec<f64> = (0..SIMULATIONS)
        .map(|_| {
            ln_sum_exp(&terms(
                dead.ln_weights(live.len(), |n| rng.uniform().ln() / n as f64),
            ))
        })
        .collect();
    let mean = simulated.iter().sum::<f64>() / SIMULATIONS as f64;
    let squares: f64 = simulated.iter().map(|z| (z - mean).powi(2)).sum();
    Ok(Pass {
        ln_z: ln_sum_exp(&at_mean),
        ln_sd: (squares / (SIMULATIONS - 1) as f64).sqrt(),
        samples: Samples {
            points: run.at_scores(&all.z)?,
            ln_weights: at_mean,
        },
    })
}

/// The range of Z: the live points add what they show at least, and at most as if all were at the
/// peak.
///
/// Where ln f = peak - c r^2 the live points fill a ball. From the lowest, at radius R, the peak is
/// c R^2 up, and ln f scatters by c R^2 times 2 sqrt(d / (d + 4)) / (d + 2). Twice that rise is
/// allowed for.
fn not_there_yet(dead: &Dead, live: &Cloud) -> Known {
    let d = live.z.dim() as f64;
    let positive = || live.ln_f.iter().copied().filter(|f| f.is_finite());
    let n = positive().count() as f64;
    let mean = positive().sum::<f64>() / n;
    let sd = (positive().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt();
    let rise = 2.0 * sd * 0.5 * (d + 2.0) * ((d + 4.0) / d).sqrt();
    let lowest = positive().fold(f64::INFINITY, f64::min);
    let high = ln_add_exp(dead.ln_z, dead.ln_x + live.top().max(lowest + rise));
    let average = ln_sum_exp(&live.ln_f) - (live.len() as f64).ln();
    // The live points' mean may be off by as much as their best is above it.
    let low = ln_add_exp(dead.ln_z, dead.ln_x + 2.0 * average - live.top());
    // The volume's logarithm is made of steps of 1/n, each with sd 1/n.
    let volume = 2.0 * (dead.live.len() as f64).sqrt() / live.len() as f64;
    Known::between(low - volume, high + volume)
}

/// ln f, and a hash of the point that orders equals.
type Key = (f64, u64);

fn key(cloud: &Cloud, i: usize) -> Key {
    (cloud.ln_f[i], label(cloud.z.row(i)))
}

fn label(z: &[f64]) -> u64 {
    z.iter().fold(0, |hash, z| mix(hash ^ z.to_bits()))
}

fn above(a: Key, b: Key) -> bool {
    a.0 > b.0 || a.0 == b.0 && a.1 > b.1
}

/// Indices from the lowest to the highest.
fn sorted(cloud: &Cloud) -> Vec<usize> {
    let keys: Vec<Key> = (0..cloud.len()).map(|i| key(cloud, i)).collect();
    let mut order: Vec<usize> = (0..cloud.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (keys[a], keys[b]);
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    order
}

/// A slice chain: its state, and the slice it is looking along.
struct Chain {
    z: Vec<f64>,
    ln_f: f64,
    moves: usize,
    direction: Vec<f64>,
    low: f64,
    high: f64,
    /// Of -|z|^2 / 2: the prior's own slice.
    height: f64,
    tries: usize,
}

impl Chain {
    /// A new slice through the present state: a bracket of the live points' width along a random
    /// direction, placed at random. A ball of unit covariance has radius sqrt(d + 2).
    fn aim(&mut self, shape: &Shape, rng: &mut Rng) {
        let mut xi = vec![0.0; self.z.len()];
        rng.fill_normal(&mut xi);
        let norm = squared(&xi).sqrt().max(f64::MIN_POSITIVE);
        xi.iter_mut().for_each(|x| *x /= norm);
        self.direction = shape.stretch(&xi);
        let width = 2.0 * (self.z.len() as f64 + 2.0).sqrt();
        self.low = -width * rng.uniform();
        self.high = self.low + width;
        self.height = -0.5 * squared(&self.z) + rng.uniform().ln();
        self.tries = 0;
    }

    /// A point of the bracket inside the prior's slice, which costs no evaluation, and where it is.
    fn propose(&mut self, run: &Run<'_>, rng: &mut Rng) -> Result<(f64, Vec<f64>), Halt> {
        loop {
            let at = self.low + (self.high - self.low) * rng.uniform();
            let point = self.z.iter().zip(&self.direction).map(|(z, e)| z + at * e);
            let point: Vec<f64> = point.collect();
            // At the state itself the bracket is empty and the point is in the slice.
            let in_slice = -0.5 * squared(&point) >= self.height && run.holds(&point)?;
            if in_slice || self.high - self.low < 1e-300 {
                return Ok((at, point));
            }
            self.shrink(at);
        }
    }

    fn shrink(&mut self, at: f64) {
        if at < 0.0 {
            self.low = at
        } else {
            self.high = at
        }
    }
}

/// So many new points above the limit, by slice moves from random survivors, all chains in step.
fn replace(
    run: &mut Run<'_>,
    survivors: &Cloud,
    limit: Key,
    count: usize,
    rng: &mut Rng,
) -> Result<Cloud, Halt> {
    let dim = run.dim();
    let shape = Shape::of(&survivors.z, &vec![0.0; survivors.len()]);
    let mut chains: Vec<Chain> = (0..count)
        .map(|_| {
            let i = rng.below(survivors.len());
            let mut chain = Chain {
                z: survivors.z.row(i).to_vec(),
                ln_f: survivors.ln_f[i],
                moves: moves(dim),
                direction: Vec::new(),
                low: 0.0,
                high: 0.0,
                height: 0.0,
                tries: 0,
            };
            chain.aim(&shape, rng);
            chain
        })
        .collect();
    loop {
        let busy: Vec<usize> = (0..count).filter(|&c| chains[c].moves > 0).collect();
        if busy.is_empty() {
            break;
        }
        let proposals = busy.iter().map(|&c| chains[c].propose(run, rng));
        let proposals = proposals.collect::<Result<Vec<(f64, Vec<f64>)>, Halt>>()?;
        let flat = proposals.iter().flat_map(|(_, z)| z.clone()).collect();
        let ln_f = run.ln_f(&Points::new(dim, flat)?)?;
        for ((&c, (at, z)), ln_f) in busy.iter().zip(proposals).zip(ln_f) {
            let chain = &mut chains[c];
            chain.tries += 1;
            let inside = above((ln_f, label(&z)), limit);
            if inside {
                (chain.z, chain.ln_f) = (z, ln_f);
            }
            if inside || chain.tries >= PATIENCE {
                chain.moves -= 1;
                chain.aim(&shape, rng);
            } else {
                chain.shrink(at);
            }
        }
    }
    let z = chains.iter().flat_map(|chain| chain.z.clone()).collect();
    Ok(Cloud {
        z: Points::new(dim, z)?,
        ln_f: chains.iter().map(|chain| chain.ln_f).collect(),
    })
}

/// Slice moves a replacement: a direction at a time, so a few for each dimension.
fn moves(dim: usize) -> usize {
    4 + 3 * dim
}

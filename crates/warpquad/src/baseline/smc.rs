//! Sequential Monte Carlo: temper a population from the prior to the posterior.

use super::Baseline;
use super::cloud::{Cloud, Shape, normalised};
use super::passes::{Pass, passes};
use super::qmc::mean_and_its_variance;
use super::run::{Halt, Known, Run, Samples};
use crate::numeric::random::Rng;
use crate::numeric::special::ln_sum_exp;
use crate::numeric::weights::{effective, systematic};

/// A stage ends where the effective number of particles has fallen to this part of all.
const EFFECTIVE: f64 = 0.5;

/// Tempered sequential Monte Carlo that keeps every state of its chains.
///
/// # Definition
/// pi_k is proportional to pi f^beta_k, 0 = beta_0 < ... < beta_T = 1. Each beta is as large as
/// leaves half of the particles effective. Z is the product of the stages' mean weights
/// f^(beta_k+1 - beta_k). From a population about 2 sqrt(n) ancestors are resampled. Each starts a
/// Metropolis chain, and all states of all chains are the next population.
///
/// # Error
/// The variance of ln Z is the sum over stages of the relative variance of the mean weight, from
/// the spread over chains, which knows their autocorrelation.
///
/// # Reference
/// Del Moral, Doucet and Jasra (2006); Dau and Chopin (2022) for keeping all states.
#[derive(Debug, Clone, Copy, Default)]
pub struct Smc;

impl Baseline for Smc {
    fn name(&self) -> &'static str {
        "smc"
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        passes(run, smallest(run.dim()), |run, n, rng| {
            let Some(tempered) = temper(run, n, rng)? else {
                return Ok(None);
            };
            let Tempered {
                cloud, ln_weights, ..
            } = tempered;
            let samples = Samples {
                points: run.at_scores(&cloud.z)?,
                ln_weights,
            };
            Ok(Some(Pass {
                ln_z: tempered.ln_z,
                ln_sd: tempered.var.sqrt(),
                samples,
            }))
        })
    }
}

/// The first pass: enough for a covariance, and for its chains to say how they scatter.
pub(super) fn smallest(dim: usize) -> usize {
    (16 * dim).max(64)
}

/// A population that has come to beta = 1.
pub(super) struct Tempered {
    pub cloud: Cloud,
    /// What turns the population of the stage before the last into the posterior.
    pub ln_weights: Vec<f64>,
    /// Chains: member i belongs to chain i % chains.
    pub chains: usize,
    pub ln_z: f64,
    pub var: f64,
}

/// One pass with n particles; `None` if f is 0 at all of them.
pub(super) fn temper(run: &mut Run<'_>, n: usize, rng: &mut Rng) -> Result<Option<Tempered>, Halt> {
    // At least two states a chain, or nothing would move.
    let chains = ((2.0 * (n as f64).sqrt()) as usize).min(n / 2).max(2);
    let length = n.div_ceil(chains);
    let mut cloud = Cloud::draw(run, chains * length, rng)?;
    if cloud.top() == f64::NEG_INFINITY {
        return Ok(None);
    }
    let (mut beta, mut ln_z, mut var) = (0.0, 0.0, 0.0);
    loop {
        let next = next_beta(&cloud.ln_f, beta);
        let ln_weights: Vec<f64> = cloud.ln_f.iter().map(|f| (next - beta) * f).collect();
        let mean = ln_sum_exp(&ln_weights) - (cloud.len() as f64).ln();
        ln_z += mean;
        var += variance_over_chains(&ln_weights, mean, chains);
        beta = next;
        if beta >= 1.0 {
            return Ok(Some(Tempered {
                cloud,
                ln_weights,
                chains,
                ln_z,
                var,
            }));
        }
        if !run.has_answer() {
            run.know(not_there_yet(ln_z, beta, &cloud, &ln_weights));
        }
        cloud = populate(run, &cloud, &ln_weights, beta, (chains, length), rng)?;
    }
}

/// A population at beta from a weighted one: resample, then keep all states of the chains.
pub(super) fn populate(
    run: &mut Run<'_>,
    from: &Cloud,
    ln_weights: &[f64],
    beta: f64,
    (chains, length): (usize, usize),
    rng: &mut Rng,
) -> Result<Cloud, Halt> {
    let shape = Shape::of(&from.z, ln_weights);
    let mut walkers = from.select(&systematic(&normalised(ln_weights), chains, rng.uniform()));
    let mut all = walkers.clone();
    for _ in 1..length {
        walkers.step(run, beta, &shape, rng)?;
        all.extend(&walkers)?;
    }
    Ok(all)
}

/// The next temperature: half of those members that are not at f = 0 stay effective, or 1.
fn next_beta(ln_f: &[f64], beta: f64) -> f64 {
    let positive: Vec<f64> = ln_f
        .iter()
        .copied()
        .filter(|f| *f > f64::NEG_INFINITY)
        .collect();
    let enough = EFFECTIVE * positive.len() as f64;
    largest_step(1.0 - beta, |step| {
        let ln_weights: Vec<f64> = positive.iter().map(|f| step * f).collect();
        effective(&ln_weights) >= enough
    })
    .map_or(1.0, |step| beta + step)
}

/// The largest step that is fine; `None` if all of `whole` is. It is found by bisection of its
/// logarithm, since a step may be 1e-6 where ln f spans a million nats.
pub(super) fn largest_step(whole: f64, fine: impl Fn(f64) -> bool) -> Option<f64> {
    if fine(whole) {
        return None;
    }
    let (mut low, mut high) = (whole.ln() - 50.0, whole.ln());
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        if fine(middle.exp()) {
            low = middle
        } else {
            high = middle
        }
    }
    Some(low.exp())
}

/// The variance of ln of the mean weight, from the means of the chains.
fn variance_over_chains(ln_weights: &[f64], ln_mean: f64, chains: usize) -> f64 {
    let length = (ln_weights.len() / chains) as f64;
    let mut means = vec![0.0; chains];
    for (i, w) in ln_weights.iter().enumerate() {
        means[i % chains] += (w - ln_mean).exp() / length;
    }
    mean_and_its_variance(&means).1
}

/// d ln Z(beta) / d beta is the mean of ln f at beta, and it grows. It is at least its present
/// value, and at most the largest ln f, which is taken to be the largest one seen.
pub(super) fn not_there_yet(ln_z: f64, beta: f64, cloud: &Cloud, ln_weights: &[f64]) -> Known {
    let weights = normalised(ln_weights);
    let parts = weights.iter().zip(&cloud.ln_f).filter(|(w, _)| **w > 0.0);
    let mean: f64 = parts.map(|(w, f)| w * f).sum();
    Known::between(
        ln_z + (1.0 - beta) * mean,
        ln_z + (1.0 - beta) * cloud.top(),
    )
}

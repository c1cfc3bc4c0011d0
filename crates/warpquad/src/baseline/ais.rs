//! Annealed importance sampling: independent weighted paths from the prior to the posterior.

use super::Baseline;
use super::cloud::{Cloud, Shape, normalised};
use super::passes::{Pass, passes};
use super::qmc::mean_and_its_variance;
use super::run::{Halt, Run, Samples};
use super::smc::{largest_step, not_there_yet, smallest};
use crate::numeric::random::Rng;
use crate::numeric::special::ln_sum_exp;

/// A step of the temperature may cost this part of the weighted paths' effective number.
const LOSS: f64 = 0.01;

/// Annealed importance sampling with adaptive temperatures.
///
/// # Definition
/// A path starts at a draw from pi. One Metropolis step moves it at each 0 < beta_1 < ... <
/// beta_T = 1. Its weight is the product of f(x)^(beta_k+1 - beta_k) along it, and Z is the mean
/// weight. The next beta is the largest that leaves 99 % of the conditional effective number of
/// paths.
///
/// # Error
/// The spread of the paths' weights. The temperatures and the shape of the moves come from the
/// paths themselves, which makes them slightly dependent.
///
/// # Reference
/// Neal (2001); Zhou, Johansen and Aston (2016) for the conditional effective number.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ais;

impl Baseline for Ais {
    fn name(&self) -> &'static str {
        "ais"
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        passes(run, smallest(run.dim()), one_pass)
    }
}

fn one_pass(run: &mut Run<'_>, n: usize, rng: &mut Rng) -> Result<Option<Pass>, Halt> {
    let all = Cloud::draw(run, n, rng)?;
    // A path that starts at f = 0 has weight 0 and need not be followed.
    let alive: Vec<usize> = (0..n)
        .filter(|&i| all.ln_f[i] > f64::NEG_INFINITY)
        .collect();
    if alive.is_empty() {
        return Ok(None);
    }
    let mut cloud = all.select(&alive);
    let mut ln_weights = vec![0.0; cloud.len()];
    let mut beta = 0.0;
    let ln_z = |ln_weights: &[f64]| ln_sum_exp(ln_weights) - (n as f64).ln();
    while beta < 1.0 {
        let next = next_beta(&cloud.ln_f, &ln_weights, beta);
        for (w, f) in ln_weights.iter_mut().zip(&cloud.ln_f) {
            *w += (next - beta) * f;
        }
        beta = next;
        if beta < 1.0 {
            if !run.has_answer() {
                run.know(not_there_yet(ln_z(&ln_weights), beta, &cloud, &ln_weights));
            }
            // Weights as they are would leave the shape to a few heavy paths, and freeze the rest.
            let halved: Vec<f64> = ln_weights.iter().map(|w| 0.5 * w).collect();
            let shape = Shape::of(&cloud.z, &halved);
            cloud.step(run, beta, &shape, rng)?;
        }
    }
    let ln_z = ln_z(&ln_weights);
    let mut relative: Vec<f64> = ln_weights.iter().map(|w| (w - ln_z).exp()).collect();
    relative.resize(n, 0.0);
    Ok(Some(Pass {
        ln_z,
        ln_sd: mean_and_its_variance(&relative).1.ln_1p().sqrt(),
        samples: Samples {
            points: run.at_scores(&cloud.z)?,
            ln_weights,
        },
    }))
}

/// The largest temperature at which (sum W v)^2 / sum W v^2 >= 1 - LOSS, with v = f^step and W the
/// paths' weights.
fn next_beta(ln_f: &[f64], ln_weights: &[f64], beta: f64) -> f64 {
    let weights = normalised(ln_weights);
    let top = ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let fine = |step: f64| {
        let (mut one, mut two) = (0.0, 0.0);
        for (w, f) in weights.iter().zip(ln_f) {
            let v = (step * (f - top)).exp();
            one += w * v;
            two += w * v * v;
        }
        one * one >= (1.0 - LOSS) * two && two > 0.0
    };
    largest_step(1.0 - beta, fine).map_or(1.0, |step| beta + step)
}

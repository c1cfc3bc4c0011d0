//! Bridge sampling: compare posterior draws with draws from a normal mixture fitted to them.

use super::Baseline;
use super::cloud::squared;
use super::passes::{Pass, passes};
use super::qmc::mean_and_its_variance;
use super::run::{Halt, Run, Samples};
use super::smc::{Tempered, populate, smallest, temper};
use crate::measure::Restricted;
use crate::numeric::mixture::Mixture;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_sum_exp};
use crate::points::Points;

/// The iteration contracts. So many rounds are never needed where draws and proposal overlap at
/// all.
const ROUNDS: usize = 1000;

/// Meng and Wong's optimal bridge in normal scores.
///
/// # Definition
/// With p(z) = N(z; 0, I) f / Z and the proposal g, Z is the fixed point of r = mean over g of l /
/// (s1 l + s2 r) / mean over p of 1 / (s1 l + s2 r). Here l = p Z / g, and s1 and s2 are the shares
/// of posterior draws and proposals. The draws come from a tempered population. The proposal is
/// fitted to every other chain and compared with the rest, so no draw is used twice.
///
/// # Error
/// The delta method on both means; that over p takes its variance from the spread over chains.
///
/// # Reference
/// Meng and Wong (1996); Fruehwirth-Schnatter (2004) for the error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bridge;

impl Baseline for Bridge {
    fn name(&self) -> &'static str {
        "bridge"
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        passes(run, 2 * smallest(run.dim()), one_pass)
    }
}

fn one_pass(run: &mut Run<'_>, n: usize, rng: &mut Rng) -> Result<Option<Pass>, Halt> {
    let Some(Tempered {
        cloud,
        ln_weights,
        chains,
        ..
    }) = temper(run, n, rng)?
    else {
        return Ok(None);
    };
    // Twice the length of a stage's chains: no later stage mends what these have not forgotten.
    let length = 2 * cloud.len() / chains;
    let posterior = populate(run, &cloud, &ln_weights, 1.0, (chains, length), rng)?;
    let of_chains = |odd: usize| -> Vec<usize> {
        (0..posterior.len())
            .filter(|i| i % chains % 2 == odd)
            .collect()
    };
    let learnt = posterior.z.select(&of_chains(1));
    let Some(proposal) = Mixture::fit(&learnt, &vec![0.0; learnt.len()], rng) else {
        return Ok(None);
    };
    let mine = posterior.select(&of_chains(0));
    let dim = run.dim();
    let drawn = (0..mine.len()).flat_map(|_| proposal.draw(rng)).collect();
    let drawn = Points::new(dim, drawn)?;
    let ln_f = run.ln_f(&drawn)?;
    let ln_mass = run.region().map_or(0.0, Restricted::ln_mass);
    let ln_ratios = |z: &Points, ln_f: &[f64]| -> Vec<f64> {
        let ln_g = proposal.ln_densities(z);
        let ln_phi = |z: &[f64]| -0.5 * (squared(z) + dim as f64 * std::f64::consts::TAU.ln());
        let ln_pi = |z: &[f64]| ln_phi(z) - ln_mass;
        let pairs = z.iter().zip(ln_f).zip(ln_g);
        pairs
            .map(|((z, ln_f), ln_g)| ln_pi(z) + ln_f - ln_g)
            .collect()
    };
    let at_posterior = ln_ratios(&mine.z, &mine.ln_f);
    let at_proposal = ln_ratios(&drawn, &ln_f);
    let (ln_z, ln_sd) = bridge(&at_posterior, &at_proposal, chains.div_ceil(2));
    if !ln_z.is_finite() {
        return Ok(None);
    }
    let ln_weights = vec![0.0; posterior.len()];
    let points = run.at_scores(&posterior.z)?;
    Ok(Some(Pass {
        ln_z,
        ln_sd,
        samples: Samples { points, ln_weights },
    }))
}

/// The fixed point and its sd, from ln l at the posterior draws (member i of chain i % chains) and
/// at the proposals.
fn bridge(at_posterior: &[f64], at_proposal: &[f64], chains: usize) -> (f64, f64) {
    let (n1, n2) = (at_posterior.len() as f64, at_proposal.len() as f64);
    let (ln_s1, ln_s2) = ((n1 / (n1 + n2)).ln(), (n2 / (n1 + n2)).ln());
    let bottom = |l: f64, r: f64| ln_add_exp(ln_s1 + l, ln_s2 + r);
    let over_g = |r: f64| -> Vec<f64> { at_proposal.iter().map(|&l| l - bottom(l, r)).collect() };
    let over_p = |r: f64| -> Vec<f64> { at_posterior.iter().map(|&l| -bottom(l, r)).collect() };
    // Start from importance sampling.
    let mut r = ln_sum_exp(at_proposal) - n2.ln();
    for _ in 0..ROUNDS {
        let next = ln_sum_exp(&over_g(r)) - n2.ln() - (ln_sum_exp(&over_p(r)) - n1.ln());
        let moved = (next - r).abs();
        r = next;
        // NaN, where the two do not overlap at all, ends it too.
        if moved.is_nan() || moved < 1e-10 {
            break;
        }
    }
    let in_chains = chain_means(&over_p(r), chains);
    let var = relative_variance(&over_g(r)) + relative_variance(&in_chains);
    (r, var.sqrt())
}

/// The variance of the mean of exp(ln) over the mean squared.
fn relative_variance(ln: &[f64]) -> f64 {
    let mean = ln_sum_exp(ln) - (ln.len() as f64).ln();
    let relative: Vec<f64> = ln.iter().map(|v| (v - mean).exp()).collect();
    mean_and_its_variance(&relative).1
}

fn chain_means(ln: &[f64], chains: usize) -> Vec<f64> {
    let mean = |c: usize| {
        let own: Vec<f64> = ln.iter().copied().skip(c).step_by(chains).collect();
        ln_sum_exp(&own) - (own.len() as f64).ln()
    };
    (0..chains).map(mean).collect()
}

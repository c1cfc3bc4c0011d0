//! Temper a population of absorbers from the prior to the posterior, moving one absorber at a time.

use super::guide::{Guide, Tempered};
use super::{Answer, Problem};
use crate::dla::prior::LOG_NHI;
use warpquad::Result;
use warpquad::measure::Univariate;
use warpquad::numeric::random::Rng;
use warpquad::numeric::special::ln_sum_exp;
use warpquad::numeric::weights::{normalised, systematic};

/// A temperature is as far from the last as leaves this part of the particles effective.
const EFFECTIVE: f64 = 0.6;
/// Moves a particle and absorber makes at each temperature.
const MOVES: usize = 6;
/// Of them, the part that the guide proposes; the others are steps.
const GUIDED: f64 = 0.3;
/// Steps are a tenth to the power of this many at most, in units of the prior's width. Scales are
/// drawn anew each time, as no one scale fits.
const DECADES: f64 = 4.0;

#[derive(Debug, Clone)]
struct Particle {
    x: Vec<f64>,
    ln_f: f64,
}

/// ln Z by tempering: the mean of Z over `runs` independent populations, with the error from their
/// spread.
pub fn temper(problem: &Problem<'_>, particles: usize, runs: usize, rng: &Rng) -> Result<Answer> {
    let before = problem.evaluations.get();
    let guide = Guide::new(problem)?;
    let run = |i: usize| one(problem, &guide, particles, &mut rng.child(i as u64));
    let found: Vec<f64> = (0..runs).map(run).collect::<Result<_>>()?;
    let n = found.len() as f64;
    let ln_z = ln_sum_exp(&found) - n.ln();
    let mean = found.iter().sum::<f64>() / n;
    let squares: f64 = found.iter().map(|z| (z - mean).powi(2)).sum();
    Ok(Answer {
        ln_z,
        ln_sd: (squares / (n - 1.0).max(1.0) / n).sqrt(),
        evaluations: problem.evaluations.get() - before,
    })
}

fn one(problem: &Problem<'_>, guide: &Guide, n: usize, rng: &mut Rng) -> Result<f64> {
    let mut particles = Vec::with_capacity(n);
    for _ in 0..n {
        let x = problem.draw(rng);
        let ln_f = problem.ln_f(&x)?;
        particles.push(Particle { x, ln_f });
    }
    let (mut beta, mut ln_z) = (0.0, 0.0);
    loop {
        let step = largest_step(&particles, 1.0 - beta);
        let ln_weights: Vec<f64> = particles.iter().map(|p| step * p.ln_f).collect();
        ln_z += ln_sum_exp(&ln_weights) - (n as f64).ln();
        beta += step;
        if beta >= 1.0 {
            return Ok(ln_z);
        }
        particles = resampled(&particles, &ln_weights, rng);
        let tempered = guide.at(beta);
        for particle in &mut particles {
            for _ in 0..MOVES * problem.absorbers {
                advance(problem, particle, beta, &tempered, rng)?;
            }
        }
    }
}

/// The largest step in beta that leaves enough particles effective.
fn largest_step(particles: &[Particle], left: f64) -> f64 {
    let enough = EFFECTIVE * particles.len() as f64;
    let effective = |step: f64| {
        let once: Vec<f64> = particles.iter().map(|p| step * p.ln_f).collect();
        let twice: Vec<f64> = once.iter().map(|w| 2.0 * w).collect();
        (2.0 * ln_sum_exp(&once) - ln_sum_exp(&twice)).exp()
    };
    if effective(left) >= enough {
        return left;
    }
    // In logs, as the first steps are of the order of 1e-5.
    let (mut low, mut high) = (left.ln() - 30.0, left.ln());
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        match effective(middle.exp()) >= enough {
            true => low = middle,
            false => high = middle,
        }
    }
    low.exp()
}

fn resampled(particles: &[Particle], ln_weights: &[f64], rng: &mut Rng) -> Vec<Particle> {
    // Without any weight nobody is preferred.
    let Some(weights) = normalised(ln_weights) else {
        return particles.to_vec();
    };
    let picks = systematic(&weights, particles.len(), rng.uniform());
    picks.iter().map(|&i| particles[i].clone()).collect()
}

/// One Metropolis move of one absorber.
fn advance(
    problem: &Problem<'_>,
    particle: &mut Particle,
    beta: f64,
    guide: &Tempered,
    rng: &mut Rng,
) -> Result<()> {
    let at = 2 * rng.below(problem.absorbers);
    let old = [particle.x[at], particle.x[at + 1]];
    let (new, ln_ratio) = if rng.uniform() < GUIDED {
        let (new, ln_density) = guide.draw(problem, rng);
        (new, guide.ln_density(problem, old) - ln_density)
    } else {
        let new = stepped(problem, old, rng);
        let ln_prior = |x: [f64; 2]| problem.column.ln_density(x[1]);
        (new, ln_prior(new) - ln_prior(old))
    };
    particle.x[at..at + 2].copy_from_slice(&new);
    let ln_f = problem.ln_f(&particle.x)?;
    if rng.uniform().ln() < ln_ratio + beta * (ln_f - particle.ln_f) {
        particle.ln_f = ln_f;
    } else {
        particle.x[at..at + 2].copy_from_slice(&old);
    }
    Ok(())
}

/// A step of redshift, column density or both, reflected at the ends.
fn stepped(problem: &Problem<'_>, x: [f64; 2], rng: &mut Rng) -> [f64; 2] {
    let which = rng.below(3);
    let ends = [problem.likelihood.z_range(), LOG_NHI];
    std::array::from_fn(|d| {
        let (lo, hi) = ends[d];
        let size = 10_f64.powf(-DECADES * rng.uniform()) * (hi - lo);
        match which == d {
            true => x[d],
            false => reflected(x[d] + size * rng.normal(), lo, hi),
        }
    })
}

fn reflected(x: f64, lo: f64, hi: f64) -> f64 {
    let width = hi - lo;
    let t = (x - lo).rem_euclid(2.0 * width);
    lo + if t > width { 2.0 * width - t } else { t }
}

//! Compute the log evidence of absorbers so well that methods can be judged by it: twice, by
//! methods that share only the likelihood.
//!
//! One absorber is an integral over a rectangle, where adaptive cubature is good to many digits;
//! tempering checks it. For three, tempering with moves of one absorber at a time is checked by
//! nested sampling along slices.

mod cubature;
mod guide;
mod known;
mod nested;
mod temper;

pub use cubature::cubature;
pub use guide::Guide;
pub use known::{ABSORBERS, EXPERIMENT, QUICK, cells, known, read};
pub use nested::nested;
pub use temper::temper;

use super::likelihood::{Likelihood, Workspace};
use super::prior::{FITTED_WEIGHT, LogNhi};
use std::cell::{Cell, RefCell};
use warpquad::Result;
use warpquad::measure::Univariate;
use warpquad::numeric::random::Rng;

/// What one method says of ln Z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// ln Z.
    pub ln_z: f64,
    /// Its standard error.
    pub ln_sd: f64,
    /// Likelihoods computed.
    pub evaluations: usize,
}

/// Two answers to one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// The one to use: cubature for one absorber, tempering for three.
    pub first: Answer,
    /// The check: tempering for one absorber, nested sampling for three.
    pub second: Answer,
    /// The largest log likelihood met on the way.
    pub ln_peak: f64,
}

/// How hard to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Cubature may take so many likelihoods.
    pub evaluations: usize,
    /// Particles of a tempering run.
    pub particles: usize,
    /// Independent tempering runs, for the error.
    pub runs: usize,
    /// Live points of nested sampling.
    pub live: usize,
}

impl Effort {
    /// Of the committed table.
    pub const FULL: Effort = Effort {
        evaluations: 400_000,
        particles: 800,
        runs: 3,
        live: 150,
    };
    /// For tests and quick looks.
    pub const QUICK: Effort = Effort {
        evaluations: 60_000,
        particles: 300,
        runs: 2,
        live: 40,
    };
}

/// The evidence of so many absorbers in a spectrum, by two methods.
pub fn truth(
    likelihood: &Likelihood,
    absorbers: usize,
    effort: Effort,
    seed: u64,
) -> Result<Truth> {
    let problem = Problem::new(likelihood, absorbers)?;
    let rng = Rng::new(seed);
    let tempered =
        |problem: &Problem<'_>| temper(problem, effort.particles, effort.runs, &rng.child(1));
    let (first, second) = match absorbers {
        1 => (cubature(&problem, effort.evaluations)?, tempered(&problem)?),
        _ => (
            tempered(&problem)?,
            nested(&problem, effort.live, &mut rng.child(2))?,
        ),
    };
    Ok(Truth {
        first,
        second,
        ln_peak: problem.peak.get(),
    })
}

/// The evidence of one absorber by cubature alone, with nothing for a check.
pub fn unchecked(
    likelihood: &Likelihood,
    absorbers: usize,
    effort: Effort,
    _: u64,
) -> Result<Truth> {
    let problem = Problem::new(likelihood, absorbers)?;
    let first = cubature(&problem, effort.evaluations)?;
    let none = Answer {
        ln_z: f64::NAN,
        ln_sd: f64::NAN,
        evaluations: 0,
    };
    Ok(Truth {
        first,
        second: none,
        ln_peak: problem.peak.get(),
    })
}

/// The integrand, with its prior and a count of its evaluations.
#[derive(Debug)]
pub struct Problem<'a> {
    likelihood: &'a Likelihood,
    column: LogNhi,
    absorbers: usize,
    work: RefCell<Workspace>,
    evaluations: Cell<usize>,
    peak: Cell<f64>,
}

impl<'a> Problem<'a> {
    /// So many absorbers in a spectrum.
    pub fn new(likelihood: &'a Likelihood, absorbers: usize) -> Result<Problem<'a>> {
        Ok(Problem {
            likelihood,
            column: LogNhi::new(FITTED_WEIGHT)?,
            absorbers,
            work: RefCell::new(Workspace::default()),
            evaluations: Cell::new(0),
            peak: Cell::new(f64::NEG_INFINITY),
        })
    }

    /// The log likelihood.
    fn ln_f(&self, x: &[f64]) -> Result<f64> {
        self.evaluations.set(self.evaluations.get() + 1);
        let ln_f = self.likelihood.ln_at(x, &mut self.work.borrow_mut())?;
        if x.len() == self.dim() {
            self.peak.set(self.peak.get().max(ln_f));
        }
        Ok(ln_f)
    }

    /// The number of parameters.
    fn dim(&self) -> usize {
        2 * self.absorbers
    }

    /// Coordinate d from the unit interval, so that uniform numbers become draws from the prior.
    fn coordinate(&self, d: usize, u: f64) -> f64 {
        let (lo, hi) = self.likelihood.z_range();
        match d % 2 {
            0 => lo + u * (hi - lo),
            _ => self.column.quantile(u.clamp(1e-15, 1.0 - 1e-15)),
        }
    }

    /// The inverse of [`Problem::coordinate`].
    fn unit(&self, d: usize, x: f64) -> f64 {
        let (lo, hi) = self.likelihood.z_range();
        match d % 2 {
            0 => (x - lo) / (hi - lo),
            _ => self.column.cdf(x),
        }
    }

    /// A draw from the prior.
    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let coordinates = (0..self.dim()).map(|d| self.coordinate(d, rng.uniform()));
        coordinates.collect()
    }
}

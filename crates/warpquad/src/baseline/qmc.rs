//! Quasi-Monte Carlo: scrambled Sobol' points through the quantile map, in independent replicates.

use super::Baseline;
use super::run::{Halt, Known, Run};
use crate::data::Value;
use crate::error::{Error, Step};
use crate::numeric::sobol::{MAX_DIM, Sobol};
use crate::points::Points;

/// Independent scrambles: their spread, with 15 degrees of freedom, is known to 18 %.
const REPLICATES: usize = 16;

/// The average over scrambled Sobol' points.
///
/// # Definition
/// Z_r = (1/n) sum f(Q(u_ri)) with u_r the r-th scramble. Z is the average of 16 of them and its
/// variance their spread over 16. A point of each scramble is evaluated at a time.
///
/// # Reference
/// Owen (1997) for the randomisation and its error.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuasiMonteCarlo;

impl Baseline for QuasiMonteCarlo {
    fn name(&self) -> &'static str {
        "qmc"
    }

    fn takes_any_sign(&self) -> bool {
        true
    }

    fn takes_particles(&self) -> bool {
        false
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        let dim = run.dim();
        let sequence = |r| Sobol::scrambled(dim, run.rng(r).next_u64());
        let sequences: Option<Vec<Sobol>> = (0..REPLICATES as u64).map(sequence).collect();
        let mut sequences = sequences.ok_or_else(|| {
            let what = format!("Sobol' points reach {MAX_DIM} dimensions, not {dim}; use mc");
            Error::numerics(Step::Integrate, what)
        })?;
        let mut sums = vec![Average::default(); REPLICATES];
        loop {
            let mut x = Points::empty(dim)?;
            for sequence in &mut sequences {
                x.push(&run.next_of_cube(|u| sequence.next_into(u)))?;
            }
            for (sum, value) in sums.iter_mut().zip(run.values(&x)?) {
                sum.add(value);
            }
            if let Some(known) = of_replicates(&sums) {
                run.know(known);
            }
        }
    }
}

/// The mean of the replicates' means, and its variance from their spread.
fn of_replicates(sums: &[Average]) -> Option<Known> {
    let ln_unit = sums
        .iter()
        .map(|sum| sum.ln_unit)
        .fold(f64::NEG_INFINITY, f64::max);
    if ln_unit == f64::NEG_INFINITY {
        return None;
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum.mean_in(ln_unit)).collect();
    let (mean, var) = mean_and_its_variance(&means);
    let effective = sums.iter().map(Average::effective).sum();
    Some(Known::average(ln_unit, mean, var, effective))
}

/// The mean of independent numbers and the variance of that mean.
pub(super) fn mean_and_its_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, squares / (n * (n - 1.0)))
}

/// Running sums of f and f^2 in units of the largest |f| so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Average {
    n: usize,
    /// ln of the unit; 0 units before the first value that is not 0.
    pub ln_unit: f64,
    sum: f64,
    squares: f64,
}

impl Average {
    pub fn add(&mut self, value: Value) {
        let ln = value.ln_abs();
        let sign = match value {
            Value::Linear(f) => f.signum(),
            Value::Log(_) => 1.0,
        };
        if self.n == 0 {
            self.ln_unit = f64::NEG_INFINITY;
        }
        self.n += 1;
        if ln > self.ln_unit {
            let ratio = (self.ln_unit - ln).exp();
            self.sum *= ratio;
            self.squares *= ratio * ratio;
            self.ln_unit = ln;
        }
        if ln > f64::NEG_INFINITY {
            let part = sign * (ln - self.ln_unit).exp();
            self.sum += part;
            self.squares += part * part;
        }
    }

    /// The mean, in units of exp(ln_unit).
    fn mean_in(&self, ln_unit: f64) -> f64 {
        if self.ln_unit == f64::NEG_INFINITY {
            return 0.0;
        }
        (self.ln_unit - ln_unit).exp() * self.sum / self.n as f64
    }

    /// The mean of independent draws and its variance, in the own unit; `None` while every f is 0.
    pub fn of_draws(&self) -> Option<(f64, f64)> {
        if self.ln_unit == f64::NEG_INFINITY || self.n < 2 {
            return None;
        }
        let n = self.n as f64;
        let mean = self.sum / n;
        let spread = (self.squares / n - mean * mean).max(0.0);
        Some((mean, spread / (n - 1.0)))
    }

    /// (sum |f|)^2 / sum f^2 for a positive f; for a signed one it counts what does not cancel.
    pub fn effective(&self) -> f64 {
        if self.squares == 0.0 {
            return 0.0;
        }
        self.sum * self.sum / self.squares
    }
}

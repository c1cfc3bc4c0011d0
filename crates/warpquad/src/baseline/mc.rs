//! Plain Monte Carlo: the average of f over draws from the measure.

use super::run::{Halt, Known, Run};
use super::{Baseline, qmc::Average};
use crate::points::Points;

/// Draws a batch: enough to keep workers busy, few enough to follow a small budget.
const BATCH: usize = 16;

/// The average over independent draws.
///
/// # Definition
/// Z = (1/n) sum f(x_i), x_i from pi; its variance is that of the values over n.
///
/// # Numerics
/// Values are summed in units of the largest. Where few points carry Z the error estimate misses
/// what the draws missed; `effective` says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct MonteCarlo;

impl Baseline for MonteCarlo {
    fn name(&self) -> &'static str {
        "mc"
    }

    fn takes_any_sign(&self) -> bool {
        true
    }

    fn takes_particles(&self) -> bool {
        false
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        let mut rng = run.rng(0);
        let mut sum = Average::default();
        loop {
            let mut x = Points::empty(run.dim())?;
            for _ in 0..BATCH {
                let draw = |u: &mut [f64]| u.iter_mut().for_each(|u| *u = rng.uniform());
                x.push(&run.next_of_cube(draw))?;
            }
            for value in run.values(&x)? {
                sum.add(value);
            }
            if let Some((mean, var)) = sum.of_draws() {
                run.know(Known::average(sum.ln_unit, mean, var, sum.effective()));
            }
        }
    }
}

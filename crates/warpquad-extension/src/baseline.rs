//! A baseline of one's own: the average over midpoints of equal cells, in one dimension.

use warpquad::Points;
use warpquad::baseline::{Baseline, Halt, Known, Run};

/// Cells, and so points of a batch.
const CELLS: usize = 64;

/// The midpoint rule on the quantiles of the prior, over and over with twice as many cells.
#[derive(Debug, Clone, Copy)]
pub struct Midpoints;

impl Baseline for Midpoints {
    fn name(&self) -> &'static str {
        "midpoints"
    }

    fn integrate(&self, run: &mut Run<'_>) -> Result<(), Halt> {
        let (mut cells, mut before) = (CELLS, None);
        loop {
            let middles = (0..cells).map(|i| (i as f64 + 0.5) / cells as f64);
            let x = run.at_cube(&Points::new(1, middles.collect())?)?;
            let values = run.values(&x)?;
            let ln_top = values.iter().map(|v| v.ln_abs()).fold(f64::MIN, f64::max);
            let terms = values.iter().map(|v| (v.ln_abs() - ln_top).exp());
            let mean = terms.sum::<f64>() / cells as f64;
            // What twice as many cells changed bounds what they leave.
            let gap = before.map_or(mean, |before: f64| before - mean);
            run.know(Known::average(ln_top, mean, gap * gap, cells as f64));
            (cells, before) = (2 * cells, Some(mean));
        }
    }
}

//! An acquisition of one's own: the candidate farthest from every point that is taken.

use warpquad::acquisition::{Acquisition, Context};
use warpquad::functional::Nodes;
use warpquad::{Error, Result};

/// Look where nobody has looked.
#[derive(Debug, Clone, Copy)]
pub struct Farthest;

impl Acquisition for Farthest {
    fn name(&self) -> &'static str {
        "farthest"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let scale = at.measure.scale();
        let nearest = |x: &[f64]| {
            let to = |y: &[f64]| -> f64 {
                let apart = x.iter().zip(y).zip(&scale);
                apart.map(|((x, y), s)| ((x - y) / s).powi(2)).sum()
            };
            at.taken.iter().map(to).fold(f64::INFINITY, f64::min)
        };
        let candidates = Nodes::sobol(at.measure, 256, at.seed)?.points;
        let best = candidates
            .iter()
            .max_by(|a, b| nearest(a).total_cmp(&nearest(b)));
        let best = best.ok_or_else(|| Error::spec("prior", "has no points to choose from"))?;
        Ok(best.to_vec())
    }
}

//! Draw functions from the model itself: a Gaussian process pushed through Phi.

use super::grids::Sample;
use warpquad::error::Step;
use warpquad::kernel::Matern32;
use warpquad::numeric::linalg::Cholesky;
use warpquad::numeric::random::Rng;
use warpquad::numeric::special::normal_cdf;
use warpquad::{Belief, Error, Points, Process, Result, Theta};

/// Points of a draw, as in the paper.
const POINTS: usize = 200;
/// The output scale. Among 200 points the extremes of a normal sample are near 2.7 sd, and "samples
/// range roughly from -5 to 5" makes that an sd of 1.85. The draws' points are correlated, so 2.
const OUTPUT_SCALE: f64 = 4.0;
/// The length scale on the unit square, which the paper does not give. With it an ordinary process
/// has the paper's RMSE of 0.28 and nearly its MLL of -0.11.
pub const LENGTH_SCALE: f64 = 0.125;
/// The share of points to train on.
pub const TRAIN: f64 = 0.2;

/// One draw at uniform points of the unit square.
pub fn draw(rng: &mut Rng, length_scale: f64) -> Result<Sample> {
    let mut x = Points::empty(2)?;
    for _ in 0..POINTS {
        x.push(&[rng.uniform(), rng.uniform()])?;
    }
    let theta = Theta::constant(0.0, OUTPUT_SCALE, vec![length_scale; 2])?;
    let sigma = Process::new(Matern32, theta).cov_lower(&x)?;
    let factor = Cholesky::new(sigma)
        .ok_or_else(|| Error::numerics(Step::Observe, "two drawn points coincide"))?;
    let mut z = vec![0.0; POINTS];
    rng.fill_normal(&mut z);
    let lower = factor.lower();
    let g = |i: usize| (0..=i).map(|j| lower[(i, j)] * z[j]).sum::<f64>();
    let f = (0..POINTS).map(|i| normal_cdf(g(i))).collect();
    Ok(Sample {
        x,
        f,
        scales: vec![1.0; 2],
    })
}

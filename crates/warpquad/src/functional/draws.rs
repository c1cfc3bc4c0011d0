//! Draw g jointly at a few nodes, with a mirror image of every draw.

use crate::belief::{Belief, PosteriorProcess, not_positive_definite};
use crate::error::Result;
use crate::numeric::linalg::{self, Cholesky, Mat, dot};
use crate::numeric::random::Rng;
use crate::numeric::vmath;
use crate::points::Points;
use crate::warp::Warp;

/// ln of the sum of exp(ln_weight) xi(g), for a positive xi.
pub(crate) fn ln_weighted_sum(warp: &dyn Warp, ln_weights: &[f64], g: &[f64]) -> f64 {
    let (mut ln_units, mut values) = (g.to_vec(), vec![0.0; g.len()]);
    warp.locals(&mut ln_units, &mut values);
    ln_units
        .iter_mut()
        .zip(ln_weights)
        .for_each(|(u, w)| *u += w);
    let top = ln_units.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ln_units.iter_mut().for_each(|u| *u -= top);
    vmath::exp(&mut ln_units);
    top + dot(&ln_units, &values).ln()
}

/// Factor Sigma_D with as little added to its diagonal as makes it positive definite; say how
/// much.
///
/// Sigma_D is a difference of numbers of the prior's size, so its rounding, not its own size, is
/// what the diagonal has to outweigh; the solves behind it can magnify that rounding by the
/// condition of the data's matrix. What is added widens the law a little, and never narrows it.
fn factor_for_draws(sigma: &Mat, output_scale: f64) -> Option<(Cholesky, f64)> {
    let n = sigma.rows();
    let rounding = n as f64 * f64::EPSILON * output_scale;
    (0..9).find_map(|power| {
        let added = rounding * 10.0_f64.powi(power);
        let mut widened = sigma.clone();
        for i in 0..n {
            widened[(i, i)] += added;
        }
        Some((Cholesky::new(widened)?, added))
    })
}

/// Joint draws of g at points with these means, a column a draw, and the variance added to each.
fn draw(
    posterior: &PosteriorProcess,
    points: &Points,
    mu: &[f64],
    draws: usize,
    rng: &mut Rng,
) -> Result<(Mat, f64)> {
    let sigma = posterior.cov_lower(points)?;
    let scale = posterior.process().theta().output_scale;
    let (factor, added) = factor_for_draws(&sigma, scale).ok_or_else(not_positive_definite)?;
    let n = mu.len();
    let lower = Mat::from_fn(
        n,
        n,
        |i, j| if i >= j { factor.lower()[(i, j)] } else { 0.0 },
    );
    let mut z = Mat::zeros(n, draws);
    for k in 0..draws {
        rng.fill_normal(z.col_mut(k));
    }
    let mut g = linalg::mul(&lower, &z);
    for k in 0..draws {
        for (g, mu) in g.col_mut(k).iter_mut().zip(mu) {
            *g += mu;
        }
    }
    Ok((g, added))
}

/// Joint draws of g.
pub(crate) struct Mirrored {
    /// Each is followed by its mirror image about the mean.
    pub draws: Vec<Vec<f64>>,
    /// The variance that rounding added to each g, on its own.
    pub added: f64,
}

/// `count` joint draws of g, or one more, in mirrored pairs.
///
/// Where Z is linear in what is not known of g, the median of such draws is that of the surface,
/// with no error of sampling.
pub(crate) fn mirrored(
    posterior: &PosteriorProcess,
    points: &Points,
    mu: &[f64],
    count: usize,
    rng: &mut Rng,
) -> Result<Mirrored> {
    let (drawn, added) = draw(posterior, points, mu, count.div_ceil(2), rng)?;
    let mut draws = Vec::with_capacity(2 * drawn.cols());
    for k in 0..drawn.cols() {
        let g = drawn.col(k);
        let mirror = mu.iter().zip(g).map(|(mu, g)| 2.0 * mu - g).collect();
        draws.push(g.to_vec());
        draws.push(mirror);
    }
    Ok(Mirrored { draws, added })
}

/// The same numbers, so many times as far from their median.
pub(crate) fn widen(draws: &mut [f64], times: f64) {
    if times == 1.0 {
        return;
    }
    let middle = median(draws);
    draws
        .iter_mut()
        .for_each(|z| *z = middle + times * (*z - middle));
}

/// The median; 0 without numbers.
pub(crate) fn median(draws: &[f64]) -> f64 {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match (sorted.len(), sorted.len() % 2) {
        (0, _) => 0.0,
        (_, 0) => 0.5 * (sorted[half - 1] + sorted[half]),
        _ => sorted[half],
    }
}

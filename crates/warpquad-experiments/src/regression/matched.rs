//! Predict f from the matched prior, conditioned on f itself.
//!
//! This is the process whose likelihood a fit in f-space maximises. The framework does not predict
//! with it: it conditions g, and matches moments afterwards.

use super::grids::Sample;
use super::model::{Score, judge};
use warpquad::belief::MeanFunction;
use warpquad::error::Step;
use warpquad::numeric::linalg::{Cholesky, Mat};
use warpquad::warp::{Affine, Marginal, Warp};
use warpquad::{Data, Error, Points, Process, Result};

/// Jitters that are tried, relative to the diagonal.
const JITTERS: [f64; 5] = [0.0, 1e-14, 1e-12, 1e-10, 1e-8];

/// The score of these predictions.
pub fn score(process: &Process, warp: &Affine, data: &Data, test: &Sample) -> Result<Score> {
    let theta = process.theta();
    let MeanFunction::Constant(mu) = theta.mean else {
        return Err(Error::spec("mean", "is constant here"));
    };
    let s = theta.output_scale + theta.noise;
    let at = Marginal { mu, s };
    let mean = warp.mean(at);
    let mut features = vec![0.0; warp.feature_count()];
    warp.features(at, &mut features);
    let k = |c: f64| warp.cov(&features, &features, c);
    let (unit, own, n) = (mean.ln_unit.exp(), k(s), data.points().len());
    let among = process.sigma(data.points(), data.points())?;
    let matrix = |jitter: f64| {
        Mat::from_fn(n, n, |i, j| match i == j {
            true => own * (1.0 + jitter),
            false => k(among[(i, j)]),
        })
    };
    let factored = JITTERS
        .iter()
        .find_map(|&j| Some((Cholesky::new(matrix(j))?, j)));
    let (factor, jitter) =
        factored.ok_or_else(|| Error::numerics(Step::Match, "the matched prior is singular"))?;
    let f = data.values().iter().map(|value| value.ln_abs().exp());
    let mut weights: Vec<f64> = f.map(|f| (f - warp.offset()) / unit - mean.value).collect();
    factor.solve_vec(&mut weights);
    let mut normal = Vec::new();
    for x in test.x.iter() {
        let x = Points::from_rows(&[x.to_vec()])?;
        let cross = process.sigma(data.points(), &x)?;
        let mut cross: Vec<f64> = cross.col(0).iter().map(|c| k(*c)).collect();
        let there = mean.value + dot(&cross, &weights);
        factor.solve_lower_vec(&mut cross);
        let var = (own - dot(&cross, &cross)).max(f64::EPSILON * own);
        normal.push((warp.offset() + unit * there, unit * var.sqrt()));
    }
    judge(&normal, data, test, jitter)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regression::model::Model;
    use warpquad::fit::Space;

    /// Without a warp both are one: a process conditioned on what it models.
    #[test]
    fn without_a_warp_it_is_the_framework_s_prediction() {
        let rows: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i) / 11.0]).collect();
        let sample = |rows: &[Vec<f64>]| Sample {
            x: Points::from_rows(rows).unwrap(),
            f: rows.iter().map(|x| 2.0 + (7.0 * x[0]).sin()).collect(),
            scales: vec![1.0],
        };
        let (train, test) = (sample(&rows), sample(&[vec![0.33], vec![0.77]]));
        let model = Model {
            warp: "identity",
            space: Space::F,
            noisy: false,
            confined: true,
        };
        let (data, warp, process) = model.fit(&train).unwrap();
        let ours = score(&process, &warp, &data, &test).unwrap();
        let theirs = model.score(&train, &test).unwrap();
        assert!((ours.rmse - theirs.rmse).abs() < 1e-9 * theirs.rmse);
        assert!((ours.mll - theirs.mll).abs() < 1e-6);
    }
}

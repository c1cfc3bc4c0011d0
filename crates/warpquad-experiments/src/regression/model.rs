//! Fit one model to a training set and score it on a test set.

use super::grids::Sample;
use std::collections::HashSet;
use std::f64::consts::TAU;
use warpquad::fit::{Fit, Objective, Parameters, Space, fit};
use warpquad::kernel::Matern32;
use warpquad::warp::{Affine, Identity, Marginal, Warp, by_name};
use warpquad::{Data, Error, PosteriorProcess, Process, Result, Theta, Value};

/// A row of Table 2: a warp and the space it is fitted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The warp's name in the library.
    pub warp: &'static str,
    /// Where theta is fitted; for the identity both are one.
    pub space: Space,
    /// Whether a noise variance on g is fitted; the paper's data are taken as exact.
    pub noisy: bool,
    /// Whether a fit in f-space stays within the warp's limits.
    pub confined: bool,
}

/// How good the predictions are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Root mean squared error of the predictive mean of f.
    pub rmse: f64,
    /// Mean ln density of the test values under the matched belief.
    pub mll: f64,
    /// The same without test points that were trained on.
    pub mll_new: f64,
    /// The jitter that conditioning needed.
    pub jitter: f64,
}

impl Model {
    /// Fit to `train` and score on `test`.
    pub fn score(&self, train: &Sample, test: &Sample) -> Result<Score> {
        let (data, warp, process) = self.fit(train)?;
        score_of(&process, &warp, &data, test)
    }

    /// ln likelihood of the training data under the matched prior: what a fit in f-space maximises.
    pub fn ln_likelihood(&self, train: &Sample) -> Result<f64> {
        let (data, warp, process) = self.fit(train)?;
        criterion(&process, &warp, &data, Space::F)
    }

    pub(super) fn fit(&self, train: &Sample) -> Result<(Data, Affine, Process)> {
        let data = self.data(train)?;
        let warp = data.warp_shared(by_name(self.warp)?)?;
        let g = data.g(&warp)?;
        let mu = g.iter().sum::<f64>() / g.len() as f64;
        let s = g.iter().map(|g| (g - mu).powi(2)).sum::<f64>() / g.len() as f64;
        // A third start beside the library's short and long ones: a quarter of the typical lengths.
        let start = Theta::constant(
            mu,
            s.max(f64::MIN_POSITIVE),
            train.scales.iter().map(|w| 0.25 * w).collect(),
        )?;
        let how = Fit {
            space: self.space,
            fit_noise: self.noisy,
            confined: self.confined,
            scales: Some(train.scales.clone()),
            ..Fit::default()
        };
        let process = fit(&Process::new(Matern32, start), &warp, &data, &how)?;
        Ok((data, warp, process))
    }

    /// Exact data cannot hold two values at one point: the first is trained on.
    fn data(&self, train: &Sample) -> Result<Data> {
        let mut seen = HashSet::new();
        let first: Vec<usize> = (0..train.f.len())
            .filter(|&i| self.noisy || seen.insert(key(train.x.row(i))))
            .collect();
        let train = train.select(&first);
        let values = train.f.into_iter().map(Value::Linear).collect();
        Data::noisy(train.x, values)
    }
}

/// What a fit in that space maximises, at a fitted process; in g-space too it is of f where `space`
/// says so.
pub(super) fn criterion(
    process: &Process,
    warp: &Affine,
    data: &Data,
    space: Space,
) -> Result<f64> {
    let g = data.g(warp)?;
    let how = Fit {
        fit_noise: process.theta().noise > 0.0,
        ..Fit::default()
    };
    let parameters = Parameters::new(process, data.points(), &g, warp, &how)?;
    let identity: &dyn Warp = &Identity;
    let of = if space == Space::G { identity } else { warp };
    let objective = Objective::new(process.kernel().clone(), of, data.points(), &g, &parameters);
    let at = parameters.vector(process.theta());
    let mut objective = objective.with_space(space);
    Ok(-objective.evaluate(&at, &mut vec![0.0; at.len()]))
}

/// Score a fitted process.
pub(super) fn score_of(
    process: &Process,
    warp: &Affine,
    data: &Data,
    test: &Sample,
) -> Result<Score> {
    let posterior = process.condition(data.points(), &data.g(warp)?)?;
    predict(&posterior, warp, data, test)
}

fn key(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn predict(
    posterior: &PosteriorProcess,
    warp: &Affine,
    data: &Data,
    test: &Sample,
) -> Result<Score> {
    let theta = posterior.process().theta();
    let mut features = vec![0.0; warp.feature_count()];
    let marginals = posterior.marginals(&test.x)?.into_iter();
    let normal = marginals.map(|at| {
        // s - k' A k is no better than the rounding of s: below that the variance is not known to
        // be 0. Where the noise is fitted, an observation carries it.
        let s = at.s.max(f64::EPSILON * theta.output_scale) + theta.noise;
        let at = Marginal { mu: at.mu, s };
        let mean = warp.mean(at);
        warp.features(at, &mut features);
        let unit = mean.ln_unit.exp();
        let sd = unit * warp.cov(&features, &features, s).sqrt();
        (warp.offset() + unit * mean.value, sd)
    });
    let normal: Vec<(f64, f64)> = normal.collect();
    judge(&normal, data, test, posterior.jitter())
}

/// The score of a mean and an sd for each test value.
pub(super) fn judge(
    normal: &[(f64, f64)],
    data: &Data,
    test: &Sample,
    jitter: f64,
) -> Result<Score> {
    let known: HashSet<Vec<u64>> = data.points().iter().map(key).collect();
    let (mut squares, mut ln_all, mut ln_new, mut new) = (0.0, 0.0, 0.0, 0.0);
    for ((f, x), (mean, sd)) in test.f.iter().zip(test.x.iter()).zip(normal) {
        let error = f - mean;
        let ln_density = -0.5 * (error / sd).powi(2) - sd.ln() - 0.5 * TAU.ln();
        squares += error * error;
        ln_all += ln_density;
        if !known.contains(&key(x)) {
            ln_new += ln_density;
            new += 1.0;
        }
    }
    let n = test.f.len() as f64;
    let score = Score {
        rmse: (squares / n).sqrt(),
        mll: ln_all / n,
        mll_new: ln_new / new,
        jitter,
    };
    if score.rmse.is_finite() && score.mll.is_finite() && score.mll_new.is_finite() {
        return Ok(score);
    }
    Err(Error::numerics(
        warpquad::error::Step::Match,
        format!("a score is not finite: {score:?}"),
    ))
}

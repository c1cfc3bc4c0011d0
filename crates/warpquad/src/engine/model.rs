//! Go from data to a belief in one step: choose units, fit, condition.

use super::score::{coarse_scores, difference, largest, scores};
use super::turn::{along_axes, scales};
use super::{Method, Step4};
use crate::belief::{
    Axes, Belief, Effects, Linearised, MeanFunction, PosteriorProcess, Process, Theta, Warped,
};
use crate::data::Data;
use crate::error::Result;
use crate::fit::{Fit, Starts, fit, laplace};
use crate::measure::Measure;
use crate::numeric::optimize::Options;
use crate::numeric::random::Rng;
use crate::points::Points;
use crate::warp::{Affine, Capped, Range, Square, Warp, sample_marginal};
use crate::{kernel, warp};
use std::sync::Arc;

/// WSABI's alpha, in units of the smallest observation.
const ALPHA: f64 = 0.8;

/// A choice may hope for this many nats above the largest observation.
const HOPE: f64 = 30.0;

/// f may always be this many nats above the largest observation: 20 times as large.
const LEAST_TOP: f64 = 3.0;

/// Observations this many nats below the largest are as good as zero, in one, two, three and more dimensions: in few, slopes from
/// afar lead to further modes; in many, no budget describes the flanks of a peak.
const DEPTHS: [f64; 4] = [300.0, 300.0, 100.0, 60.0];

/// For each parameter, and one more, so many of the largest observations are told apart whatever their depth.
const TOLD_APART: usize = 3;

/// Where the saturating warp may saturate, shortest first: the data choose.
const TAUS: [f64; 5] = [3.0, 10.0, 30.0, 100.0, 300.0];

/// Beyond, g is ln f nearly as it is, and a smooth kernel follows depths that do not matter: more than two dimensions have no points to
/// spare for them. In one and two it must be better by so many nats an observation: g's variance is then so large that
/// the nugget cannot be made small, and less is lost where a saturating warp does as well. To be taken up, it must be so where f is asked
/// for to a tenth of itself: digits more where f is smooth anyway would outvote the few observations that show where it is not. Where
/// one that saturates sooner is better, they are not tried.
const PLAIN_TAU: f64 = 30.0;
const PLAIN_DIMENSIONS: usize = 2;
const PLAIN_GAIN: f64 = 0.5;
const PLAIN_PART: f64 = 0.1;

/// The one that is fitted first.
const FIRST_TAU: f64 = 10.0;

/// The smallest nugget, in parts of g's variance. With a hundredth of it, means and leave-one-out scores of 200 clustered
/// points are rounding.
const CLOSE: f64 = 1e-10;

/// From so many observations for each dimension on, within limits, `auto` is sparing with fits, which take n^3: a step must gain
/// `ENOUGH` of the ln likelihood, a thousandth of a nat or so.
const LONG: usize = 12;
const SHORTEST: usize = 60;
const LONGEST: usize = 100;
const ENOUGH: f64 = 1e-6;

/// The fitted model of a run at some moment: the warp in the data's units, and p(g | D).
#[derive(Debug, Clone)]
pub struct Model {
    warp: Affine,
    posterior: PosteriorProcess,
    step4: Step4,
}

/// All that a model is made from.
pub(super) struct ModelMaker<'a> {
    pub method: &'a Method,
    pub range: Range,
    pub measure: &'a dyn Measure,
    pub data: &'a Data,
    pub seed: u64,
    pub noise: f64,
    pub shape: Shape,
}

/// How a model differs from its method's own.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// Where the saturating warp saturates, if that is chosen by the data.
    pub tau: Option<f64>,
    /// Whether f is held to be little above the largest observation: to say what Z is, but not to choose where to look,
    /// for a slope seen from afar must be believed to be climbed.
    pub sober: bool,
    /// A mean that falls off, in place of a constant one.
    pub quadratic: bool,
    /// Whether the observations are taken at their word, with a nugget that is no more than rounding.
    pub close: bool,
    /// Whether all depths are told apart: to look for modes from afar.
    pub deep: bool,
}

impl<'a> ModelMaker<'a> {
    /// The method's own model, of observations without noise.
    pub fn new(
        method: &'a Method,
        range: Range,
        measure: &'a dyn Measure,
        data: &'a Data,
        seed: u64,
    ) -> ModelMaker<'a> {
        ModelMaker {
            method,
            range,
            measure,
            data,
            seed,
            noise: 0.0,
            shape: Shape::default(),
        }
    }
}

impl ModelMaker<'_> {
    /// The model, among those whose warp saturates at different heights, that predicts the observations best, with its tau;
    /// just a fit where the method has no such warp.
    ///
    /// In a long run only the tau of the last choice is fitted from all starting points, the others from where that one ends.
    pub fn choose(&self, last: Option<&Theta>) -> Result<(Model, Option<f64>)> {
        if self.method.warp != "gumbel" || self.method.step4 != Step4::Averaged {
            return Ok((self.fit(None)?, None));
        }
        let with = |tau: f64| ModelMaker {
            shape: Shape {
                tau: Some(tau),
                ..self.shape
            },
            ..*self
        };
        let last_tau = self.shape.tau.unwrap_or(FIRST_TAU);
        let first = with(last_tau).fit(None);
        let fitted = |tau: f64| match &first {
            Ok(first) if tau == last_tau => Ok(first.clone()),
            Ok(first) if self.is_long() => with(tau).fit_like(first),
            _ => with(tau).fit(None),
        };
        let mut best: Option<(f64, Model)> = None;
        for &tau in self.taus() {
            if tau > PLAIN_TAU && best.as_ref().is_some_and(|(best, _)| *best < PLAIN_TAU) {
                break;
            }
            // A warp that cannot be fitted to these data is no loss while another one can.
            let Ok(model) = fitted(tau) else {
                continue;
            };
            let (part, least) = match (tau > PLAIN_TAU, last_tau > PLAIN_TAU) {
                (true, true) => (0.0, PLAIN_GAIN),
                (true, false) => (PLAIN_PART, PLAIN_GAIN),
                (false, _) => (0.0, 0.0),
            };
            let is_better = best.as_ref().is_none_or(|(_, best)| {
                let own = coarse_scores(&model, part);
                difference(&own, &coarse_scores(best, part)).0 > least * own.len() as f64
            });
            if is_better {
                best = Some((tau, model));
            }
        }
        match best {
            Some((tau, model)) => Ok((with(tau).refined(model, last), Some(tau))),
            None => first.map(|model| (model, Some(last_tau))),
        }
    }

    /// Where the warp may saturate, shortest first.
    pub fn taus(&self) -> &'static [f64] {
        let last = TAUS.partition_point(|tau| *tau <= PLAIN_TAU);
        match self.measure.dim() <= PLAIN_DIMENSIONS {
            true => &TAUS,
            false => &TAUS[..last],
        }
    }

    /// The same model along axes learnt from it, and with main effects, or with those of the last fit, if that predicts the
    /// observations better by a nat for each number that was learnt, and by a standard error more; by two with main effects, which are
    /// tried from several starts.
    fn refined(&self, model: Model, last: Option<&Theta>) -> Model {
        let plain = scores(&model);
        let gain = |model: &Model| {
            let (better, error) = difference(&scores(model), &plain);
            let errors = if model.theta().effects.is_none() {
                1.0
            } else {
                2.0
            };
            better - errors * error - learnt(model.theta())
        };
        let turned = along_axes(&model, self.measure, self.seed);
        let kept = last.filter(|theta| learnt(theta) > 0.0).cloned();
        let mut best = (0.0, model);
        let consider = |best: &mut (f64, Model), theta: &Theta| {
            let Ok(fitted) = self.fit(Some(theta)) else {
                return;
            };
            let gain = gain(&fitted);
            if gain > best.0 {
                *best = (gain, fitted);
            }
        };
        turned.iter().for_each(|theta| consider(&mut best, theta));
        // Before the last fit's, which may stay where effects of another length would be far better.
        let effects = with_effects(best.1.theta());
        effects
            .iter()
            .chain(&kept)
            .for_each(|theta| consider(&mut best, theta));
        best.1
    }

    /// Fit from all starting points, or only improve on a theta, and condition.
    pub fn fit(&self, warm: Option<&Theta>) -> Result<Model> {
        match warm {
            Some(theta) => self.fit_from(theta.clone(), Starts::Warm),
            None => self.fit_from(self.first_theta(None)?, Starts::All),
        }
    }

    fn fit_from(&self, mut theta: Theta, starts: Starts) -> Result<Model> {
        let warp = self.warp()?;
        theta.noise = self.noise + self.method.nugget;
        let how = self.how(starts, &theta);
        let process = Process::shared(kernel::by_name(&self.method.kernel)?, theta);
        let process = fit(&process, &warp, self.data, &how)?;
        self.condition(process.theta().clone())
    }

    /// Fit from where another model of the same data stands: its lengths, and g's own level and spread. A mean that falls
    /// off leaves other lengths to find, so such a model starts from everywhere. One that follows the data closely keeps the
    /// other's theta: fitted, it extrapolates more boldly than what has been put to the test.
    pub fn fit_like(&self, other: &Model) -> Result<Model> {
        if self.shape.quadratic {
            return self.fit_from(self.first_theta(other.theta().axes.clone())?, Starts::All);
        }
        if self.shape.close {
            let nugget = (CLOSE * other.theta().output_scale).min(self.method.nugget);
            return self.condition(Theta {
                noise: self.noise + nugget,
                ..other.theta().clone()
            });
        }
        let mut theta = self.first_theta(other.theta().axes.clone())?;
        theta.length_scales = other.theta().length_scales.clone();
        theta.effects = other.theta().effects;
        self.fit(Some(&theta))
    }

    /// Models with hyperparameters drawn around the fitted ones, and their weights.
    pub fn drawn(&self, fitted: &Model, count: usize, rng: &mut Rng) -> Result<Vec<(Model, f64)>> {
        let process = fitted.posterior.process();
        let how = self.how(Starts::Warm, process.theta());
        let drawn = laplace(process, &self.warp()?, self.data, &how, count, rng)?;
        // A draw whose matrix cannot be factored is one that the data rule out.
        let models = drawn.into_iter();
        Ok(models
            .filter_map(|(theta, weight)| Some((self.condition(theta).ok()?, weight)))
            .collect())
    }

    /// Whether fits cost enough to be sparing with them.
    fn is_long(&self) -> bool {
        let long = (LONG * self.measure.dim()).clamp(SHORTEST, LONGEST);
        self.method.step4 == Step4::Averaged && self.data.len() >= long
    }

    fn how(&self, starts: Starts, theta: &Theta) -> Fit {
        let plain = Fit::default();
        let tolerance_value = match self.is_long() {
            true => ENOUGH,
            false => plain.optimizer.tolerance_value,
        };
        Fit {
            optimizer: Options {
                tolerance_value,
                ..plain.optimizer
            },
            space: self.method.space,
            starts,
            seed: self.seed,
            scales: Some(scales(self.measure, theta.axes.as_deref())),
            length_prior: self.method.length_prior,
            ..plain
        }
    }

    /// Condition on the data with hyperparameters as they are.
    pub fn condition(&self, theta: Theta) -> Result<Model> {
        let warp = self.warp()?;
        let process = Process::shared(kernel::by_name(&self.method.kernel)?, theta);
        Ok(Model {
            posterior: process.condition(self.data.points(), &self.data.g(&warp)?)?,
            step4: self.method.step4,
            warp,
        })
    }

    fn warp(&self) -> Result<Affine> {
        match self.shape.tau {
            Some(tau) => {
                let top = if self.shape.sober { self.top() } else { HOPE };
                let warp = Capped::new(tau, top, self.depth())?;
                self.data.warp_shared(Arc::new(warp))
            }
            None => warp_for(self.method, self.range, self.data),
        }
    }

    /// How far above the largest observation f may well be, in nats: as far as that has risen over the last half of the run.
    fn top(&self) -> f64 {
        let ln: Vec<f64> = self.data.values().iter().map(|v| v.ln_abs()).collect();
        let best = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (best(&ln) - best(&ln[..ln.len() / 2])).clamp(LEAST_TOP, HOPE)
    }

    /// How far below the largest observation the others are told apart, in nats: far enough that Z knows nothing of what is lower,
    /// and far enough to hold some observations for each parameter, whose slope shows the way up.
    ///
    /// A peak of a thousandth of the prior's width in every parameter has e^(-7 d) of its volume, so that all that lies 20 + 7 d nats
    /// lower adds e^-20 to Z at most.
    fn depth(&self) -> f64 {
        if self.shape.deep {
            return f64::MAX;
        }
        let d = self.measure.dim();
        let ln = self.data.values().iter().map(|v| v.ln_abs());
        let (top, held) = largest(ln, TOLD_APART * (d + 1));
        let least = DEPTHS[d.clamp(1, DEPTHS.len()) - 1];
        least.max(20.0 + 7.0 * d as f64).max(top - held)
    }

    /// Where the very first fit starts from, besides the warp's own starts.
    fn first_theta(&self, axes: Option<Arc<Axes>>) -> Result<Theta> {
        let g = self.data.g(&self.warp()?)?;
        let at = sample_marginal(&g);
        let scales = scales(self.measure, axes.as_deref());
        let quarter: Vec<f64> = scales.iter().map(|w| 0.25 * w).collect();
        let mut theta = Theta::constant(at.mu, at.s, quarter.clone())?;
        theta.axes = axes;
        if self.shape.quadratic {
            let top = (0..g.len()).fold(0, |best, i| if g[i] > g[best] { i } else { best });
            theta.mean = MeanFunction::Quadratic {
                peak: g[top],
                center: theta.turn(self.data.points().row(top)).into_owned(),
                width: quarter,
            };
        }
        Ok(theta)
    }
}

impl Model {
    /// Refuse a method whose warp cannot reach the range, before anything is observed.
    pub fn check_range(method: &Method, range: Range) -> Result<()> {
        let plain = warp::by_name(&method.warp)?;
        if takes_as_it_is(plain.as_ref(), range) || is_shifted_square(method, range) {
            return Ok(());
        }
        Affine::between(plain, range).map(|_| ())
    }

    /// Fit a method to data, from all starting points.
    pub fn new(
        method: &Method,
        range: Range,
        measure: &dyn Measure,
        data: &Data,
        seed: u64,
    ) -> Result<Model> {
        ModelMaker::new(method, range, measure, data, seed).fit(None)
    }

    /// The warp, in units of the largest observation.
    pub fn warp(&self) -> &Affine {
        &self.warp
    }

    /// p(g | D).
    pub fn posterior(&self) -> &PosteriorProcess {
        &self.posterior
    }

    /// The hyperparameters.
    pub fn theta(&self) -> &Theta {
        self.posterior.process().theta()
    }

    /// The same model as if `pending` points had been observed at their current mean.
    pub fn with_pending(&self, pending: &Points) -> Result<Model> {
        if pending.is_empty() {
            return Ok(self.clone());
        }
        let means = self.posterior.means(pending)?;
        Ok(Model {
            posterior: self.posterior.extend(pending, &means)?,
            ..self.clone()
        })
    }

    /// Hand the belief about f to `use_it`.
    pub fn belief<T>(&self, use_it: impl FnOnce(&dyn Belief) -> T) -> T {
        match self.step4 {
            Step4::Matched | Step4::Averaged => use_it(&Warped::new(&self.warp, &self.posterior)),
            Step4::Linearised => use_it(&Linearised::new(&self.warp, &self.posterior)),
        }
    }
}

/// How many numbers were learnt of the directions and the sum in theta, which a plain one has not.
fn learnt(theta: &Theta) -> f64 {
    let d = theta.dim() as f64;
    let axes = theta.axes.as_ref().map_or(0.0, |_| 0.5 * d * (d - 1.0));
    axes + theta.effects.map_or(0.0, |_| 2.0)
}

/// Where to start with main effects: half of the variance over the lengths of theta, the rest over longer ones, or nearly all of it.
/// None in one dimension, where they are nothing new.
fn with_effects(theta: &Theta) -> Vec<Theta> {
    let start = |share: f64, stretch: f64| Theta {
        length_scales: theta.length_scales.iter().map(|l| l / stretch).collect(),
        effects: Some(Effects { share, stretch }),
        ..theta.clone()
    };
    match theta.dim() {
        1 => Vec::new(),
        _ => vec![start(0.5, 0.3), start(0.9, 1.0)],
    }
}

/// The method's warp fitted to the range that f is known to have, in the data's units.
fn warp_for(method: &Method, range: Range, data: &Data) -> Result<Affine> {
    let plain = warp::by_name(&method.warp)?;
    if is_shifted_square(method, range) {
        let values = data.values().iter().map(|v| v.ln_abs() - data.ln_scale());
        let lowest = values.fold(f64::INFINITY, f64::min);
        let square = Square::new(ALPHA * lowest.exp())?;
        return Affine::scaled(Arc::new(square), data.ln_scale());
    }
    if takes_as_it_is(plain.as_ref(), range) {
        return data.warp_shared(plain);
    }
    Affine::between(plain, range)
}

/// Whether the warp is WSABI's, which stands on the smallest observation. In `auto`'s average it stands on 0: the root of f - alpha
/// bends sharply where f is smallest.
fn is_shifted_square(method: &Method, range: Range) -> bool {
    method.warp == "square" && range.lo == 0.0 && method.step4 != Step4::Averaged
}

/// Whether the warp serves the range with no more than a change of units.
fn takes_as_it_is(warp: &dyn Warp, range: Range) -> bool {
    let natural = warp.range();
    let same = natural == range || warp.scales() && range.is_cone() && range.lo >= natural.lo;
    same || natural == Range::REAL
}

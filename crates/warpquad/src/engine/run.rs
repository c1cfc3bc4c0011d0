//! Run a method: ask for a point, take the value, and say what is known of Z.

use super::average::average;
use super::model::{ModelMaker, Shape};
use super::{Method, Model, Step4};
use crate::acquisition::{self, Acquisition, Context, Explore, QuasiRandom};
use crate::belief::{Belief, Process, Theta};
use crate::data::{Data, Value};
use crate::error::{Error, Result};
use crate::functional::closed_form;
use crate::functional::{Estimate, Functional, Law, Nodes, law};
use crate::kernel::Matern32;
use crate::measure::{Coordinates, Measure};
use crate::numeric::random::Rng;
use crate::numeric::special::normal_quantile;
use crate::points::Points;
use crate::warp::Range;
use std::sync::Arc;

/// Draws of the law of Z: its 2.5 % quantile is then known to about a sixth of the sd.
pub(super) const DRAWS: usize = 1000;

/// Space-filling points before the first fit: a length scale needs a few points a dimension.
pub(super) fn initial(dim: usize) -> usize {
    (4 * dim).max(8)
}

/// A run of a method: pure state, no clock and no files.
///
/// What it does next is a function of what it was told, in that order, and of the last fit; a
/// journal that keeps both restores it exactly.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) method: Method,
    range: Range,
    /// Where the Gaussian process lives: z, with the measure's law there.
    pub(super) coordinates: Arc<dyn Coordinates>,
    acquisition: Arc<dyn Acquisition>,
    pub(super) seed: u64,
    noise: f64,
    points: Points,
    /// The same points in the coordinates of the Gaussian process.
    z: Points,
    values: Vec<Value>,
    /// The model of the observations so far, and the fit behind it.
    current: Option<(Model, LastFit)>,
    pub(super) last_fit: Option<LastFit>,
    /// Every fit that chose a point, in order: what the run believed on its way.
    pub(super) fits: Vec<LastFit>,
    /// The last fit of the model that explores.
    pub(super) exploring: Option<LastFit>,
}

/// The last fit of a run: all that later fits depend on besides the data.
#[derive(Debug, Clone, PartialEq)]
pub struct LastFit {
    /// The hyperparameters.
    pub theta: Theta,
    /// How many observations they were fitted to.
    pub n: usize,
    /// How many there were at the last fit from all starting points.
    pub full: usize,
    /// Where the warp saturates, if that was chosen by the data.
    pub tau: Option<f64>,
}

/// What a run knows about Z.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The law of Z by drawing g.
    pub law: Law,
    /// The normal law of the matched belief.
    pub estimate: Estimate,
    /// The hyperparameters; a baseline has none.
    pub theta: Option<Theta>,
    /// Evaluations used.
    pub evaluations: usize,
}

impl Outcome {
    /// The standard deviation of ln Z: the belief's own and the node rule's error together.
    pub fn ln_sd(&self) -> f64 {
        self.law.ln_sd().hypot(self.estimate.relative_node_error())
    }

    /// The central interval of ln Z with that probability: the law's quantiles, each moved out by
    /// the node rule's error.
    pub fn ln_interval(&self, probability: f64) -> [f64; 2] {
        let tail = 0.5 * (1.0 - probability);
        let median = self.law.ln_quantile(0.5);
        let z = normal_quantile(1.0 - tail);
        let node = z * self.estimate.relative_node_error();
        let (low, high) = (self.law.ln_quantile(tail), self.law.ln_quantile(1.0 - tail));
        [
            median - (median - low).hypot(node),
            median + (high - median).hypot(node),
        ]
    }
}

impl Engine {
    /// A run that has seen nothing yet.
    pub fn new(method: Method, range: Range, measure: &dyn Measure, seed: u64) -> Result<Engine> {
        Ok(Engine {
            acquisition: acquisition::by_name(&method.acquisition)?,
            points: Points::empty(measure.dim())?,
            z: Points::empty(measure.dim())?,
            coordinates: measure.coordinates(method.coordinates)?.into(),
            method,
            range,
            seed,
            noise: 0.0,
            values: Vec::new(),
            current: None,
            last_fit: None,
            fits: Vec::new(),
            exploring: None,
        })
    }

    /// Observations carry noise of this variance on g.
    pub fn with_noise(mut self, variance: f64) -> Engine {
        self.noise = variance;
        self
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Where, and what, in the order it was told.
    pub fn observations(&self) -> (&Points, &[Value]) {
        (&self.points, &self.values)
    }

    /// Whether nothing has been observed.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The next point to evaluate. `pending` points were asked for and not told yet; `avoid` are
    /// points that failed.
    pub fn ask(&mut self, pending: &Points, avoid: &Points) -> Result<Vec<f64>> {
        let step = self.len() + pending.len() + avoid.len();
        let pending = self.to_z(pending)?;
        let mut taken = self.z.clone();
        taken.extend(&pending)?;
        taken.extend(&self.to_z(avoid)?)?;
        let early = step < initial(taken.dim()) || self.is_empty();
        let model = match early {
            true => None,
            false => self
                .model()?
                .map(|model| model.with_pending(&pending))
                .transpose()?,
        };
        if model.is_some() {
            self.count_fit();
        }
        let coordinates = Arc::clone(&self.coordinates);
        let measure = coordinates.measure();
        let nothing = Process::new(Matern32, Theta::constant(0.0, 1.0, measure.scale())?);
        let at = Context {
            belief: &nothing,
            measure,
            taken: &taken,
            seed: self.seed,
            step,
        };
        let rule = Arc::clone(&self.acquisition);
        let choose = |belief: &dyn Belief| rule.choose_unless_content(&Context { belief, ..at });
        let explore = |belief: &dyn Belief| Explore.choose(&Context { belief, ..at });
        let z = match model {
            None => QuasiRandom.choose(&at)?,
            Some(model) => match model.belief(choose)? {
                Some(z) => z,
                None => self.explorer(&model, &pending)?.belief(explore)?,
            },
        };
        let mut x = vec![0.0; z.len()];
        self.coordinates.from_natural(&z, &mut x);
        Ok(x)
    }

    fn to_z(&self, points: &Points) -> Result<Points> {
        let mut out = Points::empty(points.dim())?;
        let mut z = vec![0.0; points.dim()];
        for x in points.iter() {
            self.coordinates.to_natural(x, &mut z)?;
            out.push(&z)?;
        }
        Ok(out)
    }

    /// Take an observation.
    pub fn tell(&mut self, x: &[f64], value: Value) -> Result<()> {
        value.check(self.len())?;
        let mut one = Points::empty(self.points.dim())?;
        one.push(x)?;
        let z = self.to_z(&one)?;
        self.points.extend(&one)?;
        self.z.extend(&z)?;
        self.values.push(value);
        Ok(())
    }

    /// The data so far, in the coordinates of the Gaussian process.
    pub fn data(&self) -> Result<Data> {
        let make = if self.noise > 0.0 {
            Data::noisy
        } else {
            Data::new
        };
        make(self.z.clone(), self.values.clone())
    }

    /// The last fit that chose a point, to be kept with the observations.
    pub fn last_fit(&self) -> Option<&LastFit> {
        self.last_fit.as_ref()
    }

    /// Go on from a fit that was kept.
    pub fn restore(&mut self, fit: LastFit) {
        self.last_fit = Some(fit);
        self.current = None;
        self.remember_fit();
    }

    /// The fit behind the model has chosen a point. Only such a fit counts for later ones: looking at a
    /// run leaves no trace.
    pub(super) fn count_fit(&mut self) {
        self.last_fit = self.current.as_ref().map(|(_, fit)| fit.clone());
        self.remember_fit();
    }

    fn remember_fit(&mut self) {
        let new = self.last_fit.as_ref();
        let known = self.fits.last().map(|fit| fit.n);
        self.fits
            .extend(new.filter(|fit| Some(fit.n) != known).cloned());
    }

    /// The run as it was with its first `n` observations, and its fit to them if it made one.
    pub(super) fn first(&self, n: usize) -> Engine {
        let fits = self.fits.iter().take_while(|fit| fit.n <= n);
        let fits: Vec<LastFit> = fits.cloned().collect();
        Engine {
            method: self.method.clone(),
            coordinates: Arc::clone(&self.coordinates),
            acquisition: Arc::clone(&self.acquisition),
            points: self.points.slice(0, n),
            z: self.z.slice(0, n),
            values: self.values[..n].to_vec(),
            current: None,
            last_fit: fits.last().cloned(),
            fits,
            exploring: None,
            ..*self
        }
    }

    /// The model of all observations; `None` while every f is 0.
    pub fn model(&mut self) -> Result<Option<&Model>> {
        let n = self.len();
        let known = self.current.as_ref().map(|(model, _)| model.posterior());
        if known.is_none_or(|posterior| posterior.points().len() != n) {
            let data = self.data()?;
            if data.all_zero() && self.range.lo == 0.0 {
                return Ok(None);
            }
            self.current = Some(self.make_model(&data)?);
        }
        Ok(self.current.as_ref().map(|(model, _)| model))
    }

    /// What the present model was made from.
    pub(super) fn current_maker<'a>(&'a self, data: &'a Data) -> ModelMaker<'a> {
        let tau = self.current.as_ref().and_then(|(_, fit)| fit.tau);
        self.maker(data, tau)
    }

    pub(super) fn maker<'a>(&'a self, data: &'a Data, tau: Option<f64>) -> ModelMaker<'a> {
        ModelMaker {
            method: &self.method,
            range: self.range,
            measure: self.coordinates.measure(),
            data,
            seed: self.seed,
            noise: self.noise,
            shape: Shape {
                tau,
                ..Shape::default()
            },
        }
    }

    /// Observations between fits from all starting points. `auto`, which fits several warps then, also waits for an
    /// eighth more of them: theta moves ever less, and a fit takes n^3.
    fn full_fit_after(&self, n: usize) -> usize {
        let share = if self.method.step4 == Step4::Averaged {
            n / 8
        } else {
            0
        };
        self.method.refit_every.max(share)
    }

    /// Observations between any fits: `auto` waits for two in a hundred more.
    fn fit_after(&self, n: usize) -> usize {
        match self.method.step4 {
            Step4::Averaged => (n / 50).max(1),
            _ => 1,
        }
    }

    fn make_model(&self, data: &Data) -> Result<(Model, LastFit)> {
        let n = self.len();
        let recent = self.last_fit.as_ref();
        if let Some(fit) = recent.filter(|fit| n < fit.n + self.fit_after(n)) {
            // A theta of fewer observations may be no good for these.
            if let Ok(model) = self.maker(data, fit.tau).condition(fit.theta.clone()) {
                return Ok((model, fit.clone()));
            }
        }
        let (model, full, tau) = match &self.last_fit {
            Some(fit) if n < fit.full + self.full_fit_after(n) => {
                let model = self.maker(data, fit.tau).fit(Some(&fit.theta))?;
                (model, fit.full, fit.tau)
            }
            last => {
                let tau = last.as_ref().and_then(|fit| fit.tau);
                let theta = last.as_ref().map(|fit| &fit.theta);
                let (model, tau) = self.maker(data, tau).choose(theta)?;
                (model, n, tau)
            }
        };
        let theta = model.theta().clone();
        let fit = LastFit {
            theta,
            n,
            full,
            tau,
        };
        Ok((model, fit))
    }

    /// The model, or that there is none while every f is 0.
    pub(super) fn known_model(&mut self) -> Result<(&Model, &dyn Coordinates)> {
        self.model()?;
        let Some((model, _)) = &self.current else {
            let reason = "every observation is 0, so nothing is known of the scale of Z; widen the \
                          budget or look where f > 0";
            return Err(Error::spec("values", reason));
        };
        Ok((model, self.coordinates.as_ref()))
    }

    /// What is known of Z.
    pub fn outcome(&mut self) -> Result<Outcome> {
        let Method { nodes, step4, .. } = self.method;
        let (seed, evaluations) = (self.seed, self.len());
        let mut rng = Rng::new(seed).child(evaluations as u64);
        if step4 == Step4::Averaged {
            let model = self.known_model()?.0.clone();
            let data = self.data()?;
            let average = average(&self.current_maker(&data), &model, DRAWS, &mut rng)?;
            let wider = self.hindsight(&average, &mut rng);
            let law = average.law.widened(wider);
            return Ok(Outcome {
                estimate: law.estimate(average.relative_node_error),
                law,
                theta: Some(average.theta),
                evaluations,
            });
        }
        let (model, coordinates) = self.known_model()?;
        let measure = coordinates.measure();
        let (nodes, estimate) =
            model.belief(|belief| enough_nodes(belief, measure, nodes, seed))?;
        let law = match step4 {
            Step4::Matched | Step4::Averaged => {
                law(model.warp(), model.posterior(), &nodes, DRAWS, &mut rng)?
            }
            Step4::Linearised => Law::normal(&estimate),
        };
        Ok(Outcome {
            law,
            estimate,
            theta: Some(model.theta().clone()),
            evaluations,
        })
    }
}

/// Nodes whose error is well below the belief's own sd, and what the belief says of Z on them; by
/// closed form where there is one.
fn enough_nodes(
    belief: &dyn Belief,
    measure: &dyn Measure,
    n: usize,
    seed: u64,
) -> Result<(Nodes, Estimate)> {
    let (mut nodes, mut mean) = best_nodes(belief, measure, n, seed)?;
    let whole = match closed_form::integral(belief, measure) {
        Some(_) => Functional::integral(measure, n).apply(belief)?,
        None => Functional::on(measure, nodes.clone()).apply(belief)?,
    };
    if whole.closed_form {
        return Ok((nodes, whole));
    }
    // Twice as many, up to eight times; below a thousandth no one asks which error it is.
    for factor in [2, 4, 8] {
        if mean.relative_node_error() <= (0.25 * whole.relative_sd()).max(1e-3) {
            break;
        }
        (nodes, mean) = best_nodes(belief, measure, factor * n, seed)?;
    }
    let unit = (whole.ln_unit - mean.ln_unit).exp();
    let var = whole.var * unit * unit;
    Ok((nodes, Estimate { var, ..mean }))
}

/// The rule with the smaller error, and the mean of Z on it: nodes that follow the belief, or plain
/// Sobol' nodes where these agree and do better, as they do for a smooth f.
fn best_nodes(
    belief: &dyn Belief,
    measure: &dyn Measure,
    n: usize,
    seed: u64,
) -> Result<(Nodes, Estimate)> {
    let on = |nodes: &Nodes| Functional::on(measure, nodes.clone()).apply_mean(belief);
    let followed = Nodes::importance(measure, belief, n, seed)?;
    let plain = Nodes::sobol(measure, n, seed)?;
    let (by_followed, by_plain) = (on(&followed)?, on(&plain)?);
    // Plain nodes that all miss a peak agree among themselves, so they must agree with the others.
    let unit = (by_plain.ln_unit - by_followed.ln_unit).exp();
    let gap = (by_plain.mean * unit - by_followed.mean).abs();
    let agree = gap <= 4.0 * by_followed.node_error.hypot(by_plain.node_error * unit);
    let better = by_plain.relative_node_error() < by_followed.relative_node_error();
    Ok(match agree && better {
        true => (plain, by_plain),
        false => (followed, by_followed),
    })
}

/// Integrate f against a measure with a budget of evaluations.
///
/// ```
/// use std::sync::Arc;
/// use warpquad::engine::{Method, integrate};
/// use warpquad::measure::{Product, univariate};
/// use warpquad::{Value, warp::Range};
/// let pi = Product::new(vec![univariate("normal", &[0.0, 1.0])?])?;
/// let ln_f = |x: &[f64]| Ok(Value::Log(-1000.0 - 2.0 * x[0] * x[0]));
/// let z = integrate(ln_f, Arc::new(pi), Range::POSITIVE, &Method::by_name("mmlt")?, 20, 0)?;
/// assert!((z.law.ln_quantile(0.5) + 1000.0 + 0.5 * 5.0_f64.ln()).abs() < 0.05);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn integrate(
    mut f: impl FnMut(&[f64]) -> Result<Value>,
    measure: Arc<dyn Measure>,
    range: Range,
    method: &Method,
    budget: usize,
    seed: u64,
) -> Result<Outcome> {
    let mut engine = Engine::new(method.clone(), range, measure.as_ref(), seed)?;
    let none = Points::empty(engine.points.dim())?;
    for _ in 0..budget {
        let x = engine.ask(&none, &none)?;
        let value = f(&x)?;
        engine.tell(&x, value)?;
    }
    engine.outcome()
}

//! Run a strategy: ask for a point, take the value, and say what is known of Z.

use super::strategy::{Answer, Choice, Kept, Strategy};
use super::{Frame, History, LastFit, Method, Outcome};
use crate::acquisition::{Acquisition, Context, QuasiRandom};
use crate::belief::{Ensemble, Model, Process, Theta};
use crate::data::{Data, Value};
use crate::error::{Error, Result};
use crate::kernel::Matern32;
use crate::measure::Measure;
use crate::points::Points;
use crate::warp::Range;
use std::sync::Arc;

/// A run of a strategy: pure state, no clock and no files.
///
/// What it does next is a function of what it was told, in that order, and of the last fit; a
/// journal that keeps both restores it exactly.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) strategy: Arc<dyn Strategy>,
    pub(super) history: History,
    /// The observed points in the user's coordinates.
    points: Points,
    /// The model of the observations so far, the fit behind it, and their number.
    pub(super) current: Option<(Model, LastFit, usize)>,
    /// What is believed of f, and after how many observations.
    pub(super) answered: Option<(Answer, usize)>,
    /// What the audit draws from, and of how many observations; `None` while every f is 0.
    pub(super) proposal: Option<(Option<Ensemble>, usize)>,
    /// A fit that the strategy keeps between choices.
    kept: Kept,
}

impl Engine {
    /// A run of a named method that has seen nothing yet.
    pub fn new(method: Method, range: Range, measure: &dyn Measure, seed: u64) -> Result<Engine> {
        Engine::with_strategy(method.strategy()?, range, measure, seed)
    }

    /// The same for a strategy.
    pub fn with_strategy(
        strategy: Arc<dyn Strategy>,
        range: Range,
        measure: &dyn Measure,
        seed: u64,
    ) -> Result<Engine> {
        let frame = Frame::prior(measure, strategy.chart())?;
        Ok(Engine {
            strategy,
            points: Points::empty(measure.dim())?,
            history: History::new(frame, range, seed)?,
            current: None,
            answered: None,
            proposal: None,
            kept: None,
        })
    }

    /// Observations carry noise of this variance on g.
    pub fn with_noise(mut self, variance: f64) -> Engine {
        self.history.noise = variance;
        self
    }

    /// What has been seen so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        self.history.len()
    }

    /// Whether nothing has been observed.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// Where, and what, in the order it was told.
    pub fn observations(&self) -> (&Points, &[Value]) {
        (&self.points, &self.history.values)
    }

    /// The next point to evaluate. `pending` points were asked for and not told yet; `avoid` are
    /// points that failed.
    pub fn ask(&mut self, pending: &Points, avoid: &Points) -> Result<Vec<f64>> {
        let step = self.len() + pending.len() + avoid.len();
        let frame = self.history.frame.clone();
        let pending = frame.to_frame(pending)?;
        let mut taken = self.history.points.clone();
        taken.extend(&pending)?;
        taken.extend(&frame.to_frame(avoid)?)?;
        let choice = Choice {
            taken: &taken,
            pending: &pending,
            step,
        };
        let early = step < self.strategy.initial_points(frame.dim()) || self.is_empty();
        let lead = match early {
            true => None,
            false => self
                .model()?
                .map(|model| model.with_pending(&pending))
                .transpose()?,
        };
        let z = match lead {
            None => self.fill_space(&choice)?,
            Some(lead) => {
                self.count_fit();
                let strategy = Arc::clone(&self.strategy);
                strategy.choose(&self.history, &lead, &choice, &mut self.kept)?
            }
        };
        Ok(frame.point_from_frame(&z))
    }

    /// The next of the space-filling points that every run begins with.
    fn fill_space(&self, choice: &Choice<'_>) -> Result<Vec<f64>> {
        let measure = self.history.frame.measure();
        let nothing = Process::new(Matern32, Theta::constant(0.0, 1.0, measure.scale())?);
        QuasiRandom.choose(&Context {
            belief: &nothing,
            measure,
            taken: choice.taken,
            seed: self.history.seed,
            step: choice.step,
        })
    }

    /// Take an observation.
    pub fn tell(&mut self, x: &[f64], value: Value) -> Result<()> {
        value.check(self.len())?;
        let mut one = Points::empty(self.points.dim())?;
        one.push(x)?;
        let z = self.history.frame.to_frame(&one)?;
        self.points.extend(&one)?;
        self.history.points.extend(&z)?;
        self.history.values.push(value);
        Ok(())
    }

    /// The data so far, in the coordinates of the process.
    pub fn data(&self) -> Result<Data> {
        self.history.data()
    }

    /// The last fit that chose a point, to be kept with the observations.
    pub fn last_fit(&self) -> Option<&LastFit> {
        self.history.last_fit()
    }

    /// Go on from a fit that was kept.
    pub fn restore(&mut self, fit: LastFit) {
        self.current = None;
        self.answered = None;
        self.history.keep(fit);
    }

    /// The fit behind the model has chosen a point. Only such a fit counts for later ones: looking
    /// at a run leaves no trace.
    fn count_fit(&mut self) {
        if let Some((_, fit, _)) = &self.current {
            self.history.keep(fit.clone());
        }
    }

    /// The run as it was with its first `n` observations, and its fit to them if it made one.
    pub(super) fn first(&self, n: usize) -> Engine {
        Engine {
            strategy: Arc::clone(&self.strategy),
            history: self.history.first(n),
            points: self.points.slice(0, n),
            current: None,
            answered: None,
            proposal: None,
            kept: None,
        }
    }

    /// The model of all observations that chooses; `None` while every f is 0.
    pub fn model(&mut self) -> Result<Option<&Model>> {
        let n = self.len();
        let known = matches!(&self.current, Some((_, _, known)) if *known == n);
        if !known {
            let data = self.data()?;
            if data.all_zero() && self.history.range.lo == 0.0 {
                return Ok(None);
            }
            let (model, fit) = self.strategy.fit(&self.history)?;
            self.current = Some((model, fit, n));
        }
        Ok(self.current.as_ref().map(|(model, _, _)| model))
    }

    /// What is believed of f and of Z. All that a run says comes from here.
    pub fn answer(&mut self) -> Result<&Answer> {
        let n = self.len();
        let known = matches!(&self.answered, Some((_, known)) if *known == n);
        if !known {
            self.model()?;
            let Some((lead, fit, _)) = &self.current else {
                let reason = "every observation is 0, so nothing is known of the scale of Z; \
                              widen the budget or look where f > 0";
                return Err(Error::spec("values", reason));
            };
            let answer = self.strategy.answer(&self.history, lead, fit)?;
            self.answered = Some((answer, n));
        }
        match &self.answered {
            Some((answer, _)) => Ok(answer),
            None => Err(Error::spec("values", "nothing has been observed")),
        }
    }

    /// The belief about f, in the coordinates of the process.
    pub fn ensemble(&mut self) -> Result<&Ensemble> {
        Ok(&self.answer()?.ensemble)
    }

    /// What is known of Z.
    pub fn outcome(&mut self) -> Result<Outcome> {
        let n = self.len();
        Ok(self.answer()?.outcome(n))
    }
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

//! Run a strategy: ask for a point, take the value, and say what is known of Z.

use super::another_prior::AnotherPrior;
use super::answered::Answered;
use super::ascent::Ascent;
use super::frames::is_early;
use super::given::{self, Given};
use super::part::Part;
use super::strategy::{Choice, Strategy};
use super::{Frame, History, LastFit, Method, Outcome};
use crate::acquisition::{Acquisition, Context, QuasiRandom};
use crate::belief::{Ensemble, Model, Process, Theta};
use crate::data::{Data, Value};
use crate::error::{Error, Result, same_length};
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
    /// What was seen, in the frame of the prior.
    pub(super) whole: Part,
    /// The observed points in the user's coordinates.
    pub(super) points: Points,
    /// Points to begin with.
    start: Vec<Vec<f64>>,
    /// Observations that were given without being asked for.
    pub(super) given: Given,
    /// Another prior that answers are given under, in place of the run's own.
    pub(super) another: Option<Arc<AnotherPrior>>,
    /// The way to narrow peaks, for a strategy that climbs.
    pub(super) ascent: Option<Ascent>,
    /// What was seen, in the frame of each peak; empty while the prior is the frame.
    pub(super) framed: Vec<Part>,
    /// The number of observations of a frame that serves an answer while the climb goes on.
    pub(super) provisional: Option<usize>,
    /// The number of observations at which the frame of each peak was looked at last.
    pub(super) looked_at: Vec<usize>,
    /// Whether each peak's part of Z was known well then.
    pub(super) settled: Vec<bool>,
    /// What is believed of f.
    pub(super) answered: Option<Answered>,
    /// What the audit draws from, and of how many observations.
    pub(super) proposal: Option<(Vec<Proposed>, usize)>,
}

/// What the audit draws from in one frame: the belief, `None` while every f is 0, and how often.
#[derive(Debug, Clone)]
pub(super) struct Proposed {
    pub frame: Frame,
    pub belief: Option<Ensemble>,
    pub share: f64,
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
        if measure.circles().is_some() && frame.measure().circles().is_none() {
            let chart = strategy.chart().name();
            let reason = format!(
                "{chart} has no circle for a periodic parameter; take natural, unit or identity"
            );
            return Err(Error::spec("coordinates", reason));
        }
        let tuning = strategy.climbing(range);
        Ok(Engine {
            points: Points::empty(measure.dim())?,
            whole: Part::new(History::new(frame, range, seed)?),
            start: Vec::new(),
            given: Given::default(),
            another: None,
            ascent: tuning.and_then(|tuning| Ascent::new(measure, tuning, seed)),
            framed: Vec::new(),
            provisional: None,
            looked_at: Vec::new(),
            settled: Vec::new(),
            strategy,
            answered: None,
            proposal: None,
        })
    }

    /// Observations carry noise of this variance on g.
    pub fn with_noise(mut self, variance: f64) -> Engine {
        self.whole.seen.noise = variance;
        if let Some(ascent) = &mut self.ascent {
            ascent.set_noise(variance.sqrt());
        }
        self
    }

    /// Count f as 0 where evaluations fail; without it nothing is assumed of f there.
    pub fn with_failed_as_zero(mut self, is_zero: bool) -> Engine {
        self.whole.seen.failed_is_zero = is_zero;
        self
    }

    /// Begin with these points, in the user's coordinates, where f is thought to be large. With
    /// half of the width of each parameter's plausible interval a climb knows how far to go.
    pub fn with_start(
        mut self,
        points: Vec<Vec<f64>>,
        half_widths: Option<Vec<f64>>,
    ) -> Result<Engine> {
        for x in &points {
            same_length("start", x.len(), self.points.dim())?;
        }
        if let (Some(ascent), Some(half), Some(middle)) =
            (&mut self.ascent, half_widths, points.first())
        {
            ascent.set_steps(middle, &half);
        }
        self.start = points;
        Ok(self)
    }

    /// Evaluate these points too, in the user's coordinates, before any other choice.
    pub fn begin_with(&mut self, points: Vec<Vec<f64>>) -> Result<()> {
        for x in &points {
            same_length("initial", x.len(), self.points.dim())?;
        }
        self.start.extend(points);
        Ok(())
    }

    /// What has been seen so far, in the frame that carries the integral; of several frames in that
    /// with most of Z, as far as an answer said so.
    pub fn history(&self) -> &History {
        let lead = self.answered.as_ref().map_or(0, |answered| answered.lead);
        let parts = self.parts();
        &parts.get(lead).unwrap_or(&parts[0]).seen
    }

    /// What was seen in each frame that carries a part of the integral.
    pub(super) fn parts(&self) -> &[Part] {
        match self.framed.is_empty() {
            true => std::slice::from_ref(&self.whole),
            false => &self.framed,
        }
    }

    pub(super) fn parts_mut(&mut self) -> &mut [Part] {
        match self.framed.is_empty() {
            true => std::slice::from_mut(&mut self.whole),
            false => &mut self.framed,
        }
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether nothing has been observed.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Where, and what, in the order it was told.
    pub fn observations(&self) -> (&Points, &[Value]) {
        (&self.points, &self.whole.seen.values)
    }

    /// The next point to evaluate. `pending` points were asked for and not told yet; `avoid` are
    /// points that failed.
    pub fn ask(&mut self, pending: &Points, avoid: &Points) -> Result<Vec<f64>> {
        if self.another.is_some() {
            let reason = "answers are given under another prior than the run's: it takes no points";
            return Err(Error::spec("prior", reason));
        }
        let step = self.len() + pending.len() + avoid.len();
        let own = step - self.given.len();
        if let Some(x) = self.start.get(own) {
            return Ok(x.clone());
        }
        self.look_around(avoid)?;
        self.renew_frames()?;
        if let Some(x) = self.ascent.as_ref().and_then(|ascent| ascent.ask(pending)) {
            return Ok(x);
        }
        let place = self.place_of_choice(pending, step)?;
        let frame = self.parts()[place].seen.frame.clone();
        let pending = frame.to_frame(pending)?;
        let mut taken = self.parts()[place].seen.points.clone();
        taken.extend(&pending)?;
        taken.extend(&frame.to_frame(avoid)?)?;
        let mut choice = Choice {
            taken: &taken,
            pending: &pending,
            step,
        };
        let early = match self.begun(place) {
            // The climb has seen the middle of its peak: a few points around it show the shape.
            Some(begun) => is_early(step - begun, frame.dim()),
            None if self.given.len() == 0 => step < self.strategy.initial_points(frame.dim()),
            // What was given stands for the design points that it is nearest to.
            None => {
                let free = self
                    .given
                    .free_cells(self.strategy.initial_points(frame.dim()));
                choice.step = free.get(own).copied().unwrap_or(step);
                own < free.len()
            }
        };
        let (n, strategy) = (self.len(), Arc::clone(&self.strategy));
        let part = &mut self.parts_mut()[place];
        let lead = match early || part.seen.is_empty() {
            true => None,
            false => part
                .model(strategy.as_ref(), n)?
                .map(|model| model.with_pending(&pending))
                .transpose()?,
        };
        let z = match lead {
            None => self.fill_space(&frame, &choice)?,
            Some(lead) => {
                part.count_fit();
                strategy.choose(&part.seen, &lead, &choice, &mut part.kept)?
            }
        };
        Ok(frame.point_from_frame(&z))
    }

    /// The next of the space-filling points that every run begins with.
    fn fill_space(&self, frame: &Frame, choice: &Choice<'_>) -> Result<Vec<f64>> {
        let measure = frame.measure();
        let nothing = Process::new(Matern32, Theta::constant(0.0, 1.0, measure.scale())?);
        QuasiRandom.choose(&Context {
            belief: &nothing,
            measure,
            taken: choice.taken,
            seed: self.whole.seen.seed,
            step: choice.step,
        })
    }

    /// Take an observation.
    pub fn tell(&mut self, x: &[f64], value: Value) -> Result<()> {
        value.check(self.len())?;
        let mut one = Points::empty(self.points.dim())?;
        one.push(x)?;
        let seen = &mut self.whole.seen;
        let z = seen.frame.to_frame(&one)?;
        self.points.extend(&one)?;
        seen.points.extend(&z)?;
        seen.values.push(value);
        if let Some(ascent) = &self.ascent {
            for part in &mut self.framed {
                part.seen.add(x, value, ascent.reach())?;
            }
        }
        Ok(())
    }

    /// Take an observation that was not asked for: an older one, or one of the user's own.
    pub fn give(&mut self, x: &[f64], value: Value) -> Result<()> {
        let frame = &self.whole.seen.frame;
        let (size, seed) = (
            self.strategy.initial_points(frame.dim()),
            self.whole.seen.seed,
        );
        let cell = given::cell(&frame.point_to_frame(x)?, frame.measure(), size, seed)?;
        let place = self.len();
        self.tell(x, value)?;
        self.given.push(place, cell);
        Ok(())
    }

    /// How many observations were given without being asked for.
    pub fn given(&self) -> usize {
        self.given.len()
    }

    /// The coordinates that the process has for a user's point; `None` where the prior, or its
    /// coordinates in a double, has no place for it.
    pub fn place(&self, x: &[f64]) -> Option<Vec<f64>> {
        let z = self.whole.seen.frame.point_to_frame(x).ok()?;
        let fine = z.iter().all(|z| z.is_finite());
        let climbs = self
            .ascent
            .as_ref()
            .is_none_or(|ascent| ascent.has_place(x));
        (fine && climbs).then_some(z)
    }

    /// An evaluation failed for good: nothing is known of f there but that it cannot be had.
    pub fn fail(&mut self, x: &[f64]) -> Result<()> {
        self.whole.seen.add_failed(x, f64::INFINITY)?;
        if let Some(ascent) = &self.ascent {
            for part in &mut self.framed {
                part.seen.add_failed(x, ascent.reach())?;
            }
        }
        self.answered = None;
        Ok(())
    }

    /// The data so far, in the coordinates of the process.
    pub fn data(&self) -> Result<Data> {
        self.history().data()
    }

    /// The last fit that chose a point, to be kept with the observations; of several frames that
    /// in the first.
    pub fn last_fit(&self) -> Option<&LastFit> {
        self.last_fit_in(0)
    }

    /// The same in the frame of the peak with this number.
    pub fn last_fit_in(&self, component: usize) -> Option<&LastFit> {
        self.parts().get(component)?.seen.last_fit()
    }

    /// Go on from a fit that was kept.
    pub fn restore(&mut self, fit: LastFit) {
        self.restore_in(0, fit);
    }

    /// The same in the frame of the peak with this number.
    pub fn restore_in(&mut self, component: usize, fit: LastFit) {
        self.answered = None;
        if let Some(part) = self.parts_mut().get_mut(component) {
            part.forget_model();
            part.seen.keep(fit);
        }
    }

    /// The run as it was with its first `n` observations, and its fits to them if it made any.
    pub(super) fn first(&self, n: usize) -> Result<Engine> {
        let ascent = self.ascent.as_ref().map(|ascent| ascent.first(n));
        self.first_with(n, ascent)
    }

    /// The same with the frames that this ascent took.
    pub(super) fn first_with(&self, n: usize, ascent: Option<Ascent>) -> Result<Engine> {
        let mut then = Engine {
            strategy: Arc::clone(&self.strategy),
            whole: Part::new(self.whole.seen.first(n)),
            points: self.points.slice(0, n),
            start: self.start.clone(),
            given: self.given.first(n),
            another: self.another.clone(),
            ascent,
            framed: Vec::new(),
            provisional: None,
            looked_at: Vec::new(),
            settled: Vec::new(),
            answered: None,
            proposal: None,
        };
        then.frame_all()?;
        then.looked_at = vec![n; then.framed.len()];
        for component in 0..then.framed.len() {
            let same = then.latest(component) == self.latest(component);
            if let Some(now) = self.framed.get(component).filter(|_| same) {
                let seen = &mut then.framed[component].seen;
                let fits = now.seen.fits.iter().take_while(|fit| fit.n <= seen.len());
                seen.fits = fits.cloned().collect();
            }
        }
        Ok(then)
    }

    /// The model of all observations that chooses; `None` while every f is 0. Of several frames it
    /// is that of the one with most of Z.
    pub fn model(&mut self) -> Result<Option<&Model>> {
        let (n, strategy) = (self.len(), Arc::clone(&self.strategy));
        let lead = self.answered.as_ref().map_or(0, |answered| answered.lead);
        self.parts_mut()[lead].model(strategy.as_ref(), n)
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

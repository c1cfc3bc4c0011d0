//! Run a strategy: ask for a point, take the value, and say what is known of Z.

use super::another_prior::AnotherPrior;
use super::ascent::{self, Ascent};
use super::auto::Climb;
use super::given::{self, Given};
use super::strategy::{Answer, Choice, Kept, Strategy};
use super::{Frame, History, LastFit, Method, Outcome, Peak};
use crate::acquisition::{Acquisition, Context, QuasiRandom};
use crate::belief::{Ensemble, Model, Process, Theta};
use crate::data::{Data, Value};
use crate::error::{Error, Result, same_length};
use crate::kernel::Matern32;
use crate::measure::Measure;
use crate::numeric::stream::Stream;
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
    pub(super) history: History,
    /// The observed points in the user's coordinates.
    points: Points,
    /// Points to begin with.
    start: Vec<Vec<f64>>,
    /// Observations that were given without being asked for.
    given: Given,
    /// Another prior that answers are given under, in place of the run's own.
    pub(super) another: Option<Arc<AnotherPrior>>,
    /// The way to a narrow peak, for a strategy that climbs.
    ascent: Option<Ascent>,
    /// What was seen, in the frame of a peak.
    framed: Option<History>,
    /// The number of observations of a frame that serves an answer while the climb goes on.
    provisional: Option<usize>,
    /// The number of observations at which the frame was looked at last.
    looked_at: usize,
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
            history: History::new(frame, range, seed)?,
            start: Vec::new(),
            given: Given::default(),
            another: None,
            ascent: tuning.and_then(|tuning| Ascent::new(measure, tuning, seed)),
            framed: None,
            provisional: None,
            looked_at: 0,
            strategy,
            current: None,
            answered: None,
            proposal: None,
            kept: Kept::default(),
        })
    }

    /// Observations carry noise of this variance on g.
    pub fn with_noise(mut self, variance: f64) -> Engine {
        self.history.noise = variance;
        if let Some(ascent) = &mut self.ascent {
            ascent.set_noise(variance.sqrt());
        }
        self
    }

    /// Count f as 0 where evaluations fail; without it nothing is assumed of f there.
    pub fn with_failed_as_zero(mut self, is_zero: bool) -> Engine {
        self.history.failed_is_zero = is_zero;
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

    /// What has been seen so far, in the frame that carries the integral.
    pub fn history(&self) -> &History {
        self.framed.as_ref().unwrap_or(&self.history)
    }

    fn history_mut(&mut self) -> &mut History {
        self.framed.as_mut().unwrap_or(&mut self.history)
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
        (&self.points, &self.history.values)
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
        if let Some(x) = self.ascent.as_ref().and_then(|ascent| ascent.ask(pending)) {
            return Ok(x);
        }
        self.renew_frame()?;
        let frame = self.history().frame.clone();
        let pending = frame.to_frame(pending)?;
        let mut taken = self.history().points.clone();
        taken.extend(&pending)?;
        taken.extend(&frame.to_frame(avoid)?)?;
        let mut choice = Choice {
            taken: &taken,
            pending: &pending,
            step,
        };
        // The climb has seen the middle of its peak: a few points around it show the shape.
        let (known, wanted) = match self.peaks().first() {
            None if self.given.len() == 0 => (step, self.strategy.initial_points(frame.dim())),
            // What was given stands for the design points that it is nearest to.
            None => {
                let free = self
                    .given
                    .free_cells(self.strategy.initial_points(frame.dim()));
                choice.step = free.get(own).copied().unwrap_or(step);
                (own, free.len())
            }
            Some((first, _)) => (step - first, frame.dim() + 2),
        };
        let early = known < wanted || self.history().is_empty();
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
                let seen = self.framed.as_ref().unwrap_or(&self.history);
                strategy.choose(seen, &lead, &choice, &mut self.kept)?
            }
        };
        Ok(frame.point_from_frame(&z))
    }

    /// Follow the climb, and take the first frame when it has ended.
    fn look_around(&mut self, failed: &Points) -> Result<()> {
        let n = self.len();
        let Some(ascent) = &mut self.ascent else {
            return Ok(());
        };
        let is_design = |place: usize| self.given.stands_for_design(place);
        ascent.see(&self.points, &self.history.values, &is_design, failed)?;
        if self.provisional.take_if(|then| *then != n).is_some() {
            self.framed = None;
            self.forget();
        }
        let Some(ascent) = &self.ascent else {
            return Ok(());
        };
        if ascent.has_arrived()
            && ascent.peaks().is_empty()
            && let Some(peak) = ascent.first_peak()
        {
            self.take_frame(n, peak)?;
        }
        let better = self.ascent.as_ref().and_then(Ascent::better_peak);
        match better {
            Some(peak) => self.take_frame(n, peak),
            None => Ok(()),
        }
    }

    /// Integrate in the frame of this peak, which rests on the first `n` observations.
    pub fn take_frame(&mut self, n: usize, peak: Peak) -> Result<()> {
        let Some(ascent) = &mut self.ascent else {
            let reason = "the method of the run, or its prior, has no frames";
            return Err(Error::spec("frame", reason));
        };
        ascent.keep(n, peak);
        self.framed = match ascent.frame()? {
            Some(frame) => {
                Some(
                    self.history
                        .framed(frame, &self.points, ascent.reach(), ascent.climbed())?,
                )
            }
            None => None,
        };
        self.provisional = None;
        self.forget();
        Ok(())
    }

    /// Forget what was worked out in another frame.
    fn forget(&mut self) {
        self.current = None;
        self.answered = None;
        self.proposal = None;
        self.kept = Kept::default();
    }

    /// Before the climb has ended, answer in the frame of the peak as far as it is known.
    pub(super) fn take_provisional_frame(&mut self) -> Result<()> {
        let none = Points::empty(self.points.dim())?;
        self.look_around(&none)?;
        let Some(ascent) = self.ascent.as_ref().filter(|_| self.framed.is_none()) else {
            return Ok(());
        };
        if let Some(frame) = ascent.provisional_frame()? {
            self.framed =
                Some(
                    self.history
                        .framed(frame, &self.points, ascent.reach(), ascent.climbed())?,
                );
            self.provisional = Some(self.len());
            self.forget();
        }
        Ok(())
    }

    /// The peaks that frames followed, with the number of observations that each rests on.
    pub fn peaks(&self) -> &[(usize, Peak)] {
        self.ascent.as_ref().map_or(&[], |ascent| ascent.peaks())
    }

    /// The climb to a narrow peak, if there was one.
    pub fn climb(&self) -> Option<&Climb> {
        self.ascent.as_ref()?.climb()
    }

    /// Once a round look whether the peak has the shape of its frame, and take another frame if
    /// it has not.
    fn renew_frame(&mut self) -> Result<()> {
        let n = self.len();
        let due = self.ascent.as_ref().and_then(|ascent| ascent.round_due(n));
        let Some(due) = due.filter(|due| *due > self.looked_at) else {
            return Ok(());
        };
        self.looked_at = due;
        let mut then = self.first(due)?;
        // A frame in which nothing can be fitted is not one to learn a shape from.
        let Ok((points, weights)) = then.peak_nodes() else {
            return Ok(());
        };
        let ascent = self.ascent.as_ref();
        match ascent.and_then(|ascent| ascent.next_peak(&points, &weights)) {
            Some(peak) => self.take_frame(due, peak),
            None => Ok(()),
        }
    }

    /// The next of the space-filling points that every run begins with.
    fn fill_space(&self, choice: &Choice<'_>) -> Result<Vec<f64>> {
        let measure = self.history().frame.measure();
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
        if let (Some(framed), Some(ascent)) = (&mut self.framed, &self.ascent) {
            framed.add(x, value, ascent.reach())?;
        }
        Ok(())
    }

    /// Take an observation that was not asked for: an older one, or one of the user's own.
    pub fn give(&mut self, x: &[f64], value: Value) -> Result<()> {
        let frame = &self.history.frame;
        let (size, seed) = (self.strategy.initial_points(frame.dim()), self.history.seed);
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
        let z = self.history.frame.point_to_frame(x).ok()?;
        let fine = z.iter().all(|z| z.is_finite());
        let climbs = self
            .ascent
            .as_ref()
            .is_none_or(|ascent| ascent.has_place(x));
        (fine && climbs).then_some(z)
    }

    /// An evaluation failed for good: nothing is known of f there but that it cannot be had.
    pub fn fail(&mut self, x: &[f64]) -> Result<()> {
        self.history.add_failed(x, f64::INFINITY)?;
        if let (Some(framed), Some(ascent)) = (&mut self.framed, &self.ascent) {
            framed.add_failed(x, ascent.reach())?;
        }
        self.answered = None;
        Ok(())
    }

    /// The data so far, in the coordinates of the process.
    pub fn data(&self) -> Result<Data> {
        self.history().data()
    }

    /// The last fit that chose a point, to be kept with the observations.
    pub fn last_fit(&self) -> Option<&LastFit> {
        self.history().last_fit()
    }

    /// Go on from a fit that was kept.
    pub fn restore(&mut self, fit: LastFit) {
        self.current = None;
        self.answered = None;
        self.history_mut().keep(fit);
    }

    /// The fit behind the model has chosen a point. Only such a fit counts for later ones: looking
    /// at a run leaves no trace.
    fn count_fit(&mut self) {
        if let Some((_, fit, _)) = &self.current {
            let fit = fit.clone();
            self.history_mut().keep(fit);
        }
    }

    /// The run as it was with its first `n` observations, and its fit to them if it made one.
    pub(super) fn first(&self, n: usize) -> Result<Engine> {
        let mut then = Engine {
            strategy: Arc::clone(&self.strategy),
            history: self.history.first(n),
            points: self.points.slice(0, n),
            start: self.start.clone(),
            given: self.given.first(n),
            another: self.another.clone(),
            ascent: self.ascent.as_ref().map(|ascent| ascent.first(n)),
            framed: None,
            provisional: None,
            looked_at: n,
            current: None,
            answered: None,
            proposal: None,
            kept: Kept::default(),
        };
        let same = then.peaks().len() == self.peaks().len();
        if let Some(ascent) = &then.ascent
            && let Some(frame) = ascent.frame()?
        {
            let mut framed =
                then.history
                    .framed(frame, &then.points, ascent.reach(), ascent.climbed())?;
            if same && let Some(now) = &self.framed {
                let fits = now.fits.iter().take_while(|fit| fit.n <= framed.len());
                framed.fits = fits.cloned().collect();
            }
            then.framed = Some(framed);
        }
        Ok(then)
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
            let (model, fit) = self.strategy.fit(self.history())?;
            self.current = Some((model, fit, n));
        }
        Ok(self.current.as_ref().map(|(model, _, _)| model))
    }

    /// What is believed of f and of Z. All that a run says comes from here.
    pub fn answer(&mut self) -> Result<&Answer> {
        let n = self.len();
        let known = matches!(&self.answered, Some((_, known)) if *known == n);
        if !known {
            self.take_provisional_frame()?;
            self.model()?;
            let Some((lead, fit, _)) = &self.current else {
                let reason = "every observation is 0, so nothing is known of the scale of Z; \
                              widen the budget or look where f > 0";
                return Err(Error::spec("values", reason));
            };
            let mut answer = self.strategy.answer(self.history(), lead, fit)?;
            if let Some((law, estimate)) = self.law_under(&answer.ensemble)? {
                (answer.law, answer.estimate) = (law, estimate);
            }
            if self.another.is_none()
                && let Some(ln_mass) = self.ascent.as_ref().and_then(Ascent::ln_mass_outside)
            {
                let mut rng = self.history().streams().rng(Stream::Outside);
                answer = answer.with_outside(ln_mass, &mut rng);
            }
            let ascent = self.ascent.as_ref().filter(|ascent| ascent.is_under_way());
            let answer = match ascent.map(Ascent::rise_nats) {
                Some(rise) => answer.reaching(rise),
                None => answer.with_law_reaching(self.unknown_shape_nats()),
            };
            self.answered = Some((answer, n));
        }
        match &self.answered {
            Some((answer, _)) => Ok(answer),
            None => Err(Error::spec("values", "nothing has been observed")),
        }
    }

    /// How far the interval of ln Z must reach while few evaluations were made in frames; 0 without
    /// a frame.
    fn unknown_shape_nats(&self) -> f64 {
        let first = self.peaks().first().map(|(first, _)| *first);
        let in_frames = first.map(|first| self.len().saturating_sub(first));
        in_frames.map_or(0.0, |n| ascent::unknown_shape_nats(n, self.points.dim()))
    }

    /// The present answer, if it was worked out; looking at it costs nothing.
    pub fn answered(&self) -> Option<&Answer> {
        let answered = self.answered.as_ref();
        answered
            .filter(|(_, n)| *n == self.len())
            .map(|(answer, _)| answer)
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

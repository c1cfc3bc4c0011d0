//! Climb to the top of a narrow peak under a vague prior.
//!
//! The climb lives in the free coordinates of the prior and follows ln f + ln pi there. It begins
//! at the prior's centre and searches along each parameter in turn, because the scales of the
//! parameters may differ by orders of magnitude. Those that may be any positive number come first:
//! the width of the noise decides how far any other one reaches. Then it takes Newton's steps, by
//! differences of exact values. Where values carry noise, or differences say nothing, it goes to
//! the top of a surface through the best observations. Where that top is not what it promised, it
//! asks where the surface knows least, or searches along a parameter again. Every observation
//! counts, whoever asked for it.

mod along;
mod beside;
mod differences;
mod growth;
mod line;
mod newton;
mod parameters;
mod reach;
mod searching;
mod spread;
mod starts;
mod surface;
mod tops;

pub(in crate::engine) use parameters::Parameters;

use super::Tuning;
use crate::numeric::linalg::Mat;
use crate::numeric::random::Rng;
use along::Along;
use line::Line;
use newton::{End, Newton};
use searching::Side;
use spread::spread;
use surface::{Surface, Tilt};

/// A climb: a function of the observations in the order in which they were told.
#[derive(Debug, Clone)]
pub struct Climb {
    /// Observations, in free coordinates, with ln f + ln pi.
    points: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// How far to go along each parameter, and whether the user said so.
    steps: Vec<f64>,
    hinted: bool,
    parameters: Parameters,
    /// The order in which the parameters are searched.
    order: Vec<usize>,
    /// The number of observations when the centre was awaited: the first round goes on from those
    /// that have come since.
    foot: usize,
    /// How many searches along a parameter there were.
    searches: usize,
    /// What the last search along each parameter gained, in nats, and when it was.
    gains: Vec<(f64, usize)>,
    /// Lines along the parameters whose turn comes later in the round.
    sides: Vec<Side>,
    /// Nats for each e-fold of the parameters that act as a noise, as far as that is known.
    growths: Vec<Option<f64>>,
    /// The covariance of the peak by Newton's steps.
    covariance: Option<Mat>,
    /// How far a surface is trusted, in steps.
    radius: f64,
    /// The tilts that a surface may have, and those that the last one had, by their number.
    tilts: Vec<Tilt>,
    chosen: Vec<usize>,
    /// How many surfaces there were, and how many broke their promise.
    surfaces: usize,
    broken: usize,
    /// Points that are still asked for where the surface knows least.
    uncertain_left: usize,
    /// Times in a row that the top was where it was thought to be.
    confirmed: usize,
    /// The largest value when the present round of searches began.
    before_round: f64,
    /// Where the best was when its way was followed the last time.
    mark: Vec<f64>,
    /// The value at the last rise by more than the tolerance, and since then the searches along
    /// parameters that have ended, and the promises that were broken.
    risen_to: f64,
    idle_searches: usize,
    idle_tops: usize,
    stage: Stage,
    /// The point whose value decides the next one.
    awaited: Option<Vec<f64>>,
    settings: Settings,
}

/// The numbers of a climb.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    /// A promise of less than this is the top.
    pub tolerance_nats: f64,
    /// The scale of a parameter is the step after which ln f has fallen by this.
    pub drop_nats: f64,
    /// The first step along a parameter is so many times those that were found along others.
    pub stretch: f64,
    /// Parameters are searched again while a round gains more than this for each.
    pub round_nats: f64,
    /// Values carry noise of this sd.
    pub noise_nats: f64,
}

impl Settings {
    /// The numbers of a tuning, for values that carry noise of this sd.
    pub fn of(tuning: &Tuning, noise_sd: f64) -> Settings {
        Settings {
            tolerance_nats: tuning.climb_tolerance_nats.max(2.0 * noise_sd),
            drop_nats: tuning.climb_drop_nats.max(4.0 * noise_sd),
            stretch: tuning.climb_stretch,
            round_nats: tuning.climb_round_nats,
            noise_nats: noise_sd,
        }
    }
}

#[derive(Debug, Clone)]
enum Stage {
    /// The first point, where the prior has its centre.
    Centre,
    /// A search along a line: one of a round along all parameters, or one between two surfaces.
    Search {
        line: Line,
        origin: Vec<f64>,
        along: Along,
        in_round: bool,
    },
    /// Newton's steps.
    Newton(Box<Newton>),
    /// The top of a surface.
    Top(Promise),
    /// Where the surface knows least.
    Uncertain,
    /// The top is known, or nothing rises any more.
    Ended,
}

/// What a surface promises of its top.
#[derive(Debug, Clone, Copy)]
struct Promise {
    /// The best value so far.
    before: f64,
    /// How much higher the top is.
    gain: f64,
    /// Whether it lies inside the radius.
    is_inside: bool,
    /// Whether the observations leave no coefficient of the surface open.
    is_determined: bool,
}

/// Newton's steps are taken from so many dimensions on: below, the few values that a surface needs
/// also show the peak's shape.
const STEPS_FROM: usize = 4;
/// Searches from a centre where f is 0 before the climb begins at the best point elsewhere.
const BLIND_SEARCHES: usize = 2;
/// A parameter acts as a noise where ln f falls by more than this for each e-fold on the gentle
/// side of its top, in nats: by one for each observation that it is the noise of.
const NOISE_SLOPE: f64 = 2.0;
/// A top must come out as promised so many times in a row.
const CONFIRMATIONS: usize = 2;
/// How far a surface is trusted: at first, at least and at most, in steps.
const RADIUS: [f64; 3] = [2.0, 0.3, 64.0];

impl Climb {
    /// A climb that knows nothing yet, with the numbers of a tuning, for values that carry noise of
    /// this sd.
    pub(in crate::engine) fn of(
        parameters: Parameters,
        tuning: &Tuning,
        noise_sd: f64,
        seed: u64,
    ) -> Climb {
        Climb::new(parameters, Settings::of(tuning, noise_sd), seed)
    }

    fn new(parameters: Parameters, settings: Settings, seed: u64) -> Climb {
        let dim = parameters.ends.len();
        let mut order: Vec<usize> = (0..dim).collect();
        Rng::new(seed).child(dim as u64).shuffle(&mut order);
        order.sort_by_key(|&axis| !parameters.is_scale[axis]);
        let tilts = parameters.tilts();
        Climb {
            points: Vec::new(),
            values: Vec::new(),
            steps: vec![1.0; dim],
            hinted: false,
            parameters,
            order,
            foot: 0,
            searches: 0,
            gains: vec![(0.0, 0); dim],
            sides: Vec::new(),
            growths: vec![None; dim],
            covariance: None,
            radius: RADIUS[0],
            confirmed: 0,
            before_round: f64::NEG_INFINITY,
            mark: vec![0.0; dim],
            risen_to: f64::NEG_INFINITY,
            idle_searches: 0,
            idle_tops: 0,
            tilts,
            chosen: Vec::new(),
            surfaces: 0,
            broken: 0,
            uncertain_left: 0,
            stage: Stage::Centre,
            awaited: Some(vec![0.0; dim]),
            settings,
        }
    }

    /// The number of parameters.
    pub(in crate::engine) fn dim(&self) -> usize {
        self.steps.len()
    }

    /// The point whose value is wanted; `None` when the climb has ended.
    pub fn awaited(&self) -> Option<&[f64]> {
        self.awaited.as_deref()
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.awaited.is_none()
    }

    /// The largest value of ln f + ln pi, in free coordinates, and where it is.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        let best = self.best_index()?;
        Some((&self.points[best], self.values[best]))
    }

    fn best_index(&self) -> Option<usize> {
        self.best_since(0)
    }

    /// The best observation from this one on.
    fn best_since(&self, first: usize) -> Option<usize> {
        let finite = (first..self.values.len()).filter(|&i| self.values[i].is_finite());
        finite.max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]))
    }

    /// The observation that the climb goes on from. In the first round that is none of the points
    /// that were spread over the prior: far from the centre a peak is harder to find.
    ///
    /// Where f is 0 at the centre the first searches begin there all the same: a likelihood that
    /// overflows at the centre of a shape or a width comes back along it.
    fn here(&self) -> Option<usize> {
        let in_first_round = self.searches <= self.order.len() && !self.hinted;
        let since = in_first_round.then(|| self.best_since(self.foot));
        let is_blind = in_first_round && self.searches <= BLIND_SEARCHES;
        since
            .flatten()
            .or_else(|| self.best_index().filter(|_| !is_blind))
    }

    /// Whether a surface promises no rise from the best.
    fn is_level(&self, is_inside: bool, gain: f64) -> bool {
        is_inside && gain < self.settings.tolerance_nats
    }

    /// Take an observation of ln f + ln pi. `is_awaited` says that it is the one waited for; any
    /// other only counts.
    pub fn tell(&mut self, z: &[f64], value: f64, is_awaited: bool) {
        self.points.push(z.to_vec());
        let value = within_digits(value);
        self.values.push(value);
        if value > self.risen_to + self.settings.tolerance_nats {
            (self.risen_to, self.idle_searches, self.idle_tops) = (value, 0, 0);
        }
        if is_awaited {
            return self.go_on(value);
        }
        if let Stage::Search {
            line,
            origin,
            along,
            ..
        } = &mut self.stage
            && let Some(step) = along.step_to(origin, z, &self.steps)
        {
            line.offer(step, value);
        }
        for side in &mut self.sides {
            side.offer(z, value, &self.steps);
        }
        if let Stage::Newton(newton) = &mut self.stage {
            return newton.offer(z, value);
        }
        if !matches!(self.stage, Stage::Centre | Stage::Ended) {
            self.check_top();
        }
    }

    /// With several evaluations at once, the others may show the top before the awaited one does.
    fn check_top(&mut self) {
        let known = self.surface(false).filter(Surface::is_determined);
        let ascent = known.and_then(|surface| surface.ascent(self.radius));
        match ascent.is_some_and(|ascent| self.is_level(ascent.is_inside, ascent.gain)) {
            true => self.confirmed += 1,
            false => self.confirmed = 0,
        }
        if self.confirmed > CONFIRMATIONS {
            self.end();
        }
    }

    /// The awaited value is one that was told before.
    pub(in crate::engine) fn reuse(&mut self, value: f64) {
        self.go_on(within_digits(value));
    }

    /// The awaited evaluation has failed: nothing is known there but that f cannot be had.
    pub fn fail(&mut self) {
        self.go_on(f64::NEG_INFINITY);
    }

    /// The surface of the best observations; `looks` says whether to choose its tilts afresh.
    fn surface(&self, looks: bool) -> Option<Surface> {
        let known = self.steps.iter().zip(&self.gains);
        let known = known.map(|(step, (_, when))| (*when > 0 || self.hinted).then_some(*step));
        let steps: Vec<Option<f64>> = known.collect();
        let seen = (self.points.as_slice(), self.values.as_slice());
        let tilts = (self.tilts.as_slice(), self.chosen.as_slice(), looks);
        Surface::fit(seen, &steps, tilts, self.settings.noise_nats)
    }

    /// The value that the climb goes on from.
    fn height(&self) -> f64 {
        self.here().map_or(f64::NEG_INFINITY, |i| self.values[i])
    }

    fn go_on(&mut self, value: f64) {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        match stage {
            Stage::Centre => {
                // The centre is the last observation with its value, unless it failed.
                let known = self
                    .values
                    .iter()
                    .rposition(|v| v.is_finite() && *v == value);
                self.foot = known.unwrap_or(self.values.len());
                self.begin_round();
            }
            Stage::Search {
                mut line,
                origin,
                along,
                in_round,
            } => {
                line.tell(value);
                match line.next() {
                    Some(_) => self.search(line, origin, along, in_round),
                    None => self.after_search(&line, &along, in_round),
                }
            }
            Stage::Newton(mut newton) => {
                newton.tell(value);
                self.follow(newton);
            }
            Stage::Top(promise) => self.after_top(value, promise),
            Stage::Uncertain => self.go_to_top(),
            Stage::Ended => self.awaited = None,
        }
    }

    /// Whether a parameter acts as a noise: ln f grows steadily towards its top, and falls off a
    /// cliff behind it.
    pub(in crate::engine) fn is_noise(&self, axis: usize) -> bool {
        let grows = self.growths[axis].is_some_and(|slope| slope.abs() > NOISE_SLOPE);
        grows && self.parameters.e_folds(axis).is_some()
    }

    /// Take Newton's steps from the best observation, if values are exact.
    fn begin_steps(&mut self) {
        let best = self.best().map(|(z, value)| (z.to_vec(), value));
        let is_worth = self.settings.noise_nats == 0.0 && self.steps.len() >= STEPS_FROM;
        let Some((at, value)) = best.filter(|_| is_worth) else {
            return self.go_to_top();
        };
        let noises = (0..self.steps.len())
            .filter(|&axis| self.is_noise(axis))
            .filter_map(|axis| Some((axis, self.parameters.e_folds(axis)?)));
        let noises: Vec<(usize, f64)> = noises.collect();
        let nats = (self.settings.drop_nats, self.settings.tolerance_nats);
        let newton = Newton::new((&at, value), &self.parameters, &self.steps, nats, &noises);
        self.follow(Box::new(newton));
    }

    /// Ask for what Newton's steps want next, or take what they found.
    fn follow(&mut self, newton: Box<Newton>) {
        match newton.end() {
            None => {
                self.awaited = newton.open().next().map(<[f64]>::to_vec);
                self.stage = Stage::Newton(newton);
            }
            Some(End::Top | End::Slow) => {
                self.covariance = newton.covariance();
                self.end();
            }
            Some(End::Failed) => self.go_to_top(),
        }
    }

    fn end(&mut self) {
        self.stage = Stage::Ended;
        self.awaited = None;
    }

    /// The centre and covariance of the peak, as far as they are known: by the surface of the
    /// best observations, and by their spread where that explains little.
    pub(in crate::engine) fn shape(&self) -> Option<(Vec<f64>, Mat)> {
        let (best, _) = self.best()?;
        let by_steps = match &self.stage {
            Stage::Newton(newton) => newton.covariance(),
            _ => self.covariance.clone(),
        };
        if let Some(covariance) = by_steps {
            return Some((best.to_vec(), covariance));
        }
        let known = self.surface(false).filter(|s| s.unexplained < 0.4);
        let covariance = known.and_then(|surface| surface.covariance(RADIUS[0]));
        let spread = spread(&self.points, &self.values, &self.steps)?;
        Some((best.to_vec(), covariance.unwrap_or(spread)))
    }
}

/// What lies lower is taken as f = 0: as a number it would set the scale of a whole line.
const DEEPEST: f64 = -1e15;

/// A value as a climb goes by it.
fn within_digits(value: f64) -> f64 {
    match value >= DEEPEST {
        true => value,
        false => f64::NEG_INFINITY,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(super) fn climb(dim: usize) -> Climb {
        let parameters = Parameters {
            ends: vec![(-7.5, 7.5); dim],
            is_positive: vec![false; dim],
            is_scale: vec![false; dim],
            units: vec![Some(100.0); dim],
        };
        Climb::new(parameters, Settings::of(&Tuning::default(), 0.0), 1)
    }

    #[test]
    fn the_first_line_leads_from_the_centre_though_a_point_elsewhere_is_higher() {
        let mut climb = climb(2);
        climb.tell(&[2.0, 2.0], -5.0, false);
        // The centre comes back with the rounding of its coordinates.
        climb.tell(&[1e-17, 0.0], -10.0, true);
        let z = climb.awaited().unwrap();
        assert!(z.iter().filter(|z| z.abs() < 1e-9).count() == 1, "{z:?}");
    }

    #[test]
    fn from_a_centre_where_f_is_0_a_scale_is_searched_before_any_other_place_is() {
        let mut climb = climb(2);
        climb.parameters.is_scale = vec![false, true];
        climb.order = vec![1, 0];
        climb.tell(&[2.0, 2.0], -5.0, false);
        climb.tell(&[0.0, 0.0], f64::NEG_INFINITY, true);
        assert_eq!(climb.awaited(), Some(&[0.0, 1.0][..]));
        climb.tell(&[0.0, 1.0], f64::NEG_INFINITY, true);
        let back = climb.awaited().unwrap().to_vec();
        assert!(back[0] == 0.0 && back[1] < 0.0, "{back:?}");
        // Lower than elsewhere, but near the centre: the round goes on from here.
        climb.tell(&back, -1e6, true);
        while climb.searches == 1 {
            let z = climb.awaited().unwrap().to_vec();
            assert_eq!(z[0], 0.0);
            climb.tell(&z, -1e6 - (z[1] - back[1]).powi(2), true);
        }
        let z = climb.awaited().unwrap();
        assert!(z[1] < 0.0 && z[0] != 2.0, "{z:?}");
    }
}

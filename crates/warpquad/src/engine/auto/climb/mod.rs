//! Climb to the top of a narrow peak under a vague prior.
//!
//! The climb lives in the free coordinates of the prior and follows ln f + ln pi there. It begins
//! at the prior's centre and searches along each parameter in turn, because the scales of the
//! parameters may differ by orders of magnitude. Those that may be any positive number come first:
//! the width of the noise decides how far any other one reaches. Then it goes to the top of a
//! surface through the best observations. Where that top is not what it promised, it asks where
//! the surface knows least, or searches along a parameter again. Every observation counts, whoever
//! asked for it.

mod line;
mod surface;

use super::Tuning;
use crate::numeric::linalg::Mat;
use crate::numeric::loops::dot;
use crate::numeric::random::Rng;
use line::Line;
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

/// What a climb has to know of the parameters.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct Parameters {
    /// The coordinates beyond which the prior has no mass that a double could tell from 0.
    pub ends: Vec<(f64, f64)>,
    /// Those that are never negative.
    pub is_positive: Vec<bool>,
    /// Those that may be any positive number, as the width of a noise is.
    pub is_scale: Vec<bool>,
    /// For each parameter what its coordinate is multiplied with: the e-folds of a positive one, x
    /// itself of one on the whole line; `None` where the coordinate is neither.
    pub units: Vec<Option<f64>>,
}

/// The rates at which likelihoods grow with a noise, a precision or an intercept: for each e-fold
/// of a positive parameter, and for each unit of one of either sign.
const RATES_OF_POSITIVE: [f64; 3] = [-2.0, -1.0, 1.0];
const RATES_OF_OTHERS: [f64; 2] = [-1.0, 1.0];

impl Parameters {
    /// The tilts that a surface may have.
    fn tilts(&self) -> Vec<Tilt> {
        let of = |(axis, unit): (usize, &Option<f64>)| {
            let rates: &[f64] = match self.is_positive[axis] {
                true => &RATES_OF_POSITIVE,
                false => &RATES_OF_OTHERS,
            };
            let unit = *unit;
            let tilt = move |rate: &f64| {
                unit.map(|unit| Tilt {
                    axis,
                    rate: rate * unit,
                })
            };
            rates.iter().filter_map(tilt).collect::<Vec<Tilt>>()
        };
        self.units.iter().enumerate().flat_map(of).collect()
    }

    /// The point with no coordinate beyond the ends.
    fn within(&self, mut z: Vec<f64>) -> Vec<f64> {
        for (z, &(low, high)) in z.iter_mut().zip(&self.ends) {
            *z = z.clamp(low, high);
        }
        z
    }
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

/// Where a line goes.
#[derive(Debug, Clone)]
enum Along {
    /// Along a parameter, in its score.
    Axis(usize),
    /// In a direction, which is a step of length 1.
    Direction(Vec<f64>),
}

impl Along {
    /// The point after a step from an origin.
    fn point(&self, origin: &[f64], step: f64) -> Vec<f64> {
        let mut z = origin.to_vec();
        match self {
            Along::Axis(axis) => z[*axis] += step,
            Along::Direction(by) => z.iter_mut().zip(by).for_each(|(z, by)| *z += step * by),
        }
        z
    }

    /// The step to a point on the line; `None` for a point that is not, where lengths are measured
    /// by `steps`.
    fn step_to(&self, origin: &[f64], z: &[f64], steps: &[f64]) -> Option<f64> {
        let step = match self {
            Along::Axis(axis) => z[*axis] - origin[*axis],
            Along::Direction(by) => {
                let largest = (0..by.len()).max_by(|&i, &j| by[i].abs().total_cmp(&by[j].abs()))?;
                (z[largest] - origin[largest]) / by[largest]
            }
        };
        let near = self.point(origin, step);
        let mut off = near.iter().zip(z).zip(steps);
        off.all(|((a, b), s)| (a - b).abs() < 1e-9 * s)
            .then_some(step)
    }
}

/// So many searches in some direction, after one along each parameter, end a climb.
const BLIND_SEARCHES: usize = 3;
/// Broken promises for each of the searches that end a climb without a rise.
const IDLE_TOPS: usize = 3;
/// A top that keeps this part of its promise is worth another one.
const KEPT_PART: f64 = 0.25;
/// A surface is trusted half as far where its top keeps less than this part of its promise.
const BROKEN_PART: f64 = 0.1;
/// After so many broken promises a parameter is searched again; after each other one, so many
/// points are asked for where the surface knows least.
const SEARCH_ONE_IN: usize = 3;
const UNCERTAIN_POINTS: usize = 2;
/// Places that are looked at for such a point.
const CANDIDATES: usize = 80;
/// Tilts are chosen afresh at each surface of the first observations, and then at one of so many.
const EARLY: usize = 60;
const LOOKS_ONE_IN: usize = 3;
/// A surface that leaves no more of a drop unexplained says how long the steps are; by no larger
/// factor at a time, and if one changes by more than this part.
const TRUSTED: f64 = 0.05;
const MOST_RESCALING: f64 = 10.0;
const WORTH_RESCALING: f64 = 0.3;
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

    /// Begin with these steps along the parameters.
    pub(in crate::engine) fn set_steps(&mut self, steps: Option<&[f64]>) {
        if let Some(steps) = steps {
            self.hinted = true;
            self.steps = steps.iter().map(|s| s.clamp(1e-12, 2.0)).collect();
        }
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
    fn here(&self) -> Option<usize> {
        let in_first_round = self.searches <= self.order.len() && !self.hinted;
        let since = in_first_round.then(|| self.best_since(self.foot));
        since.flatten().or_else(|| self.best_index())
    }

    /// A point beside the awaited one, for a further evaluation at the same time: other steps along
    /// the same line, tops of the surface of all that is known by now, points around the best.
    pub fn beside(&self, number: usize) -> Vec<f64> {
        const RADII: [f64; 3] = [1.0, 0.5, 2.0];
        let mut number = number;
        let surface = self.surface(false);
        // Where the top is known, what is left to learn is the shape.
        if let Some(surface) = &surface
            && let Some(ascent) = surface.ascent(self.radius)
            && self.is_level(ascent.is_inside, ascent.gain)
            && let Some(z) = self.around(surface, number)
        {
            return z;
        }
        if let Stage::Search {
            line,
            origin,
            along,
            ..
        } = &self.stage
        {
            if let Some(step) = line.beside(number) {
                return self.parameters.within(along.point(origin, step));
            }
            number -= line::BESIDE;
        }
        let top = |radius: f64| {
            let surface = surface.as_ref()?;
            let ascent = surface.ascent(radius * self.radius)?;
            Some(self.parameters.within(surface.point(&ascent.step)))
        };
        // A second value at the same place says nothing.
        let is_new = |z: &Vec<f64>| self.points.iter().all(|known| self.is_apart(z, known));
        let top = RADII.get(number).and_then(|radius| top(*radius));
        if let Some(z) = top.filter(is_new) {
            return z;
        }
        let mut rng = Rng::new(number as u64).child(self.values.len() as u64);
        let zero = vec![0.0; self.steps.len()];
        let best = self.best().map_or(zero.as_slice(), |(z, _)| z);
        let pairs = best.iter().zip(&self.steps);
        let beside = pairs.map(|(z, s)| z + s * rng.normal()).collect();
        self.parameters.within(beside)
    }

    /// Whether a surface promises no rise from the best.
    fn is_level(&self, is_inside: bool, gain: f64) -> bool {
        is_inside && gain < self.settings.tolerance_nats
    }

    /// A draw from a peak of the surface's shape about the best; `None` where it has none.
    fn around(&self, surface: &Surface, number: usize) -> Option<Vec<f64>> {
        let mut rng = Rng::new(number as u64).child(self.values.len() as u64);
        let z = surface.draw(RADIUS[0], &mut rng)?;
        Some(self.parameters.within(z))
    }

    /// Whether two points differ by more than a twentieth of a step along some parameter.
    fn is_apart(&self, a: &[f64], b: &[f64]) -> bool {
        let mut apart = a.iter().zip(b).zip(&self.steps);
        apart.any(|((a, b), s)| (a - b).abs() > 0.05 * s)
    }

    /// Take an observation of ln f + ln pi. `is_awaited` says that it is the one waited for; any
    /// other only counts.
    pub fn tell(&mut self, z: &[f64], value: f64, is_awaited: bool) {
        self.points.push(z.to_vec());
        self.values.push(if value.is_nan() {
            f64::NEG_INFINITY
        } else {
            value
        });
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
        self.go_on(value);
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
            Stage::Top(promise) => self.after_top(value, promise),
            Stage::Uncertain => self.go_to_top(),
            Stage::Ended => self.awaited = None,
        }
    }

    fn begin_round(&mut self) {
        self.before_round = self.height();
        self.begin_search(true);
    }

    /// Search along the next parameter of a round, or along the likeliest line between two
    /// surfaces.
    fn begin_search(&mut self, in_round: bool) {
        let (d, count) = (self.order.len(), self.searches);
        self.searches += 1;
        let along = match in_round {
            true => Along::Axis(self.order[count % d]),
            false => self.likeliest(count),
        };
        let step = match along {
            Along::Direction(_) => 1.0,
            Along::Axis(axis) if count < d && !self.hinted => self.first_step(axis, count),
            // Every other time the other way.
            Along::Axis(axis) if count / d % 2 == 1 => -0.7 * self.steps[axis],
            Along::Axis(axis) => self.steps[axis],
        };
        let zero = vec![0.0; d];
        let origin = self.here().map_or(zero, |i| self.points[i].clone());
        let Settings {
            drop_nats,
            tolerance_nats,
            ..
        } = self.settings;
        let line = Line::new(self.height(), step, drop_nats, tolerance_nats);
        self.search(line, origin, along, in_round);
    }

    /// The likeliest line to lead higher: every third time the way that the best has come since
    /// the last time, which follows a ridge; along a parameter; and in some direction once no
    /// parameter led higher.
    fn likeliest(&mut self, count: usize) -> Along {
        let best = self.best().map(|(z, _)| z.to_vec()).unwrap_or_default();
        if count % 3 == 2 && best.len() == self.mark.len() {
            let way: Vec<f64> = best.iter().zip(&self.mark).map(|(b, m)| b - m).collect();
            let moved = way.iter().zip(&self.steps).any(|(w, s)| w.abs() > 0.1 * s);
            self.mark = best;
            if moved {
                return Along::Direction(way);
            }
        }
        if self.idle_searches >= self.order.len() {
            let mut rng = Rng::new(count as u64).child(self.order[0] as u64);
            return Along::Direction(self.steps.iter().map(|s| s * rng.normal()).collect());
        }
        Along::Axis(self.likeliest_axis())
    }

    /// The parameter whose last search gained the most, where three tenths are forgotten with
    /// every search along others; those that waited long come first among equals.
    fn likeliest_axis(&self) -> usize {
        let worth = |axis: &usize| {
            let (gain, when) = self.gains[*axis];
            let waited = (self.searches - when) as f64;
            gain * 0.7_f64.powf(waited) + self.settings.tolerance_nats * waited
        };
        let better = |best: usize, axis: usize| match worth(&axis) > worth(&best) {
            true => axis,
            false => best,
        };
        self.order.iter().copied().fold(self.order[0], better)
    }

    /// How far to go along a parameter that was not searched yet: as far as the prior reaches, or
    /// some times as far as along the others if it may be of either sign.
    fn first_step(&self, axis: usize, searched: usize) -> f64 {
        let found = &self.order[..searched];
        match found.len() {
            0 => 1.0,
            _ if self.parameters.is_scale[axis] => 1.0,
            count => {
                let ln: f64 = found.iter().map(|&axis| self.steps[axis].ln()).sum();
                (self.settings.stretch * (ln / count as f64).exp()).min(1.0)
            }
        }
    }

    fn search(&mut self, line: Line, origin: Vec<f64>, along: Along, in_round: bool) {
        let z = along.point(&origin, line.next().unwrap_or(0.0));
        self.awaited = Some(self.parameters.within(z));
        self.stage = Stage::Search {
            line,
            origin,
            along,
            in_round,
        };
    }

    fn after_search(&mut self, line: &Line, along: &Along, in_round: bool) {
        self.idle_searches += 1;
        if let Along::Axis(axis) = *along {
            self.steps[axis] = line.scale().clamp(f64::MIN_POSITIVE, 2.0);
            self.gains[axis] = (line.gain(), self.searches);
        }
        let d = self.order.len();
        if in_round && !self.searches.is_multiple_of(d) {
            return self.begin_search(true);
        }
        let gained = self.height() - self.before_round;
        // The first round has only found the scales: whatever it gained, the next one tells.
        if in_round && gained > self.settings.round_nats * d as f64 {
            return self.begin_round();
        }
        self.go_to_top();
    }

    /// Go to the top of the surface, if there is one.
    fn go_to_top(&mut self) {
        // Neither a parameter nor a surface leads higher.
        let most = self.order.len() + BLIND_SEARCHES;
        if self.idle_searches >= most || self.idle_tops >= IDLE_TOPS * most {
            return self.end();
        }
        let looks = self.values.len() < EARLY || self.surfaces.is_multiple_of(LOOKS_ONE_IN);
        self.surfaces += 1;
        let surface = self.surface(looks);
        self.chosen = surface.as_ref().map_or(Vec::new(), |s| s.chosen().to_vec());
        let surface = surface.and_then(|surface| self.rescaled(surface));
        let ascent = surface.as_ref().and_then(|s| s.ascent(self.radius));
        let (Some(surface), Some(ascent)) = (surface, ascent) else {
            return self.begin_search(false);
        };
        if self.uncertain_left > 0 {
            self.uncertain_left -= 1;
            let level = self.is_level(ascent.is_inside, ascent.gain);
            let around = level.then(|| self.around(&surface, 0)).flatten();
            let z = around.unwrap_or_else(|| self.most_uncertain(&surface));
            self.awaited = Some(self.parameters.within(z));
            self.stage = Stage::Uncertain;
            return;
        }
        let z = surface.point(&ascent.step);
        self.awaited = Some(self.parameters.within(z));
        self.stage = Stage::Top(Promise {
            before: surface.top(),
            gain: ascent.gain,
            is_inside: ascent.is_inside,
            is_determined: surface.is_determined(),
        });
    }

    /// The same surface with steps as long as it says that they are.
    fn rescaled(&mut self, surface: Surface) -> Option<Surface> {
        if surface.unexplained > TRUSTED {
            return Some(surface);
        }
        let mut moved = false;
        for (step, reach) in self
            .steps
            .iter_mut()
            .zip(surface.reaches(self.settings.drop_nats))
        {
            if let Some(reach) = reach {
                let factor = (reach / *step).clamp(1.0 / MOST_RESCALING, MOST_RESCALING);
                moved |= factor.ln().abs() > WORTH_RESCALING;
                *step = (*step * factor).max(f64::MIN_POSITIVE);
            }
        }
        match moved {
            true => self.surface(false),
            false => Some(surface),
        }
    }

    /// The point around the best that the surface knows least about, for what it promises there.
    fn most_uncertain(&self, surface: &Surface) -> Vec<f64> {
        let d = self.steps.len();
        let mut rng = Rng::new(self.values.len() as u64).child(self.order[0] as u64);
        let radius = self.radius.min(RADIUS[0]) * surface.step_length();
        let mut best = (f64::NEG_INFINITY, vec![0.0; d]);
        for number in 0..CANDIDATES {
            let mut y = vec![0.0; d];
            if number % 2 == 0 {
                y.iter_mut().for_each(|y| *y = rng.normal());
                let length = dot(&y, &y).sqrt();
                let wanted = radius * (0.5 + 0.5 * rng.uniform());
                y.iter_mut().for_each(|y| *y *= wanted / length);
            } else {
                // Two parameters at once show how they depend on each other.
                for _ in 0..2 {
                    let sign = if rng.uniform() < 0.5 { -1.0 } else { 1.0 };
                    let axis = ((rng.uniform() * d as f64) as usize).min(d - 1);
                    y[axis] += sign * radius * std::f64::consts::FRAC_1_SQRT_2;
                }
            }
            let (mean, sd) = surface.at(&y);
            if mean + sd > best.0 {
                best = (mean + sd, y);
            }
        }
        surface.point(&best.1)
    }

    fn after_top(&mut self, value: f64, promise: Promise) {
        let (gain, promised) = (value - promise.before, promise.gain);
        let tolerance = self.settings.tolerance_nats;
        let is_top = promise.is_determined
            && promise.is_inside
            && promised < tolerance
            && gain.abs() < 2.0 * tolerance;
        self.confirmed = if is_top { self.confirmed + 1 } else { 0 };
        if self.confirmed >= CONFIRMATIONS {
            return self.end();
        }
        if is_top {
            return self.go_to_top();
        }
        if gain > 0.0 && gain > KEPT_PART * promised {
            if !promise.is_inside {
                self.radius = (2.0 * self.radius).min(RADIUS[2]);
            }
            return self.go_to_top();
        }
        self.idle_tops += 1;
        self.broken += 1;
        if gain < BROKEN_PART * promised {
            self.radius = (0.5 * self.radius).max(RADIUS[1]);
        }
        if self.broken.is_multiple_of(SEARCH_ONE_IN) {
            return self.begin_search(false);
        }
        self.uncertain_left = UNCERTAIN_POINTS;
        self.go_to_top();
    }

    fn end(&mut self) {
        self.stage = Stage::Ended;
        self.awaited = None;
    }

    /// The centre and covariance of the peak, as far as they are known: by the surface of the
    /// best observations, and by their spread where that explains little.
    pub(in crate::engine) fn shape(&self) -> Option<(Vec<f64>, Mat)> {
        let (best, _) = self.best()?;
        let known = self.surface(false).filter(|s| s.unexplained < 0.4);
        let covariance = known.and_then(|surface| surface.covariance(RADIUS[0]));
        let spread = spread(&self.points, &self.values, &self.steps)?;
        Some((best.to_vec(), covariance.unwrap_or(spread)))
    }
}

/// The spread of the best observations about the best one, tempered so that about 2 d + 2 of them
/// count; along no parameter less than a hundredth of its step.
fn spread(points: &[Vec<f64>], values: &[f64], steps: &[f64]) -> Option<Mat> {
    let d = steps.len();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return None;
    }
    let wanted = ((2 * d + 2) as f64).min(0.9 * values.len() as f64);
    let weights_at = |temperature: f64| -> Vec<f64> {
        let weigh = |v: &f64| ((v - top) / temperature).exp();
        values.iter().map(weigh).collect()
    };
    let (mut low, mut high) = (-7.0_f64, 30.0_f64);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        let weights = weights_at(middle.exp());
        let sum: f64 = weights.iter().sum();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        match sum * sum / squares < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    let weights = weights_at(high.exp());
    let total: f64 = weights.iter().sum();
    let mean = |i: usize| {
        let terms = weights.iter().zip(points);
        terms.map(|(w, z)| w * z[i]).sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..d).map(mean).collect();
    Some(Mat::from_fn(d, d, |i, j| {
        let terms = weights.iter().zip(points);
        let sum: f64 = terms
            .map(|(w, z)| w * (z[i] - mean[i]) * (z[j] - mean[j]))
            .sum();
        let least = if i == j {
            (0.01 * steps[i]).powi(2)
        } else {
            0.0
        };
        sum / total + least
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn climb(dim: usize) -> Climb {
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
}

//! Climb to the top of a narrow peak under a vague prior.
//!
//! The climb lives in the prior's normal scores and follows ln f + ln pi there. It first searches
//! along each parameter in turn, because the scales of the parameters may differ by orders of
//! magnitude. Then it goes to the top of a quadratic of the best observations, and searches along a
//! parameter again wherever that top was not what it promised. Every observation counts, whoever
//! asked for it.

mod line;
mod quadratic;

use super::Tuning;
use crate::numeric::linalg::Mat;
use crate::numeric::random::Rng;
use line::Line;
use quadratic::{Ascent, Quadratic};

/// A climb: a function of the observations in the order in which they were told.
#[derive(Debug, Clone)]
pub struct Climb {
    /// Observations, in the prior's normal scores, with ln f + ln pi.
    points: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// How far to go along each parameter.
    steps: Vec<f64>,
    /// The order in which the parameters are searched.
    order: Vec<usize>,
    /// How many searches along a parameter there were.
    searches: usize,
    /// How far a quadratic is trusted, in its units.
    radius: f64,
    /// Times in a row that the top was where it was thought to be.
    confirmed: usize,
    /// The largest value when the present round of searches began.
    before_round: f64,
    /// The value at the last rise by more than the tolerance, and the searches along parameters
    /// that have ended since.
    risen_to: f64,
    idle_searches: usize,
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
}

impl Settings {
    /// The numbers of a tuning, for values that carry noise of this sd.
    pub fn of(tuning: &Tuning, noise_sd: f64) -> Settings {
        Settings {
            tolerance_nats: tuning.climb_tolerance_nats.max(2.0 * noise_sd),
            drop_nats: tuning.climb_drop_nats.max(4.0 * noise_sd),
            stretch: tuning.climb_stretch,
            round_nats: tuning.climb_round_nats,
        }
    }
}

#[derive(Debug, Clone)]
enum Stage {
    /// The first point, where the prior has its centre.
    Centre,
    /// A search along a parameter: a round of them, or one between two quadratics.
    Search {
        line: Line,
        origin: Vec<f64>,
        axis: usize,
        in_round: bool,
    },
    /// The top of a quadratic.
    Top {
        quadratic: Quadratic,
        ascent: Ascent,
    },
    /// Part of the way to a top that was none.
    Back,
    /// The top is known, or nothing rises any more.
    Ended,
}

/// Scores beyond this have no mass that a double could tell from 0.
const FARTHEST_SCORE: f64 = 7.5;
/// A top must come out as promised so many times in a row.
const CONFIRMATIONS: usize = 2;
/// How far a quadratic is trusted: at first, at least and at most, in its units.
const RADIUS: [f64; 3] = [2.0, 0.3, 8.0];

impl Climb {
    /// A climb that knows nothing yet, with the numbers of a tuning, for values that carry noise of
    /// this sd.
    pub(in crate::engine) fn of(dim: usize, tuning: &Tuning, noise_sd: f64, seed: u64) -> Climb {
        Climb::new(dim, Settings::of(tuning, noise_sd), seed)
    }

    fn new(dim: usize, settings: Settings, seed: u64) -> Climb {
        let mut order: Vec<usize> = (0..dim).collect();
        Rng::new(seed).child(dim as u64).shuffle(&mut order);
        Climb {
            points: Vec::new(),
            values: Vec::new(),
            steps: vec![1.0; dim],
            order,
            searches: 0,
            radius: RADIUS[0],
            confirmed: 0,
            before_round: f64::NEG_INFINITY,
            risen_to: f64::NEG_INFINITY,
            idle_searches: 0,
            stage: Stage::Centre,
            awaited: Some(vec![0.0; dim]),
            settings,
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

    /// The largest value of ln f + ln pi, in the prior's normal scores, and where it is.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        let best = self.best_index()?;
        Some((&self.points[best], self.values[best]))
    }

    fn best_index(&self) -> Option<usize> {
        let finite = (0..self.values.len()).filter(|&i| self.values[i].is_finite());
        finite.max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]))
    }

    /// A point beside the awaited one, for a further evaluation at the same time: other steps along
    /// the same line, tops of the quadratic of all that is known by now, points around the best one.
    pub fn beside(&self, number: usize) -> Vec<f64> {
        const RADII: [f64; 3] = [1.0, 0.5, 2.0];
        let mut number = number;
        if let Stage::Search {
            line, origin, axis, ..
        } = &self.stage
        {
            if let Some(step) = line.beside(number) {
                let mut z = origin.clone();
                z[*axis] += step;
                return within(z);
            }
            number -= line::BESIDE;
        }
        let top = |radius: f64| {
            let quadratic = Quadratic::fit(&self.points, &self.values, &self.steps)?;
            let ascent = quadratic.ascent(radius * self.radius)?;
            Some(within(quadratic.point(&ascent.step, 1.0)))
        };
        if let Some(z) = RADII.get(number).and_then(|radius| top(*radius)) {
            return z;
        }
        let mut rng = Rng::new(number as u64).child(self.values.len() as u64);
        let zero = vec![0.0; self.steps.len()];
        let best = self.best().map_or(zero.as_slice(), |(z, _)| z);
        let pairs = best.iter().zip(&self.steps);
        within(pairs.map(|(z, s)| z + 0.5 * s * rng.normal()).collect())
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
            (self.risen_to, self.idle_searches) = (value, 0);
        }
        match &mut self.stage {
            _ if is_awaited => self.go_on(value),
            Stage::Search {
                line, origin, axis, ..
            } => {
                let off = z.iter().zip(origin.iter()).zip(&self.steps).enumerate();
                let on_line = |(i, ((z, o), s)): (usize, ((&f64, &f64), &f64))| {
                    i == *axis || (z - o).abs() < 1e-9 * s
                };
                if off.into_iter().all(on_line) {
                    line.offer(z[*axis] - origin[*axis], value);
                }
            }
            _ => {}
        }
    }

    /// The awaited evaluation has failed: nothing is known there but that f cannot be had.
    pub fn fail(&mut self) {
        self.go_on(f64::NEG_INFINITY);
    }

    fn top(&self) -> f64 {
        self.best().map_or(f64::NEG_INFINITY, |(_, value)| value)
    }

    fn go_on(&mut self, value: f64) {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        match stage {
            Stage::Centre => self.begin_round(),
            Stage::Search {
                mut line,
                origin,
                axis,
                in_round,
            } => {
                line.tell(value);
                match line.next() {
                    Some(_) => self.search(line, origin, axis, in_round),
                    None => {
                        self.steps[axis] = line.scale().clamp(f64::MIN_POSITIVE, 2.0);
                        self.idle_searches += 1;
                        self.after_search(in_round);
                    }
                }
            }
            Stage::Top { quadratic, ascent } => self.after_top(value, &quadratic, &ascent),
            Stage::Back => self.to_top(),
            Stage::Ended => self.awaited = None,
        }
    }

    fn begin_round(&mut self) {
        self.before_round = self.top();
        self.begin_search(true);
    }

    /// Search along the next parameter.
    fn begin_search(&mut self, in_round: bool) {
        let axis = self.order[self.searches % self.order.len()];
        // Every other time the other way.
        let turned = if self.searches / self.order.len() % 2 == 1 {
            -0.7
        } else {
            1.0
        };
        let step = match self.searches < self.order.len() {
            true => self.first_step(),
            false => turned * self.steps[axis],
        };
        self.searches += 1;
        let zero = vec![0.0; self.steps.len()];
        let origin = self.best().map_or(zero, |(z, _)| z.to_vec());
        let Settings {
            drop_nats,
            tolerance_nats,
            ..
        } = self.settings;
        let line = Line::new(self.top(), step, drop_nats, tolerance_nats);
        self.search(line, origin, axis, in_round);
    }

    /// How far to go along a parameter that was not searched yet: as far as the prior reaches, or
    /// some times as far as along the others.
    fn first_step(&self) -> f64 {
        let found = &self.order[..self.searches];
        match found.len() {
            0 => 1.0,
            count => {
                let ln: f64 = found.iter().map(|&axis| self.steps[axis].ln()).sum();
                (self.settings.stretch * (ln / count as f64).exp()).min(1.0)
            }
        }
    }

    fn search(&mut self, line: Line, origin: Vec<f64>, axis: usize, in_round: bool) {
        let mut z = origin.clone();
        z[axis] += line.next().unwrap_or(0.0);
        self.stage = Stage::Search {
            line,
            origin,
            axis,
            in_round,
        };
        self.awaited = Some(within(z));
    }

    fn after_search(&mut self, in_round: bool) {
        let d = self.order.len();
        if in_round && self.searches % d != 0 {
            return self.begin_search(true);
        }
        let gained = self.top() - self.before_round;
        // The first round has only found the scales: whatever it gained, the next one tells.
        if in_round && gained > self.settings.round_nats * d as f64 {
            return self.begin_round();
        }
        self.to_top();
    }

    /// Go to the top of a quadratic, if there is one.
    fn to_top(&mut self) {
        // Neither a parameter nor a quadratic leads higher.
        if self.idle_searches > self.order.len() {
            return self.end();
        }
        let quadratic = Quadratic::fit(&self.points, &self.values, &self.steps);
        let ascent = quadratic.as_ref().and_then(|q| q.ascent(self.radius));
        match (quadratic, ascent) {
            (Some(quadratic), Some(ascent)) => {
                self.awaited = Some(within(quadratic.point(&ascent.step, 1.0)));
                self.stage = Stage::Top { quadratic, ascent };
            }
            _ => self.begin_search(false),
        }
    }

    fn after_top(&mut self, value: f64, quadratic: &Quadratic, ascent: &Ascent) {
        let before = self.values[..self.values.len() - 1].iter();
        let before = before.copied().fold(f64::NEG_INFINITY, f64::max);
        let (gain, promised) = (value - before, ascent.gain);
        let tolerance = self.settings.tolerance_nats;
        let is_top = quadratic.is_determined()
            && ascent.is_inside
            && promised < tolerance
            && gain.abs() < 2.0 * tolerance;
        self.confirmed = if is_top { self.confirmed + 1 } else { 0 };
        if self.confirmed >= CONFIRMATIONS {
            return self.end();
        }
        if gain > 0.5 * promised && !ascent.is_inside {
            self.radius = (2.0 * self.radius).min(RADIUS[2]);
        }
        if is_top || promised > tolerance && gain > 0.1 * promised {
            return self.to_top();
        }
        // The value and the slope give a parabola along the way: go to its top once.
        let short = gain - ascent.slope_gain;
        if promised > tolerance && gain.is_finite() && self.confirmed == 0 && short < 0.0 {
            let part = (-0.5 * ascent.slope_gain / short).clamp(0.05, 0.7);
            self.awaited = Some(within(quadratic.point(&ascent.step, part)));
            self.radius = (0.6 * self.radius).max(RADIUS[1]);
            self.stage = Stage::Back;
            return;
        }
        self.radius = (0.6 * self.radius).max(RADIUS[1]);
        self.begin_search(false);
    }

    fn end(&mut self) {
        self.stage = Stage::Ended;
        self.awaited = None;
    }

    /// Whether the best value has risen within the last observations, so that the top is not known.
    pub fn is_rising(&self) -> bool {
        !self.has_ended()
    }

    /// The centre and covariance of the peak, as far as they are known: by the quadratic of the
    /// best observations, and by their spread where that explains little.
    pub(in crate::engine) fn shape(&self) -> Option<(Vec<f64>, Mat)> {
        let (best, _) = self.best()?;
        let quadratic = Quadratic::fit(&self.points, &self.values, &self.steps);
        let covariance = quadratic
            .filter(|q| q.unexplained < 0.4)
            .and_then(|q| q.covariance(RADIUS[0]));
        let spread = spread(&self.points, &self.values, &self.steps)?;
        Some((best.to_vec(), covariance.unwrap_or(spread)))
    }
}

/// The point with no score beyond what a double can hold.
fn within(mut z: Vec<f64>) -> Vec<f64> {
    for z in &mut z {
        *z = z.clamp(-FARTHEST_SCORE, FARTHEST_SCORE);
    }
    z
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

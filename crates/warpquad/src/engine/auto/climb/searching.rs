//! Search along lines: in rounds over all parameters, and between two surfaces.

use super::along::Along;
use super::line::Line;
use super::{Climb, Settings, Stage};
use crate::numeric::random::Rng;

/// A line along a parameter whose turn comes later in the round, from where the present line
/// begins. Evaluations at the same time go there: when its turn comes, its scale and the way to go
/// are known.
#[derive(Debug, Clone)]
pub(super) struct Side {
    axis: usize,
    line: Line,
    origin: Vec<f64>,
}

impl Side {
    /// The next point of the line; `None` once it has ended.
    pub fn point(&self) -> Option<Vec<f64>> {
        let step = self.line.next()?;
        Some(Along::Axis(self.axis).point(&self.origin, step))
    }

    /// Take a value that may be on the line.
    pub fn offer(&mut self, z: &[f64], value: f64, steps: &[f64]) {
        let Some(step) = Along::Axis(self.axis).step_to(&self.origin, z, steps) else {
            return;
        };
        match self.line.next() {
            Some(next) if (next - step).abs() <= 1e-9 * next.abs() => self.line.tell(value),
            _ => self.line.offer(step, value),
        }
    }

    /// The first step of the same line from elsewhere: where this one was largest, or its scale.
    fn first_step(&self) -> Option<f64> {
        let scale = || self.line.scale().min(1.0);
        let (top, _) = self.line.top();
        let known = self.line.has_trials();
        known.then(|| if top == 0.0 { scale() } else { top })
    }
}

impl Climb {
    pub(super) fn begin_round(&mut self) {
        self.before_round = self.height();
        self.begin_search(true);
    }

    /// Search along the next parameter of a round, or along the likeliest line between two
    /// surfaces.
    pub(super) fn begin_search(&mut self, in_round: bool) {
        let (d, count) = (self.order.len(), self.searches);
        self.searches += 1;
        let along = match in_round {
            true => Along::Axis(self.order[count % d]),
            false => self.likeliest(count),
        };
        let step = match along {
            Along::Direction(_) => 1.0,
            Along::Axis(axis) => self.step_along(axis, count),
        };
        let zero = vec![0.0; d];
        let origin = self.here().map_or(zero, |i| self.points[i].clone());
        let line = self.line(&along, &origin, step);
        let later = if in_round { count % d + 1..d } else { d..d };
        let side = |k: usize| {
            let axis = self.order[k];
            let step = self.step_along(axis, count - count % d + k);
            let line = self.line(&Along::Axis(axis), &origin, step);
            let origin = origin.clone();
            Side { axis, line, origin }
        };
        self.sides = later.map(side).collect();
        self.search(line, origin, along, in_round);
    }

    /// The first step along a parameter in the search with this number.
    fn step_along(&self, axis: usize, count: usize) -> f64 {
        let d = self.order.len();
        let side = self.sides.iter().find(|side| side.axis == axis);
        if let Some(step) = side.and_then(Side::first_step) {
            return step;
        }
        match count / d {
            0 if !self.hinted => self.first_step(axis, count),
            // Every other time the other way.
            round if round % 2 == 1 => -0.7 * self.steps[axis],
            _ => self.steps[axis],
        }
    }

    /// A line from a point, with this first step.
    fn line(&self, along: &Along, origin: &[f64], step: f64) -> Line {
        let Settings {
            drop_nats,
            tolerance_nats,
            ..
        } = self.settings;
        let line = Line::new(self.height(), step, drop_nats, tolerance_nats);
        match *along {
            Along::Direction(_) => line,
            Along::Axis(axis) => {
                let (low, high) = self.parameters.ends[axis];
                line.along_logarithm(self.parameters.e_folds(axis))
                    .within((low - origin[axis], high - origin[axis]))
            }
        }
    }

    /// The likeliest line to lead higher: every third time the way that the best has come since
    /// the last time, which follows a ridge; along a parameter; and in some direction once no
    /// parameter led higher.
    pub(super) fn likeliest(&mut self, count: usize) -> Along {
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
    pub(super) fn likeliest_axis(&self) -> usize {
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
    pub(super) fn first_step(&self, axis: usize, searched: usize) -> f64 {
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

    pub(super) fn search(&mut self, line: Line, origin: Vec<f64>, along: Along, in_round: bool) {
        let z = along.point(&origin, line.next().unwrap_or(0.0));
        self.awaited = Some(self.parameters.within(z));
        self.stage = Stage::Search {
            line,
            origin,
            along,
            in_round,
        };
    }

    pub(super) fn after_search(&mut self, line: &Line, along: &Along, in_round: bool) {
        self.idle_searches += 1;
        if let Along::Axis(axis) = *along {
            self.steps[axis] = line.scale().clamp(f64::MIN_POSITIVE, 2.0);
            self.gains[axis] = (line.gain(), self.searches);
            let unit = self.parameters.e_folds(axis);
            self.growths[axis] = unit.and_then(|unit| Some(line.growth()?.slope / unit));
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
        match in_round {
            true => self.begin_steps(),
            false => self.go_to_top(),
        }
    }
}

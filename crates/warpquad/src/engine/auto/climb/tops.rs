//! Go to the top of a surface, and learn where it breaks its promise.

use super::surface::Surface;
use super::{CONFIRMATIONS, Climb, Promise, RADIUS, Stage};
use crate::numeric::loops::dot;
use crate::numeric::random::Rng;

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

impl Climb {
    /// Go to the top of the surface, if there is one.
    pub(super) fn go_to_top(&mut self) {
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
    pub(super) fn rescaled(&mut self, surface: Surface) -> Option<Surface> {
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
    pub(super) fn most_uncertain(&self, surface: &Surface) -> Vec<f64> {
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

    pub(super) fn after_top(&mut self, value: f64, promise: Promise) {
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
}

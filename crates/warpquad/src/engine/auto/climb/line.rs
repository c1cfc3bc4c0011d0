//! Search along one line for the largest value, in few trials and whatever the scale.

use super::growth::{self, Growth};

/// A search along a line through a point. Trials are told in order; each decides the next one.
///
/// A first step may be far too long: under a vague prior ln f falls by 10^6 nats or to -inf over
/// it. So a step that fell off shrinks by orders of magnitude and turns round, one that gained is
/// trebled, and a bracket is closed by parabolas.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Steps along the line with the value there, the first one 0, in order of the steps.
    trials: Vec<(f64, f64)>,
    /// The value at step 0.
    origin: f64,
    /// The last trial.
    last: (f64, f64),
    /// What a scale is measured by: the step after which the value has fallen by so much.
    drop_nats: f64,
    /// A parabola that promises less ends the search.
    tolerance_nats: f64,
    /// The first step.
    first: f64,
    /// The steps that may be tried.
    limits: (f64, f64),
    /// For the logarithm of a positive parameter, its e-folds for each step.
    unit: Option<f64>,
    /// No more trials than this.
    most_trials: usize,
    turns: usize,
    expansions: usize,
    vertices: usize,
    approaches: usize,
    next: Option<f64>,
}

/// Where the growth of a noise leads.
enum Towards {
    Step(f64),
    /// The top is known.
    End,
}

/// Further steps that are worth a trial at the same time.
pub(super) const BESIDE: usize = 4;
/// A drop so many times the wanted one says little of the scale.
const CLIFF: f64 = 100.0;
/// How much a step shrinks after a cliff, at most and at least.
const SHRINK: [f64; 2] = [0.02, 0.3];
/// A step that gained is so many times as long the next time.
const EXPANSION: f64 = 3.0;
/// Where f is 0, the next steps in units of the first.
const BLIND: [f64; 4] = [-1.0, 3.0, -3.0, -9.0];
/// What a noise may gain for each e-fold, in nats, before more is known.
const LIKELY_SLOPE: f64 = 10.0;
/// Two trials of a noise are the same within so many e-folds.
const SAME_E_FOLDS: f64 = 0.1;
/// Tops of the growth of a noise that are tried.
const MOST_GROWTHS: usize = 5;
const MOST_TURNS: usize = 8;
const MOST_EXPANSIONS: usize = 6;
const MOST_VERTICES: usize = 2;
const MOST_APPROACHES: usize = 15;
/// A cliff is not approached for less than this part of what the line gained so far.
const ENOUGH_OF_SLOPE: f64 = 0.01;
/// The parts of the way to a cliff that the next trial goes, at least and at most.
const NEAREST_PARTS: [f64; 2] = [0.05, 0.9];
/// Where one side falls this many times more steeply than the other, a parabola takes it as less.
const STEEPEST: f64 = 30.0;
/// A vertex stays this part of the way to its neighbours inside the bracket.
const INSIDE: f64 = 0.9;
/// A parabola that promises this part of what the line gained so far ends the search.
const ENOUGH_PART: f64 = 0.03;

impl Line {
    /// A search from a point with this value, beginning with this step.
    pub fn new(origin: f64, step: f64, drop_nats: f64, tolerance_nats: f64) -> Line {
        Line {
            trials: vec![(0.0, origin)],
            origin,
            last: (0.0, origin),
            drop_nats,
            tolerance_nats,
            first: step,
            limits: (f64::NEG_INFINITY, f64::INFINITY),
            unit: None,
            most_trials: usize::MAX,
            turns: 0,
            expansions: 0,
            vertices: 0,
            approaches: 0,
            next: Some(step),
        }
    }

    /// Try no steps but those between two limits.
    pub fn within(mut self, limits: (f64, f64)) -> Line {
        self.limits = limits;
        self.next = self.next.and_then(|step| self.allowed(step));
        self
    }

    /// The line is along the logarithm of a positive parameter, which has so many e-folds a step.
    pub fn along_logarithm(mut self, unit: Option<f64>) -> Line {
        self.unit = unit;
        self
    }

    /// End after so many trials.
    pub fn at_most(mut self, trials: usize) -> Line {
        self.most_trials = trials;
        self
    }

    /// A step kept within the limits; `None` if its value is known.
    fn allowed(&self, step: f64) -> Option<f64> {
        let step = step.clamp(self.limits.0, self.limits.1);
        let known = self
            .trials
            .iter()
            .any(|(t, _)| (t - step).abs() <= 1e-12 * step.abs());
        (!known).then_some(step)
    }

    /// How the line grows, where it is one along a logarithm.
    pub fn growth(&self) -> Option<Growth> {
        growth::fitted(&self.trials, self.unit?)
    }

    /// Whether a step was tried.
    pub fn has_trials(&self) -> bool {
        self.trials.len() > 1
    }

    /// The step with the largest value, and that value.
    pub fn top(&self) -> (f64, f64) {
        self.trials[self.best()]
    }

    /// The step to try next; `None` when the search has ended.
    pub fn next(&self) -> Option<f64> {
        self.next
    }

    /// The value at the step that was to be tried.
    pub fn tell(&mut self, value: f64) {
        let Some(step) = self.next else { return };
        self.last = (step, value);
        let at = self.trials.partition_point(|(t, _)| *t < step);
        self.trials.insert(at, self.last);
        let more = self.trials.len() <= self.most_trials;
        let next = if more { self.decide() } else { None };
        self.next = next.and_then(|step| self.allowed(step));
    }

    /// A value at a step that was not asked for. It counts when the next step is decided.
    pub fn offer(&mut self, step: f64, value: f64) {
        let at = self.trials.partition_point(|(t, _)| *t < step);
        if self.trials.get(at).is_none_or(|(t, _)| *t != step) {
            self.trials.insert(at, (step, value));
        }
    }

    /// Another step worth a trial at the same time as the next one: longer, shorter, and to the
    /// other side; `None` when there is no further one.
    pub fn beside(&self, number: usize) -> Option<f64> {
        const FACTORS: [f64; BESIDE] = [-1.0, 3.0, 0.1, -0.1];
        Some(FACTORS.get(number)? * self.next?)
    }

    /// The step with the largest value.
    fn best(&self) -> usize {
        let better = |best: usize, i: usize| match self.trials[i].1 > self.trials[best].1 {
            true => i,
            false => best,
        };
        // Where nothing is better, the search stays.
        let origin = self.trials.partition_point(|(t, _)| *t < 0.0);
        (0..self.trials.len()).fold(origin, better)
    }

    fn decide(&mut self) -> Option<f64> {
        let best = self.best();
        let (at, _) = self.trials[best];
        match self.towards_growth(best) {
            Some(Towards::Step(step)) => return Some(step),
            Some(Towards::End) => return None,
            None => {}
        }
        if at == 0.0
            && let Some(step) = self.turn()
        {
            return Some(step);
        }
        let at_end = best == 0 || best + 1 == self.trials.len();
        if at != 0.0 && at_end && self.expansions < MOST_EXPANSIONS {
            self.expansions += 1;
            return Some(EXPANSION * at);
        }
        if let Some(side) = self.cliff_side(best) {
            return self.towards(best, side);
        }
        let (vertex, gain) = self.vertex(best)?;
        let enough = ENOUGH_PART * (self.trials[best].1 - self.origin);
        if self.vertices == MOST_VERTICES || gain < self.tolerance_nats.max(enough) {
            return None;
        }
        self.vertices += 1;
        Some(vertex)
    }

    /// Where the growth of a noise leads; `None` where it says nothing.
    fn towards_growth(&mut self, best: usize) -> Option<Towards> {
        let (unit, growth) = (self.unit?, self.growth()?);
        let is_same = |t: f64| (growth.top - t).abs() < SAME_E_FOLDS / unit;
        let is_known = self.trials.iter().any(|(t, _)| is_same(*t));
        if growth.gain > self.tolerance_nats && !is_known && self.vertices < MOST_GROWTHS {
            self.vertices += 1;
            return Some(Towards::Step(growth.top));
        }
        let is_inside = best > 0 && best + 1 < self.trials.len();
        let is_top = is_known || growth.gain <= self.tolerance_nats;
        (is_inside && is_top).then_some(Towards::End)
    }

    /// The step to the other side after one that lost; `None` once both sides are near enough.
    fn turn(&mut self) -> Option<f64> {
        let (step, value) = self.last;
        if self.origin == f64::NEG_INFINITY {
            // Nothing is known of f but that it is 0 here: look as far as the prior reaches.
            let factor = BLIND.get(self.turns)?;
            self.turns += 1;
            return Some(factor * self.first);
        }
        let drop = self.origin - value;
        let cliff = drop > CLIFF * self.drop_nats;
        let one_sided = self.trials[0].0 == 0.0 || self.trials[self.trials.len() - 1].0 == 0.0;
        if self.turns == MOST_TURNS || !(cliff || one_sided) {
            return None;
        }
        self.turns += 1;
        // A drop of a noise is exponential, so its logarithm says how far the top is at least.
        if let Some(unit) = self
            .unit
            .filter(|_| cliff && self.turns == 1 && drop.is_finite())
        {
            let back = (2.0 * drop / LIKELY_SLOPE).ln() / (2.0 * unit);
            return Some(step - step.signum() * back);
        }
        let factor = match drop {
            drop if cliff => (self.drop_nats / drop).sqrt().clamp(SHRINK[0], SHRINK[1]),
            drop if drop > self.drop_nats => 0.5,
            _ => 1.0,
        };
        Some(-step * factor)
    }

    /// The side on which the best trial is next to a cliff, while the other side only falls gently;
    /// -1 or 1. A likelihood does so along the logarithm of a noise.
    fn cliff_side(&self, best: usize) -> Option<isize> {
        if best == 0 || best + 1 >= self.trials.len() {
            return None;
        }
        let (at, value) = self.trials[best];
        let steepness = |i: usize| {
            let (t, v) = self.trials[i];
            (value - v) / (t - at).abs()
        };
        let is_cliff = |cliff: usize, other: usize| {
            value - self.trials[cliff].1 > self.drop_nats
                && steepness(other).is_finite()
                && steepness(cliff) > STEEPEST * steepness(other)
        };
        match () {
            () if is_cliff(best - 1, best + 1) => Some(-1),
            () if is_cliff(best + 1, best - 1) => Some(1),
            () => None,
        }
    }

    /// The step that comes nearer to the cliff on this side; `None` where little is left to gain.
    fn towards(&mut self, best: usize, side: isize) -> Option<f64> {
        let trial = |steps: isize| {
            let at = best.checked_add_signed(side * steps)?;
            self.trials.get(at).copied()
        };
        let ((at, value), (near, near_value), (other, other_value)) =
            (self.trials[best], trial(1)?, trial(-1)?);
        let hope = (value - other_value) / (at - other).abs() * (near - at).abs();
        let enough = ENOUGH_OF_SLOPE * (value - self.origin);
        if hope < (3.0 * self.tolerance_nats).max(enough) || self.approaches == MOST_APPROACHES {
            return None;
        }
        self.approaches += 1;
        // A cliff is exponential: the logarithm of its drop is a line, and the edge is where the
        // drop is one nat.
        let edge = trial(2).and_then(|(far, far_value)| {
            let (ln_near, ln_far) = ((value - near_value).ln(), (value - far_value).ln());
            let rises = ln_near.is_finite() && ln_far.is_finite() && ln_far > ln_near + 1.0;
            rises.then(|| near - ln_near * (far - near) / (ln_far - ln_near))
        });
        let part = edge.map_or(0.5, |edge| (edge - at) / (near - at));
        Some(at + part.clamp(NEAREST_PARTS[0], NEAREST_PARTS[1]) * (near - at))
    }

    /// The parabola through the best trial and its neighbours, as slope and curvature there:
    /// value - best = slope t + curvature t^2. `None` at the end of the line, or where it is not
    /// concave.
    fn parabola(&self, best: usize) -> Option<(f64, f64)> {
        if best == 0 || best + 1 >= self.trials.len() {
            return None;
        }
        let (at, value) = self.trials[best];
        let side = |(t, v): (f64, f64)| ((t - at).abs(), value - v);
        let ((left, down_left), (right, down_right)) =
            (side(self.trials[best - 1]), side(self.trials[best + 1]));
        // A cliff on one side would put the vertex half-way to the other neighbour.
        let gentle = (down_left / left.powi(2)).min(down_right / right.powi(2));
        let most = STEEPEST * gentle + f64::MIN_POSITIVE;
        let down_left = down_left.min(most * left * left);
        let down_right = down_right.min(most * right * right);
        let curvature = -(down_left / left + down_right / right) / (left + right);
        let slope = (down_left / left * right - down_right / right * left) / (left + right);
        (curvature < 0.0 && curvature.is_finite() && slope.is_finite())
            .then_some((slope, curvature))
    }

    /// Where the parabola is largest, and how much more that is than the best trial.
    fn vertex(&self, best: usize) -> Option<(f64, f64)> {
        let (slope, curvature) = self.parabola(best)?;
        let at = self.trials[best].0;
        let [low, high] = [self.trials[best - 1].0 - at, self.trials[best + 1].0 - at];
        let step = (-0.5 * slope / curvature).clamp(INSIDE * low, INSIDE * high);
        Some((at + step, -0.25 * slope * slope / curvature))
    }

    /// How much more the best trial is than the origin, in nats.
    pub fn gain(&self) -> f64 {
        let gain = self.trials[self.best()].1 - self.origin;
        if gain.is_finite() { gain } else { 0.0 }
    }

    /// The step from the best trial after which the value has fallen by `drop_nats`: by the
    /// parabola, or by the trial that says the least.
    pub fn scale(&self) -> f64 {
        let best = self.best();
        if let Some((_, curvature)) = self.parabola(best) {
            return (self.drop_nats / -curvature).sqrt();
        }
        let (at, value) = self.trials[best];
        let by = |(t, v): &(f64, f64)| (t - at).abs() * (self.drop_nats / (value - v)).sqrt();
        let others = self
            .trials
            .iter()
            .filter(|(t, v)| *t != at && v.is_finite());
        let scale = others.map(by).fold(f64::INFINITY, f64::min);
        match scale.is_finite() && scale > 0.0 {
            true => scale,
            false => self.last.0.abs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best step, the scale and the number of trials of a search on a function.
    fn searched(f: impl Fn(f64) -> f64, step: f64) -> (f64, f64, usize) {
        let mut line = Line::new(f(0.0), step, 5.0, 0.3);
        while let Some(t) = line.next() {
            line.tell(f(t));
        }
        let best = line.best();
        (line.trials[best].0, line.scale(), line.trials.len() - 1)
    }

    #[test]
    fn a_parabola_takes_three_trials_at_any_scale() {
        for width in [1e-6, 1e-3, 0.3] {
            let (best, scale, trials) =
                searched(|t| -0.5 * ((t - 3.0 * width) / width).powi(2), 1.0);
            assert!((best / width - 3.0).abs() < 0.5, "{best}");
            // A drop of 5 nats is sqrt(10) widths away.
            assert!((scale / width / 10_f64.sqrt() - 1.0).abs() < 0.1, "{scale}");
            assert!(trials <= 9, "{trials}");
        }
    }

    #[test]
    fn a_line_that_rises_is_followed() {
        let (best, _, trials) = searched(|t| -0.5 * (t - 40.0).powi(2), 1.0);
        assert!((best - 40.0).abs() < 2.0 && trials <= 7, "{best} {trials}");
    }

    #[test]
    fn a_cliff_to_nothing_is_backed_away_from() {
        let f = |t: f64| match t > 1e-4 {
            true => f64::NEG_INFINITY,
            false => -1e8 * (t + 2e-4).powi(2),
        };
        let (best, _, trials) = searched(f, 1.0);
        assert!(
            (best + 2e-4).abs() < 1e-4 && trials <= 10,
            "{best} {trials}"
        );
    }

    #[test]
    fn trials_at_the_same_time_count() {
        let f = |t: f64| -0.5 * ((t + 0.1) / 0.01).powi(2);
        let mut line = Line::new(f(0.0), 1.0, 5.0, 0.3);
        let others: Vec<f64> = (0..6).filter_map(|k| line.beside(k)).collect();
        others.iter().for_each(|&t| line.offer(t, f(t)));
        line.tell(f(1.0));
        assert_eq!(line.trials[line.best()].0, -0.1);
        assert!(line.beside(99).is_none());
    }

    #[test]
    fn zeros_are_left_behind() {
        let f = |t: f64| if t > -2.0 { f64::NEG_INFINITY } else { t };
        let (best, scale, trials) = searched(f, 1.0);
        assert!(best <= -2.0 && trials <= 6, "{best} {trials}");
        assert!(scale.is_finite() && scale > 0.0);
    }

    #[test]
    fn a_flat_line_ends_at_once() {
        let (best, scale, trials) = searched(|_| -7.0, 0.5);
        assert_eq!(best, 0.0);
        assert!(scale > 0.0 && scale.is_finite() && trials <= 3);
    }
}

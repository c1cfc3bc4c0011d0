//! Go to the top by Newton's steps, with slopes and curvatures from differences of exact values.
//!
//! Values without noise have more to tell than where they are large: ln f at steps so small that
//! only its slope and its curvature show gives both to many digits, and a ridge a thousand times as
//! long as it is wide takes one step. Parameters that act as a noise stand still meanwhile and are
//! searched after each step: without them a likelihood is far nearer to a quadratic. At the end
//! all parameters move together.

use super::Parameters;
use super::differences::{Design, Local};
use super::line::Line;
use super::reach::{LocalStep, Trial, next_reach, trust};
use crate::numeric::linalg::{Cholesky, Mat};

/// A parameter that acts as a noise.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    pub axis: usize,
    /// E-folds for each unit of its coordinate.
    pub unit: f64,
    /// The first step of the next search.
    step: f64,
}

/// A climb by Newton's steps: a function of the values that it is told.
#[derive(Debug, Clone)]
pub(super) struct Newton {
    at: Vec<f64>,
    value: f64,
    parameters: Parameters,
    /// The steps along the parameters after which ln f falls by `scale_nats`.
    steps: Vec<f64>,
    scale_nats: f64,
    tolerance_nats: f64,
    noises: Vec<Noise>,
    /// The parameters that are none.
    others: Vec<usize>,
    /// Whether all parameters move together.
    is_joint: bool,
    /// The drop that steps of differences show.
    difference_nats: f64,
    local: Option<Local>,
    /// The last step, in units, and what the step to the top promised.
    step: Vec<f64>,
    promised: f64,
    /// How far the next step may reach, in square roots of nats.
    reach: f64,
    /// The gains of the last steps.
    gains: Vec<f64>,
    failures: usize,
    /// Whether the curvature comes from differences at one place, and not from steps too.
    is_measured: bool,
    plan: Plan,
    /// The points whose values are wanted, with those that have come.
    batch: Vec<(Vec<f64>, Option<f64>)>,
    end: Option<End>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The top is known.
    Top,
    /// Steps gain little: the peak is bent, and its top is near.
    Slow,
    /// Differences say nothing that a step could keep.
    Failed,
}

#[derive(Debug, Clone)]
enum Plan {
    Differences(Design),
    /// Steps from one place that were tried.
    Step(Vec<Trial>),
    /// A search along a noise. `before` is the value before the step, `ln_fall` how much steeper
    /// all falls have become, and `is_last` says that the step was the last one.
    Noise {
        number: usize,
        line: Box<Line>,
        before: f64,
        ln_fall: f64,
        is_last: bool,
    },
    Slope {
        signs: Vec<f64>,
    },
}

/// The drop that steps of differences show at first, and at most: where values carry rounding of
/// their own, small steps say nothing.
const DIFFERENCE_NATS: [f64; 2] = [1e-3, 0.3];
/// It grows by this factor where a step does not keep its promise.
const COARSER: f64 = 30.0;
const MOST_FAILURES: usize = 3;
/// Trials along a noise after a step, and after the last one.
const NOISE_TRIALS: [usize; 2] = [4, 6];
/// So many steps in a row that gain less than this in all are slow.
const SLOW_STEPS: usize = 3;
const SLOW_NATS: f64 = 1.5;
/// The top is near where the last of them promised no more than this.
const NEAR_NATS: f64 = 3.0;
/// While noises stand still, two steps that gain less than this each are enough.
const SLOW_APART_NATS: f64 = 1.5;
/// Where so many steps have not ended at a top, what was taken for a noise is bound to the others.
const MOST_APART: usize = 3;
/// ln of the factor of all falls stays between these.
const MOST_LN_FALL: f64 = 20.0;

impl Newton {
    /// Begin at the best point. `steps` are those after which ln f falls by `scale_nats`, `noises`
    /// the parameters that act as one with their e-folds for each unit of the coordinate.
    pub fn new(
        (at, value): (&[f64], f64),
        parameters: &Parameters,
        steps: &[f64],
        (scale_nats, tolerance_nats): (f64, f64),
        noises: &[(usize, f64)],
    ) -> Newton {
        let dim = at.len();
        let is_noise = |axis: &usize| noises.iter().any(|(noise, _)| noise == axis);
        let others: Vec<usize> = (0..dim).filter(|axis| !is_noise(axis)).collect();
        // With nothing but noises they move together.
        let noises = if others.is_empty() { &[] } else { noises };
        let mut newton = Newton {
            at: at.to_vec(),
            value,
            parameters: parameters.clone(),
            steps: steps.to_vec(),
            scale_nats,
            tolerance_nats,
            noises: noises
                .iter()
                .map(|&(axis, unit)| Noise {
                    axis,
                    unit,
                    step: 0.3 * steps[axis],
                })
                .collect(),
            others: if others.is_empty() {
                (0..dim).collect()
            } else {
                others
            },
            is_joint: noises.is_empty(),
            difference_nats: DIFFERENCE_NATS[0],
            local: None,
            step: Vec::new(),
            promised: f64::INFINITY,
            reach: f64::INFINITY,
            gains: Vec::new(),
            failures: 0,
            is_measured: false,
            plan: Plan::Slope { signs: Vec::new() },
            batch: Vec::new(),
            end: None,
        };
        newton.begin_differences(None);
        newton
    }

    /// Points whose values are wanted, in order.
    pub fn open(&self) -> impl Iterator<Item = &[f64]> {
        let open = self.batch.iter().filter(|(_, value)| value.is_none());
        open.map(|(z, _)| z.as_slice())
    }

    /// How it ended; `None` while it goes on.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The value at the first point that is wanted.
    pub fn tell(&mut self, value: f64) {
        if let Some((_, wanted)) = self.batch.iter_mut().find(|(_, value)| value.is_none()) {
            *wanted = Some(if value.is_nan() {
                f64::NEG_INFINITY
            } else {
                value
            });
        }
        if self.open().next().is_none() {
            self.go_on();
        }
    }

    /// A value that was told for another reason: it counts if it is wanted later.
    pub fn offer(&mut self, z: &[f64], value: f64) {
        let mut later = self
            .batch
            .iter_mut()
            .filter(|(_, value)| value.is_none())
            .skip(1);
        let steps = &self.steps;
        let is_same = |wanted: &[f64]| {
            let mut apart = wanted.iter().zip(z).zip(steps);
            apart.all(|((a, b), s)| (a - b).abs() <= 1e-6 * s)
        };
        if let Some((_, wanted)) = later.find(|(wanted, _)| is_same(wanted)) {
            *wanted = Some(value);
        }
    }

    /// The covariance of the peak as far as it is known: without correlations of the noises where
    /// they stood still.
    pub fn covariance(&self) -> Option<Mat> {
        let d = self.at.len();
        let local = self.local.as_ref()?.clone().completed(d, |axis| {
            // The parabola that falls by `scale_nats` after a step.
            self.steps[axis] / (2.0 * self.scale_nats).sqrt()
        });
        let mut place = vec![0; d];
        local
            .axes
            .iter()
            .enumerate()
            .for_each(|(k, &axis)| place[axis] = k);
        let unit = |i: usize| local.unit[place[i]];
        // The prior is no narrower than its own spread: a flat direction ends there.
        let precision = Mat::from_fn(d, d, |i, j| {
            let flat = if i == j {
                local.unit[i] * local.unit[i] / PRIOR_REACH.powi(2)
            } else {
                0.0
            };
            local.bend[(i, j)] + flat
        });
        let factor = Cholesky::new(precision)?;
        let column = |j: usize| {
            let mut e = vec![0.0; d];
            e[place[j]] = 1.0;
            factor.solve_vec(&mut e);
            e
        };
        let inverse: Vec<Vec<f64>> = (0..d).map(column).collect();
        Some(Mat::from_fn(d, d, |i, j| {
            unit(i) * unit(j) * inverse[j][place[i]]
        }))
    }

    fn want(&mut self, points: Vec<Vec<f64>>) {
        let within = |z| (self.parameters.within(z), None);
        self.batch = points.into_iter().map(within).collect();
    }

    fn begin_differences(&mut self, known: Option<Mat>) {
        let axes: Vec<usize> = match self.is_joint {
            true => {
                let noises = self.noises.iter().map(|noise| noise.axis);
                self.others.iter().copied().chain(noises).collect()
            }
            false => self.others.clone(),
        };
        let part = (self.difference_nats / self.scale_nats).sqrt();
        let lengths: Vec<f64> = match (&self.local, &known) {
            // The curvature that is known keeps its units.
            (Some(local), Some(_)) => {
                let rest = axes[local.unit.len()..]
                    .iter()
                    .map(|&axis| part * self.steps[axis]);
                local
                    .unit
                    .iter()
                    .map(|unit| unit.abs())
                    .chain(rest)
                    .collect()
            }
            _ => axes.iter().map(|&axis| part * self.steps[axis]).collect(),
        };
        let mut design = Design::new(&self.at, axes, &lengths, &self.parameters, known);
        if let Some(local) = &self.local {
            design.keep_signs(&local.unit);
        }
        self.want(design.points(&self.at));
        self.plan = Plan::Differences(design);
    }

    /// All that was wanted has come.
    fn go_on(&mut self) {
        let values: Vec<f64> = self.batch.iter().filter_map(|(_, value)| *value).collect();
        let plan = std::mem::replace(&mut self.plan, Plan::Slope { signs: Vec::new() });
        match plan {
            Plan::Differences(design) => {
                let rises: Vec<f64> = values.iter().map(|v| v - self.value).collect();
                self.local = design.local(&rises);
                self.is_measured = true;
                self.take_step();
            }
            Plan::Step(trials) => self.after_trial(values[0], trials),
            Plan::Noise {
                number,
                mut line,
                before,
                ln_fall,
                is_last,
            } => {
                line.tell(values[0]);
                self.search(number, line, (before, ln_fall, is_last));
            }
            Plan::Slope { signs } => {
                let rises: Vec<f64> = values.iter().map(|v| v - self.value).collect();
                let (step, nats) = (std::mem::take(&mut self.step), self.difference_nats);
                let learnt = self
                    .local
                    .as_mut()
                    .and_then(|l| l.learn(&step, (&rises, &signs), nats));
                self.is_measured = false;
                match learnt {
                    Some(()) => self.take_step(),
                    None => self.fail(),
                }
            }
        }
    }

    fn take_step(&mut self) {
        let step = |reach| self.local.as_ref()?.step_within(reach);
        let (Some(whole), Some(step)) = (step(f64::INFINITY), step(self.reach)) else {
            return self.fail();
        };
        if whole.promised < self.tolerance_nats / 3.0 {
            return self.after_last_step();
        }
        self.promised = whole.promised;
        self.try_step(step, Vec::new());
    }

    fn try_step(&mut self, step: LocalStep, mut trials: Vec<Trial>) {
        if let Some(local) = &self.local {
            let by = local.in_coordinates(&step.by, self.at.len());
            self.want(vec![self.at.iter().zip(&by).map(|(z, b)| z + b).collect()]);
        }
        trials.push(Trial {
            step,
            value: f64::NAN,
        });
        self.plan = Plan::Step(trials);
    }

    fn after_trial(&mut self, value: f64, mut trials: Vec<Trial>) {
        if let Some(last) = trials.last_mut() {
            last.value = value;
        }
        let next = next_reach(&trials, self.value);
        let next = next.and_then(|reach| self.local.as_ref()?.step_beyond(reach));
        match next {
            Some(step) => self.try_step(step, trials),
            None => self.move_on(&trials),
        }
    }

    /// Go to the best step that was tried.
    fn move_on(&mut self, trials: &[Trial]) {
        let best = trials.iter().max_by(|a, b| a.value.total_cmp(&b.value));
        let best = best.filter(|best| best.value > self.value);
        let (Some(best), Some(local)) = (best, &self.local) else {
            return self.fail();
        };
        let before = self.value;
        let (kept, promised) = (best.value - before, best.step.promised);
        // A step that keeps its promise to the last nat ends at the top of a quadratic. With a
        // curvature learnt on the way that may be chance.
        let is_whole = promised == self.promised && (self.is_measured || !self.is_joint);
        let is_kept = is_whole && (kept - promised).abs() < self.tolerance_nats / 3.0;
        let by = local.in_coordinates(&best.step.by, self.at.len());
        let moved = self.at.iter().zip(&by).map(|(z, b)| z + b).collect();
        self.at = self.parameters.within(moved);
        self.value = best.value;
        self.step.clone_from(&best.step.by);
        self.reach = best.step.reach * trust(kept / promised);
        match is_kept {
            true => self.after_last_step(),
            false => self.search_noise(0, (before, 0.0, false)),
        }
    }

    /// Search along a noise, or go on after the last of them.
    fn search_noise(&mut self, number: usize, so_far: (f64, f64, bool)) {
        let (before, ln_fall, is_last) = so_far;
        let Some(noise) = self.noises.get(number).filter(|_| !self.is_joint) else {
            return match is_last {
                true => {
                    self.scale(ln_fall);
                    self.begin_joint();
                }
                false => self.after_step(before, ln_fall),
            };
        };
        let (low, high) = self.parameters.ends[noise.axis];
        let line = Line::new(self.value, noise.step, self.scale_nats, self.tolerance_nats)
            .along_logarithm(Some(noise.unit))
            .within((low - self.at[noise.axis], high - self.at[noise.axis]))
            .at_most(NOISE_TRIALS[usize::from(is_last)]);
        self.search(number, Box::new(line), so_far);
    }

    fn search(&mut self, number: usize, line: Box<Line>, so_far: (f64, f64, bool)) {
        let (before, mut ln_fall, is_last) = so_far;
        let axis = self.noises[number].axis;
        if let Some(step) = line.next() {
            let mut z = self.at.clone();
            z[axis] += step;
            self.batch = vec![(z, None)];
            self.plan = Plan::Noise {
                number,
                line,
                before,
                ln_fall,
                is_last,
            };
            return;
        }
        let (step, value) = line.top();
        self.steps[axis] = line.scale().clamp(f64::MIN_POSITIVE, 2.0);
        let least = 0.1 * self.steps[axis];
        let noise = &mut self.noises[number];
        match value > self.value {
            true => {
                ln_fall += line.growth().map_or(0.0, |growth| growth.rate * step);
                self.at[axis] += step;
                self.value = value;
                noise.step = step.signum() * (0.3 * step.abs()).max(least);
            }
            false => noise.step = 0.3 * self.steps[axis],
        }
        self.search_noise(number + 1, (before, ln_fall, is_last));
    }

    fn after_step(&mut self, before: f64, ln_fall: f64) {
        self.gains.push(self.value - before);
        let (count, most) = match self.is_joint {
            true => (SLOW_STEPS, SLOW_NATS),
            false => (2, 2.0 * SLOW_APART_NATS),
        };
        let last = self.gains.iter().rev().take(count);
        let is_slow = self.gains.len() >= count && last.sum::<f64>() < most;
        let is_bent = !self.is_joint && self.gains.len() >= MOST_APART;
        self.scale(ln_fall);
        if is_slow || is_bent {
            return match self.is_joint {
                true if self.promised < NEAR_NATS => self.end = Some(End::Slow),
                true => self.end = Some(End::Failed),
                false => self.begin_joint(),
            };
        }
        let nats = self.difference_nats;
        let Some(local) = &self.local else {
            return self.fail();
        };
        let Some(directions) = local.directions(nats) else {
            return self.fail();
        };
        let odd = self.gains.len() % 2;
        let sign = |k: usize| {
            if (k + odd).is_multiple_of(2) {
                1.0
            } else {
                -1.0
            }
        };
        let signs: Vec<f64> = (0..directions.len()).map(sign).collect();
        let point = |(direction, sign): (&Vec<f64>, &f64)| {
            let by = local.in_coordinates(direction, self.at.len());
            self.at.iter().zip(&by).map(|(z, b)| z + sign * b).collect()
        };
        let points = directions.iter().zip(&signs).map(point).collect();
        self.want(points);
        self.plan = Plan::Slope { signs };
    }

    fn after_last_step(&mut self) {
        match self.is_joint {
            true => self.end = Some(End::Top),
            false => self.search_noise(0, (self.value, 0.0, true)),
        }
    }

    /// All falls have become e^ln_fall times as steep.
    fn scale(&mut self, ln_fall: f64) {
        let by = ln_fall.clamp(-MOST_LN_FALL, MOST_LN_FALL).exp();
        self.reach *= by.sqrt();
        if let Some(local) = &mut self.local {
            local.scale(by);
        }
    }

    /// Move all parameters together. The curvature along those that are no noise is known.
    fn begin_joint(&mut self) {
        self.is_joint = true;
        self.gains.clear();
        let known = self.local.as_ref().map(|local| local.bend.clone());
        self.begin_differences(known);
    }

    /// Begin again with coarser differences, or give up.
    fn fail(&mut self) {
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            self.end = Some(End::Failed);
            return;
        }
        self.difference_nats = (COARSER * self.difference_nats).min(DIFFERENCE_NATS[1]);
        self.is_joint = self.noises.is_empty();
        self.gains.clear();
        self.local = None;
        self.reach = f64::INFINITY;
        self.begin_differences(None);
    }
}

/// A direction in which nothing falls is so many units of the prior long.
const PRIOR_REACH: f64 = 2.0;

//! Leave a prior that is far wider than the peak: climb, then integrate in frames of its shape.

mod again;
mod frames;
mod further;
mod parameters;
mod reframing;
mod resumed;
mod rising;
mod vague;

pub(super) use frames::{counts, is_settled};
pub(super) use reframing::unknown_shape_nats;

use super::auto::{Climb, Parameters, Tuning};
use super::frame::nearest;
use super::symmetry::{Trials, Wanted};
use super::{Frame, Image, Peak, TakenFrame};
use crate::data::Value;
use crate::error::Result;
use crate::measure::{Chart, Circles, Measure};
use crate::numeric::linalg::Mat;
use crate::points::Points;
use again::Again;
use parameters::parameters;
use reframing::scale;
use resumed::Resumed;
use vague::{has_scale, highest, is_funnel, is_narrow, late_rise, least_late_rise, narrow_nats};

/// What a run knows about the way to the peak: a function of the observations in their order, and
/// of the frames that were taken.
#[derive(Debug, Clone)]
pub(super) struct Ascent {
    /// The prior in free coordinates, where the climb lives.
    free: Frame,
    /// Which of its coordinates are angles.
    circles: Option<Circles>,
    parameters: Parameters,
    tuning: Tuning,
    seed: u64,
    noise_sd: f64,
    /// How far the user thinks that each parameter may be off, in free coordinates.
    steps: Option<Vec<f64>>,
    stage: Stage,
    /// The observed points in the user's coordinates.
    observed: Vec<Vec<f64>>,
    /// ln f + ln pi of the observations so far, in free coordinates.
    points: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// Which of them stand for space-filling points.
    is_design: Vec<bool>,
    /// How many of them the climb waited for.
    awaited: usize,
    /// The frames that were taken, in order, and the number of observations by then.
    frames: Vec<TakenFrame>,
    taken_at: Vec<usize>,
    /// Further climbs, from elsewhere; the last one may be under way.
    again: Vec<Again>,
    /// Climbs that went on from inside a frame; the last one may be under way.
    resumed: Vec<Resumed>,
    /// Whether the frames know their parts of Z well enough to look elsewhere first.
    is_settled: bool,
}

/// Values that a climb is handed at once at most: where all it asks for lies outside the prior's
/// region, others choose the next point.
const MOST_KNOWN_IN_A_ROW: usize = 1000;

#[derive(Debug, Clone)]
enum Stage {
    /// Too little is known to say how wide the peak is.
    Watching,
    /// The peak is not narrow, but parameters look like labels: trials of their exchange.
    Labels(Trials),
    /// The prior itself is a fair frame.
    Broad,
    /// There is a narrow peak: the climb, under way or ended, and then trials of its images.
    Narrow(Box<Climb>, Option<Trials>),
}

impl Ascent {
    /// Nothing seen yet; `None` for a prior without free coordinates.
    pub fn new(measure: &dyn Measure, tuning: &Tuning, seed: u64) -> Option<Ascent> {
        let fine = measure.has_density();
        let free = Frame::prior(measure, Chart::Free).ok().filter(|_| fine)?;
        Some(Ascent {
            parameters: parameters(measure, &free),
            circles: free.measure().circles(),
            free,
            tuning: tuning.clone(),
            seed,
            noise_sd: 0.0,
            steps: None,
            stage: Stage::Watching,
            observed: Vec::new(),
            points: Vec::new(),
            values: Vec::new(),
            is_design: Vec::new(),
            awaited: 0,
            frames: Vec::new(),
            taken_at: Vec::new(),
            again: Vec::new(),
            resumed: Vec::new(),
            is_settled: false,
        })
    }

    /// Values of ln f carry noise of this sd.
    pub fn set_noise(&mut self, sd: f64) {
        self.noise_sd = sd;
    }

    /// The user thinks that each parameter lies so far from a point at the most.
    pub fn set_steps(&mut self, middle: &[f64], half_widths: &[f64]) {
        let at = |sign: f64| {
            let x = middle.iter().zip(half_widths).map(|(m, h)| m + sign * h);
            self.free.point_to_frame(&x.collect::<Vec<f64>>())
        };
        if let (Ok(low), Ok(high)) = (at(-1.0), at(1.0)) {
            let half = low.iter().zip(&high).map(|(low, high)| 0.5 * (high - low));
            self.steps = Some(half.collect());
        }
    }

    /// Whether the frames know their parts of Z so well that points are better spent on further
    /// climbs while there are any.
    pub fn settle(&mut self, is_settled: bool) {
        self.is_settled = is_settled;
    }

    /// Whether free coordinates of a point can be had.
    pub fn has_place(&self, x: &[f64]) -> bool {
        let scores = self.free.point_to_frame(x);
        scores.is_ok_and(|z| z.iter().all(|z| z.is_finite()))
    }

    /// Take the observations that have come since, and the points that failed. `is_design` says
    /// which observations stand for space-filling points.
    pub fn see(
        &mut self,
        points: &Points,
        values: &[Value],
        is_design: &dyn Fn(usize) -> bool,
        failed: &Points,
    ) -> Result<()> {
        for i in self.values.len()..values.len() {
            // Once it is known how wide the peak is, points are asked for other reasons.
            let is_watching = matches!(self.stage, Stage::Watching);
            let so_far = self.is_design.iter().filter(|is| **is).count();
            let is_first = so_far < self.design_points();
            self.is_design.push(is_watching && is_first && is_design(i));
            self.take(points.row(i), values[i])?;
        }
        while let Stage::Narrow(climb, _) = &mut self.stage
            && let Some(z) = climb.awaited()
            && failed.iter().any(|x| self.free.point_from_frame(z) == x)
        {
            climb.fail();
        }
        while let Some(z) = self.awaited_again()
            && failed.iter().any(|x| self.free.point_from_frame(&z) == x)
        {
            self.tell_again(&z, f64::NEG_INFINITY);
        }
        self.fail_resumed(failed);
        self.begin_trials();
        for x in failed.iter() {
            self.tell_trial(x, None);
        }
        Ok(())
    }

    fn take(&mut self, x: &[f64], value: Value) -> Result<()> {
        let mut z = self.free.point_to_frame(x)?;
        let value = value.ln_abs() + self.free.measure().ln_density(&z);
        self.tell_trial(x, Some(value));
        if let Stage::Narrow(climb, None) = &mut self.stage {
            let awaited = climb.awaited();
            let awaited = awaited.filter(|z| self.free.point_from_frame(z) == x);
            match (awaited, climb.best()) {
                // An angle may have gone round on the way.
                (Some(awaited), _) => z = awaited.to_vec(),
                (None, Some((top, _))) => nearest(&mut z, top, self.circles.as_ref()),
                (None, None) => {}
            }
            let is_awaited = awaited.is_some();
            climb.tell(&z, value, is_awaited);
            self.awaited += usize::from(is_awaited);
        }
        if let Some(awaited) = self.awaited_again()
            && self.free.point_from_frame(&awaited) == x
        {
            self.tell_again(&awaited, value);
        }
        self.observed.push(x.to_vec());
        self.points.push(z.clone());
        self.values.push(value);
        self.tell_resumed(x, &z, value);
        self.begin_resumed();
        self.reuse_resumed();
        self.begin_again();
        if matches!(self.stage, Stage::Watching) {
            self.stage = self.judged();
            self.judge_labels();
        }
        self.reuse();
        self.begin_trials();
        Ok(())
    }

    /// Hand the climb values that it waits for and that are known already. A value that carries
    /// noise is worth a second one.
    fn reuse(&mut self) {
        for _ in 0..MOST_KNOWN_IN_A_ROW {
            let Stage::Narrow(climb, None) = &self.stage else {
                return;
            };
            let known = climb.awaited().and_then(|z| self.known(z));
            match (known, &mut self.stage) {
                (Some(value), Stage::Narrow(climb, None)) => climb.reuse(value),
                _ => return,
            }
        }
    }

    /// ln f + ln pi where it is known: at a point that was observed, and outside the region of the
    /// prior.
    fn known(&self, z: &[f64]) -> Option<f64> {
        if !self.holds(z) {
            return Some(f64::NEG_INFINITY);
        }
        let x = self.free.point_from_frame(z);
        let known = self.observed.iter().position(|known| *known == x);
        known
            .filter(|_| self.noise_sd == 0.0)
            .map(|known| self.values[known])
    }

    /// Whether a point of free coordinates is in the region that the prior is restricted to.
    fn holds(&self, z: &[f64]) -> bool {
        self.free.region().is_none_or(|region| region.holds(z))
    }

    /// Once the climb has ended, ask which exchanges of parameters leave its top as it is.
    fn begin_trials(&mut self) {
        if let Stage::Narrow(climb, trials @ None) = &mut self.stage
            && climb.has_ended()
            && let Some((top, value)) = climb.best()
        {
            let top = (top, value);
            *trials = Some(Trials::new(&self.free, Wanted::All, top, self.noise_sd));
        }
    }

    /// Take the value at a point that may be that of a trial.
    fn tell_trial(&mut self, x: &[f64], value: Option<f64>) {
        let (Stage::Narrow(_, Some(trials)) | Stage::Labels(trials)) = &mut self.stage else {
            return;
        };
        let mut awaited = trials.awaited();
        let place = awaited.position(|z| self.free.point_from_frame(&z) == x);
        drop(awaited);
        if let Some(place) = place {
            trials.tell(place, value);
        }
        self.judge_labels();
    }

    /// Peaks that are mirror images have one frame: climb to one of them.
    fn judge_labels(&mut self) {
        if let Stage::Labels(trials) = &self.stage
            && let Some(images) = trials.images()
        {
            self.stage = match images.len() {
                1 => Stage::Broad,
                _ => self.climbing(None),
            };
        }
    }

    /// How many space-filling points there are at most.
    fn design_points(&self) -> usize {
        let tuning = &self.tuning;
        let of_dimension = tuning.initial_per_dimension * self.free.dim();
        of_dimension.max(tuning.initial_least)
    }

    /// Whether the peak is narrow, once enough has been seen.
    fn judged(&self) -> Stage {
        let (all, tuning) = (self.values.len(), &self.tuning);
        let design = self.values.iter().zip(&self.is_design);
        let design: Vec<f64> = design.filter(|(_, is)| **is).map(|(v, _)| *v).collect();
        let n = design.len();
        if n < tuning.initial_least {
            return Stage::Watching;
        }
        let enough = n >= tuning.initial_per_dimension * self.free.dim();
        let nothing = self.values.iter().all(|value| *value == f64::NEG_INFINITY);
        let top = highest(self.values.iter().copied());
        // One parameter alone is no noise of anything.
        let has_noise = self.free.dim() > 1 && has_scale(&self.parameters);
        let is_funnel = has_noise && is_funnel(&design, top, tuning);
        if is_narrow(&design, top, tuning.narrow_nats) || enough && (nothing || is_funnel) {
            return self.climbing(None);
        }
        let best = (0..all).max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        if is_narrow(&design, top, narrow_nats(tuning, self.free.dim())) {
            // A process in the prior's coordinates may do: its points tell.
            match late_rise(&self.values, self.free.dim()) {
                None => return Stage::Watching,
                Some(rise) if rise > least_late_rise(self.noise_sd) => return self.climbing(best),
                Some(_) => {}
            }
        }
        match best.filter(|_| enough) {
            Some(best) => {
                let top = (self.points[best].as_slice(), self.values[best]);
                Stage::Labels(Trials::new(&self.free, Wanted::Labels, top, self.noise_sd))
            }
            None => Stage::Watching,
        }
    }

    /// The beginning of a climb that knows all observations, at the prior's centre or at one of
    /// them.
    fn climbing(&self, start: Option<usize>) -> Stage {
        let parameters = self.parameters.clone();
        let mut climb = Climb::of(parameters, &self.tuning, self.noise_sd, self.seed);
        climb.set_steps(self.steps.as_deref());
        let top = (0..self.values.len()).max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        for (z, &value) in self.points.iter().zip(&self.values) {
            let mut z = z.clone();
            if let Some(top) = top {
                nearest(&mut z, &self.points[top], self.circles.as_ref());
            }
            climb.tell(&z, value, false);
        }
        if let Some(start) = start {
            climb.start_at(self.points[start].clone());
        }
        Stage::Narrow(Box::new(climb), None)
    }

    /// The climb, once a narrow peak is known of.
    pub fn climb(&self) -> Option<&Climb> {
        match &self.stage {
            Stage::Narrow(climb, _) => Some(climb),
            Stage::Watching | Stage::Labels(_) | Stage::Broad => None,
        }
    }

    /// The next point of the climb, in the user's coordinates; `None` if it has ended, or where
    /// there is nothing to climb. With its own point pending it asks for one beside it.
    pub fn ask(&self, pending: &Points) -> Option<Vec<f64>> {
        let is_pending = |x: &Vec<f64>| pending.iter().any(|p| p == x);
        let open = |trials: &Trials| {
            let mut open = trials.awaited().map(|z| self.free.point_from_frame(&z));
            open.find(|x| !is_pending(x))
        };
        let climb = match &self.stage {
            Stage::Labels(trials) => return open(trials),
            Stage::Narrow(_, Some(trials)) => {
                let resumed = open(trials).or_else(|| self.ask_resumed(pending));
                return resumed.or_else(|| self.ask_again(&is_pending));
            }
            Stage::Narrow(climb, None) => climb,
            Stage::Watching | Stage::Broad => return None,
        };
        self.ask_climb(climb, pending)
    }

    /// The next point of a climb, in the user's coordinates, or one beside it.
    fn ask_climb(&self, climb: &Climb, pending: &Points) -> Option<Vec<f64>> {
        let is_pending = |x: &Vec<f64>| pending.iter().any(|p| p == x);
        let awaited = Some(climb.awaited()?).filter(|z| self.holds(z))?;
        let x = self.free.point_from_frame(awaited);
        if !is_pending(&x) {
            return Some(x);
        }
        let beside = (0..2 * pending.len() + 20).map(|k| climb.beside(k));
        let mut inside = beside.filter(|z| self.holds(z));
        let mut points = inside.by_ref().map(|z| self.free.point_from_frame(&z));
        points.find(|x| !is_pending(x))
    }

    /// The images of the peak; `None` before they are known.
    fn images(&self) -> Option<Vec<Image>> {
        match &self.stage {
            Stage::Narrow(_, Some(trials)) => trials.images(),
            _ => None,
        }
    }

    /// Whether there is a climb, and no frame yet.
    pub fn is_under_way(&self) -> bool {
        self.climb().is_some() && self.frames.is_empty()
    }

    /// Whether the climb has ended and the images of its peak are known.
    pub fn has_arrived(&self) -> bool {
        self.images().is_some()
    }

    /// The peak as the climb knows it, wide enough to hold what the climb does not know.
    pub fn first_peak(&self) -> Option<Peak> {
        let (center, covariance) = self.climb()?.shape()?;
        self.widened(center, covariance)
    }

    /// A peak that is wider than known, with the images that all peaks have.
    fn widened(&self, center: Vec<f64>, mut covariance: Mat) -> Option<Peak> {
        let wider = self.tuning.first_frame_widening.powi(2);
        scale(&mut covariance, wider);
        let peak = Peak::with_covariance(center, &covariance)?;
        peak.with_images(self.images().unwrap_or_default()).ok()
    }

    /// The frame of the peak as the climb knows it now; `None` where there is nothing to climb.
    pub fn provisional_frame(&self) -> Result<Option<Frame>> {
        let peak = self.first_peak();
        peak.map(|peak| self.free.with_peak(peak)).transpose()
    }

    /// How far from its centre a frame takes observations.
    pub fn reach(&self) -> f64 {
        self.tuning.frame_reach_sd + (self.free.dim() as f64).sqrt()
    }
}

//! Keep the frames that were taken, those of each peak in order, and decide when one is looked at.

use super::reframing::{differs, moments, scale};
use super::{Ascent, Stage};
use crate::engine::{Frame, Peak, TakenFrame};
use crate::error::Result;
use crate::functional::Law;
use crate::numeric::special::ln_1m_exp;
use crate::points::Points;

/// A peak with so many frames goes on changing its shape or place.
const CHANGING_FRAMES: usize = 3;
/// Z is known well where the interval of ln Z reaches less than this for each parameter.
const SETTLED_NATS_PER_DIMENSION: f64 = 0.004;

/// Whether a part of Z is known so well that points are better spent on a look elsewhere.
pub(in crate::engine) fn is_settled(law: &Law, dim: usize) -> bool {
    law.is_narrower(SETTLED_NATS_PER_DIMENSION * dim as f64)
}

/// How much the interval of a part of Z counts among those of the others: ln of its width, less
/// with every point that is pending there.
pub(in crate::engine) fn counts(law: &Law, pending: usize) -> f64 {
    let (low, high) = (law.ln_quantile(0.025), law.ln_quantile(0.975));
    high + ln_1m_exp(low - high) - (pending as f64).ln_1p()
}

impl Ascent {
    /// The frames that were taken, in order.
    pub fn frames(&self) -> &[TakenFrame] {
        &self.frames
    }

    /// Integrate in this frame from now on, when there are so many observations.
    pub fn keep(&mut self, frame: TakenFrame, at: usize) {
        self.frames.push(frame);
        self.taken_at.push(at);
    }

    /// How many peaks have frames.
    pub fn components(&self) -> usize {
        let numbers = self.frames.iter().map(|frame| frame.component + 1);
        numbers.max().unwrap_or(0)
    }

    /// The frames of a peak, in order.
    pub(super) fn of(&self, component: usize) -> impl DoubleEndedIterator<Item = &TakenFrame> {
        let frames = self.frames.iter();
        frames.filter(move |frame| frame.component == component)
    }

    /// The present frame of a peak.
    pub fn latest(&self, component: usize) -> Option<&TakenFrame> {
        self.of(component).next_back()
    }

    /// The number of observations when a peak was found: those of its climbs, and before them.
    pub fn begun(&self, component: usize) -> Option<usize> {
        let resumed = self.of(component).rfind(|frame| frame.is_resumed);
        let frame = resumed.or_else(|| self.of(component).next());
        frame.map(|frame| frame.n)
    }

    /// The number of observations from which on the shape of a peak is learnt: since it was found,
    /// or since its last frame where it goes on changing.
    pub fn shaped(&self, component: usize) -> Option<usize> {
        let since: Vec<&TakenFrame> = self.since_climb(component).collect();
        let shaped = match since.len() >= CHANGING_FRAMES {
            true => since.last(),
            false => since.first(),
        };
        shaped.map(|frame| frame.n)
    }

    /// The frames of a peak since a climb led to it, in order.
    pub fn since_climb(&self, component: usize) -> impl Iterator<Item = &TakenFrame> {
        let begun = self.begun(component).unwrap_or(0);
        self.of(component).filter(move |frame| frame.n >= begun)
    }

    /// The present frames, one for each peak.
    pub fn present_frames(&self) -> Result<Vec<Frame>> {
        let latest = (0..self.components()).filter_map(|component| self.latest(component));
        let peaks: Vec<&Peak> = latest.map(|frame| &frame.peak).collect();
        let one = |own: usize| {
            let others = peaks.iter().enumerate().filter(|(i, _)| *i != own);
            let others = others.map(|(_, peak)| (*peak).clone()).collect();
            self.free.with_peaks(peaks[own].clone(), others)
        };
        (0..peaks.len()).map(one).collect()
    }

    /// The frames that were taken with up to `n` observations.
    pub(super) fn known_frames(&self, n: usize) -> &[TakenFrame] {
        let known = self.taken_at.iter().filter(|at| **at <= n).count();
        &self.frames[..known]
    }

    /// The first and the present shape of each peak, as they were known after `n` observations.
    pub(super) fn ends(&self, n: usize) -> Vec<&Peak> {
        let known = self.known_frames(n);
        let ends = (0..self.components()).flat_map(|component| {
            let mut own = known
                .iter()
                .filter(move |frame| frame.component == component);
            let first = own.next();
            first.into_iter().chain(own.next_back())
        });
        ends.map(|frame| &frame.peak).collect()
    }

    /// The last number of observations, up to `n`, at which the frame of a peak is looked at again
    /// and was not yet; `None` before its first frame.
    pub fn round_due(&self, component: usize, n: usize) -> Option<usize> {
        let (first, last) = (self.begun(component)?, self.latest(component)?.n);
        let round = self.tuning.round_per_dimension * (self.free.dim() + 2);
        let mut milestone = first;
        let mut due = None;
        while milestone <= n {
            due = (milestone > last).then_some(milestone);
            milestone += round.max(milestone / 5);
        }
        due
    }

    /// The peak of weighted points of the present frame of a peak, if it is another one than that
    /// of the frame.
    pub fn next_peak(&self, component: usize, points: &Points, weights: &[f64]) -> Option<Peak> {
        let peak = &self.latest(component)?.peak;
        let rows: Vec<Vec<f64>> = points.iter().map(|y| peak.from_standard(y)).collect();
        let (center, mut covariance) = moments(&rows, weights);
        scale(&mut covariance, self.tuning.frame_widening.powi(2));
        let next = Peak::with_covariance(center, &covariance)?;
        let next = next.with_images(peak.images().to_vec()).ok()?;
        differs(peak, &next).then_some(next)
    }

    /// The same with the first `n` observations.
    pub fn first(&self, n: usize) -> Ascent {
        self.with_frames(|frame| frame.n <= n)
    }

    /// The same with the first `n` observations, before the frame of this peak is looked at then:
    /// frames are looked at in turn, so those of later peaks are not taken yet.
    pub fn before_look(&self, n: usize, component: usize) -> Ascent {
        self.with_frames(|frame| frame.n < n || frame.n == n && frame.component < component)
    }

    /// What is known by some frames alone.
    fn with_frames(&self, keeps: impl Fn(&TakenFrame) -> bool) -> Ascent {
        let all = self.frames.iter().zip(&self.taken_at);
        let (frames, taken_at) = all
            .filter(|(frame, _)| keeps(frame))
            .map(|(frame, at)| (frame.clone(), *at))
            .unzip();
        Ascent {
            stage: Stage::Watching,
            observed: Vec::new(),
            points: Vec::new(),
            values: Vec::new(),
            is_design: Vec::new(),
            awaited: 0,
            frames,
            taken_at,
            again: Vec::new(),
            resumed: Vec::new(),
            is_settled: false,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_interval_of_z_itself_counts_most() {
        // 2 % of the larger part are more than half of a part a hundredth of it.
        let (large, small) = (Law::log_normal(-10.0, 0.02), Law::log_normal(-14.6, 0.5));
        assert!(counts(&large, 0) > counts(&small, 0));
        assert!(counts(&large, 0) < counts(&Law::log_normal(-14.6, 1.5), 0));
        assert!(counts(&large, 3) < counts(&small, 0));
        assert!((counts(&large, 0) - (-10.0 + (0.04_f64 * 1.96).ln())).abs() < 0.01);
    }
}

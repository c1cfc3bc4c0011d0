//! Decide where further climbs begin, and what their peaks mean for the frame and for Z.

use super::Ascent;
use super::again::{Again, OtherPeak, is_within, opposite};
use crate::engine::Peak;
use crate::engine::auto::Climb;

/// Evaluations in frames for each parameter, and for two more, before each further climb begins.
const AGAIN_AFTER: usize = 4;
const MOST_CLIMBS: usize = 4;
/// One evaluation in so many is a further climb's.
const AGAIN_ONE_IN: usize = 3;

impl Ascent {
    /// Once a frame has been looked at for a while, climb again from elsewhere.
    pub(super) fn begin_again(&mut self) {
        let Some(after) = self.peaks.first().map(|(first, _)| *first) else {
            return;
        };
        let count = self.again.len();
        let due = after + (count + 1) * AGAIN_AFTER * (self.free.dim() + 2);
        let is_busy = self.again.last().is_some_and(|again| !again.has_ended());
        if self.values.len() < due || is_busy || count >= MOST_CLIMBS {
            return;
        }
        let start = match count {
            0 => self
                .climb()
                .and_then(Climb::best)
                .map(|(z, _)| opposite(z, &self.parameters)),
            _ => self.best_elsewhere(count - 1),
        };
        let (noise_sd, seed) = (self.noise_sd, self.seed.wrapping_add(count as u64));
        if let Some(start) = start {
            let again = Again::at(start, &self.parameters, &self.tuning, noise_sd, seed);
            self.again.push(again);
        }
    }

    /// The best space-filling point that belongs to no known peak, after so many better ones.
    fn best_elsewhere(&self, skipped: usize) -> Option<Vec<f64>> {
        let elsewhere = |&i: &usize| {
            self.is_design[i] && self.values[i].is_finite() && !self.is_known(&self.points[i])
        };
        let mut places: Vec<usize> = (0..self.values.len()).filter(elsewhere).collect();
        places.sort_by(|&a, &b| self.values[b].total_cmp(&self.values[a]));
        places.get(skipped).map(|&i| self.points[i].clone())
    }

    /// Whether a place belongs to a peak that is known.
    fn is_known(&self, z: &[f64]) -> bool {
        let reach = self.reach();
        let found = self.again.iter().filter_map(Again::found);
        let mut found =
            found.filter_map(|other| self.widened(other.center.clone(), other.covariance.clone()));
        let mut ends = self.peaks.first().into_iter().chain(self.peaks.last());
        ends.any(|(_, peak)| is_within(peak, z, reach))
            || found.any(|peak| is_within(&peak, z, reach))
    }

    /// The point that the other climb waits for.
    pub(super) fn awaited_again(&self) -> Option<Vec<f64>> {
        Some(self.again.last()?.awaited()?.to_vec())
    }

    pub(super) fn tell_again(&mut self, z: &[f64], value: f64) {
        let Some(mut again) = self.again.pop() else {
            return;
        };
        again.tell(z, value, |z| self.is_known(z));
        self.again.push(again);
    }

    /// The largest peak that another climb found and the present frame does not hold.
    fn other_peak(&self) -> Option<&OtherPeak> {
        let (_, present) = self.peaks.last()?;
        let found = self.again.iter().filter_map(Again::found);
        let outside = found.filter(|other| !is_within(present, &other.center, self.reach()));
        outside.max_by(|a, b| a.ln_mass.total_cmp(&b.ln_mass))
    }

    /// The peak that the first climb found, as if it were normal.
    fn own_peak(&self) -> Option<OtherPeak> {
        let climb = self.climb()?;
        let (_, height) = climb.best()?;
        let (center, covariance) = climb.shape()?;
        OtherPeak::new(center, covariance, height)
    }

    /// The peak to go to: one that another climb found, if it holds more than the present one.
    pub fn better_peak(&self) -> Option<Peak> {
        let (other, own) = (self.other_peak()?, self.own_peak()?);
        let (_, present) = self.peaks.last()?;
        let held = self.again.iter().filter_map(Again::found).chain([&own]);
        let mut held = held.filter(|peak| is_within(present, &peak.center, self.reach()));
        if held.any(|peak| peak.ln_mass >= other.ln_mass) {
            return None;
        }
        self.widened(other.center.clone(), other.covariance.clone())
    }

    /// ln of what lies in peaks outside the present frame, as if they were normal.
    pub fn ln_mass_outside(&self) -> Option<f64> {
        let images = self
            .peaks
            .last()
            .map_or(1, |(_, peak)| peak.images().len().max(1));
        let (_, present) = self.peaks.last()?;
        let own = self.own_peak().filter(|own| {
            let is_outside = !is_within(present, &own.center, self.reach());
            is_outside && self.again.iter().any(|again| again.found().is_some())
        });
        let masses = self.other_peak().into_iter().chain(own.as_ref());
        let other = masses.map(|peak| peak.ln_mass).reduce(f64::max)?;
        Some(other + (images as f64).ln())
    }

    /// The other climb's point, when it is its turn.
    pub(super) fn ask_again(&self, is_pending: &dyn Fn(&Vec<f64>) -> bool) -> Option<Vec<f64>> {
        if !self.values.len().is_multiple_of(AGAIN_ONE_IN) {
            return None;
        }
        let z = self.awaited_again().filter(|z| self.holds(z))?;
        Some(self.free.point_from_frame(&z)).filter(|x| !is_pending(x))
    }
}

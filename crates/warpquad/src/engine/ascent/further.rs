//! Decide where further climbs begin, and what their peaks mean for the frame and for Z.

use super::again::{Again, OtherPeak, is_beside, is_within, opposite};
use super::vague::highest;
use super::{Ascent, Stage};
use crate::engine::Peak;
use crate::engine::auto::Climb;
use crate::engine::strategy::Outside;
use crate::numeric::special::ln_sum_exp;

/// Evaluations in frames for each parameter, and for two more, before each further climb begins.
const AGAIN_AFTER: usize = 4;
const MOST_CLIMBS: usize = 4;
/// A climb that is so near to the height of the known peak may lead to one as large ...
const PROMISING_NATS: f64 = 20.0;
/// ... with this chance.
const PROMISING_CHANCE: f64 = 0.25;
/// The chance that an exchange leads to another peak, and that a peak that leaves a parameter open
/// is a lesser one. It is more than a fortieth, so that the interval says it, and too little to
/// move the median.
const UNTRIED_CHANCE: f64 = 0.08;
/// A place within reach of a known peak belongs to it where f is no lower than this below its top,
/// and half a nat more for each parameter.
const KNOWN_NATS: f64 = 6.0;
/// A parameter is open where the sd of its score is more than this. That of the prior is 1.
const OPEN_SD: f64 = 0.6;
/// An open parameter speaks of a lesser peak from so many dimensions on. Below, no climb of the
/// tuning half has ended on one.
const OPEN_FROM: usize = 4;
/// Another peak may be so much larger than one that leaves a parameter open: the interval has two
/// thirds of it. Of the tuning half's lesser peaks the lowest is 56 nats below the largest.
const LESSER_NATS: f64 = 150.0;
/// Where the others stand still, the sd of a noise is still this part of what it is in all: the
/// slope of the prior binds them a little.
const APART_PART: f64 = 0.8;
/// A peak gets a frame unless its mass is so many nats below the largest peak's.
const FRAMED_NATS: f64 = 5.0;

/// Whether the next evaluation is a further climb's: one in three, and two in three once Z is known
/// well in the frames, or from an exchange, which may well lead to a peak as large.
fn is_turn(evaluations: usize, is_settled: bool, is_exchange: bool) -> bool {
    evaluations.is_multiple_of(3) != (is_settled || is_exchange)
}

/// Whether an exchange of parameters leaves those that act as noises where they were, or moves
/// them among themselves: the width of a noise is no label.
fn keeps_noises(exchanged: &[f64], top: &[f64], is_noise: &[bool]) -> bool {
    let moved = (0..top.len()).filter(|&axis| exchanged[axis] != top[axis]);
    let noises = moved.clone().filter(|&axis| is_noise[axis]).count();
    noises == 0 || noises == moved.count()
}

/// Which parameters hardly depend on the others. The width of a noise does not at the top, where
/// the slope of ln f along all others is 0 whatever the noise is.
fn are_apart(peak: &Peak) -> Vec<bool> {
    let marginal = |row: &Vec<f64>| row.iter().map(|l| l * l).sum::<f64>().sqrt();
    let sds = peak.conditional_sds().into_iter().zip(peak.factor());
    sds.map(|(conditional, row)| conditional > APART_PART * marginal(row))
        .collect()
}

/// Whether a peak leaves some parameter as open as the prior does, almost. Lesser peaks do: a part
/// of a mixture that holds no data, a rate that is too fast to see.
fn leaves_open(peak: &Peak) -> bool {
    let sds = peak.factor().iter();
    let mut sds = sds.map(|row| row.iter().map(|l| l * l).sum::<f64>().sqrt());
    sds.any(|sd| sd > OPEN_SD)
}

impl Ascent {
    /// Once a frame has been looked at for a while, climb again from elsewhere: from an exchange of
    /// parameters with equal priors first.
    pub(super) fn begin_again(&mut self) {
        let Some(after) = self.of(0).next().map(|frame| frame.n) else {
            return;
        };
        let is_busy = self.again.last().is_some_and(|again| !again.has_ended());
        let own = self.again.iter().filter(|again| !again.is_exchange);
        let (count, known) = (own.count(), self.values.len());
        if is_busy {
            return;
        }
        let unit = self.free.dim() + 2;
        let is_due = |count: usize| known >= after + (count + 1) * AGAIN_AFTER * unit;
        let exchange = is_due(0).then(|| self.exchange()).flatten();
        let is_exchange = exchange.is_some();
        let start = match is_due(count) && count < MOST_CLIMBS {
            true => exchange.or_else(|| self.elsewhere(count)),
            false => None,
        };
        let seed = self.seed.wrapping_add(self.again.len() as u64);
        if let Some(start) = start {
            let mut again = Again::at(start, &self.parameters, &self.tuning, self.noise_sd, seed);
            if is_exchange && let Some(own) = self.own_peak() {
                again.stay_near(&own);
            }
            self.again.push(again);
        }
    }

    /// The best exchange of parameters that is no image of the peak, unless it is on a flank of the
    /// peak; `None` once a climb has begun at one. With images exchanges lead to those.
    fn exchange(&self) -> Option<Vec<f64>> {
        let Stage::Narrow(climb, Some(trials)) = &self.stage else {
            return None;
        };
        let has_begun = self.again.iter().any(|again| again.is_exchange);
        if has_begun || trials.images().is_none_or(|images| images.len() > 1) {
            return None;
        }
        let (top, _) = climb.best()?;
        let is_apart = are_apart(&self.latest(0)?.peak).into_iter().enumerate();
        let is_noise = is_apart.map(|(axis, is_apart)| is_apart && climb.is_noise(axis));
        let is_noise: Vec<bool> = is_noise.collect();
        let leads_on = |(z, value): &&(Vec<f64>, f64)| {
            keeps_noises(z, top, &is_noise) && self.leads_on(z, *value)
        };
        let missed = trials.missed().iter().filter(leads_on);
        let best = missed.max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(z, _)| z.clone())
    }

    /// Whether a further climb led to a peak that is known, or there is nowhere to begin one. One
    /// from an exchange has only to end.
    pub fn has_looked_elsewhere(&self) -> bool {
        let confirms = |again: &Again| match again.is_exchange {
            true => again.has_ended(),
            false => again.led_to_known(),
        };
        self.again.iter().any(confirms) || self.elsewhere(0).is_none()
    }

    /// Where the climb with this number begins.
    fn elsewhere(&self, number: usize) -> Option<Vec<f64>> {
        let (top, _) = self.climb().and_then(Climb::best)?;
        let opposite = opposite(top, &self.parameters);
        match (
            number,
            self.is_known(&opposite, f64::INFINITY, self.values.len() - 1),
        ) {
            (0, false) => Some(opposite),
            (_, false) => self.best_elsewhere(number - 1),
            (_, true) => self.best_elsewhere(number),
        }
    }

    /// The best space-filling point that belongs to no known peak, after so many better ones.
    fn best_elsewhere(&self, skipped: usize) -> Option<Vec<f64>> {
        let elsewhere = |&i: &usize| {
            let value = self.values[i];
            self.is_design[i] && value.is_finite() && self.leads_on(&self.points[i], value)
        };
        let mut places: Vec<usize> = (0..self.values.len()).filter(elsewhere).collect();
        places.sort_by(|&a, &b| self.values[b].total_cmp(&self.values[a]));
        places.get(skipped).map(|&i| self.points[i].clone())
    }

    /// Whether a place with a value may lead to another peak than those that are known.
    fn leads_on(&self, z: &[f64], value: f64) -> bool {
        !self.is_known(z, value, self.values.len() - 1) && !self.is_explained(z, value)
    }

    /// Whether a value is that of the flank of a known peak.
    fn is_explained(&self, z: &[f64], value: f64) -> bool {
        let (own, images) = (self.own_peak(), self.images().unwrap_or_default());
        let found = self.again.iter().filter_map(Again::found);
        let mut known = found.chain(&own);
        known.any(|peak| {
            let mut images = images.iter().map(|image| image.apply(z));
            peak.explains(z, value) || images.any(|z| peak.explains(&z, value))
        })
    }

    /// Whether a place with a value belongs to a peak that was known after `n` observations: it is
    /// near, and nearly as high. Far down the flank of one peak may be the foot of another.
    fn is_known(&self, z: &[f64], value: f64, n: usize) -> bool {
        let Some(own) = self.own_peak() else {
            return false;
        };
        let (reach, low) = (self.reach(), KNOWN_NATS + 0.5 * self.free.dim() as f64);
        // Frames may have gone on to a higher top than that of the climb.
        let top = match self.components() {
            1 => highest(self.values.iter().copied()),
            _ => own.height,
        };
        let found = self.again.iter().filter_map(Again::found);
        let near = |other: &OtherPeak| {
            let peak = self.widened(other.center.clone(), other.covariance.clone());
            peak.is_some_and(|peak| is_beside(&peak, z, reach))
        };
        value >= top - low && self.ends(n).iter().any(|peak| is_beside(peak, z, reach))
            || found.filter(|other| value >= other.height - low).any(near)
    }

    /// The point that the other climb waits for.
    pub(super) fn awaited_again(&self) -> Option<Vec<f64>> {
        Some(self.again.last()?.awaited()?.to_vec())
    }

    pub(super) fn tell_again(&mut self, z: &[f64], value: f64) {
        let Some(mut again) = self.again.pop() else {
            return;
        };
        let is_known = |z: &[f64], value| self.is_known(z, value, self.values.len());
        again.tell(z, value, is_known, |z, value| self.is_explained(z, value));
        self.again.push(again);
    }

    /// Whether the present frame of some peak holds a place.
    fn is_framed(&self, z: &[f64]) -> bool {
        let mut latest = (0..self.components()).filter_map(|component| self.latest(component));
        latest.any(|frame| is_within(&frame.peak, z, self.reach()))
    }

    /// The peaks that climbs found and no frame holds.
    fn unframed(&self) -> impl Iterator<Item = &OtherPeak> {
        let found = self.again.iter().filter_map(Again::found);
        found.filter(|other| {
            let mut first =
                (0..self.components()).filter_map(|component| self.of(component).next());
            let has_had = first.any(|frame| frame.peak.center() == other.center);
            !has_had && !self.is_framed(&other.center)
        })
    }

    /// The peak that the first climb found, as if it were normal.
    fn own_peak(&self) -> Option<OtherPeak> {
        let climb = self.latest_climb(0)?;
        let (_, height) = climb.best()?;
        let (center, covariance) = climb.shape()?;
        OtherPeak::new(center, covariance, height)
    }

    /// A peak that another climb found and that has no frame yet, if it counts.
    pub fn another_peak(&self) -> Option<Peak> {
        let own = self.own_peak()?;
        let found = self.again.iter().filter_map(Again::found);
        let framed = found.filter(|other| self.is_framed(&other.center));
        let largest = framed.map(|peak| peak.ln_mass).fold(own.ln_mass, f64::max);
        let larger = |a: &&OtherPeak, b: &&OtherPeak| a.ln_mass.total_cmp(&b.ln_mass);
        let other = self.unframed().max_by(larger)?;
        if other.ln_mass < largest - FRAMED_NATS {
            return None;
        }
        self.widened(other.center.clone(), other.covariance.clone())
    }

    /// What lies in peaks without a frame, as if they were normal. A climb that is nearly as high
    /// as the known peak, and an exchange that leads on, may find as much as that holds. Where one
    /// climb alone found a peak that leaves a parameter open, another may find far more.
    pub fn outside(&self) -> Option<Outside> {
        let images = self.latest(0)?.peak.images().len().max(1);
        let masses: Vec<f64> = self.unframed().map(|peak| peak.ln_mass).collect();
        if !masses.is_empty() {
            return Some(Outside {
                ln_mass: ln_sum_exp(&masses) + (images as f64).ln(),
                above_nats: 0.0,
                chance: 1.0,
            });
        }
        let own = self.own_peak()?;
        let peak = |above_nats, chance| Outside {
            ln_mass: own.ln_mass,
            above_nats,
            chance,
        };
        let is_open = self.free.dim() >= OPEN_FROM && leaves_open(&self.latest(0)?.peak);
        if is_open && !self.has_looked_elsewhere() {
            return Some(peak(LESSER_NATS, UNTRIED_CHANCE));
        }
        let last = self.again.last().filter(|last| !last.has_ended());
        if last.is_some_and(|last| self.is_promising(last, own.height)) {
            return Some(peak(0.0, PROMISING_CHANCE));
        }
        let is_untried = last.is_some_and(|last| last.is_exchange) || self.exchange().is_some();
        is_untried.then(|| peak(0.0, UNTRIED_CHANCE))
    }

    /// Whether a climb under way is nearly as high as the peak of this height.
    fn is_promising(&self, climb: &Again, height: f64) -> bool {
        // Within a frame it is on its way back to a peak that is known.
        let is_near = |(best, value): (&[f64], f64)| {
            value >= height - PROMISING_NATS && !self.is_framed(best)
        };
        climb.best().is_some_and(is_near)
    }

    /// The other climb's point, when it is its turn.
    pub(super) fn ask_again(&self, is_pending: &dyn Fn(&Vec<f64>) -> bool) -> Option<Vec<f64>> {
        let is_exchange = self.again.last()?.is_exchange;
        if !is_turn(self.values.len(), self.is_settled, is_exchange) {
            return None;
        }
        let z = self.awaited_again().filter(|z| self.holds(z))?;
        Some(self.free.point_from_frame(&z)).filter(|x| !is_pending(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noise_changes_places_with_noises_only() {
        let (top, is_noise) = ([1.0, 2.0, 3.0, 4.0], [false, false, true, true]);
        assert!(keeps_noises(&[2.0, 1.0, 3.0, 4.0], &top, &is_noise));
        assert!(keeps_noises(&[1.0, 2.0, 4.0, 3.0], &top, &is_noise));
        assert!(!keeps_noises(&[1.0, 3.0, 2.0, 4.0], &top, &is_noise));
        assert!(!keeps_noises(&[2.0, 1.0, 4.0, 3.0], &top, &is_noise));
    }

    #[test]
    fn a_noise_is_apart_from_what_it_is_the_noise_of() {
        // Two parameters of a ridge, and the noise about it.
        let factor = vec![vec![2.0], vec![0.009, 0.004], vec![0.0, 0.02, 0.2]];
        let peak = Peak::new(vec![0.0; 3], factor).unwrap();
        assert_eq!(are_apart(&peak), [false, false, true]);
    }

    #[test]
    fn a_peak_as_wide_as_the_prior_leaves_a_parameter_open() {
        let of = |sd: f64| Peak::new(vec![0.0; 2], vec![vec![0.01], vec![0.0, sd]]).unwrap();
        assert!(leaves_open(&of(0.9)) && !leaves_open(&of(0.3)));
    }

    #[test]
    fn further_climbs_take_more_once_z_is_known() {
        let count = |is_settled, is_exchange| {
            let turns = (0..60).filter(|&n| is_turn(n, is_settled, is_exchange));
            turns.count()
        };
        assert_eq!([count(false, false), count(false, true)], [20, 40]);
        assert_eq!([count(true, false), count(true, true)], [40, 40]);
    }
}

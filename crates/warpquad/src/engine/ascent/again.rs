//! Hold a climb that knows only what it asked for itself, and the peak that it found.

use crate::engine::auto::{Climb, Parameters, Tuning};
use crate::engine::{Image, Peak};
use crate::numeric::linalg::{Cholesky, Mat};

/// A peak that is no part of any frame, as its height and its shape tell it.
#[derive(Debug, Clone)]
pub(super) struct OtherPeak {
    pub center: Vec<f64>,
    pub covariance: Mat,
    /// ln f + ln pi at its top.
    pub height: f64,
    /// Its shape without images.
    shape: Peak,
    /// ln of the integral of f pi over it, as if it were normal.
    pub ln_mass: f64,
}

impl OtherPeak {
    /// The peak with this ln f + ln pi at its top, in free coordinates.
    pub fn new(center: Vec<f64>, covariance: Mat, height: f64) -> Option<OtherPeak> {
        let ln_mass = ln_mass(height, &covariance)?;
        let shape = Peak::with_covariance(center.clone(), &covariance)?;
        Some(OtherPeak {
            center,
            covariance,
            height,
            shape,
            ln_mass,
        })
    }

    /// Whether a value at a place is what the peak would have there if it were normal: then the
    /// place is on its flank.
    pub fn explains(&self, z: &[f64], value: f64) -> bool {
        let squares: f64 = self.shape.whitened(z).iter().map(|t| t * t).sum();
        let (fall, normal) = (self.height - value, 0.5 * squares);
        (fall - normal).abs() <= EXPLAINED_PART * normal
    }
}

/// A peak explains a value that is as far below its top as a normal one would be, but for this part
/// of the drop.
const EXPLAINED_PART: f64 = 0.03;
/// A climb that is on the flank of a known peak so many rises in a row leads to that peak.
const RISES_TO_KNOWN: usize = 3;

/// ln of the integral of a normal peak of this height.
pub(super) fn ln_mass(height: f64, covariance: &Mat) -> Option<f64> {
    let d = covariance.cols();
    let sds: Vec<f64> = (0..d).map(|i| covariance[(i, i)].sqrt()).collect();
    let correlation = Mat::from_fn(d, d, |i, j| covariance[(i, j)] / sds[i] / sds[j]);
    let ln_sds: f64 = sds.iter().map(|sd| sd.ln()).sum();
    let ln_det = Cholesky::new(correlation)?.ln_det();
    let ln_two_pi = (2.0 * std::f64::consts::PI).ln();
    Some(height + 0.5 * (d as f64 * ln_two_pi + ln_det) + ln_sds)
}

/// How a further climb ended.
#[derive(Debug, Clone)]
enum End {
    /// On its way to a peak that is known.
    Known,
    /// On a peak of its own.
    Found(Box<OtherPeak>),
    /// Nowhere: where f is 0, on a plateau, or after too many evaluations.
    Nowhere,
}

/// A climb that knows only what it asked for itself: the best of all observations are those of the
/// peak that is known.
#[derive(Debug, Clone)]
pub(super) struct Again {
    climb: Climb,
    spent: usize,
    end: Option<End>,
    /// The best value so far, and how many rises to it were on the flank of a known peak.
    on_flank: (f64, usize),
    /// The height and the sds of the peak that it is an exchange of, before it is near that height.
    near: Option<(f64, Vec<f64>)>,
    /// Whether it began at an exchange of parameters of the known peak.
    pub is_exchange: bool,
}

/// A climb from an exchange that is so near to the height of the known peak needs no more lines.
const NEAR_NATS: f64 = 10.0;
/// A climb that took so many evaluations for each parameter, and for one more, leads nowhere.
const MOST_PER_DIMENSION: usize = 30;

impl Again {
    /// Begin at a point of free coordinates.
    pub fn at(
        start: Vec<f64>,
        parameters: &Parameters,
        tuning: &Tuning,
        noise_sd: f64,
        seed: u64,
    ) -> Again {
        let mut climb = Climb::of(parameters.clone(), tuning, noise_sd, seed);
        climb.start_at(start);
        Again {
            climb,
            spent: 0,
            end: None,
            on_flank: (f64::NEG_INFINITY, 0),
            near: None,
            is_exchange: false,
        }
    }

    /// Begin at an exchange of parameters of a peak: with the others, which have to make up for
    /// it, and with the peak's own steps. Longer ones lead back to the peak.
    pub fn stay_near(&mut self, peak: &OtherPeak) {
        let start = self.climb.awaited().unwrap_or(&peak.center);
        let kept = (0..start.len()).filter(|&axis| start[axis] == peak.center[axis]);
        let kept: Vec<usize> = kept.collect();
        self.climb.start_near(&peak.shape.conditional_sds(), &kept);
        self.near = Some((peak.height, peak.shape.conditional_sds()));
        self.is_exchange = true;
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// The point whose value it waits for; `None` once it has ended.
    pub fn awaited(&self) -> Option<&[f64]> {
        self.climb.awaited().filter(|_| self.end.is_none())
    }

    /// The value of ln f + ln pi at the awaited point, -inf for a failure. `is_known` says whether
    /// a place with a value belongs to a known peak, and `is_explained` whether a value is that of
    /// the flank of one: there the climb ends.
    pub fn tell(
        &mut self,
        z: &[f64],
        value: f64,
        is_known: impl Fn(&[f64], f64) -> bool,
        is_explained: impl Fn(&[f64], f64) -> bool,
    ) {
        self.climb.tell(z, value, true);
        self.spent += 1;
        let best = self.climb.best().map(|(_, best)| best);
        if let Some((height, sds)) = &self.near
            && best.is_some_and(|best| best > height - NEAR_NATS)
        {
            self.climb.resume(sds);
            self.near = None;
        }
        if value > self.on_flank.0 {
            let rises = match is_explained(z, value) {
                true => self.on_flank.1 + 1,
                false => 0,
            };
            self.on_flank = (value, rises);
        }
        let Some((best, height)) = self.climb.best() else {
            if self.climb.has_ended() {
                self.end = Some(End::Nowhere);
            }
            return;
        };
        let most = MOST_PER_DIMENSION * (z.len() + 1);
        if is_known(best, height) || self.on_flank.1 >= RISES_TO_KNOWN {
            self.end = Some(End::Known);
        } else if self.spent >= most {
            self.end = Some(End::Nowhere);
        } else if self.climb.has_ended() {
            let shape = self.climb.shape();
            let peak = shape.and_then(|(center, cov)| OtherPeak::new(center, cov, height));
            self.end = Some(peak.map_or(End::Nowhere, |peak| End::Found(Box::new(peak))));
        }
    }

    /// The best place so far, and ln f + ln pi there.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        self.climb.best()
    }

    /// The climb itself.
    pub fn climb(&self) -> &Climb {
        &self.climb
    }

    /// The peak that it found.
    pub fn found(&self) -> Option<&OtherPeak> {
        match &self.end {
            Some(End::Found(peak)) => Some(peak),
            _ => None,
        }
    }

    /// Whether it led to a peak that was known.
    pub fn led_to_known(&self) -> bool {
        matches!(self.end, Some(End::Known))
    }
}

/// The place on the other side of the prior's centre from a known top; parameters that set a scale
/// keep theirs.
pub(super) fn opposite(top: &[f64], parameters: &Parameters) -> Vec<f64> {
    let turn = |(z, is_scale): (&f64, &bool)| if *is_scale { *z } else { -z };
    top.iter().zip(&parameters.is_scale).map(turn).collect()
}

/// Whether a place is within `reach` of a peak or of one of its images, in coordinates in which its
/// measure is standard.
pub(super) fn is_within(peak: &Peak, z: &[f64], reach: f64) -> bool {
    any_image(peak, z, reach, |z| peak.to_standard(z))
}

/// The same in sds of the peak: tails heavier than normal do not count.
pub(super) fn is_beside(peak: &Peak, z: &[f64], reach: f64) -> bool {
    any_image(peak, z, reach, |z| peak.whitened(z))
}

fn any_image(peak: &Peak, z: &[f64], reach: f64, of: impl Fn(&[f64]) -> Vec<f64>) -> bool {
    let near = |z: &[f64]| of(z).iter().map(|y| y * y).sum::<f64>() <= reach * reach;
    let images = peak.images().iter();
    near(z) || images.map(|image: &Image| image.apply(z)).any(|z| near(&z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mass_of_a_normal_peak_is_that_of_its_density() {
        // A normal density of correlation 0.6, three nats higher than it is.
        let (a, b, r) = (1e-3_f64, 20.0_f64, 0.6_f64);
        let covariance = Mat::from_fn(2, 2, |i, j| match (i, j) {
            (0, 0) => a * a,
            (1, 1) => b * b,
            _ => r * a * b,
        });
        let density = 1.0 / (2.0 * std::f64::consts::PI * a * b * (1.0 - r * r).sqrt());
        let found = ln_mass(3.0 + density.ln(), &covariance).unwrap();
        assert!((found - 3.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_peak_explains_what_lies_on_its_flank() {
        let covariance = Mat::from_fn(2, 2, |i, j| if i == j { 0.04 } else { 0.01 });
        let peak = OtherPeak::new(vec![1.0, 2.0], covariance, -3.0).unwrap();
        // (2, 0) / 0.2 has 100 + ... squares: t = (10, -2.58).
        let normal = 0.5 * (100.0 + 2.581_988_897 * 2.581_988_897);
        assert!(peak.explains(&[3.0, 2.0], -3.0 - normal));
        assert!(peak.explains(&[3.0, 2.0], -3.0 - 1.02 * normal));
        assert!(!peak.explains(&[3.0, 2.0], -3.0 - 0.5 * normal));
        assert!(!peak.explains(&[3.0, 2.0], f64::NEG_INFINITY));
    }

    #[test]
    fn images_of_a_peak_are_known_too() {
        let peak = Peak::new(vec![1.0], vec![vec![0.1]]).unwrap();
        let flip = Image::new(vec![-1]).unwrap();
        let both = vec![Image::new(vec![1]).unwrap(), flip];
        assert!(!is_within(&peak, &[-1.1], 3.0) && is_within(&peak, &[1.1], 3.0));
        assert!(is_within(&peak.with_images(both).unwrap(), &[-1.1], 3.0));
    }
}

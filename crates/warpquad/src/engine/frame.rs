//! Hold the measure that carries the integral, and the coordinates in which it is standard.

use super::Peak;
use crate::data::Value;
use crate::error::Result;
use crate::measure::{
    Chart, Circle, Circles, Coordinates, Measure, Normal, Product, Region, Restricted,
};
use crate::numeric::special::ln_sum_exp;
use crate::points::Points;
use std::sync::Arc;

/// A frame: the measure that carries the integral, and its coordinates.
///
/// The process of g lives in the frame's coordinates, and nodes follow the frame's measure there.
/// Every run begins in the prior: Z is the integral of f against pi. Where the posterior is far
/// narrower than the prior, Z = integral of (f pi/q) q, with a measure q of the peak's own shape;
/// the frame's coordinates are those in which q is standard normal, and what is observed there is
/// f pi/q.
///
/// Several peaks have a frame each. With q the sum of their densities q_k, Z is the sum of the
/// integrals of f pi/q against each q_k: every place counts once, however the peaks overlap.
///
/// ```
/// use warpquad::engine::{Frame, Peak};
/// use warpquad::Value;
/// use warpquad::measure::{Chart, Product, univariate};
/// let prior = Product::new(vec![univariate("normal", &[0.0, 100.0])?])?;
/// let peak = Peak::new(vec![0.02], vec![vec![1e-4]])?;
/// let frame = Frame::peak(&prior, peak)?;
/// let y = frame.point_to_frame(&[2.0])?;
/// assert!(y[0].abs() < 1e-9);
/// assert!((frame.point_from_frame(&y)[0] - 2.0).abs() < 1e-9);
/// // pi/q at the centre is the ratio of the two sds, but for pi's own fall.
/// let Value::Log(ln_f) = frame.value(&y, Value::Log(0.0)) else { panic!() };
/// assert!((ln_f - (1e-4_f64).ln() + 0.5 * 0.02_f64.powi(2)).abs() < 1e-9);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Frame {
    /// The prior, in its chart; in free coordinates for a peak.
    prior: Arc<dyn Coordinates>,
    /// The peak that q follows, and q in its coordinates; `None` for the prior itself.
    peak: Option<(Peak, Arc<dyn Measure>)>,
    /// The other peaks of the run, which have frames of their own.
    others: Vec<Peak>,
}

/// A frame that a run took: the measure that carries a part of the integral from then on.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenFrame {
    /// How many observations it rests on.
    pub n: usize,
    /// Whose peak's it is, counted from 0; a later frame of the same peak takes its place.
    pub component: usize,
    /// Whether a climb that went on from a place in frames led to it.
    pub is_resumed: bool,
    /// The shape of the peak.
    pub peak: Peak,
}

impl Frame {
    /// The prior in coordinates of a chart.
    pub fn prior(measure: &dyn Measure, chart: Chart) -> Result<Frame> {
        Ok(Frame {
            prior: measure.coordinates(chart)?.into(),
            peak: None,
            others: Vec::new(),
        })
    }

    /// A measure of a peak's own shape; an error where the prior has no free coordinates.
    pub fn peak(measure: &dyn Measure, peak: Peak) -> Result<Frame> {
        Frame::prior(measure, Chart::Free)?.with_peak(peak)
    }

    /// The frame of a peak, of a prior in free coordinates.
    pub(super) fn with_peak(&self, peak: Peak) -> Result<Frame> {
        self.with_peaks(peak, Vec::new())
    }

    /// The frame of one peak among others: the measure is that of the one peak, and f pi is divided
    /// by the sum of all their densities. So the integrals in the frames of all peaks add up to Z.
    pub(super) fn with_peaks(&self, peak: Peak, others: Vec<Peak>) -> Result<Frame> {
        let standard = || Arc::new(Normal::standard()) as Arc<_>;
        let law = Product::new((0..self.dim()).map(|_| standard()).collect())?;
        let mut law: Arc<dyn Measure> = Arc::new(law);
        if self.region().is_some() || self.prior.measure().circles().is_some() {
            let region = AroundPeak {
                peak: peak.clone(),
                prior: self.prior.clone(),
            };
            law = Arc::new(Restricted::of_unknown_mass(law, Arc::new(region)));
        }
        Ok(Frame {
            prior: self.prior.clone(),
            peak: Some((peak, law)),
            others,
        })
    }

    /// The prior, in its chart, if it is restricted to a region.
    pub(super) fn region(&self) -> Option<&Restricted> {
        self.prior.measure().restricted()
    }

    /// The frame's measure, in its coordinates.
    pub fn measure(&self) -> &dyn Measure {
        match &self.peak {
            Some((_, law)) => law.as_ref(),
            None => self.prior.measure(),
        }
    }

    /// The peak that the measure follows; `None` where it is the prior.
    pub fn shape(&self) -> Option<&Peak> {
        self.peak.as_ref().map(|(peak, _)| peak)
    }

    /// The number of parameters.
    pub fn dim(&self) -> usize {
        self.prior.measure().dim()
    }

    /// The frame's coordinates of a user's point.
    pub fn point_to_frame(&self, x: &[f64]) -> Result<Vec<f64>> {
        let mut z = vec![0.0; x.len()];
        self.prior.to_natural(x, &mut z)?;
        Ok(match &self.peak {
            Some((peak, _)) => {
                nearest(
                    &mut z,
                    peak.center(),
                    self.prior.measure().circles().as_ref(),
                );
                peak.to_standard(&z)
            }
            None => z,
        })
    }

    /// The user's point at coordinates of the frame.
    pub fn point_from_frame(&self, y: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; y.len()];
        match &self.peak {
            Some((peak, _)) => self.prior.from_natural(&peak.from_standard(y), &mut x),
            None => self.prior.from_natural(y, &mut x),
        }
        x
    }

    /// The user's point at the image with this number of coordinates of the frame. Images of one
    /// peak count alike, so points that follow the frame's measure are spread over them in turn.
    pub fn image_from_frame(&self, y: &[f64], number: usize) -> Vec<f64> {
        match self.shape() {
            Some(peak) if peak.images().len() > 1 => {
                let image = &peak.images()[number % peak.images().len()];
                let mut x = vec![0.0; y.len()];
                let z = image.apply(&peak.from_standard(y));
                self.prior.from_natural(&z, &mut x);
                x
            }
            _ => self.point_from_frame(y),
        }
    }

    /// The coordinates of many points.
    pub fn to_frame(&self, x: &Points) -> Result<Points> {
        let mut out = Points::empty(x.dim())?;
        for x in x.iter() {
            out.push(&self.point_to_frame(x)?)?;
        }
        Ok(out)
    }

    /// The user's points at many coordinates, spread over the images of a peak.
    pub fn from_frame(&self, y: &Points) -> Result<Points> {
        let mut out = Points::empty(y.dim())?;
        for (number, y) in y.iter().enumerate() {
            out.push(&self.image_from_frame(y, number))?;
        }
        Ok(out)
    }

    /// ln of pi/q at coordinates of the frame; 0 in the prior. With several peaks q is the sum of
    /// their densities.
    pub fn ln_ratio(&self, y: &[f64]) -> f64 {
        match &self.peak {
            Some((peak, _)) => {
                let z = peak.from_standard(y);
                let densities = self.ln_densities(peak, &z);
                let ln_q = match densities[..] {
                    [one] => one,
                    _ => ln_sum_exp(&densities),
                };
                self.prior.measure().ln_density(&z) - ln_q
            }
            None => 0.0,
        }
    }

    /// ln of the density of each peak's measure at free coordinates, the frame's own first.
    fn ln_densities(&self, peak: &Peak, z: &[f64]) -> Vec<f64> {
        let circles = self.prior.measure().circles();
        let all = std::iter::once(peak).chain(&self.others);
        all.map(|one| one.ln_density_on(z, circles.as_ref()))
            .collect()
    }

    /// Whether a place, in coordinates of the frame, belongs to its peak rather than to another.
    pub(super) fn owns(&self, y: &[f64]) -> bool {
        let Some((peak, _)) = self.peak.as_ref().filter(|_| !self.others.is_empty()) else {
            return true;
        };
        let densities = self.ln_densities(peak, &peak.from_standard(y));
        densities.iter().all(|other| *other <= densities[0])
    }

    /// f pi/q at coordinates of the frame where f was observed.
    pub fn value(&self, y: &[f64], value: Value) -> Value {
        match self.peak {
            Some(_) => Value::Log(value.ln_abs() + self.ln_ratio(y)),
            None => value,
        }
    }
}

/// The region of a prior in free coordinates, in the coordinates of a peak. Of an angle it is once
/// round, with the peak in the middle.
#[derive(Debug)]
struct AroundPeak {
    peak: Peak,
    prior: Arc<dyn Coordinates>,
}

impl Region for AroundPeak {
    fn holds(&self, y: &[f64]) -> bool {
        let (measure, z) = (self.prior.measure(), self.peak.from_standard(y));
        let circles = measure.circles();
        let is_round = |(i, circle): (usize, &Option<Circle>)| {
            let far = (z[i] - self.peak.center()[i]).abs();
            circle.is_none_or(|circle| far <= 0.5 * circle.period)
        };
        let mut each = circles.iter().flat_map(Circles::each).enumerate();
        each.all(is_round) && measure.restricted().is_none_or(|region| region.holds(&z))
    }
}

/// Move angles by whole turns to where they are nearest to those of another point.
pub(super) fn nearest(z: &mut [f64], other: &[f64], circles: Option<&Circles>) {
    if let Some(circles) = circles {
        for (d, z) in z.iter_mut().enumerate() {
            if circles.each()[d].is_some() {
                *z = other[d] + circles.difference(d, *z, other[d]);
            }
        }
    }
}

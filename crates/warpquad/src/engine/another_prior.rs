//! Answer under another prior than the one that a run was made with, without new evaluations.
//!
//! Z of the other prior is the integral of f pi_new, and f is what the run knows. It is as good as
//! the belief is where the new posterior has its mass.

use super::{Engine, Frame};
use crate::belief::Ensemble;
use crate::error::{Error, Result, same_length};
use crate::functional::{
    Drawing, Estimate, Law, LnRatio, Nodes, Tilt, law_of_tilted, posterior_weights,
};
use crate::measure::{Form, Measure};
use crate::numeric::special::ln_sum_exp;
use crate::numeric::stream::{Stream, Streams};
use crate::points::Points;
use std::sync::Arc;

/// Nodes that show the part of the new prior which the old one does not have.
const PRIOR_NODES: usize = 4096;
/// Nodes that show where the new posterior is.
const SHAPE_NODES: usize = 4096;
/// An observation is near a posterior within so many sds and the root of the dimension.
const NEAR_SD: f64 = 2.0;

/// A run's own prior, and another one.
#[derive(Debug, Clone)]
pub(super) struct AnotherPrior {
    old: Arc<dyn Measure>,
    new: Arc<dyn Measure>,
}

/// How well a run looked where the posterior under another prior is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looked {
    /// The part of the other prior that lies where the run's own has none: f is not known there.
    pub outside: f64,
    /// Observations near the posterior.
    pub near: usize,
}

impl AnotherPrior {
    /// Answers under `new`, of a run against `old`.
    fn new(old: Arc<dyn Measure>, new: Arc<dyn Measure>) -> Result<AnotherPrior> {
        same_length("prior", new.dim(), old.dim())?;
        for (measure, which) in [(&old, "the run's own prior"), (&new, "the other prior")] {
            let fine = measure.has_density() && !matches!(measure.form(), Form::Sample(_));
            if !fine {
                let reason = format!("{which} has no density, so their ratio is not known");
                return Err(Error::spec("prior", reason));
            }
        }
        Ok(AnotherPrior { old, new })
    }

    /// ln of pi_new/pi_old at coordinates of a frame, the mean over the images of its peak.
    pub fn ln_ratio(&self, frame: &Frame, y: &[f64]) -> f64 {
        let ratios = self.ratios(frame, y);
        match ratios[..] {
            [one] => one,
            _ => ln_sum_exp(&ratios) - (ratios.len() as f64).ln(),
        }
    }

    /// The same at each image.
    fn ratios(&self, frame: &Frame, y: &[f64]) -> Vec<f64> {
        let images = frame.shape().map_or(1, |peak| peak.images().len().max(1));
        let ratio = |image: usize| {
            let x = frame.image_from_frame(y, image);
            let (ln_new, ln_old) = (self.new.ln_density(&x), self.old.ln_density(&x));
            // Nodes around observations at an edge may lie outside the run's own prior.
            let inside = ln_new > f64::NEG_INFINITY && ln_old > f64::NEG_INFINITY;
            if inside {
                ln_new - ln_old
            } else {
                f64::NEG_INFINITY
            }
        };
        (0..images).map(ratio).collect()
    }

    /// The user's points of coordinates in a frame, each at an image that the new prior chooses.
    pub fn points(&self, frame: &Frame, y: &Points) -> Result<Points> {
        let mut out = Points::empty(y.dim())?;
        for (number, y) in y.iter().enumerate() {
            let ratios = self.ratios(frame, y);
            let total = ln_sum_exp(&ratios);
            // The multiples of the golden ratio, which are spread evenly.
            let mut left = (number as f64 * 0.618_033_988_749_894_9).fract();
            let mut image = 0;
            while image + 1 < ratios.len() && left >= (ratios[image] - total).exp() {
                left -= (ratios[image] - total).exp();
                image += 1;
            }
            out.push(&frame.image_from_frame(y, image))?;
        }
        Ok(out)
    }

    /// Points that follow the new prior.
    pub fn prior_sample(&self, n: usize, seed: u64) -> Result<Points> {
        Ok(Nodes::sobol(self.new.as_ref(), n, seed)?.points)
    }

    /// The part of the new prior that the old one does not have.
    fn outside(&self, seed: u64) -> Result<f64> {
        let nodes = Nodes::sobol(self.new.as_ref(), PRIOR_NODES, seed)?;
        let out = |x: &&[f64]| self.old.ln_density(x) == f64::NEG_INFINITY;
        let count = nodes.points.iter().filter(out).count();
        Ok(count as f64 / nodes.points.len() as f64)
    }
}

impl Engine {
    /// The same run with answers under another prior; it takes no more observations.
    ///
    /// `old` is the measure that the engine was made with.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use warpquad::engine::{Engine, Method};
    /// use warpquad::measure::{Measure, Product, univariate};
    /// use warpquad::{Points, Value, warp::Range};
    /// let normal = |sd: f64| -> warpquad::Result<Arc<dyn Measure>> {
    ///     Ok(Arc::new(Product::new(vec![univariate("normal", &[0.0, sd])?])?))
    /// };
    /// let (old, none) = (normal(1.0)?, Points::empty(1)?);
    /// let range = Range::POSITIVE;
    /// let mut engine = Engine::new(Method::auto(range), range, old.as_ref(), 0)?;
    /// for _ in 0..15 {
    ///     let x = engine.ask(&none, &none)?;
    ///     engine.tell(&x, Value::Log(-x[0] * x[0]))?;
    /// }
    /// // Z of exp(-x^2) under N(0, s^2) is 1 / sqrt(1 + 2 s^2).
    /// let mut narrower = engine.under(old, normal(0.5)?)?;
    /// let found = narrower.outcome()?.law.ln_quantile(0.5);
    /// assert!((found + 0.5 * 1.5_f64.ln()).abs() < 0.01);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn under(&self, old: Arc<dyn Measure>, new: Arc<dyn Measure>) -> Result<Engine> {
        let mut engine = self.clone();
        engine.another = Some(Arc::new(AnotherPrior::new(old, new)?));
        engine.answered = None;
        Ok(engine)
    }

    /// What is known of a frame's part of Z under the other prior, of this belief; `None` without
    /// another prior.
    pub(super) fn law_under(
        &self,
        place: usize,
        ensemble: &Ensemble,
    ) -> Result<Option<(Law, Estimate)>> {
        if self.another.is_none() {
            return Ok(None);
        }
        let seen = &self.parts()[place].seen;
        let ln_ratio = self.ln_ratio(&seen.frame);
        let tilt = self.tilt(&seen.frame, &ln_ratio);
        let streams = seen.streams();
        let drawn = law_of_tilted(ensemble, tilt, &Drawing::default(), streams)?;
        if ensemble.is_positive() && !drawn.law.ln_quantile(0.5).is_finite() {
            let reason = "the other prior has no mass where the run's own prior has some, or f is 0 \
                          all over it: f is not known there, so start a new run";
            return Err(Error::spec("prior", reason));
        }
        Ok(Some((drawn.law.clone(), drawn.estimate())))
    }

    /// ln of pi_new/pi_old at coordinates of the frame; 0 without another prior.
    pub(super) fn ln_ratio(&self, frame: &Frame) -> impl Fn(&[f64]) -> f64 + Sync + use<> {
        let (another, frame) = (self.another.clone(), frame.clone());
        move |y: &[f64]| {
            another
                .as_ref()
                .map_or(0.0, |another| another.ln_ratio(&frame, y))
        }
    }

    /// The frame's measure, tilted to the other prior if there is one.
    pub(super) fn tilt<'a>(&self, frame: &'a Frame, ln_ratio: &'a LnRatio) -> Tilt<'a> {
        Tilt {
            measure: frame.measure(),
            ln_ratio: self.another.as_ref().map(|_| ln_ratio),
        }
    }

    /// How well the run looked where the posterior under the other prior is; `None` without one.
    pub fn looked(&mut self) -> Result<Option<Looked>> {
        self.answer()?;
        let Some(another) = self.another.clone() else {
            return Ok(None);
        };
        let frame = self.history().frame.clone();
        let ensemble = self.ensemble()?.clone();
        let ln_ratio = self.ln_ratio(&frame);
        let tilt = self.tilt(&frame, &ln_ratio);
        let seed = self.history().streams().seed(Stream::Expectation);
        let nodes = tilt.plausible(&ensemble, 1.0, SHAPE_NODES, seed)?;
        let weights = posterior_weights(&ensemble, &nodes)?;
        // Of several frames that counts which holds most of the posterior under the other prior.
        Ok(Some(Looked {
            outside: another.outside(self.whole.seen.seed)?,
            near: near(&self.history().points, &nodes.points, &weights),
        }))
    }

    /// The streams of what is said of kinds of models, apart from those of the answer.
    pub(super) fn streams_of_kinds(&self) -> Streams {
        let streams = self.history().streams();
        Streams::new(streams.seed(Stream::Hindsight), self.len() as u64)
    }
}

/// How many observations lie within a posterior's bulk, each coordinate in its own sd.
fn near(observed: &Points, nodes: &Points, weights: &[f64]) -> usize {
    let d = nodes.dim();
    let over = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
        nodes.iter().zip(weights).map(|(y, w)| w * of(y)).sum()
    };
    let mean: Vec<f64> = (0..d).map(|i| over(&|y| y[i])).collect();
    let var: Vec<f64> = (0..d)
        .map(|i| over(&|y| (y[i] - mean[i]).powi(2)))
        .collect();
    let reach = NEAR_SD + (d as f64).sqrt();
    let is_near = |y: &&[f64]| {
        let parts = (0..d).map(|i| (y[i] - mean[i]).powi(2) / var[i].max(f64::MIN_POSITIVE));
        parts.sum::<f64>() <= reach * reach
    };
    observed.iter().filter(is_near).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_in_the_bulk_of_a_posterior_are_near() {
        let nodes = Points::from_rows(&[vec![1.0, 0.0], vec![3.0, 0.2], vec![9.0, 9.0]]).unwrap();
        // Mean (2, 0.1), sd (1, 0.1): within 2 + sqrt(2) sds.
        let observed = [[2.0, 0.1], [4.0, 0.1], [2.0, 0.5], [5.0, 0.4]];
        let observed = Points::from_rows(&observed.map(Vec::from)).unwrap();
        assert_eq!(near(&observed, &nodes, &[0.5, 0.5, 0.0]), 2);
    }
}

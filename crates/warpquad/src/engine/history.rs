//! Keep what a run has seen: observations in the frame's coordinates, and the fits on its way.

use super::Frame;
use crate::belief::Theta;
use crate::data::{Data, Value};
use crate::error::Result;
use crate::numeric::loops::dot;
use crate::numeric::stream::Streams;
use crate::points::Points;
use crate::warp::Range;

/// A fit of a run: all that later fits depend on besides the data.
#[derive(Debug, Clone, PartialEq)]
pub struct LastFit {
    /// The hyperparameters.
    pub theta: Theta,
    /// How many observations they were fitted to.
    pub n: usize,
    /// How many there were at the last fit from all starting points.
    pub full: usize,
    /// Where the warp saturates, in nats, if that was chosen by the data.
    pub tau: Option<f64>,
}

/// What a strategy is given: the problem, and what has been observed so far.
#[derive(Debug, Clone)]
pub struct History {
    pub(super) frame: Frame,
    pub(super) range: Range,
    pub(super) seed: u64,
    pub(super) noise: f64,
    /// Where, in the frame's coordinates.
    pub(super) points: Points,
    pub(super) values: Vec<Value>,
    /// Where evaluations failed, in the frame's coordinates, each with the number of observations
    /// before it.
    pub(super) failed: Vec<(Vec<f64>, usize)>,
    /// Whether f counts as 0 where evaluations failed.
    pub(super) failed_is_zero: bool,
    /// Every fit that chose a point, in order.
    pub(super) fits: Vec<LastFit>,
}

/// Two observations of a climb are twins if they are no farther apart, in sds of the frame.
const TWIN_SD: f64 = 0.1;

/// Beside values that are lower a model would lose its last nat.
const DEEPEST_LN_F: f64 = -1e15;

/// A value as a model is told it.
fn within_digits(value: Value) -> Value {
    match value {
        Value::Log(ln_f) if ln_f.is_finite() => Value::Log(ln_f.max(DEEPEST_LN_F)),
        other => other,
    }
}

impl History {
    /// Nothing seen yet.
    pub(super) fn new(frame: Frame, range: Range, seed: u64) -> Result<History> {
        Ok(History {
            points: Points::empty(frame.dim())?,
            frame,
            range,
            seed,
            noise: 0.0,
            values: Vec::new(),
            failed: Vec::new(),
            failed_is_zero: false,
            fits: Vec::new(),
        })
    }

    /// The same observations in another frame: those within `reach` of its centre.
    ///
    /// `points` are those of the history, in the user's coordinates. What lies farther out has no
    /// part in the integral that the frame carries. Of the first `climbed` observations those count
    /// that lie apart: a climb looks at differences over tiny steps, and left-out predictions of
    /// twins would say that all predictions are good.
    pub(super) fn framed(
        &self,
        frame: Frame,
        points: &Points,
        reach: f64,
        climbed: usize,
    ) -> Result<History> {
        let mut out = History::new(frame, self.range, self.seed)?;
        out.noise = self.noise;
        out.failed_is_zero = self.failed_is_zero;
        let mut failed = self.failed.iter().peekable();
        for (i, (x, &value)) in points.iter().zip(&self.values).enumerate() {
            while let Some((z, _)) = failed.next_if(|(_, before)| *before <= i) {
                out.add_failed(&self.frame.point_from_frame(z), reach)?;
            }
            let y = out.frame.point_to_frame(x)?;
            let is_twin = |known: &[f64]| {
                let squares = known.iter().zip(&y).map(|(a, b)| (a - b).powi(2));
                squares.sum::<f64>() < TWIN_SD * TWIN_SD
            };
            let keeps = i >= climbed || out.noise > 0.0 || !out.points.iter().any(is_twin);
            if keeps {
                out.add(x, value, reach)?;
            }
        }
        for (z, _) in failed {
            out.add_failed(&self.frame.point_from_frame(z), reach)?;
        }
        Ok(out)
    }

    /// Take an observation at a user's point, unless it is farther out than `reach`. Two points
    /// that differ by rounding may be one in the frame: then the first counts, but for noise.
    pub(super) fn add(&mut self, x: &[f64], value: Value, reach: f64) -> Result<()> {
        let y = self.frame.point_to_frame(x)?;
        let is_new = self.noise > 0.0 || self.points.iter().all(|known| known != y);
        if is_new && dot(&y, &y) <= reach * reach {
            self.points.push(&y)?;
            self.values.push(self.frame.value(&y, value));
        }
        Ok(())
    }

    /// Take a user's point where an evaluation failed, unless it is farther out than `reach`.
    pub(super) fn add_failed(&mut self, x: &[f64], reach: f64) -> Result<()> {
        let y = self.frame.point_to_frame(x)?;
        if dot(&y, &y) <= reach * reach {
            self.failed.push((y, self.len()));
        }
        Ok(())
    }

    /// The measure that carries the integral, and its coordinates.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// What is known of f.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Where evaluations failed, in the frame's coordinates.
    pub fn failed(&self) -> impl Iterator<Item = &[f64]> {
        self.failed.iter().map(|(z, _)| z.as_slice())
    }

    /// Whether f counts as 0 where evaluations failed; otherwise nothing is assumed of it.
    pub fn failed_is_zero(&self) -> bool {
        self.failed_is_zero
    }

    /// The variance of the noise on g.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether nothing has been observed.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of parameters.
    pub fn dim(&self) -> usize {
        self.points.dim()
    }

    /// The observations, in the frame's coordinates.
    pub fn data(&self) -> Result<Data> {
        let make = if self.noise > 0.0 {
            Data::noisy
        } else {
            Data::new
        };
        let values = self.values.iter().map(|value| within_digits(*value));
        make(self.points.clone(), values.collect())
    }

    /// Whether an observation is not 0.
    pub(super) fn is_positive(&self, i: usize) -> bool {
        self.values[i].ln_abs() > f64::NEG_INFINITY
    }

    /// The observations where f is positive.
    pub fn positive_data(&self) -> Result<Data> {
        let kept: Vec<usize> = (0..self.len()).filter(|&i| self.is_positive(i)).collect();
        let make = if self.noise > 0.0 {
            Data::noisy
        } else {
            Data::new
        };
        let values = kept
            .iter()
            .map(|&i| within_digits(self.values[i]))
            .collect();
        make(self.points.select(&kept), values)
    }

    /// The last fit that chose a point.
    pub fn last_fit(&self) -> Option<&LastFit> {
        self.fits.last()
    }

    /// Every fit that chose a point, in order.
    pub fn fits(&self) -> &[LastFit] {
        &self.fits
    }

    /// The random streams of what is worked out from these observations.
    pub fn streams(&self) -> Streams {
        Streams::new(self.seed, self.len() as u64)
    }

    /// The same run when it had seen its first `n` observations.
    pub fn first(&self, n: usize) -> History {
        let fits = self.fits.iter().take_while(|fit| fit.n <= n);
        let failed = self.failed.iter().filter(|(_, before)| *before < n);
        History {
            frame: self.frame.clone(),
            points: self.points.slice(0, n),
            values: self.values[..n].to_vec(),
            failed: failed.cloned().collect(),
            fits: fits.cloned().collect(),
            ..*self
        }
    }

    /// Keep a fit that has chosen a point.
    pub(super) fn keep(&mut self, fit: LastFit) {
        match self.fits.last_mut() {
            Some(last) if last.n == fit.n => *last = fit,
            _ => self.fits.push(fit),
        }
    }
}

//! Interpolate what an integrand gave beside f, by a process fitted to its values.
//!
//! The process lives in the coordinates of the frame, like that of g, but knows nothing of f: its
//! values are taken where ln f is largest, since it is asked about the posterior.

use super::{Engine, Frame};
use crate::belief::{PosteriorProcess, Process, Theta};
use crate::data::{Data, Value};
use crate::error::{Error, Result};
use crate::fit::{Fit, LengthPrior, Space, fit_detailed};
use crate::kernel::{Kernel, Matern52, SquaredExponential};
use crate::measure::Circles;
use crate::points::Points;
use crate::warp::Identity;
use std::sync::Arc;

/// Values that the process is fitted to, at most: a fit costs their cube.
const MOST_VALUES: usize = 200;
/// Values where ln f is so far below its largest one are left out if there are others enough: the
/// posterior is not there, and a process that has to follow them knows little of it.
const DEPTH_NATS: f64 = 30.0;
/// Fewer values than this for each parameter, and for one more, say nothing between them.
const LEAST_PER_DIMENSION: usize = 2;
/// The variance of the error of a value, in units of the values' own variance: enough for matrices
/// to be factored.
const NOISE: f64 = 1e-8;

/// What is known of a derived quantity between the observations.
#[derive(Debug, Clone)]
pub struct Interpolated {
    /// What is known in each frame: at least one.
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    frame: Frame,
    process: PosteriorProcess,
    /// The mean and sd of the values, which are the process's unit.
    unit: [f64; 2],
}

impl Engine {
    /// Interpolate a quantity from its values at the observations, in their order; NaN where there
    /// is none.
    ///
    /// ```
    /// use warpquad::engine::{Engine, Method};
    /// use warpquad::measure::{Product, univariate};
    /// use warpquad::{Points, Value, warp::Range};
    /// let pi = Product::new(vec![univariate("normal", &[0.0, 1.0])?])?;
    /// let (range, none) = (Range::POSITIVE, Points::empty(1)?);
    /// let mut engine = Engine::new(Method::auto(range), range, &pi, 0)?;
    /// let mut values = Vec::new();
    /// for _ in 0..15 {
    ///     let x = engine.ask(&none, &none)?;
    ///     values.push(x[0].sin());
    ///     engine.tell(&x, Value::Log(-x[0] * x[0]))?;
    /// }
    /// let sine = engine.interpolate(&values)?;
    /// let [(mean, sd)] = sine.at(&Points::from_rows(&[vec![0.3]])?)?[..] else { panic!() };
    /// assert!((mean - 0.3_f64.sin()).abs() < 0.01 && sd < 0.05);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn interpolate(&mut self, values: &[f64]) -> Result<Interpolated> {
        // The frame of a climb that goes on is made with the answer.
        let believed = self.believed()?;
        let (mut parts, mut trouble) = (Vec::new(), None);
        for of in believed {
            match self.interpolated_in(of.frame, values) {
                Ok(part) => parts.push(part),
                Err(error) => trouble = Some(error),
            }
        }
        match (parts.is_empty(), trouble) {
            (true, Some(error)) => Err(error),
            _ => Ok(Interpolated { parts }),
        }
    }

    /// What is known of the quantity in one frame, from the observations that belong to its peak.
    fn interpolated_in(&self, frame: Frame, values: &[f64]) -> Result<Part> {
        let (points, observed) = self.observations();
        let mut order: Vec<usize> = (0..values.len().min(points.len()))
            .filter(|&i| values[i].is_finite())
            .collect();
        let ln_f = |i: usize| observed[i].ln_abs();
        order.sort_by(|&i, &j| ln_f(j).total_cmp(&ln_f(i)));
        let least = LEAST_PER_DIMENSION * (points.dim() + 1);
        let mut top = None;
        let mut y = Points::empty(points.dim())?;
        let mut kept = Vec::new();
        for i in order {
            let at = nearest(&frame, points.row(i))?;
            if !frame.owns(&at) {
                continue;
            }
            let top = *top.get_or_insert(ln_f(i));
            if ln_f(i) < top - DEPTH_NATS && kept.len() >= 2 * least {
                break;
            }
            let is_new = y.iter().all(|known| known != at);
            if is_new && at.iter().all(|y| y.is_finite()) && kept.len() < MOST_VALUES {
                y.push(&at)?;
                kept.push(values[i]);
            }
        }
        if kept.len() < least {
            let reason = format!("has {} values, and {least} are needed", kept.len());
            return Err(Error::spec("derived", reason));
        }
        let unit = mean_and_sd(&kept);
        let scaled: Vec<f64> = kept.iter().map(|v| (v - unit[0]) / unit[1]).collect();
        let circles = frame.measure().circles();
        let process = fitted(&y, &scaled, circles, self.whole.seen.seed())?;
        Ok(Part {
            frame,
            process,
            unit,
        })
    }
}

impl Interpolated {
    /// The mean and sd of the quantity at a user's points, each in the frame of its peak.
    pub fn at(&self, x: &Points) -> Result<Vec<(f64, f64)>> {
        let mut out = vec![(f64::NAN, f64::NAN); x.len()];
        let mut open: Vec<usize> = (0..x.len()).collect();
        for (number, part) in self.parts.iter().enumerate() {
            // A peak with too few values is answered for by the last one.
            let is_last = number + 1 == self.parts.len();
            let (mut own, mut left, mut places) = (Vec::new(), Vec::new(), Points::empty(x.dim())?);
            for i in open {
                let y = nearest(&part.frame, x.row(i))?;
                if is_last || part.frame.owns(&y) {
                    places.push(&y)?;
                    own.push(i);
                } else {
                    left.push(i);
                }
            }
            let [mean, sd] = part.unit;
            for (i, at) in own.into_iter().zip(part.process.marginals(&places)?) {
                out[i] = (mean + sd * at.mu, sd * at.s.max(0.0).sqrt());
            }
            open = left;
        }
        Ok(out)
    }
}

/// The process of whichever kernel explains the values better.
fn fitted(
    points: &Points,
    values: &[f64],
    circles: Option<Circles>,
    seed: u64,
) -> Result<PosteriorProcess> {
    let circles = circles.map(Arc::new);
    let data = Data::new(
        points.clone(),
        values.iter().map(|v| Value::Linear(*v)).collect(),
    )?;
    let how = Fit {
        space: Space::G,
        seed,
        length_prior: Some(LengthPrior {
            median: 1.0,
            sd: 1.5,
        }),
        ..Fit::default()
    };
    let kernels: [Arc<dyn Kernel>; 2] = [Arc::new(SquaredExponential), Arc::new(Matern52)];
    let mut best: Option<(f64, Process)> = None;
    let mut trouble = None;
    for kernel in kernels {
        let mut theta = Theta::constant(0.0, 1.0, spreads(points))?;
        theta.noise = NOISE;
        theta.circles = circles.clone();
        match fit_detailed(&Process::shared(kernel, theta), &Identity, &data, &how) {
            Ok(made) => {
                let better = best.as_ref().is_none_or(|(l, _)| made.ln_likelihood > *l);
                if better {
                    best = Some((made.ln_likelihood, made.process));
                }
            }
            Err(error) => trouble = Some(error),
        }
    }
    match (best, trouble) {
        (Some((_, process)), _) => process.condition(points, values),
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::spec("derived", "cannot be fitted")),
    }
}

/// The coordinates of a point in a frame, at the image of its peak that it is nearest to: an
/// exchange of parameters that leaves f as it is is taken to leave derived quantities too.
fn nearest(frame: &Frame, x: &[f64]) -> Result<Vec<f64>> {
    let own = frame.point_to_frame(x)?;
    let images = frame.shape().map_or(0, |peak| peak.images().len());
    let far = |y: &[f64]| y.iter().map(|y| y * y).sum::<f64>();
    let mut best = own.clone();
    for image in 1..images {
        let there = frame.point_to_frame(&frame.image_from_frame(&own, image))?;
        if far(&there) < far(&best) {
            best = there;
        }
    }
    Ok(best)
}

/// The spread of the points along each coordinate.
fn spreads(points: &Points) -> Vec<f64> {
    let along = |d: usize| points.iter().map(|x| x[d]).collect::<Vec<f64>>();
    (0..points.dim())
        .map(|d| mean_and_sd(&along(d))[1])
        .collect()
}

/// The mean and the sd of numbers; 1 for the sd of equal ones.
fn mean_and_sd(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    [mean, if sd > 0.0 { sd } else { 1.0 }]
}

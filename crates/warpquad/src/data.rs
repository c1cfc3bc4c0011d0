//! Step 2: keep what was observed, as f or as ln f, and translate it to g.

use crate::error::{Error, Result, same_length};
use crate::points::Points;
use crate::warp::{Affine, Range, Warp};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// An observation of the integrand at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// f itself.
    Linear(f64),
    /// ln f; -infinity is f = 0.
    Log(f64),
}

impl Value {
    /// ln |f|.
    pub fn ln_abs(self) -> f64 {
        match self {
            Value::Linear(f) => f.abs().ln(),
            Value::Log(ln_f) => ln_f,
        }
    }

    pub(crate) fn check(self, index: usize) -> Result<()> {
        let fine = match self {
            Value::Linear(f) => f.is_finite(),
            Value::Log(ln_f) => ln_f < f64::INFINITY,
        };
        if fine {
            return Ok(());
        }
        let reason = format!(
            "{self} is not a value of the integrand; record the evaluation as failed, or \
             ln f = -inf where f is 0"
        );
        Err(Error::spec(format!("values[{index}]"), reason))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Linear(f) => write!(out, "f = {f}"),
            Value::Log(ln_f) => write!(out, "ln f = {ln_f}"),
        }
    }
}

/// How far below the largest observation a zero is put under a warp that never reaches 0: e^-40 of
/// it, or the smallest positive observation if that is lower.
///
/// The floor stands for at most e^-40 = 4e-18 of the largest f on the part of the measure where f
/// vanishes, so it cannot move Z by more than that mass.
pub const ZERO_FLOOR_NATS: f64 = 40.0;

/// How far inside a bounded range an observation at its very end is put, in units of the range.
pub const EDGE: f64 = 1e-9;

/// Points with what was observed there.
///
/// ```
/// use warpquad::{Data, Points, Value, warp::Log};
/// let points = Points::from_rows(&[vec![0.0], vec![1.0]])?;
/// let data = Data::new(points, vec![Value::Log(-23000.0), Value::Log(-23005.0)])?;
/// let warp = data.warp(Log)?;                     // in units of the largest observation
/// assert_eq!(data.g(&warp)?, vec![0.0, -5.0]);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Data {
    points: Points,
    values: Vec<Value>,
}

impl Data {
    /// Exact observations. A point given twice with one value counts once; with two values it is an
    /// error, because no function passes through both.
    pub fn new(points: Points, values: Vec<Value>) -> Result<Data> {
        let data = Data::noisy(points, values)?;
        data.without_repeats()
    }

    /// Observations that carry noise: a point may be given more than once.
    pub fn noisy(points: Points, values: Vec<Value>) -> Result<Data> {
        same_length("values", values.len(), points.len())?;
        if values.is_empty() {
            return Err(Error::spec("values", "need at least one observation"));
        }
        for (index, value) in values.iter().enumerate() {
            value.check(index)?;
        }
        Ok(Data { points, values })
    }

    fn without_repeats(self) -> Result<Data> {
        let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut keep = Vec::with_capacity(self.len());
        for (i, x) in self.points.iter().enumerate() {
            // Adding 0 makes -0 and 0 one key.
            let key = x.iter().map(|x| (x + 0.0).to_bits()).collect();
            let j = *first.entry(key).or_insert(i);
            if i == j {
                keep.push(i);
            } else if self.values[i] != self.values[j] {
                let reason = format!(
                    "points {j} and {i} are both {x:?} but {} and {}; average them, or give a \
                     noise variance if the integrand is not exact",
                    self.values[j], self.values[i]
                );
                return Err(Error::spec("points", reason));
            }
        }
        Ok(Data {
            points: self.points.select(&keep),
            values: keep.iter().map(|&i| self.values[i]).collect(),
        })
    }

    /// Where the integrand was observed.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// What was observed.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The number of observations.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never: data without observations cannot be made.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether every observation is exactly 0.
    pub fn all_zero(&self) -> bool {
        self.values.iter().all(|v| v.ln_abs() == f64::NEG_INFINITY)
    }

    /// ln of the largest |f|, the scale the observations are measured in; 0 if all are zero.
    pub fn ln_scale(&self) -> f64 {
        let top = self.values.iter().map(|v| v.ln_abs());
        let top = top.fold(f64::NEG_INFINITY, f64::max);
        if top.is_finite() { top } else { 0.0 }
    }

    /// The warp in units of the largest observation, where its range allows a change of units.
    ///
    /// This is the paper's shift of g to a largest value of 0. The scale lives in the warp, so
    /// every mean, variance and integral of the belief comes back in the user's own units.
    pub fn warp(&self, warp: impl Warp + 'static) -> Result<Affine> {
        self.warp_shared(Arc::new(warp))
    }

    /// The same for a warp from the registry.
    pub fn warp_shared(&self, warp: Arc<dyn Warp>) -> Result<Affine> {
        let ln_scale = if warp.scales() { self.ln_scale() } else { 0.0 };
        Affine::scaled(warp, ln_scale)
    }

    /// g = xi^-1(f) for every observation, with the floor for zeros and the edge for ends.
    pub fn g(&self, warp: &dyn Warp) -> Result<Vec<f64>> {
        let values = self.values.iter().enumerate();
        values
            .map(|(i, &value)| self.g_one(warp, i, value))
            .collect()
    }

    fn g_one(&self, warp: &dyn Warp, index: usize, value: Value) -> Result<f64> {
        let g = match value {
            Value::Linear(f) => warp.inverse(f),
            Value::Log(ln_f) => warp.inverse_ln(ln_f),
        };
        if g.is_finite() {
            return Ok(g);
        }
        if g.is_infinite() {
            let g = self.g_of_end(warp, value)?;
            if g.is_finite() {
                return Ok(g);
            }
        }
        Err(Error::Range {
            index,
            value: value.to_string(),
            range: warp.range().to_string(),
            advice: "check the integrand, or state the range that f really has".into(),
        })
    }

    /// A g for an observation at the very end of the range, where xi^-1 is infinite.
    fn g_of_end(&self, warp: &dyn Warp, value: Value) -> Result<f64> {
        if warp.scales() {
            return self.ln_floor().map(|floor| warp.inverse_ln(floor));
        }
        let Range { lo, hi } = warp.range();
        let inset = EDGE * (hi - lo);
        Ok(match value {
            Value::Linear(f) => warp.inverse(f.clamp(lo + inset, hi - inset)),
            Value::Log(ln_f) => warp.inverse(ln_f.exp().clamp(lo + inset, hi - inset)),
        })
    }

    /// The ln f that stands in for an exact zero.
    fn ln_floor(&self) -> Result<f64> {
        let finite = self.values.iter().map(|v| v.ln_abs());
        let lowest = finite
            .filter(|l| l.is_finite())
            .fold(f64::INFINITY, f64::min);
        if self.all_zero() {
            let reason =
                "every observation is 0, so f has no scale yet: observe a point where f > 0";
            return Err(Error::spec("values", reason));
        }
        Ok(lowest.min(self.ln_scale() - ZERO_FLOOR_NATS))
    }
}

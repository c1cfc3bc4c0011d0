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

    /// f; it may overflow, or underflow to 0.
    fn f(self) -> f64 {
        match self {
            Value::Linear(f) => f,
            Value::Log(ln_f) => ln_f.exp(),
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

    /// The same, of a positive f, with nothing lower than so many nats below its largest value.
    ///
    /// ```
    /// use warpquad::{Data, Points, Value};
    /// let points = Points::from_rows(&[vec![0.0], vec![1.0]])?;
    /// let data = Data::new(points, vec![Value::Log(-5.0), Value::Log(-27000.0)])?;
    /// assert_eq!(data.floored(30.0).values()[1], Value::Log(-35.0));
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn floored(mut self, nats: f64) -> Data {
        let floor = self.ln_scale() - nats;
        if !self.all_zero() {
            for value in &mut self.values {
                if value.ln_abs() < floor {
                    *value = Value::Log(floor);
                }
            }
        }
        self
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

    /// A g for an observation at the very end of the range, where xi^-1 is infinite; infinite if it
    /// is at no end.
    fn g_of_end(&self, warp: &dyn Warp, value: Value) -> Result<f64> {
        let Range { lo, hi } = warp.range();
        let f = value.f();
        Ok(match (lo.is_finite(), hi.is_finite()) {
            (true, true) => {
                // Never less than rounding, or the observation would stay at the end.
                let inset = (EDGE * (hi - lo)).max(f64::EPSILON * lo.abs().max(hi.abs()));
                warp.inverse(f.max(lo + inset).min(hi - inset))
            }
            (true, false) if warp.scales() => warp.inverse_ln(self.ln_floor()?),
            (true, false) if f <= lo => warp.inverse(lo + self.least_distance(lo)),
            (false, true) if f >= hi => warp.inverse(hi - self.least_distance(hi)),
            _ => f64::INFINITY,
        })
    }

    /// How far from the end of half a line an observation on that end is put: as the floor for
    /// zeros, in distances from the end, and never less than rounding.
    fn least_distance(&self, end: f64) -> f64 {
        let distances = self.values.iter().map(|value| (value.f() - end).abs());
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for distance in distances.filter(|d| d.is_finite() && *d > 0.0) {
            (least, most) = (least.min(distance), most.max(distance));
        }
        // With all of them on the end, the unit of f is the only scale.
        let most = if most > 0.0 { most } else { 1.0 };
        let floor = least.min(most * (-ZERO_FLOOR_NATS).exp());
        floor.max(f64::EPSILON * end.abs()).max(f64::MIN_POSITIVE)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn g(lo: f64, hi: f64, f: &[f64]) -> Result<Vec<f64>> {
        let rows: Vec<Vec<f64>> = (0..f.len()).map(|i| vec![i as f64]).collect();
        let values = f.iter().map(|&f| Value::Linear(f)).collect();
        let data = Data::new(Points::from_rows(&rows)?, values)?;
        data.g(&data.warp(Affine::onto(lo, hi)?)?)
    }

    #[test]
    fn an_observation_on_the_end_of_half_a_line_is_below_all_others() {
        let inf = f64::INFINITY;
        for (lo, hi, f) in [
            (-1.0, inf, [-1.0, -0.5, 3.0]),
            (1.0, inf, [1.0, 1.0 + 1e-15, 2.0]),
            (1e300, inf, [1e300, 1.1e300, 2e300]),
            (0.0, inf, [0.0, 1e-300, 1.0]),
            (-inf, 1.0, [1.0, 0.9, -1e9]),
            (-inf, 0.0, [0.0, -1e-9, -2.0]),
        ] {
            let g = g(lo, hi, &f).unwrap();
            assert!(g.iter().all(|g| g.is_finite()), "{lo} {hi} {g:?}");
            assert!(g[0] <= g[1] && g[1] < g[2], "{lo} {hi} {g:?}");
        }
        // With nothing off the end there is still a g, but for f = 0, which has no scale.
        assert!(g(-1.0, inf, &[-1.0, -1.0]).is_ok());
        assert!(g(-inf, 0.0, &[0.0]).is_ok());
        assert!(g(0.0, inf, &[0.0]).is_err());
    }

    #[test]
    fn an_observation_on_the_end_of_a_short_range_is_moved_inside() {
        let g = g(1e9, 1e9 + 1e-3, &[1e9, 1e9 + 1e-3]).unwrap();
        assert!(g[0] < 0.0 && g[1] > 0.0 && g[0].is_finite() && g[1].is_finite());
    }

    #[test]
    fn what_is_infinite_at_no_end_is_refused() {
        let points = Points::from_rows(&[vec![0.0], vec![1.0]]).unwrap();
        let data = Data::new(points, vec![Value::Log(1000.0), Value::Log(0.0)]).unwrap();
        assert!(data.g(&crate::warp::Identity).is_err());
    }
}

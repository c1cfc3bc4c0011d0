//! Say how a baseline gets at the integrand: a batch of points at a time, until there are no more.

use crate::data::Value;
use crate::error::Result;
use crate::points::Points;

/// An integrand that is evaluated a batch at a time.
pub trait Evaluate {
    /// f at all of the points, in order; `None` to stop, when the evaluations or the time are
    /// spent.
    fn evaluate(&mut self, points: &Points) -> Result<Option<Vec<Value>>>;
}

/// A function of one point as an integrand with a limit on its evaluations.
///
/// A batch beyond the limit is not evaluated at all.
///
/// ```
/// use warpquad::baseline::{Evaluate, Function};
/// use warpquad::{Points, Value};
/// let mut f = Function::new(|x: &[f64]| Ok(Some(Value::Log(-x[0]))), Some(2));
/// let two = Points::from_rows(&[vec![1.0], vec![2.0]])?;
/// assert_eq!(f.evaluate(&two)?, Some(vec![Value::Log(-1.0), Value::Log(-2.0)]));
/// assert_eq!(f.evaluate(&two)?, None);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug)]
pub struct Function<F> {
    f: F,
    left: usize,
}

impl<F: FnMut(&[f64]) -> Result<Option<Value>>> Function<F> {
    /// The function, which may say `None` itself to stop, and how often it may be called.
    pub fn new(f: F, limit: Option<usize>) -> Function<F> {
        let left = limit.unwrap_or(usize::MAX);
        Function { f, left }
    }
}

impl<F: FnMut(&[f64]) -> Result<Option<Value>>> Evaluate for Function<F> {
    fn evaluate(&mut self, points: &Points) -> Result<Option<Vec<Value>>> {
        if points.len() > self.left {
            return Ok(None);
        }
        self.left -= points.len();
        points.iter().map(&mut self.f).collect()
    }
}

//! Evaluate a Rust closure.

use super::{Answer, Evaluator, Failure, Source, Task};
use crate::error::Result;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Function = dyn Fn(&[f64]) -> Answer + Send + Sync;

/// An integrand that is a function of this program.
///
/// The function gives a [`Value`](crate::data::Value), a [`Failure`] or an [`Answer`]. A panic in
/// it is a failure of that point.
///
/// ```
/// use warpquad::Value;
/// use warpquad::session::evaluator::{Answer, Closure, Source, Task};
/// let source = Closure::new(|x| Value::Log(-x[0] * x[0]));
/// let mut worker = source.worker(0)?;
/// let answer = worker.evaluate(&Task { id: 0, x: vec![2.0] });
/// assert_eq!(answer, Answer::Value(Value::Log(-4.0)));
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Clone)]
pub struct Closure(Arc<Function>);

impl Closure {
    /// The integrand as a function of the point.
    pub fn new<A, F>(f: F) -> Closure
    where
        A: Into<Answer>,
        F: Fn(&[f64]) -> A + Send + Sync + 'static,
    {
        Closure(Arc::new(move |x| f(x).into()))
    }
}

impl Source for Closure {
    fn worker(&self, _index: usize) -> Result<Box<dyn Evaluator>> {
        Ok(Box::new(self.clone()))
    }
}

impl Evaluator for Closure {
    fn evaluate(&mut self, task: &Task) -> Answer {
        // The function is only called, never looked into, so a half-done change inside it is its
        // own affair.
        catch_unwind(AssertUnwindSafe(|| (self.0)(&task.x)))
            .unwrap_or_else(|panic| Failure::of_point(words(&*panic)).into())
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the integrand panicked: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;

    fn at(source: &Closure, x: f64) -> Answer {
        let mut worker = source.worker(0).unwrap();
        worker.evaluate(&Task { id: 1, x: vec![x] })
    }

    #[test]
    fn values_failures_and_panics_are_answers() {
        let source = Closure::new(|x| match x[0] {
            1.0 => Failure::of_point("did not converge").into(),
            2.0 => panic!("at {}", x[0]),
            x => Answer::from(Value::Linear(1.0 / x)),
        });
        assert_eq!(at(&source, 4.0), Answer::Value(Value::Linear(0.25)));
        assert_eq!(
            at(&source, 1.0),
            Failure::of_point("did not converge").into()
        );
        let panicked = Failure::of_point("the integrand panicked: at 2");
        assert_eq!(at(&source, 2.0), panicked.into());
        let infinite = Failure::of_point("the integrand returned +inf");
        assert_eq!(at(&source, 0.0), infinite.into());
    }
}

//! Evaluate with all numbers of the integrand: the point's, and the fixed ones between them.

use super::{Answer, Evaluator, Failure, Source, Task};
use crate::error::Result;
use crate::session::arguments::Arguments;

/// A source whose workers get a point with the fixed numbers in it.
///
/// ```
/// use warpquad::Value;
/// use warpquad::session::arguments::{Argument, ArgumentKind, Arguments};
/// use warpquad::session::evaluator::{Answer, Closure, Filled, Source, Task};
/// let argument = |name: &str, kind| Argument { name: name.to_string(), kind };
/// let (c, x) = (ArgumentKind::Fixed(2.0), ArgumentKind::Number);
/// let arguments = Arguments::new(vec![argument("c", c), argument("x", x)]);
/// let product = Closure::new(|numbers| Value::Log(numbers[0] * numbers[1]));
/// let source = Filled::new(product, arguments);
/// let answer = source.worker(0)?.evaluate(&Task { id: 0, x: vec![5.0] });
/// assert_eq!(answer, Answer::Value(Value::Log(10.0)));
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Filled<S> {
    source: S,
    arguments: Arguments,
}

impl<S: Source> Filled<S> {
    /// A source that gets all numbers of these arguments.
    pub fn new(source: S, arguments: Arguments) -> Filled<S> {
        Filled { source, arguments }
    }
}

impl<S: Source> Source for Filled<S> {
    fn check(&self) -> Result<()> {
        self.source.check()
    }

    fn worker(&self, index: usize) -> Result<Box<dyn Evaluator>> {
        Ok(Box::new(Worker {
            inner: self.source.worker(index)?,
            arguments: self.arguments.clone(),
        }))
    }
}

struct Worker {
    inner: Box<dyn Evaluator>,
    arguments: Arguments,
}

impl Evaluator for Worker {
    fn evaluate(&mut self, task: &Task) -> Answer {
        match self.arguments.numbers(&task.x) {
            Some(x) => self.inner.evaluate(&Task { id: task.id, x }),
            None => wrong_length(task, &self.arguments).into(),
        }
    }
}

/// A failure because a point does not have the arguments' coordinates.
pub(super) fn wrong_length(task: &Task, arguments: &Arguments) -> Failure {
    let (got, expected) = (task.x.len(), arguments.coordinates().len());
    Failure::of_source(format!(
        "the point has {got} coordinates for {expected} parameters"
    ))
}

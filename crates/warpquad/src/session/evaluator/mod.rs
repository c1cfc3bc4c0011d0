//! Evaluate the integrand: ask it for f or ln f at one point, and take an honest answer.
//!
//! A [`Source`] makes workers, each an [`Evaluator`] that blocks while it evaluates one [`Task`].
//! Sources: a [`Closure`], a [`Command`] that stays alive, a [`Driver`] called once per evaluation,
//! a [`UmBridge`] server; [`table::read`] takes evaluations that exist already.

mod closure;
mod command;
mod driver;
mod filled;
mod json;
mod message;
mod orphans;
mod pipe;
mod process;
mod program;
mod server;
pub mod table;
mod umbridge;

pub use closure::Closure;
pub use command::Command;
pub use driver::Driver;
pub use filled::Filled;
pub use message::{Told, read_answer, read_told, write_task};
pub use process::{end_programs, stop_waiting};
pub use umbridge::UmBridge;

use super::derived::Derived;
use crate::data::Value;
use crate::error::Result;

/// One evaluation to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its number, unique in a run.
    pub id: u64,
    /// The point, in the parameters' order.
    pub x: Vec<f64>,
}

/// What an evaluation gave.
///
/// ```
/// use warpquad::Value;
/// use warpquad::session::evaluator::Answer;
/// assert_eq!(Answer::from(Value::Log(-1.25)), Answer::Value(Value::Log(-1.25)));
/// let zero = Value::Log(f64::NEG_INFINITY); // f = 0 is a value
/// assert_eq!(Answer::from(zero), Answer::Value(zero));
/// assert!(matches!(Answer::from(Value::Linear(f64::NAN)), Answer::Failure(_)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// f or ln f, never NaN, never +infinity.
    Value(Value),
    /// The same, with numbers that the integrand derived beside it.
    With(Value, Derived),
    /// No value, and why.
    Failure(Failure),
}

/// Why an evaluation gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the integrand said, or what happened to it.
    pub reason: String,
    /// Whether another point may still succeed. "Did not converge" is the integrand's word for one
    /// point; a program that does not exist will never answer.
    pub recoverable: bool,
}

impl Failure {
    /// A failure of this point only.
    pub fn of_point(reason: impl Into<String>) -> Failure {
        Failure {
            reason: reason.into(),
            recoverable: true,
        }
    }

    /// A failure that every other point would meet too.
    pub fn of_source(reason: impl Into<String>) -> Failure {
        Failure {
            reason: reason.into(),
            recoverable: false,
        }
    }
}

impl Answer {
    /// The answer with these numbers beside its value, if it has one and there are any.
    pub fn with(self, derived: Derived) -> Answer {
        match self {
            Answer::Value(value) if !derived.is_empty() => Answer::With(value, derived),
            other => other,
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Answer {
        Answer::Failure(failure)
    }
}

impl From<Value> for Answer {
    /// NaN and +infinity are failures, and so is f = -infinity; ln f = -infinity is f = 0.
    fn from(value: Value) -> Answer {
        let (Value::Linear(number) | Value::Log(number)) = value;
        if number.is_finite() || value == Value::Log(f64::NEG_INFINITY) {
            return Answer::Value(value);
        }
        let what = match number {
            f64::INFINITY => "+inf",
            f64::NEG_INFINITY => "f = -inf",
            _ => "NaN",
        };
        Failure::of_point(format!("the integrand returned {what}")).into()
    }
}

/// One worker: evaluates one task at a time, and blocks meanwhile.
pub trait Evaluator: Send {
    /// Evaluate the integrand at the task's point.
    fn evaluate(&mut self, task: &Task) -> Answer;
}

/// A maker of workers.
pub trait Source: Send + Sync {
    /// Find what can be found wrong before anything is spent.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Worker number `index`, counted from 0; it works beside the others.
    fn worker(&self, index: usize) -> Result<Box<dyn Evaluator>>;
}

/// The beginning of a text, at most `limit` characters of it, for a message.
fn excerpt(text: &str, limit: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(value: Value) -> String {
        match Answer::from(value) {
            Answer::Failure(failure) => {
                assert!(failure.recoverable);
                failure.reason
            }
            other => panic!("{other:?} was taken"),
        }
    }

    #[test]
    fn only_numbers_and_a_log_of_zero_are_values() {
        assert_eq!(reason(Value::Log(f64::NAN)), "the integrand returned NaN");
        assert_eq!(
            reason(Value::Linear(f64::INFINITY)),
            "the integrand returned +inf"
        );
        assert_eq!(
            reason(Value::Linear(f64::NEG_INFINITY)),
            "the integrand returned f = -inf"
        );
        for value in [
            Value::Linear(-2.0),
            Value::Log(f64::NEG_INFINITY),
            Value::Log(1e4),
        ] {
            assert_eq!(Answer::from(value), Answer::Value(value));
        }
    }

    #[test]
    fn an_excerpt_cuts_between_characters() {
        assert_eq!(excerpt("  αβγ ", 3), "αβγ");
        assert_eq!(excerpt("αβγδ", 3), "αβγ...");
    }
}

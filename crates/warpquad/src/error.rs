//! Say what went wrong, with which value, and what to do about it.

use std::fmt;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// The steps of the method, in the paper's words; a numerical error names the one it happened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Step 1: choosing the warp and the prior.
    Warp,
    /// Step 2: observing the integrand.
    Observe,
    /// Fitting the hyperparameters theta.
    Fit,
    /// Step 3: conditioning the Gaussian process.
    Condition,
    /// Step 4: matching the moments of f.
    Match,
    /// Step 5: integrating the belief.
    Integrate,
    /// Choosing where to look next.
    Acquire,
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Step::Warp => "choosing the warp",
            Step::Observe => "observing",
            Step::Fit => "fitting",
            Step::Condition => "conditioning",
            Step::Match => "matching moments",
            Step::Integrate => "integrating",
            Step::Acquire => "choosing a point",
        })
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// The line itself.
    pub source_line: String,
}

/// The place as editors read it, the field and the reason, then the line with a caret below the
/// column.
fn spec_text(field: &str, reason: &str, place: Option<&Place>) -> String {
    let said = match field {
        "" => reason.to_string(),
        field => format!("{field}: {reason}"),
    };
    let Some(place) = place else {
        return said;
    };
    let Place {
        file,
        line,
        column,
        source_line,
    } = place;
    // A tab stays one, so that the caret stands where the terminal puts the character.
    let before = source_line.chars().take(column.saturating_sub(1));
    let blank: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
    format!("{file}:{line}:{column}: {said}\n  {source_line}\n  {blank}^")
}

/// Everything that can go wrong.
///
/// ```
/// use warpquad::Error;
/// let error = Error::spec("sd", "must be positive, got -1");
/// assert_eq!(error.to_string(), "sd: must be positive, got -1");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A problem, a method or an argument that cannot be meant.
    #[error("{}", spec_text(field, reason, place.as_deref()))]
    Spec {
        /// The field or argument; empty if a file cannot be read at all.
        field: String,
        /// What is wrong with it and what would be right.
        reason: String,
        /// Where it stands, if it does in a file.
        place: Option<Box<Place>>,
    },
    /// An observation outside the range that the warp can take.
    #[error("observation {index} is {value}, outside the range {range}: {advice}")]
    Range {
        /// Which observation, counted from 0.
        index: usize,
        /// Its value.
        value: String,
        /// The range of the warp.
        range: String,
        /// What to do.
        advice: String,
    },
    /// Arithmetic that failed in one of the steps.
    #[error("{step}: {what}")]
    Numerics {
        /// Where.
        step: Step,
        /// What failed and what to do.
        what: String,
    },
    /// An evaluation of the integrand that failed.
    #[error("evaluation {id}: {reason}")]
    Evaluation {
        /// Which evaluation.
        id: usize,
        /// What the integrand said.
        reason: String,
        /// Whether another point may still succeed.
        recoverable: bool,
    },
    /// A journal that cannot be gone on with.
    #[error("journal line {line}: {reason}")]
    Journal {
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system said no.
    #[error("{path}: {reason}")]
    Io {
        /// Which file.
        path: String,
        /// What it said.
        reason: String,
    },
}

impl Error {
    /// A specification error about one field.
    pub fn spec(field: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Spec {
            field: field.into(),
            reason: reason.into(),
            place: None,
        }
    }

    /// A numerical error in one step.
    pub fn numerics(step: Step, what: impl Into<String>) -> Error {
        Error::Numerics {
            step,
            what: what.into(),
        }
    }
}

/// Refuse two lengths that should agree.
pub(crate) fn same_length(field: &str, got: usize, expected: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::spec(
        field,
        format!("expected length {expected}, got {got}"),
    ))
}

/// Refuse a number that is not finite and positive.
pub(crate) fn positive(field: &str, value: f64) -> Result<f64> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::spec(
        field,
        format!("must be positive and finite, got {value}"),
    ))
}

/// Refuse a number that is not positive, or more than `most`; `instead` says what to do then.
pub(crate) fn positive_up_to(field: &str, value: f64, most: f64, instead: &str) -> Result<f64> {
    let value = positive(field, value)?;
    if value <= most {
        return Ok(value);
    }
    Err(Error::spec(
        field,
        format!("must be at most {most:e}, got {value:e}; {instead}"),
    ))
}

/// Refuse a number that is not finite.
pub(crate) fn finite(field: &str, value: f64) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(Error::spec(field, format!("must be finite, got {value}")))
}

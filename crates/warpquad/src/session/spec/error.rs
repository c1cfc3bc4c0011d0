//! Say what is wrong with a problem file, and where.

use crate::error::{Error, Place};
use std::fmt;

/// What is wrong with a problem file, and the line to look at.
///
/// ```
/// use warpquad::session::spec::Problem;
/// let text = "[integrand]\nlog = \"-x^2\"\n[parameters]\nx = { uniform = [5, -5] }\n";
/// let error = Problem::parse(text).unwrap_err().in_file("model.toml");
/// assert_eq!(
///     error.to_string(),
///     "model.toml:4:18: parameters.x.uniform: lo must be below hi, got lo = 5 and hi = -5
///   x = { uniform = [5, -5] }
///                    ^"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// The name of the file, as the caller knows it.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// The field, as `section.field`; empty if the text is no TOML at all.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub reason: String,
    /// The line itself.
    pub source_line: String,
}

impl SpecError {
    /// An error about `field`, which stands at the byte `offset` of `source`.
    pub(super) fn at(
        source: &str,
        offset: usize,
        field: impl Into<String>,
        reason: impl Into<String>,
    ) -> SpecError {
        let (line, column) = position(source, offset);
        SpecError {
            file: "problem.toml".to_string(),
            line,
            column,
            field: field.into(),
            reason: reason.into(),
            source_line: source.lines().nth(line - 1).unwrap_or("").to_string(),
        }
    }

    /// The same error in a file of that name. With no name there is no file: the error then
    /// speaks of the field alone.
    pub fn in_file(mut self, name: impl Into<String>) -> SpecError {
        self.file = name.into();
        self
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(self.clone()).fmt(out)
    }
}

impl std::error::Error for SpecError {}

impl From<SpecError> for Error {
    fn from(error: SpecError) -> Error {
        let place = Place {
            file: error.file,
            line: error.line,
            column: error.column,
            source_line: error.source_line,
        };
        Error::Spec {
            field: error.field,
            reason: error.reason,
            place: (!place.file.is_empty()).then(|| Box::new(place)),
        }
    }
}

/// The line and column, from 1, of the byte `offset`.
pub(super) fn position(source: &str, offset: usize) -> (usize, usize) {
    let before: Vec<char> = source
        .char_indices()
        .take_while(|(i, _)| *i < offset)
        .map(|(_, c)| c)
        .collect();
    let line = before.iter().filter(|c| **c == '\n').count();
    let column = before.iter().rev().take_while(|c| **c != '\n').count();
    (line + 1, column + 1)
}

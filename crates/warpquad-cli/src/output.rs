//! Write numbers and tables the way a person reads them.

use serde_json::Value as Json;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use warpquad::session::Session;
use warpquad::session::spec::Problem;
use warpquad::{Error, Result};

/// Four digits after the point for ordinary sizes, an exponent beyond.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x.is_nan() {
        "-".into()
    } else if size == 0.0 || (1e-3..1e6).contains(&size) {
        format!("{x:.4}")
    } else {
        format!("{x:.3e}")
    }
}

/// Digits after the point that an error leaves meaningful, two of its own; `None` where the number
/// has to be written with an exponent.
pub fn decimals(error: f64) -> Option<usize> {
    let is_ordinary = (1e-8..1e6).contains(&error);
    is_ordinary.then(|| (1.0 - error.log10().floor()).max(0.0) as usize)
}

/// A number with as many digits as an error of this size leaves meaningful.
pub fn within(x: f64, error: f64) -> String {
    match decimals(error) {
        Some(decimals) if x.is_finite() => format!("{x:.decimals$}"),
        _ => number(x),
    }
}

/// A number and its error.
pub fn measured(x: f64, error: f64) -> String {
    format!("{} +- {}", within(x, error), within(error, error))
}

/// An interval with as many digits as an error of this size leaves meaningful.
pub fn interval([low, high]: [f64; 2], error: f64) -> String {
    format!("[{}, {}]", within(low, error), within(high, error))
}

/// Seconds in a unit that suits them.
pub fn seconds(x: f64) -> String {
    match x {
        x if x < 1e-3 => format!("{:.0} us", x * 1e6),
        x if x < 1.0 => format!("{:.1} ms", x * 1e3),
        x if x < 120.0 => format!("{x:.1} s"),
        x if x < 7200.0 => format!("{:.1} min", x / 60.0),
        x => format!("{:.1} h", x / 3600.0),
    }
}

/// Print rows of a label and a text, the texts in one column.
pub fn rows(rows: &[(String, String)]) {
    let width = rows
        .iter()
        .map(|(label, _)| label.chars().count())
        .max()
        .unwrap_or(0);
    for (label, text) in rows {
        line(&format!("{label:<width$}  {text}"));
    }
}

/// Print the one object of `--json`.
pub fn json(object: &Json) {
    line(&format!("{object:#}"));
}

/// Why the last line could not be printed.
static UNPRINTED: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Print a line; whether it could not be, `unprinted` says.
pub fn line(text: &str) {
    let mut out = std::io::stdout();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) {
        let mut unprinted = UNPRINTED.lock().unwrap_or_else(PoisonError::into_inner);
        unprinted.get_or_insert(error);
    }
}

/// The error that kept a line from being printed: a full disk, or a reader that has left.
pub fn unprinted() -> Option<std::io::Error> {
    let mut unprinted = UNPRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    unprinted.take()
}

/// Say what a crash had left of a run's last write, if it left something.
pub fn tell_torn(session: &Session) {
    if let Some(torn) = session.torn() {
        eprintln!("warpquad: {torn}");
    }
}

/// Read a file, with its name in the error.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// Write a file, with its name in the error.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// Read a problem file: the problem and its text.
pub fn problem(path: &Path) -> Result<(Problem, String)> {
    let text = read(path)?;
    let name = path.display().to_string();
    let problem = Problem::parse(&text).map_err(|error| Error::from(error.in_file(&name)))?;
    Ok((problem.in_file(name), text))
}

/// Refuse another seed than the run's own.
pub fn same_seed(session: &Session, seed: Option<u64>) -> Result<()> {
    match seed {
        Some(seed) if seed != session.seed() => {
            let reason = format!("the run has the seed {}, not {seed}", session.seed());
            Err(Error::spec("seed", reason))
        }
        _ => Ok(()),
    }
}

/// The directory a problem file's own paths are relative to.
pub fn home(problem: &Path) -> &Path {
    match problem.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_two_digits_of_its_error() {
        assert_eq!(measured(-3.46312, 0.0123), "-3.463 +- 0.012");
        assert_eq!(measured(-1240.54249, 9.47e-4), "-1240.54249 +- 0.00095");
        assert_eq!(measured(12.3, 250.0), "12 +- 250");
        assert_eq!(interval([-0.8574, -0.8542], 8.6e-4), "[-0.85740, -0.85420]");
    }

    #[test]
    fn without_a_usable_error_a_number_has_its_own_digits() {
        assert_eq!(measured(1.5, 0.0), "1.5000 +- 0.0000");
        assert_eq!(measured(2e-30, 1e-31), "2.000e-30 +- 1.000e-31");
        assert_eq!(measured(f64::NAN, f64::NAN), "- +- -");
    }
}

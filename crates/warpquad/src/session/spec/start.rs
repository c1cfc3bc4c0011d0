//! Read `[start]`: where a user thinks that f is large.

use super::reader::{Item, Section};
use super::{Problem, SpecError};

/// A user's hint where f is large: points, or a plausible interval for each parameter.
///
/// The points are evaluated first. The hint is never trusted blindly: the run looks over the whole
/// prior all the same.
///
/// ```
/// use warpquad::session::spec::Problem;
/// let file = "integrand.log = '-x^2'\nparameters.x.normal = [0, 100]\nstart.x = [1, 3]";
/// let start = Problem::parse(file)?.start;
/// assert_eq!((start.points(), start.half_widths()), (vec![vec![2.0]], Some(vec![1.0])));
/// # Ok::<(), warpquad::session::spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Start {
    points: Vec<Vec<f64>>,
    /// For each parameter its interval; none where points were given.
    intervals: Vec<(f64, f64)>,
}

impl Start {
    /// The points to evaluate first: those given, or the middle of the intervals.
    pub fn points(&self) -> Vec<Vec<f64>> {
        let middle = |(low, high): &(f64, f64)| 0.5 * (low + high);
        match self.intervals.is_empty() {
            true => self.points.clone(),
            false => vec![self.intervals.iter().map(middle).collect()],
        }
    }

    /// Half of the width of each parameter's interval; `None` where points were given.
    pub fn half_widths(&self) -> Option<Vec<f64>> {
        let half = |(low, high): &(f64, f64)| 0.5 * (high - low);
        (!self.intervals.is_empty()).then(|| self.intervals.iter().map(half).collect())
    }
}

const WANTED: &str = "a section [start] with points = [[...], ...], or an interval [low, high] \
                      for each parameter";

/// The hint of a problem file; empty without one.
pub(super) fn start(top: &Section, problem: &Problem) -> Result<Start, SpecError> {
    let Some(item) = top.get("start") else {
        return Ok(Start::default());
    };
    let section = item.section(WANTED)?;
    let names: Vec<&str> = problem.names.iter().map(String::as_str).collect();
    let start = match section.get("points") {
        Some(points) if !names.contains(&"points") => {
            section.only(&["points"], "fields of [start] beside points")?;
            Start {
                points: rows(points, names.len())?,
                intervals: Vec::new(),
            }
        }
        _ => {
            section.only(&names, "parameters")?;
            let intervals = names.iter().map(|name| interval(section.require(name)?));
            Start {
                points: Vec::new(),
                intervals: intervals.collect::<Result<_, _>>()?,
            }
        }
    };
    let Ok(measure) = problem.measure() else {
        return Ok(start);
    };
    for x in start.points() {
        if let Ok(Some(constraint)) = problem.violated(&x) {
            let reason = format!("{x:?} violates the constraint {constraint}");
            return Err(section.error(reason));
        }
        if measure.has_density() && measure.ln_density(&x) == f64::NEG_INFINITY {
            let reason = format!("{x:?} lies outside the support of the prior");
            return Err(section.error(reason));
        }
    }
    Ok(start)
}

fn rows(item: &Item, dim: usize) -> Result<Vec<Vec<f64>>, SpecError> {
    let wanted = format!("a list of points, each of {dim} numbers in the parameters' order");
    let mut out = Vec::new();
    for row in item.list(&wanted)? {
        let point = row.numbers(&wanted)?;
        if point.len() != dim || point.iter().any(|x| !x.is_finite()) {
            return Err(row.error(format!("must be {wanted}, got {point:?}")));
        }
        out.push(point);
    }
    match out.is_empty() {
        true => Err(item.error(format!("must be {wanted}, got none"))),
        false => Ok(out),
    }
}

fn interval(item: &Item) -> Result<(f64, f64), SpecError> {
    let wanted = "a plausible interval [low, high]";
    match item.numbers(wanted)?[..] {
        [low, high] if low < high && low.is_finite() && high.is_finite() => Ok((low, high)),
        ref other => Err(item.error(format!("must be {wanted} with low < high, got {other:?}"))),
    }
}

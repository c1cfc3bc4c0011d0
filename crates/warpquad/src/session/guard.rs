//! Refuse what would spoil a run: values out of range, another problem, another method.

use super::evaluator::{Answer, Failure};
use super::spec::Problem;
use crate::data::Value;
use crate::error::{Error, Result};
use crate::warp::Range;
use std::collections::BTreeSet;

/// The largest ln f that is kept: beyond it a nat is lost in rounding.
pub const LARGEST_LN_F: f64 = 1e15;

/// Whether a ln f stands for f = 0: one below -1e15 with no more than three digits, as -1e30 and
/// -9.99e99 are, or one below -1e100. A likelihood that is so low has some sixteen digits, and says
/// how narrow the peak is.
///
/// ```
/// use warpquad::session::is_sentinel;
/// assert!(is_sentinel(-1e30) && is_sentinel(-9.99e99) && is_sentinel(f64::MIN));
/// assert!(!is_sentinel(-1e15) && !is_sentinel(-3.1415926e17));
/// ```
pub fn is_sentinel(ln_f: f64) -> bool {
    let has_few_digits = || {
        let text = format!("{ln_f:e}");
        let digits = text.split('e').next().unwrap_or(&text);
        digits.chars().filter(char::is_ascii_digit).count() <= 3
    };
    ln_f < -LARGEST_LN_F && (ln_f < LEAST_LN_F || has_few_digits())
}

/// No likelihood that is not 0 is lower: sums of squares of such logarithms would overflow.
const LEAST_LN_F: f64 = -1e100;

/// The answer, unless it is a value that the range excludes, or a ln f above [`LARGEST_LN_F`]: that
/// is a failure, because kept, it would spoil the run for good.
///
/// ```
/// use warpquad::session::{evaluator::Answer, within};
/// use warpquad::{Value, warp::Range};
/// let inside = Answer::Value(Value::Linear(0.5));
/// assert_eq!(within(Range::UNIT, inside.clone()), inside);
/// assert!(matches!(within(Range::UNIT, Answer::Value(Value::Log(0.1))), Answer::Failure(_)));
/// ```
pub fn within(range: Range, answer: Answer) -> Answer {
    let Range { lo, hi } = range;
    if let Answer::With(value, derived) = answer {
        return within(range, Answer::Value(value)).with(derived);
    }
    let answer = match answer {
        Answer::Value(Value::Log(ln_f)) if is_sentinel(ln_f) => {
            Answer::Value(Value::Log(f64::NEG_INFINITY))
        }
        Answer::Value(Value::Log(ln_f)) if ln_f > LARGEST_LN_F => {
            let reason = format!(
                "ln f = {ln_f:e} is above {LARGEST_LN_F:e}, where one nat is lost in rounding; \
                 answer with the logarithm of f, or subtract a constant from it"
            );
            return Failure::of_point(reason).into();
        }
        answer => answer,
    };
    let inside = match answer {
        Answer::Value(Value::Linear(f)) => lo <= f && f <= hi,
        Answer::Value(Value::Log(ln_f)) => {
            lo <= ln_f.exp() && (hi.is_infinite() || ln_f <= hi.ln())
        }
        Answer::With(..) | Answer::Failure(_) => true,
    };
    match answer {
        Answer::Value(value) if !inside => {
            let reason = format!("{value} is outside integrand.range = [{lo}, {hi}]");
            Failure::of_point(reason).into()
        }
        answer => answer,
    }
}

/// A journal whose line cannot be gone on with.
pub(super) fn damaged(line: usize, reason: &str) -> Error {
    Error::Journal {
        line,
        reason: reason.into(),
    }
}

/// The names of the fields of several objects, each once.
fn keys<'a>(objects: &[&'a serde_json::Value]) -> impl Iterator<Item = &'a str> {
    let objects = objects.iter().filter_map(|object| object.as_object());
    let all: BTreeSet<&str> = objects.flat_map(|o| o.keys().map(String::as_str)).collect();
    all.into_iter()
}

/// Refuse another method than the run's own.
pub(super) fn same_method(given: &serde_json::Value, kept: &serde_json::Value) -> Result<()> {
    // The name and the reading first: the parts follow from them.
    let first = ["name", "reading"].into_iter();
    for field in first.chain(keys(&[given, kept])) {
        let (given, kept) = (&given[field], &kept[field]);
        if field == "reading" && kept.is_null() && !given.is_null() {
            let reason = "the run was made with an earlier reading of this method; mmlt of that \
                          time is called mmlt-literal now. Start a new run with it; --initial takes \
                          the values of this one";
            return Err(damaged(1, reason));
        }
        if given != kept {
            let reason = format!(
                "the run was made with {field} = {kept}, not with {given}; go on with its own \
                 method, or start a new run"
            );
            return Err(damaged(1, &reason));
        }
    }
    Ok(())
}

/// The problem given on resuming, if it is the run's own. Values from outside or of a table may be
/// of any integrand, so there only the rest must agree.
pub(super) fn same_problem(problem: Problem, kept: &serde_json::Value) -> Result<Problem> {
    let given = problem.canonical();
    let external = |json: &serde_json::Value| json["integrand"].get("external").is_some();
    let table = |json: &serde_json::Value| json["integrand"].get("table").is_some();
    let any = external(&given) || external(kept) || table(kept);
    for field in keys(&[&given, kept]).filter(|field| !(any && *field == "integrand")) {
        if given.get(field) != kept.get(field) {
            let show = |json: &serde_json::Value| {
                json.get(field)
                    .map_or("nothing".into(), |part| part.to_string())
            };
            let reason = format!(
                "the run has another {field}: {} in the journal, {} in the problem file; give the \
                 run's own file, or start a new run",
                show(kept),
                show(&given)
            );
            return Err(damaged(1, &reason));
        }
    }
    Ok(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_are_zeros_and_impossible_logs_are_failures() {
        let log = |ln_f| within(Range::POSITIVE, Answer::Value(Value::Log(ln_f)));
        let zero = Answer::Value(Value::Log(f64::NEG_INFINITY));
        assert_eq!(log(-1e30), zero);
        assert_eq!(log(-f64::MAX), zero);
        assert_eq!(log(-1e14), Answer::Value(Value::Log(-1e14)));
        assert_eq!(log(-1.2345e17), Answer::Value(Value::Log(-1.2345e17)));
        assert!(matches!(log(1e18), Answer::Failure(failure) if failure.reason.contains("1e18")));
    }
}

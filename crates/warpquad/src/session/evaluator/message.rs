//! Write what a program is asked and read what it answers, as JSON objects.

use super::{Answer, Failure, Task, excerpt, json};
use crate::data::Value;
use serde_json::{Map, Value as Json};

/// The request on one line: `{"id": 3, "x": [0.1, 2.0], "params": {"x": 0.1, "y": 2.0}}`.
///
/// It is put together by hand to keep the parameters' order.
pub(super) fn request(task: &Task, names: &[String]) -> Result<String, Failure> {
    if task.x.len() != names.len() {
        let (got, expected) = (task.x.len(), names.len());
        let reason = format!("the point has {got} coordinates for {expected} parameters");
        return Err(Failure::of_source(reason));
    }
    let x: Vec<String> = task.x.iter().map(|&x| Json::from(x).to_string()).collect();
    let pair = |(name, x): (&String, &String)| format!("{}: {x}", Json::from(name.as_str()));
    let params: Vec<String> = names.iter().zip(&x).map(pair).collect();
    let (id, x, params) = (task.id, x.join(", "), params.join(", "));
    Ok(format!(
        "{{\"id\": {id}, \"x\": [{x}], \"params\": {{{params}}}}}"
    ))
}

/// The request of a task: what a program, or a person with a cluster, is given.
///
/// ```
/// use warpquad::session::evaluator::{Task, write_task};
/// let task = Task { id: 3, x: vec![0.1, 2.0] };
/// let line = write_task(&task, &["a".into(), "b".into()]).unwrap();
/// assert_eq!(line, r#"{"id": 3, "x": [0.1, 2.0], "params": {"a": 0.1, "b": 2.0}}"#);
/// ```
pub fn write_task(task: &Task, names: &[String]) -> Result<String, String> {
    request(task, names).map_err(|failure| failure.reason)
}

/// The id and the answer of a line such as `{"id": 3, "log_f": -1.25}`, or what is wrong with it.
///
/// ```
/// use warpquad::Value;
/// use warpquad::session::evaluator::{Answer, read_answer};
/// let (id, answer) = read_answer(r#"{"id": 3, "log_f": -Infinity}"#).unwrap();
/// assert_eq!((id, answer), (3, Answer::Value(Value::Log(f64::NEG_INFINITY))));
/// assert!(read_answer("3").is_err());
/// ```
pub fn read_answer(line: &str) -> Result<(u64, Answer), String> {
    let parsed = json::parse(line);
    let Some(object) = parsed.as_ref().and_then(Json::as_object) else {
        return Err(format!(
            "expected a JSON object, got {}",
            excerpt(line, 100)
        ));
    };
    let id = object.get("id").and_then(json::id);
    let id = id.ok_or_else(|| format!("the answer must have an id, got {}", excerpt(line, 100)))?;
    Ok((id, answer(object)))
}

/// Whether an object has something in it that only an answer has.
pub(super) fn has_value(object: &Map<String, Json>) -> bool {
    object.contains_key("log_f") || object.contains_key("f")
}

/// The answer that an object holds: `error` if there is one, else `log_f`, else `f`.
pub(super) fn answer(object: &Map<String, Json>) -> Answer {
    match object.get("error") {
        None | Some(Json::Null) => {}
        Some(error) => return Answer::Failure(refusal(error, object.get("recoverable"))),
    }
    if let Some(ln_f) = object.get("log_f") {
        return json::answer("log_f", ln_f, Value::Log);
    }
    if let Some(f) = object.get("f") {
        return json::answer("f", f, Value::Linear);
    }
    let got = excerpt(&Json::Object(object.clone()).to_string(), 200);
    Failure::of_source(format!("the answer has no log_f, no f and no error: {got}")).into()
}

/// The integrand's own word; `"recoverable": false` beside it says that no point will succeed.
fn refusal(error: &Json, recoverable: Option<&Json>) -> Failure {
    let reason = match error.as_str() {
        Some(text) => text.to_string(),
        None => error.to_string(),
    };
    Failure {
        reason,
        recoverable: recoverable != Some(&Json::Bool(false)),
    }
}

/// A failure because the answer is about another task.
pub(super) fn other_id(asked: u64, got: u64) -> Failure {
    Failure::of_source(format!(
        "asked for id {asked}, got an answer for id {got}: an answer repeats the id of its request"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(text: &str) -> Answer {
        answer(json::parse(text).unwrap().as_object().unwrap())
    }

    #[test]
    fn a_request_is_one_line_that_keeps_the_order_and_every_digit() {
        let x = vec![0.1, 2.0, 1e-300];
        let names = ["x", "b \"q\"", "a"].map(String::from);
        let line = request(&Task { id: 3, x }, &names).unwrap();
        let expected = r#"{"id": 3, "x": [0.1, 2.0, 1e-300], "params": {"x": 0.1, "b \"q\"": 2.0, "a": 1e-300}}"#;
        assert_eq!(line, expected);
        assert!(serde_json::from_str::<Json>(&line).is_ok());
        let failure = request(&Task { id: 3, x: vec![] }, &names).unwrap_err();
        assert_eq!(
            failure.reason,
            "the point has 0 coordinates for 3 parameters"
        );
    }

    #[test]
    fn answers_are_values_or_the_integrands_word() {
        let zero = Answer::Value(Value::Log(f64::NEG_INFINITY));
        for text in [
            r#"{"log_f": -Infinity}"#,
            r#"{"log_f": "-inf"}"#,
            r#"{"log_f": [-inf]}"#,
        ] {
            assert_eq!(answer_of(text), zero);
        }
        assert_eq!(
            answer_of(r#"{"f": 0.28}"#),
            Answer::Value(Value::Linear(0.28))
        );
        let both = r#"{"f": 0.0, "log_f": -900.5, "error": null}"#;
        assert_eq!(answer_of(both), Answer::Value(Value::Log(-900.5)));
        let error = r#"{"error": "did not converge", "f": 1.0}"#;
        assert_eq!(
            answer_of(error),
            Failure::of_point("did not converge").into()
        );
        let last = r#"{"error": {"code": 4}, "recoverable": false}"#;
        assert_eq!(answer_of(last), Failure::of_source("{\"code\":4}").into());
    }

    #[test]
    fn what_is_no_answer_says_so() {
        for (text, words, recoverable) in [
            (r#"{"log_f": nan}"#, "returned NaN", true),
            (r#"{"f": null}"#, "returned null", true),
            (
                r#"{"log_f": "much"}"#,
                "log_f must be one number, got \"much\"",
                false,
            ),
            (r#"{"id": 3}"#, "no log_f, no f and no error", false),
        ] {
            let Answer::Failure(failure) = answer_of(text) else {
                panic!("{text}");
            };
            assert!(failure.reason.contains(words), "{}", failure.reason);
            assert_eq!(failure.recoverable, recoverable);
        }
    }
}

//! Write what a program is asked and read what it answers, as JSON objects.

use super::filled::wrong_length;
use super::{Answer, Failure, Task, excerpt, json};
use crate::data::Value;
use crate::session::arguments::{ArgumentKind, Arguments};
use crate::session::derived::Derived;
use serde_json::{Map, Value as Json};

/// The request on one line: `{"id": 3, "x": [0.1, 2.0], "params": {"x": 0.1, "y": 2.0}}`.
///
/// `x` has all numbers, fixed ones too; in `params` a vector is a list. It is put together by hand
/// to keep the parameters' order.
pub(super) fn request(task: &Task, arguments: &Arguments) -> Result<String, Failure> {
    let parts = arguments.split(&task.x);
    let parts = parts.ok_or_else(|| wrong_length(task, arguments))?;
    let (mut x, mut params) = (Vec::new(), Vec::new());
    for (argument, numbers) in parts {
        let numbers: Vec<String> = numbers.iter().map(|&x| Json::from(x).to_string()).collect();
        let shown = numbers.join(", ");
        let name = Json::from(argument.name.as_str());
        params.push(match argument.kind {
            ArgumentKind::Vector(_) => format!("{name}: [{shown}]"),
            ArgumentKind::Number | ArgumentKind::Fixed(_) => format!("{name}: {shown}"),
        });
        x.extend(numbers);
    }
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
/// let names = vec!["a".to_string(), "b".to_string()];
/// let line = write_task(&task, &names.into()).unwrap();
/// assert_eq!(line, r#"{"id": 3, "x": [0.1, 2.0], "params": {"a": 0.1, "b": 2.0}}"#);
/// ```
pub fn write_task(task: &Task, arguments: &Arguments) -> Result<String, String> {
    request(task, arguments).map_err(|failure| failure.reason)
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

/// What a line tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// The answer to the task with this number.
    Answer(u64, Answer),
    /// A value at a point that was not asked for.
    Value(Vec<f64>, Value),
}

/// What a line tells: the answer to a task, or without an id the value at a point of its own, such
/// as `{"params": {"a": 0.1, "b": 2}, "log_f": -1.25}` or `{"x": [0.1, 2], "log_f": -1.25}`.
///
/// ```
/// use warpquad::Value;
/// use warpquad::session::evaluator::{Told, read_told};
/// let names = vec!["a".to_string(), "b".to_string()].into();
/// let told = read_told(r#"{"params": {"b": 2, "a": 0.1}, "log_f": -1.25}"#, &names);
/// assert_eq!(told, Ok(Told::Value(vec![0.1, 2.0], Value::Log(-1.25))));
/// assert!(read_told(r#"{"params": {"b": 2}, "log_f": -1.25}"#, &names).is_err());
/// ```
pub fn read_told(line: &str, arguments: &Arguments) -> Result<Told, String> {
    let parsed = json::parse(line);
    let object = parsed.as_ref().and_then(Json::as_object);
    let point = object.filter(|object| !object.contains_key("id"));
    let Some(object) = point.filter(|o| o.contains_key("x") || o.contains_key("params")) else {
        return read_answer(line).map(|(id, answer)| Told::Answer(id, answer));
    };
    let x = point_of(object, arguments)?;
    match answer(object) {
        Answer::Value(value) | Answer::With(value, _) => Ok(Told::Value(x, value)),
        Answer::Failure(failure) => Err(format!(
            "a point that was not asked for needs a value: {}",
            failure.reason
        )),
    }
}

/// The coordinates of the point that an object names.
fn point_of(object: &Map<String, Json>, arguments: &Arguments) -> Result<Vec<f64>, String> {
    let numbers = |json: &Json| -> Option<Vec<f64>> {
        match json {
            Json::Array(list) => list.iter().map(Json::as_f64).collect(),
            one => one.as_f64().map(|x| vec![x]),
        }
    };
    let all: Vec<f64> = match object.get("params").and_then(Json::as_object) {
        None => {
            let x = object.get("x").and_then(numbers);
            x.ok_or("x must be a list of numbers")?
        }
        Some(params) => {
            let mut all = Vec::new();
            for argument in arguments.iter() {
                let given = params.get(&argument.name).and_then(numbers);
                let given = given.or_else(|| argument.fixed().map(|c| vec![c]));
                let missing = || format!("params says no numbers of '{}'", argument.name);
                all.extend(given.ok_or_else(missing)?);
            }
            all
        }
    };
    arguments.coordinates_of(&all).ok_or_else(|| {
        let names = arguments.names().join(", ");
        format!(
            "the point has {} numbers; the parameters are {names}",
            all.len()
        )
    })
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
    let value = match (object.get("log_f"), object.get("f")) {
        (Some(ln_f), _) => Some(json::answer("log_f", ln_f, Value::Log)),
        (None, Some(f)) => Some(json::answer("f", f, Value::Linear)),
        (None, None) => None,
    };
    if let Some(value) = value {
        return match derived(object.get("derived")) {
            Ok(derived) => value.with(derived),
            Err(reason) => Failure::of_source(reason).into(),
        };
    }
    let got = excerpt(&Json::Object(object.clone()).to_string(), 200);
    Failure::of_source(format!("the answer has no log_f, no f and no error: {got}")).into()
}

/// The derived quantities of an answer: `{"mass": 1.5, "rates": [0.1, 0.2]}`, where those of a list
/// are `rates[0]` and so on. A number that is not finite, null too, is left out.
fn derived(json: Option<&Json>) -> Result<Derived, String> {
    let fields = match json {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Object(fields)) => fields,
        Some(other) => {
            let got = excerpt(&other.to_string(), 100);
            return Err(format!("derived must be an object of numbers, got {got}"));
        }
    };
    let mut out = Vec::new();
    for (name, json) in fields {
        let numbers: Vec<(String, &Json)> = match json {
            Json::Array(list) => {
                let named = |(i, json)| (format!("{name}[{i}]"), json);
                list.iter().enumerate().map(named).collect()
            }
            one => vec![(name.clone(), one)],
        };
        for (name, number) in numbers {
            match number {
                Json::Null | Json::String(_) => {}
                Json::Number(number) => out.extend(number.as_f64().map(|x| (name, x))),
                other => {
                    let got = excerpt(&other.to_string(), 100);
                    return Err(format!("derived.{name} must be a number, got {got}"));
                }
            }
        }
    }
    Ok(out)
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
        let names: Arguments = ["x", "b \"q\"", "a"].map(String::from).to_vec().into();
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
    fn a_request_has_fixed_numbers_and_vectors() {
        let file = "integrand.external = 'me'\nparameters.c = 2\n\
                    parameters.beta = { normal = [0, 1], size = 2 }\n\
                    parameters.one = { normal = [0, 1], size = 1 }";
        let problem = crate::session::spec::Problem::parse(file).unwrap();
        let x = vec![0.5, 0.25, 3.0];
        let line = request(&Task { id: 1, x }, &problem.arguments).unwrap();
        let expected = r#"{"id": 1, "x": [2.0, 0.5, 0.25, 3.0], "params": {"c": 2.0, "beta": [0.5, 0.25], "one": [3.0]}}"#;
        assert_eq!(line, expected);
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
    fn derived_quantities_come_with_a_value() {
        let text = r#"{"log_f": -1, "derived": {"mass": 1.5, "rates": [1, 2.5, null]}}"#;
        let named = |name: &str, x: f64| (name.to_string(), x);
        let derived = vec![
            named("mass", 1.5),
            named("rates[0]", 1.0),
            named("rates[1]", 2.5),
        ];
        assert_eq!(answer_of(text), Answer::With(Value::Log(-1.0), derived));
        let plain = Answer::Value(Value::Linear(2.0));
        assert_eq!(answer_of(r#"{"f": 2, "derived": {}}"#), plain);
        let wrong = answer_of(r#"{"f": 2, "derived": {"mass": {}}}"#);
        assert!(
            matches!(wrong, Answer::Failure(failure) if failure.reason.contains("derived.mass"))
        );
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

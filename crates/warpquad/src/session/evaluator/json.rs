//! Read the JSON that programs really write: with nan, -inf, None and np.float64(...) in it.

use super::{Answer, Failure, excerpt};
use crate::data::Value;
use serde_json::Value as Json;

/// Parse a text; if it is not JSON, once more with the usual departures from JSON put right.
pub(super) fn parse(text: &str) -> Option<Json> {
    let strict = serde_json::from_str(text).ok();
    strict.or_else(|| serde_json::from_str(&repaired(text)).ok())
}

/// Non-finite numbers become strings, Python's None becomes null, `np.float64(2.5)` becomes 2.5
/// and `.5` becomes 0.5; strings stay as they are.
fn repaired(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut calls = 0;
    while let Some(first) = rest.chars().next() {
        let (token, tail) = rest.split_at(token_length(rest, first));
        rest = tail;
        if token.starts_with("np.") && rest.starts_with('(') {
            calls += 1;
            rest = &rest[1..];
        } else if token == ")" && calls > 0 {
            calls -= 1;
        } else if is_word(first) {
            out.push_str(&word(token));
        } else {
            out.push_str(token);
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')
}

/// The bytes of a string with its quotes, of a word, or of one other character.
fn token_length(text: &str, first: char) -> usize {
    if first == '"' {
        return string_length(text);
    }
    if is_word(first) {
        return text.find(|c| !is_word(c)).unwrap_or(text.len());
    }
    first.len_utf8()
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// A bare word as JSON, or as it is if it means nothing.
fn word(token: &str) -> String {
    if token == "None" {
        return "null".into();
    }
    if serde_json::from_str::<Json>(token).is_ok() {
        return token.into();
    }
    // Rust reads nan, inf and infinity with a sign and in any case, and 1e999 as inf.
    match token.parse::<f64>() {
        Ok(x) if x.is_finite() => format!("{x:e}"),
        Ok(x) => format!("\"{x}\""),
        Err(_) => token.into(),
    }
}

/// A number, or a string that stands for one that is not finite, or a list of one such (R boxes
/// its scalars).
pub(super) fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.trim().parse().ok().filter(|x: &f64| !x.is_finite()),
        Json::Array(items) if items.len() == 1 => number(&items[0]),
        _ => None,
    }
}

/// An identifier: a whole number, however it was written.
pub(super) fn id(json: &Json) -> Option<u64> {
    match json {
        Json::Number(number) => number.as_u64().or_else(|| {
            // R, Lua and JavaScript may write 3 as 3.0; 2^53 is where that stops being exact.
            let id = number.as_f64()?;
            let exact = id >= 0.0 && id.fract() == 0.0 && id <= 9_007_199_254_740_992.0;
            exact.then_some(id as u64)
        }),
        Json::String(text) => text.parse().ok(),
        Json::Array(items) if items.len() == 1 => id(&items[0]),
        _ => None,
    }
}

/// The answer that one JSON value makes, named `field` in messages.
pub(super) fn answer(field: &str, json: &Json, make: fn(f64) -> Value) -> Answer {
    if is_null(json) {
        let reason = "the integrand returned null, which stands for NaN and for -inf alike; \
                      where f is 0 write the string \"-inf\" for ln f";
        return Failure::of_point(reason).into();
    }
    match number(json) {
        Some(x) => make(x).into(),
        None => {
            let got = excerpt(&json.to_string(), 80);
            Failure::of_source(format!("{field} must be one number, got {got}")).into()
        }
    }
}

fn is_null(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Array(items) => items.len() == 1 && is_null(&items[0]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bare_tokens_are_read_and_strings_are_left_alone() {
        for (text, expected) in [
            (r#"{"output": [[nan]] }"#, json!({"output": [["NaN"]]})),
            (
                r#"[-inf, Infinity, -Infinity,NaN]"#,
                json!(["-inf", "inf", "-inf", "NaN"]),
            ),
            (
                r#"[1e999, -1e999, .5, +2., None]"#,
                json!(["inf", "-inf", 0.5, 2.0, null]),
            ),
            (
                r#"[[np.float64(-2.5)], np.float64(nan)]"#,
                json!([[-2.5], "NaN"]),
            ),
            (
                r#"{"a nan": "say \"inf\", (nan)", "b": nan}"#,
                json!({"a nan": "say \"inf\", (nan)", "b": "NaN"}),
            ),
            (r#"{"é": -Inf}"#, json!({"é": "-inf"})),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_not_made_json() {
        for text in [
            "",
            "loading the model",
            "{\"id\": 3",
            "[1, 2) 3]",
            "np.(",
            "{\"a",
            "[nane]",
            "[1 nan]",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_ids_are_read_as_they_are_written() {
        assert_eq!(number(&json!([-1.25])), Some(-1.25));
        assert_eq!(number(&json!("-Infinity")), Some(f64::NEG_INFINITY));
        assert_eq!(number(&json!("1.5")), None);
        assert_eq!(number(&json!([1, 2])), None);
        for three in [json!(3), json!(3.0), json!("3"), json!([3])] {
            assert_eq!(id(&three), Some(3));
        }
        assert_eq!(id(&json!(u64::MAX)), Some(u64::MAX));
        for none in [json!(-1), json!(2.5), json!(null), json!("a"), json!({})] {
            assert_eq!(id(&none), None);
        }
    }

    #[test]
    fn every_digit_survives() {
        let x = -0.1f64.powi(3) / 7.0;
        assert_eq!(number(&parse(&format!("[{x}, nan]")).unwrap()[0]), Some(x));
    }
}

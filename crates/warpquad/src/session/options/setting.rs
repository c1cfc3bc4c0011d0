//! Hold the value of an option as it was written: in a problem file, a flag, a keyword or a
//! journal.

use crate::session::spec;
use serde_json::{Value as Json, json};

/// A value before anybody has asked whether it is the right one.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number, also infinite or NaN.
    Number(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Setting>),
    /// A table, its fields in the order they were written in.
    Table(Vec<(String, Setting)>),
}

impl Setting {
    /// What kind of thing it is, for the end of "must be a number, got ...".
    pub(in crate::session) fn what(&self) -> &'static str {
        match self {
            Setting::Flag(_) => "true or false",
            Setting::Integer(_) | Setting::Number(_) => "a number",
            Setting::Text(_) => "a string",
            Setting::List(_) => "a list",
            Setting::Table(_) => "a table",
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Setting::Integer(integer) => Some(*integer as f64),
            Setting::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The numbers, if it is one or a list of them.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Setting::List(list) => list.iter().map(Setting::number).collect(),
            one => Some(vec![one.number()?]),
        }
    }

    /// The number that a word of the command line spells, whole if it can be.
    pub(super) fn number_in(text: &str) -> Option<Setting> {
        let text = text.trim();
        let whole = text.parse().map(Setting::Integer);
        whole.or_else(|_| text.parse().map(Setting::Number)).ok()
    }

    /// The setting that a text spells in TOML.
    ///
    /// ```
    /// use warpquad::session::options::Setting;
    /// let list = Setting::of_toml("[1, 0.5]").unwrap();
    /// assert_eq!(list, Setting::List(vec![Setting::Integer(1), Setting::Number(0.5)]));
    /// ```
    pub fn of_toml(text: &str) -> Result<Setting, String> {
        spec::setting(text)
    }

    /// As JSON, which has no infinities: they are the strings "inf" and "-inf".
    ///
    /// ```
    /// use warpquad::session::options::Setting;
    /// let range = Setting::List(vec![Setting::Number(0.0), Setting::Number(f64::INFINITY)]);
    /// assert_eq!(range.to_json().to_string(), "[0.0,\"inf\"]");
    /// assert_eq!(Setting::from_json(&range.to_json()), Some(range));
    /// ```
    pub fn to_json(&self) -> Json {
        match self {
            Setting::Flag(flag) => json!(flag),
            Setting::Integer(integer) => match i64::try_from(*integer) {
                Ok(integer) => json!(integer),
                Err(_) => json!(*integer as f64),
            },
            // The sum makes -0 the same as 0.
            Setting::Number(number) if number.is_finite() => json!(number + 0.0),
            Setting::Number(number) => json!(number.to_string()),
            Setting::Text(text) => json!(text),
            Setting::List(list) => list.iter().map(Setting::to_json).collect(),
            Setting::Table(fields) => {
                let fields = fields.iter();
                Json::Object(fields.map(|(k, v)| (k.clone(), v.to_json())).collect())
            }
        }
    }

    /// The setting that [`Setting::to_json`] wrote; `None` for null.
    pub fn from_json(json: &Json) -> Option<Setting> {
        Some(match json {
            Json::Null => return None,
            Json::Bool(flag) => Setting::Flag(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Setting::Integer(integer.into()),
                None => Setting::Number(number.as_f64()?),
            },
            Json::String(text) => match text.as_str() {
                "inf" => Setting::Number(f64::INFINITY),
                "-inf" => Setting::Number(f64::NEG_INFINITY),
                _ => Setting::Text(text.clone()),
            },
            Json::Array(list) => {
                Setting::List(list.iter().map(Setting::from_json).collect::<Option<_>>()?)
            }
            Json::Object(fields) => {
                let field = |(k, v): (&String, &Json)| Some((k.clone(), Setting::from_json(v)?));
                Setting::Table(fields.iter().map(field).collect::<Option<_>>()?)
            }
        })
    }
}

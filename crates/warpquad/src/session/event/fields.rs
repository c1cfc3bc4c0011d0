//! Read fields, numbers and lists of JSON, with errors that name them.

use crate::data::Value;
use serde_json::{Map, Value as Json};

/// Fields of an object, with errors that name them.
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Json>);

impl Fields<'_> {
    pub(super) fn any(&self, name: &str) -> Result<&Json, String> {
        self.0.get(name).ok_or_else(|| format!("no field '{name}'"))
    }

    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        let text = self.any(name)?.as_str();
        text.map(str::to_string)
            .ok_or_else(|| format!("'{name}' is not a string"))
    }

    pub(super) fn integer(&self, name: &str) -> Result<u64, String> {
        self.any(name)?
            .as_u64()
            .ok_or_else(|| format!("'{name}' is not a whole number"))
    }

    /// f or ln f.
    pub(super) fn value(&self) -> Result<Value, String> {
        match self.0.get("f") {
            Some(f) => Ok(Value::Linear(number(f)?)),
            None => Ok(Value::Log(number(self.any("log_f")?)?)),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        self.any(name)?
            .as_bool()
            .ok_or_else(|| format!("'{name}' is not true or false"))
    }
}

pub(super) fn number(json: &Json) -> Result<f64, String> {
    let parsed = match json {
        Json::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    parsed.ok_or_else(|| format!("{json} is not a number"))
}

pub(super) fn numbers(json: &Json) -> Result<Vec<f64>, String> {
    let array = json
        .as_array()
        .ok_or_else(|| format!("{json} is not a list"))?;
    array.iter().map(number).collect()
}

/// The entries of a list; an error calls it by `name`.
pub(super) fn list<'a>(json: &'a Json, name: &str) -> Result<&'a Vec<Json>, String> {
    let entries = json.as_array();
    entries.ok_or_else(|| format!("{name} is not a list"))
}

/// The rows of a matrix; an error calls it by `name`.
pub(super) fn rows(json: &Json, name: &str) -> Result<Vec<Vec<f64>>, String> {
    list(json, name)?.iter().map(numbers).collect()
}

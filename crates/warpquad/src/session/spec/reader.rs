//! Read typed values out of TOML, each with the place it stands at.

use super::SpecError;
use crate::session::options::{Setting, Wrong};
use crate::session::suggest::unknown;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Result<T> = std::result::Result<T, SpecError>;

/// A value, its name and its place.
#[derive(Clone)]
pub(super) struct Item<'a> {
    source: &'a str,
    /// The name inside its section.
    pub name: String,
    /// The name from the top: `section.field`.
    pub path: String,
    /// Where the name stands.
    key: usize,
    value: &'a Spanned<DeValue<'a>>,
}

/// A table, its fields in the order of the file.
pub(super) struct Section<'a> {
    source: &'a str,
    path: String,
    start: usize,
    pub items: Vec<Item<'a>>,
}

/// Parse `source` as TOML.
pub(super) fn document(source: &str) -> Result<Spanned<DeTable<'_>>> {
    DeTable::parse(source).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        SpecError::at(source, offset, "", error.message())
    })
}

/// The setting that a word of the command line spells in TOML.
pub(in crate::session) fn setting(word: &str) -> std::result::Result<Setting, String> {
    let source = format!("value = {word}");
    let read = || -> Result<Setting> {
        let table = document(&source)?;
        Section::top(&source, table.get_ref())
            .require("value")?
            .setting()
    };
    read().map_err(|error| error.reason)
}

impl<'a> Section<'a> {
    /// The whole file.
    pub fn top(source: &'a str, table: &'a DeTable<'a>) -> Section<'a> {
        Section::new(source, String::new(), source.trim_end().len(), table)
    }

    fn new(source: &'a str, path: String, start: usize, table: &'a DeTable<'a>) -> Section<'a> {
        let item = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'a, str> = key.get_ref();
            Item {
                source,
                name: name.to_string(),
                path: join(&path, name),
                key: key.span().start,
                value,
            }
        };
        let mut items: Vec<Item<'a>> = table.iter().map(item).collect();
        // The crate sorts tables by name; parameters have the order of the file.
        items.sort_by_key(|item| item.key);
        Section {
            source,
            path,
            start,
            items,
        }
    }

    /// The field of that name.
    pub fn get(&self, name: &str) -> Option<&Item<'a>> {
        self.items.iter().find(|item| item.name == name)
    }

    /// The field of that name, or an error at the section.
    pub fn require(&self, name: &str) -> Result<&Item<'a>> {
        self.get(name)
            .ok_or_else(|| self.missing(name, "is missing"))
    }

    /// An error about a field that is not there.
    pub fn missing(&self, name: &str, reason: impl Into<String>) -> SpecError {
        SpecError::at(self.source, self.start, join(&self.path, name), reason)
    }

    /// An error about the section as a whole.
    pub fn error(&self, reason: impl Into<String>) -> SpecError {
        SpecError::at(self.source, self.start, self.path.clone(), reason)
    }

    /// Refuse a field that is not in `known`; `what` it should be, in the plural.
    pub fn only(&self, known: &[&str], what: &str) -> Result<()> {
        match self
            .items
            .iter()
            .find(|item| !known.contains(&item.name.as_str()))
        {
            Some(item) => Err(item.unknown(known, what)),
            None => Ok(()),
        }
    }

    /// The place of every field, with those of inner tables.
    pub fn places(&self, out: &mut Vec<(String, usize)>) {
        for item in &self.items {
            out.push((item.path.clone(), item.start()));
            if let Some(inner) = item.as_section() {
                inner.places(out);
            }
        }
    }
}

impl<'a> Item<'a> {
    /// Where the value starts.
    pub fn start(&self) -> usize {
        // The table of a [section] starts at its first field or its header; its name is what a
        // person looks for.
        match self.value.get_ref() {
            DeValue::Table(_) => self.key,
            _ => self.value.span().start,
        }
    }

    /// An error about the value.
    pub fn error(&self, reason: impl Into<String>) -> SpecError {
        SpecError::at(self.source, self.start(), self.path.clone(), reason)
    }

    /// An error about the name.
    pub fn error_at_name(&self, reason: impl Into<String>) -> SpecError {
        SpecError::at(self.source, self.key, self.path.clone(), reason)
    }

    /// An error at the byte `inside` of a string.
    pub fn error_inside(&self, inside: usize, reason: impl Into<String>) -> SpecError {
        let raw = self.source.get(self.value.span()).unwrap_or("");
        // A string with escapes is not in the file as it is; then its start must do.
        let content = self
            .value
            .get_ref()
            .as_str()
            .and_then(|text| raw.find(text));
        let offset = content.map_or(self.start(), |quote| self.start() + quote + inside);
        SpecError::at(self.source, offset, self.path.clone(), reason)
    }

    /// An error about a name that is none of `known`; `what` they are, in the plural.
    pub fn unknown(&self, known: &[&str], what: &str) -> SpecError {
        self.error_at_name(unknown(&self.name, known, what))
    }

    fn wrong_type(&self, wanted: &str) -> SpecError {
        let got = match self.value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(format!("must be {wanted}, got {got}"))
    }

    /// The value as a table.
    pub fn as_section(&self) -> Option<Section<'a>> {
        let table = self.value.get_ref().as_table()?;
        Some(Section::new(
            self.source,
            self.path.clone(),
            self.key,
            table,
        ))
    }

    /// The value as a table, or an error that says what was `wanted`.
    pub fn section(&self, wanted: &str) -> Result<Section<'a>> {
        self.as_section().ok_or_else(|| self.wrong_type(wanted))
    }

    /// The elements of a list, if it is one.
    pub fn as_list(&self) -> Option<Vec<Item<'a>>> {
        let array = self.value.get_ref().as_array()?;
        let item = |(i, value): (usize, &'a Spanned<DeValue<'a>>)| Item {
            source: self.source,
            name: format!("{i}"),
            path: self.path.clone(),
            key: value.span().start,
            value,
        };
        Some(array.iter().enumerate().map(item).collect())
    }

    /// The elements of a list, or an error that says what was `wanted`.
    pub fn list(&self, wanted: &str) -> Result<Vec<Item<'a>>> {
        self.as_list().ok_or_else(|| self.wrong_type(wanted))
    }

    /// Whether the value is a number.
    pub fn is_number(&self) -> bool {
        matches!(
            self.value.get_ref(),
            DeValue::Integer(_) | DeValue::Float(_)
        )
    }

    /// Any number, also infinite or NaN.
    pub fn number(&self) -> Result<f64> {
        let value = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(|integer| integer as f64),
            _ => return Err(self.wrong_type("a number")),
        };
        let written_infinite = || {
            self.value
                .get_ref()
                .as_float()
                .is_some_and(|v| v.as_str().contains("inf"))
        };
        match value {
            Some(value) if !f64::is_infinite(value) || written_infinite() => Ok(value),
            _ => Err(self.error("is too large a number")),
        }
    }

    /// Every number of a list.
    pub fn numbers(&self, wanted: &str) -> Result<Vec<f64>> {
        self.list(wanted)?.iter().map(Item::number).collect()
    }

    /// A string with something in it.
    pub fn text(&self) -> Result<String> {
        match self.value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text.to_string()),
            Some(_) => Err(self.error("must not be empty")),
            None => Err(self.wrong_type("a string")),
        }
    }

    /// A list of at least one string, of which the first is not empty.
    pub fn texts(&self, wanted: &str) -> Result<Vec<String>> {
        let items = self.list(wanted)?;
        let Some(first) = items.first() else {
            return Err(self.error(format!("must be {wanted}, got an empty list")));
        };
        first.text()?;
        let text = |item: &Item| match item.value.get_ref().as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(item.wrong_type("a string")),
        };
        items.iter().map(text).collect()
    }

    /// The part of that name: a field of a table, or an element of a list.
    fn part(&self, name: &str) -> Option<Item<'a>> {
        let parts = match self.as_section() {
            Some(section) => section.items,
            None => self.as_list()?,
        };
        parts.into_iter().find(|part| part.name == name)
    }

    /// An error about the value of an option, at the part of it that is wrong.
    pub fn wrong(&self, wrong: &Wrong) -> SpecError {
        let mut item = self.clone();
        for name in &wrong.inside {
            item = item.part(name).unwrap_or(item);
        }
        match wrong.at_name {
            true => item.error_at_name(&wrong.reason),
            false => item.error(&wrong.reason),
        }
    }

    /// The value as it is written, for an option to check.
    pub fn setting(&self) -> Result<Setting> {
        if let Some(section) = self.as_section() {
            let fields = section.items.iter();
            let fields = fields.map(|item| Ok((item.name.clone(), item.setting()?)));
            return Ok(Setting::Table(fields.collect::<Result<_>>()?));
        }
        if let Some(items) = self.as_list() {
            let items = items.iter().map(Item::setting);
            return Ok(Setting::List(items.collect::<Result<_>>()?));
        }
        Ok(match self.value.get_ref() {
            DeValue::Boolean(value) => Setting::Flag(*value),
            DeValue::String(text) => Setting::Text(text.to_string()),
            DeValue::Integer(integer) => {
                match i128::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(integer) => Setting::Integer(integer),
                    Err(_) => Setting::Number(self.number()?),
                }
            }
            DeValue::Float(_) => Setting::Number(self.number()?),
            _ => return Err(self.wrong_type("a number, a string, a list or a table")),
        })
    }

    /// The value as JSON, its names in alphabetical order.
    pub fn json(&self) -> Result<serde_json::Value> {
        use serde_json::Value;
        if let Some(mut section) = self.as_section() {
            section.items.sort_by(|a, b| a.name.cmp(&b.name));
            let entries = section
                .items
                .iter()
                .map(|item| Ok((item.name.clone(), item.json()?)));
            return Ok(Value::Object(entries.collect::<Result<_>>()?));
        }
        if let Some(items) = self.as_list() {
            return Ok(Value::Array(
                items.iter().map(Item::json).collect::<Result<_>>()?,
            ));
        }
        Ok(match self.value.get_ref() {
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Datetime(date) => Value::String(date.to_string()),
            DeValue::Integer(integer) => {
                match i64::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(integer) => Value::from(integer),
                    Err(_) => Value::from(self.number()?),
                }
            }
            _ => match self.number()? {
                value if value.is_finite() => Value::from(value),
                value => {
                    return Err(
                        self.error(format!("must be finite to be sent as JSON, got {value}"))
                    );
                }
            },
        })
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_string()
    } else {
        format!("{path}.{name}")
    }
}

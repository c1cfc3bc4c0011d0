//! Write posterior draws as tables that other programs read.

use std::fmt::Write;
use warpquad::{Error, Result};

/// A form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Names in the first line, then a line for each draw.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// GetDist's: a weight, minus ln f, and the parameters; their names are in a second file.
    GetDist,
}

impl Form {
    /// The form that a file's name ends with, or what there is.
    ///
    /// ```
    /// use warpquad_report::table::Form;
    /// assert_eq!(Form::of_file("draws.jsonl")?, Form::JsonLines);
    /// assert!(Form::of_file("draws.xls").is_err());
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn of_file(name: &str) -> Result<Form> {
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        match end {
            "csv" => Ok(Form::Csv),
            "jsonl" | "ndjson" => Ok(Form::JsonLines),
            "txt" => Ok(Form::GetDist),
            _ => Err(Error::spec(
                "out",
                format!(
                    "'{name}' ends with no known form; write .csv, .jsonl (JSON lines) or .txt \
                     (GetDist's, with .paramnames beside it)"
                ),
            )),
        }
    }
}

/// Draws of equal weight, with ln f at each.
#[derive(Debug, Clone, Copy)]
pub struct Draws<'a> {
    /// The parameters' names.
    pub names: &'a [String],
    /// A row for each draw.
    pub rows: &'a [Vec<f64>],
    /// ln f at each draw.
    pub log_f: &'a [f64],
}

impl Draws<'_> {
    /// The table as text.
    ///
    /// ```
    /// use warpquad_report::table::{Draws, Form};
    /// let draws = Draws { names: &["a".into()], rows: &[vec![0.5]], log_f: &[-1.25] };
    /// assert_eq!(draws.write(Form::Csv), "a,log_f\n0.5,-1.25\n");
    /// assert_eq!(draws.write(Form::JsonLines), "{\"a\":0.5,\"log_f\":-1.25}\n");
    /// assert_eq!(draws.write(Form::GetDist), "1 1.25 0.5\n");
    /// assert_eq!(draws.parameter_names(), "a\ta\n");
    /// ```
    pub fn write(&self, form: Form) -> String {
        let mut out = String::new();
        if form == Form::Csv {
            let names: Vec<String> = self.names.iter().map(|name| csv_field(name)).collect();
            let _ = writeln!(out, "{},log_f", names.join(","));
        }
        for (row, log_f) in self.rows.iter().zip(self.log_f) {
            let _ = match form {
                Form::Csv => writeln!(out, "{},{log_f:?}", joined(row, ",")),
                Form::GetDist => writeln!(out, "1 {:?} {}", -log_f, joined(row, " ")),
                Form::JsonLines => {
                    let pairs = self
                        .names
                        .iter()
                        .cloned()
                        .zip(row.iter().map(|&x| x.into()));
                    let last = ("log_f".to_string(), (*log_f).into());
                    let object = pairs.chain([last]).collect();
                    writeln!(out, "{}", serde_json::Value::Object(object))
                }
            };
        }
        out
    }

    /// GetDist's second file: a name and a label a line. A name has no space there.
    pub fn parameter_names(&self) -> String {
        let line = |name: &String| format!("{}\t{name}\n", name.replace(char::is_whitespace, "_"));
        self.names.iter().map(line).collect()
    }
}

/// Numbers with all their digits.
fn joined(row: &[f64], between: &str) -> String {
    let numbers: Vec<String> = row
        .iter()
        .map(|x| format!("{x:?}").replace(".0e", "e"))
        .collect();
    numbers.join(between)
}

/// A name as CSV takes it.
fn csv_field(name: &str) -> String {
    match name.contains([',', '"', '\n']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    }
}

//! Read a CSV file's columns of numbers by name, and say where what is wrong stands.

use crate::output;
use std::path::{Path, PathBuf};
use warpquad::{Error, Points, Result};

/// Columns by name, with the line of each row.
pub struct Frame {
    path: PathBuf,
    pub header: Vec<String>,
    pub rows: Vec<Vec<f64>>,
    pub lines: Vec<u64>,
}

impl Frame {
    pub fn read(path: &Path) -> Result<Frame> {
        let text = output::read(path)?;
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let bad = |reason: String| Error::spec(path.display().to_string(), reason);
        let header = reader.headers().map_err(|e| bad(e.to_string()))?;
        let mut frame = Frame {
            path: path.to_path_buf(),
            header: header.iter().map(str::to_string).collect(),
            rows: Vec::new(),
            lines: Vec::new(),
        };
        for (j, name) in frame.header.iter().enumerate() {
            if frame.header[..j].contains(name) {
                return Err(bad(format!("line 1: two columns are named '{name}'")));
            }
        }
        for record in reader.records() {
            let record = record.map_err(|e| bad(e.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            let cells = record.iter().zip(&frame.header).map(|(cell, name)| {
                let number = cell.parse::<f64>().ok().filter(|x| x.is_finite());
                number.ok_or_else(|| {
                    let place = format!("line {line}, column {name}");
                    bad(format!("{place}: '{cell}' is not a number"))
                })
            });
            let row = cells.collect::<Result<Vec<f64>>>()?;
            frame.rows.push(row);
            frame.lines.push(line);
        }
        Ok(frame)
    }

    pub fn column(&self, name: &str) -> Result<usize> {
        self.header.iter().position(|h| h == name).ok_or_else(|| {
            let reason = format!("no column '{name}'; there are {}", self.header.join(", "));
            Error::spec(self.path.display().to_string(), reason)
        })
    }

    pub fn points(&self, columns: &[usize]) -> Result<Points> {
        let mut points = Points::empty(columns.len())?;
        for row in &self.rows {
            let x: Vec<f64> = columns.iter().map(|&j| row[j]).collect();
            points.push(&x)?;
        }
        Ok(points)
    }

    /// Where a row stands.
    pub fn place(&self, row: usize) -> String {
        format!("{}, line {}", self.path.display(), self.lines[row])
    }

    /// What is wrong with a cell.
    pub fn at(&self, row: usize, column: usize, reason: &str) -> Error {
        let place = format!("line {}, column {}", self.lines[row], self.header[column]);
        Error::spec(
            self.path.display().to_string(),
            format!("{place}: {reason}"),
        )
    }
}

/// A name as a cell of a CSV file.
pub fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

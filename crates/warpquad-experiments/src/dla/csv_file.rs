//! Read a CSV table with a header, cell by cell, with errors that name file, row and column.

use std::path::{Path, PathBuf};
use warpquad::{Error, Result};

/// A table in memory.
#[derive(Debug, Clone)]
pub struct CsvFile {
    path: PathBuf,
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl CsvFile {
    /// Read `path`; where it does not exist, the error says how to `fetch` it.
    pub fn read(path: &Path, fetch: &str) -> Result<CsvFile> {
        if !path.is_file() {
            let reason = format!("there is no such file. {fetch}");
            return Err(wrong(path, reason));
        }
        let failed = |error: csv::Error| wrong(path, error.to_string());
        let mut reader = csv::Reader::from_path(path).map_err(failed)?;
        Ok(CsvFile {
            path: path.into(),
            header: reader.headers().map_err(failed)?.clone(),
            rows: reader
                .records()
                .collect::<std::result::Result<_, _>>()
                .map_err(failed)?,
        })
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The text of a cell.
    pub fn text(&self, row: usize, column: &str) -> Result<&str> {
        let at = self.header.iter().position(|name| name == column);
        let at = at.ok_or_else(|| self.wrong(format!("has no column {column}")))?;
        let cell = self.rows.get(row).and_then(|cells| cells.get(at));
        cell.ok_or_else(|| self.wrong(format!("row {}: has no {column}", row + 1)))
    }

    /// A number, or `None` for an empty cell.
    pub fn optional(&self, row: usize, column: &str) -> Result<Option<f64>> {
        let text = self.text(row, column)?.trim();
        if text.is_empty() {
            return Ok(None);
        }
        self.parsed(row, text).map(Some)
    }

    /// A number.
    pub fn number(&self, row: usize, column: &str) -> Result<f64> {
        self.parsed(row, self.text(row, column)?.trim())
    }

    /// All cells of a row, as numbers, in the columns' order.
    pub fn numbers(&self, row: usize) -> Result<Vec<f64>> {
        let cells = self.rows.get(row).into_iter().flatten();
        cells.map(|text| self.parsed(row, text)).collect()
    }

    fn parsed(&self, row: usize, text: &str) -> Result<f64> {
        let number = text.parse();
        number.map_err(|_| self.wrong(format!("row {}: '{text}' is not a number", row + 1)))
    }

    /// An error about this file.
    pub fn wrong(&self, reason: String) -> Error {
        wrong(&self.path, reason)
    }
}

fn wrong(path: &Path, reason: String) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason,
    }
}

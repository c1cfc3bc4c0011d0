//! Read HPOlib's grids: inputs scaled to the unit cube, one target.

use crate::Context;
use crate::sources::HPOLIB;
use std::path::{Path, PathBuf};
use warpquad::numeric::random::Rng;
use warpquad::{Error, Points, Result};

/// What is known about a grid before it is read.
#[derive(Debug)]
pub struct Grid {
    /// Its name in results.
    pub name: &'static str,
    file: &'static str,
    /// Inputs, and whether their logarithm is taken: of those that span more than a factor of 15.
    inputs: &'static [(&'static str, bool)],
    target: &'static str,
    /// The share of rows to train on.
    pub train: f64,
}

/// The paper's three grids with its training shares.
pub static GRIDS: [Grid; 3] = [
    Grid {
        name: "LDA",
        file: "lda.csv",
        inputs: &[("kappa", false), ("tau", true), ("batch_size", true)],
        target: "perplexity",
        train: 0.2,
    },
    Grid {
        name: "SVM",
        file: "svm.csv",
        inputs: &[("C", true), ("alpha", true), ("epsilon", true)],
        target: "error",
        train: 0.05,
    },
    Grid {
        name: "LR",
        file: "logreg.csv",
        // The learning rate is an exponent already; the penalty starts at 0.
        inputs: &[
            ("learning_rate", false),
            ("l2_reg", false),
            ("batch_size", true),
            ("n_epochs", true),
        ],
        target: "valid_error",
        train: 0.05,
    },
];

/// Points in the unit cube and the target there.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Where.
    pub x: Points,
    /// What.
    pub f: Vec<f64>,
    /// A typical length in every dimension, for the fit.
    pub scales: Vec<f64>,
}

impl Sample {
    /// Some of its rows.
    pub fn select(&self, rows: &[usize]) -> Sample {
        Sample {
            x: self.x.select(rows),
            f: rows.iter().map(|&i| self.f[i]).collect(),
            scales: self.scales.clone(),
        }
    }

    /// A random part for training and the rest for testing.
    pub fn split(&self, train: f64, rng: &mut Rng) -> (Sample, Sample) {
        let mut rows: Vec<usize> = (0..self.f.len()).collect();
        rng.shuffle(&mut rows);
        let count = (train * rows.len() as f64).round() as usize;
        (self.select(&rows[..count]), self.select(&rows[count..]))
    }
}

/// How inputs enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// The logarithm of those that span orders of magnitude.
    Log,
    /// As they are.
    Raw,
}

impl Grid {
    /// Where its file is, or where to fetch it from.
    pub fn path(&self, context: &Context<'_>) -> Result<PathBuf> {
        context.source(&HPOLIB, self.file)
    }

    /// Read it; inputs are mapped onto [0, 1].
    pub fn read(&self, context: &Context<'_>, scaling: Inputs) -> Result<Sample> {
        let path = self.path(context)?;
        let names: Vec<&str> = self
            .inputs
            .iter()
            .map(|(name, _)| *name)
            .chain([self.target])
            .collect();
        let rows = columns(&path, &names)?;
        let d = self.inputs.len();
        let mut x: Vec<Vec<f64>> = rows.iter().map(|row| row[..d].to_vec()).collect();
        for (j, (_, log)) in self.inputs.iter().enumerate() {
            if *log && scaling == Inputs::Log {
                x.iter_mut().for_each(|x| x[j] = x[j].ln());
            }
            let column = x.iter().map(|x| x[j]);
            let low = column.clone().fold(f64::INFINITY, f64::min);
            let high = column.fold(f64::NEG_INFINITY, f64::max);
            x.iter_mut()
                .for_each(|x| x[j] = (x[j] - low) / (high - low));
        }
        // Raw inputs over orders of magnitude crowd at one end: most lie within a tenth of the
        // range.
        let scale = |&(_, log): &(&str, bool)| {
            if log && scaling == Inputs::Raw {
                0.1
            } else {
                1.0
            }
        };
        Ok(Sample {
            x: Points::from_rows(&x)?,
            f: rows.iter().map(|row| row[d]).collect(),
            scales: self.inputs.iter().map(scale).collect(),
        })
    }
}

/// Named columns of a CSV file of numbers.
fn columns(path: &Path, names: &[&str]) -> Result<Vec<Vec<f64>>> {
    let bad = |reason: String| Error::spec(path.display().to_string(), reason);
    let mut reader = csv::Reader::from_path(path).map_err(|error| bad(error.to_string()))?;
    let header = reader
        .headers()
        .map_err(|error| bad(error.to_string()))?
        .clone();
    let find = |name: &&str| {
        let at = header.iter().position(|column| column == *name);
        at.ok_or_else(|| bad(format!("no column '{name}'")))
    };
    let at = names.iter().map(find).collect::<Result<Vec<usize>>>()?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad(error.to_string()))?;
        let cell = |&j: &usize| {
            record[j]
                .parse::<f64>()
                .map_err(|_| bad(format!("'{}' is not a number", &record[j])))
        };
        rows.push(at.iter().map(cell).collect::<Result<Vec<f64>>>()?);
    }
    Ok(rows)
}

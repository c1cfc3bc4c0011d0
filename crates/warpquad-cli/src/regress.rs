//! The constrained regression of the paper, from a CSV file.

use crate::args::{Regress, Space};
use crate::output::{self, number};
use serde_json::json;
use std::path::Path;
use warpquad::belief::MeanFunction;
use warpquad::fit::{self, Fit, fit_detailed};
use warpquad::warp::Affine;
use warpquad::{Belief, Data, Error, Points, Process, Result, Theta, Value, Warped, kernel};

/// A CSV file's columns by name.
struct Frame {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

pub fn regress(args: &Regress) -> Result<()> {
    let frame = Frame::read(&args.train)?;
    let target = frame.column(&args.target, &args.train)?;
    let inputs: Vec<usize> = (0..frame.header.len()).filter(|&j| j != target).collect();
    let names: Vec<&str> = inputs.iter().map(|&j| frame.header[j].as_str()).collect();
    let points = frame.points(&inputs)?;
    let values = frame
        .rows
        .iter()
        .map(|row| Value::Linear(row[target]))
        .collect();
    let data = Data::new(points, values)?;
    let (lo, hi) = range(&args.range)?;
    let onto = Affine::onto(lo, hi)?;
    let warp = data.warp(onto)?;
    let theta = Theta::constant(0.0, 1.0, vec![1.0; inputs.len()])?;
    let process = Process::shared(kernel::by_name(&args.kernel)?, theta);
    let how = Fit {
        space: match args.fit {
            Space::F => fit::Space::F,
            Space::G => fit::Space::G,
        },
        ..Fit::default()
    };
    let fitted = fit_detailed(&process, &warp, &data, &how)?;
    let posterior = fitted.process.condition(data.points(), &data.g(&warp)?)?;
    let belief = Warped::new(&warp, &posterior);
    let predictions = match &args.predict {
        None => None,
        Some(path) => Some(predict(path, &names, &belief)?),
    };
    let theta = posterior.process().theta();
    let MeanFunction::Constant(mean) = theta.mean else {
        return Err(Error::spec("mean", "regression has a constant mean"));
    };
    if args.json {
        output::json(&json!({
            "observations": data.len(), "inputs": names, "target": args.target,
            "log_likelihood": fitted.ln_likelihood,
            "hyperparameters": {"mean": mean, "output_scale": theta.output_scale, "length_scales": theta.length_scales},
            "predictions": predictions.as_ref().map(|p| p.iter().map(|(m, s)| json!({"mean": m, "sd": s})).collect::<Vec<_>>()),
            "version": env!("CARGO_PKG_VERSION"),
        }));
        return Ok(());
    }
    if let Some(predictions) = predictions {
        output::line(&format!("{0}_mean,{0}_sd", args.target));
        for (mean, sd) in predictions {
            output::line(&format!("{mean},{sd}"));
        }
        return Ok(());
    }
    let lengths = names.iter().zip(&theta.length_scales);
    let lengths: Vec<String> = lengths
        .map(|(n, l)| format!("{n} {}", number(*l)))
        .collect();
    output::rows(&[
        ("observations".into(), data.len().to_string()),
        ("log likelihood".into(), number(fitted.ln_likelihood)),
        ("mean of g".into(), number(mean)),
        ("output scale".into(), number(theta.output_scale)),
        ("length scales".into(), lengths.join(", ")),
    ]);
    Ok(())
}

fn predict(path: &Path, names: &[&str], belief: &dyn Belief) -> Result<Vec<(f64, f64)>> {
    let frame = Frame::read(path)?;
    let columns = names
        .iter()
        .map(|name| frame.column(name, path))
        .collect::<Result<Vec<_>>>()?;
    let moments = belief.moments(&frame.points(&columns)?)?;
    let sds = moments.vars().into_iter().map(f64::sqrt);
    Ok(moments.means().into_iter().zip(sds).collect())
}

fn range(text: &str) -> Result<(f64, f64)> {
    let ends: std::result::Result<Vec<f64>, _> =
        text.split(',').map(|end| end.trim().parse()).collect();
    match ends.as_deref() {
        Ok(&[lo, hi]) => Ok((lo, hi)),
        _ => Err(Error::spec(
            "range",
            format!("expected LO,HI, got '{text}'"),
        )),
    }
}

impl Frame {
    fn read(path: &Path) -> Result<Frame> {
        let text = output::read(path)?;
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let bad = |reason: String| Error::spec(path.display().to_string(), reason);
        let header = reader.headers().map_err(|e| bad(e.to_string()))?;
        let header: Vec<String> = header.iter().map(str::to_string).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| bad(e.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            let cells = record.iter().zip(&header).map(|(cell, name)| {
                let number = cell.parse::<f64>();
                number.map_err(|_| {
                    bad(format!(
                        "line {line}, column {name}: '{cell}' is not a number"
                    ))
                })
            });
            rows.push(cells.collect::<Result<Vec<f64>>>()?);
        }
        Ok(Frame { header, rows })
    }

    fn column(&self, name: &str, path: &Path) -> Result<usize> {
        self.header.iter().position(|h| h == name).ok_or_else(|| {
            let reason = format!("no column '{name}'; there are {}", self.header.join(", "));
            Error::spec(path.display().to_string(), reason)
        })
    }

    fn points(&self, columns: &[usize]) -> Result<Points> {
        let mut points = Points::empty(columns.len())?;
        for row in &self.rows {
            let x: Vec<f64> = columns.iter().map(|&j| row[j]).collect();
            points.push(&x)?;
        }
        Ok(points)
    }
}

//! Constrained regression, from a CSV file.

mod show;

use crate::args::{self, Regress, Space};
use crate::columns::Frame;
use crate::output;
use show::{Shown, left_out};
use std::path::Path;
use warpquad::fit::{self, Fit};
use warpquad::regression::{Noise, NoiseOn, Regressed, Regression, on_an_end};
use warpquad::warp::{Affine, Range, Warp};
use warpquad::{Error, Process, Result, Theta, kernel};

/// What is said of f at one row of another file.
struct Prediction {
    inputs: Vec<f64>,
    mean: f64,
    sd: f64,
    interval: [f64; 2],
    /// The same of an observation, with the noise of one.
    observed: Option<(f64, [f64; 2])>,
}

pub fn regress(args: &Regress) -> Result<()> {
    let frame = Frame::read(&args.train)?;
    let target = frame.column(&args.target)?;
    let sds = args.sd_column.as_ref().map(|name| frame.column(name));
    let sds = sds.transpose()?;
    let mut inputs: Vec<usize> = (0..frame.header.len()).collect();
    inputs.retain(|&j| j != target && Some(j) != sds);
    let names: Vec<&str> = inputs.iter().map(|&j| frame.header[j].as_str()).collect();
    let points = frame.points(&inputs)?;
    let (lo, hi) = range(&args.range)?;
    let warp = Affine::onto(lo, hi)?;
    let y: Vec<f64> = frame.rows.iter().map(|row| row[target]).collect();
    check_values(&frame, target, &warp, &y)?;
    check_level(args.level)?;
    let (noise, on) = noise(args, &frame, sds, &warp, &y)?;
    if noise == Noise::Exact {
        check_repeats(&frame, &inputs, target)?;
    }
    let theta = Theta::constant(0.0, 1.0, vec![1.0; inputs.len()])?;
    let process = Process::shared(kernel::by_name(&args.kernel)?, theta);
    let how = Fit {
        space: match args.fit {
            Space::F => fit::Space::F,
            Space::G => fit::Space::G,
            Space::FLoo => fit::Space::FLeftOut,
        },
        ..Fit::default()
    };
    let regression = Regression::new(process, warp).with_noise(noise.clone());
    let learnt = regression
        .with_noise_on(on)
        .with_fit(how)
        .fit(&points, &y)?;
    let predictions = match &args.predict {
        None => None,
        Some(path) => Some(predict(path, args, &names, &learnt)?),
    };
    let scores = learnt.left_out();
    warn_of_one_value(&args.target, &y);
    let shown = Shown {
        target: &args.target,
        names: &names,
        noise: &noise,
        learnt: &learnt,
        scores: &scores,
        level: args.level,
    };
    match predictions {
        predictions if args.json => output::json(&shown.object(predictions.as_deref())?),
        Some(predictions) => {
            eprintln!("warpquad: left out: {}", left_out(&scores));
            shown.print_table(&predictions);
        }
        None => shown.print_summary()?,
    }
    Ok(())
}

/// What is known of the noise, and what it is on.
fn noise(
    args: &Regress,
    frame: &Frame,
    sds: Option<usize>,
    warp: &Affine,
    y: &[f64],
) -> Result<(Noise, NoiseOn)> {
    let on = match args.noise_on {
        Some(args::NoiseOn::Y) => NoiseOn::F,
        Some(args::NoiseOn::G) => NoiseOn::G,
        None => NoiseOn::usual(warp),
    };
    let known = if let Some(column) = sds {
        Noise::Each(variances(frame, column)?)
    } else if args.fit_noise {
        Noise::Fitted
    } else {
        match args.noise {
            Some(v) if v > 0.0 => Noise::Same(v),
            Some(v) if v != 0.0 => {
                let reason = format!("must not be negative, got {v}");
                return Err(Error::spec("--noise", reason));
            }
            _ => Noise::Exact,
        }
    };
    let Some(row) = on_an_end(warp, y) else {
        return Ok((known, on));
    };
    let place = format!("{}, an end of the range {}", frame.place(row), warp.range());
    if known == Noise::Exact {
        eprintln!(
            "warpquad: {place}, which an exact value never reaches: the noise is fitted; \
             --fit-noise says so at once"
        );
        return Ok((Noise::Fitted, NoiseOn::F));
    }
    if on == NoiseOn::G && args.noise_on.is_none() && known != Noise::Fitted {
        let reason = format!("{place}: say --noise-on y, and give the noise of the target itself");
        return Err(Error::spec("--noise-on", reason));
    }
    let on = if args.noise_on.is_none() {
        NoiseOn::F
    } else {
        on
    };
    Ok((known, on))
}

/// The squares of a column of standard deviations.
fn variances(frame: &Frame, column: usize) -> Result<Vec<f64>> {
    let square = |(i, row): (usize, &Vec<f64>)| {
        let sd = row[column];
        if sd > 0.0 {
            return Ok(sd * sd);
        }
        let reason = format!("a standard deviation is positive, got {sd}");
        Err(frame.at(i, column, &reason))
    };
    frame.rows.iter().enumerate().map(square).collect()
}

fn check_values(frame: &Frame, target: usize, warp: &Affine, y: &[f64]) -> Result<()> {
    let Range { lo, hi } = warp.range();
    match y.iter().position(|y| !(lo..=hi).contains(y)) {
        None => Ok(()),
        Some(row) => {
            let reason = format!(
                "{} is outside the range {}; correct it, or state the range that it really has",
                y[row],
                warp.range()
            );
            Err(frame.at(row, target, &reason))
        }
    }
}

/// No function passes through two values at one point.
fn check_repeats(frame: &Frame, inputs: &[usize], target: usize) -> Result<()> {
    let key = |row: &[f64]| inputs.iter().map(|&j| (row[j] + 0.0).to_bits()).collect();
    let mut first = std::collections::HashMap::<Vec<u64>, usize>::new();
    for (i, row) in frame.rows.iter().enumerate() {
        let j = *first.entry(key(row)).or_insert(i);
        if row[target] != frame.rows[j][target] {
            let reason = format!(
                "the inputs are those of line {}, where it is {} instead of {}: average them, or \
                 say --fit-noise",
                frame.lines[j], frame.rows[j][target], row[target]
            );
            return Err(frame.at(i, target, &reason));
        }
    }
    Ok(())
}

/// What never varied gives a sure prediction everywhere, whatever it is worth.
fn warn_of_one_value(target: &str, y: &[f64]) {
    let first = y.first().copied().unwrap_or(f64::NAN);
    if y.iter().all(|y| *y == first) {
        eprintln!(
            "warpquad: {target} is {first} in each of {}: nothing is known of how it varies, and \
             predictions are far too sure",
            warpquad::session::count(y.len(), "row")
        );
    }
}

fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let reason = format!("is between 0 and 1, got {level}");
    Err(Error::spec("--level", reason))
}

fn predict(
    path: &Path,
    args: &Regress,
    names: &[&str],
    learnt: &Regressed,
) -> Result<Vec<Prediction>> {
    let frame = Frame::read(path)?;
    let columns = names.iter().map(|name| frame.column(name));
    let points = frame.points(&columns.collect::<Result<Vec<_>>>()?)?;
    let noise = noise_of_rows(&frame, args.sd_column.as_deref(), learnt)?;
    let marginals = learnt.marginals(&points)?;
    let moments = learnt.moments(&points)?;
    let ends = [0.5 - 0.5 * args.level, 0.5 + 0.5 * args.level];
    let rows = points.iter().zip(marginals).zip(moments).zip(noise);
    let of = |(((x, at), (mean, sd)), noise): (((&[f64], _), _), Option<f64>)| {
        let law = learnt.law(at, 0.0);
        let observed = noise.map(|v| {
            let law = learnt.law(at, v);
            (law.moments().1, ends.map(|p| law.quantile(p)))
        });
        Prediction {
            inputs: x.to_vec(),
            mean,
            sd,
            interval: ends.map(|p| law.quantile(p)),
            observed,
        }
    };
    Ok(rows.map(of).collect())
}

/// The variance of the noise of a new value in each row: its own where the file says so, and
/// otherwise that of the data, if all share one.
fn noise_of_rows(
    frame: &Frame,
    sd_column: Option<&str>,
    learnt: &Regressed,
) -> Result<Vec<Option<f64>>> {
    match sd_column.filter(|name| frame.header.iter().any(|h| h == name)) {
        Some(name) => {
            let own = variances(frame, frame.column(name)?)?;
            Ok(own.into_iter().map(Some).collect())
        }
        None => {
            let shared = learnt.noise_of_new().filter(|v| *v > 0.0);
            Ok(vec![shared; frame.rows.len()])
        }
    }
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

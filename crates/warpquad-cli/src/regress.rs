//! Constrained regression, from a CSV file.

use crate::args::{self, Regress, Space};
use crate::columns::Frame;
use crate::output::{self, number};
use serde_json::{Value as Json, json};
use std::path::Path;
use warpquad::belief::MeanFunction;
use warpquad::fit::{self, Fit};
use warpquad::regression::{Noise, NoiseOn, Regressed, Regression, Scores, on_an_end};
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
        Some(path) => Some(predict(path, &names, &learnt, args.level)?),
    };
    let scores = learnt.left_out();
    if args.json {
        let object = object(
            args,
            &names,
            &noise,
            &learnt,
            &scores,
            predictions.as_deref(),
        )?;
        output::json(&object);
        return Ok(());
    }
    match predictions {
        Some(predictions) => print_table(&args.target, &names, &predictions),
        None => print_summary(&names, &noise, &learnt, &scores)?,
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
        let mut variances = Vec::with_capacity(frame.rows.len());
        for (i, row) in frame.rows.iter().enumerate() {
            if row[column] <= 0.0 {
                let reason = format!("a standard deviation is positive, got {}", row[column]);
                return Err(frame.at(i, column, &reason));
            }
            variances.push(row[column] * row[column]);
        }
        Noise::Each(variances)
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

fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let reason = format!("is between 0 and 1, got {level}");
    Err(Error::spec("--level", reason))
}

fn predict(path: &Path, names: &[&str], learnt: &Regressed, level: f64) -> Result<Vec<Prediction>> {
    let frame = Frame::read(path)?;
    let columns = names.iter().map(|name| frame.column(name));
    let points = frame.points(&columns.collect::<Result<Vec<_>>>()?)?;
    let marginals = learnt.marginals(&points)?;
    let moments = learnt.moments(&points)?;
    let ends = [0.5 - 0.5 * level, 0.5 + 0.5 * level];
    let rows = points.iter().zip(marginals).zip(moments);
    let of = |((x, at), (mean, sd)): ((&[f64], _), _)| {
        let law = learnt.law(at, 0.0);
        let observed = learnt.noise_of_new().filter(|v| *v > 0.0).map(|v| {
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

fn mean(theta: &Theta) -> Result<f64> {
    match theta.mean {
        MeanFunction::Constant(mean) => Ok(mean),
        MeanFunction::Quadratic { .. } => {
            Err(Error::spec("mean", "regression has a constant mean"))
        }
    }
}

fn words(on: NoiseOn) -> &'static str {
    match on {
        NoiseOn::F => "y",
        NoiseOn::G => "g",
    }
}

fn object(
    args: &Regress,
    names: &[&str],
    noise: &Noise,
    learnt: &Regressed,
    scores: &Scores,
    predictions: Option<&[Prediction]>,
) -> Result<Json> {
    let theta = learnt.posterior.process().theta();
    let prediction = |p: &Prediction| {
        let inputs = names.iter().zip(&p.inputs);
        let inputs: serde_json::Map<String, Json> = inputs
            .map(|(name, x)| (name.to_string(), json!(x)))
            .collect();
        let mut out = json!({
            "inputs": inputs, "mean": p.mean, "sd": p.sd, "interval": p.interval,
        });
        if let Some((sd, interval)) = p.observed {
            out["observed"] = json!({"sd": sd, "interval": interval});
        }
        out
    };
    Ok(json!({
        "observations": learnt.values.len(), "inputs": names, "target": args.target,
        "log_likelihood": learnt.ln_likelihood,
        "hyperparameters": {
            "mean": mean(theta)?, "output_scale": theta.output_scale,
            "length_scales": theta.length_scales,
        },
        "noise": {
            "variance": learnt.noise_of_new(), "fitted": *noise == Noise::Fitted,
            "on": words(learnt.on),
        },
        "left_out": {
            "mean_log_density": scores.mean_ln_density, "rms_error": scores.rms_error,
            "coverage_95": scores.coverage,
        },
        "level": args.level,
        "predictions": predictions.map(|all| all.iter().map(prediction).collect::<Vec<_>>()),
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

fn print_table(target: &str, names: &[&str], predictions: &[Prediction]) {
    let with_noise = predictions.iter().any(|p| p.observed.is_some());
    let mut header: Vec<String> = names
        .iter()
        .map(|name| crate::columns::cell(name))
        .collect();
    for column in ["mean", "sd", "lo", "hi"] {
        header.push(crate::columns::cell(&format!("{target}_{column}")));
    }
    if with_noise {
        for column in ["sd", "lo", "hi"] {
            header.push(crate::columns::cell(&format!("{target}_observed_{column}")));
        }
    }
    output::line(&header.join(","));
    for p in predictions {
        let mut cells = p.inputs.clone();
        cells.extend([p.mean, p.sd, p.interval[0], p.interval[1]]);
        if let Some((sd, [lo, hi])) = p.observed {
            cells.extend([sd, lo, hi]);
        }
        let cells: Vec<String> = cells.iter().map(f64::to_string).collect();
        output::line(&cells.join(","));
    }
}

fn print_summary(names: &[&str], noise: &Noise, learnt: &Regressed, scores: &Scores) -> Result<()> {
    let theta = learnt.posterior.process().theta();
    let lengths = names.iter().zip(&theta.length_scales);
    let lengths: Vec<String> = lengths
        .map(|(n, l)| format!("{n} {}", number(*l)))
        .collect();
    let on = words(learnt.on);
    let noise = match (noise, learnt.noise_of_new()) {
        (Noise::Exact, _) => "none".into(),
        (_, None) => format!("of each row, on {on}"),
        (Noise::Fitted, Some(v)) => format!("variance {} on {on}, fitted", number(v)),
        (_, Some(v)) => format!("variance {} on {on}", number(v)),
    };
    output::rows(&[
        ("observations".into(), learnt.values.len().to_string()),
        ("log likelihood".into(), number(learnt.ln_likelihood)),
        ("mean of g".into(), number(mean(theta)?)),
        ("output scale".into(), number(theta.output_scale)),
        ("length scales".into(), lengths.join(", ")),
        ("noise".into(), noise),
        (
            "left out".into(),
            format!(
                "mean log density {}, rms error {}, 95 % intervals cover {:.0} %",
                number(scores.mean_ln_density),
                number(scores.rms_error),
                100.0 * scores.coverage
            ),
        ),
    ]);
    Ok(())
}

//! Print what a regression learnt: one JSON object, a table of predictions, or a summary.

use super::Prediction;
use crate::columns::cell;
use crate::output::{self, number};
use serde_json::{Map, Value as Json, json};
use warpquad::belief::MeanFunction;
use warpquad::regression::{Noise, NoiseOn, Regressed, Scores};
use warpquad::{Error, Result, Theta};

/// What was learnt, in the words of the caller.
pub(super) struct Shown<'a> {
    pub target: &'a str,
    pub names: &'a [&'a str],
    pub noise: &'a Noise,
    pub learnt: &'a Regressed,
    pub scores: &'a Scores,
    pub level: f64,
}

impl Shown<'_> {
    /// The object that `--json` prints.
    pub fn object(&self, predictions: Option<&[Prediction]>) -> Result<Json> {
        let Shown { learnt, scores, .. } = self;
        let theta = learnt.posterior.process().theta();
        let prediction = |p: &Prediction| {
            let inputs = self.names.iter().zip(&p.inputs);
            let inputs: Map<String, Json> = inputs
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
            "observations": learnt.values.len(), "inputs": self.names, "target": self.target,
            "log_likelihood": learnt.ln_likelihood,
            "hyperparameters": {
                "mean": mean(theta)?, "output_scale": theta.output_scale,
                "length_scales": theta.length_scales,
            },
            "noise": {
                "variance": learnt.noise_of_new(), "fitted": *self.noise == Noise::Fitted,
                "on": words(learnt.on),
            },
            "left_out": {
                "mean_log_density": scores.mean_ln_density, "rms_error": scores.rms_error,
                "coverage_95": scores.coverage,
            },
            "level": self.level,
            "predictions": predictions.map(|all| all.iter().map(prediction).collect::<Vec<_>>()),
            "version": env!("CARGO_PKG_VERSION"),
        }))
    }

    /// The table of predictions, as CSV.
    pub fn print_table(&self, predictions: &[Prediction]) {
        let with_noise = predictions.iter().any(|p| p.observed.is_some());
        let mut header: Vec<String> = self.names.iter().map(|name| cell(name)).collect();
        for column in ["mean", "sd", "lo", "hi"] {
            header.push(cell(&format!("{}_{column}", self.target)));
        }
        if with_noise {
            for column in ["sd", "lo", "hi"] {
                header.push(cell(&format!("{}_observed_{column}", self.target)));
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

    /// A summary of the fit.
    pub fn print_summary(&self) -> Result<()> {
        let learnt = self.learnt;
        let theta = learnt.posterior.process().theta();
        let lengths = self.names.iter().zip(&theta.length_scales);
        let lengths: Vec<String> = lengths
            .map(|(n, l)| format!("{n} {}", number(*l)))
            .collect();
        output::rows(&[
            ("observations".into(), learnt.values.len().to_string()),
            ("log likelihood".into(), number(learnt.ln_likelihood)),
            ("mean of g".into(), number(mean(theta)?)),
            ("output scale".into(), number(theta.output_scale)),
            ("length scales".into(), lengths.join(", ")),
            ("noise".into(), self.noise_in_words()),
            ("left out".into(), left_out(self.scores)),
        ]);
        Ok(())
    }

    fn noise_in_words(&self) -> String {
        let on = words(self.learnt.on);
        match (self.noise, self.learnt.noise_of_new()) {
            (Noise::Exact, _) => "none".into(),
            (_, None) => format!("of each row, on {on}"),
            (Noise::Fitted, Some(v)) => format!("variance {} on {on}, fitted", number(v)),
            (_, Some(v)) => format!("variance {} on {on}", number(v)),
        }
    }
}

/// What left-out values say, in a line.
pub(super) fn left_out(scores: &Scores) -> String {
    format!(
        "mean log density {}, rms error {}, 95 % intervals cover {:.0} %",
        number(scores.mean_ln_density),
        number(scores.rms_error),
        100.0 * scores.coverage
    )
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

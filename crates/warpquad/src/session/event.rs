//! Say what can happen in a run, and write it as JSON that a person can read.

use super::derived::Derived;
use super::initial::Initial;
use crate::belief::{Axes, Effects, MeanFunction, Theta};
use crate::data::Value;
use crate::engine::{Image, Peak};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// The version of the journal's format.
pub const VERSION: u64 = 2;

/// Of a point drawn for the audit: ln of pi/q, and the draws before it that fell outside the prior.
pub type AuditDraw = (f64, usize);

/// One line of a journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The first line: what the run is about.
    Start {
        /// The program's version.
        program: String,
        /// What must agree on resuming: integrand, range, parameters and priors.
        problem: Json,
        /// The problem file's text, so that a run is complete in itself.
        text: String,
        /// The seed.
        seed: u64,
        /// The parts of the method by name.
        method: Json,
    },
    /// A point was asked for.
    Ask {
        /// Its number.
        id: u64,
        /// Where.
        x: Vec<f64>,
        /// How it was drawn, if it was for the audit.
        audit: Option<AuditDraw>,
    },
    /// A value came back.
    Tell {
        /// Whose.
        id: u64,
        /// f or ln f.
        value: Value,
        /// Numbers that the integrand derived beside it.
        derived: Derived,
        /// What the evaluation took.
        seconds: f64,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
    },
    /// What was known before was offered: what became of it.
    Initial(Initial),
    /// A value came that was not asked for.
    Given {
        /// Its number.
        id: u64,
        /// Where.
        x: Vec<f64>,
        /// f or ln f.
        value: Value,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
    },
    /// An evaluation failed.
    Fail {
        /// Whose.
        id: u64,
        /// What the integrand said.
        reason: String,
        /// What the evaluation took.
        seconds: f64,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
        /// Whether the point is given up; otherwise it is tried again.
        last: bool,
    },
    /// The hyperparameters were fitted to the first n values.
    Fit {
        /// How many values.
        n: usize,
        /// Whether from all starting points.
        full: bool,
        /// The hyperparameters.
        theta: Theta,
        /// Where the warp saturates, if that was chosen by the data.
        tau: Option<f64>,
    },
    /// The integral is carried by another measure from now on.
    Frame {
        /// How many values it rests on.
        n: usize,
        /// The peak that it follows.
        peak: Peak,
    },
    /// The run stopped.
    Stop {
        /// Why.
        reason: String,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
        /// Seconds of them spent writing the journal.
        in_journal: f64,
    },
}

impl Event {
    /// One line of JSON, without the line end.
    pub fn to_json(&self) -> String {
        let json = match self {
            Event::Start {
                program,
                problem,
                text,
                seed,
                method,
            } => json!({
                "event": "start", "journal": VERSION, "program": program, "seed": seed,
                "problem": problem, "method": method, "text": text,
            }),
            Event::Ask { id, x, audit } => {
                let mut json = json!({"event": "ask", "id": id, "x": x});
                if let Some((ln_ratio, misses)) = audit {
                    json["audit"] = json!(ln_ratio);
                    json["misses"] = json!(misses);
                }
                json
            }
            Event::Tell {
                id,
                value,
                derived,
                seconds,
                at,
            } => {
                let (key, number) = value_json(*value);
                let mut json =
                    json!({"event": "tell", "id": id, key: number, "seconds": seconds, "at": at});
                if !derived.is_empty() {
                    let pairs = derived.iter().map(|(name, x)| json!([name, x]));
                    json["derived"] = pairs.collect();
                }
                json
            }
            Event::Initial(initial) => {
                let mut json = initial.to_json();
                json["event"] = json!("initial");
                json["first"] = json!(initial.first);
                json
            }
            Event::Given { id, x, value, at } => {
                let (key, number) = value_json(*value);
                json!({"event": "given", "id": id, "x": x, key: number, "at": at})
            }
            Event::Fail {
                id,
                reason,
                seconds,
                at,
                last,
            } => json!({
                "event": "fail", "id": id, "reason": reason, "seconds": seconds, "at": at,
                "last": last,
            }),
            Event::Fit {
                n,
                full,
                theta,
                tau,
            } => {
                let theta = theta_json(theta);
                json!({"event": "fit", "n": n, "full": full, "theta": theta, "tau": tau})
            }
            Event::Frame { n, peak } => {
                let images: Vec<&[i64]> = peak.images().iter().map(Image::entries).collect();
                json!({
                    "event": "frame", "n": n, "center": peak.center(), "factor": peak.factor(),
                    "images": images,
                })
            }
            Event::Stop {
                reason,
                at,
                in_journal,
            } => json!({"event": "stop", "reason": reason, "at": at, "in_journal": in_journal}),
        };
        json.to_string()
    }

    /// The event of a line, or what is wrong with it.
    pub fn from_json(line: &str) -> Result<Event, String> {
        let json: Json = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let object = json.as_object().ok_or("an event is a JSON object")?;
        let fields = Fields(object);
        match fields.text("event")?.as_str() {
            "start" => {
                let version = fields.integer("journal")?;
                let program = fields.text("program")?;
                if version != VERSION {
                    return Err(other_version(version, &program));
                }
                Ok(Event::Start {
                    program,
                    problem: fields.any("problem")?.clone(),
                    text: fields.text("text")?,
                    seed: fields.integer("seed")?,
                    method: fields.any("method")?.clone(),
                })
            }
            "ask" => Ok(Event::Ask {
                id: fields.integer("id")?,
                x: numbers(fields.any("x")?)?,
                audit: match object.get("audit") {
                    Some(ln_ratio) => Some((number(ln_ratio)?, fields.integer("misses")? as usize)),
                    None => None,
                },
            }),
            "tell" => Ok(Event::Tell {
                id: fields.integer("id")?,
                value: fields.value()?,
                derived: match object.get("derived") {
                    Some(pairs) => derived(pairs)?,
                    None => Vec::new(),
                },
                seconds: number(fields.any("seconds")?)?,
                at: number(fields.any("at")?)?,
            }),
            "initial" => {
                let count = |name: &str| fields.integer(name).map(|n| n as usize);
                Ok(Event::Initial(Initial {
                    source: fields.text("source")?,
                    offered: count("offered")?,
                    taken: count("taken")?,
                    outside: count("outside")?,
                    repeated: count("repeated")?,
                    disputed: count("disputed")?,
                    thinned: count("thinned")?,
                    first: rows(fields.any("first")?, "first")?,
                }))
            }
            "given" => Ok(Event::Given {
                id: fields.integer("id")?,
                x: numbers(fields.any("x")?)?,
                value: fields.value()?,
                at: number(fields.any("at")?)?,
            }),
            "fail" => Ok(Event::Fail {
                id: fields.integer("id")?,
                reason: fields.text("reason")?,
                seconds: number(fields.any("seconds")?)?,
                at: number(fields.any("at")?)?,
                last: fields.flag("last")?,
            }),
            "fit" => Ok(Event::Fit {
                n: fields.integer("n")? as usize,
                full: fields.flag("full")?,
                theta: theta(fields.any("theta")?)?,
                tau: object.get("tau").and_then(Json::as_f64),
            }),
            "frame" => {
                let factor = rows(fields.any("factor")?, "factor")?;
                let images: Result<Vec<Image>, String> = list(fields.any("images")?, "images")?
                    .iter()
                    .map(image)
                    .collect();
                let images = images?;
                let peak = Peak::new(numbers(fields.any("center")?)?, factor)
                    .and_then(|peak| peak.with_images(images));
                Ok(Event::Frame {
                    n: fields.integer("n")? as usize,
                    peak: peak.map_err(|error| error.to_string())?,
                })
            }
            "stop" => Ok(Event::Stop {
                reason: fields.text("reason")?,
                at: number(fields.any("at")?)?,
                in_journal: number(fields.any("in_journal")?)?,
            }),
            other => Err(format!("unknown event '{other}'")),
        }
    }
}

/// Say who reads a journal of another version: the program that wrote it.
pub(super) fn other_version(version: u64, program: &str) -> String {
    format!(
        "journal version {version}; this program reads {VERSION}. The run was written by warpquad \
         {program}: go on with that program, or start a new run"
    )
}

/// Fields of an object, with errors that name them.
struct Fields<'a>(&'a Map<String, Json>);

impl Fields<'_> {
    fn any(&self, name: &str) -> Result<&Json, String> {
        self.0.get(name).ok_or_else(|| format!("no field '{name}'"))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let text = self.any(name)?.as_str();
        text.map(str::to_string)
            .ok_or_else(|| format!("'{name}' is not a string"))
    }

    fn integer(&self, name: &str) -> Result<u64, String> {
        self.any(name)?
            .as_u64()
            .ok_or_else(|| format!("'{name}' is not a whole number"))
    }

    /// f or ln f.
    fn value(&self) -> Result<Value, String> {
        match self.0.get("f") {
            Some(f) => Ok(Value::Linear(number(f)?)),
            None => Ok(Value::Log(number(self.any("log_f")?)?)),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        self.any(name)?
            .as_bool()
            .ok_or_else(|| format!("'{name}' is not true or false"))
    }
}

/// JSON has no infinity: -inf is written as text.
fn value_json(value: Value) -> (&'static str, Json) {
    let write = |x: f64| {
        if x.is_finite() {
            json!(x)
        } else {
            json!(x.to_string())
        }
    };
    match value {
        Value::Linear(f) => ("f", write(f)),
        Value::Log(ln_f) => ("log_f", write(ln_f)),
    }
}

fn number(json: &Json) -> Result<f64, String> {
    let parsed = match json {
        Json::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    parsed.ok_or_else(|| format!("{json} is not a number"))
}

fn numbers(json: &Json) -> Result<Vec<f64>, String> {
    let array = json
        .as_array()
        .ok_or_else(|| format!("{json} is not a list"))?;
    array.iter().map(number).collect()
}

/// Names and numbers, in order.
fn derived(json: &Json) -> Result<Derived, String> {
    let pair = |json: &Json| {
        let name = json.get(0).and_then(Json::as_str);
        let name = name.ok_or_else(|| format!("{json} is not a name and a number"))?;
        let number = number(json.get(1).unwrap_or(&Json::Null))?;
        Ok((name.to_string(), number))
    };
    list(json, "derived")?.iter().map(pair).collect()
}

/// The hyperparameters as users see them, in reports too.
pub fn theta_json(theta: &Theta) -> Json {
    let mean = match &theta.mean {
        MeanFunction::Constant(mean) => json!(mean),
        MeanFunction::Quadratic {
            peak,
            center,
            width,
        } => json!({"peak": peak, "center": center, "width": width}),
    };
    let mut json = json!({
        "mean": mean, "output_scale": theta.output_scale,
        "length_scales": theta.length_scales, "noise": theta.noise,
    });
    if let Some(axes) = &theta.axes {
        json["axes"] = json!(axes.rows());
    }
    if let Some(Effects { share, stretch }) = theta.effects {
        json["effects"] = json!({"share": share, "stretch": stretch});
    }
    json
}

/// The entries of a list; an error calls it by `name`.
fn list<'a>(json: &'a Json, name: &str) -> Result<&'a Vec<Json>, String> {
    let entries = json.as_array();
    entries.ok_or_else(|| format!("{name} is not a list"))
}

/// The rows of a matrix; an error calls it by `name`.
fn rows(json: &Json, name: &str) -> Result<Vec<Vec<f64>>, String> {
    list(json, name)?.iter().map(numbers).collect()
}

/// An exchange of parameters.
fn image(json: &Json) -> Result<Image, String> {
    let entries = list(json, "an image")?.iter().map(Json::as_i64);
    let entries: Option<Vec<i64>> = entries.collect();
    let entries = entries.ok_or_else(|| format!("{json} is not a list of whole numbers"))?;
    Image::new(entries).map_err(|error| error.to_string())
}

fn axes(json: &Json) -> Result<Axes, String> {
    Axes::new(&rows(json, "axes")?).map_err(|error| error.to_string())
}

fn effects(json: &Json) -> Result<Effects, String> {
    let fields = Fields(json.as_object().ok_or("effects is not an object")?);
    let (share, stretch) = (fields.any("share")?, fields.any("stretch")?);
    Effects::new(number(share)?, number(stretch)?).map_err(|error| error.to_string())
}

fn theta(json: &Json) -> Result<Theta, String> {
    let object = json.as_object().ok_or("theta is not an object")?;
    let fields = Fields(object);
    let mean = match fields.any("mean")? {
        Json::Object(quadratic) => {
            let fields = Fields(quadratic);
            MeanFunction::Quadratic {
                peak: number(fields.any("peak")?)?,
                center: numbers(fields.any("center")?)?,
                width: numbers(fields.any("width")?)?,
            }
        }
        constant => MeanFunction::Constant(number(constant)?),
    };
    Ok(Theta {
        mean,
        output_scale: number(fields.any("output_scale")?)?,
        length_scales: numbers(fields.any("length_scales")?)?,
        noise: number(fields.any("noise")?)?,
        axes: match object.get("axes") {
            Some(rows) => Some(Arc::new(axes(rows)?)),
            None => None,
        },
        effects: object.get("effects").map(effects).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theta_comes_back_with_its_axes_and_effects() {
        let axes = Axes::new(&[vec![0.1, 1.0 / 3.0], vec![-2.0, 1e-9]]).unwrap();
        let turned = Theta {
            noise: 1e-6,
            axes: Some(Arc::new(axes)),
            effects: Some(Effects::new(1.0 / 3.0, 0.1).unwrap()),
            ..Theta::constant(-1.0, 2.0, vec![0.5, 3.0]).unwrap()
        };
        assert_eq!(theta(&theta_json(&turned)), Ok(turned));
    }

    #[test]
    fn a_frame_comes_back_bit_for_bit() {
        let peak = Peak::new(
            vec![1.0 / 3.0, -2e-7],
            vec![vec![0.1], vec![1.0 / 7.0, 3e-9]],
        );
        let swap = vec![Image::new(vec![2, -1]).unwrap()];
        let frame = Event::Frame {
            n: 31,
            peak: peak.unwrap().with_images(swap).unwrap(),
        };
        assert_eq!(Event::from_json(&frame.to_json()), Ok(frame));
        let wrong = r#"{"event": "frame", "n": 3, "center": [0], "factor": [[-1]], "images": []}"#;
        assert!(
            Event::from_json(wrong)
                .unwrap_err()
                .contains("positive diagonal")
        );
    }

    #[test]
    fn what_was_derived_comes_back_bit_for_bit() {
        let tell = Event::Tell {
            id: 3,
            value: Value::Log(-1.0),
            derived: vec![("z".into(), 1.0 / 3.0), ("mass".into(), 1e-300)],
            seconds: 0.5,
            at: 1.0,
        };
        assert_eq!(Event::from_json(&tell.to_json()), Ok(tell));
    }

    #[test]
    fn what_was_given_comes_back_bit_for_bit() {
        let given = Event::Given {
            id: 3,
            x: vec![1.0 / 3.0, -2e-7],
            value: Value::Log(f64::NEG_INFINITY),
            at: 0.5,
        };
        assert_eq!(Event::from_json(&given.to_json()), Ok(given));
        let initial = Event::Initial(Initial {
            source: "points.csv".into(),
            offered: 9,
            taken: 3,
            outside: 2,
            repeated: 1,
            disputed: 1,
            thinned: 0,
            first: vec![vec![0.1, 0.2], vec![0.3, 1.0 / 7.0]],
        });
        assert_eq!(Event::from_json(&initial.to_json()), Ok(initial));
    }

    #[test]
    fn axes_that_are_none_are_refused() {
        let plain = Theta::constant(-1.0, 2.0, vec![0.5, 3.0]).unwrap();
        let mut json = theta_json(&plain);
        json["axes"] = json!([[1.0, 0.0], [1.0]]);
        assert!(theta(&json).is_err());
    }

    #[test]
    fn effects_that_are_none_are_refused() {
        let plain = Theta::constant(-1.0, 2.0, vec![0.5, 3.0]).unwrap();
        for wrong in [
            json!(0.5),
            json!({"share": 0.5}),
            json!({"share": 2.0, "stretch": 1.0}),
        ] {
            let mut json = theta_json(&plain);
            json["effects"] = wrong;
            assert!(theta(&json).is_err());
        }
    }
}

//! Read an event from a line of JSON, with errors that name what is wrong.

use super::fields::{Fields, list, number, numbers, rows};
use super::theta::theta;
use super::{Event, VERSION, other_version};
use crate::engine::{Image, Peak, TakenFrame};
use crate::session::derived::Derived;
use crate::session::initial::Initial;
use serde_json::Value as Json;

impl Event {
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
                component: component(&fields)?,
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
                Ok(Event::Frame(TakenFrame {
                    n: fields.integer("n")? as usize,
                    component: component(&fields)?,
                    is_resumed: fields.0.contains_key("resumed") && fields.flag("resumed")?,
                    peak: peak.map_err(|error| error.to_string())?,
                }))
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

/// The number of the peak that a line is about; the first where there is none.
fn component(fields: &Fields<'_>) -> Result<usize, String> {
    match fields.0.contains_key("component") {
        true => Ok(fields.integer("component")? as usize),
        false => Ok(0),
    }
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

/// An exchange of parameters.
fn image(json: &Json) -> Result<Image, String> {
    let entries = list(json, "an image")?.iter().map(Json::as_i64);
    let entries: Option<Vec<i64>> = entries.collect();
    let entries = entries.ok_or_else(|| format!("{json} is not a list of whole numbers"))?;
    Image::new(entries).map_err(|error| error.to_string())
}

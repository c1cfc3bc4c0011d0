//! Write an event as a line of JSON.

use super::theta::theta_json;
use super::{Event, VERSION};
use crate::data::Value;
use crate::engine::{Image, TakenFrame};
use serde_json::{Value as Json, json};

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
                component,
                n,
                full,
                theta,
                tau,
            } => {
                let theta = theta_json(theta);
                let json =
                    json!({"event": "fit", "n": n, "full": full, "theta": theta, "tau": tau});
                of_component(json, *component)
            }
            Event::Frame(TakenFrame {
                n,
                component,
                is_resumed,
                peak,
            }) => {
                let images: Vec<&[i64]> = peak.images().iter().map(Image::entries).collect();
                let mut json = json!({
                    "event": "frame", "n": n, "center": peak.center(), "factor": peak.factor(),
                    "images": images,
                });
                if *is_resumed {
                    json["resumed"] = json!(true);
                }
                of_component(json, *component)
            }
            Event::Stop {
                reason,
                at,
                in_journal,
            } => json!({"event": "stop", "reason": reason, "at": at, "in_journal": in_journal}),
        };
        json.to_string()
    }
}

/// The same with the number of its peak, which is left out for the first.
fn of_component(mut json: Json, component: usize) -> Json {
    if component > 0 {
        json["component"] = json!(component);
    }
    json
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

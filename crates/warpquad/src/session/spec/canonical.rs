//! Write what two runs of one problem must share, always in the same words.

use super::{Integrand, PriorSpec, Problem};
use serde_json::{Map, Value, json};

impl Problem {
    /// What must agree on resume: the integrand, the range, the parameters in order and their prior, but neither the budget nor
    /// the method. Equal problems give equal text; names are in alphabetical order, and infinities are the strings "inf", "-inf".
    pub fn canonical(&self) -> Value {
        // The order is alphabetical in the code too: serde_json keeps one or the other, depending on another crate's features.
        json!({
            "integrand": integrand(&self.integrand),
            "names": self.names,
            "prior": prior(&self.prior),
            "range": [number(self.range.lo), number(self.range.hi)],
        })
    }
}

fn integrand(integrand: &Integrand) -> Value {
    match integrand {
        Integrand::Log(text) => json!({ "log": text.trim() }),
        Integrand::Value(text) => json!({ "value": text.trim() }),
        Integrand::Command { argv } => json!({ "command": argv }),
        Integrand::Driver { argv } => json!({ "driver": argv }),
        Integrand::UmBridge { url, model, config } => {
            json!({ "umbridge": { "config": config, "model": model, "url": url } })
        }
        Integrand::Table { path } => json!({ "table": path }),
        Integrand::External { by } => json!({ "external": by }),
    }
}

fn prior(prior: &PriorSpec) -> Value {
    match prior {
        PriorSpec::Product(laws) => {
            let law = |(name, values): &(String, Vec<f64>)| {
                Value::Object(Map::from_iter([(name.clone(), numbers(values))]))
            };
            json!({ "product": laws.iter().map(law).collect::<Vec<_>>() })
        }
        PriorSpec::Joint { mean, covariance } => {
            let rows: Vec<Value> = covariance.iter().map(|row| numbers(row)).collect();
            json!({ "joint": { "covariance": rows, "mean": numbers(mean) } })
        }
        PriorSpec::Draws(rows) => {
            json!({ "draws": rows.iter().map(|row| numbers(row)).collect::<Vec<_>>() })
        }
    }
}

fn numbers(values: &[f64]) -> Value {
    values.iter().map(|value| number(*value)).collect()
}

/// A number, or its name if JSON has none for it.
fn number(value: f64) -> Value {
    if value.is_finite() {
        // The sum makes -0 the same as 0.
        json!(value + 0.0)
    } else {
        json!(value.to_string())
    }
}

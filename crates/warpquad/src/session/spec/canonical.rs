//! Write what two runs of one problem must share, always in the same words.

use super::{Integrand, Law, PriorSpec, Problem};
use crate::session::options::{Kept, Setting, agreed};
use serde_json::{Map, Value, json};

impl Problem {
    /// What must agree on resume: the integrand, the parameters in order, their prior, and options
    /// such as the range, but neither the budget nor the method. Equal problems give equal text;
    /// names are in alphabetical order, and infinities are the strings "inf", "-inf".
    pub fn canonical(&self) -> Value {
        let mut fields = agreed(self, Kept::Problem);
        fields.insert("integrand".into(), integrand(&self.integrand));
        fields.insert("names".into(), json!(self.names));
        fields.insert("prior".into(), prior(&self.prior));
        if let Some(arguments) = self.arguments.to_json() {
            fields.insert("arguments".into(), arguments);
        }
        // serde_json keeps the order of insertion or sorts, depending on another crate's features.
        fields.sort_keys();
        Value::Object(fields)
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
            let law = |law: &Law| {
                let mut fields = Map::from_iter([(law.name.clone(), numbers(&law.numbers))]);
                if law.is_periodic {
                    fields.insert("periodic".into(), json!(true));
                }
                fields.sort_keys();
                Value::Object(fields)
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
    let number = |value: &f64| Setting::Number(*value).to_json();
    values.iter().map(number).collect()
}

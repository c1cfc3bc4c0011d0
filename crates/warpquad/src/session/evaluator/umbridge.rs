//! Evaluate by a UM-Bridge model server, over HTTP.

use super::server::{FIELD, Server, error_words};
use super::{Answer, Evaluator, Failure, Source, Task, excerpt, json};
use crate::data::Value;
use crate::error::{Error, Result};
use serde_json::{Value as Json, json};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a question about the model may take where the user gives no limit: behind a load
/// balancer even the sizes may wait for a node.
const ASK: Duration = Duration::from_secs(600);

/// A model of a UM-Bridge server; its first output is ln f, as of a posterior.
///
/// Each worker keeps one connection, so several workers have several requests in flight: what
/// UM-Bridge's load balancer on a cluster expects.
#[derive(Debug, Clone)]
pub struct UmBridge {
    url: String,
    model: String,
    dim: usize,
    timeout: Option<Duration>,
    config: Json,
    linear: bool,
    sizes: OnceLock<Vec<usize>>,
}

impl UmBridge {
    /// The model with `dim` parameters, at a URL such as `http://127.0.0.1:4242`.
    pub fn new(url: &str, model: &str, dim: usize) -> UmBridge {
        let url = url.trim().trim_end_matches('/');
        let scheme = if url.contains("://") { "" } else { "http://" };
        UmBridge {
            url: format!("{scheme}{url}"),
            model: model.into(),
            dim,
            timeout: None,
            config: json!({}),
            linear: false,
            sizes: OnceLock::new(),
        }
    }

    /// The time limit of every request; otherwise an evaluation has none.
    pub fn timeout(mut self, limit: Option<Duration>) -> UmBridge {
        self.timeout = limit;
        self
    }

    /// The server's output is f itself, not ln f.
    pub fn linear(mut self) -> UmBridge {
        self.linear = true;
        self
    }

    /// The model's own options, a JSON object sent with every request.
    pub fn config(mut self, object: &str) -> Result<UmBridge> {
        let config = serde_json::from_str(object).ok().filter(Json::is_object);
        let wrong = || Error::spec(FIELD, format!("config must be a JSON object, got {object}"));
        self.config = config.ok_or_else(wrong)?;
        Ok(self)
    }

    fn check_info(&self, server: &Server) -> Result<()> {
        let info = server.ask("Info", None)?;
        let version = info.get("protocolVersion").and_then(json::number);
        if !version.is_some_and(|version| (1.0..2.0).contains(&version)) {
            let got = info.get("protocolVersion").unwrap_or(&Json::Null);
            return Err(self.wrong(format!("speaks protocol version {got}, this is for 1.0")));
        }
        let models = info.get("models").and_then(Json::as_array);
        let names: Vec<&str> = models
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        if names.contains(&self.model.as_str()) {
            return Ok(());
        }
        let (model, names) = (&self.model, names.join("`, `"));
        Err(self.wrong(format!("has no model `{model}`; it has `{names}`")))
    }

    fn check_support(&self, server: &Server) -> Result<()> {
        let info = server.ask("ModelInfo", Some(&json!({"name": self.model})))?;
        if info.pointer("/support/Evaluate") == Some(&Json::Bool(true)) {
            return Ok(());
        }
        Err(self.wrong(format!("model `{}` does not support Evaluate", self.model)))
    }

    fn input_sizes(&self, server: &Server) -> Result<Vec<usize>> {
        let sizes = self.sizes_of(server, "InputSizes", "inputSizes")?;
        if sizes.iter().sum::<usize>() == self.dim {
            return Ok(sizes);
        }
        let (model, dim) = (&self.model, self.dim);
        let reason =
            format!("model `{model}` takes inputs of sizes {sizes:?} for {dim} parameters");
        Err(self.wrong(reason))
    }

    fn check_output(&self, server: &Server) -> Result<()> {
        let sizes = self.sizes_of(server, "OutputSizes", "outputSizes")?;
        if sizes.first().is_some_and(|&size| size > 0) {
            return Ok(());
        }
        let model = &self.model;
        let reason =
            format!("model `{model}` gives outputs of sizes {sizes:?}: the first is empty");
        Err(self.wrong(reason))
    }

    fn sizes_of(&self, server: &Server, path: &str, key: &str) -> Result<Vec<usize>> {
        let body = json!({"name": self.model, "config": self.config});
        let reply = server.ask(path, Some(&body))?;
        let sizes = reply.get(key).and_then(Json::as_array);
        let size = |json: &Json| json::id(json).map(|size| size as usize);
        let sizes = sizes.and_then(|sizes| sizes.iter().map(size).collect());
        let reply = excerpt(&reply.to_string(), 200);
        sizes.ok_or_else(|| self.wrong(format!("/{path} answered {reply}")))
    }

    fn wrong(&self, reason: String) -> Error {
        Error::spec(FIELD, format!("{}: {reason}", self.url))
    }
}

impl Source for UmBridge {
    fn check(&self) -> Result<()> {
        if !self.url.starts_with("http://") {
            return Err(self.wrong("the URL must begin with http://".into()));
        }
        let server = Server::new(&self.url, Some(self.timeout.unwrap_or(ASK)));
        self.check_info(&server)?;
        self.check_support(&server)?;
        let sizes = self.input_sizes(&server)?;
        self.check_output(&server)?;
        self.sizes.get_or_init(|| sizes);
        Ok(())
    }

    fn worker(&self, _index: usize) -> Result<Box<dyn Evaluator>> {
        if self.sizes.get().is_none() {
            self.check()?;
        }
        let source = self.clone();
        let server = Server::new(&source.url, source.timeout);
        Ok(Box::new(Worker { source, server }))
    }
}

struct Worker {
    source: UmBridge,
    server: Server,
}

impl Evaluator for Worker {
    fn evaluate(&mut self, task: &Task) -> Answer {
        let Some(input) = split(&task.x, self.source.sizes.get()) else {
            let (got, expected) = (task.x.len(), self.source.dim);
            let reason = format!("the point has {got} coordinates for {expected} parameters");
            return Failure::of_source(reason).into();
        };
        let source = &self.source;
        let body = json!({"name": source.model, "input": input, "config": source.config});
        match self.server.request("Evaluate", Some(&body)) {
            Ok(text) => output(&text, source.linear),
            Err(failure) => failure.into(),
        }
    }
}

/// The point as the vectors the model takes.
fn split<'a>(x: &'a [f64], sizes: Option<&Vec<usize>>) -> Option<Vec<&'a [f64]>> {
    let mut rest = x;
    let mut vectors = Vec::new();
    for &size in sizes? {
        let (vector, tail) = rest.split_at_checked(size)?;
        vectors.push(vector);
        rest = tail;
    }
    rest.is_empty().then_some(vectors)
}

/// The first number of `{"output": [[-2.5]]}`.
fn output(text: &str, linear: bool) -> Answer {
    let reply = json::parse(text);
    if let Some(error) = reply.as_ref().and_then(error_words) {
        return Failure::of_point(error).into();
    }
    let first = reply
        .as_ref()
        .and_then(|reply| reply.pointer("/output/0/0"));
    let Some(first) = first else {
        let got = excerpt(text, 200);
        let reason = format!("the server must answer {{\"output\": [[number]]}}, got `{got}`");
        return Failure::of_source(reason).into();
    };
    let make = if linear { Value::Linear } else { Value::Log };
    json::answer("the model's first output", first, make)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_split_by_the_models_sizes() {
        let x = [1.0, 2.0, 3.0];
        assert_eq!(split(&x, Some(&vec![3])), Some(vec![&x[..]]));
        assert_eq!(split(&x, Some(&vec![1, 2])), Some(vec![&x[..1], &x[1..]]));
        assert_eq!(split(&x, Some(&vec![2])), None);
        assert_eq!(split(&x, Some(&vec![4])), None);
    }

    #[test]
    fn outputs_are_read_as_servers_write_them() {
        let zero = Answer::Value(Value::Log(f64::NEG_INFINITY));
        assert_eq!(output("{\"output\": [[-inf]] }", false), zero);
        let value = Answer::Value(Value::Linear(2.5));
        assert_eq!(
            output("{\"output\": [[np.float64(2.5), 1], [2]] }", true),
            value
        );
        for (text, words, recoverable) in [
            ("{\"output\": [[nan]] }", "returned NaN", true),
            ("{\"output\":[[null]]}", "returned null", true),
            ("{\"output\":[[\"text\"]]}", "must be one number", false),
            ("{\"output\":[]}", "[[number]]", false),
            ("welcome", "got `welcome`", false),
            (
                "{\"error\":{\"type\":\"T\",\"message\":\"m\"}}",
                "T: m",
                true,
            ),
        ] {
            let Answer::Failure(failure) = output(text, false) else {
                panic!("{text} was taken");
            };
            assert!(failure.reason.contains(words), "{}", failure.reason);
            assert_eq!(failure.recoverable, recoverable, "{text}");
        }
    }

    #[test]
    fn urls_are_completed_and_others_refused() {
        assert_eq!(
            UmBridge::new("127.0.0.1:4242/", "m", 1).url,
            "http://127.0.0.1:4242"
        );
        let error = UmBridge::new("https://host", "m", 1).check().unwrap_err();
        assert!(error.to_string().contains("must begin with http://"));
        assert!(UmBridge::new("h", "m", 1).config("[]").is_err());
    }
}

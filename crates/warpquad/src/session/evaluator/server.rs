//! Ask a UM-Bridge server over HTTP, and keep its own words when it refuses.

use super::process::is_impatient;
use super::{Failure, excerpt, json};
use crate::error::{Error, Result};
use serde_json::Value as Json;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

pub(super) const FIELD: &str = "integrand.umbridge";

/// How much of a plain-text error is kept.
const TEXT: usize = 500;

/// How long a connection may take to open; an evaluation itself has no limit but the user's.
const CONNECT: Duration = Duration::from_secs(30);

/// How often a wait for the server looks whether the user wants to stop.
const LOOK_UP: Duration = Duration::from_millis(50);

/// One connection to the server, kept alive.
#[derive(Clone)]
pub(super) struct Server {
    url: String,
    timeout: Option<Duration>,
    agent: ureq::Agent,
}

impl Server {
    pub(super) fn new(url: &str, timeout: Option<Duration>) -> Server {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Another host was not named by the user: its numbers are not the model's.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(timeout)
            // Model servers run on this machine or beside it; a proxy is for the world outside.
            .proxy(None)
            .user_agent(concat!("warpquad/", env!("CARGO_PKG_VERSION")));
        Server {
            url: url.into(),
            timeout,
            agent: config.build().new_agent(),
        }
    }

    /// A question about the server, before anything is evaluated; given up when the user wants to
    /// stop.
    pub(super) fn ask(&self, path: &str, body: Option<&Json>) -> Result<Json> {
        let wrong = |reason: String| Error::spec(FIELD, format!("{}: {reason}", self.url));
        let (answers, inbox) = mpsc::channel();
        let (server, its_path, its_body) = (self.clone(), path.to_string(), body.cloned());
        thread::spawn(move || answers.send(server.request(&its_path, its_body.as_ref())));
        let answer = loop {
            match inbox.recv_timeout(LOOK_UP) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Timeout) if !is_impatient() => {}
                Err(_) => return Err(wrong(format!("/{path} had not answered when we stopped"))),
            }
        };
        let text = answer.map_err(|f| wrong(f.reason))?;
        let no_json = || {
            wrong(format!(
                "/{path} answered `{}`, not JSON",
                excerpt(&text, 200)
            ))
        };
        json::parse(&text).ok_or_else(no_json)
    }

    /// Post the body, or get if there is none; the text of a good reply.
    pub(super) fn request(
        &self,
        path: &str,
        body: Option<&Json>,
    ) -> std::result::Result<String, Failure> {
        let (status, text) = match self.send(path, body) {
            // A server may close an idle connection just as we use it: try once on a new one.
            Err(ureq::Error::Io(e)) if e.kind() != io::ErrorKind::ConnectionRefused => {
                self.send(path, body)
            }
            Err(ureq::Error::Protocol(_)) => self.send(path, body),
            sent => sent,
        }
        .map_err(|error| self.unreachable(path, error))?;
        if (200..300).contains(&status) {
            return Ok(text);
        }
        Err(refused(path, status, &text))
    }

    fn send(
        &self,
        path: &str,
        body: Option<&Json>,
    ) -> std::result::Result<(u16, String), ureq::Error> {
        let url = format!("{}/{path}", self.url);
        let mut reply = match body {
            Some(body) => {
                let post = self.agent.post(url).content_type("application/json");
                post.send(body.to_string())?
            }
            None => self.agent.get(url).call()?,
        };
        let moved = (300..400).contains(&reply.status().as_u16());
        if let Some(place) = reply.headers().get("location").filter(|_| moved) {
            let place = String::from_utf8_lossy(place.as_bytes()).into_owned();
            return Ok((reply.status().as_u16(), place));
        }
        let bytes = reply.body_mut().read_to_vec()?;
        Ok((
            reply.status().as_u16(),
            String::from_utf8_lossy(&bytes).into_owned(),
        ))
    }

    fn unreachable(&self, path: &str, error: ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Global) => {
                let limit = self.timeout.unwrap_or_default().as_secs_f64();
                Failure::of_point(format!("/{path} did not answer within {limit} s"))
            }
            ureq::Error::Io(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
                Failure::of_source(
                    "no server answers there (connection refused): start the model server first, \
                     as in `python3 server.py` or `docker run -p 4242:4242 IMAGE`, or correct the \
                     URL's host and port",
                )
            }
            error => Failure::of_source(format!("/{path}: {error}")),
        }
    }
}

/// A reply that is no answer: the server's own words, as JSON or as text.
fn refused(path: &str, status: u16, text: &str) -> Failure {
    if (300..400).contains(&status) {
        let place = excerpt(text, TEXT);
        return Failure::of_source(format!(
            "/{path} answered {status}: it sends us to `{place}`, and redirects are not followed; \
             name the server that answers itself"
        ));
    }
    let reply = json::parse(text);
    let words = reply.as_ref().and_then(error_words);
    let kind = reply
        .as_ref()
        .and_then(|reply| reply.pointer("/error/type")?.as_str());
    // These four say that the model and the question do not fit, at any point. Of the others, a
    // status 4xx says so too, but for 408 (time-out) and 429 (too many requests).
    const MISFITS: [&str; 4] = [
        "ModelNotFound",
        "InvalidInput",
        "InvalidOutput",
        "UnsupportedFeature",
    ];
    let misfit = kind.is_some_and(|kind| MISFITS.contains(&kind));
    let refusal = (400..500).contains(&status) && !matches!(status, 408 | 429);
    let words = words.unwrap_or_else(|| excerpt(text, TEXT));
    Failure {
        reason: format!("/{path} answered {status}: {words}"),
        recoverable: !(misfit || refusal),
    }
}

/// Type and message of `{"error": {"type": "InvalidInput", "message": "..."}}`.
pub(super) fn error_words(reply: &Json) -> Option<String> {
    let error = reply.get("error")?;
    let part = |key| error.get(key).and_then(Json::as_str);
    Some(match (part("type"), part("message")) {
        (Some(kind), Some(message)) => format!("{kind}: {message}"),
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_the_servers_words() {
        let json = "{\"error\": {\"type\": \"InvalidInput\", \"message\": \"Expected 2\"}}";
        let failure = Failure::of_source("/Evaluate answered 400: InvalidInput: Expected 2");
        assert_eq!(refused("Evaluate", 400, json), failure);
        let failure = refused("Evaluate", 500, &"x".repeat(2000));
        assert!(failure.recoverable);
        assert_eq!(
            failure.reason.len(),
            "/Evaluate answered 500: ...".len() + TEXT
        );
        assert!(refused("Evaluate", 429, "").recoverable);
        let moved = refused("Evaluate", 307, "http://elsewhere/Evaluate");
        assert!(!moved.recoverable && moved.reason.contains("`http://elsewhere/Evaluate`"));
    }
}

//! Show where a run is: one line that moves on a terminal, a plain line now and then elsewhere.

use crate::output::{number, seconds};
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};
use warpquad::session::Session;

/// How often the line on a terminal is written anew, and how often a plain line is.
const TERMINAL: Duration = Duration::from_millis(100);
const PLAIN: Duration = Duration::from_secs(10);

/// A line on standard error, written anew at most so often.
pub struct Line {
    silent: bool,
    terminal: bool,
    last: Option<Instant>,
}

impl Line {
    pub fn new(silent: bool) -> Line {
        Line {
            silent,
            terminal: stderr().is_terminal(),
            last: None,
        }
    }

    /// Whether it is time to write again; asking starts the next wait.
    fn due(&mut self) -> bool {
        let wait = if self.terminal { TERMINAL } else { PLAIN };
        let begun = *self.last.get_or_insert_with(Instant::now);
        if self.silent || begun.elapsed() < wait {
            return false;
        }
        self.last = Some(Instant::now());
        true
    }

    /// Write the text if it is time to.
    pub fn say(&mut self, text: &str) {
        if self.due() {
            self.write(text);
        }
    }

    fn write(&self, line: &str) {
        let mut out = stderr();
        let _ = match self.terminal {
            true => write!(out, "\r\x1b[2K{line}"),
            false => writeln!(out, "{line}"),
        };
        let _ = out.flush();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.terminal && !self.silent {
            let _ = write!(stderr(), "\r\x1b[2K");
        }
    }
}

/// Watches a run and says so on standard error.
pub struct Watcher {
    line: Line,
}

impl Watcher {
    pub fn new(silent: bool) -> Watcher {
        Watcher {
            line: Line::new(silent),
        }
    }

    /// Whether anyone looks.
    pub fn is_shown(&self) -> bool {
        !self.line.silent
    }

    /// Write where the run is, if it is time to.
    pub fn see(&mut self, session: &Session) {
        if self.line.due() {
            self.line.write(&text(session));
        }
    }
}

fn text(session: &Session) -> String {
    let n = session.evaluations();
    let of = match session.problem().budget.evaluations {
        Some(limit) => format!("{n}/{limit}"),
        None => n.to_string(),
    };
    let each = session.seconds_in_integrand() / n.max(1) as f64;
    let workers = session.problem().budget.workers as f64;
    let overhead = (session.seconds() - session.seconds_in_integrand() / workers).max(0.0);
    let own = overhead / n.max(1) as f64;
    let failures = match session.failures() {
        0 => String::new(),
        k => format!(", {k} failed"),
    };
    let ln_z = session.estimate().map_or(String::new(), |outcome| {
        let [low, high] = outcome.ln_interval(0.95);
        let median = outcome.law.ln_quantile(0.5);
        let (median, low, high) = (number(median), number(low), number(high));
        format!("log Z {median} [{low}, {high}]")
    });
    format!(
        "{of} evaluations{failures}, {} each + {} overhead  {ln_z}",
        seconds(each),
        seconds(own),
    )
}

//! Show where a run is: one line that moves on a terminal, a plain line now and then elsewhere.

use crate::output::{number, seconds};
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};
use warpquad::session::Progress;

/// How often the line on a terminal is written anew, and how often a plain line is.
const TERMINAL: Duration = Duration::from_millis(100);
const PLAIN: Duration = Duration::from_secs(10);

/// Watches a run and says so on standard error.
pub struct Watcher {
    silent: bool,
    terminal: bool,
    last: Option<Instant>,
    /// The last known ln Z with its interval.
    ln_z: String,
}

impl Watcher {
    pub fn new(silent: bool) -> Watcher {
        Watcher {
            silent,
            terminal: stderr().is_terminal(),
            last: None,
            ln_z: String::new(),
        }
    }

    pub fn see(&mut self, progress: &Progress<'_>) {
        if self.silent {
            return;
        }
        if let Some(outcome) = progress.outcome {
            let [low, high] = outcome.ln_interval(0.95);
            let median = outcome.law.ln_quantile(0.5);
            self.ln_z = format!(
                "log Z {} [{}, {}]",
                number(median),
                number(low),
                number(high)
            );
        }
        let wait = if self.terminal { TERMINAL } else { PLAIN };
        let begun = *self.last.get_or_insert_with(Instant::now);
        if begun.elapsed() < wait {
            return;
        }
        self.last = Some(Instant::now());
        self.write(&self.line(progress));
    }

    fn line(&self, progress: &Progress<'_>) -> String {
        let session = progress.session;
        let n = session.evaluations();
        let of = match session.problem().budget.evaluations {
            Some(limit) => format!("{n}/{limit}"),
            None => n.to_string(),
        };
        let each = session.seconds_in_integrand() / n.max(1) as f64;
        let workers = session.problem().budget.workers as f64;
        let overhead = (progress.seconds - session.seconds_in_integrand() / workers).max(0.0);
        let own = overhead / n.max(1) as f64;
        let failures = match session.failures() {
            0 => String::new(),
            k => format!(", {k} failed"),
        };
        format!(
            "{of} evaluations{failures}, {} each + {} overhead  {}",
            seconds(each),
            seconds(own),
            self.ln_z
        )
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

impl Drop for Watcher {
    fn drop(&mut self) {
        if self.terminal && !self.silent {
            let _ = write!(stderr(), "\r\x1b[2K");
        }
    }
}

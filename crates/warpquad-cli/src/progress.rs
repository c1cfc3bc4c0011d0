//! Show where a run is: one line that moves on a terminal, a plain line now and then elsewhere.

use crate::output::{number, seconds};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
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
    /// On a terminal: one line that stays where it is and within its width.
    bar: Option<ProgressBar>,
    /// When each evaluation under way was first seen.
    under_way: HashMap<u64, Instant>,
}

impl Watcher {
    pub fn new(silent: bool) -> Watcher {
        let line = Line::new(silent);
        let bar = (line.terminal && !silent).then(bar);
        Watcher {
            line: Line {
                // The bar wipes itself.
                terminal: line.terminal && bar.is_none(),
                ..Line::new(silent)
            },
            bar,
            under_way: HashMap::new(),
        }
    }

    /// Whether anyone looks.
    pub fn is_shown(&self) -> bool {
        !self.line.silent
    }

    /// Write where the run is, if it is time to.
    pub fn see(&mut self, session: &Session) {
        if self.line.silent {
            return;
        }
        let pending: Vec<u64> = session.pending().iter().map(|task| task.id).collect();
        self.under_way.retain(|id, _| pending.contains(id));
        for id in pending {
            self.under_way.entry(id).or_insert_with(Instant::now);
        }
        let running = self.under_way.values().map(|since| since.elapsed());
        let running: f64 = running.map(|since| since.as_secs_f64()).sum();
        let Some(bar) = &self.bar else {
            if self.line.due() {
                self.line.write(&text(session, running));
            }
            return;
        };
        let n = session.evaluations() + session.given_up();
        if let Some(limit) = session.problem().budget.evaluations {
            bar.set_length(limit as u64);
        }
        bar.set_position(n as u64);
        bar.set_message(message(session, running));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar that is drawn anew also while an evaluation takes long. The crate leaves colours out where
/// `NO_COLOR` says so, and cuts the line at the terminal's width.
fn bar() -> ProgressBar {
    let bar = ProgressBar::no_length();
    let template = "{bar:12.cyan} {pos}/{len} {elapsed} {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(TERMINAL);
    bar
}

/// What is known of ln Z in few columns: the median, and half of the 95 % interval.
fn estimate(session: &Session) -> Option<String> {
    let outcome = session.estimate()?;
    let [low, high] = outcome.ln_interval(0.95);
    let median = outcome.law.ln_quantile(0.5);
    Some(format!(
        "log Z {} [{}, {}]",
        number(median),
        number(low),
        number(high)
    ))
}

/// Seconds of one evaluation, and our own seconds beside it; what is under way is the integrand's.
fn each(session: &Session, running: f64) -> (f64, f64) {
    let n = session.evaluations().max(1) as f64;
    let inside = session.seconds_in_integrand();
    let workers = session.problem().budget.workers as f64;
    let own = session.seconds() - (inside + running) / workers;
    (inside / n, own.max(0.0) / n)
}

/// Seconds that are left at the pace so far; `None` without a limit or before the first value.
fn left(done: usize, limit: Option<usize>, elapsed: f64) -> Option<f64> {
    let limit = limit?;
    (done > 0 && limit > done).then(|| elapsed / done as f64 * (limit - done) as f64)
}

fn failed(session: &Session) -> String {
    match session.failures() {
        0 => String::new(),
        k => format!(", {k} failed"),
    }
}

/// The words beside the bar: what matters most comes first, since the end may be cut off.
fn message(session: &Session, running: f64) -> String {
    let done = session.evaluations() + session.given_up();
    let left = left(
        done,
        session.problem().budget.evaluations,
        session.seconds(),
    );
    let left = left.map_or(String::new(), |left| format!("+ {} ", seconds(left)));
    let ln_z = estimate(session).map_or(String::new(), |z| format!("{z} "));
    let (one, own) = each(session, running);
    format!(
        "{left}{ln_z}{}+{} each{}",
        seconds(one),
        seconds(own),
        failed(session)
    )
}

fn text(session: &Session, running: f64) -> String {
    let n = session.evaluations();
    let of = match session.problem().budget.evaluations {
        Some(limit) => format!("{n}/{limit}"),
        None => n.to_string(),
    };
    let (one, own) = each(session, running);
    format!(
        "{of} evaluations{}, {} each + {} overhead  {}",
        failed(session),
        seconds(one),
        seconds(own),
        estimate(session).unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_the_pace_so_far() {
        assert_eq!(left(10, Some(30), 5.0), Some(10.0));
        assert_eq!(
            [
                left(0, Some(30), 5.0),
                left(30, Some(30), 5.0),
                left(3, None, 5.0)
            ],
            [None; 3]
        );
    }
}

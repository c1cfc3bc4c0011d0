//! Show where a run is: one line that moves on a terminal, a plain line now and then elsewhere.

use crate::output::within;
use console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};
use warpquad::session::Session;

/// How often the line on a terminal is written anew, and how often a plain line is.
const TERMINAL: Duration = Duration::from_millis(100);
const PLAIN: Duration = Duration::from_secs(10);

/// Columns of the bar.
const BAR: usize = 7;

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
        let limit = session.problem().budget.evaluations;
        let Some(bar) = &self.bar else {
            if self.line.due() {
                let told = Told::of(session, running);
                self.line.write(&told.line(session.evaluations(), limit));
            }
            return;
        };
        let done = session.evaluations() + session.given_up();
        if let Some(limit) = limit {
            bar.set_length(limit as u64);
        }
        bar.set_position(done as u64);
        bar.set_message(Told::of(session, running).message(room(done, limit)));
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
    let template = format!("{{bar:{BAR}.cyan}} {{pos}}/{{len}} {{wide_msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(TERMINAL);
    bar
}

/// Columns that the message has beside the bar and the counts.
fn room(done: usize, limit: Option<usize>) -> usize {
    let counts = format!("{done}/{}", limit.unwrap_or(done));
    let width = usize::from(Term::stderr().size().1);
    width.saturating_sub(BAR + counts.len() + 2)
}

/// How many words the line takes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Full,
    Short,
    Shortest,
}

/// Where a run is, in numbers.
#[derive(Debug, Clone, Default)]
struct Told {
    elapsed: f64,
    /// Seconds that are left at the pace so far.
    left: Option<f64>,
    /// The median of ln Z, and the ends of its 95 % interval.
    ln_z: Option<[f64; 3]>,
    /// Seconds of an evaluation, and our own beside it.
    each: Option<[f64; 2]>,
    failed: usize,
}

impl Told {
    fn of(session: &Session, running: f64) -> Told {
        let done = session.evaluations() + session.given_up();
        let limit = session.problem().budget.evaluations;
        let ln_z = session.estimate().map(|outcome| {
            let [low, high] = outcome.ln_interval(0.95);
            [outcome.law.ln_quantile(0.5), low, high]
        });
        Told {
            elapsed: session.seconds(),
            left: left(done, limit, session.seconds()),
            ln_z,
            each: each(session, running),
            failed: session.failures(),
        }
    }

    /// The words, those that matter most first, in so short a form.
    fn words(&self, form: Form) -> String {
        let time = |x: f64| match form {
            Form::Full => brief(x),
            _ => brief(x).replace(' ', ""),
        };
        let mut out = vec![match self.left {
            Some(left) if form == Form::Full => {
                format!("{}, {} left", time(self.elapsed), time(left))
            }
            Some(left) => format!("{}+{}", time(self.elapsed), time(left)),
            None => time(self.elapsed),
        }];
        out.extend(self.ln_z.map(estimate));
        out.extend(self.each.map(|[one, own]| match form {
            Form::Full => format!("{} + {} each", time(one), time(own)),
            Form::Short => format!("{}+{} each", time(one), time(own)),
            Form::Shortest => format!("{}+{}", time(one), time(own)),
        }));
        if self.failed > 0 {
            out.push(format!("{} failed", self.failed));
        }
        out.join(if form == Form::Full { "  " } else { " " })
    }

    /// The words beside the bar: the longest that there is room for.
    fn message(&self, room: usize) -> String {
        let forms = [Form::Full, Form::Short].map(|form| self.words(form));
        let fits = forms
            .into_iter()
            .find(|words| words.chars().count() <= room);
        fits.unwrap_or_else(|| self.words(Form::Shortest))
    }

    /// A line of a log.
    fn line(&self, n: usize, limit: Option<usize>) -> String {
        let of = limit.map_or(String::new(), |limit| format!("/{limit}"));
        format!(
            "{n}{of} evaluations, {}",
            self.words(Form::Full).replace("  ", ", ")
        )
    }
}

/// What is known of ln Z in few columns, to one digit of the interval's half width.
fn estimate([median, low, high]: [f64; 3]) -> String {
    let error = 5.0 * (high - low);
    let [median, low, high] = [median, low, high].map(|x| within(x, error));
    format!("log Z {median} [{low}, {high}]")
}

/// Seconds in few columns.
fn brief(x: f64) -> String {
    match x {
        x if x < 1e-3 => format!("{:.0} us", x * 1e6),
        x if x < 1.0 => format!("{:.0} ms", x * 1e3),
        x if x < 10.0 => format!("{x:.1} s"),
        x if x < 120.0 => format!("{x:.0} s"),
        x if x < 7200.0 => format!("{:.0} min", x / 60.0),
        x => format!("{:.1} h", x / 3600.0),
    }
}

/// Seconds of one evaluation, and our own seconds beside it, after the first; what is under way is
/// the integrand's.
fn each(session: &Session, running: f64) -> Option<[f64; 2]> {
    let n = session.evaluations() as f64;
    let inside = session.seconds_in_integrand();
    let workers = session.problem().budget.workers as f64;
    let own = session.seconds() - (inside + running) / workers;
    (n > 0.0).then(|| [inside / n, own.max(0.0) / n])
}

/// Seconds that are left at the pace so far; `None` without a limit or before the first value.
fn left(done: usize, limit: Option<usize>, elapsed: f64) -> Option<f64> {
    let limit = limit?;
    (done > 0 && limit > done).then(|| elapsed / done as f64 * (limit - done) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Told {
        Told {
            elapsed: 7.2,
            left: Some(11.6),
            ln_z: Some([-1240.5478, -1240.5651, -1240.5280]),
            each: Some([0.3275, 0.0051]),
            failed: 0,
        }
    }

    #[test]
    fn a_line_of_80_columns_holds_it_all() {
        let short = told().message(80 - BAR - "38/40".len() - 2);
        assert_eq!(
            short,
            "7.2s+12s log Z -1240.55 [-1240.57, -1240.53] 328ms+5ms each"
        );
        assert!(BAR + "38/40".len() + 2 + short.len() <= 80);
        let failed = Told {
            failed: 1,
            ..told()
        }
        .message(80 - BAR - "38/40".len() - 2);
        assert_eq!(
            failed,
            "7.2s+12s log Z -1240.55 [-1240.57, -1240.53] 328ms+5ms 1 failed"
        );
    }

    #[test]
    fn a_wide_line_has_the_words_in_full() {
        assert_eq!(
            Told {
                failed: 2,
                ..told()
            }
            .message(120),
            "7.2 s, 12 s left  log Z -1240.55 [-1240.57, -1240.53]  328 ms + 5 ms each  2 failed"
        );
        assert_eq!(Told::default().message(120), "0 us");
        assert_eq!(
            told().line(38, Some(40)),
            "38/40 evaluations, 7.2 s, 12 s left, log Z -1240.55 [-1240.57, -1240.53], 328 ms + 5 ms each"
        );
    }

    #[test]
    fn an_interval_has_one_digit_of_its_half_width() {
        assert_eq!(
            estimate([-1239.3, -1243.4, -1235.0]),
            "log Z -1239 [-1243, -1235]"
        );
        assert_eq!(estimate([0.5, 0.5, 0.5]), "log Z 0.5000 [0.5000, 0.5000]");
    }

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

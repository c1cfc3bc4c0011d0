//! Start a run or go on with one, and print what it found.

use crate::args::Integrate;
use crate::initial;
use crate::interrupt;
use crate::output;
use crate::progress::Watcher;
use crate::report;
use crate::scratch::Scratch;
use std::path::Path;
use warpquad::session::evaluator::{Answer, Source};
use warpquad::session::spec::Problem;
use warpquad::session::{self, Report, Session, Stop, Taken};
use warpquad::{Error, Result, Value};

pub fn integrate(args: &Integrate) -> Result<()> {
    let (problem, text) = prepared(args)?;
    let resuming = args.run.as_deref().is_some_and(Session::exists);
    let mut session = open(args, problem, &text)?;
    let home = output::home(&args.problem);
    let flagged = args.options.words().any(|(name, _)| name == "--initial");
    // A path on the command line is relative to where that was typed.
    let from = if flagged { Path::new("") } else { home };
    initial::take(&mut session, from, args.quiet || args.json)?;
    let mut scratch = match args.run {
        Some(_) => None,
        None => Scratch::of(session.problem())?,
    };
    let files = scratch.as_ref().map(Scratch::path);
    let files = args.run.as_deref().or(files).unwrap_or(Path::new("."));
    let stop = match session::source(session.problem(), home, files)? {
        None => take_table(&mut session, home)?,
        Some(source) => {
            if args.run.is_none() && !args.quiet && !args.json {
                // Within 80 columns.
                eprintln!(
                    "nothing will be kept of this run: --run DIR keeps it, to look at or go on with"
                );
            }
            if resuming && args.recheck {
                recheck(&session, source.as_ref())?;
            }
            let interrupt = interrupt::flag();
            let mut watcher = Watcher::new(args.quiet || args.json);
            session.set_watched(watcher.is_shown());
            let stop = session::run(&mut session, source.as_ref(), &interrupt, |session| {
                watcher.see(session)
            });
            if let Some(scratch) = scratch.as_mut().filter(|_| session.failures() > 0) {
                scratch.keep();
            }
            stop?
        }
    };
    finish(args, &mut session, &stop)
}

/// The problem with the command line's word over the file's.
fn prepared(args: &Integrate) -> Result<(Problem, String)> {
    let (mut problem, text) = output::problem(&args.problem)?;
    args.options.put(&mut problem)?;
    Ok((session::bounded(problem), text))
}

fn open(args: &Integrate, problem: Problem, text: &str) -> Result<Session> {
    let Some(dir) = &args.run else {
        return Session::new(problem, text, args.seed.unwrap_or(0));
    };
    if !Session::exists(dir) {
        return Session::create(problem, text, args.seed.unwrap_or(0), dir);
    }
    let session = Session::open(dir, Some(problem))?;
    output::tell_torn(&session);
    output::same_seed(&session, args.seed)?;
    Ok(session)
}

/// Take over what a table has; what the run knows already is left out.
fn take_table(session: &mut Session, home: &Path) -> Result<Stop> {
    let given = session.given();
    let Some((points, values)) = session::table(session.problem(), home)? else {
        return Ok(Stop::Table);
    };
    // What was given stands before the rows.
    let (old, old_values) = session.observations();
    let known = old_values.len() - given;
    let (old, old_values) = (old.iter().skip(given), &old_values[given..]);
    let same = old.zip(points.iter()).all(|(a, b)| a == b)
        && old_values.iter().zip(&values).all(|(a, b)| a == b);
    if known > values.len() || !same {
        let reason = "the table no longer begins with the rows that the run has; start a new run";
        return Err(Error::spec("integrand.table", reason));
    }
    for (x, value) in points.iter().zip(values).skip(known) {
        // A process that was killed between the two lines of a row has left it pending.
        let asked = session.pending().into_iter().find(|task| task.x == x);
        let task = match asked {
            Some(task) => task,
            None => session.ask_for(x.to_vec())?,
        };
        if let Taken::Stop(failure) = session.tell(task.id, Answer::Value(value), 0.0)? {
            return Err(Error::spec("integrand.table", format!("a row {failure}")));
        }
    }
    session.stopped("table")?;
    Ok(Stop::Table)
}

/// Evaluate one recorded point again: a model that changed would poison the run.
fn recheck(session: &Session, source: &dyn Source) -> Result<()> {
    let (points, values) = session.observations();
    let Some(&known) = values.first() else {
        return Ok(());
    };
    source.check()?;
    let task = session::evaluator::Task {
        id: 0,
        x: points.row(0).to_vec(),
    };
    let number = |value: Value| match value {
        Value::Linear(x) | Value::Log(x) => x,
    };
    let now = match source.worker(0)?.evaluate(&task) {
        Answer::Value(value) | Answer::With(value, _) => {
            let (a, b) = (number(value), number(known));
            if a == b || (a - b).abs() <= 1e-9 * b.abs() {
                return Ok(());
            }
            value.to_string()
        }
        Answer::Failure(failure) => failure.reason,
    };
    let reason = format!(
        "at {:?} the journal has {known}, now it is {now}: the model has changed; start a new run",
        task.x
    );
    Err(Error::spec("integrand", reason))
}

/// The command that goes on with a run: as it was started, but for what the journal knows.
fn resume(args: &Integrate, dir: &Path) -> String {
    let mut words = vec![
        "warpquad".into(),
        "integrate".into(),
        quoted(&args.problem.display().to_string()),
        "--run".into(),
        quoted(&dir.display().to_string()),
    ];
    let mut flag = |name: &str, value: Option<String>| {
        words.extend(
            value
                .into_iter()
                .flat_map(|v| [name.to_string(), quoted(&v)]),
        );
    };
    for (name, word) in args.options.words() {
        flag(&name, Some(word.clone()));
    }
    flag("--seed", args.seed.map(|seed| seed.to_string()));
    for (given, name) in [
        (args.recheck, "--recheck"),
        (args.json, "--json"),
        (args.quiet, "--quiet"),
    ] {
        words.extend(given.then(|| name.to_string()));
    }
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn finish(args: &Integrate, session: &mut Session, stop: &Stop) -> Result<()> {
    let resume = match &args.run {
        Some(dir) => format!("go on with: {}", resume(args, dir)),
        None => "nothing was kept: use --run DIR to be able to go on".into(),
    };
    let n = session.evaluations();
    if *stop == Stop::Interrupted {
        eprintln!("interrupted after {n} evaluations; {resume}");
    }
    let report = Report::new(session, &stop.to_string());
    if let Ok(report) = &report {
        if args.json {
            output::json(&report.to_json());
        } else {
            report::print(report);
        }
    }
    match stop {
        Stop::Failure(failure) => Err(Error::Evaluation {
            id: failure.id as usize,
            reason: format!("{failure}\n{resume}"),
            recoverable: true,
        }),
        // There is nothing to report before the first values are in.
        Stop::Interrupted => Ok(()),
        _ => report.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("out/run-1"), "out/run-1");
        assert_eq!(quoted("my run"), "'my run'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}

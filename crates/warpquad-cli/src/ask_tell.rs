//! Hand points out and take results in, as JSON lines: for clusters run by hand.

use crate::args::{Ask, Tell};
use crate::initial;
use crate::output;
use serde_json::json;
use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use warpquad::session::evaluator::{self, Task, Told};
use warpquad::session::{Session, Taken};
use warpquad::{Error, Result};

pub fn ask(args: &Ask) -> Result<()> {
    let mut session = match (&args.problem, Session::exists(&args.run)) {
        (Some(path), false) => {
            let (problem, text) = output::problem(path)?;
            Session::create(problem, &text, args.seed.unwrap_or(0), &args.run)?
        }
        (Some(path), true) => Session::open(&args.run, Some(output::problem(path)?.0))?,
        (None, true) => Session::open(&args.run, None)?,
        (None, false) => {
            let reason = format!(
                "{} holds no run; start one with --problem FILE",
                args.run.display()
            );
            return Err(Error::spec("run", reason));
        }
    };
    output::tell_torn(&session);
    output::same_seed(&session, args.seed)?;
    if let Some(path) = &args.problem {
        initial::take(&mut session, output::home(path), false)?;
    }
    let arguments = session.problem().arguments.clone();
    let print = |task: &Task| {
        let line = evaluator::write_task(task, &arguments);
        line.map(|line| output::line(&line))
            .map_err(|reason| Error::spec("point", reason))
    };
    if args.pending {
        return session.pending().iter().try_for_each(print);
    }
    within_budget(&session, args.n)?;
    for _ in 0..args.n {
        print(&session.ask()?)?;
        if let Some(error) = output::unprinted() {
            let reason = format!(
                "{error}; the points stay pending: print them again with `warpquad ask RUN --pending`"
            );
            return Err(Error::Io {
                path: "standard output".into(),
                reason,
            });
        }
    }
    Ok(())
}

/// Refuse to ask for more points than the budget has left.
fn within_budget(session: &Session, n: usize) -> Result<()> {
    let Some(budget) = session.problem().budget.evaluations else {
        return Ok(());
    };
    let (told, pending) = (
        session.evaluations() + session.given_up(),
        session.pending().len(),
    );
    let left = budget.saturating_sub(told + pending);
    if n <= left {
        return Ok(());
    }
    let reason = format!(
        "the budget is {budget} evaluations: {told} are in, {pending} pending, so {left} can be asked \
         for, not {n}; raise budget.evaluations in the problem file and give it with --problem"
    );
    Err(Error::spec("n", reason))
}

/// How long the run is held for the next line. While nothing comes, others may have it: in
/// `warpquad ask | evaluate | warpquad tell` the points are handed out while this waits.
const HOLD: Duration = Duration::from_millis(50);

pub fn tell(args: &Tell) -> Result<()> {
    let mut session = Some(open(&args.run)?);
    let input = read_input();
    let (mut kept, mut trouble) = (0, None);
    loop {
        let (number, line) = match input.recv_timeout(HOLD) {
            Ok(next) => next,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                session = None;
                match input.recv() {
                    Ok(next) => next,
                    Err(_) => break,
                }
            }
        };
        let line = line.map_err(|error| Error::Io {
            path: "standard input".into(),
            reason: error.to_string(),
        })?;
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        let mut held = session.take().map_or_else(|| open(&args.run), Ok)?;
        // A bad line must not cost the good ones below it.
        match tell_one(&mut held, number, &line) {
            Ok(true) => kept += 1,
            Ok(false) => {}
            // Only what cannot be written ends it: the next line could not be written either.
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(error) => {
                if let Some(earlier) = trouble.replace(error) {
                    eprintln!("warpquad: {earlier}");
                }
            }
        }
        session = Some(held);
    }
    let session = session.map_or_else(|| open(&args.run), Ok)?;
    let summary = json!({
        "kept": kept, "evaluations": session.evaluations(), "given": session.given(),
        "pending": session.pending().len(),
    });
    output::line(&summary.to_string());
    trouble.map_or(Ok(()), Err)
}

fn open(run: &Path) -> Result<Session> {
    let session = Session::open(run, None)?;
    output::tell_torn(&session);
    Ok(session)
}

/// The lines of standard input with their numbers, as they come.
fn read_input() -> Receiver<(usize, std::io::Result<Vec<u8>>)> {
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        let input = std::io::stdin().lock().split(b'\n');
        for (i, line) in input.enumerate() {
            if send.send((i + 1, line)).is_err() {
                return;
            }
        }
    });
    lines
}

/// Tell one line; whether it gave a value.
fn tell_one(session: &mut Session, number: usize, line: &str) -> Result<bool> {
    let at = |reason: String| Error::spec(format!("line {number}"), reason);
    let told = evaluator::read_told(line, &session.problem().arguments).map_err(at)?;
    let (id, taken) = match told {
        Told::Answer(id, answer) => (id, session.tell(id, answer, 0.0)),
        Told::Value(x, value) => (0, session.tell_at(&x, value)),
    };
    let taken = taken.map_err(|error| match error {
        Error::Spec { reason, .. } => at(reason),
        other => other,
    })?;
    match taken {
        Taken::Kept => Ok(true),
        Taken::GivenUp => Ok(false),
        Taken::Again(task) => {
            eprintln!(
                "point {} failed and is still pending: evaluate it again",
                task.id
            );
            Ok(false)
        }
        Taken::Stop(failure) => Err(Error::Evaluation {
            id: id as usize,
            reason: failure.to_string(),
            recoverable: true,
        }),
    }
}

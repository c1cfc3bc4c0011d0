//! Hand points out and take results in, as JSON lines: for clusters run by hand.

use crate::args::{Ask, Tell};
use crate::output;
use serde_json::json;
use std::io::BufRead;
use warpquad::session::evaluator::{self, Task};
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
    output::same_seed(&session, args.seed)?;
    let names = session.problem().names.clone();
    let print = |task: &Task| {
        let line = evaluator::write_task(task, &names);
        line.map(|line| output::line(&line))
            .map_err(|reason| Error::spec("point", reason))
    };
    if args.pending {
        return session.pending().iter().try_for_each(print);
    }
    for _ in 0..args.n {
        print(&session.ask()?)?;
    }
    Ok(())
}

pub fn tell(args: &Tell) -> Result<()> {
    let mut session = Session::open(&args.run, None)?;
    let (mut kept, mut trouble) = (0, None);
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| Error::Io {
            path: "standard input".into(),
            reason: error.to_string(),
        })?;
        if line.trim().is_empty() {
            continue;
        }
        // A bad line must not cost the good ones below it.
        match tell_one(&mut session, number + 1, &line) {
            Ok(true) => kept += 1,
            Ok(false) => {}
            Err(error @ (Error::Spec { .. } | Error::Evaluation { .. })) => {
                if let Some(earlier) = trouble.replace(error) {
                    eprintln!("warpquad: {earlier}");
                }
            }
            Err(error) => return Err(error),
        }
    }
    let summary = json!({
        "kept": kept, "evaluations": session.evaluations(), "pending": session.pending().len(),
    });
    output::line(&summary.to_string());
    trouble.map_or(Ok(()), Err)
}

/// Tell one line; whether it gave a value.
fn tell_one(session: &mut Session, number: usize, line: &str) -> Result<bool> {
    let at = |reason: String| Error::spec(format!("line {number}"), reason);
    let (id, answer) = evaluator::read_answer(line).map_err(at)?;
    let taken = session.tell(id, answer, 0.0).map_err(|error| match error {
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

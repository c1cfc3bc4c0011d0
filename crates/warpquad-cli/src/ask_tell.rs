//! Hand points out and take results in, as JSON lines: for clusters run by hand.

use crate::args::{Ask, Tell};
use crate::output;
use serde_json::json;
use std::io::BufRead;
use warpquad::session::evaluator;
use warpquad::session::{Session, Told};
use warpquad::{Error, Result};

pub fn ask(args: &Ask) -> Result<()> {
    let mut session = match (&args.problem, Session::exists(&args.run)) {
        (Some(path), false) => {
            let (problem, text) = output::problem(path)?;
            Session::create(problem, &text, args.seed, &args.run)?
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
    for _ in 0..args.n {
        let task = session.ask()?;
        let line = evaluator::write_task(&task, &session.problem().names);
        println!("{}", line.map_err(|reason| Error::spec("point", reason))?);
    }
    Ok(())
}

pub fn tell(args: &Tell) -> Result<()> {
    let mut session = Session::open(&args.run, None)?;
    let mut kept = 0;
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| Error::Io {
            path: "standard input".into(),
            reason: error.to_string(),
        })?;
        if line.trim().is_empty() {
            continue;
        }
        let at = |reason: String| Error::spec(format!("line {}", number + 1), reason);
        let (id, answer) = evaluator::read_answer(&line).map_err(at)?;
        match session.tell(id, answer, 0.0)? {
            Told::Kept => kept += 1,
            Told::GivenUp => {}
            Told::Again(task) => {
                eprintln!(
                    "point {} failed and is still pending: evaluate it again",
                    task.id
                );
            }
            Told::Stop(reason) => {
                return Err(Error::Evaluation {
                    id: id as usize,
                    reason,
                    recoverable: true,
                });
            }
        }
    }
    println!(
        "{}",
        json!({"kept": kept, "evaluations": session.evaluations(), "pending": session.pending().len()})
    );
    Ok(())
}

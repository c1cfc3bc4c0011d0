//! Start a run or go on with one, and print what it found.

use crate::args::Integrate;
use crate::output;
use crate::progress::Watcher;
use crate::report;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use warpquad::session::evaluator::{Answer, Source};
use warpquad::session::spec::Problem;
use warpquad::session::{self, Report, Session, Stop};
use warpquad::{Error, Result, Value};

/// Evaluations when neither the file nor the command line gives a budget.
const DEFAULT_BUDGET: usize = 100;

pub fn integrate(args: &Integrate) -> Result<()> {
    let (problem, text) = prepared(args)?;
    let started = Instant::now();
    let resuming = args.run.as_deref().is_some_and(Session::exists);
    let mut session = open(args, problem, &text)?;
    let home = output::home(&args.problem);
    let scratch = std::env::temp_dir();
    let files = args.run.as_deref().unwrap_or(&scratch);
    let stop = match session::source(session.problem(), home, files)? {
        None => take_table(&mut session, home)?,
        Some(source) => {
            if resuming && args.recheck {
                recheck(&session, source.as_ref())?;
            }
            let interrupt = on_ctrl_c();
            let mut watcher = Watcher::new(args.quiet || args.json);
            session::run(&mut session, source.as_ref(), &interrupt, |p| {
                watcher.see(p)
            })?
        }
    };
    finish(args, &mut session, &stop, started.elapsed().as_secs_f64())
}

/// The problem with the command line's word over the file's.
fn prepared(args: &Integrate) -> Result<(Problem, String)> {
    let (mut problem, text) = output::problem(&args.problem)?;
    if let Some(name) = &args.method {
        problem.method.name = Some(name.clone());
    }
    let budget = &mut problem.budget;
    budget.evaluations = args.budget.or(budget.evaluations);
    if budget.evaluations.is_none() && budget.seconds.is_none() && budget.log_z_sd.is_none() {
        budget.evaluations = Some(DEFAULT_BUDGET);
    }
    Ok((problem, text))
}

fn open(args: &Integrate, problem: Problem, text: &str) -> Result<Session> {
    let Some(dir) = &args.run else {
        return Session::new(problem, text, args.seed.unwrap_or(0));
    };
    if !Session::exists(dir) {
        return Session::create(problem, text, args.seed.unwrap_or(0), dir);
    }
    let session = Session::open(dir, Some(problem))?;
    match args.seed {
        Some(seed) if seed != session.seed() => {
            let reason = format!("the run has the seed {}, not {seed}", session.seed());
            Err(Error::spec("seed", reason))
        }
        _ => Ok(session),
    }
}

/// Take over what a table has; what the run knows already is left out.
fn take_table(session: &mut Session, home: &Path) -> Result<Stop> {
    let known = session.evaluations();
    if let Some((points, values)) = session::table(session.problem(), home)? {
        for (x, value) in points.iter().zip(values).skip(known) {
            let task = session.ask_for(x.to_vec())?;
            session.tell(task.id, Answer::Value(value), 0.0)?;
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
    let same = match source.worker(0)?.evaluate(&task) {
        Answer::Value(value) => {
            let (a, b) = (number(value), number(known));
            a == b || (a - b).abs() <= 1e-9 * b.abs()
        }
        Answer::Failure(_) => false,
    };
    if same {
        return Ok(());
    }
    let reason = format!(
        "the integrand no longer gives {known} at {:?}, as the journal has it; start a new run",
        task.x
    );
    Err(Error::spec("integrand", reason))
}

fn on_ctrl_c() -> Arc<AtomicBool> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = interrupt.clone();
    // Without a handler Ctrl-C kills the process, which the journal survives too.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    interrupt
}

fn finish(args: &Integrate, session: &mut Session, stop: &Stop, seconds: f64) -> Result<()> {
    let resume = match &args.run {
        Some(dir) => format!(
            "go on with: warpquad integrate {} --run {}",
            args.problem.display(),
            dir.display()
        ),
        None => "nothing was kept: use --run DIR to be able to go on".into(),
    };
    if *stop == Stop::Interrupted {
        eprintln!(
            "interrupted after {} evaluations; {resume}",
            session.evaluations()
        );
    }
    if let Stop::Failure(reason) = stop {
        let reason = format!("{reason}\n{resume}");
        return Err(Error::Evaluation {
            id: session.evaluations() + session.failures(),
            reason,
            recoverable: true,
        });
    }
    let report = Report::new(session, seconds, &stop.to_string())?;
    if args.json {
        output::json(&report.to_json());
    } else {
        report::print(&report);
    }
    Ok(())
}

//! Start a run or go on with one, and print what it found.

use crate::args::Integrate;
use crate::output;
use crate::progress::Watcher;
use crate::report;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use warpquad::baseline;
use warpquad::session::evaluator::{Answer, Source};
use warpquad::session::spec::Problem;
use warpquad::session::{self, Report, Session, Stop, Told};
use warpquad::{Error, Result, Value};

/// Evaluations when neither the file nor the command line gives a budget.
const DEFAULT_BUDGET: usize = 100;

/// The same for a baseline, whose integrand is cheap.
const BASELINE_BUDGET: usize = 10_000;

pub fn integrate(args: &Integrate) -> Result<()> {
    let (problem, text) = prepared(args)?;
    let resuming = args.run.as_deref().is_some_and(Session::exists);
    let mut session = open(args, problem, &text)?;
    let home = output::home(&args.problem);
    let scratch = match args.run {
        Some(_) => None,
        None => output::scratch(session.problem())?,
    };
    let files = args.run.as_ref().or(scratch.as_ref());
    let files = files.map_or(Path::new("."), PathBuf::as_path);
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
    if let Some(dir) = scratch.filter(|_| session.failures() == 0) {
        // What programs wrote is of use after a failure only.
        let _ = std::fs::remove_dir_all(dir);
    }
    finish(args, &mut session, &stop)
}

/// The problem with the command line's word over the file's.
fn prepared(args: &Integrate) -> Result<(Problem, String)> {
    let (mut problem, text) = output::problem(&args.problem)?;
    args.options.put(&mut problem)?;
    let default = match baseline::is_baseline(problem.method_name()) {
        true => BASELINE_BUDGET,
        false => DEFAULT_BUDGET,
    };
    let budget = &mut problem.budget;
    if budget.evaluations.is_none() && budget.seconds.is_none() && budget.log_z_sd.is_none() {
        budget.evaluations = Some(default);
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
    output::same_seed(&session, args.seed)?;
    Ok(session)
}

/// Take over what a table has; what the run knows already is left out.
fn take_table(session: &mut Session, home: &Path) -> Result<Stop> {
    let known = session.evaluations();
    let Some((points, values)) = session::table(session.problem(), home)? else {
        return Ok(Stop::Table);
    };
    let (old, old_values) = session.observations();
    let same = old.iter().zip(points.iter()).all(|(a, b)| a == b)
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
        if let Told::Stop(reason) = session.tell(task.id, Answer::Value(value), 0.0)? {
            return Err(Error::spec("integrand.table", format!("a row {reason}")));
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
        Answer::Value(value) => {
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

fn on_ctrl_c() -> Arc<AtomicBool> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = interrupt.clone();
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            // The second time is for those who cannot wait; the journal survives that too.
            session::evaluator::end_programs();
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C kills the process, which the journal survives as well.
    let _ = ctrlc::set_handler(handler);
    interrupt
}

fn finish(args: &Integrate, session: &mut Session, stop: &Stop) -> Result<()> {
    let resume = match &args.run {
        Some(dir) => format!(
            "go on with: warpquad integrate {} --run {}",
            args.problem.display(),
            dir.display()
        ),
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
        Stop::Failure { id, reason } => Err(Error::Evaluation {
            id: *id as usize,
            reason: format!("{reason}\n{resume}"),
            recoverable: true,
        }),
        // There is nothing to report before the first values are in.
        Stop::Interrupted => Ok(()),
        _ => report.map(|_| ()),
    }
}

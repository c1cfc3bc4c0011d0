//! Look before spending: shape, finiteness, determinism, time per call, projected total.

use crate::args::Check;
use crate::output::{self, number, seconds};
use serde_json::json;
use std::path::Path;
use std::time::Instant;
use warpquad::numeric::random::Rng;
use warpquad::session;
use warpquad::session::evaluator::{Answer, Evaluator, Task};
use warpquad::warp::Range;
use warpquad::{Error, Result, Value};

/// What two evaluations of one point gave.
struct Probe {
    x: Vec<f64>,
    answers: [Answer; 2],
    seconds: f64,
}

pub fn check(args: &Check) -> Result<()> {
    let (problem, _) = output::problem(&args.problem)?;
    let method = match session::baseline(&problem)? {
        Some(baseline) => baseline.name().to_string(),
        None => session::method(&problem)?.warp,
    };
    let measure = problem.measure()?;
    let home = output::home(&args.problem);
    let scratch = output::scratch(&problem)?;
    let files = scratch.as_deref().unwrap_or(Path::new("."));
    let Some(source) = session::source(&problem, home, files)? else {
        return check_table(args, &problem, home);
    };
    source.check()?;
    let mut worker = source.worker(0)?;
    let mut rng = Rng::new(0);
    let mut probes = Vec::new();
    for id in 0..2 {
        let u: Vec<f64> = (0..measure.dim()).map(|_| rng.uniform()).collect();
        let mut x = vec![0.0; measure.dim()];
        measure.quantile(&u, &mut x);
        probes.push(probe(worker.as_mut(), problem.settings.range, id, x));
    }
    drop(worker);
    let each = probes.iter().map(|p| p.seconds).sum::<f64>() / 4.0;
    let budget = problem.budget.evaluations;
    let total = budget.map(|n| each * n as f64 / problem.budget.workers as f64);
    let failure = probes
        .iter()
        .flat_map(|p| &p.answers)
        .find_map(|a| match a {
            Answer::Failure(failure) => Some(failure.reason.clone()),
            Answer::Value(_) => None,
        });
    let deterministic = probes.iter().all(|p| p.answers[0] == p.answers[1]);
    if args.json {
        output::json(&json!({
            "parameters": problem.names, "method": method, "failure": failure,
            "deterministic": deterministic, "seconds_per_evaluation": each,
            "projected_seconds": total, "evaluations": budget,
            "probes": probes.iter().map(|p| json!({"x": p.x, "values": p.answers.clone().map(|a| show(&a))})).collect::<Vec<_>>(),
        }));
    } else {
        let mut rows = vec![("parameters".to_string(), problem.names.join(", "))];
        for p in &probes {
            let at: Vec<String> = p.x.iter().map(|x| number(*x)).collect();
            rows.push((format!("at ({})", at.join(", ")), show(&p.answers[0])));
        }
        let same = if deterministic {
            "yes"
        } else {
            "no: the same point gave two values; give integrand.noise"
        };
        rows.push(("deterministic".into(), same.into()));
        rows.push(("time per evaluation".into(), seconds(each)));
        let projected = total.map_or("no budget of evaluations".into(), seconds);
        rows.push(("projected total".into(), projected));
        output::rows(&rows);
    }
    match failure {
        None => {
            if let Some(dir) = scratch {
                let _ = std::fs::remove_dir_all(dir);
            }
            Ok(())
        }
        Some(reason) => Err(Error::Evaluation {
            id: 0,
            reason,
            recoverable: true,
        }),
    }
}

fn probe(worker: &mut dyn Evaluator, range: Range, id: u64, x: Vec<f64>) -> Probe {
    let started = Instant::now();
    let answers = [2 * id, 2 * id + 1].map(|id| {
        let answer = worker.evaluate(&Task { id, x: x.clone() });
        session::within(range, answer)
    });
    Probe {
        x,
        answers,
        seconds: started.elapsed().as_secs_f64(),
    }
}

fn show(answer: &Answer) -> String {
    match answer {
        Answer::Value(Value::Linear(f)) => format!("f = {f}"),
        Answer::Value(Value::Log(ln_f)) => format!("log f = {ln_f}"),
        Answer::Failure(failure) => format!("failed: {}", failure.reason),
    }
}

fn check_table(args: &Check, problem: &session::spec::Problem, home: &Path) -> Result<()> {
    let rows = session::table(problem, home)?.map_or(0, |(points, _)| points.len());
    if args.json {
        output::json(&json!({"parameters": problem.names, "evaluations": rows}));
    } else {
        output::line(&format!(
            "a table of {rows} evaluations over {}",
            problem.names.join(", ")
        ));
    }
    Ok(())
}

//! Look before spending: shape, finiteness, determinism, time per call, projected total.

use crate::args::Check;
use crate::output::{self, number, seconds};
use crate::own_time;
use crate::scratch::Scratch;
use serde_json::json;
use std::path::Path;
use std::time::Instant;
use warpquad::measure::Measure;
use warpquad::numeric::random::Rng;
use warpquad::session;
use warpquad::session::evaluator::{Answer, Evaluator, Task};
use warpquad::session::spec::{Integrand, Problem};
use warpquad::warp::Range;
use warpquad::{Data, Error, Result, Value};

/// What two evaluations of one point gave.
struct Probe {
    x: Vec<f64>,
    answers: [Answer; 2],
    seconds: f64,
}

pub fn check(args: &Check) -> Result<()> {
    let (problem, text) = output::problem(&args.problem)?;
    let method = match session::baseline(&problem)? {
        Some(baseline) => baseline.name().to_string(),
        None => session::method(&problem)?.warp,
    };
    let home = output::home(&args.problem);
    match &problem.integrand {
        Integrand::Table { .. } => return check_table(args, &problem, home, &method),
        Integrand::External { by } => return check_external(args, &problem, by, &method),
        _ => {}
    }
    let measure = problem.measure()?;
    let mut scratch = Scratch::of(&problem)?;
    let files = scratch.as_ref().map_or(Path::new("."), Scratch::path);
    let Some(source) = session::source(&problem, home, files)? else {
        return Err(Error::spec("integrand", "has nothing to evaluate"));
    };
    source.check()?;
    let mut worker = source.worker(0)?;
    let mut rng = Rng::new(0);
    let mut probes = Vec::new();
    for id in 0..2 {
        let x = draw(measure.as_ref(), &mut rng);
        probes.push(probe(worker.as_mut(), problem.settings.range, id, x));
    }
    drop(worker);
    let each = probes.iter().map(|p| p.seconds).sum::<f64>() / 4.0;
    let budget = problem.budget.evaluations;
    let own = match budget {
        Some(n) => Some(own_time::seconds(&problem, &text, n)?),
        None => None,
    };
    let total = budget.zip(own);
    let total = total.map(|(n, own)| each * n as f64 / problem.budget.workers as f64 + own);
    let failure = probes
        .iter()
        .flat_map(|p| &p.answers)
        .find_map(|a| match a {
            Answer::Failure(failure) => Some(failure.reason.clone()),
            Answer::Value(_) | Answer::With(..) => None,
        });
    let deterministic = deterministic(&probes);
    if args.json {
        output::json(&json!({
            "parameters": problem.names, "method": method, "failure": failure,
            "deterministic": deterministic, "seconds_per_evaluation": each,
            "seconds_of_method": own, "projected_seconds": total, "evaluations": budget,
            "probes": probes.iter().map(|p| json!({"x": p.x, "values": p.answers.clone().map(|a| show(&a))})).collect::<Vec<_>>(),
        }));
    } else {
        let mut rows = vec![("parameters".to_string(), problem.names.join(", "))];
        for p in &probes {
            let at: Vec<String> = p.x.iter().map(|x| number(*x)).collect();
            rows.push((format!("at ({})", at.join(", ")), show(&p.answers[0])));
        }
        let same = match deterministic {
            Some(true) => "yes",
            Some(false) => "no: the same point gave two values; give integrand.noise",
            None => "unknown: no point was evaluated twice",
        };
        rows.push(("deterministic".into(), same.into()));
        rows.push(("time per evaluation".into(), seconds(each)));
        if let Some(own) = own {
            rows.push(("time of the method itself".into(), seconds(own)));
        }
        let projected = total.map_or("no budget of evaluations".into(), seconds);
        rows.push(("projected total".into(), projected));
        output::rows(&rows);
    }
    match failure {
        None => Ok(()),
        Some(reason) => {
            // What the program wrote is of use now.
            scratch.iter_mut().for_each(Scratch::keep);
            Err(Error::Evaluation {
                id: 0,
                reason,
                recoverable: true,
            })
        }
    }
}

/// A draw from the prior, where its constraints hold.
fn draw(measure: &dyn Measure, rng: &mut Rng) -> Vec<f64> {
    let mut x = vec![0.0; measure.dim()];
    loop {
        let u: Vec<f64> = (0..measure.dim()).map(|_| rng.uniform()).collect();
        measure.quantile(&u, &mut x);
        if measure.restricted().is_none_or(|region| region.holds(&x)) {
            return x;
        }
    }
}

/// Whether points gave one value each; `None` if none was evaluated twice.
fn deterministic(probes: &[Probe]) -> Option<bool> {
    let is_value = |answer: &Answer| !matches!(answer, Answer::Failure(_));
    let twice = probes.iter().filter(|p| p.answers.iter().all(is_value));
    let same: Vec<bool> = twice.map(|p| p.answers[0] == p.answers[1]).collect();
    (!same.is_empty()).then(|| same.into_iter().all(|same| same))
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
        Answer::Value(Value::Linear(f)) | Answer::With(Value::Linear(f), _) => format!("f = {f}"),
        Answer::Value(Value::Log(ln_f)) | Answer::With(Value::Log(ln_f), _) => {
            format!("log f = {ln_f}")
        }
        Answer::Failure(failure) => format!("failed: {}", failure.reason),
    }
}

fn check_table(args: &Check, problem: &Problem, home: &Path, method: &str) -> Result<()> {
    // A belief is conditioned on the rows, so they must be data: this finds two values at one
    // point.
    let Some((points, values)) = session::table(problem, home)? else {
        return Err(Error::spec("integrand.table", "has no evaluations"));
    };
    let data = match problem.settings.noise {
        None | Some(0.0) => Data::new(points, values)?,
        Some(_) => Data::noisy(points, values)?,
    };
    let rows = data.len();
    if args.json {
        output::json(&json!({
            "parameters": problem.names, "method": method, "evaluations": rows,
        }));
        return Ok(());
    }
    let known = |order: fn(f64, f64) -> f64| {
        let values = data.values().iter().map(|value| match value {
            Value::Linear(x) | Value::Log(x) => *x,
        });
        values.reduce(order).map_or("-".into(), number)
    };
    let kind = match data.values()[0] {
        Value::Linear(_) => "f",
        Value::Log(_) => "log f",
    };
    output::rows(&[
        ("parameters".into(), problem.names.join(", ")),
        (
            "table".into(),
            format!("{rows} evaluations, all inside the prior"),
        ),
        (
            kind.into(),
            format!("{} to {}", known(f64::min), known(f64::max)),
        ),
    ]);
    Ok(())
}

fn check_external(args: &Check, problem: &Problem, by: &str, method: &str) -> Result<()> {
    let budget = problem.budget.evaluations;
    if args.json {
        output::json(&json!({
            "parameters": problem.names, "method": method, "external": by, "evaluations": budget,
        }));
        return Ok(());
    }
    let ask = "nothing to evaluate here: hand points out with `warpquad ask`";
    output::rows(&[
        ("parameters".into(), problem.names.join(", ")),
        ("values".into(), format!("from {by}; {ask}")),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpquad::session::evaluator::Failure;

    #[test]
    fn only_points_with_two_values_say_whether_f_is_deterministic() {
        let value = |x| Answer::Value(Value::Log(x));
        let failure = || Answer::from(Failure::of_point("no"));
        let probe = |answers| Probe {
            x: vec![],
            answers,
            seconds: 0.0,
        };
        let failed = || probe([failure(), failure()]);
        assert_eq!(deterministic(&[failed(), failed()]), None);
        assert_eq!(
            deterministic(&[failed(), probe([value(1.0), failure()])]),
            None
        );
        assert_eq!(
            deterministic(&[failed(), probe([value(1.0), value(1.0)])]),
            Some(true)
        );
        assert_eq!(
            deterministic(&[probe([value(1.0), value(2.0)])]),
            Some(false)
        );
    }
}

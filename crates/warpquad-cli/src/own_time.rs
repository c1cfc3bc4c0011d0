//! Guess what a method itself will take, by a short run on a stand-in for the integrand.

use std::time::{Duration, Instant};
use warpquad::session::evaluator::Answer;
use warpquad::session::spec::Problem;
use warpquad::session::{self, Session};
use warpquad::warp::Range;
use warpquad::{Result, Value};

/// How long the short run may take.
const LONGEST: Duration = Duration::from_secs(3);

/// How many of the last points say what one more takes.
const LAST: usize = 8;

/// Seconds that the method takes for so many evaluations, those of the integrand left out.
///
/// A choice costs more the more is known, so for a long run this is a lower bound.
pub fn seconds(problem: &Problem, text: &str, evaluations: usize) -> Result<f64> {
    // A baseline takes no time beside any integrand.
    if session::baseline(problem)?.is_some() {
        return Ok(0.0);
    }
    let measure = problem.measure()?;
    let mut center = vec![0.0; measure.dim()];
    measure.quantile(&vec![0.5; measure.dim()], &mut center);
    let scale = measure.scale();
    let started = Instant::now();
    let mut problem = problem.clone();
    problem.budget.audit = None;
    let mut session = Session::new(problem, text, 0)?;
    let mut took = Vec::new();
    while took.len() < evaluations && started.elapsed() < LONGEST {
        let before = Instant::now();
        let task = session.ask()?;
        took.push(before.elapsed().as_secs_f64());
        let z = task.x.iter().zip(center.iter().zip(&scale));
        let z2: f64 = z.map(|(x, (c, s))| ((x - c) / s).powi(2)).sum();
        let value = stand_in(session.problem().settings.range, (-0.5 * z2).exp());
        session.tell(task.id, Answer::Value(value), 0.0)?;
    }
    let last = &took[took.len().saturating_sub(LAST)..];
    let each = last.iter().sum::<f64>() / last.len().max(1) as f64;
    Ok(took.iter().sum::<f64>() + each * (evaluations - took.len()) as f64)
}

/// An f inside the range, w of the way from one end; w is between 0 and 1.
fn stand_in(range: Range, w: f64) -> Value {
    let Range { lo, hi } = range;
    let w = if w.is_finite() { w.max(1e-9) } else { 0.5 };
    Value::Linear(match (lo.is_finite(), hi.is_finite()) {
        (true, true) => lo + (hi - lo) * (0.1 + 0.8 * w),
        (true, false) => lo + w,
        (false, true) => hi - w,
        (false, false) => w,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_inside_every_range() {
        let inf = f64::INFINITY;
        for (lo, hi) in [(0.0, inf), (-inf, -3.0), (2.0, 5.0), (-inf, inf)] {
            for w in [0.0, 0.5, 1.0, f64::NAN] {
                let Value::Linear(f) = stand_in(Range { lo, hi }, w) else {
                    panic!("not f itself");
                };
                assert!(lo < f && f < hi, "{lo} {hi} {f}");
            }
        }
    }

    #[test]
    fn a_baseline_takes_no_time_and_a_surrogate_some() {
        let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n";
        let problem = Problem::parse(text).unwrap();
        assert!(seconds(&problem, text, 12).unwrap() > 0.0);
        let mc = format!("{text}method.name = 'mc'\n");
        let problem = Problem::parse(&mc).unwrap();
        assert_eq!(seconds(&problem, &mc, 12).unwrap(), 0.0);
    }
}

//! Sessions run with parts that no registry knows.

use std::sync::Arc;
use warpquad::Value;
use warpquad::engine::Engine;
use warpquad::session::evaluator::Answer;
use warpquad::session::spec::Problem;
use warpquad::session::{Next, OwnIntegrator, Session};
use warpquad_extension::{Cauchy, Exponential, Farthest, Midpoints, OneFit};

/// ln f = -2 x^2 under a standard normal prior: ln Z = -ln(5) / 2.
const TEXT: &str = "integrand.log = '-2*x^2'\nparameters.x.normal = [0, 1]";
const LN_Z: f64 = -0.804_718_956_217_050_3;

fn ln_f(x: &[f64]) -> f64 {
    -2.0 * x[0] * x[0]
}

/// Run a session to its end; what it says of ln Z, and the number of evaluations.
fn run(evaluations: usize, own: OwnIntegrator) -> (f64, usize) {
    let text = format!("{TEXT}\nbudget.evaluations = {evaluations}");
    let problem = Problem::parse(&text).unwrap();
    let mut session = Session::with_integrator(problem, &text, 1, None, own).unwrap();
    while let Next::Evaluate(task) = session.next().unwrap() {
        let answer = Answer::Value(Value::Log(ln_f(&task.x)));
        session.tell(task.id, answer, 0.0).unwrap();
    }
    let z = session.outcome().unwrap();
    (z.law.ln_quantile(0.5), session.evaluations())
}

#[test]
fn a_strategy_with_a_warp_a_kernel_and_an_acquisition_of_its_own() {
    let strategy = OneFit {
        warp: Arc::new(Exponential),
        kernel: Arc::new(Cauchy),
        rule: Arc::new(Farthest),
    };
    let problem = Problem::parse(TEXT).unwrap();
    let measure = problem.measure().unwrap();
    let engine = Engine::with_strategy(
        Arc::new(strategy),
        problem.settings.range,
        measure.as_ref(),
        1,
    )
    .unwrap();
    let own = OwnIntegrator::Engine {
        name: "one-fit".into(),
        engine: Box::new(engine),
    };
    let (ln_z, evaluations) = run(24, own);
    assert_eq!(evaluations, 24);
    assert!((ln_z - LN_Z).abs() < 0.02, "{ln_z}");
}

#[test]
fn a_baseline_of_its_own() {
    let (ln_z, evaluations) = run(448, OwnIntegrator::Baseline(Arc::new(Midpoints)));
    assert_eq!(evaluations, 448);
    assert!((ln_z - LN_Z).abs() < 1e-3, "{ln_z}");
}

//! Runs that begin with what is known before: values as data, points to evaluate first.

use warpquad::Value;
use warpquad::session::spec::Problem;
use warpquad::session::{Next, Offered, Session, evaluator::Answer};

/// A peak of this width at (3, -2) under normal priors of sd 100: ln Z by the sum of two normals.
const WIDTH: f64 = 0.05;

fn ln_f(x: &[f64]) -> f64 {
    let off = |x: f64, at: f64| ((x - at) / WIDTH).powi(2);
    -0.5 * (off(x[0], 3.0) + off(x[1], -2.0))
}

fn truth() -> f64 {
    let one = |at: f64| {
        let (narrow, wide) = (WIDTH * WIDTH, 100.0 * 100.0);
        0.5 * (narrow / (narrow + wide)).ln() - 0.5 * at * at / (narrow + wide)
    };
    one(3.0) + one(-2.0)
}

fn session(budget: usize) -> Session {
    let text = format!(
        "integrand.external = 'test'\nparameters.a.normal = [0, 100]\n\
         parameters.b.normal = [0, 100]\nbudget.evaluations = {budget}"
    );
    Session::new(Problem::parse(&text).unwrap(), &text, 1).unwrap()
}

/// Run to the end of the budget: the points that were asked for.
fn finish(session: &mut Session) -> Vec<Vec<f64>> {
    let mut asked = Vec::new();
    while let Next::Evaluate(task) = session.next().unwrap() {
        let value = Value::Log(ln_f(&task.x));
        session.tell(task.id, Answer::Value(value), 0.0).unwrap();
        asked.push(task.x);
    }
    asked
}

/// Points around the peak, as an optimiser leaves them: a line towards the top, and steps about it.
fn path() -> Vec<(Vec<f64>, Option<Value>)> {
    let way = (0..6).map(|k| {
        let t = 0.3_f64.powi(k);
        vec![3.0 - 3.0 * t, -2.0 + 2.0 * t]
    });
    let steps = [
        [0.02, 0.0],
        [-0.03, 0.0],
        [0.0, 0.04],
        [0.0, -0.02],
        [0.03, 0.03],
    ];
    let about = steps.iter().map(|s| vec![3.0 + s[0], -2.0 + s[1]]);
    let valued = |x: Vec<f64>| {
        let value = Some(Value::Log(ln_f(&x)));
        (x, value)
    };
    way.chain(about).map(valued).collect()
}

fn offered(rows: Vec<(Vec<f64>, Option<Value>)>) -> Offered {
    Offered {
        source: "an optimiser".into(),
        rows,
        outside: 0,
    }
}

/// The number of evaluations after which the climb had ended.
fn climbed(session: &mut Session) -> usize {
    let report = warpquad::session::Report::new(session, "test").unwrap();
    report.climb.unwrap().frames[0] - report.given
}

#[test]
fn a_warm_start_at_a_narrow_peak_leaves_little_to_climb() {
    let mut cold = session(60);
    finish(&mut cold);
    let mut warm = session(40);
    let initial = warm.take_initial(&offered(path())).unwrap();
    assert_eq!(
        (initial.taken, warm.given(), warm.evaluations()),
        (11, 11, 0)
    );
    finish(&mut warm);
    let (cold_climb, warm_climb) = (climbed(&mut cold), climbed(&mut warm));
    println!("climb: {cold_climb} evaluations cold, {warm_climb} warm");
    assert!(
        warm_climb <= 16 && 2 * warm_climb < cold_climb + 8,
        "{warm_climb} {cold_climb}"
    );
    let z = warm.outcome().unwrap();
    let found = z.law.ln_quantile(0.5);
    assert!((found - truth()).abs() < 5e-3, "{found} is not {}", truth());
    assert_eq!(warm.evaluations(), 40);
}

#[test]
fn a_restored_warm_run_is_the_same() {
    let mut whole = session(26);
    whole.take_initial(&offered(path())).unwrap();
    whole
        .tell_at(&[50.0, 50.0], Value::Log(ln_f(&[50.0, 50.0])))
        .unwrap();
    let asked = finish(&mut whole);
    for stopped_after in [0, 5, 17] {
        let mut part = session(26);
        part.take_initial(&offered(path())).unwrap();
        part.tell_at(&[50.0, 50.0], Value::Log(ln_f(&[50.0, 50.0])))
            .unwrap();
        for _ in 0..stopped_after {
            let Next::Evaluate(task) = part.next().unwrap() else {
                panic!("it stopped");
            };
            let value = Value::Log(ln_f(&task.x));
            part.tell(task.id, Answer::Value(value), 0.0).unwrap();
        }
        let mut again = Session::from_lines(&part.to_lines()).unwrap();
        assert_eq!((again.given(), again.initial().len()), (12, 1));
        // Offered once more, as by the same command, it changes nothing.
        let repeated = again.take_initial(&offered(path())).unwrap();
        assert_eq!((repeated.taken, repeated.repeated), (0, 11));
        assert_eq!(
            finish(&mut again),
            asked[stopped_after..],
            "{stopped_after}"
        );
    }
}

#[test]
fn points_without_a_value_are_evaluated_first() {
    let mut run = session(20);
    let rows = path().into_iter().map(|(x, _)| (x, None)).collect();
    let initial = run.take_initial(&offered(rows)).unwrap();
    // Half of the budget is the run's own.
    assert_eq!((initial.first.len(), initial.thinned), (10, 1));
    assert_eq!(finish(&mut run)[..10], initial.first);
}

#[test]
fn a_broad_posterior_knows_the_rest_of_the_prior_all_the_same() {
    let text = "integrand.external = 'test'\nparameters.a.normal = [0, 1]\nbudget.evaluations = 25";
    // Two modes: what is given has seen one of them.
    let ln_f = |x: f64| {
        let mode = |at: f64| (-0.5 * ((x - at) / 0.2_f64).powi(2)).exp();
        (mode(-1.0) + mode(1.0)).ln()
    };
    let mut run = Session::new(Problem::parse(text).unwrap(), text, 2).unwrap();
    for k in 0..30 {
        let x = 0.5 + k as f64 / 29.0;
        run.tell_at(&[x], Value::Log(ln_f(x))).unwrap();
    }
    while let Next::Evaluate(task) = run.next().unwrap() {
        let value = Value::Log(ln_f(task.x[0]));
        run.tell(task.id, Answer::Value(value), 0.0).unwrap();
    }
    // Each mode is 0.2 / sqrt(1.04) exp(-1 / 2.08).
    let truth = (2.0 * 0.2 / 1.04_f64.sqrt()).ln() - 1.0 / 2.08;
    let z = run.outcome().unwrap();
    let found = z.law.ln_quantile(0.5);
    assert!((found - truth).abs() < 0.02, "{found} is not {truth}");
}

#[test]
fn points_told_unasked_are_checked() {
    let mut run = session(20);
    let zero = Value::Log(0.0);
    let refusal =
        |run: &mut Session, x: &[f64], value| run.tell_at(x, value).unwrap_err().to_string();
    assert!(refusal(&mut run, &[0.0], zero).contains("not 2 finite numbers"));
    assert!(
        refusal(&mut run, &[0.0, 1.0], Value::Linear(-1.0)).contains("outside integrand.range")
    );
    run.tell_at(&[0.0, 1.0], zero).unwrap();
    run.tell_at(&[0.0, 1.0], zero).unwrap();
    assert_eq!(run.given(), 1);
    let other = refusal(&mut run, &[0.0, 1.0], Value::Log(-1.0));
    assert!(
        other.contains("was told as ln f = 0, now it is ln f = -1"),
        "{other}"
    );
    // A point that is pending is answered.
    let task = run.ask().unwrap();
    run.tell_at(&task.x, zero).unwrap();
    assert_eq!(
        (run.given(), run.evaluations(), run.pending().len()),
        (1, 1, 0)
    );
    let text = "integrand.external = 'test'\nparameters.a.normal = [0, 1]\nmethod.name = 'mc'";
    let mut baseline = Session::new(Problem::parse(text).unwrap(), text, 0).unwrap();
    let reason = baseline.tell_at(&[0.0], zero).unwrap_err().to_string();
    assert!(
        reason.contains("a baseline chooses its own points"),
        "{reason}"
    );
}

//! Derived quantities: kept with the values, interpolated, with marginals of known truth.

use warpquad::Value;
use warpquad::points::Points;
use warpquad::session::spec::Problem;
use warpquad::session::{Next, Report, Session, evaluator::Answer};

/// A run under normal priors of this sd, of a bell of this width at (1, -1), which derives a sum
/// and a square.
fn run(prior_sd: f64, width: f64, budget: usize) -> Session {
    let text = format!(
        "integrand.external = 't'\nparameters.a.normal = [0, {prior_sd}]\n\
         parameters.b.normal = [0, {prior_sd}]\nbudget.evaluations = {budget}"
    );
    let mut session = Session::new(Problem::parse(&text).unwrap(), &text, 1).unwrap();
    while let Next::Evaluate(task) = session.next().unwrap() {
        let (a, b) = (task.x[0], task.x[1]);
        let ln_f = -0.5 * (((a - 1.0) / width).powi(2) + ((b + 1.0) / width).powi(2));
        let derived = vec![("sum".into(), a + b), ("square".into(), a * a)];
        let answer = Answer::With(Value::Log(ln_f), derived);
        session.tell(task.id, answer, 0.0).unwrap();
    }
    session
}

/// The mean and sd of a coordinate's posterior.
fn posterior(prior_sd: f64, width: f64) -> (f64, f64) {
    let (p, w) = (prior_sd * prior_sd, width * width);
    (p / (p + w), (p * w / (p + w)).sqrt())
}

#[test]
fn marginals_are_those_of_the_posterior() {
    // In the prior, and in the frame of a narrow peak.
    for (prior_sd, width, budget) in [(1.0, 0.5, 40), (100.0, 0.01, 60)] {
        let mut session = run(prior_sd, width, budget);
        let report = Report::new(&mut session, "test").unwrap();
        let [sum, square] = &report.derived[..] else {
            panic!("{:?}", report.derived);
        };
        let (m, s) = posterior(prior_sd, width);
        // a + b has mean 0; a^2 has variance 2 s^4 + 4 m^2 s^2.
        let (mean, sd) = (
            m * m + s * s,
            (2.0 * s.powi(4) + 4.0 * m * m * s * s).sqrt(),
        );
        for (found, mean, sd) in [(sum, 0.0, s * 2.0_f64.sqrt()), (square, mean, sd)] {
            assert!(
                (found.mean - mean).abs() < 0.1 * sd,
                "{found:?}, not {mean}"
            );
            assert!((found.sd / sd - 1.0).abs() < 0.1, "{found:?}, not {sd}");
            assert!(found.interpolation_sd < 0.2 * sd, "{found:?}");
            let [low, high] = found.interval;
            assert!(low < mean - 0.9 * sd && mean + 1.4 * sd < high, "{found:?}");
        }
        assert!(
            report
                .warnings
                .iter()
                .all(|warning| !warning.contains("interpolated"))
        );
        let again = Session::from_lines(&session.to_lines()).unwrap();
        assert_eq!(again.derived(), session.derived());
    }
}

#[test]
fn what_is_not_known_between_the_values_is_in_the_sd() {
    let mut session = run(1.0, 0.5, 30);
    let (points, _) = session.observations();
    // Noise from one point to the next: nothing is known of it between them.
    let rough: Vec<f64> = points.iter().map(|x| (1e6 * x[0]).sin()).collect();
    let mut engine = session.engine().unwrap().clone();
    let known = engine.interpolate(&rough).unwrap();
    let between: Vec<Vec<f64>> = (0..20).map(|k| vec![0.1 * k as f64, -0.77]).collect();
    let at = known.at(&Points::from_rows(&between).unwrap()).unwrap();
    let sd = at.iter().map(|(_, sd)| *sd).fold(0.0, f64::max);
    assert!(sd > 0.4, "{sd}");
    // Missing values are left out; with too few nothing is said.
    let mut few = vec![f64::NAN; rough.len()];
    few[0] = 1.0;
    assert!(engine.interpolate(&few).is_err());
    assert!(session.derived_marginals().is_ok());
}

#[test]
fn derived_quantities_leave_the_points_as_they_are() {
    let with = run(1.0, 0.5, 25);
    let text = "integrand.external = 't'\nparameters.a.normal = [0, 1]\n\
                parameters.b.normal = [0, 1]\nbudget.evaluations = 25";
    let mut without = Session::new(Problem::parse(text).unwrap(), text, 1).unwrap();
    while let Next::Evaluate(task) = without.next().unwrap() {
        let off = |x: f64| (x / 0.5).powi(2);
        let ln_f = -0.5 * (off(task.x[0] - 1.0) + off(task.x[1] + 1.0));
        without
            .tell(task.id, Answer::Value(Value::Log(ln_f)), 0.0)
            .unwrap();
    }
    assert_eq!(with.observations().0, without.observations().0);
}

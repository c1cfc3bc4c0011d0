//! Bad input gets an error that says what and what to do, or an answer where there is one.

use std::sync::Arc;
use warpquad::engine::{Method, integrate};
use warpquad::measure::{Empirical, Gaussian, Measure, Product, univariate};
use warpquad::warp::{Log, Probit, Range, Square, Warp};
use warpquad::{Belief, Data, Error, Fit, Functional, Points, Process, Theta, Value, Warped, fit};
use warpquad::{kernel::Matern32, kernel::SquaredExponential};

fn line(n: usize) -> Points {
    Points::from_rows(&(0..n).map(|i| vec![i as f64]).collect::<Vec<_>>()).unwrap()
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

fn theta() -> Theta {
    Theta::constant(0.0, 1.0, vec![1.0]).unwrap()
}

#[test]
fn values_that_are_no_values_are_named() {
    for bad in [
        Value::Linear(f64::NAN),
        Value::Linear(f64::INFINITY),
        Value::Log(f64::NAN),
        Value::Log(f64::INFINITY),
    ] {
        let text = message(Data::new(line(2), vec![Value::Linear(1.0), bad]));
        assert!(
            text.contains("values[1]") && text.contains("failed"),
            "{text}"
        );
    }
}

#[test]
fn values_outside_the_range_are_named_with_the_range() {
    let data = Data::new(
        line(3),
        vec![Value::Linear(0.5), Value::Linear(0.7), Value::Linear(-2.0)],
    )
    .unwrap();
    for warp in [&Log as &dyn Warp, &Probit, &Square::default()] {
        let text = message(data.g(warp));
        assert!(
            text.contains("observation 2") && text.contains("-2") && text.contains("range"),
            "{text}"
        );
    }
}

#[test]
fn a_point_with_two_values_is_refused_and_one_given_twice_is_merged() {
    let points = Points::from_rows(&[vec![1.0], vec![2.0], vec![1.0]]).unwrap();
    let values = |last: f64| vec![Value::Linear(1.0), Value::Linear(2.0), Value::Linear(last)];
    let text = message(Data::new(points.clone(), values(1.5)));
    assert!(
        text.contains("points 0 and 2") && text.contains("noise"),
        "{text}"
    );
    assert_eq!(Data::new(points.clone(), values(1.0)).unwrap().len(), 2);
    let noisy = Data::noisy(points.clone(), values(1.5)).unwrap();
    let mut noise = theta();
    noise.noise = 0.1;
    let posterior = Process::new(Matern32, noise).condition(&points, &noisy.g(&Log).unwrap());
    assert!(posterior.is_ok());
}

#[test]
fn lengths_and_dimensions_that_disagree_are_named() {
    assert!(
        message(Data::new(line(3), vec![Value::Linear(1.0)])).contains("expected length 3, got 1")
    );
    assert!(message(Points::empty(0)).contains("dimension"));
    assert!(message(Points::from_rows(&[])).contains("dimension"));
    assert!(message(Points::from_rows(&[vec![1.0], vec![1.0, 2.0]])).contains("length"));
    assert!(message(Points::new(2, vec![1.0, f64::NAN])).contains("points[0][1]"));
    let posterior = Process::new(Matern32, theta())
        .condition(&line(2), &[0.0, 1.0])
        .unwrap();
    let plane = Points::from_rows(&[vec![0.0, 0.0]]).unwrap();
    assert!(message(posterior.moments(&plane)).contains("length"));
    assert!(message(posterior.extend(&plane, &[1.0])).contains("length"));
    assert!(message(posterior.extend(&line(1), &[])).contains("length"));
    assert!(message(posterior.extend(&line(1), &[f64::NAN])).contains("g[0]"));
    let pi = Product::new(vec![univariate("uniform", &[0.0, 1.0]).unwrap(); 2]).unwrap();
    assert!(message(Functional::integral(&pi, 64).apply(&posterior)).contains("functional"));
}

#[test]
fn singular_and_asymmetric_covariances_are_refused() {
    let singular = Gaussian::new(vec![0.0, 0.0], vec![1.0, 1.0, 1.0, 1.0]);
    assert!(message(singular).contains("covariance"));
    let asymmetric = Gaussian::new(vec![0.0, 0.0], vec![1.0, 0.5, 0.1, 1.0]);
    assert!(message(asymmetric).contains("covariance"));
}

#[test]
fn coinciding_points_are_survived_by_the_jitter_ladder_which_reports_itself() {
    let points = Points::from_rows(&[vec![0.0], vec![0.0], vec![1.0]]).unwrap();
    let posterior = Process::new(SquaredExponential, theta())
        .condition(&points, &[0.5, 0.5, 0.1])
        .unwrap();
    assert!(posterior.jitter() > 0.0);
    let there = posterior.moments(&line(1)).unwrap();
    assert!((there.mean[0] - 0.5).abs() < 1e-5);
}

#[test]
fn one_observation_and_a_constant_function_have_sensible_answers() {
    let pi: Arc<dyn Measure> =
        Arc::new(Product::new(vec![univariate("uniform", &[-1.0, 1.0]).unwrap()]).unwrap());
    for (name, budget) in [
        ("mmlt", 1),
        ("bmc", 1),
        ("wsabi-m", 1),
        ("mmlt", 12),
        ("bmc", 12),
        ("wsabi-l", 12),
    ] {
        let method = Method::by_name(name).unwrap();
        let range = if name == "bmc" {
            Range::REAL
        } else {
            Range::POSITIVE
        };
        let outcome = integrate(
            |_| Ok(Value::Linear(3.0)),
            pi.clone(),
            range,
            &method,
            budget,
            1,
        );
        let outcome = outcome.unwrap_or_else(|e| panic!("{name}, {budget}: {e}"));
        if budget > 1 {
            let error = (outcome.estimate.mean() - 3.0).abs();
            assert!(error < 0.05, "{name}: {}", outcome.estimate.mean());
        } else {
            assert!(outcome.estimate.mean().is_finite());
        }
    }
}

#[test]
fn nothing_but_zeros_is_said_so() {
    let pi: Arc<dyn Measure> =
        Arc::new(Product::new(vec![univariate("uniform", &[-1.0, 1.0]).unwrap()]).unwrap());
    let method = Method::by_name("mmlt").unwrap();
    let f = |_: &[f64]| Ok(Value::Log(f64::NEG_INFINITY));
    let text = message(integrate(f, pi, Range::POSITIVE, &method, 12, 0));
    assert!(text.contains("every observation is 0"), "{text}");
}

#[test]
fn an_empirical_sample_of_one_and_no_observations_are_handled() {
    assert!(message(Data::new(Points::empty(1).unwrap(), vec![])).contains("at least one"));
    let pi = Empirical::new(line(1));
    if let Ok(pi) = pi {
        let posterior = Process::new(Matern32, theta())
            .condition(&line(1), &[0.3])
            .unwrap();
        let z = Functional::integral(&pi, 64).apply(&posterior).unwrap();
        assert!((z.mean() - 0.3).abs() < 1e-12);
    }
}

#[test]
fn a_fit_survives_hopeless_starts() {
    // A range of e^27000: most starting points overflow, one of them must still get through.
    let points =
        Points::from_rows(&(0..20).map(|i| vec![i as f64 / 19.0]).collect::<Vec<_>>()).unwrap();
    let values = points
        .iter()
        .map(|x| Value::Log(-27000.0 * (x[0] - 0.3).powi(2)))
        .collect();
    let data = Data::new(points, values).unwrap();
    let warp = data.warp(Log).unwrap();
    let process = Process::new(Matern32, Theta::constant(-1e6, 1e9, vec![1e-3]).unwrap());
    let fitted = fit(&process, &warp, &data, &Fit::default()).unwrap();
    let posterior = fitted
        .condition(data.points(), &data.g(&warp).unwrap())
        .unwrap();
    let pi = Product::new(vec![univariate("uniform", &[0.0, 1.0]).unwrap()]).unwrap();
    let belief = Warped::new(&warp, &posterior);
    assert!(
        Functional::following(&pi, 1024, 0)
            .apply(&belief)
            .unwrap()
            .ln_mean()
            .is_finite()
    );
}

#[test]
fn values_whose_differences_are_lost_to_rounding_do_no_harm() {
    let measure = Product::uniform(&[(-1.0, 1.0)]).unwrap();
    for name in ["auto", "mmlt"] {
        let method = Method::by_name(name).unwrap();
        let ln_f = |x: &[f64]| Ok(Value::Log(-1e18 - 0.5 * x[0] * x[0]));
        // A run may say that it cannot; it must not panic.
        let _ = integrate(
            ln_f,
            Arc::new(measure.clone()),
            Range::POSITIVE,
            &method,
            12,
            0,
        );
    }
}

//! Another prior over one run's observations: ln Z and posterior against known truths.

use crate::ensemble::normals;
use std::sync::Arc;
use warpquad::Value;
use warpquad::engine::{Engine, Method};
use warpquad::measure::{Measure, Product, univariate};
use warpquad::points::Points;
use warpquad::session::spec::Problem;
use warpquad::session::{Next, Report, Session, evaluator::Answer};
use warpquad::warp::Range;

/// exp(-(x - a)^2 / (2 w^2)) in each coordinate.
fn bell(centre: f64, width: f64) -> impl Fn(&[f64]) -> f64 {
    move |x: &[f64]| -> f64 {
        x.iter()
            .map(|x| -0.5 * ((x - centre) / width).powi(2))
            .sum()
    }
}

/// ln Z of a bell under a normal prior, and the posterior's mean, of one coordinate.
fn under_normal(centre: f64, width: f64, mean: f64, sd: f64) -> (f64, f64) {
    let total = width * width + sd * sd;
    let ln_z = 0.5 * (width * width / total).ln() - 0.5 * (centre - mean).powi(2) / total;
    (ln_z, (centre * sd * sd + mean * width * width) / total)
}

fn run(prior: &dyn Measure, ln_f: &dyn Fn(&[f64]) -> f64, n: usize) -> Engine {
    let range = Range::POSITIVE;
    let mut engine = Engine::new(Method::auto(range), range, prior, 1).unwrap();
    let none = Points::empty(prior.dim()).unwrap();
    for _ in 0..n {
        let x = engine.ask(&none, &none).unwrap();
        engine.tell(&x, Value::Log(ln_f(&x))).unwrap();
    }
    engine
}

fn mean_of(points: &Points, d: usize) -> f64 {
    points.iter().map(|x| x[d]).sum::<f64>() / points.len() as f64
}

#[test]
fn a_broad_prior_answers_for_narrower_wider_and_shifted_ones() {
    let old: Arc<dyn Measure> = Arc::new(normals(&[0.0, 0.0], 1.0));
    let ln_f = bell(0.6, 0.5);
    let engine = run(old.as_ref(), &ln_f, 45);
    for (mean, sd) in [(0.0, 0.3), (0.5, 0.8), (-0.4, 1.0), (0.0, 3.0)] {
        let new: Arc<dyn Measure> = Arc::new(normals(&[mean, mean], sd));
        let mut other = engine.under(old.clone(), new).unwrap();
        let (ln_z, centre) = under_normal(0.6, 0.5, mean, sd);
        let z = other.outcome().unwrap();
        let found = z.law.ln_quantile(0.5);
        let [low, high] = z.ln_interval(0.99);
        assert!(
            (found - 2.0 * ln_z).abs() < 0.02,
            "{mean} {sd}: {found} {}",
            2.0 * ln_z
        );
        assert!(
            low - 2e-3 < 2.0 * ln_z && 2.0 * ln_z < high + 2e-3,
            "{low} to {high}"
        );
        let drawn = other.posterior_sample(4000, 0).unwrap();
        assert!(
            (mean_of(&drawn.points, 0) - centre).abs() < 0.03,
            "{mean} {sd}"
        );
        let nodes = other.posterior_nodes().unwrap();
        let h: Vec<f64> = nodes.points().iter().map(|x| x[1]).collect();
        let expected = nodes.expectation(&h).unwrap();
        assert!(
            (expected.mean - centre).abs() < 0.01,
            "{mean} {sd}: {}",
            expected.mean
        );
        let looked = other.looked().unwrap().unwrap();
        assert!(looked.outside == 0.0 && looked.near >= 6, "{looked:?}");
    }
    // The run itself is as it was.
    let (ln_z, _) = under_normal(0.6, 0.5, 0.0, 1.0);
    let found = engine.clone().outcome().unwrap().law.ln_quantile(0.5);
    assert!((found - 2.0 * ln_z).abs() < 5e-3);
    assert_eq!(engine.clone().looked().unwrap(), None);
}

#[test]
fn a_narrow_peak_answers_in_its_frame() {
    let vague = |sd: f64| -> Arc<dyn Measure> {
        let law = || univariate("normal", &[0.0, sd]).unwrap();
        Arc::new(Product::new(vec![law(), law()]).unwrap())
    };
    let old = vague(100.0);
    let mut engine = run(old.as_ref(), &bell(3.0, 0.05), 60);
    assert!(engine.outcome().is_ok() && !engine.frames().is_empty());
    for sd in [10.0, 1.0] {
        let mut other = engine.under(old.clone(), vague(sd)).unwrap();
        let (ln_z, centre) = under_normal(3.0, 0.05, 0.0, sd);
        let found = other.outcome().unwrap().law.ln_quantile(0.5);
        assert!(
            (found - 2.0 * ln_z).abs() < 0.01,
            "{sd}: {found} {}",
            2.0 * ln_z
        );
        let drawn = other.posterior_sample(4000, 0).unwrap();
        assert!((mean_of(&drawn.points, 1) - centre).abs() < 5e-3, "{sd}");
    }
}

#[test]
fn images_weigh_as_the_other_prior_says() {
    // Two peaks that are mirror images, of which the other prior prefers one.
    let ln_f = |x: &[f64]| {
        let peak =
            |a: f64, b: f64| -0.5 * (((x[0] - a) / 0.02).powi(2) + ((x[1] - b) / 0.02).powi(2));
        let (one, two): (f64, f64) = (peak(1.0, 2.0), peak(2.0, 1.0));
        one.max(two) + (-(one - two).abs()).exp().ln_1p()
    };
    let normal = |means: [f64; 2], sd: f64| -> Arc<dyn Measure> {
        let law = |mean: f64| univariate("normal", &[mean, sd]).unwrap();
        Arc::new(Product::new(means.map(law).to_vec()).unwrap())
    };
    let old = normal([0.0, 0.0], 50.0);
    let engine = run(old.as_ref(), &ln_f, 70);
    let images = engine.frames().last().unwrap().peak.images().len();
    assert_eq!(images, 2);
    let new = normal([1.0, 2.0], 1.0);
    let mut other = engine.under(old, new.clone()).unwrap();
    let at = |x: [f64; 2]| new.ln_density(&x).exp();
    let (one, two) = (at([1.0, 2.0]), at([2.0, 1.0]));
    let truth = (2.0 * std::f64::consts::PI * 4e-4 * (one + two)).ln();
    let found = other.outcome().unwrap().law.ln_quantile(0.5);
    assert!((found - truth).abs() < 0.01, "{found} {truth}");
    let drawn = other.posterior_sample(4000, 0).unwrap();
    let first = drawn.points.iter().filter(|x| x[0] < x[1]).count() as f64 / 4000.0;
    assert!(
        (first - one / (one + two)).abs() < 0.03,
        "{first} {}",
        one / (one + two)
    );
}

fn session(prior: &str, centre: f64) -> Session {
    let text = format!("integrand.external = 't'\n{prior}\nbudget.evaluations = 30");
    let mut session = Session::new(Problem::parse(&text).unwrap(), &text, 1).unwrap();
    let ln_f = bell(centre, 0.5);
    while let Next::Evaluate(task) = session.next().unwrap() {
        session
            .tell(task.id, Answer::Value(Value::Log(ln_f(&task.x))), 0.0)
            .unwrap();
    }
    session
}

#[test]
fn a_report_says_where_the_run_hardly_looked() {
    let run = session("parameters.x.uniform = [-5, 5]", 0.0);
    let report = |prior: &str| {
        let mut under = run.under(Problem::parse_prior(prior).unwrap()).unwrap();
        Report::new(&mut under, "test").unwrap()
    };
    let prior = |report: &Report| {
        let reason = report.reasons.iter().find(|reason| reason.code == "prior");
        reason.map(|reason| reason.sentence.clone())
    };
    let fine = report("parameters.x.normal = [0, 1]");
    assert_eq!((prior(&fine), fine.verdict()), (None, "settled"));
    assert!(
        (fine.ln_z() - 0.5 * (0.25_f64 / 1.25).ln()).abs() < 0.01,
        "{}",
        fine.ln_z()
    );
    // Half of the other prior is where the run's own has nothing.
    let outside = prior(&report("parameters.x.uniform = [0, 10]")).unwrap();
    assert!(
        outside.starts_with("50.0 % of the other prior lies where"),
        "{outside}"
    );
    // In the tail of f the run has hardly looked.
    let far = report("parameters.x.normal = [4.9, 0.01]");
    let far = prior(&far).unwrap();
    assert!(
        far.contains("evaluations lie near the posterior under the other prior"),
        "{far}"
    );
    // Without an audit's points of its own, and asking no more.
    let mut under = run.under(Problem::parse_prior("parameters.x.uniform = [-1, 1]").unwrap());
    assert!(under.as_mut().unwrap().ask().is_err());
}

#[test]
fn a_prior_of_another_problem_is_refused() {
    let run = session("parameters.x.uniform = [-5, 5]", 0.0);
    for (prior, words) in [
        (
            "parameters.y.normal = [0, 1]",
            "the run has the parameters x",
        ),
        (
            "parameters.x.normal = [0, 1]\nparameters.c = 2.0",
            "with its fixed numbers",
        ),
        (
            "parameters.x.uniform = [6, 7]",
            "the other prior has no mass where",
        ),
    ] {
        let problem = Problem::parse_prior(prior).unwrap();
        let found = run.under(problem).and_then(|mut under| under.outcome());
        let error = found.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

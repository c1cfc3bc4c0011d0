//! One answer about one f: draws, expectations and the law of Z agree with each other.

use std::sync::{Arc, OnceLock};
use warpquad::engine::{Engine, Method, Plan, Tuning};
use warpquad::functional::{Drawing, law_of_z};
use warpquad::measure::{Measure, Product, univariate};
use warpquad::numeric::special::ln_sum_exp;
use warpquad::numeric::stream::Streams;
use warpquad::warp::Range;
use warpquad::{Belief, Ensemble, Points, Value};

/// Normal priors of sd 1 about these means, in each coordinate.
pub fn normals(means: &[f64], sd: f64) -> Product {
    let law = |mean: &f64| univariate("normal", &[*mean, sd]).unwrap();
    Product::new(means.iter().map(law).collect()).unwrap()
}

fn run(method: Method, dim: usize, ln_f: fn(&[f64]) -> f64, n: usize) -> Engine {
    let prior = normals(&vec![0.0; dim], 1.0);
    let mut engine = Engine::new(method, Range::POSITIVE, &prior, 1).unwrap();
    let none = Points::empty(dim).unwrap();
    for _ in 0..n {
        let x = engine.ask(&none, &none).unwrap();
        let value = Value::Log(ln_f(&x));
        engine.tell(&x, value).unwrap();
    }
    engine
}

fn bell(x: &[f64]) -> f64 {
    -2.0 * x.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>()
}

fn ridge(x: &[f64]) -> f64 {
    -8.0 * (x[0] + x[1] - 0.3).powi(2) - 0.5 * x[0] * x[0]
}

fn bent(x: &[f64]) -> f64 {
    -4.0 * (x[1] - x[0] * x[0]).powi(2) - 0.5 * (1.0 - x[0]).powi(2)
}

fn two(x: &[f64]) -> f64 {
    let bump = |at: f64| -20.0 * x.iter().map(|x| (x - at).powi(2)).sum::<f64>();
    ln_sum_exp(&[bump(-0.8), bump(0.7) - 0.4])
}

fn waves(x: &[f64]) -> f64 {
    (3.0 * x[0]).sin() + (2.0 * x[1]).cos()
}

/// A name, ln f, its dimension and the evaluations of a run.
type Problem = (&'static str, fn(&[f64]) -> f64, usize, usize);

/// The last two stop so early that the models of the ensemble disagree.
const PROBLEMS: [Problem; 6] = [
    ("bell", bell, 3, 40),
    ("ridge", ridge, 2, 40),
    ("bent", bent, 2, 50),
    ("waves", waves, 2, 40),
    ("two bumps, too early", two, 2, 14),
    ("bent, too early", bent, 2, 12),
];

/// A run of every problem, with its name: the tests share them.
fn runs() -> impl Iterator<Item = (&'static str, Engine)> {
    static RUNS: OnceLock<Vec<Engine>> = OnceLock::new();
    let runs = RUNS.get_or_init(|| {
        let one = |(_, f, dim, n): Problem| {
            let mut engine = run(Method::auto(Range::POSITIVE), dim, f, n);
            engine.outcome().unwrap();
            engine
        };
        PROBLEMS.into_iter().map(one).collect()
    });
    PROBLEMS
        .iter()
        .map(|problem| problem.0)
        .zip(runs.iter().cloned())
}

#[test]
fn some_of_the_problems_have_models_that_disagree() {
    let disagree = |mut engine: Engine| {
        let dim = engine.history().dim();
        let ensemble = engine.ensemble().unwrap().clone();
        let how = Drawing::default();
        let measure = normals(&vec![0.0; dim], 1.0);
        let alone = ensemble.kinds().iter().map(|kind| {
            let one = Ensemble::one(kind.fitted.clone());
            let drawn = law_of_z(&one, &measure, &how, Streams::new(1, 1)).unwrap();
            drawn.law.ln_quantile(0.5)
        });
        let alone: Vec<f64> = alone.collect();
        let ends = alone.iter().fold((f64::MAX, f64::MIN), |(low, high), z| {
            (low.min(*z), high.max(*z))
        });
        ends.1 - ends.0 > 0.02
    };
    let count = runs()
        .filter(|(_, engine)| disagree(engine.clone()))
        .count();
    assert!(count >= 2, "{count}");
}

#[test]
fn draws_and_expectations_agree() {
    for (name, mut engine) in runs() {
        let dim = engine.history().dim();
        let nodes = engine.posterior_nodes().unwrap();
        let drawn = engine.posterior_sample(4000, 3).unwrap();
        for d in 0..dim {
            let h: Vec<f64> = nodes.points().iter().map(|x| x[d]).collect();
            let expected = nodes.expectation(&h).unwrap();
            let along: Vec<f64> = drawn.points.iter().map(|x| x[d]).collect();
            let mean = along.iter().sum::<f64>() / 4000.0;
            let var = along.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
            // Draws that are resampled and moved are worth about half as many. The mean over draws
            // of f is that of a ratio, which differs from the ratio of means by about its variance.
            let error = (var / 2000.0).sqrt().hypot(expected.node_error);
            let bound = 4.0 * error.hypot(0.25 * expected.sd());
            assert!(
                (mean - expected.mean).abs() < bound,
                "{name}, {d}: {mean} {} {bound}",
                expected.mean
            );
        }
    }
}

#[test]
fn another_prior_gives_the_same_z_both_ways() {
    for (name, mut engine) in runs() {
        let dim = engine.history().dim();
        let (old, new) = (normals(&vec![0.0; dim], 1.0), normals(&vec![0.1; dim], 0.8));
        let ratio = |x: &[f64]| (new.ln_density(x) - old.ln_density(x)).exp();
        let nodes = engine.posterior_nodes().unwrap();
        let h: Vec<f64> = nodes.points().iter().map(ratio).collect();
        let expected = nodes.expectation(&h).unwrap();
        let before = engine.outcome().unwrap();
        let by_ratio = before.law.ln_quantile(0.5) + expected.mean.ln();
        let ensemble = engine.ensemble().unwrap();
        let streams = Streams::new(5, 5);
        let own = law_of_z(ensemble, &new, &Drawing::default(), streams).unwrap();
        let gap = (by_ratio - own.law.ln_quantile(0.5)).abs();
        // What is not known of Z is shared by both ways; what is left is what is not known of the
        // ratio, and the error of three sets of nodes.
        let nodes = before.estimate.relative_node_error().hypot(own.node_error);
        let bound = 3.0 * (expected.sd() / expected.mean).hypot(nodes).max(1e-3);
        assert!(gap < bound, "{name}: {gap} {bound}");
    }
}

#[test]
fn predictions_at_a_point_come_from_all_models() {
    let mut engine = run(Method::auto(Range::POSITIVE), 2, waves, 30);
    let ensemble = engine.ensemble().unwrap();
    let at = Points::from_rows(&[vec![0.2, -0.4], vec![-0.5, 0.6]]).unwrap();
    let moments = ensemble.moments(&at).unwrap();
    for (i, x) in at.iter().enumerate() {
        let (mean, sd) = (moments.means()[i], moments.vars()[i].sqrt());
        assert!((mean - waves(x).exp()).abs() < 4.0 * sd, "{mean} {sd}");
    }
    let cov = ensemble.cov(&at, &at).unwrap();
    assert!((cov[(0, 0)] / moments.var[0] - 1.0).abs() < 1e-9);
    assert!((cov[(0, 1)] - cov[(1, 0)]).abs() <= 1e-12 * cov[(0, 0)].abs());
}

#[test]
fn how_many_draws_one_consumer_takes_moves_nothing_else() {
    let with = |change: fn(&mut Tuning)| {
        let mut tuning = Tuning::default();
        change(&mut tuning);
        let method = Method {
            plan: Plan::Auto(Box::new(tuning)),
            ..Method::auto(Range::POSITIVE)
        };
        run(method, 2, bent, 30)
    };
    let mut plain = with(|_| {});
    let mut more = with(|tuning| {
        tuning.law_draws += 100;
        tuning.hindsight_draws += 100;
    });
    assert_eq!(plain.observations().0, more.observations().0);
    let drawn = |engine: &mut Engine| engine.posterior_sample(300, 2).unwrap().points;
    assert_eq!(drawn(&mut plain), drawn(&mut more));
    let nodes = |engine: &mut Engine| engine.posterior_nodes().unwrap().points().clone();
    assert_eq!(nodes(&mut plain), nodes(&mut more));
    let error = |engine: &mut Engine| engine.outcome().unwrap().estimate.relative_node_error();
    let (plain, more) = (error(&mut plain), error(&mut more));
    assert!((plain / more - 1.0).abs() < 1e-9, "{plain} {more}");
}

#[test]
fn a_published_method_is_an_ensemble_of_one() {
    let mut engine = run(Method::by_name("mmlt").unwrap(), 2, bell, 20);
    let model = engine.model().unwrap().unwrap().clone();
    let ensemble = engine.ensemble().unwrap();
    assert_eq!(ensemble.members().count(), 1);
    let at = Arc::new(Points::from_rows(&[vec![0.3, 0.1]]).unwrap());
    assert_eq!(
        ensemble.moments(&at).unwrap().means(),
        model.moments(&at).unwrap().means()
    );
}

//! What a run knows of zeros, failures and noise: where f ends, what is lost, and how sure it is.

use std::f64::consts::{PI, TAU};
use warpquad::Value;
use warpquad::engine::{Engine, Method};
use warpquad::measure::Product;
use warpquad::numeric::random::Rng;
use warpquad::numeric::special::ln_normal_cdf;
use warpquad::points::Points;
use warpquad::warp::Range;

/// What came of a run: the median and the 95 % interval of ln Z, and how many evaluations failed.
struct Came {
    ln_z: f64,
    interval: [f64; 2],
    failed: usize,
    engine: Engine,
}

/// A run over the square from -3 to 3, whose integrand may fail.
fn run(
    seed: u64,
    budget: usize,
    set: impl Fn(Engine) -> Engine,
    mut f: impl FnMut(&[f64]) -> Option<f64>,
) -> Came {
    let square = Product::uniform(&[(-3.0, 3.0), (-3.0, 3.0)]).unwrap();
    let method = Method::auto(Range::POSITIVE);
    let mut engine = set(Engine::new(method, Range::POSITIVE, &square, seed).unwrap());
    let none = Points::empty(2).unwrap();
    let mut failed = none.clone();
    for _ in 0..budget {
        let x = engine.ask(&none, &failed).unwrap();
        match f(&x) {
            Some(ln_f) => engine.tell(&x, Value::Log(ln_f)).unwrap(),
            None => {
                failed.push(&x).unwrap();
                engine.fail(&x).unwrap();
            }
        }
    }
    let outcome = engine.outcome().unwrap();
    Came {
        ln_z: outcome.law.ln_quantile(0.5),
        interval: outcome.ln_interval(0.95),
        failed: failed.len(),
        engine,
    }
}

/// A bump of sd 0.3 about (0.4, -0.1), and ln of its part of the square.
fn bump(x: &[f64]) -> f64 {
    -0.5 * ((x[0] - 0.4).powi(2) + (x[1] + 0.1).powi(2)) / 0.09
}

fn ln_z_of_bump() -> f64 {
    (TAU * 0.09 / 36.0).ln()
}

#[test]
fn an_order_told_by_zeros_is_learnt() {
    // Beyond the diagonal f is 0; x[0] - x[1] has the mean 0.5 and the variance 2 x 0.09.
    let truth = ln_z_of_bump() + ln_normal_cdf(0.5 / 0.18_f64.sqrt());
    let f = |x: &[f64]| {
        Some(if x[0] > x[1] {
            bump(x)
        } else {
            f64::NEG_INFINITY
        })
    };
    let came = run(1, 60, |engine| engine, f);
    assert!(
        (came.ln_z - truth).abs() < 0.05,
        "{} is not {truth}",
        came.ln_z
    );
    let [low, high] = came.interval;
    assert!(low <= truth && truth <= high && high - low < 0.4);
}

#[test]
fn few_evaluations_are_spent_where_they_fail() {
    // A corner with 16 % of the square.
    let fails = |x: &[f64]| x[0] > 0.6 && x[1] > 0.6;
    let f = |x: &[f64]| (!fails(x)).then(|| bump(x));
    let mut came = run(2, 60, |engine| engine, f);
    assert!(came.failed <= 15, "{} failed", came.failed);
    let [low, high] = came.interval;
    let truth = ln_z_of_bump();
    assert!(
        low <= truth && truth <= high,
        "{truth} is not in {low} to {high}"
    );
    // Little of the bump lies there, and the answer knows how much.
    let part = came.engine.answer().unwrap().doubts.failed_part.unwrap();
    assert!(part < 0.1, "{part}");
}

#[test]
fn a_bump_that_nobody_can_see_leaves_an_answer_in_doubt() {
    let f = |x: &[f64]| ((x[0] - 0.4).powi(2) + (x[1] + 0.1).powi(2) > 0.5).then(|| bump(x));
    let mut came = run(3, 50, |engine| engine, f);
    let part = came.engine.answer().unwrap().doubts.failed_part.unwrap();
    assert!(part > 0.5, "{part}");
    let [low, high] = came.interval;
    assert!(high - low > 1.0, "{low} to {high}");
}

#[test]
fn failures_may_be_taken_for_zeros() {
    let f = |x: &[f64]| (x[0] > x[1]).then(|| bump(x));
    let came = run(1, 60, |engine| engine.with_failed_as_zero(true), f);
    let truth = ln_z_of_bump() + ln_normal_cdf(0.5 / 0.18_f64.sqrt());
    assert!(
        (came.ln_z - truth).abs() < 0.1,
        "{} is not {truth}",
        came.ln_z
    );
    let [low, high] = came.interval;
    assert!(low <= truth && truth <= high);
}

#[test]
fn declared_noise_is_in_the_interval() {
    let truth = (PI / 36.0).ln();
    let (mut covered, mut widths) = (0, 0.0);
    for seed in 0..6 {
        let mut rng = Rng::new(100 + seed);
        let f = |x: &[f64]| Some(-x[0] * x[0] - x[1] * x[1] + rng.normal());
        let came = run(seed, 40, |engine| engine.with_noise(1.0), f);
        let [low, high] = came.interval;
        covered += usize::from(low <= truth && truth <= high);
        widths += (high - low) / 6.0;
    }
    // Under noise of sd 1 forty values know ln Z to about 0.2.
    assert!(covered >= 5, "{covered} of 6");
    assert!((0.3..2.0).contains(&widths), "{widths}");
}

#[test]
fn values_that_say_nothing_of_f_leave_room() {
    // One point misses 95 % of the square with probability 5 %, 25 of them 1 - 0.05^(1/25).
    for (budget, ln_f) in [(1, -6.7), (25, -1e10), (25, 0.0)] {
        let came = run(0, budget, |engine| engine, |_| Some(ln_f));
        let reach = 20.0_f64.ln() / budget as f64;
        let [low, high] = came.interval;
        assert!((came.ln_z - ln_f).abs() < 1e-5, "{budget} {}", came.ln_z);
        for half in [came.ln_z - low, high - came.ln_z] {
            assert!(
                half > 0.98 * reach && half < 1.05 * reach,
                "{budget} {half}"
            );
        }
    }
}

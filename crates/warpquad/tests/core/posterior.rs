//! The posterior of a run: draws, expectations and their error bars, against exact answers.

use warpquad::engine::{Engine, Method, integrate};
use warpquad::fit::Space;
use warpquad::measure::{Chart, Measure, Product, univariate};
use warpquad::numeric::special::normal_cdf;
use warpquad::warp::Range;
use warpquad::{Points, Value};

fn smooth(name: &str) -> Method {
    Method {
        kernel: "squared-exponential".into(),
        space: Space::G,
        ..Method::by_name(name).unwrap()
    }
}

fn run(
    method: Method,
    range: Range,
    measure: &dyn Measure,
    f: impl Fn(&[f64]) -> Value,
    n: usize,
    seed: u64,
) -> Engine {
    let mut engine = Engine::new(method, range, measure, seed).unwrap();
    let none = Points::empty(measure.dim()).unwrap();
    for _ in 0..n {
        let x = engine.ask(&none, &none).unwrap();
        engine.tell(&x, f(&x)).unwrap();
    }
    engine
}

/// A standard normal prior in each of d coordinates, and the likelihood of one datum 1 with sd 1/2:
/// the posterior is normal with mean 4/5 and variance 1/5.
fn conjugate(d: usize, n: usize, seed: u64) -> Engine {
    let prior = Product::new(vec![univariate("normal", &[0.0, 1.0]).unwrap(); d]).unwrap();
    let ln_f = |x: &[f64]| Value::Log(-2.0 * x.iter().map(|x| (x - 1.0).powi(2)).sum::<f64>());
    run(
        smooth("mmlt-literal"),
        Range::POSITIVE,
        &prior,
        ln_f,
        n,
        seed,
    )
}

const MEAN: f64 = 0.8;
const SD: f64 = 0.447_213_595_499_957_9;

/// The banana of the examples on a flat prior: y given x is normal about x^2 with variance 1/10,
/// and x has the density exp(-(1 - x)^2 / 20) up to what the box cuts off.
fn banana(n: usize, seed: u64) -> Engine {
    let prior = Product::uniform(&[(-5.0, 5.0), (-5.0, 5.0)]).unwrap();
    let method = Method {
        acquisition: "information-gain".into(),
        ..smooth("mmlt-literal")
    };
    let ln_f = |x: &[f64]| {
        Value::Log(-(100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)) / 20.0)
    };
    run(method, Range::POSITIVE, &prior, ln_f, n, seed)
}

/// The unnormalised marginal of x in the banana: what is left of y's normal inside the box.
fn banana_x(x: f64) -> f64 {
    let sd = 0.1_f64.sqrt();
    let inside = normal_cdf((5.0 - x * x) / sd) - normal_cdf((-5.0 - x * x) / sd);
    (-(1.0 - x).powi(2) / 20.0).exp() * inside
}

/// The distribution function of a density on [-5, 5], by the trapezoidal rule.
fn cdf_on_box(density: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    const STEPS: usize = 20_000;
    let h = 10.0 / STEPS as f64;
    let mut sums = vec![0.0];
    for i in 0..STEPS {
        let x = -5.0 + h * i as f64;
        sums.push(sums[i] + 0.5 * h * (density(x) + density(x + h)));
    }
    move |x| sums[(((x + 5.0) / h) as usize).min(STEPS)] / sums[STEPS]
}

/// The largest gap between an empirical and a given distribution function.
fn kolmogorov_smirnov(mut x: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let gaps = x.iter().enumerate().map(|(i, &x)| {
        let f = cdf(x);
        (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
    });
    gaps.fold(0.0, f64::max)
}

fn column(points: &Points, d: usize) -> Vec<f64> {
    points.iter().map(|x| x[d]).collect()
}

fn distinct(points: &Points) -> f64 {
    let mut rows: Vec<&[f64]> = points.iter().collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows.dedup();
    rows.len() as f64 / points.len() as f64
}

#[test]
fn draws_follow_a_normal_posterior() {
    for (d, n) in [(1, 15), (3, 60)] {
        let drawn = conjugate(d, n, 1).posterior_sample(4000, 7).unwrap();
        assert_eq!(drawn.points.len(), 4000);
        for k in 0..d {
            let gap = kolmogorov_smirnov(column(&drawn.points, k), |x| normal_cdf((x - MEAN) / SD));
            // Of 4000 independent draws the gap exceeds 1.95 / sqrt(4000) once in a thousand times.
            assert!(gap < 0.031, "dimension {k} of {d}: {gap}");
        }
        assert!(distinct(&drawn.points) > 0.9, "{}", distinct(&drawn.points));
    }
}

#[test]
fn draws_follow_a_banana() {
    let mut engine = banana(60, 0);
    let drawn = engine.posterior_sample(4000, 3).unwrap();
    let gap = kolmogorov_smirnov(column(&drawn.points, 0), cdf_on_box(banana_x));
    let residual = drawn.points.iter().filter(|x| x[0].abs() < 1.8);
    let residual: Vec<f64> = residual
        .map(|x| (x[1] - x[0] * x[0]) / 0.1_f64.sqrt())
        .collect();
    let across = kolmogorov_smirnov(residual, normal_cdf);
    assert!(gap < 0.04, "{gap}");
    assert!(across < 0.04, "{across}");
    assert!(distinct(&drawn.points) > 0.9);
    assert!(drawn.points.iter().all(|x| x.iter().all(|x| x.abs() < 5.0)));
}

#[test]
fn the_same_seed_gives_the_same_draws() {
    let mut engine = conjugate(1, 12, 0);
    let draw = |engine: &mut Engine, seed| engine.posterior_sample(300, seed).unwrap().points;
    let first = draw(&mut engine, 5);
    assert_eq!(first, draw(&mut engine, 5));
    assert_eq!(first, draw(&mut conjugate(1, 12, 0), 5));
    assert_ne!(first, draw(&mut engine, 6));
    assert_eq!(draw(&mut engine, 5).len(), 300);
    assert_eq!(engine.posterior_sample(3, 5).unwrap().points.len(), 3);
}

#[test]
fn expectations_meet_the_exact_ones_within_their_error_bars() {
    type Function = fn(&[f64]) -> f64;
    let functions: [(&str, Function, f64); 4] = [
        ("mean", |x| x[0], MEAN),
        ("variance", |x| (x[0] - MEAN).powi(2), SD * SD),
        (
            "P(x > 1)",
            |x| f64::from(x[0] > 1.0),
            1.0 - normal_cdf((1.0 - MEAN) / SD),
        ),
        ("E exp(x)", |x| x[0].exp(), (MEAN + 0.5 * SD * SD).exp()),
    ];
    for (d, n) in [(1, 12), (2, 22)] {
        let mut covered = 0;
        const SEEDS: u64 = 4;
        for seed in 0..SEEDS {
            let nodes = conjugate(d, n, seed).posterior_nodes().unwrap();
            for (name, h, exact) in &functions {
                let h: Vec<f64> = nodes.points().iter().map(h).collect();
                let e = nodes.expectation(&h).unwrap();
                let [low, high] = e.interval(0.95);
                covered += usize::from(low <= *exact && *exact <= high);
                assert!(
                    (e.mean - exact).abs() < 0.02 * exact.abs().max(0.1),
                    "{name}: {}",
                    e.mean
                );
            }
        }
        // 95 % intervals of four functions of the same runs, so far from independent: 15 of 16 are
        // expected, fewer than 12 would show bars that are too short.
        assert!(covered >= 12, "{d}: {covered} of 16");
    }
}

#[test]
fn looking_back_ends_with_the_present_and_leaves_no_trace() {
    let mut engine = conjugate(2, 24, 0);
    let before = engine.outcome().unwrap();
    let trace = engine.trace(5).unwrap();
    let counts: Vec<usize> = trace.iter().map(|o| o.evaluations).collect();
    assert_eq!(counts.len(), 5);
    assert!(
        counts.windows(2).all(|w| w[0] < w[1]) && counts[4] == 24,
        "{counts:?}"
    );
    assert_eq!(trace[4].ln_interval(0.95), before.ln_interval(0.95));
    // The run as it was: the same as one that stopped there and had not refitted since.
    let prior = Product::new(vec![univariate("normal", &[0.0, 1.0]).unwrap(); 2]).unwrap();
    let ln_f = |x: &[f64]| -> warpquad::Result<Value> {
        Ok(Value::Log(
            -2.0 * x.iter().map(|x| (x - 1.0).powi(2)).sum::<f64>(),
        ))
    };
    let n = counts[1];
    let then = integrate(
        ln_f,
        std::sync::Arc::new(prior),
        Range::POSITIVE,
        &smooth("mmlt-literal"),
        n,
        0,
    )
    .unwrap();
    let gap = then.law.ln_quantile(0.5) - trace[1].law.ln_quantile(0.5);
    assert!(
        gap.abs() < 4.0 * then.ln_sd().hypot(trace[1].ln_sd()),
        "{gap}"
    );
    let again = engine.trace(1).unwrap();
    assert_eq!((again.len(), again[0].evaluations), (1, 24));
}

#[test]
fn a_signed_f_has_no_posterior_and_a_bounded_or_linearised_one_has() {
    let prior = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let f = |x: &[f64]| Value::Linear(0.2 + 0.6 * x[0]);
    // E[x] under (0.2 + 0.6 x) on the unit interval: (0.1 + 0.2) / 0.5.
    for (name, range) in [
        ("probit", Range::UNIT),
        ("wsabi-l", Range::POSITIVE),
        ("wsabi-m", Range::POSITIVE),
    ] {
        let mut engine = run(smooth(name), range, &prior, f, 12, 0);
        let nodes = engine.posterior_nodes().unwrap();
        let h = column(nodes.points(), 0);
        let e = nodes.expectation(&h).unwrap();
        assert!((e.mean - 0.6).abs() < 1e-4, "{name}: {}", e.mean);
        let drawn = engine.posterior_sample(2000, 0).unwrap();
        let gap = kolmogorov_smirnov(column(&drawn.points, 0), |x| (0.2 * x + 0.3 * x * x) / 0.5);
        assert!(gap < 0.045, "{name}: {gap}");
    }
    let mut signed = run(smooth("bmc"), Range::REAL, &prior, f, 10, 0);
    let message = signed.posterior_sample(10, 0).unwrap_err().to_string();
    assert!(message.contains("f may be negative"), "{message}");
    assert!(signed.posterior_nodes().is_err());
}

#[test]
fn draws_come_back_in_the_users_coordinates() {
    let prior = Product::new(vec![univariate("log-normal", &[0.0, 1.0]).unwrap()]).unwrap();
    let method = Method {
        coordinates: Chart::Natural,
        ..smooth("mmlt-literal")
    };
    // ln x has the conjugate posterior.
    let ln_f = |x: &[f64]| Value::Log(-2.0 * (x[0].ln() - 1.0).powi(2));
    let mut engine = run(method, Range::POSITIVE, &prior, ln_f, 14, 0);
    let drawn = engine.posterior_sample(4000, 0).unwrap();
    let gap = kolmogorov_smirnov(column(&drawn.points, 0), |x| {
        normal_cdf((x.ln() - MEAN) / SD)
    });
    assert!(gap < 0.031, "{gap}");
}

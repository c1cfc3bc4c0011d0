//! The method that chooses for the user: no missed mode, intervals that hold, on every range of f.

use std::f64::consts::TAU;
use std::sync::Arc;
use warpquad::Value;
use warpquad::engine::{Engine, Method, Outcome, integrate};
use warpquad::measure::{Empirical, Measure, Product, univariate};
use warpquad::numeric::special::ln_sum_exp;
use warpquad::points::Points;
use warpquad::warp::Range;

fn run(
    f: impl Fn(&[f64]) -> Value,
    measure: Arc<dyn Measure>,
    range: Range,
    budget: usize,
) -> Outcome {
    run_from(1, f, measure, range, budget)
}

fn run_from(
    seed: u64,
    f: impl Fn(&[f64]) -> Value,
    measure: Arc<dyn Measure>,
    range: Range,
    budget: usize,
) -> Outcome {
    let method = Method::auto(range);
    integrate(|x| Ok(f(x)), measure, range, &method, budget, seed).unwrap()
}

fn product(laws: &[(&str, &[f64])]) -> Arc<Product> {
    let laws = laws
        .iter()
        .map(|(name, numbers)| univariate(name, numbers).unwrap());
    Arc::new(Product::new(laws.collect()).unwrap())
}

/// Within `error` of the truth, which is in the 99 % interval; its width.
fn width_around(z: &Outcome, truth: f64, error: f64) -> f64 {
    let found = z.law.ln_quantile(0.5);
    let [low, high] = z.ln_interval(0.99);
    assert!((found - truth).abs() < error, "{found} is not {truth}");
    assert!(
        low <= truth && truth <= high,
        "{truth} is not in {low} to {high}"
    );
    high - low
}

/// The same, and the interval is no wider than eight times that error.
fn assert_holds(z: &Outcome, truth: f64, error: f64) {
    let width = width_around(z, truth, error);
    assert!(width < 8.0 * error, "{width} says too little");
}

#[test]
fn finds_all_four_bumps() {
    let bumps = [
        (-2.0, -2.0, 0.3, 0.0),
        (2.0, 1.5, 0.5, -0.5),
        (-1.5, 2.5, 0.2, 0.3),
        (2.5, -2.5, 0.35, -0.2),
    ];
    let ln_f = |x: &[f64]| {
        let one = |&(a, b, w, h): &(f64, f64, f64, f64)| {
            h - 0.5 * ((x[0] - a).powi(2) + (x[1] - b).powi(2)) / (w * w)
        };
        Value::Log(ln_sum_exp(&bumps.iter().map(one).collect::<Vec<_>>()))
    };
    // Each is at least three widths from the edges: what is cut off is below 1e-4.
    let masses = bumps.iter().map(|(_, _, w, h)| h + (TAU * w * w).ln());
    let truth = ln_sum_exp(&masses.collect::<Vec<_>>()) - 64.0_f64.ln();
    let z = run(
        ln_f,
        Arc::new(Product::uniform(&[(-4.0, 4.0); 2]).unwrap()),
        Range::POSITIVE,
        75,
    );
    assert_holds(&z, truth, 0.03);
}

#[test]
fn goes_on_to_the_peaks_of_an_egg_box_once_those_it_knows_are_resolved() {
    // Ten of them, four of which are cut by the box. The sum over a grid of midpoints is right to
    // far more digits than are asked.
    let ln_f = |x: f64, y: f64| (2.0 + (0.5 * x).cos() * (0.5 * y).cos()).powi(5);
    let (side, n) = (3.5 * TAU, 600);
    let at = |i: usize| (i as f64 + 0.5) * side / n as f64;
    let grid: Vec<f64> = (0..n * n).map(|k| ln_f(at(k / n), at(k % n))).collect();
    let truth = ln_sum_exp(&grid) - ((n * n) as f64).ln();
    for seed in 1..=3 {
        let square = Arc::new(Product::uniform(&[(0.0, side); 2]).unwrap());
        let f = |x: &[f64]| Value::Log(ln_f(x[0], x[1]));
        let z = run_from(seed, f, square, Range::POSITIVE, 200);
        assert_holds(&z, truth, 0.01);
    }
}

#[test]
fn integrates_a_likelihood_in_eight_dimensions() {
    let ln_f = |x: &[f64]| {
        Value::Log(-7000.0 - 0.5 * x.iter().map(|x| ((x - 0.4) / 0.3).powi(2)).sum::<f64>())
    };
    let one = (0.09_f64 / 1.09).ln() * 0.5 - 0.5 * 0.16 / 1.09;
    let measure = product(&[("normal", [0.0, 1.0].as_slice()); 8]);
    for seed in 1..4 {
        let z = run_from(seed, ln_f, measure.clone(), Range::POSITIVE, 80);
        assert_holds(&z, 8.0 * one - 7000.0, 0.05);
    }
}

#[test]
fn learns_the_axes_of_correlated_parameters() {
    // Four parameters of which any two have the correlation 0.95, in a box twenty widths wide.
    let rho = 0.95;
    let (own, shared) = (1.0 / (1.0 - rho), rho / ((1.0 - rho) * (1.0 + 3.0 * rho)));
    let ln_f = |x: &[f64]| {
        let (squares, sum): (f64, f64) = (x.iter().map(|x| x * x).sum(), x.iter().sum());
        Value::Log(-0.5 * (own * squares - shared * sum * sum))
    };
    let ln_det = 3.0 * (1.0 - rho).ln() + (1.0 + 3.0 * rho).ln();
    let truth = 2.0 * TAU.ln() + 0.5 * ln_det - 4.0 * 20.0_f64.ln();
    let measure = Arc::new(Product::uniform(&[(-10.0, 10.0); 4]).unwrap());
    // A frame of the peak's own shape has nothing left to learn: axes are for the prior's frame.
    let mut in_prior = Method::auto(Range::POSITIVE);
    in_prior.tune("narrow_nats", &[1e300]).unwrap();
    let width = |seed: u64| {
        let f = |x: &[f64]| Ok(ln_f(x));
        let z = integrate(f, measure.clone(), Range::POSITIVE, &in_prior, 120, seed).unwrap();
        assert!(z.theta.as_ref().unwrap().axes.is_some());
        let framed = run_from(seed, ln_f, measure.clone(), Range::POSITIVE, 120);
        width_around(&framed, truth, 0.1);
        width_around(&z, truth, 0.1)
    };
    // A run that found the axes in its last quarter moved then, and its interval says so.
    let mut widths: Vec<f64> = (1..4).map(width).collect();
    widths.sort_by(f64::total_cmp);
    assert!(widths[1] < 0.1, "{widths:?}");
}

#[test]
fn learns_that_parameters_act_on_their_own() {
    // Three parameters with heavy tails, whose widths are a tenth to a thirtieth of the box: (1 +
    // z^2 / 2)^(-3/2) has the integral z / sqrt(2 + z^2).
    let (centers, widths) = ([0.3, 0.6, 0.45], [0.1, 0.03, 0.05]);
    let z = |x: &[f64], d: usize| (x[d] - centers[d]) / widths[d];
    let ln_f = |x: &[f64]| {
        let terms = (0..3).map(|d| -1.5 * (0.5 * z(x, d).powi(2)).ln_1p());
        Value::Log(terms.sum())
    };
    let integral = |z: f64| z / (1.0 + 0.5 * z * z).sqrt();
    let one = |d: usize| (widths[d] * (integral(z(&[1.0; 3], d)) - integral(z(&[0.0; 3], d)))).ln();
    let truth: f64 = (0..3).map(one).sum();
    let measure = Arc::new(Product::uniform(&[(0.0, 1.0); 3]).unwrap());
    for seed in 1..4 {
        let z = run_from(seed, ln_f, measure.clone(), Range::POSITIVE, 100);
        assert!(z.theta.as_ref().unwrap().effects.is_some());
        width_around(&z, truth, 0.05);
    }
}

/// The ln evidence of y = a + b t + noise under normal priors of sd 10 and a log-uniform noise
/// between 0.001 and 10. It is a closed form in a and b, since the t are symmetric, and a fine sum
/// over ln noise, at whose ends nothing is left.
fn ln_evidence_of_line(t: &[f64], y: &[f64]) -> f64 {
    let n = t.len() as f64;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let columns = [(n, y.iter().sum::<f64>()), (dot(t, t), dot(t, y))];
    let given = |var: f64| {
        let explained = columns.iter().map(|(s, c)| c * c / (s + var / 100.0));
        let widened = columns.iter().map(|(s, _)| (100.0 * s / var).ln_1p());
        let residual = (dot(y, y) - explained.sum::<f64>()) / var;
        -0.5 * (n * (TAU * var).ln() + widened.sum::<f64>() + residual)
    };
    let steps = 4000;
    let term = |k: usize| {
        let ln_noise = 0.001_f64.ln() + 1e4_f64.ln() * (k as f64 + 0.5) / steps as f64;
        given((2.0 * ln_noise).exp()) - (steps as f64).ln()
    };
    ln_sum_exp(&(0..steps).map(term).collect::<Vec<_>>())
}

#[test]
fn fits_a_line_with_unknown_noise() {
    // ln f falls below -10^8, and its peak lies at the end of a funnel.
    let t: Vec<f64> = (0..31).map(|i| -1.0 + i as f64 / 15.0).collect();
    let y: Vec<f64> = t
        .iter()
        .map(|t| 3.0 - 2.0 * t + 0.1 * (40.0 * t).cos())
        .collect();
    let ln_f = |x: &[f64]| {
        let pairs = t.iter().zip(&y);
        let residuals = pairs.map(|(t, y)| ((y - x[0] - x[1] * t) / x[2]).powi(2));
        let squares: f64 = residuals.sum();
        Value::Log(-0.5 * squares - t.len() as f64 * (x[2] * TAU.sqrt()).ln())
    };
    let normal = ("normal", [0.0, 10.0].as_slice());
    let measure = product(&[normal, normal, ("log-uniform", &[0.001, 10.0])]);
    let z = run(ln_f, measure, Range::POSITIVE, 150);
    assert_holds(&z, ln_evidence_of_line(&t, &y), 0.02);
}

#[test]
fn a_long_run_restored_between_two_fits_goes_on_the_same() {
    let ln_f = |x: &[f64]| Value::Log(-30.0 * x[0] * x[0] - (9.0 * x[0]).cos());
    let measure = Product::uniform(&[(-1.0, 1.0)]).unwrap();
    let none = Points::empty(1).unwrap();
    let new = || {
        let method = Method::auto(Range::POSITIVE);
        Engine::new(method, Range::POSITIVE, &measure, 1).unwrap()
    };
    let (mut run, mut again) = (new(), new());
    for _ in 0..102 {
        let x = run.ask(&none, &none).unwrap();
        run.tell(&x, ln_f(&x)).unwrap();
        again.tell(&x, ln_f(&x)).unwrap();
    }
    let fit = run.last_fit().unwrap().clone();
    again.restore(fit.clone());
    let next = run.ask(&none, &none).unwrap();
    assert_eq!(run.last_fit(), Some(&fit), "this choice made no fit");
    assert_eq!(again.ask(&none, &none).unwrap(), next);
}

#[test]
fn knows_an_analytic_f_to_many_digits() {
    let ln_f = |x: &[f64]| Value::Log(-2.0 * x[0] * x[0]);
    let z = run(
        ln_f,
        product(&[("normal", &[0.0, 1.0])]),
        Range::POSITIVE,
        40,
    );
    assert_holds(&z, -0.5 * 5.0_f64.ln(), 1e-4);
}

#[test]
fn knows_a_smooth_f_of_three_parameters_to_three_digits() {
    // 1.2 + cos(1/2 + a x) over the unit cube, where the integral of exp(i a x) is a product of
    // sinc(a_k / 2) exp(i a_k / 2).
    let a = [4.0, 3.0, 5.0_f64];
    let ln_f = |x: &[f64]| {
        let phase: f64 = a.iter().zip(x).map(|(a, x)| a * x).sum();
        Value::Log((1.2 + (0.5 + phase).cos()).ln())
    };
    let size: f64 = a.iter().map(|a| (0.5 * a).sin() / (0.5 * a)).product();
    let truth = (1.2 + size * (0.5 + 0.5 * a.iter().sum::<f64>()).cos()).ln();
    for seed in 1..=3 {
        let cube = Arc::new(Product::uniform(&[(0.0, 1.0); 3]).unwrap());
        let z = run_from(seed, ln_f, cube, Range::POSITIVE, 80);
        assert_holds(&z, truth, 1e-3);
        let error = z.estimate.relative_node_error();
        assert!(error < 5e-4, "the nodes alone are {error} off");
    }
}

#[test]
fn takes_the_root_of_f_where_that_is_smoother_than_its_logarithm() {
    // (1/100 + sin 2x)^2 up to x = 3/2, by the integrals of sin and sin^2.
    let ln_f = |x: &[f64]| Value::Log(2.0 * (0.01 + (2.0 * x[0]).sin()).ln());
    let squares = 0.5 * (1.5 - 6.0_f64.sin() / 4.0);
    let truth = ((1.5e-4 + 0.01 * (1.0 - 3.0_f64.cos()) + squares) / 1.5).ln();
    for seed in 1..=3 {
        let line = Arc::new(Product::uniform(&[(0.0, 1.5)]).unwrap());
        let z = run_from(seed, ln_f, line, Range::POSITIVE, 40);
        assert_holds(&z, truth, 1e-4);
    }
}

#[test]
fn is_less_sure_after_a_surprise() {
    // Six of eight observations see one bump, the last two another one, ten times as high.
    let bump = |x: f64, at: f64| -0.5 * ((x - at) / 0.05).powi(2);
    let ln_f = |x: f64| ln_sum_exp(&[bump(x, 0.2), 10.0_f64.ln() + bump(x, 0.8)]);
    let seen: Vec<f64> = (0..24).map(|i| 0.05 + 0.014 * f64::from(i)).collect();
    let surprise = [0.45, 0.55, 0.65, 0.72, 0.76, 0.8, 0.86, 0.95];
    let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let width_from = |seed: u64, points: &[f64]| {
        let method = Method::auto(Range::POSITIVE);
        let mut engine = Engine::new(method, Range::POSITIVE, &measure, seed).unwrap();
        for &x in points {
            engine.tell(&[x], Value::Log(ln_f(x))).unwrap();
        }
        let [low, high] = engine.outcome().unwrap().ln_interval(0.95);
        high - low
    };
    let late: Vec<f64> = seen.iter().chain(&surprise).copied().collect();
    let early: Vec<f64> = surprise.iter().chain(&seen).copied().collect();
    // How much an interval is widened depends on the draws: the mean over many seeds.
    let seeds = 24;
    let ln_ratio = |seed: u64| (width_from(seed, &late) / width_from(seed, &early)).ln();
    let ratio = ((1..=seeds).map(ln_ratio).sum::<f64>() / seeds as f64).exp();
    assert!(ratio > 2.0, "{ratio}");
}

#[test]
fn lives_in_the_priors_own_coordinates() {
    // A log-normal bell over five decades of a log-uniform amplitude.
    let ln_f = |x: &[f64]| Value::Log(-0.5 * ((x[0].ln() - 1.0) / 0.2).powi(2));
    let truth = (0.2 * TAU.sqrt() / 1e5_f64.ln()).ln();
    let z = run(
        ln_f,
        product(&[("log-uniform", &[1e-2, 1e3])]),
        Range::POSITIVE,
        30,
    );
    assert_holds(&z, truth, 0.02);
}

#[test]
fn takes_a_bounded_and_a_signed_f() {
    // The mean of a logistic curve that is odd about the middle is one half.
    let rate = |x: &[f64]| Value::Linear(1.0 / (1.0 + (-6.0 * x[0]).exp()));
    let unit = Range { lo: 0.0, hi: 1.0 };
    let z = run(rate, product(&[("uniform", &[-1.0, 1.0])]), unit, 20);
    assert_holds(&z, 0.5_f64.ln(), 0.02);

    let wave = |x: &[f64]| Value::Linear((3.0 * x[0]).sin() - 0.4);
    let z = run(wave, product(&[("normal", &[0.0, 1.0])]), Range::REAL, 25);
    assert!(
        (z.law.quantile(0.5) + 0.4).abs() < 0.02,
        "{}",
        z.law.quantile(0.5)
    );
    assert!(z.law.quantile(0.005) < -0.4 + 1e-3 && z.law.quantile(0.995) > -0.4 - 1e-3);
}

#[test]
fn integrates_against_a_sample() {
    let rows: Vec<Vec<f64>> = (0..400).map(|i| vec![(i as f64 + 0.5) / 400.0]).collect();
    let sample = Empirical::new(Points::from_rows(&rows).unwrap()).unwrap();
    let truth = rows.iter().map(|x| (-8.0 * x[0]).exp()).sum::<f64>() / 400.0;
    let z = run(
        |x| Value::Log(-8.0 * x[0]),
        Arc::new(sample),
        Range::POSITIVE,
        20,
    );
    assert_holds(&z, truth.ln(), 0.02);
}

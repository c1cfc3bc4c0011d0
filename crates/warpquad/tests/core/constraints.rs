//! A prior restricted by constraints: evidences with formulas, against the same problem written by
//! hand as a map of the unit cube.

use std::f64::consts::PI;
use std::sync::Arc;
use warpquad::baseline;
use warpquad::engine::{Engine, Method, Outcome};
use warpquad::measure::{Measure, Product, Region, Restricted, univariate};
use warpquad::warp::Range;
use warpquad::{Points, Value};

/// Where a function is positive.
struct Positive(fn(&[f64]) -> f64);

impl std::fmt::Debug for Positive {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("where a function is positive")
    }
}

impl Region for Positive {
    fn holds(&self, x: &[f64]) -> bool {
        (self.0)(x) > 0.0
    }

    fn margins(&self, x: &[f64], out: &mut Vec<f64>) {
        out.push((self.0)(x));
    }
}

fn restricted(sides: &[(f64, f64)], margin: fn(&[f64]) -> f64) -> Restricted {
    let base = Arc::new(Product::uniform(sides).unwrap());
    Restricted::new(base, Arc::new(Positive(margin))).unwrap()
}

fn run(measure: &dyn Measure, ln_f: &dyn Fn(&[f64]) -> f64, n: usize) -> (Engine, Outcome) {
    let method = Method::auto(Range::POSITIVE);
    let mut engine = Engine::new(method, Range::POSITIVE, measure, 1).unwrap();
    let none = Points::empty(measure.dim()).unwrap();
    for _ in 0..n {
        let x = engine.ask(&none, &none).unwrap();
        if let Some(region) = measure.restricted() {
            assert!(region.holds(&x), "{x:?} is outside");
        }
        engine.tell(&x, Value::Log(ln_f(&x))).unwrap();
    }
    let outcome = engine.outcome().unwrap();
    (engine, outcome)
}

/// The error with constraints, and by hand.
fn errors(
    measure: Restricted,
    by_hand: &dyn Fn(&[f64]) -> Vec<f64>,
    ln_f: &dyn Fn(&[f64]) -> f64,
    n: usize,
    truth: f64,
) {
    let (mut engine, z) = run(&measure, ln_f, n);
    let cube = Product::uniform(&vec![(0.0, 1.0); measure.dim()]).unwrap();
    let (_, other) = run(&cube, &|u| ln_f(&by_hand(u)), n);
    let error = z.law.ln_quantile(0.5) - truth;
    let by_hand = other.law.ln_quantile(0.5) - truth;
    assert!(
        error.abs() < by_hand.abs() + 4.0 * z.ln_sd(),
        "{error} {by_hand}"
    );
    println!(
        "{error:.1e} +- {:.1e} ({:.1e}); by hand {by_hand:.1e} +- {:.1e}",
        z.ln_sd(),
        z.estimate.relative_node_error(),
        other.ln_sd()
    );
    assert!(error.abs() < 4.0 * z.ln_sd().max(1e-4), "{error}");
    for x in engine.posterior_sample(500, 0).unwrap().points.iter() {
        assert!(measure.holds(x), "{x:?} is outside");
    }
    for x in engine.posterior_nodes().unwrap().points().iter() {
        assert!(measure.holds(x), "{x:?} is outside");
    }
}

#[test]
fn two_masses_in_order() {
    let hand = |u: &[f64]| {
        let low = 1.0 - (1.0 - u[0]).sqrt();
        vec![low, low + (1.0 - low) * u[1]]
    };
    // f = exp(3 a - 2 b) under a < b: 2 times the integral of exp(3 a) (exp(-2 a) - exp(-2))/2.
    let e = std::f64::consts::E;
    let truth = ((e - 1.0) - (-2.0_f64).exp() * (3.0_f64.exp() - 1.0) / 3.0).ln();
    let order = restricted(&[(0.0, 1.0); 2], |x| x[1] - x[0]);
    errors(order, &hand, &|x| 3.0 * x[0] - 2.0 * x[1], 40, truth);
}

#[test]
fn a_disc() {
    let hand = |u: &[f64]| {
        let (r, angle) = (u[0].sqrt(), 2.0 * PI * u[1]);
        vec![r * angle.cos(), r * angle.sin()]
    };
    // exp(-2 (x^2 + y^2)): 2 times the integral of r exp(-2 r^2).
    let truth = (0.5 * -(-2.0_f64).exp_m1()).ln();
    let disc = restricted(&[(-1.0, 1.0); 2], |x| 1.0 - x[0] * x[0] - x[1] * x[1]);
    let ln_f = |x: &[f64]| -2.0 * (x[0] * x[0] + x[1] * x[1]);
    errors(disc, &hand, &ln_f, 40, truth);
}

#[test]
fn three_masses_in_order() {
    let hand = |u: &[f64]| {
        let a = 1.0 - (1.0 - u[0]).cbrt();
        let b = 1.0 - (1.0 - a) * (1.0 - u[1]).sqrt();
        vec![a, b, b + (1.0 - b) * u[2]]
    };
    // exp(-(a + b + c)) does not change with the order: its mean over the cube.
    let truth = 3.0 * (1.0 - (-1.0_f64).exp()).ln();
    let order = restricted(&[(0.0, 1.0); 3], |x| (x[1] - x[0]).min(x[2] - x[1]));
    errors(order, &hand, &|x| -(x[0] + x[1] + x[2]), 50, truth);
}

#[test]
fn a_simplex() {
    let hand = |u: &[f64]| {
        let a = 1.0 - u[0].cbrt();
        let b = (1.0 - a) * (1.0 - u[1].sqrt());
        vec![a, b, (1.0 - a - b) * u[2]]
    };
    // a b c under a Dirichlet of ones in four shares: 3! / 6!.
    let truth = -120_f64.ln();
    let simplex = restricted(&[(0.0, 1.0); 3], |x| 1.0 - x.iter().sum::<f64>());
    errors(
        simplex,
        &hand,
        &|x| x.iter().map(|x| x.ln()).sum(),
        80,
        truth,
    );
}

#[test]
fn baselines_stay_inside() {
    let disc = restricted(&[(-1.0, 1.0); 2], |x| 1.0 - x[0] * x[0] - x[1] * x[1]);
    let kept = disc.clone().keeping_density();
    // A peak on the edge of the disc; the truth is that of the many points of qmc.
    let inside = |x: &[f64]| {
        assert!(x[0] * x[0] + x[1] * x[1] < 1.0, "{x:?} is outside");
        -8.0 * ((x[0] - 0.8).powi(2) + (x[1] - 0.4).powi(2))
    };
    let settings = |evaluations| baseline::Settings {
        budget: Some(evaluations),
        ..baseline::Settings::default()
    };
    let qmc = baseline::by_name("qmc").unwrap();
    let truth = baseline::integrate(qmc.as_ref(), inside, &disc, &settings(100_000)).unwrap();
    for entry in baseline::REGISTRY {
        let method = (entry.build)();
        let z = baseline::integrate(method.as_ref(), inside, &disc, &settings(6000)).unwrap();
        let error = z.ln_z - truth.ln_z;
        assert!(
            error.abs() < 4.0 * z.ln_sd.max(1e-3),
            "{}: {error} +- {}",
            entry.name,
            z.ln_sd
        );
        let other = baseline::integrate(method.as_ref(), inside, &kept, &settings(6000)).unwrap();
        assert!(
            (other.ln_z - z.ln_z - disc.ln_mass()).abs() < 1e-9,
            "{}",
            entry.name
        );
    }
}

#[test]
fn a_narrow_peak_under_a_constraint() {
    // Two normal means in order under wide priors, with a peak a thousandth of them wide.
    let normal = || univariate("normal", &[0.0, 100.0]).unwrap();
    let base = Product::new(vec![normal(), normal()]).unwrap();
    let order = Restricted::new(Arc::new(base), Arc::new(Positive(|x| x[1] - x[0]))).unwrap();
    let ln_f = |x: &[f64]| -0.5 * (((x[0] - 1.0) / 0.1).powi(2) + ((x[1] - 3.0) / 0.2).powi(2));
    let (engine, z) = run(&order, &ln_f, 80);
    assert!(!engine.frames().is_empty());
    // The order holds all over the peak, and leaves half of the prior.
    let ln_n = |x: f64, v: f64| -0.5 * (x * x / v + (2.0 * PI * v).ln());
    let prior = ln_n(1.0, 1e4 + 0.01) + ln_n(3.0, 1e4 + 0.04);
    let truth = prior + (2.0 * PI * 0.02).ln() + 2_f64.ln();
    let error = z.law.ln_quantile(0.5) - truth;
    assert!(
        error.abs() < 4.0 * z.ln_sd().max(1e-3),
        "{error} +- {}",
        z.ln_sd()
    );
}

#[test]
fn a_peak_on_the_edge_of_a_constraint() {
    let normal = || univariate("normal", &[0.0, 100.0]).unwrap();
    let base = Product::new(vec![normal(), normal()]).unwrap();
    let order = Restricted::new(Arc::new(base), Arc::new(Positive(|x| x[1] - x[0]))).unwrap();
    // The peak has its middle on the edge, so half of it counts, and half of the prior is left.
    let ln_f = |x: &[f64]| -50.0 * ((x[0] - 2.0).powi(2) + (x[1] - 2.0).powi(2));
    let (_, z) = run(&order, &ln_f, 130);
    let ln_n = |x: f64, v: f64| -0.5 * (x * x / v + (2.0 * PI * v).ln());
    let truth = 2.0 * ln_n(2.0, 1e4 + 0.01) + (2.0 * PI * 0.01).ln();
    let error = z.law.ln_quantile(0.5) - truth;
    assert!(error.abs() < 5e-3, "{error} +- {}", z.ln_sd());
}

#[test]
fn the_density_may_be_kept() {
    let order = restricted(&[(0.0, 1.0); 2], |x| x[1] - x[0]);
    let ln_f = |x: &[f64]| 3.0 * x[0] - 2.0 * x[1];
    let (_, z) = run(&order, &ln_f, 20);
    let (_, kept) = run(&order.keeping_density(), &ln_f, 20);
    let apart = kept.law.ln_quantile(0.5) - z.law.ln_quantile(0.5);
    assert!((apart - 0.5_f64.ln()).abs() < 1e-3, "{apart}");
}

//! Narrow peaks under vague priors: the climb, the frames, and runs that stay in the prior.

use warpquad::Value;
use warpquad::engine::{Engine, Method};
use warpquad::measure::{Product, univariate};
use warpquad::points::Points;
use warpquad::warp::Range;

/// Normal priors of this sd.
fn vague(dim: usize, sd: f64) -> Product {
    let law = || univariate("normal", &[0.0, sd]).unwrap();
    Product::new((0..dim).map(|_| law()).collect()).unwrap()
}

fn auto(prior: &Product, seed: u64) -> Engine {
    let range = Range::POSITIVE;
    Engine::new(Method::auto(range), range, prior, seed).unwrap()
}

/// Ask for and tell so many values, up to `workers` of them at once.
fn run(engine: &mut Engine, ln_f: &dyn Fn(&[f64]) -> f64, budget: usize, workers: usize) {
    let mut pending: Vec<Vec<f64>> = Vec::new();
    let none = Points::empty(engine.history().dim()).unwrap();
    while engine.len() < budget {
        while pending.len() < workers {
            let asked = match pending.is_empty() {
                true => none.clone(),
                false => Points::from_rows(&pending).unwrap(),
            };
            pending.push(engine.ask(&asked, &none).unwrap());
        }
        let x = pending.remove(0);
        engine.tell(&x, Value::Log(ln_f(&x))).unwrap();
    }
}

/// A line through data with known noise, in its own units: ln f and its ln Z under these priors.
///
/// The likelihood is a normal law of the two coefficients, so Z is that of a sum of two normals.
fn line(sd: f64) -> (impl Fn(&[f64]) -> f64, f64) {
    let (n, noise) = (40_usize, 0.1);
    let t: Vec<f64> = (0..n).map(|i| 100.0 + i as f64).collect();
    let y: Vec<f64> = t
        .iter()
        .map(|t| 3.0 - 0.02 * t + 0.05 * (7.0 * t).sin())
        .collect();
    let ln_two_pi = (2.0 * std::f64::consts::PI).ln();
    let (times, values) = (t.clone(), y.clone());
    let ln_f = move |x: &[f64]| -> f64 {
        let off = |i: usize| (values[i] - x[0] - x[1] * times[i]) / noise;
        let squares: f64 = (0..n).map(|i| off(i).powi(2)).sum();
        -0.5 * squares - n as f64 * (noise.ln() + 0.5 * ln_two_pi)
    };
    // y ~ N(0, noise^2 I + sd^2 (1 + t t')), by the matrix determinant lemma in the basis (1, t).
    let (s, p) = (noise * noise, sd * sd);
    let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>();
    let (a, b, c) = (n as f64, sum(&|i| t[i]), sum(&|i| t[i] * t[i]));
    let (u, v) = (sum(&|i| y[i]), sum(&|i| y[i] * t[i]));
    let [m11, m12, m22] = [a / s + 1.0 / p, b / s, c / s + 1.0 / p];
    let det = m11 * m22 - m12 * m12;
    let explained = (m22 * u * u - 2.0 * m12 * u * v + m11 * v * v) / det / (s * s);
    let squares = sum(&|i| y[i] * y[i]) / s - explained;
    let ln_det = a * s.ln() + 2.0 * p.ln() + det.ln();
    (ln_f, -0.5 * (squares + ln_det + a * ln_two_pi))
}

#[test]
fn a_line_under_vague_priors_is_right_to_a_thousandth() {
    let (ln_f, truth) = line(100.0);
    // With eight in flight a choice knows nothing of the seven before it.
    for (seed, workers, budget) in [(1, 1, 60), (2, 1, 60), (3, 8, 120)] {
        let mut engine = auto(&vague(2, 100.0), seed);
        run(&mut engine, &ln_f, budget, workers);
        let z = engine.outcome().unwrap();
        let found = z.law.ln_quantile(0.5);
        let [low, high] = z.ln_interval(0.99);
        assert!(
            (found - truth).abs() < 2e-3,
            "{seed}: {found} is not {truth}"
        );
        assert!(
            low <= truth && truth <= high && high - low < 0.1,
            "{low} to {high}"
        );
        assert!(engine.climb().unwrap().has_ended());
        assert_eq!(
            engine.history().frame().shape(),
            Some(&engine.frames().last().unwrap().peak)
        );
    }
}

#[test]
fn posterior_means_come_back_in_the_users_units() {
    let (ln_f, _) = line(100.0);
    let mut engine = auto(&vague(2, 100.0), 4);
    run(&mut engine, &ln_f, 60, 1);
    let sample = engine.posterior_sample(2000, 0).unwrap();
    let slopes: Vec<f64> = sample.points.iter().map(|x| x[1]).collect();
    let mean = slopes.iter().sum::<f64>() / 2000.0;
    let sd = (slopes.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
    // noise / sqrt(sum of (t - mean)^2) = 0.1 / sqrt(5330).
    assert!((sd / 1.37e-3 - 1.0).abs() < 0.1, "{sd}");
    assert!((mean + 0.02).abs() < 5e-4, "{mean}");
}

#[test]
fn a_broad_posterior_stays_in_the_prior() {
    let ln_f = |x: &[f64]| -0.5 * (x[0] - 1.0).powi(2) - 2.0 * x[1] * x[1];
    let (range, prior) = (Range::POSITIVE, vague(2, 1.0));
    let mut never = Method::auto(range);
    never.tune("narrow_nats", &[1e300]).unwrap();
    let mut engine = auto(&prior, 1);
    let mut other = Engine::new(never, range, &prior, 1).unwrap();
    run(&mut engine, &ln_f, 25, 1);
    run(&mut other, &ln_f, 25, 1);
    assert_eq!(
        engine.observations().0.as_slice(),
        other.observations().0.as_slice()
    );
    assert!(engine.frames().is_empty() && engine.climb().is_none());
    assert!(engine.history().frame().shape().is_none());
}

#[test]
fn a_run_that_is_restored_goes_on_as_it_would_have() {
    let (ln_f, _) = line(100.0);
    let mut whole = auto(&vague(2, 100.0), 5);
    run(&mut whole, &ln_f, 60, 1);
    for stop in [5, 15, 25, 45] {
        let mut engine = auto(&vague(2, 100.0), 5);
        run(&mut engine, &ln_f, stop, 1);
        let mut again = auto(&vague(2, 100.0), 5);
        let (points, values) = engine.observations();
        for (x, value) in points.iter().zip(values) {
            again.tell(x, *value).unwrap();
        }
        for frame in engine.frames() {
            again.take_frame(frame.clone()).unwrap();
        }
        if let Some(fit) = engine.last_fit() {
            again.restore(fit.clone());
        }
        run(&mut again, &ln_f, stop + 3, 1);
        let upto = 2 * (stop + 3);
        let (after, before) = (again.observations().0, whole.observations().0);
        assert_eq!(after.as_slice(), &before.as_slice()[..upto], "after {stop}");
    }
}

#[test]
fn zeros_and_failures_on_the_way_do_not_end_a_climb() {
    let (line, truth) = line(100.0);
    // f is 0 on half of the prior, and cannot be had on a quarter.
    let ln_f = |x: &[f64]| {
        if x[0] < -1.0 {
            f64::NEG_INFINITY
        } else {
            line(x)
        }
    };
    let mut engine = auto(&vague(2, 100.0), 6);
    let none = Points::empty(2).unwrap();
    let mut failed = none.clone();
    while engine.len() < 70 {
        let x = engine.ask(&none, &failed).unwrap();
        match x[1] > 1.0 && x[0] > 0.0 {
            true => failed.push(&x).unwrap(),
            false => engine.tell(&x, Value::Log(ln_f(&x))).unwrap(),
        }
        assert!(failed.len() < 40, "too many failures");
    }
    let found = engine.outcome().unwrap().law.ln_quantile(0.5);
    assert!((found - truth).abs() < 0.01, "{found} is not {truth}");
}

#[test]
fn mirrored_peaks_count_in_full() {
    // Two labels: f is the same when x and y change places, and each has a peak of its own.
    let peak = |x: f64, y: f64| -0.5 * (((x - 3.0) / 0.1).powi(2) + ((y + 2.0) / 0.2).powi(2));
    let ln_f = |x: &[f64]| {
        let (one, two) = (peak(x[0], x[1]), peak(x[1], x[0]));
        one.max(two) + (-(one - two).abs()).exp().ln_1p()
    };
    // The integral of both normals against the prior, whose density hardly changes over a peak.
    let ln_density = -(13.0 / 2e4) - (2.0 * std::f64::consts::PI * 1e4_f64).ln();
    let truth = 2_f64.ln() + (2.0 * std::f64::consts::PI * 0.1 * 0.2).ln() + ln_density;
    let mut engine = auto(&vague(2, 100.0), 7);
    run(&mut engine, &ln_f, 80, 1);
    let found = engine.outcome().unwrap().law.ln_quantile(0.5);
    assert!((found - truth).abs() < 5e-3, "{found} is not {truth}");
    assert_eq!(engine.frames().last().unwrap().peak.images().len(), 2);
    // Draws are on both peaks alike.
    let sample = engine.posterior_sample(1000, 0).unwrap();
    let first = sample.points.iter().filter(|x| x[0] > 0.0).count();
    assert!((400..=600).contains(&first), "{first}");
}

#[test]
fn a_hint_is_taken_and_a_wrong_one_forgiven() {
    let (ln_f, truth) = line(100.0);
    for (hint, half) in [
        (vec![3.0, -0.02], Some(vec![1.0, 0.1])),
        (vec![3.1, -0.021], None),
        (vec![-90.0, 70.0], Some(vec![5.0, 5.0])),
    ] {
        let engine = auto(&vague(2, 100.0), 8);
        let mut engine = engine.with_start(vec![hint.clone()], half).unwrap();
        run(&mut engine, &ln_f, 60, 1);
        assert_eq!(engine.observations().0.row(0), hint);
        let found = engine.outcome().unwrap().law.ln_quantile(0.5);
        assert!(
            (found - truth).abs() < 0.01,
            "{hint:?}: {found} is not {truth}"
        );
    }
    let wrong = auto(&vague(2, 100.0), 8).with_start(vec![vec![1.0]], None);
    assert!(wrong.unwrap_err().to_string().contains("start"));
}

//! Narrow peaks under vague priors: the climb, the frames, and runs that stay in the prior.

use std::path::Path;
use std::sync::Arc;
use warpquad::Value;
use warpquad::engine::{Engine, Method};
use warpquad::measure::{Product, univariate};
use warpquad::points::Points;
use warpquad::session::{Next, Session, evaluator::Answer, spec::Problem};
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

/// Two normals of unequal shares and shapes, far apart: ln f.
fn two_bells(x: &[f64]) -> f64 {
    let terms = BELLS.map(|(share, centers, sds)| {
        let square = |i: usize| ((x[i] - centers[i]) / sds[i]).powi(2) + 2.0 * sds[i].ln();
        let normal = -0.5 * (square(0) + square(1)) - (2.0 * std::f64::consts::PI).ln();
        f64::ln(share) + normal
    });
    let top = terms[0].max(terms[1]);
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

/// The share of each, its centre and its sds.
const BELLS: [(f64, [f64; 2], [f64; 2]); 2] = [
    (0.7, [3.0, -2.0], [0.1, 0.2]),
    (0.3, [-6.0, 5.0], [0.3, 0.1]),
];

/// Z of each bell under normal priors of this sd: the density of a sum of two normals.
fn parts_of_bells(prior_sd: f64) -> [f64; 2] {
    BELLS.map(|(share, centers, sds)| {
        let density = |i: usize| {
            let var = prior_sd * prior_sd + sds[i] * sds[i];
            (-0.5 * centers[i] * centers[i] / var).exp() / (2.0 * std::f64::consts::PI * var).sqrt()
        };
        share * density(0) * density(1)
    })
}

#[test]
fn two_peaks_have_a_frame_each() {
    let mut engine = auto(&vague(2, 100.0), 2);
    run(&mut engine, &two_bells, 200, 1);
    assert_eq!(engine.components(), 2);
    let parts = parts_of_bells(100.0);
    let truth = (parts[0] + parts[1]).ln();
    let z = engine.outcome().unwrap();
    let ([low, high], found) = (z.ln_interval(0.99), z.law.ln_quantile(0.5));
    assert!((found - truth).abs() < 5e-3, "{found} is not {truth}");
    assert!(
        low <= truth && truth <= high && high - low < 0.05,
        "{low} to {high}"
    );
    // Draws and expectations have both peaks in their proportion, each with its own shape.
    let share = parts[0] / (parts[0] + parts[1]);
    let sample = engine.posterior_sample(2000, 0).unwrap();
    let own: Vec<f64> = sample
        .points
        .iter()
        .filter(|x| x[0] > 0.0)
        .map(|x| x[0])
        .collect();
    assert!(
        (own.len() as f64 / 2000.0 - share).abs() < 0.01,
        "{}",
        own.len()
    );
    let mean = own.iter().sum::<f64>() / own.len() as f64;
    assert!((mean - 3.0).abs() < 0.02, "{mean}");
    let nodes = engine.posterior_nodes().unwrap();
    let h: Vec<f64> = nodes.points().iter().map(|x| x[0]).collect();
    let expected = nodes.expectation(&h).unwrap();
    let truth = 3.0 * share - 6.0 * (1.0 - share);
    assert!((expected.mean - truth).abs() < 0.02, "{}", expected.mean);
    let [low, high] = expected.interval(0.99);
    assert!(low <= truth && truth <= high, "{low} to {high}");
    // A derived quantity is known around each.
    let values: Vec<f64> = engine
        .observations()
        .0
        .iter()
        .map(|x| x[0] * x[1])
        .collect();
    let product = engine.interpolate(&values).unwrap();
    let at = Points::from_rows(&[vec![3.05, -2.1], vec![-6.1, 5.05]]).unwrap();
    for ((mean, _), x) in product.at(&at).unwrap().into_iter().zip(at.iter()) {
        assert!((mean - x[0] * x[1]).abs() < 0.01, "{mean}");
    }
    // The way there, what kinds of models say, and left-out predictions.
    let trace = engine.trace(6).unwrap();
    assert!((trace[5].law.ln_quantile(0.5) - found).abs() < 1e-12);
    let seen = engine.diagnosis().unwrap();
    assert!(
        seen.kinds
            .iter()
            .all(|kind| (kind.ln_z - found).abs() < 0.05)
    );
    assert!(seen.left_out.len() > 40);
}

#[test]
fn two_peaks_are_answered_for_under_another_prior() {
    let mut engine = auto(&vague(2, 100.0), 2);
    run(&mut engine, &two_bells, 200, 1);
    let (old, new) = (Arc::new(vague(2, 100.0)), Arc::new(vague(2, 4.0)));
    let mut other = engine.under(old, new).unwrap();
    let parts = parts_of_bells(4.0);
    let truth = (parts[0] + parts[1]).ln();
    let found = other.outcome().unwrap().law.ln_quantile(0.5);
    assert!((found - truth).abs() < 0.01, "{found} is not {truth}");
    let sample = other.posterior_sample(2000, 0).unwrap();
    let first = sample.points.iter().filter(|x| x[0] > 0.0).count() as f64 / 2000.0;
    let share = parts[0] / (parts[0] + parts[1]);
    assert!((first - share).abs() < 0.01, "{first} is not {share}");
}

#[test]
fn an_audit_looks_at_both_peaks() {
    let mut engine = auto(&vague(2, 100.0), 2);
    run(&mut engine, &two_bells, 200, 1);
    let truth: f64 = parts_of_bells(100.0).iter().sum();
    let (mut sum, mut second, draws) = (0.0, 0, 400);
    for number in 0..draws {
        let draw = engine.draw(number).unwrap();
        sum += (two_bells(&draw.x) + draw.ln_ratio).exp() / (draw.misses + 1) as f64;
        second += usize::from(draw.x[0] < -4.0);
    }
    let mean = sum / draws as f64;
    assert!((mean / truth - 1.0).abs() < 0.1, "{}", mean / truth);
    assert!(second > 60, "{second}");
}

/// Run a session on the two bells up to so many values in all.
fn run_session(session: &mut Session, budget: usize) {
    while session.observations().1.len() < budget {
        let Next::Evaluate(task) = session.next().unwrap() else {
            panic!("the budget is larger");
        };
        let value = Value::Log(two_bells(&task.x));
        session.tell(task.id, Answer::Value(value), 0.0).unwrap();
    }
}

#[test]
fn a_journal_with_two_peaks_goes_on_as_the_run_did() {
    let text = "integrand.log = '0'\nparameters.x.normal = [0, 100]\n\
                parameters.y.normal = [0, 100]\nbudget.evaluations = 150";
    let begin = |dir: &Path| {
        let _ = std::fs::remove_dir_all(dir);
        let problem = Problem::parse(text).unwrap();
        Session::create(problem, text, 2, dir).unwrap()
    };
    let place =
        |name: &str| std::env::temp_dir().join(format!("warpquad-{name}-{}", std::process::id()));
    let whole_dir = place("two-peaks");
    let mut whole = begin(&whole_dir);
    run_session(&mut whole, 150);
    assert_eq!(whole.engine().unwrap().components(), 2);
    let second = whole.engine().unwrap().frames();
    let second = second.iter().find(|frame| frame.component == 1).unwrap().n;
    assert!(second < 140, "{second}");
    let points = whole.observations().0.clone();
    for stop in [second - 2, second + 1, second + 6] {
        let dir = place(&format!("two-peaks-{stop}"));
        let mut part = begin(&dir);
        run_session(&mut part, stop);
        drop(part);
        let mut again = Session::open(&dir, None).unwrap();
        run_session(&mut again, stop + 4);
        let upto = 2 * (stop + 4);
        assert_eq!(
            again.observations().0.as_slice(),
            &points.as_slice()[..upto],
            "after {stop}"
        );
        std::fs::remove_dir_all(&dir).unwrap();
    }
    std::fs::remove_dir_all(&whole_dir).unwrap();
}

/// ln f of a drug's levels whose two rates may change places, with another volume: the absorption,
/// the elimination, the volume and the noise, whose logarithms are uniform.
fn absorbed(x: &[f64]) -> f64 {
    const HOURS: [f64; 11] = [0.1, 0.3, 0.6, 1.1, 2.0, 3.5, 5.0, 7.0, 9.0, 12.0, 24.0];
    let level = |t: f64, rate: f64, other: f64, volume: f64| {
        let (gap, slower) = ((rate - other).abs() * t, rate.min(other) * t);
        let part = if gap == 0.0 {
            1.0
        } else {
            -(-gap).exp_m1() / gap
        };
        4.0 / volume * rate * t * (-slower).exp() * part
    };
    let terms = HOURS.iter().enumerate().map(|(i, &t)| {
        let off = 0.5 * (4.0 * i as f64).sin();
        let residual = level(t, 1.5, 0.08, 0.5) + off - level(t, x[0], x[1], x[2]);
        -0.5 * (residual / x[3]).powi(2) - x[3].ln()
    });
    terms.sum()
}

#[test]
fn rates_change_places_though_the_volume_has_the_prior_of_the_noise() {
    let law = |low: f64| univariate("log-uniform", &[low, 100.0]).unwrap();
    let prior = Product::new(vec![law(0.01), law(0.01), law(0.001), law(0.001)]).unwrap();
    let mut engine = auto(&prior, 1);
    let mut n = 60;
    while engine.components() < 2 && n < 300 {
        n += 10;
        run(&mut engine, &absorbed, n, 1);
        if engine.components() == 1 {
            // Until the climb from the exchange has ended there may be as much again.
            let law = engine.outcome().unwrap().law;
            let above = law.ln_quantile(0.975) - law.ln_quantile(0.5);
            assert!(above > 0.6, "{above} after {n}");
        }
    }
    assert_eq!(engine.components(), 2);
    // f and the prior are the same where the rates have changed places.
    run(&mut engine, &absorbed, n + 80, 1);
    let sample = engine.posterior_sample(2000, 0).unwrap();
    let changed = sample.points.iter().filter(|x| x[0] < x[1]).count();
    assert!((800..1200).contains(&changed), "{changed}");
}

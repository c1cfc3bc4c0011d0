//! What must hold whatever the data: permutation, change of units, extension.

use proptest::prelude::*;
use std::sync::Arc;
use warpquad::engine::{Engine, Method, integrate};
use warpquad::fit::Space;
use warpquad::functional::{Nodes, law};
use warpquad::measure::{Measure, Product, univariate};
use warpquad::numeric::random::Rng;
use warpquad::warp::{Affine, Log, Range};
use warpquad::{
    Belief, Ensemble, Functional, Matching, Model, Points, Process, Theta, Value, Warped, kernel,
    warp,
};

fn unit_square() -> Arc<dyn Measure> {
    let side = || univariate("uniform", &[0.0, 1.0]).unwrap();
    Arc::new(Product::new(vec![side(), side()]).unwrap())
}

/// Distinct points in the unit square with ln f of a bump and some ripple.
fn sample(n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![rng.uniform(), rng.uniform()]).collect();
    let ln_f = rows
        .iter()
        .map(|x| -8.0 * ((x[0] - 0.4).powi(2) + (x[1] - 0.6).powi(2)) + 0.3 * (9.0 * x[0]).sin());
    let ln_f = ln_f.collect();
    (rows, ln_f)
}

fn ln_z(method: &str, rows: &[Vec<f64>], ln_f: &[f64]) -> f64 {
    let values = ln_f.iter().map(|&l| Value::Log(l)).collect();
    let measure = unit_square();
    let model = fitted(method, measure.as_ref(), rows, values);
    let z = Functional::integral(measure.as_ref(), 512);
    z.apply(&model).unwrap().ln_mean()
}

/// The model of a method that was told these values.
fn fitted(method: &str, measure: &dyn Measure, rows: &[Vec<f64>], values: Vec<Value>) -> Model {
    let method = Method::by_name(method).unwrap();
    let mut engine = Engine::new(method, Range::POSITIVE, measure, 0).unwrap();
    for (x, value) in rows.iter().zip(values) {
        engine.tell(x, value).unwrap();
    }
    engine.model().unwrap().unwrap().clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_order_of_the_data_does_not_matter(seed in 0u64..1000, shift in 1usize..13) {
        // At given hyperparameters; a fit stops within its tolerance, and where exactly depends on
        // the order of the sums.
        let (mut rows, mut g) = sample(14, seed);
        let theta = Theta::constant(-2.0, 2.0, vec![0.3, 0.5]).unwrap();
        let process = Process::new(kernel::Matern32, theta);
        let measure = unit_square();
        let z = |rows: &[Vec<f64>], g: &[f64]| {
            let posterior = process.condition(&Points::from_rows(rows).unwrap(), g).unwrap();
            let z = Functional::integral(measure.as_ref(), 512);
            z.apply(&Warped::new(&Log, &posterior)).unwrap()
        };
        let before = z(&rows, &g);
        rows.rotate_left(shift);
        g.rotate_left(shift);
        let after = z(&rows, &g);
        prop_assert!((before.ln_mean() - after.ln_mean()).abs() < 1e-10);
        prop_assert!((before.ln_sd() / after.ln_sd() - 1.0).abs() < 1e-8);
    }

    #[test]
    fn a_shift_of_ln_f_moves_ln_z_by_as_much(seed in 0u64..1000, shift in -30000i32..30000) {
        let (rows, ln_f) = sample(14, seed);
        // Down to 10^-13000. On a grid of 2^-20 the shift rounds nothing away, so only the units
        // differ.
        let grid = f64::from(1 << 20);
        let ln_f: Vec<f64> = ln_f.iter().map(|l| (l * grid).round() / grid).collect();
        let shift = f64::from(shift);
        let moved: Vec<f64> = ln_f.iter().map(|l| l + shift).collect();
        for method in ["mmlt", "mmlt-g", "wsabi-m", "wsabi-l"] {
            let (before, after) = (ln_z(method, &rows, &ln_f), ln_z(method, &rows, &moved));
            prop_assert!((after - before - shift).abs() < 1e-6, "{method}: {before} {after} {shift}");
        }
    }

    #[test]
    fn extension_equals_conditioning_afresh(seed in 0u64..1000, n in 1usize..12, k in 1usize..4) {
        let (rows, g) = sample(n + k, seed);
        for entry in kernel::REGISTRY {
            let theta = Theta::constant(-1.0, 2.0, vec![0.3, 0.5]).unwrap();
            let process = Process::shared((entry.build)(), theta);
            let all = Points::from_rows(&rows).unwrap();
            let fresh = process.condition(&all, &g).unwrap();
            let extended = process
                .condition(&all.slice(0, n), &g[..n])
                .unwrap()
                .extend(&all.slice(n, n + k), &g[n..])
                .unwrap();
            let at = Points::from_rows(&sample(7, seed + 1).0).unwrap();
            let (a, b) = (fresh.moments(&at).unwrap(), extended.moments(&at).unwrap());
            for i in 0..at.len() {
                prop_assert!((a.mean[i] - b.mean[i]).abs() < 1e-7, "{}", entry.name);
                prop_assert!((a.var[i] - b.var[i]).abs() < 1e-7, "{}", entry.name);
            }
        }
    }
}

#[test]
fn a_belief_in_x_is_the_same_in_blocks_and_alone() {
    let (rows, g) = sample(20, 5);
    let process = Process::new(
        kernel::Matern52,
        Theta::constant(0.0, 1.0, vec![0.3, 0.5]).unwrap(),
    );
    let posterior = process
        .condition(&Points::from_rows(&rows).unwrap(), &g)
        .unwrap();
    let many = Points::from_rows(&sample(600, 6).0).unwrap();
    for entry in warp::REGISTRY {
        let warp = (entry.build)();
        let belief = Warped::new(warp.as_ref(), &posterior);
        let together = belief.moments(&many).unwrap();
        let cov = belief
            .cov(&many.slice(300, 303), &many.slice(300, 303))
            .unwrap();
        let lower = belief.cov_lower(&many.slice(300, 303)).unwrap();
        for i in 300..303 {
            let alone = belief.moments(&many.slice(i, i + 1)).unwrap();
            assert!(
                (together.mean[i] - alone.mean[0]).abs() < 1e-12 * alone.mean[0].abs().max(1.0)
            );
            let diagonal = cov[(i - 300, i - 300)];
            assert!(
                (diagonal - alone.var[0]).abs() < 1e-9 * alone.var[0].max(1e-3),
                "{}",
                entry.name
            );
        }
        for j in 0..3 {
            for i in j..3 {
                assert!((lower[(i, j)] - cov[(i, j)]).abs() < 1e-9, "{}", entry.name);
                assert!((cov[(i, j)] - cov[(j, i)]).abs() < 1e-9, "{}", entry.name);
            }
        }
    }
}

#[test]
fn the_law_by_drawing_has_the_matched_moments() {
    let (rows, g) = sample(10, 2);
    let process = Process::new(
        kernel::Matern32,
        Theta::constant(-1.0, 0.5, vec![0.3, 0.5]).unwrap(),
    );
    let posterior = process
        .condition(&Points::from_rows(&rows).unwrap(), &g)
        .unwrap();
    let measure = unit_square();
    let nodes = Nodes::sobol(measure.as_ref(), 512, 0).unwrap();
    let z = Functional::on(measure.as_ref(), nodes.clone())
        .apply(&Warped::new(&Log, &posterior))
        .unwrap();
    let warp = Affine::scaled(Arc::new(Log), 0.0).unwrap();
    let ensemble = Ensemble::one(Model::new(warp, posterior, Matching::Moments));
    let drawn = law(&ensemble, &nodes, 20_000, &Rng::new(1)).unwrap();
    // 20 000 draws know the mean to 0.7 % of the sd, and the sd itself to 0.5 %.
    assert!((drawn.ln_mean() - z.ln_mean()).abs() < 0.03 * z.relative_sd());
    let spread = drawn.ln_quantile(0.841_344_7) - drawn.ln_quantile(0.158_655_3);
    assert!(
        (0.5 * spread / z.ln_sd() - 1.0).abs() < 0.05,
        "{spread} {}",
        z.ln_sd()
    );
}

#[test]
fn a_zero_moves_log_z_by_no_more_than_the_mass_it_stands_for() {
    // f = exp(-30 x) on [0, 1/2], 0 beyond: Z = (1 - e^-15)/30.
    let n = 40;
    let rows: Vec<Vec<f64>> = (0..n).map(|i| vec![(i as f64 + 0.5) / n as f64]).collect();
    let measure = Product::new(vec![univariate("uniform", &[0.0, 1.0]).unwrap()]).unwrap();
    let ln_z = |zero: f64| {
        let value = |x: f64| if x < 0.5 { -30.0 * x } else { zero };
        let values = rows.iter().map(|x| Value::Log(value(x[0]))).collect();
        let model = fitted("mmlt-literal", &measure, &rows, values);
        let z = Functional::integral(&measure, 2048);
        z.apply(&model).unwrap().ln_mean()
    };
    let exact = ((1.0 - (-15.0_f64).exp()) / 30.0).ln();
    let zeros = ln_z(f64::NEG_INFINITY);
    // Half the measure at e^-40 of the largest f, against Z = e^-3.4 of it.
    let mass = 0.5 * (-40.0_f64 - exact).exp();
    let floored = ln_z(-30.0 * 0.5 / n as f64 - warpquad::data::ZERO_FLOOR_NATS);
    assert!((zeros - floored).abs() <= mass + 1e-9, "{zeros} {floored}");
    assert!((zeros - exact).abs() < 0.01, "{zeros} {exact}");
}

#[test]
fn the_banana_is_covered_from_thirty_evaluations_on() {
    // A smooth kernel's matrices are close to singular here, and the law must stay centred.
    let side = || univariate("uniform", &[-5.0, 5.0]).unwrap();
    let measure: Arc<dyn Measure> = Arc::new(Product::new(vec![side(), side()]).unwrap());
    let ln_f = |x: &[f64]| {
        let valley = 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
        Ok(Value::Log(-valley / 20.0))
    };
    let method = Method {
        kernel: "squared-exponential".into(),
        space: Space::G,
        acquisition: "information-gain".into(),
        ..Method::by_name("mmlt-literal").unwrap()
    };
    let width = |seed: u64| {
        let z = integrate(ln_f, measure.clone(), Range::POSITIVE, &method, 30, seed).unwrap();
        let [low, high] = z.ln_interval(0.95);
        // By a product rule on a grid of 4001 x 4001 points.
        assert!(
            low < -3.4631 && -3.4631 < high,
            "seed {seed}: [{low}, {high}]"
        );
        high - low
    };
    // A run that has not yet seen an end of the valley says so by a wide interval.
    let mut widths: Vec<f64> = (0..8).map(width).collect();
    widths.sort_by(f64::total_cmp);
    assert!(widths[4] < 0.1, "{widths:?}");
}

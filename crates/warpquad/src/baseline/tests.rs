//! Baselines against integrals with known answers: no bias beyond chance, and errors of the size
//! they claim.

use super::*;
use crate::data::Value;
use crate::measure::{Measure, Product, univariate};
use crate::numeric::special::ln_add_exp;
use crate::points::Points;
use std::f64::consts::PI;

/// An integral with its answer.
struct Case {
    measure: Product,
    ln_f: fn(&[f64]) -> f64,
    ln_z: f64,
}

/// A normal of sd 1/2 off the middle of a box of width 20.
fn gaussian(dim: usize) -> Case {
    Case {
        measure: Product::uniform(&vec![(-10.0, 10.0); dim]).unwrap(),
        ln_f: |x| x.iter().map(|x| -2.0 * (x - 1.0).powi(2)).sum(),
        ln_z: dim as f64 * (0.5 * (0.5 * PI).ln() - 20_f64.ln()),
    }
}

/// Two normals of different width, far apart, with 0.3 and 0.7 of the mass.
fn two_modes() -> Case {
    fn ln_normal(x: &[f64], centre: f64, sd: f64) -> f64 {
        let r2: f64 = x.iter().map(|x| (x - centre).powi(2)).sum();
        -0.5 * r2 / (sd * sd) - (2.0 * PI * sd * sd).ln()
    }
    Case {
        measure: Product::uniform(&[(-10.0, 10.0); 2]).unwrap(),
        ln_f: |x| {
            ln_add_exp(
                0.3_f64.ln() + ln_normal(x, -4.0, 0.7),
                0.7_f64.ln() + ln_normal(x, 4.0, 0.5),
            )
        },
        ln_z: -(400_f64.ln()),
    }
}

/// A peak of width 1/1000 of the prior's, on the scale of a real likelihood.
fn narrow_peak() -> Case {
    let normal = || univariate("normal", &[0.0, 1.0]).unwrap();
    let s2: f64 = 1e-6;
    Case {
        measure: Product::new(vec![normal(), normal()]).unwrap(),
        ln_f: |x| -7000.0 - 0.5e6 * ((x[0] - 1.5).powi(2) + (x[1] + 0.5).powi(2)),
        // N(x; 0, 1) exp(-(x - a)^2 / 2 s^2) integrates to s / sqrt(1 + s^2) exp(-a^2 / 2 (1 +
        // s^2)).
        ln_z: -7000.0 + (s2 / (1.0 + s2)).ln() - 2.5 / (2.0 * (1.0 + s2)),
    }
}

/// A constant on 3 % of the square, 0 elsewhere.
fn corner() -> Case {
    Case {
        measure: Product::uniform(&[(0.0, 1.0); 2]).unwrap(),
        ln_f: |x| match x[0] < 0.1 && x[1] < 0.3 {
            true => 5.0,
            false => f64::NEG_INFINITY,
        },
        ln_z: 5.0 + 0.03_f64.ln(),
    }
}

fn outcome(name: &str, case: &Case, budget: usize, seed: u64) -> BaselineOutcome {
    let settings = Settings {
        budget: Some(budget),
        seed,
        ..Settings::default()
    };
    let baseline = by_name(name).unwrap();
    let z = integrate(baseline.as_ref(), case.ln_f, &case.measure, &settings).unwrap();
    assert!(z.complete && z.evaluations <= budget, "{name}: {z:?}");
    z
}

/// Over several seeds: the mean error is within chance, and errors are as large as claimed.
///
/// The rms of 16 standard normal scores is outside [0.5, 1.6] once in 10^4. There is a little more
/// room for Student's tails of estimates with few degrees of freedom, and for widening where passes
/// disagree.
#[track_caller]
fn check(name: &str, case: &Case, budget: usize) {
    const SEEDS: u64 = 16;
    let runs: Vec<BaselineOutcome> = (0..SEEDS)
        .map(|seed| outcome(name, case, budget, 100 + seed))
        .collect();
    let n = SEEDS as f64;
    let errors = runs.iter().map(|z| z.ln_z - case.ln_z);
    let scores: Vec<f64> = errors
        .clone()
        .zip(&runs)
        .map(|(e, z)| e / z.ln_sd)
        .collect();
    let mean = scores.iter().sum::<f64>() / n;
    let rms = (scores.iter().map(|s| s * s).sum::<f64>() / n).sqrt();
    let error = (errors.map(|e| e * e).sum::<f64>() / n).sqrt();
    assert!(
        mean.abs() < 1.0 && (0.4..1.7).contains(&rms) && error < 0.6,
        "{name}: scores have mean {mean:.2} and rms {rms:.2}, errors rms {error:.3}: {scores:.1?}"
    );
}

#[test]
fn averages_are_right() {
    for name in ["mc", "qmc"] {
        check(name, &gaussian(1), 2000);
        check(name, &gaussian(2), 30_000);
        check(name, &two_modes(), 30_000);
        check(name, &corner(), 10_000);
    }
}

#[test]
fn smc_is_right() {
    check("smc", &gaussian(1), 3000);
    check("smc", &gaussian(2), 8000);
    check("smc", &gaussian(6), 30_000);
    check("smc", &two_modes(), 10_000);
    check("smc", &narrow_peak(), 20_000);
    check("smc", &corner(), 4000);
}

#[test]
fn nested_is_right() {
    check("nested", &gaussian(1), 6000);
    check("nested", &gaussian(2), 15_000);
    check("nested", &gaussian(6), 80_000);
    check("nested", &two_modes(), 30_000);
    check("nested", &narrow_peak(), 30_000);
    check("nested", &corner(), 40_000);
}

#[test]
fn ais_is_right() {
    check("ais", &gaussian(1), 5000);
    check("ais", &gaussian(2), 15_000);
    check("ais", &gaussian(6), 200_000);
    check("ais", &two_modes(), 15_000);
    check("ais", &corner(), 4000);
}

#[test]
fn bridge_is_right() {
    check("bridge", &gaussian(1), 5000);
    check("bridge", &gaussian(2), 10_000);
    check("bridge", &gaussian(6), 40_000);
    check("bridge", &two_modes(), 20_000);
    check("bridge", &narrow_peak(), 20_000);
}

#[test]
fn a_constant_is_integrated_exactly() {
    let case = Case {
        measure: Product::uniform(&[(0.0, 1.0), (0.0, 2.0)]).unwrap(),
        ln_f: |_| -5000.0,
        ln_z: -5000.0,
    };
    for name in ["mc", "qmc", "smc", "ais", "nested"] {
        let z = outcome(name, &case, 3000, 0);
        assert!(
            (z.ln_z - case.ln_z).abs() < 1e-9 && z.ln_sd < 1e-6,
            "{name} {z:?}"
        );
    }
    let z = outcome("bridge", &case, 3000, 0);
    assert!(
        (z.ln_z - case.ln_z).abs() < 4.0 * z.ln_sd && z.ln_sd < 0.1,
        "{z:?}"
    );
}

#[test]
fn averages_take_any_sign() {
    let pi = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let settings = Settings::default();
    let value = |x: &[f64]| Ok(Some(Value::Linear(x[0] - 0.75)));
    for name in ["mc", "qmc"] {
        let mut f = Function::new(value, Some(1600));
        let z = run(
            by_name(name).unwrap().as_ref(),
            &mut f,
            &pi,
            &settings,
            &mut |_| {},
        )
        .unwrap();
        let (mean, sd) = (z.estimate.mean(), z.estimate.sd());
        assert!(
            z.ln_z.is_nan() && (mean + 0.25).abs() < 4.0 * sd && sd < 0.01,
            "{z:?}"
        );
    }
    for name in ["smc", "ais", "nested", "bridge"] {
        let mut f = Function::new(value, Some(1600));
        let error = run(
            by_name(name).unwrap().as_ref(),
            &mut f,
            &pi,
            &settings,
            &mut |_| {},
        );
        assert!(error.unwrap_err().to_string().contains("needs f >= 0"));
    }
}

#[test]
fn samples_follow_the_posterior() {
    let case = gaussian(2);
    for name in ["smc", "ais", "nested", "bridge"] {
        let z = outcome(name, &case, 20_000, 3);
        let Samples { points, ln_weights } = z.samples.unwrap();
        let weights = cloud::normalised(&ln_weights);
        let moment = |h: &dyn Fn(f64) -> f64| -> f64 {
            points.iter().zip(&weights).map(|(x, w)| w * h(x[0])).sum()
        };
        let mean = moment(&|x| x);
        let var = moment(&|x| (x - mean).powi(2));
        assert!(
            (mean - 1.0).abs() < 0.15 && (var - 0.25).abs() < 0.1,
            "{name} {mean} {var}"
        );
    }
}

#[test]
fn an_unfinished_run_says_so_and_is_wide() {
    let case = narrow_peak();
    for name in ["smc", "ais", "nested", "bridge"] {
        let settings = Settings {
            budget: Some(400),
            ..Settings::default()
        };
        let baseline = by_name(name).unwrap();
        let z = integrate(baseline.as_ref(), case.ln_f, &case.measure, &settings).unwrap();
        assert!(!z.complete && z.evaluations <= 400, "{name}");
        assert!(
            (z.ln_z - case.ln_z).abs() < 2.0 * z.ln_sd,
            "{name} {} {}",
            z.ln_z,
            z.ln_sd
        );
        // Too early for any word at all.
        let settings = Settings {
            budget: Some(20),
            ..Settings::default()
        };
        let error = integrate(baseline.as_ref(), case.ln_f, &case.measure, &settings).unwrap_err();
        assert!(error.to_string().contains("raise the budget"), "{error}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_a_stop_keeps_what_is_known() {
    let case = gaussian(2);
    for entry in REGISTRY {
        let [a, b] = [1, 1].map(|seed| outcome(entry.name, &case, 6000, seed));
        assert_eq!(
            (a.ln_z, a.ln_sd, a.trace.len()),
            (b.ln_z, b.ln_sd, b.trace.len())
        );
        // The evaluator stops the same run after most of it, as a clock would. What was known then
        // is the answer.
        let mut left = 5000;
        let until = |x: &[f64]| {
            left -= 1;
            Ok((left > 0).then(|| Value::Log((case.ln_f)(x))))
        };
        let settings = Settings {
            budget: Some(6000),
            seed: 1,
            ..Settings::default()
        };
        let mut f = Function::new(until, None);
        let z = run(
            (entry.build)().as_ref(),
            &mut f,
            &case.measure,
            &settings,
            &mut |_| {},
        )
        .unwrap();
        let last = z.trace.last().unwrap();
        assert_eq!(a.trace[..z.trace.len()], z.trace[..], "{}", entry.name);
        assert_eq!((last.ln_z, last.ln_sd), (z.ln_z, z.ln_sd));
    }
}

#[test]
fn fixed_particles_are_kept_and_too_few_refused() {
    let case = gaussian(1);
    let settings = |particles| Settings {
        budget: Some(4000),
        particles: Some(particles),
        seed: 0,
    };
    let z = integrate(&Nested, case.ln_f, &case.measure, &settings(100)).unwrap();
    assert!((z.ln_z - case.ln_z).abs() < 4.0 * z.ln_sd);
    let error = integrate(&Smc, case.ln_f, &case.measure, &settings(2)).unwrap_err();
    assert!(error.to_string().starts_with("particles: need at least 16"));
}

#[test]
fn normal_scores_agree_with_the_quantile_map() {
    /// Takes down where it is evaluated.
    struct Places(Vec<Vec<f64>>);
    impl Evaluate for Places {
        fn evaluate(&mut self, points: &Points) -> Result<Option<Vec<Value>>> {
            self.0.extend(points.iter().map(<[f64]>::to_vec));
            Ok((self.0.len() < 4000).then(|| vec![Value::Log(0.0); points.len()]))
        }
    }
    let pi = Product::new(vec![univariate("exponential", &[2.0]).unwrap()]).unwrap();
    let mut places = Places(Vec::new());
    run(&Smc, &mut places, &pi, &Settings::default(), &mut |_| {}).unwrap();
    let mean = places.0.iter().map(|x| x[0]).sum::<f64>() / places.0.len() as f64;
    assert!((mean - pi.mean().unwrap()[0]).abs() < 0.05, "{mean}");
}

//! The likelihood's gradient against finite differences: every warp, every kernel, both spaces.

use std::sync::Arc;
use warpquad::belief::{MeanFunction, Theta};
use warpquad::fit::{Fit, Objective, Parameters, Space};
use warpquad::measure::{Circle, Circles};
use warpquad::warp::{Identity, Warp};
use warpquad::{Effects, Points, Process, kernel, warp};

/// Twelve points in two dimensions and latent values of about unit size.
fn sample() -> (Points, Vec<f64>) {
    let rows: Vec<Vec<f64>> = (0..12)
        .map(|i| {
            let t = i as f64;
            vec![(1.3 * t).sin() * 2.0, (0.7 * t + 0.4).cos()]
        })
        .collect();
    let g = rows
        .iter()
        .map(|x| 0.4 + 0.5 * (x[0] * 1.1).cos() - 0.3 * x[1])
        .collect();
    (Points::from_rows(&rows).unwrap(), g)
}

fn means() -> Vec<MeanFunction> {
    vec![
        MeanFunction::Constant(0.3),
        MeanFunction::Quadratic {
            peak: 0.9,
            center: vec![0.2, -0.1],
            width: vec![3.0, 2.0],
        },
    ]
}

/// The largest difference between the exact gradient and Richardson-extrapolated differences,
/// relative to the largest component.
fn gradient_error(
    warp: &dyn Warp,
    kernel_name: &str,
    mean: MeanFunction,
    effects: Option<Effects>,
    space: Space,
    shares: &[f64],
) -> f64 {
    let like = Theta {
        effects,
        ..Theta::constant(0.0, 1.0, vec![1.0; 2]).unwrap()
    };
    gradient_error_like(warp, kernel_name, mean, like, space, shares)
}

/// The same for a process with the effects and circles of another theta.
fn gradient_error_like(
    warp: &dyn Warp,
    kernel_name: &str,
    mean: MeanFunction,
    like: Theta,
    space: Space,
    shares: &[f64],
) -> f64 {
    let (x, g) = sample();
    let theta = Theta {
        mean,
        output_scale: 0.6,
        length_scales: vec![0.9, 1.4],
        noise: 0.01,
        ..like
    };
    let process = Process::shared(kernel::by_name(kernel_name).unwrap(), theta.clone());
    let how = Fit {
        space,
        fit_noise: true,
        ..Fit::default()
    };
    let parameters = Parameters::new(&process, &x, &g, warp, &how).unwrap();
    let seen: &dyn Warp = match space {
        Space::F | Space::FLeftOut => warp,
        Space::G => &Identity,
    };
    let objective = Objective::new(process.kernel().clone(), seen, &x, &g, &parameters);
    let mut objective = objective.with_shares(shares).with_space(space);
    let at = parameters.vector(&theta);
    let mut exact = vec![0.0; at.len()];
    assert!(objective.evaluate(&at, &mut exact).is_finite());
    let mut value = |k: usize, h: f64| {
        let mut moved = at.clone();
        moved[k] += h;
        objective.evaluate(&moved, &mut vec![0.0; at.len()])
    };
    let size = exact.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
    (0..at.len())
        .map(|k| {
            let mut central = |h: f64| (value(k, h) - value(k, -h)) / (2.0 * h);
            let difference = (4.0 * central(5e-4) - central(1e-3)) / 3.0;
            (difference - exact[k]).abs() / size
        })
        .fold(0.0, f64::max)
}

#[test]
fn gradients_are_exact_for_every_warp_and_kernel_in_every_space() {
    for entry in warp::REGISTRY {
        let warp: Arc<dyn Warp> = (entry.build)();
        for kernel in kernel::REGISTRY {
            for mean in means() {
                for space in Space::ALL {
                    let mean = mean.clone();
                    let error = gradient_error(warp.as_ref(), kernel.name, mean, None, space, &[]);
                    assert!(
                        error < 2e-8,
                        "{} with {} in {space:?}: {error:e}",
                        entry.name,
                        kernel.name
                    );
                }
            }
        }
    }
}

#[test]
fn gradients_are_exact_with_noise_on_the_data() {
    let shares: Vec<f64> = (0..sample().1.len())
        .map(|i| 0.2 + 0.1 * i as f64)
        .collect();
    for entry in warp::REGISTRY {
        let warp: Arc<dyn Warp> = (entry.build)();
        for space in [Space::F, Space::G] {
            let mean = MeanFunction::Constant(0.3);
            let error = gradient_error(warp.as_ref(), "matern32", mean, None, space, &shares);
            assert!(error < 2e-8, "{} in {space:?}: {error:e}", entry.name);
        }
    }
}

#[test]
fn gradients_are_exact_with_main_effects() {
    let effects = Some(Effects::new(0.7, 1.6).unwrap());
    for kernel in kernel::REGISTRY {
        for mean in means() {
            for space in Space::ALL {
                let warp = &warp::Gumbel::default();
                let error = gradient_error(warp, kernel.name, mean.clone(), effects, space, &[]);
                assert!(error < 2e-8, "{} in {space:?}: {error:e}", kernel.name);
            }
        }
    }
}

#[test]
fn gradients_are_exact_on_a_circle() {
    let circle = Circle {
        start: -1.0,
        period: 2.3,
    };
    for effects in [None, Some(Effects::new(0.4, 0.8).unwrap())] {
        let like = Theta {
            effects,
            circles: Circles::new(vec![None, Some(circle)]).map(Arc::new),
            ..Theta::constant(0.0, 1.0, vec![1.0; 2]).unwrap()
        };
        for kernel in kernel::REGISTRY {
            for mean in means() {
                for space in Space::ALL {
                    let (warp, mean, like) = (&warp::Gumbel::default(), mean.clone(), like.clone());
                    let error = gradient_error_like(warp, kernel.name, mean, like, space, &[]);
                    assert!(error < 2e-8, "{} in {space:?}: {error:e}", kernel.name);
                }
            }
        }
    }
}

#[test]
fn a_flat_quadratic_mean_has_the_likelihood_of_a_constant_one() {
    let (x, g) = sample();
    for entry in warp::REGISTRY {
        let warp = (entry.build)();
        let value = |mean: MeanFunction| {
            let theta = Theta {
                mean,
                output_scale: 0.6,
                length_scales: vec![0.9, 1.4],
                noise: 0.01,
                ..Theta::constant(0.0, 1.0, vec![1.0; 2]).unwrap()
            };
            let process = Process::shared(kernel::by_name("matern32").unwrap(), theta.clone());
            let parameters =
                Parameters::new(&process, &x, &g, warp.as_ref(), &Fit::default()).unwrap();
            let kernel = process.kernel().clone();
            let mut objective = Objective::new(kernel, warp.as_ref(), &x, &g, &parameters);
            let at = parameters.vector(&theta);
            objective.evaluate(&at, &mut vec![0.0; at.len()])
        };
        let flat = MeanFunction::Quadratic {
            peak: 0.3,
            center: vec![0.0, 0.0],
            width: vec![1e9, 1e9],
        };
        let (a, b) = (value(MeanFunction::Constant(0.3)), value(flat));
        assert!(
            (a - b).abs() < 1e-9 * a.abs(),
            "{}: {a} against {b}",
            entry.name
        );
    }
}

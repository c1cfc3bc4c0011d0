//! What a fit must find, and survive: noise, length priors, restarts, warm starts.

use warpquad::fit::{Fit, LengthPrior, Objective, Parameters, Space, Starts, fit_detailed};
use warpquad::numeric::random::Rng;
use warpquad::warp::{Identity, Log};
use warpquad::{Data, Points, Process, Theta, Value, kernel::Matern52};

/// A wave in two dimensions with noise of the given sd on ln f.
fn noisy_wave(n: usize, sd: f64) -> Data {
    let mut rng = Rng::new(11);
    let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![rng.uniform(), rng.uniform()]).collect();
    let wave = |x: &[f64]| (5.0 * x[0]).sin() + (4.0 * x[1]).cos();
    let values = rows
        .iter()
        .map(|x| Value::Log(wave(x) + sd * rng.normal()))
        .collect();
    Data::noisy(Points::from_rows(&rows).unwrap(), values).unwrap()
}

fn start() -> Process {
    Process::new(Matern52, Theta::constant(0.0, 1.0, vec![0.5, 0.5]).unwrap())
}

#[test]
fn a_fitted_noise_is_the_noise_there_is() {
    let data = noisy_wave(120, 0.2);
    let warp = data.warp(Log).unwrap();
    let how = Fit {
        space: Space::G,
        fit_noise: true,
        ..Fit::default()
    };
    let noise = fit_detailed(&start(), &warp, &data, &how)
        .unwrap()
        .process
        .theta()
        .noise;
    // 120 residuals know their variance to about 15 %.
    assert!((noise.sqrt() - 0.2).abs() < 0.05, "{}", noise.sqrt());
}

#[test]
fn a_length_prior_has_an_exact_gradient_and_pulls_towards_its_median() {
    let data = noisy_wave(30, 0.0);
    let g = data.g(&Log).unwrap();
    let with = |process: Option<LengthPrior>| Fit {
        space: Space::G,
        length_prior: process,
        ..Fit::default()
    };
    let tight = LengthPrior {
        median: 0.1,
        sd: 0.05,
    };
    let how = with(Some(tight));
    let parameters = Parameters::new(&start(), data.points(), &g, &Log, &how).unwrap();
    let kernel = start().kernel().clone();
    let mut objective = Objective::new(kernel, &Identity, data.points(), &g, &parameters);
    let at = parameters.vector(start().theta());
    let mut exact = vec![0.0; at.len()];
    objective.evaluate(&at, &mut exact);
    for k in 0..at.len() {
        let mut value = |h: f64| {
            let mut moved = at.clone();
            moved[k] += h;
            objective.evaluate(&moved, &mut vec![0.0; at.len()])
        };
        let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
        assert!(
            (difference - exact[k]).abs() < 1e-5 * (1.0 + exact[k].abs()),
            "{k}"
        );
    }
    let length = |how: &Fit| {
        let fitted = fit_detailed(&start(), &Log, &data, how).unwrap();
        fitted.process.theta().length_scales[0]
    };
    let (free, pulled) = (length(&with(None)), length(&how));
    assert!(pulled < 0.2 && pulled < free, "{pulled} {free}");
}

#[test]
fn restarts_never_make_a_fit_worse_and_are_the_same_twice() {
    let data = noisy_wave(40, 0.0);
    let warp = data.warp(Log).unwrap();
    let fitted = |restarts: usize, starts: Starts| {
        let how = Fit {
            restarts,
            starts,
            seed: 5,
            ..Fit::default()
        };
        fit_detailed(&start(), &warp, &data, &how).unwrap()
    };
    let (plain, more) = (fitted(0, Starts::All), fitted(6, Starts::All));
    assert!(more.ln_likelihood >= plain.ln_likelihood);
    assert_eq!(more.starts.0, plain.starts.0 + 6);
    let again = fitted(6, Starts::All);
    assert_eq!(
        more.process.theta(),
        again.process.theta(),
        "bit for bit, whatever the threads"
    );
    let warm = fitted(0, Starts::Warm);
    assert_eq!(warm.starts.0, 1);
    assert!(warm.evaluations < plain.evaluations);
}

//! What a fit must find, and survive: noise, length priors, restarts, warm starts.

use warpquad::fit::{Fit, LengthPrior, Objective, Parameters, Space, Starts, fit_detailed};
use warpquad::numeric::random::Rng;
use warpquad::warp::{Affine, Identity, Log, Marginal, Warp, by_name};
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

#[test]
fn the_left_out_objective_is_the_sum_over_fits_without_one() {
    // A process is conditioned on all but one, anew for each, and its belief is asked for the one.
    let data = noisy_wave(12, 0.1);
    let mut theta = Theta::constant(0.2, 0.8, vec![0.4, 0.7]).unwrap();
    for noise in [0.0, 0.02] {
        theta.noise = noise;
        let process = Process::new(Matern52, theta.clone());
        for name in ["log", "square", "identity"] {
            let warp = by_name(name).unwrap();
            let warp = Affine::scaled(warp, 0.0).unwrap();
            let g = data.g(&warp).unwrap();
            let how = Fit {
                space: Space::FLeftOut,
                ..Fit::default()
            };
            let (kernel, x) = (process.kernel().clone(), data.points());
            let parameters = Parameters::new(&process, x, &g, &warp, &how).unwrap();
            let objective = Objective::new(kernel, &warp, x, &g, &parameters);
            let at = parameters.vector(&theta);
            let mut gradient = vec![0.0; at.len()];
            let ours = objective.with_space(how.space).evaluate(&at, &mut gradient);
            let one = |i: usize| {
                let others: Vec<usize> = (0..g.len()).filter(|&j| j != i).collect();
                let g_others: Vec<f64> = others.iter().map(|&j| g[j]).collect();
                let posterior = process.condition(&x.select(&others), &g_others).unwrap();
                let mut at = posterior.marginals(&x.select(&[i])).unwrap()[0];
                // A value carries its noise.
                at.s += noise;
                let (m, c) = by_quadrature(&warp, at);
                let f = warp.forward(g[i]);
                0.5 * ((f - m) * (f - m) / c + c.ln() + std::f64::consts::TAU.ln())
            };
            let brute: f64 = (0..g.len()).map(one).sum();
            let off = (ours - brute).abs() / brute.abs().max(1.0);
            assert!(off < 1e-7, "{name} with noise {noise}: {ours} {brute}");
        }
    }
}

/// Mean and variance of xi(g) by the trapezoidal rule, which converges fast for smooth tails.
fn by_quadrature(warp: &dyn Warp, at: Marginal) -> (f64, f64) {
    let (mut sums, h) = ([0.0; 3], 1e-3);
    for k in -12_000..=12_000 {
        let z = h * f64::from(k);
        let weight = (-0.5 * z * z).exp();
        let f = warp.forward(at.mu + at.s.sqrt() * z);
        for (sum, power) in sums.iter_mut().zip([1.0, f, f * f]) {
            *sum += weight * power;
        }
    }
    let m = sums[1] / sums[0];
    (m, sums[2] / sums[0] - m * m)
}

#[test]
fn a_fit_by_left_out_densities_has_the_larger_sum_of_them() {
    let data = noisy_wave(30, 0.05);
    let warp = data.warp(Log).unwrap();
    let with = |space| {
        let how = Fit {
            space,
            ..Fit::default()
        };
        fit_detailed(&start(), &warp, &data, &how).unwrap()
    };
    let left_out = with(Space::FLeftOut);
    let g = data.g(&Log).unwrap();
    for space in [Space::F, Space::G] {
        let other = with(space).process;
        let parameters = Parameters::new(&other, data.points(), &g, &Log, &Fit::default()).unwrap();
        let kernel = other.kernel().clone();
        let objective = Objective::new(kernel, &Log, data.points(), &g, &parameters);
        let at = parameters.vector(other.theta());
        let sum = -objective
            .with_space(Space::FLeftOut)
            .evaluate(&at, &mut vec![0.0; at.len()]);
        assert!(left_out.ln_likelihood > sum - 1e-6, "{space:?}: {sum}");
    }
}

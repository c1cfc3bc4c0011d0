//! Main effects: the covariance that is written down, its gradients, and what it is for.

use std::sync::Arc;
use warpquad::kernel::{Kernel, Matern52, SquaredExponential};
use warpquad::{Axes, Belief, Effects, Points, PosteriorProcess, Process, Theta};

fn points(n: usize, phase: f64) -> Points {
    let row = |i: usize| {
        let t = i as f64;
        vec![
            (1.7 * t + phase).sin(),
            (2.3 * t + phase).cos(),
            (0.9 * t - phase).sin(),
        ]
    };
    Points::from_rows(&(0..n).map(row).collect::<Vec<_>>()).unwrap()
}

fn theta() -> Theta {
    let axes = Axes::new(&[
        vec![0.8, 0.5, 0.1],
        vec![-0.3, 1.1, 0.0],
        vec![0.2, 0.0, 0.9],
    ]);
    Theta {
        noise: 1e-6,
        axes: Some(Arc::new(axes.unwrap())),
        effects: Some(Effects::new(0.7, 0.6).unwrap()),
        ..Theta::constant(0.1, 1.4, vec![0.7, 1.2, 0.9]).unwrap()
    }
}

fn posterior() -> PosteriorProcess {
    let x = points(12, 0.3);
    let g: Vec<f64> = x.iter().map(|x| (x[0] - 2.0 * x[1]).sin() + x[2]).collect();
    Process::new(Matern52, theta()).condition(&x, &g).unwrap()
}

#[test]
fn covariances_are_those_of_the_definition() {
    let (x, y, theta) = (points(5, 0.3), points(4, 1.1), theta());
    let sigma = Process::new(Matern52, theta.clone()).cov(&x, &y).unwrap();
    let axes = theta.axes.unwrap();
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            let (x, y) = (axes.turn(x), axes.turn(y));
            let z2: Vec<f64> = (0..3)
                .map(|d| ((x[d] - y[d]) / theta.length_scales[d]).powi(2))
                .collect();
            let joint = Matern52.correlation(z2.iter().sum());
            let own = z2.iter().map(|z2| Matern52.correlation(z2 / 0.36));
            let want = 1.4 * (0.3 * joint + 0.7 / 3.0 * own.sum::<f64>());
            assert!((sigma[(i, j)] - want).abs() < 1e-14);
        }
    }
}

#[test]
fn gradients_are_those_of_differences() {
    let posterior = posterior();
    let x = [0.2, -0.4, 0.1];
    let (at, h) = (posterior.latent(&x).unwrap(), 1e-5);
    for d in 0..3 {
        let marginal = |step: f64| {
            let mut x = x;
            x[d] += step;
            posterior.latent(&x).unwrap().marginal
        };
        let (up, down) = (marginal(h), marginal(-h));
        let (mu, s) = ((up.mu - down.mu) / (2.0 * h), (up.s - down.s) / (2.0 * h));
        assert!((at.d_mu[d] - mu).abs() < 1e-6, "{} {mu}", at.d_mu[d]);
        assert!((at.d_s[d] - s).abs() < 1e-6, "{} {s}", at.d_s[d]);
    }
}

#[test]
fn extending_is_conditioning_on_all() {
    let (whole, x) = (posterior(), points(12, 0.3));
    let first = whole
        .process()
        .condition(&x.slice(0, 9), &whole.g()[..9])
        .unwrap();
    let grown = first.extend(&x.slice(9, 12), &whole.g()[9..]).unwrap();
    let y = points(6, 2.0);
    let pairs = whole.marginals(&y).unwrap().into_iter();
    for (a, b) in pairs.zip(grown.marginals(&y).unwrap()) {
        assert!((a.mu - b.mu).abs() < 1e-9 && (a.s - b.s).abs() < 1e-9);
    }
}

/// A sum is known at a corner of the square from a cross of observations through its middle.
#[test]
fn a_sum_is_known_where_only_its_terms_were_seen() {
    let f = |x: &[f64]| (3.0 * x[0]).sin() + (2.0 * x[1]).cos();
    let arm = (-6..=6).map(|i| f64::from(i) / 6.0);
    let rows: Vec<Vec<f64>> = arm
        .clone()
        .map(|t| vec![t, 0.0])
        .chain(arm.filter(|t| *t != 0.0).map(|t| vec![0.0, t]))
        .collect();
    let g: Vec<f64> = rows.iter().map(|x| f(x)).collect();
    let corner = Points::from_rows(&[vec![-0.9, -0.9]]).unwrap();
    let error = |effects: Option<Effects>| {
        let theta = Theta {
            noise: 1e-8,
            effects,
            ..Theta::constant(0.0, 1.0, vec![0.5, 0.5]).unwrap()
        };
        let process = Process::new(SquaredExponential, theta);
        let posterior = process.condition(&Points::from_rows(&rows).unwrap(), &g);
        let mean = posterior.unwrap().means(&corner).unwrap()[0];
        (mean - f(corner.row(0))).abs()
    };
    let with = error(Some(Effects::new(0.999, 1.0).unwrap()));
    let without = error(None);
    assert!(with < 0.01 && without > 0.3, "{with} {without}");
}

#[test]
fn refuses_a_share_that_is_none() {
    let wrong = Theta {
        effects: Some(Effects {
            share: 1.0,
            stretch: 1.0,
        }),
        ..theta()
    };
    let error = wrong.check().unwrap_err().to_string();
    assert!(error.contains("effects.share"), "{error}");
}

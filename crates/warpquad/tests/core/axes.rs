//! A Gaussian process along axes is the same process on turned points.

use std::sync::Arc;
use warpquad::belief::{MeanFunction, PosteriorProcess};
use warpquad::fit::{Fit, fit};
use warpquad::functional::Functional;
use warpquad::kernel::{Matern52, SquaredExponential};
use warpquad::measure::Gaussian;
use warpquad::warp::Log;
use warpquad::{Axes, Belief, Data, Points, Process, Theta, Value};

fn axes() -> Axes {
    Axes::new(&[vec![0.8, 0.5], vec![-0.3, 1.1]]).unwrap()
}

fn points(n: usize, phase: f64) -> Points {
    let row = |i: usize| {
        vec![
            (1.7 * i as f64 + phase).sin(),
            (2.3 * i as f64 + phase).cos(),
        ]
    };
    Points::from_rows(&(0..n).map(row).collect::<Vec<_>>()).unwrap()
}

fn turned(x: &Points) -> Points {
    Points::from_rows(&x.iter().map(|x| axes().turn(x)).collect::<Vec<_>>()).unwrap()
}

fn g(x: &Points) -> Vec<f64> {
    x.iter().map(|x| (x[0] - 2.0 * x[1]).sin() + x[1]).collect()
}

fn theta() -> Theta {
    Theta {
        mean: MeanFunction::Quadratic {
            peak: 0.5,
            center: vec![0.1, -0.2],
            width: vec![1.3, 0.9],
        },
        noise: 1e-6,
        ..Theta::constant(0.0, 1.4, vec![0.7, 1.2]).unwrap()
    }
}

fn along_axes() -> Theta {
    Theta {
        axes: Some(Arc::new(axes())),
        ..theta()
    }
}

fn posteriors() -> (PosteriorProcess, PosteriorProcess) {
    let x = points(12, 0.3);
    let g = g(&x);
    let condition = |theta, x: &Points| {
        Process::new(SquaredExponential, theta)
            .condition(x, &g)
            .unwrap()
    };
    (condition(along_axes(), &x), condition(theta(), &turned(&x)))
}

#[test]
fn predicts_as_on_turned_points() {
    let (along, plain) = posteriors();
    let x = points(9, 1.1);
    let (y, more) = (turned(&x), points(3, 2.2));
    for (a, b) in along
        .marginals(&x)
        .unwrap()
        .iter()
        .zip(plain.marginals(&y).unwrap())
    {
        assert!((a.mu - b.mu).abs() < 1e-9 && (a.s - b.s).abs() < 1e-9);
    }
    for (a, b) in along
        .means(&x)
        .unwrap()
        .iter()
        .zip(plain.means(&y).unwrap())
    {
        assert!((a - b).abs() < 1e-9);
    }
    let (a, b) = (
        along.cov(&x, &more).unwrap(),
        plain.cov(&y, &turned(&more)).unwrap(),
    );
    for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
        assert!((a - b).abs() < 1e-9);
    }
    let grown = along.extend(&more, &g(&more)).unwrap();
    let there = grown.means(&more).unwrap();
    for (a, b) in there.iter().zip(g(&more)) {
        assert!((a - b).abs() < 1e-4);
    }
}

#[test]
fn gradients_are_those_of_the_coordinates() {
    let (along, _) = posteriors();
    let x = [0.2, -0.4];
    let at = along.latent(&x).unwrap();
    let h = 1e-5;
    for d in 0..2 {
        let marginal = |step: f64| {
            let mut x = x.to_vec();
            x[d] += step;
            along.latent(&x).unwrap().marginal
        };
        let (up, down) = (marginal(h), marginal(-h));
        let (mu, s) = ((up.mu - down.mu) / (2.0 * h), (up.s - down.s) / (2.0 * h));
        assert!((at.d_mu[d] - mu).abs() < 1e-6, "{} {mu}", at.d_mu[d]);
        assert!((at.d_s[d] - s).abs() < 1e-6, "{} {s}", at.d_s[d]);
    }
}

#[test]
fn fits_as_on_turned_points() {
    let x = points(14, 0.3);
    let values: Vec<Value> = g(&x).into_iter().map(Value::Log).collect();
    let start = Theta::constant(0.0, 1.0, vec![0.5, 0.5]).unwrap();
    let along = Theta {
        axes: Some(Arc::new(axes())),
        ..start.clone()
    };
    let fitted = |theta: Theta, x: Points| {
        let data = Data::new(x, values.clone()).unwrap();
        let process = Process::new(Matern52, theta);
        fit(&process, &Log, &data, &Fit::default())
            .unwrap()
            .theta()
            .clone()
    };
    let (a, b) = (fitted(along, x.clone()), fitted(start, turned(&x)));
    assert_eq!(a.length_scales, b.length_scales);
    assert!(a.axes.is_some());
}

#[test]
fn closed_forms_are_not_taken() {
    let pi = Gaussian::new(vec![0.0, 0.0], vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let constant = |axes| Theta {
        axes,
        ..Theta::constant(0.2, 1.4, vec![0.7, 1.2]).unwrap()
    };
    let x = points(12, 0.3);
    let whole = |axes| {
        let posterior = Process::new(SquaredExponential, constant(axes)).condition(&x, &g(&x));
        Functional::integral(&pi, 4096)
            .apply(&posterior.unwrap())
            .unwrap()
    };
    assert!(whole(None).closed_form);
    assert!(!whole(Some(Arc::new(axes()))).closed_form);
}

#[test]
fn lengths_along_the_coordinates() {
    // A quarter turn exchanges them.
    let quarter = Axes::new(&[vec![0.0, 1.0], vec![-1.0, 0.0]]).unwrap();
    let theta = Theta {
        axes: Some(Arc::new(quarter)),
        ..Theta::constant(0.0, 1.0, vec![0.7, 1.2]).unwrap()
    };
    let lengths = theta.coordinate_lengths();
    assert!((lengths[0] - 1.2).abs() < 1e-12 && (lengths[1] - 0.7).abs() < 1e-12);
}

#[test]
fn refuses_axes_of_another_dimension() {
    let theta = Theta {
        axes: Some(Arc::new(axes())),
        ..Theta::constant(0.0, 1.0, vec![1.0]).unwrap()
    };
    let error = theta.check().unwrap_err().to_string();
    assert!(error.contains("axes"), "{error}");
}

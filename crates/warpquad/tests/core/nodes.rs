//! The node rules: what they integrate, and what they say of their own error.

use warpquad::functional::Nodes;
use warpquad::measure::{Empirical, Product, univariate};
use warpquad::warp::Log;
use warpquad::{
    Data, Functional, Points, Process, Theta, Value, Warped, kernel::SquaredExponential,
};

/// A Gaussian of width 1/50 of the box in d dimensions, known on a small grid about its peak.
fn narrow_peak(d: usize) -> (Data, Product, f64) {
    let width: f64 = 0.02;
    let mut rows = vec![vec![0.5; d]];
    for k in 0..d {
        for step in [-2.0, -1.0, 1.0, 2.0] {
            let mut x = vec![0.5; d];
            x[k] += step * width;
            rows.push(x);
        }
    }
    let ln_f = |x: &[f64]| -0.5 * x.iter().map(|x| ((x - 0.5) / width).powi(2)).sum::<f64>();
    let values = rows.iter().map(|x| Value::Log(ln_f(x))).collect();
    let exact = d as f64 * (width * std::f64::consts::TAU.sqrt()).ln();
    let data = Data::new(Points::from_rows(&rows).unwrap(), values).unwrap();
    (data, Product::uniform(&vec![(0.0, 1.0); d]).unwrap(), exact)
}

#[test]
fn nodes_that_follow_the_belief_find_a_peak_of_a_fiftieth_of_the_box() {
    for d in [2, 4] {
        let (data, pi, exact) = narrow_peak(d);
        let warp = data.warp(Log).unwrap();
        // Far from the peak f is e^-30 of it, to within a factor of ten or so.
        let theta = Theta::constant(-30.0, 5.0, vec![0.06; d]).unwrap();
        let g = data.g(&warp).unwrap();
        let posterior = Process::new(SquaredExponential, theta)
            .condition(data.points(), &g)
            .unwrap();
        let belief = Warped::new(&warp, &posterior);
        let followed = Functional::following(&pi, 4096, 1).apply(&belief).unwrap();
        let plain = Functional::integral(&pi, 4096).apply(&belief).unwrap();
        assert!(
            followed.relative_node_error() < 0.05,
            "{d}: {}",
            followed.relative_node_error()
        );
        assert!(
            plain.relative_node_error() > 3.0 * followed.relative_node_error(),
            "{d}"
        );
        if d == 2 {
            assert!(
                (followed.ln_mean() - exact).abs() < 0.2,
                "{} {exact}",
                followed.ln_mean()
            );
        }
    }
}

#[test]
fn the_weights_of_any_rule_add_up_to_one() {
    let (data, pi, _) = narrow_peak(2);
    let theta = Theta::constant(-5.0, 4.0, vec![0.05; 2]).unwrap();
    let g = data.g(&Log).unwrap();
    let posterior = Process::new(SquaredExponential, theta)
        .condition(data.points(), &g)
        .unwrap();
    let belief = Warped::new(&Log, &posterior);
    let total = |nodes: &Nodes| nodes.ln_weights.iter().map(|w| w.exp()).sum::<f64>();
    assert!((total(&Nodes::sobol(&pi, 1000, 3).unwrap()) - 1.0).abs() < 1e-12);
    let followed = Nodes::importance(&pi, &belief, 8192, 3).unwrap();
    assert!(
        (total(&followed) - 1.0).abs() < 0.03,
        "{}",
        total(&followed)
    );
    let top = followed
        .ln_weights
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    assert!(
        top.exp() * followed.points.len() as f64 <= 4.0 + 1e-9,
        "the balance heuristic's bound"
    );
}

#[test]
fn the_node_error_is_the_size_of_the_error() {
    // E[exp(x)] for x uniform on [0, 1], through a belief that is exact there.
    let pi = Product::new(vec![univariate("uniform", &[0.0, 1.0]).unwrap()]).unwrap();
    let rows: Vec<Vec<f64>> = (0..9).map(|i| vec![i as f64 / 8.0]).collect();
    let g: Vec<f64> = rows.iter().map(|x| x[0]).collect();
    let theta = Theta::constant(0.0, 10.0, vec![2.0]).unwrap();
    let posterior = Process::new(SquaredExponential, theta)
        .condition(&Points::from_rows(&rows).unwrap(), &g)
        .unwrap();
    let belief = Warped::new(&Log, &posterior);
    let z = Functional::integral(&pi, 1024).apply(&belief).unwrap();
    let error = (z.mean() / (1.0_f64.exp() - 1.0) - 1.0).abs();
    assert!(
        error < 4.0 * z.relative_node_error() + 1e-7,
        "{error:e} {z:?}"
    );
    assert!(z.relative_node_error() < 1e-4, "{z:?}");
}

#[test]
fn a_sample_is_its_own_node_set() {
    let sample = Points::from_rows(&[vec![0.0], vec![1.0], vec![3.0]]).unwrap();
    let nodes = Nodes::sobol(&Empirical::new(sample.clone()).unwrap(), 4096, 0).unwrap();
    assert_eq!(nodes.points, sample);
    assert!(
        nodes
            .ln_weights
            .iter()
            .all(|w| (w.exp() - 1.0 / 3.0).abs() < 1e-15)
    );
}

//! Check the table against the oracle, against tensor quadrature of the belief, and against itself.

use super::squared_exponential::polynomial as by_algebra;
use super::*;
use crate::belief::{Linearised, Process, Theta, Warped};
use crate::functional::taylor::{expansion, taylor};
use crate::kernel::{self, Matern32, SquaredExponential};
use crate::measure::{Gaussian, Product, univariate};
use crate::numeric::gauss::{Rule, hermite, legendre};
use crate::numeric::sobol::Sobol;
use crate::points::Points;
use crate::warp::{Affine, Identity, Log, Polynomial, Square, Warp};
use std::sync::Arc;

fn close(name: &str, got: f64, want: f64, tolerance: f64) {
    let error = (got - want).abs() / want.abs();
    assert!(
        error <= tolerance,
        "{name}: {got} for {want}, off by {error:e}"
    );
}

fn numbers(cell: &str) -> Vec<f64> {
    let parts = cell.split(';').filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap()).collect()
}

/// A row of the oracle as a posterior and a measure.
fn problem(cell: &dyn Fn(&str) -> String) -> (PosteriorProcess, Box<dyn Measure>) {
    let rows: Vec<Vec<f64>> = cell("X").split('|').map(numbers).collect();
    let [mu, scale] = [cell("mu0"), cell("scale")].map(|x| x.parse().unwrap());
    let theta = Theta::constant(mu, scale, numbers(&cell("lengths"))).unwrap();
    let process = Process::shared(kernel::by_name(&cell("kernel")).unwrap(), theta);
    let posterior = process
        .condition(&Points::from_rows(&rows).unwrap(), &numbers(&cell("g")))
        .unwrap();
    let measure: Box<dyn Measure> = if cell("measure") == "uniform" {
        let sides = numbers(&cell("lo")).into_iter().zip(numbers(&cell("hi")));
        Box::new(Product::uniform(&sides.collect::<Vec<_>>()).unwrap())
    } else {
        let cov = cell("covariance").split('|').flat_map(numbers).collect();
        Box::new(Gaussian::new(numbers(&cell("mean")), cov).unwrap())
    };
    (posterior, measure)
}

#[test]
fn every_row_of_the_oracle() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/oracle/closed_forms.csv"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut count = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| {
            let column = header.iter().position(|h| *h == name).unwrap();
            cells[column].to_string()
        };
        let (posterior, measure) = problem(&cell);
        let (name, parameters) = (cell("case"), cell("parameters"));
        let values = parameters
            .split('=')
            .nth(1)
            .map(numbers)
            .unwrap_or_default();
        let measure = measure.as_ref();
        let square = || Square::new(values[0]).unwrap();
        let z = match cell("warp").as_str() {
            "identity" => integral(&Warped::new(&Identity, &posterior), measure),
            "square" => integral(&Warped::new(&square(), &posterior), measure),
            "square-linearised" => integral(&Linearised::new(&square(), &posterior), measure),
            "polynomial" => {
                let warp = Polynomial::new(values.clone()).unwrap();
                integral(&Warped::new(&warp, &posterior), measure)
            }
            "exp-taylor-2" => {
                let (mean, var) = expansion(&posterior, measure, 2).unwrap();
                // Far from 0 the expanded variance can be negative: no answer.
                assert_eq!(taylor(&Log, &posterior, measure, 2).is_ok(), var >= 0.0);
                Some(ClosedForm {
                    offset: 0.0,
                    ln_unit: 0.0,
                    mean,
                    var,
                })
            }
            other => panic!("{other} is not in the table"),
        };
        let z = z.unwrap_or_else(|| panic!("{name} has no closed form"));
        let [mean, var] = [cell("z_mean"), cell("z_var")].map(|x| x.parse::<f64>().unwrap());
        let got = (
            z.offset + z.ln_unit.exp() * z.mean,
            (2.0 * z.ln_unit).exp() * z.var,
        );
        close(&name, got.0, mean, 1e-10);
        // A variance is what is left of the prior's: where that is a millionth of the output scale,
        // the roundings of the prior's own double integral (a few eps of it) show.
        let scale: f64 = cell("scale").parse().unwrap();
        let floor = 8.0 * f64::EPSILON * scale;
        close(&name, got.1, var, 1e-10 + floor / var.abs());
        count += 1;
    }
    assert!(count >= 71, "{count} rows");
}

/// Nodes and weights of a product of univariate rules, moved to the measure by x = shift + factor
/// z.
fn tensor(rules: &[Rule], shift: &[f64], factor: &[Vec<f64>]) -> (Points, Vec<f64>) {
    let mut nodes = vec![(Vec::new(), 1.0)];
    for rule in rules {
        let axis = rule.nodes.iter().zip(&rule.weights);
        let axis: Vec<(f64, f64)> = axis.map(|(&z, &w)| (z, w)).collect();
        let longer = |(z, w): &(Vec<f64>, f64)| {
            let append = |&(t, v): &(f64, f64)| ([&z[..], &[t]].concat(), w * v);
            axis.iter().map(append).collect::<Vec<_>>()
        };
        nodes = nodes.iter().flat_map(longer).collect();
    }
    let place = |z: &Vec<f64>| {
        let row = |(s, f): (&f64, &Vec<f64>)| s + f.iter().zip(z).map(|(f, z)| f * z).sum::<f64>();
        shift.iter().zip(factor).map(row).collect()
    };
    let points: Vec<Vec<f64>> = nodes.iter().map(|(z, _)| place(z)).collect();
    let weights = nodes.iter().map(|(_, w)| *w).collect();
    (Points::from_rows(&points).unwrap(), weights)
}

/// Legendre on [-1, 1] as a probability.
fn flat(n: usize) -> Rule {
    let mut rule = legendre(n);
    rule.weights.iter_mut().for_each(|w| *w *= 0.5);
    rule
}

/// Mean and variance of Z by summing the belief's own moments over nodes, units applied.
fn brute(belief: &dyn Belief, (points, weights): &(Points, Vec<f64>)) -> (f64, f64) {
    let moments = belief.moments(points).unwrap();
    let cov = belief.cov(points, points).unwrap();
    let mean = moments
        .means()
        .iter()
        .zip(weights)
        .map(|(m, w)| m * w)
        .sum();
    let units: Vec<f64> = moments
        .ln_unit
        .iter()
        .zip(weights)
        .map(|(u, w)| u.exp() * w)
        .collect();
    let var = (0..points.len())
        .map(|j| units[j] * crate::numeric::linalg::dot(&units, cov.col(j)))
        .sum();
    (mean, var)
}

fn agree(name: &str, belief: &dyn Belief, measure: &dyn Measure, nodes: &(Points, Vec<f64>)) {
    let z = integral(belief, measure).unwrap_or_else(|| panic!("{name}: none"));
    let (mean, var) = brute(belief, nodes);
    close(name, z.offset + z.ln_unit.exp() * z.mean, mean, 3e-6);
    close(name, (2.0 * z.ln_unit).exp() * z.var, var, 3e-6);
}

/// A posterior in three dimensions.
fn posterior(n: usize, noise: f64) -> PosteriorProcess {
    let theta = Theta {
        noise,
        ..Theta::constant(0.4, 1.7, vec![1.9, 2.6, 3.1]).unwrap()
    };
    let wave = |i: usize, k: usize| 1.4 * ((2 * i + 1) as f64 * (0.83 + 0.57 * k as f64)).sin();
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..3).map(|k| wave(i, k)).collect())
        .collect();
    let g: Vec<f64> = rows.iter().map(|x| x[0] - 0.3 * x[1] * x[2]).collect();
    let process = Process::new(SquaredExponential, theta);
    process
        .condition(&Points::from_rows(&rows).unwrap(), &g)
        .unwrap()
}

#[test]
fn three_dimensions_agree_with_tensor_quadrature() {
    let mixed = Product::new(vec![
        univariate("uniform", &[-1.0, 1.5]).unwrap(),
        univariate("normal", &[0.2, 0.7]).unwrap(),
        univariate("uniform", &[-2.0, 1.0]).unwrap(),
    ])
    .unwrap();
    let sides = [
        vec![1.25, 0.0, 0.0],
        vec![0.0, 0.7, 0.0],
        vec![0.0, 0.0, 1.5],
    ];
    let mixed_nodes = tensor(&[flat(9), hermite(13), flat(9)], &[0.25, 0.2, -0.5], &sides);
    // cov = F F'.
    let f = [
        vec![0.8, 0.0, 0.0],
        vec![-0.3, 0.6, 0.0],
        vec![0.2, 0.1, 0.9],
    ];
    let dot = |i: usize, j: usize| (0..3).map(|k| f[i][k] * f[j][k]).sum::<f64>();
    let cov = (0..9).map(|k| dot(k / 3, k % 3)).collect();
    let gaussian = Gaussian::new(vec![0.1, -0.2, 0.3], cov).unwrap();
    let gaussian_nodes = tensor(
        &[hermite(13), hermite(11), hermite(11)],
        &[0.1, -0.2, 0.3],
        &f,
    );

    let cubic = Polynomial::new(vec![0.5, -1.0, 0.25, 2.0]).unwrap();
    let quadratic = Polynomial::new(vec![0.5, -1.0, 0.25]).unwrap();
    let scaled = Affine::new(Arc::new(Square::default()), 3.0, -0.5).unwrap();
    let warps: [&dyn Warp; 5] = [&Identity, &Square::default(), &quadratic, &scaled, &cubic];
    let cases: [(f64, &dyn Measure, _); 2] = [
        (0.0, &mixed, &mixed_nodes),
        (0.05, &gaussian, &gaussian_nodes),
    ];
    for (noise, measure, nodes) in cases {
        let posterior = posterior(6, noise);
        agree("latent", &posterior, measure, nodes);
        for warp in warps {
            let name = format!("{}, noise {noise}", warp.name());
            agree(&name, &Warped::new(warp, &posterior), measure, nodes);
            agree(&name, &Linearised::new(warp, &posterior), measure, nodes);
        }
    }
}

#[test]
fn the_algebra_is_the_matrices_on_a_square() {
    let posterior = posterior(9, 0.01);
    let measure = Product::uniform(&[(-1.0, 1.0), (0.0, 2.0), (-3.0, 0.5)]).unwrap();
    for linearised in [false, true] {
        let case = Case {
            posterior: &posterior,
            form: measure.form(),
            mu: 0.4,
            coefficients: vec![0.3, -1.0, 2.0],
            linearised,
        };
        let (mean, var) = squared_exponential::quadratic(&case).unwrap();
        let (same_mean, same_var) = by_algebra(&case).unwrap();
        close("mean", same_mean, mean, 1e-12);
        close("var", same_var, var, 1e-11);
    }
}

#[test]
fn a_diagonal_gaussian_is_a_product_of_normals() {
    let posterior = posterior(8, 0.0);
    let normal = |mean, sd| univariate("normal", &[mean, sd]).unwrap();
    let product =
        Product::new(vec![normal(0.1, 0.5), normal(-0.3, 2.0), normal(0.0, 0.01)]).unwrap();
    let cov = vec![0.25, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 1e-4];
    let gaussian = Gaussian::new(vec![0.1, -0.3, 0.0], cov).unwrap();
    let square = Square::default();
    let belief = Warped::new(&square, &posterior);
    let (a, b) = (
        integral(&belief, &product).unwrap(),
        integral(&belief, &gaussian).unwrap(),
    );
    close("mean", a.mean, b.mean, 1e-13);
    close("var", a.var, b.var, 1e-11);
}

#[test]
fn nothing_observed_is_the_prior() {
    let process = Process::new(
        SquaredExponential,
        Theta::constant(0.5, 2.0, vec![1.0]).unwrap(),
    );
    let posterior = process.condition(&Points::empty(1).unwrap(), &[]).unwrap();
    let measure = Product::uniform(&[(0.0, 1e-6)]).unwrap();
    // On a point, Z is f there: E g^2 = mu^2 + s and E g^3 = mu^3 + 3 mu s.
    let z = integral(&Warped::new(&Square::default(), &posterior), &measure).unwrap();
    close("square", z.offset + z.mean, 2.25, 1e-11);
    close("square", z.var, 2.0 * 4.0 + 4.0 * 0.25 * 2.0, 1e-11);
    let cubic = Polynomial::new(vec![0.0, 0.0, 0.0, 1.0]).unwrap();
    let z = integral(&Warped::new(&cubic, &posterior), &measure).unwrap();
    close("cube", z.mean, 0.125 + 3.0, 1e-11);
}

#[test]
fn what_is_not_in_the_table_is_none() {
    let line = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let square = Product::uniform(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
    let points = Points::from_rows(&[vec![0.2, 0.4]]).unwrap();
    let theta = Theta::constant(0.0, 1.0, vec![1.0, 1.0]).unwrap();
    let matern = Process::new(Matern32, theta.clone());
    let two = matern.condition(&points, &[1.0]).unwrap();
    assert!(
        integral(&two, &square).is_none(),
        "Matern in two dimensions"
    );
    assert!(integral(&two, &line).is_none(), "another dimension");

    let mean = MeanFunction::Quadratic {
        peak: 0.0,
        center: vec![0.0; 2],
        width: vec![1.0; 2],
    };
    let process = Process::new(SquaredExponential, Theta { mean, ..theta });
    let bent = process.condition(&points, &[1.0]).unwrap();
    assert!(integral(&bent, &square).is_none(), "a quadratic mean");
    assert!(taylor(&Log, &bent, &square, 1).is_err());

    let many = posterior(60, 0.1);
    let cube = Product::uniform(&[(0.0, 1.0); 3]).unwrap();
    let cubic = Polynomial::new(vec![0.0, 1.0, 0.0, 1.0]).unwrap();
    assert!(
        integral(&Warped::new(&cubic, &many), &cube).is_none(),
        "n^4"
    );
    assert!(integral(&Warped::new(&Log, &many), &cube).is_none(), "exp");
    assert!(integral(&many, &cube).is_some());
    let log = Product::new(vec![univariate("exponential", &[1.0]).unwrap(); 3]).unwrap();
    assert!(integral(&many, &log).is_none(), "another measure");
    assert!(taylor(&Square::default(), &many, &cube, 1).is_err());
    assert!(taylor(&Log, &two, &square, 1).is_err());
    assert!(taylor(&Log, &many, &cube, 3).is_err());
}

#[test]
fn taylor_tends_to_the_log_warp() {
    // With g of size epsilon the error of order 2 falls as epsilon^3, relative to the mean.
    let error = |epsilon: f64| {
        let theta = Theta::constant(0.3 * epsilon, epsilon, vec![0.8]).unwrap();
        let process = Process::new(SquaredExponential, theta);
        let x = Points::from_rows(&[vec![-0.5], vec![0.6]]).unwrap();
        let g = [epsilon, -0.5 * epsilon];
        let posterior = process.condition(&x, &g).unwrap();
        let scaled = Affine::new(Arc::new(Log), 2.0, -3.0).unwrap();
        let measure = Product::uniform(&[(-1.0, 1.0)]).unwrap();
        let nodes = tensor(&[flat(24)], &[0.0], &[vec![1.0]]);
        let z = taylor(&scaled, &posterior, &measure, 2).unwrap();
        let (mean, var) = brute(&Warped::new(&scaled, &posterior), &nodes);
        let unit = z.ln_unit.exp();
        (
            (z.offset + unit * z.mean - mean).abs(),
            (unit * unit * z.var / var - 1.0).abs(),
        )
    };
    let (coarse, fine) = (error(0.1), error(0.01));
    assert!(
        fine.0 < 2e-6 && fine.0 < 2e-3 * coarse.0,
        "{coarse:?} {fine:?}"
    );
    assert!(
        fine.1 < 1e-3 && fine.1 < 2e-2 * coarse.1,
        "{coarse:?} {fine:?}"
    );
}

#[test]
fn the_table_names_kernels_that_exist() {
    for row in TABLE {
        let known = kernel::by_name(row.kernel).unwrap();
        assert_eq!(known.family(), row.family, "{row:?}");
    }
}

#[test]
fn close_points_give_a_right_answer_or_none() {
    let (mut given, mut refused) = (0, 0);
    let measure = Product::uniform(&[(0.0, 1.0); 2]).unwrap();
    let half = [vec![0.5, 0.0], vec![0.0, 0.5]];
    let nodes = tensor(&[flat(16), flat(16)], &[0.5, 0.5], &half);
    let cubic = Polynomial::new(vec![0.5, -1.0, 0.25, 2.0]).unwrap();
    let square = Square::default();
    for (length, n) in [
        (0.6, 8),
        (0.6, 20),
        (1.5, 8),
        (1.5, 20),
        (4.0, 3),
        (4.0, 12),
    ] {
        let theta = Theta::constant(0.4, 1.7, vec![length; 2]).unwrap();
        let x = Points::new(2, Sobol::new(2).unwrap().points(n)).unwrap();
        let g: Vec<f64> = x.iter().map(|x| (3.0 * x[0]).sin() + x[1]).collect();
        let posterior = Process::new(SquaredExponential, theta)
            .condition(&x, &g)
            .unwrap();
        let beliefs: [&dyn Belief; 3] = [
            &Linearised::new(&square, &posterior),
            &Warped::new(&square, &posterior),
            &Warped::new(&cubic, &posterior),
        ];
        for belief in beliefs {
            let Some(z) = integral(belief, &measure) else {
                refused += 1;
                continue;
            };
            given += 1;
            let (mean, var) = brute(belief, &nodes);
            assert!(
                (z.mean - mean).abs() < 1e-3 * var.sqrt(),
                "{length} {n}: {z:?} {mean}"
            );
            close("var", z.var, var, 1e-2);
        }
    }
    assert!(
        given >= 8 && refused >= 4,
        "{given} given, {refused} refused"
    );
}

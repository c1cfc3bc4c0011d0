//! Periodic parameters: distances on the circle, modes across the edge, frames of narrow peaks.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use warpquad::engine::{Engine, Method};
use warpquad::functional::Nodes;
use warpquad::measure::{
    Chart, Circle, Circles, Measure, Product, Uniform, Univariate, univariate,
};
use warpquad::numeric::special::ln_sum_exp;
use warpquad::warp::{Log, Range};
use warpquad::{Axes, Belief, Effects, Points, Process, Theta, Value, kernel};

fn circle() -> Circle {
    Circle {
        start: 0.0,
        period: TAU,
    }
}

/// A process in (x, angle).
fn process(kernel: &str, theta: Theta) -> Process {
    let theta = Theta {
        circles: Circles::new(vec![None, Some(circle())]).map(Arc::new),
        ..theta
    };
    Process::shared(kernel::by_name(kernel).unwrap(), theta)
}

fn at(rows: &[[f64; 2]]) -> Points {
    Points::from_rows(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn every_kernel_takes_the_chord() {
    for entry in kernel::REGISTRY {
        let theta = Theta::constant(0.0, 1.0, vec![1.0, 0.7]).unwrap();
        let sigma = process(entry.name, theta).cov(&at(&[[0.3, 0.2]]), &at(&[[0.5, 6.0]]));
        // r^2 = 0.2^2 + 4 sin^2(delta / 2) / 0.7^2.
        let r2 = 0.04 + 4.0 * (0.5_f64 * (6.0 - 0.2)).sin().powi(2) / 0.49;
        let kernel = (entry.build)();
        assert!(
            (sigma.unwrap()[(0, 0)] - kernel.correlation(r2)).abs() < 1e-14,
            "{}",
            entry.name
        );
    }
}

#[test]
fn a_whole_turn_is_no_way() {
    let x = at(&[[0.3, 0.2], [1.1, 5.9], [-0.4, 3.0]]);
    let effects = Some(Effects::new(0.4, 1.5).unwrap());
    let axes = Axes::new(&[vec![0.5, 0.0], vec![0.0, 1.0 / TAU]]).unwrap();
    for axes in [None, Some(Arc::new(axes))] {
        let theta = Theta {
            effects,
            axes,
            ..Theta::constant(0.2, 1.0, vec![0.8, 0.3]).unwrap()
        };
        let belief = process("matern52", theta)
            .condition(&x, &[0.4, -0.3, 0.1])
            .unwrap();
        let (here, there) = (at(&[[0.5, 0.7]]), at(&[[0.5, 0.7 - TAU]]));
        let (here, there) = (
            belief.marginals(&here).unwrap(),
            belief.marginals(&there).unwrap(),
        );
        assert!((here[0].mu - there[0].mu).abs() < 1e-12);
        assert!((here[0].s - there[0].s).abs() < 1e-12);
        let (point, h) = ([0.5, 6.1], 1e-5);
        let latent = belief.latent(&point).unwrap();
        for d in 0..2 {
            let mean = |sign: f64| {
                let mut x = point;
                x[d] += sign * h;
                belief.marginals(&at(&[x])).unwrap()[0]
            };
            let (above, below) = (mean(1.0), mean(-1.0));
            assert!((latent.d_mu[d] - (above.mu - below.mu) / (2.0 * h)).abs() < 1e-7);
            assert!((latent.d_s[d] - (above.s - below.s) / (2.0 * h)).abs() < 1e-7);
        }
    }
}

#[test]
fn axes_that_mix_an_angle_are_refused() {
    let theta = Theta {
        axes: Some(Arc::new(
            Axes::new(&[vec![1.0, 0.5], vec![0.0, 1.0]]).unwrap(),
        )),
        circles: Circles::new(vec![None, Some(circle())]).map(Arc::new),
        ..Theta::constant(0.0, 1.0, vec![1.0; 2]).unwrap()
    };
    assert!(theta.check().unwrap_err().to_string().contains("angle"));
}

fn angle(lo: f64) -> Arc<dyn Univariate> {
    Arc::new(Uniform::periodic(lo, lo + TAU).unwrap())
}

/// ln I_0(k), by the trapezoidal rule, which converges at once on a circle.
fn ln_bessel(k: f64) -> f64 {
    let n = 20_000;
    let terms: Vec<f64> = (0..n)
        .map(|i| k * (TAU * f64::from(i) / f64::from(n)).cos())
        .collect();
    ln_sum_exp(&terms) - f64::from(n).ln()
}

fn run(prior: &dyn Measure, budget: usize, ln_f: &dyn Fn(&[f64]) -> f64) -> Engine {
    let range = Range::POSITIVE;
    let mut engine = Engine::new(Method::auto(range), range, prior, 2).unwrap();
    let none = Points::empty(prior.dim()).unwrap();
    for _ in 0..budget {
        let x = engine.ask(&none, &none).unwrap();
        let ends = prior.support();
        assert!(
            x.iter().zip(&ends).all(|(x, (lo, hi))| lo < x && x < hi),
            "{x:?}"
        );
        engine.tell(&x, Value::Log(ln_f(&x))).unwrap();
    }
    engine
}

#[test]
fn a_mode_across_the_edge_is_one() {
    let prior = Product::new(vec![angle(0.0)]).unwrap();
    let ln_z = ln_bessel(20.0);
    let at = |peak: f64| {
        let mut engine = run(&prior, 16, &|x| 20.0 * (x[0] - peak).cos());
        let law = engine.answer().unwrap().law.clone();
        law.ln_quantile(0.5)
    };
    // On a circle a mode at the edge is as easy as one in the middle.
    for peak in [0.0, 0.05, PI] {
        assert!(
            (at(peak) - ln_z).abs() < 0.02,
            "{peak}: {} {ln_z}",
            at(peak)
        );
    }
}

#[test]
fn a_narrow_peak_across_the_edge_has_one_frame() {
    let wide = univariate("normal", &[0.0, 100.0]).unwrap();
    let prior = Product::new(vec![angle(-PI), wide]).unwrap();
    let ln_f = |x: &[f64]| 2e4 * ((x[0] - 3.13).cos() - 1.0) - 200.0 * (x[1] - 30.0).powi(2);
    let mut engine = run(&prior, 90, &ln_f);
    assert!(engine.history().frame().shape().is_some());
    let ln_normal = |x: f64, sd: f64| -0.5 * (x / sd).powi(2) - (sd * TAU.sqrt()).ln();
    let in_x = ln_normal(30.0, (1e4_f64 + 0.0025).sqrt()) + (0.05 * TAU.sqrt()).ln();
    let truth = ln_bessel(2e4) - 2e4 + in_x;
    let z = engine.answer().unwrap().law.clone();
    assert!(
        (z.ln_quantile(0.5) - truth).abs() < 0.01,
        "{} {truth}",
        z.ln_quantile(0.5)
    );
    // The point opposite to the peak is as far as any.
    let frame = engine.history().frame().clone();
    for x in [[3.13, 30.0], [-3.12, 30.0], [1.0, 29.0]] {
        let back = frame.point_from_frame(&frame.point_to_frame(&x).unwrap());
        assert!(
            (back[0] - x[0]).abs() < 1e-9 && (back[1] - x[1]).abs() < 1e-6,
            "{back:?}"
        );
    }
}

#[test]
fn nodes_across_the_edge_have_the_measure_of_the_circle() {
    let prior = Product::new(vec![angle(0.0), univariate("normal", &[0.0, 1.0]).unwrap()]).unwrap();
    let theta = Theta::constant(0.0, 1.0, vec![1.0, 0.5]).unwrap();
    let theta = Theta {
        circles: prior.circles().map(Arc::new),
        ..theta
    };
    let theta = Theta {
        length_scales: vec![0.2, 0.5],
        ..theta
    };
    let process = Process::shared(kernel::by_name("matern52").unwrap(), theta);
    let x = at(&[[0.01, 0.2], [6.27, 0.1]]);
    let posterior = process.condition(&x, &[0.0, -0.1]).unwrap();
    let belief = warpquad::Warped::new(&Log, &posterior);
    let nodes = Nodes::importance(&prior, &belief, 8192, 3).unwrap();
    // A fifth of the nodes are the measure's own: weights are bounded, and sums have small errors.
    let ln_sum = |ln_f: &dyn Fn(&[f64]) -> f64| {
        let nodes = nodes.points.iter().zip(&nodes.ln_weights);
        ln_sum_exp(&nodes.map(|(x, w)| w + ln_f(x)).collect::<Vec<f64>>())
    };
    assert!(ln_sum(&|_| 0.0).abs() < 0.05, "{}", ln_sum(&|_| 0.0));
    let truth = ln_bessel(50.0) - 0.5 * 9.0_f64.ln();
    let found = ln_sum(&|x| 50.0 * (x[0] - 0.02).cos() - 4.0 * x[1] * x[1]);
    assert!((found - truth).abs() < 0.05, "{found} {truth}");
    assert!(nodes.points.iter().all(|x| 0.0 < x[0] && x[0] < TAU));
}

#[test]
fn every_chart_but_the_score_knows_the_circle() {
    let prior = Product::new(vec![angle(-PI)]).unwrap();
    for (chart, period) in [
        (Chart::Identity, TAU),
        (Chart::Natural, TAU),
        (Chart::Unit, 1.0),
    ] {
        let coordinates = prior.coordinates(chart).unwrap();
        let circle = coordinates.measure().circles().unwrap().each()[0].unwrap();
        assert!((circle.period - period).abs() < 1e-12);
    }
    // Free coordinates go round and round.
    let free = prior.coordinates(Chart::Free).unwrap();
    let (mut here, mut there) = ([0.0], [0.0]);
    let circle = free.measure().circles().unwrap().each()[0].unwrap();
    free.from_natural(&[0.4], &mut here);
    free.from_natural(&[0.4 + circle.period], &mut there);
    assert!((here[0] - there[0]).abs() < 1e-12);
}

#[test]
fn a_score_is_refused() {
    let prior = Product::new(vec![angle(0.0)]).unwrap();
    let mut method = Method::auto(Range::POSITIVE);
    method.coordinates = Chart::Score;
    let error = Engine::new(method, Range::POSITIVE, &prior, 0).unwrap_err();
    assert!(error.to_string().contains("natural"), "{error}");
}

//! The contract that every acquisition keeps, and what single ones promise beyond it.

use super::candidates::Space;
use super::gain::{Gain, Weighted, nodes};
use super::look_ahead::Ahead;
use super::*;
use crate::belief::{Axes, Effects, Linearised, PosteriorProcess, Process, Theta, Warped};
use crate::error::Error;
use crate::functional::Nodes;
use crate::kernel::{Matern32, Matern52};
use crate::measure::{Empirical, Gaussian, Product, univariate};
use crate::numeric::random::Rng;
use crate::warp::{Gumbel, Log, Probit, Square, Warp};

fn product(name: &str, numbers: &[f64], dim: usize) -> Box<dyn Measure> {
    let law = univariate(name, numbers).unwrap();
    Box::new(Product::new(vec![law; dim]).unwrap())
}

fn measures(dim: usize) -> Vec<Box<dyn Measure>> {
    let cov = |i: usize| if i.is_multiple_of(dim + 1) { 1.0 } else { 0.4 };
    vec![
        product("uniform", &[-1.0, 2.0], dim),
        product("normal", &[0.5, 2.0], dim),
        product("exponential", &[0.7], dim),
        product("beta", &[0.5, 0.5], dim),
        Box::new(Gaussian::new(vec![1.0; dim], (0..dim * dim).map(cov).collect()).unwrap()),
    ]
}

fn posterior(taken: &Points, g: &[f64]) -> PosteriorProcess {
    let theta = Theta::constant(-1.0, 0.8, vec![0.7; taken.dim()]).unwrap();
    Process::new(Matern32, theta).condition(taken, g).unwrap()
}

/// n points inside every support of [`measures`], and values.
fn data(dim: usize, n: usize) -> (Points, Vec<f64>) {
    let mut rng = Rng::new(5);
    let x = (0..n * dim).map(|_| 0.05 + 0.9 * rng.uniform()).collect();
    let g = (0..n).map(|_| -2.0 * rng.uniform()).collect();
    (Points::new(dim, x).unwrap(), g)
}

#[test]
fn every_acquisition_keeps_the_contract() {
    for dim in [1, 3] {
        for measure in &measures(dim) {
            for (n, entry) in [0, 1, 6]
                .iter()
                .flat_map(|n| REGISTRY.iter().map(move |e| (*n, e)))
            {
                let rule = (entry.build)();
                assert_eq!(rule.name(), entry.name);
                let (mut taken, mut g) = data(dim, n);
                let mut chosen: Vec<Vec<f64>> = Vec::new();
                for step in 0..3 {
                    let posterior = posterior(&taken, &g);
                    let belief = Warped::new(&Log, &posterior);
                    let at = |seed| Context {
                        belief: &belief,
                        measure: measure.as_ref(),
                        taken: &taken,
                        seed,
                        step,
                    };
                    let what = format!("{} on {measure:?}, n = {n}, step {step}", entry.name);
                    let x = rule.choose(&at(9)).unwrap();
                    let space = Space::new(measure.as_ref(), &taken).unwrap();
                    assert!(space.holds(&x) && space.is_free(&x), "{what}: {x:?}");
                    assert_eq!(x, rule.choose(&at(9)).unwrap(), "{what}");
                    if matches!(entry.name, "prior" | "quasi-random") {
                        assert_ne!(x, rule.choose(&at(10)).unwrap(), "{what}");
                    }
                    // The next choice sees this one pending at its mean, and moves away.
                    let moved = chosen
                        .iter()
                        .all(|y| (0..dim).any(|d| (x[d] - y[d]).abs() > 1e-4));
                    assert!(moved, "{what}: {x:?} after {chosen:?}");
                    let pending = Points::new(dim, x.clone()).unwrap();
                    g.extend(posterior.means(&pending).unwrap());
                    taken.extend(&pending).unwrap();
                    chosen.push(x);
                }
            }
        }
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let message = by_name("guess").unwrap_err().to_string();
    assert!(message.contains("guess") && message.contains("information-gain"));
}

/// A derivative by central differences of fourth order.
fn difference(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

fn assert_gradient(name: &str, x: &[f64], score: impl Fn(&[f64]) -> (f64, Vec<f64>)) {
    let (value, gradient) = score(x);
    assert!(value.is_finite(), "{name} at {x:?}");
    let size = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
    for d in 0..x.len() {
        let moved = |h: f64| {
            let mut y = x.to_vec();
            y[d] += h;
            score(&y).0
        };
        let error = (difference(moved, 1e-4) - gradient[d]).abs() / size;
        assert!(error < 1e-6, "{name} at {x:?}, coordinate {d}: {error}");
    }
}

fn smooth_posterior() -> PosteriorProcess {
    let (x, g) = data(2, 7);
    let theta = Theta::constant(0.3, 0.9, vec![0.5, 0.8]).unwrap();
    Process::new(Matern52, theta).condition(&x, &g).unwrap()
}

fn turned_posterior() -> PosteriorProcess {
    let smooth = smooth_posterior();
    let axes = Axes::new(&[vec![0.9, 0.4], vec![-0.2, 1.1]]).unwrap();
    let theta = Theta {
        axes: Some(Arc::new(axes)),
        ..smooth.process().theta().clone()
    };
    let process = smooth.process().with_theta(theta);
    process.condition(smooth.points(), smooth.g()).unwrap()
}

fn posterior_with_effects() -> PosteriorProcess {
    let turned = turned_posterior();
    let theta = Theta {
        effects: Some(Effects::new(0.6, 0.8).unwrap()),
        ..turned.process().theta().clone()
    };
    let process = turned.process().with_theta(theta);
    process.condition(turned.points(), turned.g()).unwrap()
}

/// Every kind of link, by name, along the coordinates, along other axes, and with main effects
/// there.
fn for_each_belief(mut check: impl FnMut(&str, &dyn Belief)) {
    for_each_link(&smooth_posterior(), &mut check);
    for_each_link(&turned_posterior(), &mut check);
    for_each_link(&posterior_with_effects(), &mut check);
}

fn for_each_link(posterior: &PosteriorProcess, check: &mut impl FnMut(&str, &dyn Belief)) {
    let warps: [&dyn Warp; 4] = [&Log, &Square::default(), &Probit, &Gumbel::default()];
    for warp in warps {
        check(warp.name(), &Warped::new(warp, posterior));
    }
    check("latent", posterior);
    check(
        "linearised square",
        &Linearised::new(&Square::default(), posterior),
    );
    check("linearised probit", &Linearised::new(&Probit, posterior));
}

const PROBES: [[f64; 2]; 4] = [[0.31, 0.47], [0.8, 0.15], [-0.6, 1.9], [1.4, 0.6]];

#[test]
fn ln_variances_have_the_right_gradient() {
    for_each_belief(|name, belief| {
        for x in PROBES {
            assert_gradient(name, &x, |x| belief.ln_var_gradient(x).unwrap());
        }
    });
}

#[test]
fn gains_have_the_right_gradient_and_agree_with_plain_covariances() {
    let measure = Product::uniform(&[(-1.0, 2.0), (-1.0, 2.0)]).unwrap();
    for_each_belief(|name, belief| {
        let taken = Points::empty(2).unwrap();
        let space = Space::new(&measure, &taken).unwrap();
        let nodes = nodes(&space, belief, 3).unwrap();
        let probes = Points::from_rows(&PROBES.map(Vec::from)).unwrap();
        let plain = Weighted::new(belief, &nodes)
            .unwrap()
            .values(belief, &probes)
            .unwrap();
        let weighted = Weighted::new(belief, &nodes).unwrap();
        let gain = Gain::new(belief.anatomy().unwrap(), weighted).unwrap();
        let batch = gain.values(&probes).unwrap();
        for (i, x) in probes.iter().enumerate() {
            let single = gain.gradient(x).unwrap().0;
            let spread = (batch[i] - plain[i]).abs().max((batch[i] - single).abs());
            assert!(
                spread < 1e-9,
                "{name} at {x:?}: {} {} {single}",
                batch[i],
                plain[i]
            );
            assert_gradient(name, x, |x| gain.gradient(x).unwrap());
        }
    });
}

#[test]
fn what_is_left_of_the_tails_has_the_right_gradient() {
    let measure = Product::uniform(&[(-1.0, 2.0), (-1.0, 2.0)]).unwrap();
    let probes = Points::from_rows(&PROBES.map(Vec::from)).unwrap();
    for_each_belief(|name, belief| {
        let anatomy = belief.anatomy().unwrap();
        let nodes = Nodes::plausible(&measure, belief, 2.0, 64, 3).unwrap();
        let ahead = Ahead::new(anatomy.posterior, anatomy.link.warp(), &nodes, 2.0).unwrap();
        let batch = ahead.scores(&probes).unwrap();
        for (x, score) in probes.iter().zip(batch) {
            let single = ahead.gradient(x).unwrap().0;
            assert!((score - single).abs() < 1e-9, "{name} at {x:?}");
            assert_gradient(name, x, |x| ahead.gradient(x).unwrap());
        }
    });
}

#[test]
fn the_gain_is_what_conditioning_takes_off_the_variance_of_the_integral() {
    // Observing g at x lowers the variance of the node sum by exactly exp(score), up to the nodes'
    // unit.
    let measure = Product::uniform(&[(-1.0, 2.0), (-1.0, 2.0)]).unwrap();
    let (posterior, taken) = (smooth_posterior(), Points::empty(2).unwrap());
    let space = Space::new(&measure, &taken).unwrap();
    let nodes = nodes(&space, &posterior, 3).unwrap();
    let variance = |belief: &PosteriorProcess| {
        let cov = belief.cov(&nodes.points, &nodes.points).unwrap();
        cov.as_slice().iter().sum::<f64>()
    };
    let weighted = Weighted::new(&posterior, &nodes).unwrap();
    let gain = Gain::new(posterior.anatomy().unwrap(), weighted).unwrap();
    for x in PROBES {
        let after = posterior
            .extend(&Points::new(2, x.to_vec()).unwrap(), &[0.0])
            .unwrap();
        let lost = variance(&posterior) - variance(&after);
        let (score, _) = gain.gradient(&x).unwrap();
        assert!(
            (score.exp() - lost).abs() < 1e-9 * lost,
            "{} {lost}",
            score.exp()
        );
    }
}

#[test]
fn uncertainty_finds_the_maximum_of_a_dense_grid() {
    let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
    for n in [1, 3, 12, 40] {
        let (taken, g) = data(1, n);
        let theta = Theta::constant(-1.0, 0.8, vec![0.1]).unwrap();
        let posterior = Process::new(Matern32, theta).condition(&taken, &g).unwrap();
        let belief = Warped::new(&Log, &posterior);
        let grid: Vec<f64> = (1..=200_000).map(|i| i as f64 / 200_001.0).collect();
        let values = uncertainty::ln_vars(&belief, &Points::new(1, grid).unwrap()).unwrap();
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for seed in 0..5 {
            let at = Context {
                belief: &belief,
                measure: &measure,
                taken: &taken,
                seed,
                step: n,
            };
            let x = Uncertainty.choose(&at).unwrap();
            let (value, _) = belief.ln_var_gradient(&x).unwrap();
            assert!(
                value > highest - 1e-6,
                "n = {n}: {value} at {x:?}, grid {highest}"
            );
        }
    }
}

#[test]
fn a_range_of_forty_thousand_nats_is_climbed() {
    let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let taken = Points::from_rows(&[vec![0.1], vec![0.5], vec![0.9]]).unwrap();
    let theta = Theta::constant(-40000.0, 1.0, vec![0.3]).unwrap();
    let process = Process::new(Matern32, theta);
    let g = [-40000.0, -39000.0, -40000.0];
    let posterior = process.condition(&taken, &g).unwrap();
    for name in ["uncertainty", "uncertainty-prior", "information-gain"] {
        let x = by_name(name).unwrap().choose(&Context {
            belief: &Warped::new(&Log, &posterior),
            measure: &measure,
            taken: &taken,
            seed: 1,
            step: 3,
        });
        // The only mass is next to the middle point, where g is highest.
        assert!((x.unwrap()[0] - 0.5).abs() < 0.1, "{name}");
    }
}

#[test]
fn a_sample_is_asked_for_its_own_points_until_none_is_left() {
    let sample: Vec<f64> = vec![0.3, 0.9, 0.1, 0.3, 0.6];
    let measure = Empirical::new(Points::new(1, sample.clone()).unwrap()).unwrap();
    for entry in REGISTRY {
        let (rule, mut taken) = ((entry.build)(), Points::empty(1).unwrap());
        let choose = |taken: &mut Points| {
            let posterior = posterior(taken, &vec![0.0; taken.len()]);
            let step = taken.len();
            let belief = Warped::new(&Log, &posterior);
            let x = rule.choose(&Context {
                belief: &belief,
                measure: &measure,
                taken,
                seed: 4,
                step,
            })?;
            taken.push(&x)?;
            Ok::<_, Error>(x)
        };
        let mut seen: Vec<f64> = (0..4).map(|_| choose(&mut taken).unwrap()[0]).collect();
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, [0.1, 0.3, 0.6, 0.9], "{}", entry.name);
        let message = choose(&mut taken).unwrap_err().to_string();
        assert!(
            message.contains("all 5 points of the sample are taken"),
            "{message}"
        );
    }
}

/// A belief that is certain, or that fails.
struct Certain(f64);

impl Belief for Certain {
    fn dim(&self) -> usize {
        2
    }

    fn moments(&self, x: &Points) -> Result<crate::belief::Moments> {
        Ok(crate::belief::Moments {
            offset: 0.0,
            ln_unit: vec![0.0; x.len()],
            mean: vec![0.0; x.len()],
            var: vec![self.0; x.len()],
        })
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<crate::numeric::linalg::Mat> {
        Ok(crate::numeric::linalg::Mat::from_fn(
            x.len(),
            y.len(),
            |_, _| self.0,
        ))
    }

    fn ln_var_gradient(&self, _: &[f64]) -> Result<(f64, Vec<f64>)> {
        Ok((self.0.ln(), vec![f64::NAN; 2]))
    }
}

#[test]
fn scores_that_are_not_numbers_leave_a_quasi_random_point() {
    let measure = Product::uniform(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
    let taken = Points::from_rows(&[vec![0.5, 0.5]]).unwrap();
    for (entry, var) in REGISTRY.iter().flat_map(|e| [(e, 0.0), (e, f64::NAN)]) {
        let x = (entry.build)().choose(&Context {
            belief: &Certain(var),
            measure: &measure,
            taken: &taken,
            seed: 4,
            step: 1,
        });
        assert!(
            x.unwrap().iter().all(|x| 0.0 < *x && *x < 1.0),
            "{}",
            entry.name
        );
    }
}

#[test]
fn the_next_best_is_chosen_when_the_best_is_taken() {
    let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let value = |x: &[f64]| -(x[0] - 0.25).powi(2);
    let score = Score {
        values: &|x| Ok(x.iter().map(value).collect()),
        gradient: Some(&|x| Ok((value(x), vec![0.5 - 2.0 * x[0]]))),
    };
    let mut taken = Points::empty(1).unwrap();
    for _ in 0..20 {
        let x = maximise(&measure, &taken, 3, &score, &Maximise::default()).unwrap();
        assert!(Space::new(&measure, &taken).unwrap().is_free(&x));
        assert!((x[0] - 0.25).abs() < 0.1);
        taken.push(&x).unwrap();
    }
}

#[test]
fn a_measure_without_a_density_is_searched_but_not_weighed() {
    let map = Arc::new(|u: &[f64], x: &mut [f64]| x[0] = u[0].powi(3));
    let measure = crate::measure::Transform::new(1, map).unwrap();
    let (taken, g) = data(1, 3);
    let posterior = posterior(&taken, &g);
    for entry in REGISTRY {
        let x = (entry.build)().choose(&Context {
            belief: &Warped::new(&Log, &posterior),
            measure: &measure,
            taken: &taken,
            seed: 4,
            step: 3,
        });
        match x {
            Ok(x) => assert!(0.0 < x[0] && x[0] < 1.0, "{}", entry.name),
            Err(error) => assert!(error.to_string().contains("use uncertainty"), "{error}"),
        }
    }
}

#[test]
fn a_design_in_advance_beats_random_points() {
    let measure = Product::uniform(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
    let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.4; 2]).unwrap());
    let (random, g) = data(2, 10);
    let designed = design(&process, &measure, 10, 3).unwrap();
    let empty = Points::empty(2).unwrap();
    let fine = Space::new(&measure, &empty)
        .unwrap()
        .quasi_random(8, 256)
        .unwrap();
    let variance = |points: &Points| {
        let posterior = process.condition(points, &g).unwrap();
        posterior
            .cov(&fine, &fine)
            .unwrap()
            .as_slice()
            .iter()
            .sum::<f64>()
            / 65536.0
    };
    let (made, drawn) = (variance(&designed), variance(&random));
    assert!(made < 0.5 * drawn, "{made} {drawn}");
}

#[test]
fn the_look_ahead_settles_where_f_is_known_and_never_far_out() {
    let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
    let settled = |n: usize, step: usize| {
        let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
        let g: Vec<f64> = x.iter().map(|x| -3.0 * x).collect();
        let taken = Points::new(1, x).unwrap();
        let theta = Theta::constant(-1.0, 4.0, vec![0.3]).unwrap();
        let posterior = Process::new(Matern52, theta).condition(&taken, &g).unwrap();
        let at = Context {
            belief: &Warped::new(&Log, &posterior),
            measure: &measure,
            taken: &taken,
            seed: 1,
            step,
        };
        LookAhead::default()
            .choose_unless_settled(&at)
            .unwrap()
            .is_none()
    };
    // The tails are taken at 2, 5 and 1 sd in turn.
    assert_eq!([0, 1, 2].map(|step| settled(3, step)), [false; 3]);
    assert_eq!([0, 1, 2].map(|step| settled(40, step)), [true, false, true]);
}

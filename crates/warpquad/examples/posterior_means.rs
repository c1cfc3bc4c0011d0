//! Count how often the 95 % interval of a posterior mean covers: ten problems, ten seeds.
//!
//! `cargo run --release -p warpquad --example posterior_means`

use warpquad::engine::{Engine, Method};
use warpquad::measure::{Measure, Product};
use warpquad::numeric::special::ln_sum_exp;
use warpquad::warp::Range;
use warpquad::{Points, Result, Value};

/// Seeds of each problem, and points along each side of the grid that knows its mean.
const SEEDS: u64 = 10;
const GRID: usize = 800;

/// A problem in the box from -3 to 3 in each of two parameters.
struct Problem {
    name: &'static str,
    evaluations: usize,
    ln_f: fn(&[f64]) -> f64,
}

const PROBLEMS: [Problem; 10] = [
    problem("bell", 25, |x| -2.0 * ((x[0] - 0.5).powi(2) + x[1] * x[1])),
    problem("narrow bell", 40, |x| {
        -40.0 * ((x[0] - 1.0).powi(2) + (x[1] + 0.7).powi(2))
    }),
    problem("ridge", 40, |x| {
        -8.0 * (x[0] + x[1] - 0.3).powi(2) - 0.5 * x[0] * x[0]
    }),
    problem("bent", 50, |x| {
        -4.0 * (x[1] - x[0] * x[0]).powi(2) - 0.5 * (1.0 - x[0]).powi(2)
    }),
    problem("two bumps", 60, |x| two(x, 6.0)),
    problem("two sharp bumps", 80, |x| two(x, 20.0)),
    problem("waves", 60, |x| (2.0 * x[0]).sin() + (1.5 * x[1]).cos()),
    problem("heavy tails", 50, |x| {
        -1.5 * (1.0 + 4.0 * x[0] * x[0] + x[1] * x[1]).ln()
    }),
    problem("edge", 30, |x| 2.0 * x[0] - x[1]),
    problem("skewed", 40, |x| {
        3.0 * x[0] - (1.5 * x[0]).exp() - x[1] * x[1]
    }),
];

const fn problem(name: &'static str, evaluations: usize, ln_f: fn(&[f64]) -> f64) -> Problem {
    Problem {
        name,
        evaluations,
        ln_f,
    }
}

fn two(x: &[f64], steepness: f64) -> f64 {
    let bump = |at: f64| -steepness * x.iter().map(|x| (x - at).powi(2)).sum::<f64>();
    ln_sum_exp(&[bump(-1.1), bump(1.0) - 0.4])
}

/// The mean of each parameter, on a grid of midpoints.
fn truth(ln_f: fn(&[f64]) -> f64) -> [f64; 2] {
    let at = |i: usize| -3.0 + 6.0 * (i as f64 + 0.5) / GRID as f64;
    let mut sums = [0.0; 3];
    for i in 0..GRID {
        for j in 0..GRID {
            let x = [at(i), at(j)];
            let f = ln_f(&x).exp();
            sums[0] += f;
            sums[1] += f * x[0];
            sums[2] += f * x[1];
        }
    }
    [sums[1] / sums[0], sums[2] / sums[0]]
}

fn main() -> Result<()> {
    let measure = Product::uniform(&[(-3.0, 3.0); 2])?;
    let none = Points::empty(measure.dim())?;
    let (mut all, mut covered) = (0, 0);
    for problem in PROBLEMS {
        let truth = truth(problem.ln_f);
        let mut own = 0;
        for seed in 0..SEEDS {
            let method = Method::auto(Range::POSITIVE);
            let mut engine = Engine::new(method, Range::POSITIVE, &measure, seed)?;
            for _ in 0..problem.evaluations {
                let x = engine.ask(&none, &none)?;
                engine.tell(&x, Value::Log((problem.ln_f)(&x)))?;
            }
            let nodes = engine.posterior_nodes()?;
            for (d, truth) in truth.iter().enumerate() {
                let h: Vec<f64> = nodes.points().iter().map(|x| x[d]).collect();
                let [low, high] = nodes.expectation(&h)?.interval(0.95);
                own += usize::from(low <= *truth && *truth <= high);
            }
        }
        let asked = 2 * SEEDS as usize;
        println!(
            "{:16} {:3} evaluations: {own} of {asked}",
            problem.name, problem.evaluations
        );
        (all, covered) = (all + asked, covered + own);
    }
    println!("95 % intervals of posterior means cover {covered} of {all}");
    Ok(())
}

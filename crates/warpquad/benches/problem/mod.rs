//! State the problems that are timed, once for the bench and for the comparison with LAPACK.

use std::hint::black_box;
use std::sync::Arc;
use warpquad::fit::{Fit, Objective, Parameters};
use warpquad::kernel::Matern32;
use warpquad::{Points, Process, Theta, warp};

/// The dimension of all of them.
pub const DIM: usize = 4;
/// Observations that predictions and extensions start from.
pub const OBSERVED: usize = 200;
/// Points predicted at.
pub const PREDICTED: usize = 10_000;
/// Warps whose likelihood is timed. A fit in g-space is the identity's, whatever the warp.
pub const WARPS: [&str; 4] = ["log", "square", "probit", "identity"];

/// Points of the unit cube: fractional parts of multiples of powers of the root of t^5 = t + 1,
/// which fill four dimensions evenly (Roberts' sequence).
pub fn points(from: usize, n: usize) -> Points {
    let root: f64 = 1.167_303_978_261_418_7;
    let coordinate = |i: usize, d: usize| (0.5 + i as f64 / root.powi(d as i32 + 1)).fract();
    let flat = (from..from + n).flat_map(|i| (0..DIM).map(move |d| coordinate(i, d)));
    Points::new(DIM, flat.collect()).expect("the points are finite")
}

/// A smooth function of about unit size.
pub fn latent(x: &Points) -> Vec<f64> {
    x.iter()
        .map(|x| (3.0 * x[0]).sin() + x[1] * x[2] - x[3])
        .collect()
}

/// Correlations from nearly none to 0.9.
pub fn process() -> Process {
    let theta = Theta::constant(-0.4, 1.0, vec![0.4, 0.5, 0.6, 0.7]);
    Process::new(Matern32, theta.expect("the scales are positive"))
}

/// Give `work` one evaluation of the likelihood with its gradient, to repeat.
pub fn with_likelihood(warp: &str, n: usize, work: impl FnOnce(&mut dyn FnMut())) {
    let warp = &*warp::by_name(warp).expect("it is in the registry");
    let (process, x) = (process(), points(0, n));
    let g = latent(&x);
    let parameters = Parameters::new(&process, &x, &g, warp, &Fit::default()).expect("they fit");
    let at = parameters.vector(process.theta());
    let mut objective = Objective::new(Arc::clone(process.kernel()), warp, &x, &g, &parameters);
    let mut gradient = vec![0.0; at.len()];
    work(&mut || {
        let value = objective.evaluate(black_box(&at), &mut gradient);
        assert!(value.is_finite() && objective.jitter() == 0.0);
    });
}

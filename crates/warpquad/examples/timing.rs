//! Print the core operations' times as JSON lines, for `benchmarks/lapack_ratio.py` to set beside
//! LAPACK's.
//!
//! `cargo run --release -p warpquad --example timing`; times are in seconds.

#[path = "../benches/problem/mod.rs"]
mod problem;

use problem::{OBSERVED, PREDICTED, WARPS, latent, points, process, with_likelihood};
use std::hint::black_box;
use std::time::{Duration, Instant};
use warpquad::warp::Log;
use warpquad::{Belief, Warped};

/// How long each operation is repeated.
const ENOUGH: Duration = Duration::from_millis(150);

fn main() -> warpquad::Result<()> {
    for n in [100, 500] {
        for warp in WARPS {
            with_likelihood(warp, n, |evaluate| report("likelihood", warp, n, evaluate));
        }
    }
    let x = points(0, OBSERVED);
    let posterior = process().condition(&x, &latent(&x))?;
    let ahead = points(OBSERVED, PREDICTED);
    let belief = Warped::new(&Log, &posterior);
    report("predict", "latent", OBSERVED, &mut || {
        drop(black_box(posterior.marginals(&ahead)))
    });
    report("predict", "log", OBSERVED, &mut || {
        drop(black_box(belief.moments(&ahead)))
    });
    let one = points(OBSERVED, 1);
    report("extend", "latent", OBSERVED, &mut || {
        drop(black_box(posterior.extend(&one, &[0.3])))
    });
    Ok(())
}

fn report(task: &str, warp: &str, n: usize, work: &mut dyn FnMut()) {
    let seconds = least_time(work);
    println!(r#"{{"task": "{task}", "warp": "{warp}", "n": {n}, "seconds": {seconds:e}}}"#);
}

/// The least time of a call: on a shared machine the least, unlike the median, is the work's own.
fn least_time(work: &mut dyn FnMut()) -> f64 {
    let until = Instant::now() + ENOUGH;
    let mut least = f64::INFINITY;
    while Instant::now() < until {
        let start = Instant::now();
        work();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

//! Time the likelihood with its gradient, prediction, and extension by one point.
//!
//! `cargo bench -p warpquad --bench core`. `benchmarks/lapack_ratio.py` sets the same problems
//! beside LAPACK.

mod problem;

use divan::{Bencher, black_box};
use problem::{OBSERVED, PREDICTED, WARPS, latent, points, process, with_likelihood};
use warpquad::warp::Log;
use warpquad::{Belief, PosteriorProcess, Warped};

fn main() {
    divan::main();
}

#[divan::bench(args = WARPS, consts = [100, 500])]
fn likelihood<const N: usize>(bencher: Bencher, warp: &str) {
    with_likelihood(warp, N, |evaluate| bencher.bench_local(evaluate));
}

fn posterior() -> PosteriorProcess {
    let x = points(0, OBSERVED);
    process()
        .condition(&x, &latent(&x))
        .expect("the points differ")
}

#[divan::bench]
fn predict_latent(bencher: Bencher) {
    let (posterior, x) = (posterior(), points(OBSERVED, PREDICTED));
    bencher.bench_local(|| posterior.marginals(black_box(&x)));
}

#[divan::bench]
fn predict_log(bencher: Bencher) {
    let (posterior, x) = (posterior(), points(OBSERVED, PREDICTED));
    bencher.bench_local(|| Warped::new(&Log, &posterior).moments(black_box(&x)));
}

#[divan::bench]
fn extend_by_one(bencher: Bencher) {
    let (posterior, x) = (posterior(), points(OBSERVED, 1));
    bencher.bench_local(|| posterior.extend(black_box(&x), &[0.3]));
}

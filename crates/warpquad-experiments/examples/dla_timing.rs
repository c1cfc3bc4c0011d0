//! Print log likelihoods of absorbers and the time of one, as JSON lines: `benchmarks/dla_ratio.py`
//! sets them beside numpy's.
//!
//! `cargo run --release -p warpquad-experiments --example dla_timing -- DATA ID`; times are in
//! seconds.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use warpquad::measure::Measure;
use warpquad::{Error, Result};
use warpquad_experiments::dla::{Folder, Workspace, prior};

/// How long each number of absorbers is repeated.
const ENOUGH: Duration = Duration::from_millis(400);

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(data), Some(id)) = (args.next(), args.next()) else {
        return Err(Error::spec("arguments", "DATA and ID are needed"));
    };
    let folder = Folder::new(Path::new(&data));
    let quasar = folder.quasars()?.into_iter().find(|quasar| quasar.id == id);
    let quasar = quasar.ok_or_else(|| Error::spec("ID", format!("no spectrum {id}")))?;
    let likelihood = folder.likelihood(&folder.emission()?, &quasar)?;
    let mut work = Workspace::default();
    for absorbers in [1, 3] {
        let prior = prior(likelihood.z_range(), absorbers)?;
        let mut x = vec![0.0; prior.dim()];
        for (i, u) in [0.2, 0.4, 0.6, 0.8].into_iter().enumerate() {
            let cube: Vec<f64> = (0..x.len()).map(|d| (u + 0.37 * d as f64) % 1.0).collect();
            prior.quantile(&cube, &mut x);
            let ln = likelihood.ln_at(&x, &mut work)?;
            let x: Vec<String> = x.iter().map(f64::to_string).collect();
            println!(
                r#"{{"absorbers": {absorbers}, "case": {i}, "x": [{}], "log_likelihood": {ln}}}"#,
                x.join(", ")
            );
        }
        let mut least = f64::INFINITY;
        let until = Instant::now() + ENOUGH;
        while Instant::now() < until {
            let start = Instant::now();
            black_box(likelihood.ln_at(black_box(&x), &mut work)?);
            least = least.min(start.elapsed().as_secs_f64());
        }
        println!(
            r#"{{"absorbers": {absorbers}, "pixels": {}, "seconds": {least:e}}}"#,
            likelihood.len()
        );
    }
    Ok(())
}

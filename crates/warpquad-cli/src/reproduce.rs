//! Reproduce the paper's tables and figures.

use crate::args::Reproduce;
use crate::output;
use crate::progress::Line;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use warpquad::Result;
use warpquad_experiments::{Context, Scope, select};

pub fn reproduce(args: &Reproduce) -> Result<()> {
    let experiments = select(&args.names)?;
    let line = Mutex::new(Line::new(args.quiet));
    let progress = |text: &str| {
        line.lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .say(text);
    };
    let context = Context {
        data: args
            .data
            .clone()
            .or_else(|| std::env::var_os("WARPQUAD_DATA").map(PathBuf::from)),
        out: args.out.clone(),
        scope: if args.quick {
            Scope::Quick
        } else {
            Scope::Full
        },
        spectra: args.spectra.map(NonZeroUsize::get),
        until: args
            .minutes
            .map(|minutes| Instant::now() + Duration::from_secs(60 * u64::from(minutes))),
        seed: args.seed,
        progress: &progress,
    };
    let findings = warpquad_experiments::reproduce(&experiments, &context)?;
    let files = findings.iter().flat_map(|finding| finding.files.clone());
    for file in files.chain(["README.md".to_string()]) {
        output::line(&args.out.join(file).display().to_string());
    }
    Ok(())
}

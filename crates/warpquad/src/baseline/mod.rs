//! Integrate a cheap f without a model of it: Monte Carlo methods, each with its own error
//! estimate.
//!
//! They assume less than a Gaussian process does and cost more evaluations. They are for cheap
//! integrands, and to check. All work through the measure's quantile map and go on until they are
//! stopped. `mc` and `qmc` refine one average. The others work in passes with ever larger
//! populations, so that there is an answer early and most of the budget goes into the largest pass.
//!
//! ```
//! use warpquad::baseline::{self, Settings};
//! use warpquad::measure::{Product, univariate};
//! let pi = Product::new(vec![univariate("normal", &[0.0, 1.0])?])?;
//! let ln_f = |x: &[f64]| -9000.0 - 2.0 * x[0] * x[0];
//! let settings = Settings { budget: Some(4000), ..Settings::default() };
//! for entry in baseline::REGISTRY {
//!     let z = baseline::integrate((entry.build)().as_ref(), ln_f, &pi, &settings)?;
//!     assert!(z.complete && z.evaluations <= 4000);
//!     assert!((z.ln_z + 9000.0 + 0.5 * 5.0_f64.ln()).abs() < 5.0 * z.ln_sd);
//! }
//! # Ok::<(), warpquad::Error>(())
//! ```

mod ais;
mod bridge;
mod cloud;
mod evaluate;
mod mc;
mod nested;
mod passes;
mod qmc;
mod run;
mod smc;

pub use ais::Ais;
pub use bridge::Bridge;
pub use evaluate::{Evaluate, Function};
pub use mc::MonteCarlo;
pub use nested::Nested;
pub use qmc::QuasiMonteCarlo;
pub use run::{BaselineOutcome, Halt, Known, Run, Samples, Settings, Trace, integrate, run};
pub use smc::Smc;

use crate::error::{Error, Result};
use std::fmt::Debug;
use std::sync::Arc;

/// An integrator that needs no model of f.
pub trait Baseline: Debug + Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// Whether f may be negative.
    fn takes_any_sign(&self) -> bool {
        false
    }

    /// Whether it works in passes with so many particles, chains or live points that the user may
    /// fix their number.
    fn takes_particles(&self) -> bool {
        true
    }

    /// Evaluate f through `run` and tell it what is known, until it says stop.
    fn integrate(&self, run: &mut Run<'_>) -> std::result::Result<(), Halt>;
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Make one.
    pub build: fn() -> Arc<dyn Baseline>,
}

/// All baselines.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: "mc",
        summary: "plain Monte Carlo: the average over draws from the prior",
        build: || Arc::new(MonteCarlo),
    },
    Entry {
        name: "qmc",
        summary: "quasi-Monte Carlo: scrambled Sobol' points, the error from independent scrambles",
        build: || Arc::new(QuasiMonteCarlo),
    },
    Entry {
        name: "smc",
        summary: "sequential Monte Carlo: a population tempered from the prior to the posterior",
        build: || Arc::new(Smc),
    },
    Entry {
        name: "ais",
        summary: "annealed importance sampling: independent weighted paths from prior to posterior",
        build: || Arc::new(Ais),
    },
    Entry {
        name: "nested",
        summary: "nested sampling: live points climb f while the prior volume shrinks",
        build: || Arc::new(Nested),
    },
    Entry {
        name: "bridge",
        summary: "bridge sampling between posterior draws and a normal mixture fitted to them",
        build: || Arc::new(Bridge),
    },
];

/// Whether a method of that name is a baseline.
pub fn is_baseline(name: &str) -> bool {
    REGISTRY.iter().any(|entry| entry.name == name)
}

/// The names of the baselines of which something holds.
///
/// ```
/// use warpquad::baseline;
/// assert_eq!(baseline::names_where(|one| one.takes_any_sign()), ["mc", "qmc"]);
/// ```
pub fn names_where(holds: fn(&dyn Baseline) -> bool) -> Vec<&'static str> {
    let such = REGISTRY.iter().filter(|e| holds((e.build)().as_ref()));
    such.map(|entry| entry.name).collect()
}

/// The baseline of that name.
///
/// ```
/// assert_eq!(warpquad::baseline::by_name("qmc")?.name(), "qmc");
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn Baseline>> {
    let entry = REGISTRY.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        let reason = format!("unknown baseline '{name}'; there are {}", names.join(", "));
        Error::spec("method", reason)
    })?;
    Ok((entry.build)())
}

#[cfg(test)]
mod tests;

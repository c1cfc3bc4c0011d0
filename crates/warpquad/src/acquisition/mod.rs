//! Step 2: choose where to look next.
//!
//! An [`Acquisition`] turns a belief into one point. Those that score points (`uncertainty`,
//! `uncertainty-prior`, `information-gain`, `look-ahead`, `explore`, `design`) do so in logs and
//! share one multistart maximiser, [`maximise`]; the others follow the measure alone. A choice is a
//! function of its [`Context`]: the same context gives the same point, on any number of threads.
//!
//! ```
//! use warpquad::acquisition::{self, Context};
//! use warpquad::{Points, Process, Theta, Warped, kernel::Matern32, measure::Product, warp::Log};
//!
//! let pi = Product::uniform(&[(0.0, 1.0)])?;
//! let process = Process::new(Matern32, Theta::constant(-1.0, 0.5, vec![0.2])?);
//! let taken = Points::from_rows(&[vec![0.1], vec![0.9]])?;
//! let posterior = process.condition(&taken, &[0.0, -3.0])?;
//! let at = Context {
//!     belief: &Warped::new(&Log, &posterior),
//!     measure: &pi,
//!     taken: &taken,
//!     seed: 1,
//!     step: 2,
//! };
//! for entry in acquisition::REGISTRY {
//!     let x = (entry.build)().choose(&at)?;
//!     assert!(0.0 < x[0] && x[0] < 1.0 && x[0] != 0.1 && x[0] != 0.9);
//! }
//! # Ok::<(), warpquad::Error>(())
//! ```

mod candidates;
mod cross;
mod design;
mod explore;
mod gain;
mod information_gain;
mod look_ahead;
mod maximise;
mod prior_draw;
mod quasi_random;
mod uncertainty;
mod uncertainty_prior;

pub use design::{Design, design};
pub use explore::Explore;
pub use information_gain::InformationGain;
pub use look_ahead::LookAhead;
pub use maximise::{Maximise, Score, maximise};
pub use prior_draw::PriorDraw;
pub use quasi_random::QuasiRandom;
pub use uncertainty::Uncertainty;
pub use uncertainty_prior::UncertaintyPrior;

use crate::belief::Belief;
use crate::error::{Error, Result};
use crate::measure::Measure;
use crate::numeric::stream::{Stream, Streams};
use crate::points::Points;
use std::fmt::Debug;
use std::sync::Arc;

/// Everything a choice depends on.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// About f, already conditioned on pending points at their current mean.
    pub belief: &'a dyn Belief,
    /// What f is integrated against.
    pub measure: &'a dyn Measure,
    /// Observed and pending points; may be empty.
    pub taken: &'a Points,
    /// Of the run: the same at every step, so that sequences continue.
    pub seed: u64,
    /// How many points were asked for before this one.
    pub step: usize,
}

impl Context<'_> {
    /// A seed of this choice alone, so that no two steps share their candidates.
    fn choice_seed(&self) -> u64 {
        Streams::new(self.seed, self.step as u64)
            .rng(Stream::Choice)
            .next_u64()
    }
}

/// A rule for choosing the next point.
pub trait Acquisition: Debug + Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// The next point: inside the measure's support and not taken.
    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>>;

    /// The same, but nothing where it has little left to win. Most rules cannot tell.
    fn choose_unless_settled(&self, at: &Context<'_>) -> Result<Option<Vec<f64>>> {
        self.choose(at).map(Some)
    }
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Make one.
    pub build: fn() -> Arc<dyn Acquisition>,
}

/// All acquisitions.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: "uncertainty",
        summary: "where the variance of f is largest (MMLT)",
        build: || Arc::new(Uncertainty),
    },
    Entry {
        name: "uncertainty-prior",
        summary: "where the variance of f times the prior squared is largest (WSABI)",
        build: || Arc::new(UncertaintyPrior),
    },
    Entry {
        name: "information-gain",
        summary: "what lowers the variance of Z most under the matched Gaussian process",
        build: || Arc::new(InformationGain),
    },
    Entry {
        name: "look-ahead",
        summary: "what narrows the tails of Z most, watched at 2, 5 and 1 sd in turn (auto)",
        build: || Arc::new(LookAhead::default()),
    },
    Entry {
        name: "explore",
        summary: "the same at 5 sd: where a mode may hide (auto, once Z has settled)",
        build: || Arc::new(Explore::default()),
    },
    Entry {
        name: "prior",
        summary: "a draw from the prior",
        build: || Arc::new(PriorDraw),
    },
    Entry {
        name: "quasi-random",
        summary: "the next point of a scrambled Sobol' sequence through the prior's quantiles",
        build: || Arc::new(QuasiRandom),
    },
    Entry {
        name: "design",
        summary: "what lowers the variance of the integral of g most; values do not matter",
        build: || Arc::new(Design),
    },
];

/// The acquisition of that name.
///
/// ```
/// let rule = warpquad::acquisition::by_name("uncertainty")?;
/// assert_eq!(rule.name(), "uncertainty");
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn Acquisition>> {
    let entry = REGISTRY.iter().find(|entry| entry.name == name);
    entry.map(|entry| (entry.build)()).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        let reason = format!(
            "unknown acquisition '{name}'; there are {}",
            names.join(", ")
        );
        Error::spec("acquisition", reason)
    })
}

#[cfg(test)]
mod tests;

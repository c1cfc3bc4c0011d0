//! Name the methods: plain data that say which warp, kernel, fit and acquisition go together.

mod model;
mod posterior;
mod run;
mod trace;

pub use model::Model;
pub use run::{Engine, LastFit, Outcome, integrate};

use crate::baseline;
use crate::error::{Error, Result};
use crate::fit::Space;
use crate::measure::Chart;

/// A method, as a choice of parts by their registry names.
///
/// ```
/// use warpquad::engine::{Method, Step4};
/// let mmlt = Method::by_name("mmlt")?;
/// assert_eq!((mmlt.warp.as_str(), mmlt.kernel.as_str()), ("log", "matern32"));
/// assert_eq!(Method { step4: Step4::Linearised, ..mmlt }.warp, "log");
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// The warp's name.
    pub warp: String,
    /// The kernel's name.
    pub kernel: String,
    /// The space of the fit.
    pub space: Space,
    /// The acquisition's name.
    pub acquisition: String,
    /// How the belief about f is made.
    pub step4: Step4,
    /// Where the Gaussian process lives: in x, as published, or in the prior's own coordinates.
    pub coordinates: Chart,
    /// Nodes of the final integral to begin with; more are taken where their error is not small.
    pub nodes: usize,
    /// A full fit, with all starts, every so many observations; in between the last optimum is
    /// only improved.
    pub refit_every: usize,
}

/// The two ways of step 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step4 {
    /// Match both moments of xi(g).
    Matched,
    /// Expand xi about the mean of g.
    Linearised,
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    warp: &'static str,
    space: Space,
    acquisition: &'static str,
    step4: Step4,
}

/// All methods: the paper's, each with Matern 3/2.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: "bmc",
        summary: "Bayesian Monte Carlo: no warp; for f of either sign",
        warp: "identity",
        space: Space::F,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
    Entry {
        name: "wsabi-l",
        summary: "square warp, linearised, fitted in g-space, uncertainty times the prior squared",
        warp: "square",
        space: Space::G,
        acquisition: "uncertainty-prior",
        step4: Step4::Linearised,
    },
    Entry {
        name: "wsabi-m",
        summary: "square warp, moments matched, fitted in f-space",
        warp: "square",
        space: Space::F,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
    Entry {
        name: "wsabi-m-g",
        summary: "square warp, moments matched, fitted in g-space",
        warp: "square",
        space: Space::G,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
    Entry {
        name: "mmlt",
        summary: "log warp, moments matched, fitted in f-space: the paper's method",
        warp: "log",
        space: Space::F,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
    Entry {
        name: "mmlt-g",
        summary: "log warp, moments matched, fitted in g-space",
        warp: "log",
        space: Space::G,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
    Entry {
        name: "probit",
        summary: "probit warp for bounded f, fitted in f-space",
        warp: "probit",
        space: Space::F,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
    Entry {
        name: "probit-g",
        summary: "probit warp for bounded f, fitted in g-space",
        warp: "probit",
        space: Space::G,
        acquisition: "uncertainty",
        step4: Step4::Matched,
    },
];

impl Method {
    /// The method of that name.
    pub fn by_name(name: &str) -> Result<Method> {
        let entry = REGISTRY.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| {
            let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
            let baselines: Vec<&str> = baseline::REGISTRY.iter().map(|entry| entry.name).collect();
            let reason = format!(
                "unknown method '{name}'; there are {}, and the baselines {}",
                names.join(", "),
                baselines.join(", ")
            );
            Error::spec("method", reason)
        })?;
        Ok(Method {
            warp: entry.warp.into(),
            kernel: "matern32".into(),
            space: entry.space,
            acquisition: entry.acquisition.into(),
            step4: entry.step4,
            coordinates: Chart::Identity,
            nodes: 4096,
            refit_every: 10,
        })
    }
}

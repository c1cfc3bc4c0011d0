//! Name the methods: plain data that say which warp, kernel, fit and acquisition go together.

mod audit;
mod average;
mod explore;
mod hindsight;
mod model;
mod posterior;
mod run;
mod score;
mod surface;
mod trace;
mod turn;

pub use audit::Draw;
pub use model::Model;
pub use run::{Engine, LastFit, Outcome, integrate};

use crate::baseline;
use crate::error::{Error, Result};
use crate::fit::{LengthPrior, Space};
use crate::measure::Chart;
use crate::warp::Range;

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
    /// A prior on length scales; none in the paper's methods.
    pub length_prior: Option<LengthPrior>,
    /// Variance on g, besides the noise, that keeps smooth kernels of close points invertible.
    pub nugget: f64,
}

/// The two ways of step 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step4 {
    /// Match both moments of xi(g).
    Matched,
    /// Expand xi about the mean of g.
    Linearised,
    /// Draw xi(g), under several models of g at once.
    Averaged,
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Make one; for `auto`, that of a positive f.
    pub build: fn() -> Method,
}

/// The name of the method that chooses for the user.
pub const AUTO: &str = "auto";

/// All methods: our own, and the paper's, each with Matern 3/2.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: AUTO,
        summary: "what to use: saturating warp, tails watched, several models averaged",
        build: || Method::auto(Range::POSITIVE),
    },
    Entry {
        name: "bmc",
        summary: "Bayesian Monte Carlo: no warp; for f of either sign",
        build: || Method::published("identity", Space::F, "uncertainty", Step4::Matched),
    },
    Entry {
        name: "wsabi-l",
        summary: "square warp, linearised, fitted in g-space, uncertainty times the prior squared",
        build: || Method::published("square", Space::G, "uncertainty-prior", Step4::Linearised),
    },
    Entry {
        name: "wsabi-m",
        summary: "square warp, moments matched, fitted in f-space",
        build: || Method::published("square", Space::F, "uncertainty", Step4::Matched),
    },
    Entry {
        name: "wsabi-m-g",
        summary: "square warp, moments matched, fitted in g-space",
        build: || Method::published("square", Space::G, "uncertainty", Step4::Matched),
    },
    Entry {
        name: "mmlt",
        summary: "log warp, moments matched, fitted in f-space: the paper's method",
        build: || Method::published("log", Space::F, "uncertainty", Step4::Matched),
    },
    Entry {
        name: "mmlt-g",
        summary: "log warp, moments matched, fitted in g-space",
        build: || Method::published("log", Space::G, "uncertainty", Step4::Matched),
    },
    Entry {
        name: "probit",
        summary: "probit warp for bounded f, fitted in f-space",
        build: || Method::published("probit", Space::F, "uncertainty", Step4::Matched),
    },
    Entry {
        name: "probit-g",
        summary: "probit warp for bounded f, fitted in g-space",
        build: || Method::published("probit", Space::G, "uncertainty", Step4::Matched),
    },
];

impl Method {
    /// Our own recipe: a saturating warp, a squared-exponential kernel in the prior's own coordinates, a
    /// look-ahead that watches the tails, and an average over models.
    ///
    /// ```
    /// use warpquad::{engine::Method, warp::Range};
    /// assert_eq!(Method::auto(Range::POSITIVE).warp, "gumbel");
    /// assert_eq!(Method::auto(Range { lo: 0.0, hi: 1.0 }).warp, "probit");
    /// ```
    pub fn auto(range: Range) -> Method {
        let warp = match (range.lo.is_finite(), range.hi.is_finite()) {
            (true, true) => "probit",
            (false, false) => "identity",
            _ if range == Range::POSITIVE => "gumbel",
            _ => "log",
        };
        Method {
            warp: warp.into(),
            kernel: "squared-exponential".into(),
            space: Space::G,
            acquisition: "look-ahead".into(),
            step4: Step4::Averaged,
            coordinates: Chart::Natural,
            nodes: 16384,
            refit_every: 10,
            // Lengths from a fortieth of the prior's scale to all of it, within two sd.
            length_prior: Some(LengthPrior {
                median: 0.25,
                sd: 1.2,
            }),
            // A thousandth of a nat.
            nugget: 1e-6,
        }
    }

    /// A method as published: in x, with Matern 3/2 and no more than the likelihood to fit it.
    fn published(warp: &str, space: Space, acquisition: &str, step4: Step4) -> Method {
        Method {
            warp: warp.into(),
            kernel: "matern32".into(),
            space,
            acquisition: acquisition.into(),
            step4,
            coordinates: Chart::Identity,
            nodes: 4096,
            refit_every: 10,
            length_prior: None,
            nugget: 0.0,
        }
    }

    /// The method of that name; `auto` is that of a positive f.
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
        Ok((entry.build)())
    }
}

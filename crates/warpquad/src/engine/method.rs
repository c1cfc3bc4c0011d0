//! Name the methods: plain data that say which warp, kernel, fit and acquisition go together.
//!
//! This is where names become values: a strategy holds the parts themselves.

use super::auto::{Auto, Tuning};
use super::published::Published;
use super::strategy::Strategy;
use crate::belief::Matching;
use crate::error::{Error, Result};
use crate::fit::{LengthPrior, Space};
use crate::measure::Chart;
use crate::warp::Range;
use crate::{acquisition, baseline, kernel, warp};
use std::sync::Arc;

/// A method, as a choice of parts by their registry names.
///
/// ```
/// use warpquad::engine::Method;
/// let mmlt = Method::by_name("mmlt")?;
/// assert_eq!((mmlt.warp.as_str(), mmlt.kernel.as_str()), ("log", "matern32"));
/// assert_eq!(Method { kernel: "matern52".into(), ..mmlt }.warp, "log");
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
    /// Where the process lives: in x, as published, or in the prior's own coordinates.
    pub coordinates: Chart,
    /// Nodes of the final integral to begin with; more are taken where their error is not small.
    pub nodes: usize,
    /// A full fit, with all starts, every so many observations; in between the last optimum is
    /// only improved.
    pub refit_every: usize,
    /// How a run goes on.
    pub plan: Plan,
}

/// The strategies that methods name.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// One model, as in the paper.
    Published(Reading),
    /// Our own, with every number that it decides by.
    Auto(Box<Tuning>),
}

/// What the paper leaves open, and what it says besides the parts that have names.
///
/// ```
/// use warpquad::engine::Reading;
/// let literal = Reading::default();
/// assert_eq!((literal.floor_nats, literal.nugget), (None, 0.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// How the belief about f is made.
    pub matching: Matching,
    /// What is observed more than so many nats below the largest observation counts as no lower;
    /// without it every depth counts.
    pub floor_nats: Option<f64>,
    /// At least so many space-filling points before the first choice, and at least 4 for each
    /// parameter; without it 8.
    pub initial_points: Option<usize>,
    /// Whether a fit in f-space stays within the warp's limits.
    pub confined: bool,
    /// A prior on length scales; none in the paper's methods.
    pub length_prior: Option<LengthPrior>,
    /// Variance on g, besides the noise, that keeps smooth kernels of close points invertible.
    pub nugget: f64,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            matching: Matching::Moments,
            floor_nats: None,
            initial_points: None,
            confined: true,
            length_prior: None,
            nugget: 0.0,
        }
    }
}

/// One line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// What users write.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Make one, for an f of that range.
    pub build: fn(Range) -> Method,
}

/// The name of the method that chooses for the user.
pub const AUTO: &str = "auto";

/// All methods: our own, and the paper's, each with Matern 3/2.
pub static REGISTRY: &[Entry] = &[
    Entry {
        name: AUTO,
        summary: "what to use: saturating warp, tails watched, several models averaged",
        build: Method::auto,
    },
    Entry {
        name: "bmc",
        summary: "Bayesian Monte Carlo: no warp; for f of either sign",
        build: |_| Method::published("identity", Space::F, "uncertainty", Matching::Moments),
    },
    Entry {
        name: "wsabi-l",
        summary: "square warp, linearised, fitted in g-space, uncertainty times the prior squared",
        build: |_| {
            Method::published(
                "square",
                Space::G,
                "uncertainty-prior",
                Matching::Linearised,
            )
        },
    },
    Entry {
        name: "wsabi-m",
        summary: "square warp, moments matched, fitted in f-space",
        build: |_| Method::published("square", Space::F, "uncertainty", Matching::Moments),
    },
    Entry {
        name: "wsabi-m-g",
        summary: "square warp, moments matched, fitted in g-space",
        build: |_| Method::published("square", Space::G, "uncertainty", Matching::Moments),
    },
    Entry {
        name: "mmlt",
        summary: "log warp, moments matched, fitted in f-space: the paper's method, in the reading \
                  of its words that did best",
        build: |_| Method::mmlt(),
    },
    Entry {
        name: "mmlt-literal",
        summary: "log warp, moments matched, fitted in f-space, every depth told apart: the paper's \
                  words as they stand",
        build: |_| Method::published("log", Space::F, "uncertainty", Matching::Moments),
    },
    Entry {
        name: "mmlt-g",
        summary: "log warp, moments matched, fitted in g-space",
        build: |_| Method::published("log", Space::G, "uncertainty", Matching::Moments),
    },
    Entry {
        name: "probit",
        summary: "probit warp for bounded f, fitted in f-space",
        build: |_| Method::published("probit", Space::F, "uncertainty", Matching::Moments),
    },
    Entry {
        name: "probit-g",
        summary: "probit warp for bounded f, fitted in g-space",
        build: |_| Method::published("probit", Space::G, "uncertainty", Matching::Moments),
    },
];

impl Method {
    /// Our own recipe: a saturating warp, a squared-exponential kernel in the prior's own
    /// coordinates, a look-ahead that watches the tails, and an average over models.
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
            acquisition: LOOK_AHEAD.into(),
            coordinates: Chart::Natural,
            nodes: 16384,
            refit_every: 10,
            plan: Plan::Auto(Box::default()),
        }
    }

    /// A method as published: in x, with Matern 3/2 and no more than the likelihood to fit it.
    fn published(warp: &str, space: Space, acquisition: &str, matching: Matching) -> Method {
        Method {
            warp: warp.into(),
            kernel: "matern32".into(),
            space,
            acquisition: acquisition.into(),
            coordinates: Chart::Identity,
            nodes: 4096,
            refit_every: 10,
            plan: Plan::Published(Reading {
                matching,
                ..Reading::default()
            }),
        }
    }

    /// What the paper leaves open about MMLT, as it did best on half of the spectra: every depth
    /// beyond 100 nats counts as that, a fit in f-space goes where its likelihood does, the
    /// uncertainty is that of f pi, as in WSABI, whose sampling the paper refers to, and 24 points
    /// come first.
    fn mmlt() -> Method {
        let literal = Method::published("log", Space::F, "uncertainty-prior", Matching::Moments);
        Method {
            plan: Plan::Published(Reading {
                floor_nats: Some(MMLT_FLOOR_NATS),
                confined: false,
                initial_points: Some(MMLT_INITIAL_POINTS),
                ..Reading::default()
            }),
            ..literal
        }
    }

    /// The method of that name, for a positive f.
    pub fn by_name(name: &str) -> Result<Method> {
        Method::named(name, Range::POSITIVE)
    }

    /// The method of that name, for an f of that range.
    ///
    /// ```
    /// use warpquad::{engine::Method, warp::Range};
    /// let range = Range { lo: 0.0, hi: 1.0 };
    /// assert_eq!(Method::named("auto", range)?, Method::auto(range));
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn named(name: &str, range: Range) -> Result<Method> {
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
        Ok((entry.build)(range))
    }

    /// The most dimensions that it is known to reach; `None` if nothing is known.
    pub fn max_dimensions(&self) -> Option<usize> {
        match &self.plan {
            Plan::Published(_) => None,
            Plan::Auto(_) => Some(AUTO_MAX_DIMENSIONS),
        }
    }

    /// The numbers that it decides by; `None` for a method that has none to tune.
    pub fn tuning(&self) -> Option<&Tuning> {
        match &self.plan {
            Plan::Published(_) => None,
            Plan::Auto(tuning) => Some(tuning),
        }
    }

    /// Set a field of its [`Tuning`].
    ///
    /// ```
    /// use warpquad::engine::Method;
    /// let mut auto = Method::by_name("auto")?;
    /// auto.tune("tails_sd", &[1.0, 2.0])?;
    /// assert_eq!(auto.tuning().unwrap().tails_sd, [1.0, 2.0]);
    /// assert!(Method::by_name("bmc")?.tune("tails_sd", &[1.0]).is_err());
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn tune(&mut self, field: &str, numbers: &[f64]) -> Result<()> {
        match &mut self.plan {
            Plan::Published(_) => Err(Error::spec("tuning", "the method has none")),
            Plan::Auto(tuning) => tuning.set(field, numbers),
        }
    }

    /// Whether the belief about f is a first-order expansion.
    pub fn is_linearised(&self) -> bool {
        matches!(&self.plan, Plan::Published(reading) if reading.matching == Matching::Linearised)
    }

    /// The strategy, with names resolved to parts.
    pub fn strategy(&self) -> Result<Arc<dyn Strategy>> {
        let reading = match &self.plan {
            Plan::Auto(_) => return Ok(Arc::new(self.auto_parts()?)),
            Plan::Published(reading) => *reading,
        };
        Ok(Arc::new(Published {
            warp: warp::by_name(&self.warp)?,
            kernel: kernel::by_name(&self.kernel)?,
            space: self.space,
            acquisition: acquisition::by_name(&self.acquisition)?,
            coordinates: self.coordinates,
            nodes: self.nodes,
            refit_every: self.refit_every,
            reading,
        }))
    }

    /// `auto` with these parts.
    pub(super) fn auto_parts(&self) -> Result<Auto> {
        let rule = acquisition::by_name(&self.acquisition)?;
        let tuning = match &self.plan {
            Plan::Auto(tuning) => (**tuning).clone(),
            Plan::Published(_) => Tuning::default(),
        };
        Ok(Auto {
            warp: warp::by_name(&self.warp)?,
            kernel: kernel::by_name(&self.kernel)?,
            rough_kernel: kernel::by_name("matern52")?,
            space: self.space,
            // Its own look-ahead takes its numbers from the tuning.
            acquisition: (self.acquisition != LOOK_AHEAD).then_some(rule),
            coordinates: self.coordinates,
            nodes: self.nodes,
            refit_every: self.refit_every,
            tuning,
        })
    }
}

/// How far below the largest observation `mmlt` tells depths apart, and the points that it begins
/// with. The evidence is in `docs/reproduction/tables.md`, under `readings`.
const MMLT_FLOOR_NATS: f64 = 100.0;
const MMLT_INITIAL_POINTS: usize = 24;

/// The most dimensions in which `auto` is taken without being named.
const AUTO_MAX_DIMENSIONS: usize = 10;

/// The acquisition that `auto` takes unless it is told another one.
const LOOK_AHEAD: &str = "look-ahead";

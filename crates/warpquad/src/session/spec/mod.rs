//! Describe a problem: what to integrate, against which prior, how, and for how long.
//!
//! A problem file is TOML with the sections `[integrand]`, `[parameters]` or `[joint]`, `[method]`
//! and `[budget]`. Every mistake is reported with its line. Names of methods, warps, kernels and
//! acquisitions are kept as they are; who looks them up can point at them with [`Problem::error`].
//!
//! ```
//! use warpquad::session::spec::Problem;
//! let problem = Problem::parse(
//!     "[integrand]
//!      log = \"-(100*(y - x^2)^2 + (1 - x)^2)/20\"
//!      [parameters]
//!      x = { uniform = [-5, 5] }
//!      y = { truncated-normal = { mean = 0, sd = 1, lo = 0, hi = inf } }
//!      [budget]
//!      evaluations = 100",
//! )?;
//! assert_eq!(problem.names, ["x", "y"]);
//! assert_eq!(problem.measure()?.support()[1], (0.0, f64::INFINITY));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canonical;
mod constraints;
mod error;
mod law;
mod parse;
mod prior;
mod reader;
mod start;

pub(super) use reader::setting;

pub use super::options::{Budget, IntegrandSettings, MethodSpec, Restriction};
pub use error::SpecError;
pub use law::Law;
pub use start::Start;

use super::arguments::Arguments;
use super::options::{Entry, Setting};
use crate::engine::AUTO;
use crate::error::{Error, Result, same_length};
use crate::measure::{Empirical, Gaussian, Measure, Product, Restricted};
use crate::points::Points;
use constraints::Mistake;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A problem, as its file describes it.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What to integrate.
    pub integrand: Integrand,
    /// What is said of it besides.
    pub settings: IntegrandSettings,
    /// The coordinates of a point, in the order of the file; those of a vector are `beta[0]` and so
    /// on.
    pub names: Vec<String>,
    /// What the integrand is called with: these, and numbers that are fixed.
    pub arguments: Arguments,
    /// Their prior.
    pub prior: PriorSpec,
    /// What the prior is restricted to.
    pub restriction: Restriction,
    /// How to integrate.
    pub method: MethodSpec,
    /// When to stop.
    pub budget: Budget,
    /// Where the user thinks that f is large.
    pub start: Start,
    /// The restricted prior, once it was worked out.
    made: constraints::Made,
    /// Where each field stands in the source, in bytes.
    places: BTreeMap<String, usize>,
    /// The flag or the keyword that said a field in place of the file.
    said_by: BTreeMap<String, String>,
    source: String,
    /// The file's name, if the caller has said it.
    file: Option<String>,
}

/// What to integrate.
#[derive(Debug, Clone, PartialEq)]
pub enum Integrand {
    /// ln f, as a formula in the parameters' names.
    Log(String),
    /// f, as a formula in the parameters' names.
    Value(String),
    /// A program that stays alive: a JSON line in, a JSON line out.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
    },
    /// A program called once per evaluation, with the names of a file to read and a file to write.
    Driver {
        /// The program and its arguments.
        argv: Vec<String>,
    },
    /// A model behind a UM-Bridge server.
    UmBridge {
        /// The server's address.
        url: String,
        /// The model's name on the server.
        model: String,
        /// The configuration that goes with every request: a JSON object, empty by default.
        config: serde_json::Value,
    },
    /// Evaluations that exist already.
    Table {
        /// The file, as the problem names it.
        path: String,
    },
    /// Values that whoever asks for points brings himself.
    External {
        /// Who that is, in a word, such as "python".
        by: String,
    },
}

/// What to do when an evaluation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// Stop the run; it can be resumed.
    #[default]
    Stop,
    /// Record the failure and go on without the point.
    Skip,
    /// Evaluate the point again, as often as `retries` allows, then stop.
    Retry,
}

impl OnFailure {
    /// All policies.
    pub const ALL: [OnFailure; 3] = [OnFailure::Stop, OnFailure::Skip, OnFailure::Retry];
    /// Their names.
    pub const NAMES: &'static [&'static str] = &["stop", "skip", "retry"];

    /// What users write.
    pub fn name(self) -> &'static str {
        OnFailure::NAMES[self as usize]
    }
}

/// What is assumed of f where evaluations failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Failed {
    /// Nothing: f goes on as it does around.
    #[default]
    Unknown,
    /// f is 0 there.
    Zero,
}

impl Failed {
    /// All of them.
    pub const ALL: [Failed; 2] = [Failed::Unknown, Failed::Zero];
    /// Their names.
    pub const NAMES: &'static [&'static str] = &["unknown", "zero"];

    /// What users write.
    pub fn name(self) -> &'static str {
        Failed::NAMES[self as usize]
    }
}

/// The prior, by name.
#[derive(Debug, Clone, PartialEq)]
pub enum PriorSpec {
    /// Independent parameters: the law of each.
    Product(Vec<Law>),
    /// One normal law.
    Joint {
        /// The mean.
        mean: Vec<f64>,
        /// The covariance, row after row.
        covariance: Vec<Vec<f64>>,
    },
    /// A sample: points of equal weight.
    Draws(Vec<Vec<f64>>),
}

impl Problem {
    /// A problem without a file, everything else at its default.
    ///
    /// ```
    /// use warpquad::session::spec::{Integrand, Law, PriorSpec, Problem};
    /// let prior = PriorSpec::Product(vec![Law::new("normal", &[0.0, 1.0])]);
    /// let integrand = Integrand::Log("-x^2".to_string());
    /// let problem = Problem::new(integrand, vec!["x".to_string()], prior);
    /// let file = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// assert_eq!(problem.canonical(), Problem::parse(file)?.canonical());
    /// # Ok::<(), warpquad::session::spec::SpecError>(())
    /// ```
    pub fn new(integrand: Integrand, names: Vec<String>, prior: PriorSpec) -> Problem {
        Problem {
            integrand,
            settings: IntegrandSettings::default(),
            arguments: names.clone().into(),
            names,
            prior,
            restriction: Restriction::default(),
            made: constraints::Made::default(),
            method: MethodSpec::default(),
            budget: Budget::default(),
            start: Start::default(),
            places: BTreeMap::new(),
            said_by: BTreeMap::new(),
            source: String::new(),
            file: None,
        }
    }

    /// A problem that says nothing, for what options are by default.
    pub(super) fn blank() -> Problem {
        let by = String::new();
        let prior = PriorSpec::Product(Vec::new());
        Problem::new(Integrand::External { by }, Vec::new(), prior)
    }

    /// Read a problem file.
    pub fn parse(text: &str) -> std::result::Result<Problem, SpecError> {
        parse::problem(text)
    }

    /// Read the prior of a problem file, which may have nothing else: another prior for a run.
    ///
    /// ```
    /// use warpquad::session::spec::Problem;
    /// let problem = Problem::parse_prior("parameters.x.normal = [0, 2]")?;
    /// assert_eq!(problem.measure()?.support(), [(f64::NEG_INFINITY, f64::INFINITY)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse_prior(text: &str) -> std::result::Result<Problem, SpecError> {
        parse::prior_alone(text)
    }

    /// The same problem, whose later errors name its file.
    pub fn in_file(mut self, name: impl Into<String>) -> Problem {
        self.file = Some(name.into());
        self
    }

    /// Set an option in place of the file; later errors name who `said` it, a flag or a keyword.
    ///
    /// ```
    /// use warpquad::session::{options, spec::Problem};
    /// let mut problem = Problem::parse("integrand.log = '-x^2'\nparameters.x.normal = [0, 1]")?;
    /// let nodes = options::by_keyword("nodes").unwrap();
    /// problem.put(nodes, &options::Setting::Integer(64), "--nodes").unwrap();
    /// assert_eq!(problem.method.nodes, Some(64));
    /// assert_eq!(problem.error("method.nodes", "is odd").to_string(), "--nodes: is odd");
    /// # Ok::<(), warpquad::session::spec::SpecError>(())
    /// ```
    pub fn put(&mut self, option: &Entry, setting: &Setting, said: &str) -> Result<()> {
        option
            .put(self, setting)
            .map_err(|wrong| Error::spec(said, wrong.full()))?;
        self.said_by.insert(option.field(), said.to_string());
        Ok(())
    }

    /// The name of the method; `auto` if none is named.
    pub fn method_name(&self) -> &str {
        self.method.name.as_deref().unwrap_or(AUTO)
    }

    /// The prior as a measure, where its constraints hold.
    pub fn measure(&self) -> Result<Arc<dyn Measure>> {
        match self.restricted()? {
            None => self.unrestricted(),
            Some(restricted) => Ok(match restricted.sample()? {
                Some(sample) => Arc::new(sample),
                None if self.restriction.normalise == Some(false) => {
                    Arc::new(restricted.as_ref().clone().keeping_density())
                }
                None => restricted,
            }),
        }
    }

    /// ln of the mass that constraints leave of the prior; `None` without constraints.
    pub fn ln_prior_mass(&self) -> Result<Option<f64>> {
        let restricted = self.restricted()?;
        Ok(restricted.map(|restricted| restricted.ln_mass()))
    }

    /// The first constraint that a point violates.
    pub fn violated(&self, x: &[f64]) -> Result<Option<String>> {
        let Some(restricted) = self.restricted()? else {
            return Ok(None);
        };
        let (mut margins, none) = (Vec::new(), Vec::new());
        restricted.margins(x, &mut margins);
        let texts = self.restriction.constraints.as_ref().unwrap_or(&none);
        let mut pairs = texts.iter().zip(margins);
        let first = pairs.find(|(_, margin)| margin.is_nan() || *margin < 0.0);
        let text = first.map(|(text, _)| text.clone());
        Ok(text.or_else(|| (!restricted.holds(x)).then(|| texts.join(", "))))
    }

    /// The prior where the constraints hold; `None` without constraints.
    fn restricted(&self) -> Result<Option<Arc<Restricted>>> {
        let field = "prior.constraints";
        self.made.get(self).map_err(|mistake| match mistake {
            Mistake::Formula { text, error, .. } => {
                self.error(field, format!("'{text}': {error}")).into()
            }
            Mistake::Prior(Error::Spec { reason, .. }) => self.error(field, reason).into(),
            Mistake::Prior(other) => other,
        })
    }

    /// The prior before constraints restrict it.
    fn unrestricted(&self) -> Result<Arc<dyn Measure>> {
        match &self.prior {
            PriorSpec::Product(laws) => {
                same_length("prior", laws.len(), self.names.len())?;
                let laws = laws.iter().map(Law::build).collect::<Result<_>>()?;
                Ok(Arc::new(Product::new(laws)?))
            }
            PriorSpec::Joint { mean, covariance } => {
                same_length("mean", mean.len(), self.names.len())?;
                Ok(Arc::new(Gaussian::new(mean.clone(), covariance.concat())?))
            }
            PriorSpec::Draws(rows) => {
                let points = Points::from_rows(rows)?;
                same_length("draws", points.dim(), self.names.len())?;
                Ok(Arc::new(Empirical::new(points)?))
            }
        }
    }

    /// The line and column, from 1, of the value of a field like `method.kernel`; `None` if the
    /// file does not have it.
    pub fn locate(&self, field: &str) -> Option<(usize, usize)> {
        let offset = *self.places.get(field)?;
        Some(error::position(&self.source, offset))
    }

    /// An error that points at a field, for names that are looked up elsewhere: at whatever said it
    /// in place of the file, or at the start of the file if nothing did.
    ///
    /// ```
    /// use warpquad::session::spec::Problem;
    /// let file = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\nmethod.warp = 'lgo'";
    /// let error = Problem::parse(file)?.error("method.warp", "unknown warp 'lgo'");
    /// assert_eq!((error.line, error.column), (3, 15));
    /// # Ok::<(), warpquad::session::spec::SpecError>(())
    /// ```
    pub fn error(&self, field: &str, reason: impl Into<String>) -> SpecError {
        if let Some(said) = self.said_by.get(field) {
            return SpecError::at("", 0, said, reason).in_file("");
        }
        let offset = self.places.get(field).copied().unwrap_or(0);
        let error = SpecError::at(&self.source, offset, field, reason);
        match &self.file {
            Some(name) => error.in_file(name),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests;

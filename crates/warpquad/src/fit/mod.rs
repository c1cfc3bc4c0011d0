//! Choose the hyperparameters: maximum likelihood of the data in f-space, or in g-space, or the
//! largest densities of left-out observations.
//!
//! Fitting in g-space is fitting in f-space with the identity warp and the data g, so there is one
//! [objective](Objective), with one exact gradient.

mod laplace;
mod left_out;
mod objective;
mod parameters;

pub use laplace::laplace;
pub use objective::Objective;
pub use parameters::Parameters;

use crate::belief::{MeanFunction, Process};
use crate::data::Data;
use crate::error::{Error, Result, Step, same_length};
use crate::numeric::{optimize, parallel, random::Rng};
use crate::warp::{Identity, Marginal, Warp, sample_marginal};
use parameters::starts;

/// Which data the likelihood is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// f itself, under the matched belief: the paper's proposal.
    F,
    /// g = xi^-1(f), under the Gaussian process on g: what everybody did before.
    G,
    /// Each f by itself, under the matched belief given all the others.
    FLeftOut,
}

impl Space {
    /// All of them.
    pub const ALL: [Space; 3] = [Space::F, Space::G, Space::FLeftOut];
    /// Their names.
    pub const NAMES: &'static [&'static str] = &["f", "g", "f-loo"];

    /// What users write.
    pub fn name(self) -> &'static str {
        Space::NAMES[self as usize]
    }

    /// The space of that name.
    ///
    /// ```
    /// use warpquad::fit::Space;
    /// assert_eq!(Space::by_name("g")?, Space::G);
    /// assert_eq!(Space::FLeftOut.name(), "f-loo");
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn by_name(name: &str) -> Result<Space> {
        let space = Space::ALL.into_iter().find(|space| space.name() == name);
        space.ok_or_else(|| {
            let names = Space::NAMES.join(", ");
            Error::spec("fit", format!("unknown space '{name}'; there are {names}"))
        })
    }
}

/// Which starting points the optimiser is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// The warp's own, each with a short and a long length scale, and the prior's theta.
    All,
    /// The prior's theta only: a cheap step from the last optimum.
    Warm,
}

/// A log-normal prior on every length scale, in units of the spread of the points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthPrior {
    /// The median, in units of the spread.
    pub median: f64,
    /// The standard deviation of ln l.
    pub sd: f64,
}

/// Noise on the data that are fitted, f or g, with a variance of its own at each observation.
///
/// Without it, theta's noise is on g and the same for all.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnNoise {
    /// What theta's noise is multiplied by at each observation.
    pub shares: Vec<f64>,
    /// The variance that a fitted noise is compared with, for the limits of the fit.
    pub unit: f64,
}

/// How to fit.
///
/// ```
/// use warpquad::fit::{Fit, Space};
/// let paper = Fit::default();
/// assert_eq!(paper.space, Space::F);
/// assert!(paper.length_prior.is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Fit {
    /// Whose likelihood.
    pub space: Space,
    /// Whether a fit in f-space stays within the warp's
    /// [limits](crate::warp::Warp::f_space_limits).
    pub confined: bool,
    /// Where to start.
    pub starts: Starts,
    /// How many random starts to add.
    pub restarts: usize,
    /// The seed of the random starts.
    pub seed: u64,
    /// A prior on length scales; none in the paper's methods.
    pub length_prior: Option<LengthPrior>,
    /// Whether the noise variance is fitted; otherwise it stays what the prior says.
    pub fit_noise: bool,
    /// Noise on the data that are fitted; `None` for noise on g.
    pub own_noise: Option<OwnNoise>,
    /// A typical length in every dimension; the spread of the points if none is given.
    pub scales: Option<Vec<f64>>,
    /// The optimiser's limits.
    pub optimizer: optimize::Options,
}

impl Default for Fit {
    fn default() -> Fit {
        Fit {
            space: Space::F,
            confined: true,
            starts: Starts::All,
            restarts: 0,
            seed: 0,
            length_prior: None,
            fit_noise: false,
            own_noise: None,
            scales: None,
            optimizer: optimize::Options {
                max_evaluations: 200,
                tolerance_value: 1e-9,
                ..optimize::Options::default()
            },
        }
    }
}

impl Fit {
    /// With noise on the data that are fitted: theta's noise times a share of each observation.
    ///
    /// ```
    /// let how = warpquad::Fit::default().with_own_noise(vec![1.0, 2.0], 0.5);
    /// assert_eq!(how.own_noise.unwrap().shares, [1.0, 2.0]);
    /// ```
    pub fn with_own_noise(self, shares: Vec<f64>, unit: f64) -> Fit {
        Fit {
            own_noise: Some(OwnNoise { shares, unit }),
            ..self
        }
    }
}

/// A fitted prior and how it was reached.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The prior with the best hyperparameters found.
    pub process: Process,
    /// ln p(data | theta), in the space of the fit; with a length prior its ln density is included.
    pub ln_likelihood: f64,
    /// The jitter its matrix needed, relative to the mean of the diagonal.
    pub jitter: f64,
    /// Likelihood evaluations spent, over all starts.
    pub evaluations: usize,
    /// How many starts were tried, and how many of them led nowhere.
    pub starts: (usize, usize),
}

/// Fit theta and give back the prior that has it.
pub fn fit(process: &Process, warp: &dyn Warp, data: &Data, how: &Fit) -> Result<Process> {
    Ok(fit_detailed(process, warp, data, how)?.process)
}

/// The same, with the story.
pub fn fit_detailed(process: &Process, warp: &dyn Warp, data: &Data, how: &Fit) -> Result<Fitted> {
    let g = data.g(warp)?;
    let x = process.theta().turn_points(data.points())?;
    if how.space == Space::FLeftOut && how.own_noise.is_some() {
        let reason = "f-loo has no noise on the data; take f or g, or put the noise on g";
        return Err(Error::spec("fit", reason));
    }
    let parameters = Parameters::new(process, &x, &g, warp, how)?;
    // f is fitted in units of its largest observation: a likelihood of 10^-10000 is fitted bit for
    // bit as one of 1.
    let (warp, ln_scale) = in_space(warp, g[0], how.space);
    let shares = shares(process, g.len(), how.own_noise.as_ref(), ln_scale)?;
    let marginals = match how.space {
        Space::F => warp.starts(&g),
        Space::G => vec![sample_marginal(&g)],
        Space::FLeftOut => both(warp.starts(&g), sample_marginal(&g)),
    };
    let mut rng = Rng::new(how.seed);
    let from = starts(&parameters, process, &marginals, how, &mut rng);
    let run = |i: usize| {
        let objective = Objective::new(process.kernel().clone(), warp, &x, &g, &parameters);
        let mut objective = objective.with_shares(&shares).with_space(how.space);
        let (mut least, mut jitter) = (f64::INFINITY, 0.0);
        let evaluate = |x: &[f64], gradient: &mut [f64]| {
            let value = objective.evaluate(x, gradient);
            if value < least {
                (least, jitter) = (value, objective.jitter());
            }
            value
        };
        let minimum = optimize::minimize(evaluate, &from[i], parameters.bounds(), &how.optimizer);
        (minimum, jitter)
    };
    let ends = parallel::map(from.len(), run);
    let evaluations = ends.iter().map(|(m, _)| m.evaluations).sum();
    let failed = ends.iter().filter(|(m, _)| !m.value.is_finite()).count();
    // The first of equals wins, so the answer does not depend on which thread was faster.
    let (best, jitter) = ends
        .iter()
        .filter(|(m, _)| m.value.is_finite())
        .min_by(|a, b| a.0.value.total_cmp(&b.0.value))
        .ok_or_else(|| no_start(from.len()))?;
    Ok(Fitted {
        process: process.with_theta(parameters.theta(&best.x)),
        ln_likelihood: -best.value - g.len() as f64 * ln_scale,
        jitter: *jitter,
        evaluations,
        starts: (from.len(), failed),
    })
}

/// The starts and one more, unless it is among them.
fn both(mut starts: Vec<Marginal>, more: Marginal) -> Vec<Marginal> {
    if !starts.contains(&more) {
        starts.push(more);
    }
    starts
}

/// The shares of noise in the units of the objective.
fn shares(
    process: &Process,
    n: usize,
    own_noise: Option<&OwnNoise>,
    ln_scale: f64,
) -> Result<Vec<f64>> {
    let Some(OwnNoise { shares, .. }) = own_noise else {
        return Ok(Vec::new());
    };
    same_length("shares", shares.len(), n)?;
    let MeanFunction::Constant(_) = process.theta().mean else {
        return Err(Error::spec(
            "mean",
            "is constant where noise is on the data",
        ));
    };
    let in_units = |share: &f64| share * (-2.0 * ln_scale).exp();
    Ok(shares.iter().map(in_units).collect())
}

/// The warp of the objective, and ln of the unit of its data.
fn in_space(warp: &dyn Warp, g: f64, space: Space) -> (&dyn Warp, f64) {
    match space {
        Space::F | Space::FLeftOut => in_own_units(warp, g),
        Space::G => (&Identity as &dyn Warp, 0.0),
    }
}

/// A warp without its change of units, and ln of those units.
fn in_own_units(warp: &dyn Warp, g: f64) -> (&dyn Warp, f64) {
    match warp.unscaled() {
        Some(bare) => (bare, warp.local(g).ln_unit - bare.local(g).ln_unit),
        None => (warp, 0.0),
    }
}

fn no_start(tried: usize) -> Error {
    let what = format!(
        "no finite likelihood from any of {tried} starting points; check for points that nearly \
         coincide, give a noise variance, or state the range of f"
    );
    Error::numerics(Step::Fit, what)
}

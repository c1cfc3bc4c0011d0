//! Learn a function that lies in a range from values that may be noisy, and predict it.
//!
//! Noise lives on g or on f. On g it is Gaussian and conditioning is exact. On f a value says
//! N(y; xi(g), v) of g, which `sites` turns into an observation of g with a variance of its own.

mod law;
mod left_out;
mod sites;

pub use law::ObservationLaw;
pub use left_out::{LeftOut, Scores};

use crate::belief::{Belief, PosteriorProcess, Process};
use crate::data::{Data, Value};
use crate::error::{Error, Result, positive, same_length};
use crate::fit::{Fit, Space, fit_detailed};
use crate::points::Points;
use crate::warp::{Affine, Marginal, Warp};
use std::sync::Arc;

/// What noise is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseOn {
    /// g: ln f under the log warp, f itself under the identity.
    G,
    /// f itself.
    F,
}

impl NoiseOn {
    /// What noise is on where nobody says: a relative error where the range is half a line, and an
    /// absolute one otherwise.
    ///
    /// ```
    /// use warpquad::{regression::NoiseOn, warp::{Log, Probit}};
    /// assert_eq!((NoiseOn::usual(&Log), NoiseOn::usual(&Probit)), (NoiseOn::G, NoiseOn::F));
    /// ```
    pub fn usual(warp: &dyn Warp) -> NoiseOn {
        let range = warp.range();
        let is_half_a_line = range.lo.is_finite() != range.hi.is_finite();
        if is_half_a_line || warp.name() == "identity" {
            NoiseOn::G
        } else {
            NoiseOn::F
        }
    }
}

/// The variance of the noise of an observation.
#[derive(Debug, Clone, PartialEq)]
pub enum Noise {
    /// Values are exact.
    Exact,
    /// The same for all.
    Same(f64),
    /// One for each observation.
    Each(Vec<f64>),
    /// The same for all, and fitted.
    Fitted,
}

/// What is known of a regression before its data.
///
/// ```
/// use warpquad::regression::{Noise, Regression};
/// use warpquad::{Points, Process, Theta, kernel::Matern52, warp::Probit};
/// let x: Vec<Vec<f64>> = (0..9).map(|i| vec![f64::from(i)]).collect();
/// let y = [0.0, 0.02, 0.0, 0.1, 0.45, 0.93, 1.0, 0.99, 1.0];
/// let process = Process::new(Matern52, Theta::constant(0.0, 1.0, vec![2.0])?);
/// let regression = Regression::new(process, Probit).with_noise(Noise::Same(0.03 * 0.03));
/// let learnt = regression.fit(&Points::from_rows(&x)?, &y)?;
/// let at = learnt.marginals(&Points::from_rows(&[vec![6.5]])?)?[0];
/// let law = learnt.law(at, 0.0);
/// assert!(law.quantile(0.025) > 0.85 && law.quantile(0.975) < 1.0);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Regression {
    process: Process,
    warp: Arc<dyn Warp>,
    noise: Noise,
    on: NoiseOn,
    how: Fit,
}

/// What was learnt from the data.
#[derive(Debug, Clone)]
pub struct Regressed {
    /// p(g | D).
    pub posterior: PosteriorProcess,
    /// The warp, in the units of the data.
    pub warp: Affine,
    /// ln p(data | theta), as the fit has it.
    pub ln_likelihood: f64,
    /// The variance of the noise of each observation, on what `on` says; one number if it is the
    /// same for all.
    pub noise: Vec<f64>,
    /// What the noise is on.
    pub on: NoiseOn,
    /// The values; exact ones that repeat count once.
    pub values: Vec<f64>,
}

/// Rounds of a fit to sites and of sites at the fit.
const ROUNDS: usize = 20;
/// A fit of g and its noise may end where ln p changes by less.
const SETTLED: f64 = 1e-4;

impl Regression {
    /// The regression by a process on g = xi^-1(f), with exact values.
    pub fn new(process: Process, warp: impl Warp + 'static) -> Regression {
        Regression::shared(process, Arc::new(warp))
    }

    /// The same for a warp from the registry.
    pub fn shared(process: Process, warp: Arc<dyn Warp>) -> Regression {
        Regression {
            process,
            on: NoiseOn::usual(warp.as_ref()),
            warp,
            noise: Noise::Exact,
            how: Fit::default(),
        }
    }

    /// With this noise.
    pub fn with_noise(self, noise: Noise) -> Regression {
        Regression { noise, ..self }
    }

    /// With noise on g or on f, whatever is usual for the range.
    pub fn with_noise_on(self, on: NoiseOn) -> Regression {
        Regression { on, ..self }
    }

    /// Fitted in this way.
    pub fn with_fit(self, how: Fit) -> Regression {
        Regression { how, ..self }
    }

    /// Fit the hyperparameters and condition on the data.
    pub fn fit(&self, x: &Points, y: &[f64]) -> Result<Regressed> {
        same_length("values", y.len(), x.len())?;
        self.check_noise(y.len())?;
        let values = y.iter().map(|&y| Value::Linear(y)).collect();
        let is_identity = self.warp.name() == "identity";
        match (&self.noise, self.on) {
            (Noise::Exact, _) => self.exact(&Data::new(x.clone(), values)?),
            (_, NoiseOn::F) if !is_identity => self.on_f(&Data::noisy(x.clone(), values)?, y),
            _ => self.on_g(&Data::noisy(x.clone(), values)?),
        }
    }

    fn check_noise(&self, n: usize) -> Result<()> {
        match &self.noise {
            Noise::Same(v) => positive("noise", *v).map(|_| ()),
            Noise::Each(all) => {
                same_length("noise", all.len(), n)?;
                let mut all = all.iter().enumerate();
                all.try_for_each(|(i, v)| positive(&format!("noise[{i}]"), *v).map(|_| ()))
            }
            Noise::Exact | Noise::Fitted => Ok(()),
        }
    }

    fn exact(&self, data: &Data) -> Result<Regressed> {
        let warp = data.warp_shared(self.warp.clone())?;
        let fitted = fit_detailed(&self.process, &warp, data, &self.how)?;
        let posterior = fitted.process.condition(data.points(), &data.g(&warp)?)?;
        Ok(self.regressed(posterior, warp, fitted.ln_likelihood, vec![0.0], data))
    }

    /// Noise on g is Gaussian there.
    fn on_g(&self, data: &Data) -> Result<Regressed> {
        let warp = self.in_units(data)?;
        let unit = unit(&warp);
        let g = data.g(&warp)?;
        // A fit of g gives the density of g, in units.
        let ln_units = g.len() as f64 * unit.ln();
        let in_g = Fit {
            space: Space::G,
            ..self.how.clone()
        };
        if let Noise::Each(all) = &self.noise {
            if self.how.space == Space::FLeftOut {
                let reason = "f-loo is for exact values and for one noise of all; where each has \
                              its own take f or g";
                return Err(Error::spec("fit", reason));
            }
            let shares: Vec<f64> = all.iter().map(|v| v / (unit * unit)).collect();
            let process = self.with_variance(1.0);
            let how = in_g.with_own_noise(shares.clone(), 1.0);
            let fitted = fit_detailed(&process, &warp, data, &how)?;
            let process = without_noise(&fitted.process);
            let posterior = process.condition_noisy(data.points(), &g, &shares)?;
            let ln_likelihood = fitted.ln_likelihood - ln_units;
            return Ok(self.regressed(posterior, warp, ln_likelihood, all.clone(), data));
        }
        let mut process = self.process.clone();
        let mut ln_likelihood = None;
        match self.noise {
            // In f-space it would have one size at small and large f.
            Noise::Fitted => {
                let how = Fit {
                    fit_noise: true,
                    ..in_g
                };
                let fitted = fit_detailed(&process, &warp, data, &how)?;
                process = fitted.process;
                ln_likelihood = Some(fitted.ln_likelihood - ln_units);
            }
            Noise::Same(v) => process = self.with_variance(v / (unit * unit)),
            Noise::Exact | Noise::Each(_) => {}
        }
        let again = match self.how.space {
            // Under the identity f is g.
            Space::F => warp.name() != "identity",
            Space::G => false,
            Space::FLeftOut => true,
        };
        if again || ln_likelihood.is_none() {
            let fitted = fit_detailed(&process, &warp, data, &self.how)?;
            process = fitted.process;
            let in_g = self.how.space == Space::G;
            ln_likelihood = Some(fitted.ln_likelihood - if in_g { ln_units } else { 0.0 });
        }
        let noise = vec![process.theta().noise * unit * unit];
        let posterior = process.condition(data.points(), &g)?;
        let ln_likelihood = ln_likelihood.unwrap_or(f64::NAN);
        Ok(self.regressed(posterior, warp, ln_likelihood, noise, data))
    }

    /// Noise on f: the fit in f-space adds it to K, and what a value says of g is a site.
    fn on_f(&self, data: &Data, y: &[f64]) -> Result<Regressed> {
        if self.how.space == Space::FLeftOut {
            let reason =
                "f-loo is for exact values and for noise on g; with noise on f take f or g";
            return Err(Error::spec("fit", reason));
        }
        let (warp, n) = (data.warp_shared(self.warp.clone())?, y.len());
        let spread = crate::warp::sample_marginal(y).s;
        let (mut v, is_fitted, shares) = match &self.noise {
            Noise::Each(all) => (1.0, false, all.clone()),
            Noise::Same(v) => (*v, false, vec![1.0; n]),
            Noise::Fitted | Noise::Exact => (START_NOISE * spread, true, vec![1.0; n]),
        };
        let variances = |v: f64| shares.iter().map(|share| share * v).collect::<Vec<f64>>();
        let how = Fit {
            fit_noise: is_fitted,
            ..self.how.clone()
        };
        let x = data.points();
        let (process, ln_likelihood) = match (self.how.space, is_fitted) {
            (Space::F, false) => {
                let how = how.with_own_noise(shares.clone(), spread);
                let fitted = fit_detailed(&self.with_variance(v), &warp, data, &how)?;
                (without_noise(&fitted.process), fitted.ln_likelihood)
            }
            // In f-space a value on an end has no error, and fitted noise would be too small.
            _ => {
                let mut process = without_noise(&self.process);
                let mut ln_likelihood = f64::NEG_INFINITY;
                let mut sites = sites::first(&warp, y, &variances(v));
                for _ in 0..ROUNDS {
                    let shares = sites.noise.iter().map(|noise| noise / v).collect();
                    let how = Fit {
                        space: Space::G,
                        ..how.clone().with_own_noise(shares, spread)
                    };
                    let on_g = Data::noisy(x.clone(), linear(&sites.g))?;
                    let start = with_variance(&process, v);
                    let fitted = fit_detailed(&start, &crate::warp::Identity, &on_g, &how)?;
                    v = fitted.process.theta().noise;
                    process = without_noise(&fitted.process);
                    sites = sites::settled(&process, &warp, x, y, &variances(v))?;
                    let slopes: f64 = sites.ln_slopes.iter().sum();
                    let now = fitted.ln_likelihood - slopes;
                    let change = (now - ln_likelihood).abs();
                    ln_likelihood = now;
                    if change < SETTLED {
                        break;
                    }
                }
                (process, ln_likelihood)
            }
        };
        let sites = sites::settled(&process, &warp, x, y, &variances(v))?;
        let posterior = process.condition_noisy(x, &sites.g, &sites.noise)?;
        let noise = match &self.noise {
            Noise::Each(all) => all.clone(),
            _ => vec![v],
        };
        Ok(self.regressed(posterior, warp, ln_likelihood, noise, data))
    }

    /// The warp in the data's units. On ln y a unit is a shift. Where it would bend g, noisy data
    /// do without.
    fn in_units(&self, data: &Data) -> Result<Affine> {
        match self.warp.name() {
            "identity" | "log" => data.warp_shared(self.warp.clone()),
            _ => Affine::scaled(self.warp.clone(), 0.0),
        }
    }

    fn with_variance(&self, noise: f64) -> Process {
        with_variance(&self.process, noise)
    }

    fn regressed(
        &self,
        posterior: PosteriorProcess,
        warp: Affine,
        ln_likelihood: f64,
        noise: Vec<f64>,
        data: &Data,
    ) -> Regressed {
        let value = |value: &Value| match value {
            Value::Linear(f) => *f,
            Value::Log(ln_f) => ln_f.exp(),
        };
        Regressed {
            posterior,
            warp,
            ln_likelihood,
            noise,
            on: self.on,
            values: data.values().iter().map(value).collect(),
        }
    }
}

/// A noise to start from, in units of the variance of the values.
const START_NOISE: f64 = 0.02;

/// The first value that is an end of the range, if there is one.
///
/// ```
/// use warpquad::{regression::on_an_end, warp::Probit};
/// assert_eq!(on_an_end(&Probit, &[0.2, 1.0, 0.0]), Some(1));
/// ```
pub fn on_an_end(warp: &dyn Warp, y: &[f64]) -> Option<usize> {
    let range = warp.range();
    y.iter().position(|&y| y == range.lo || y == range.hi)
}

/// What the warp makes of a difference of 1 in g, where that is a matter of units alone: noise is
/// stated in those of the data.
fn unit(warp: &Affine) -> f64 {
    if warp.name() != "identity" {
        return 1.0;
    }
    let local = warp.local(0.0);
    local.ln_unit.exp() * local.slope.abs()
}

fn linear(values: &[f64]) -> Vec<Value> {
    values.iter().map(|&g| Value::Linear(g)).collect()
}

fn with_variance(process: &Process, noise: f64) -> Process {
    let mut theta = process.theta().clone();
    theta.noise = noise;
    process.with_theta(theta)
}

fn without_noise(process: &Process) -> Process {
    with_variance(process, 0.0)
}

impl Regressed {
    /// Mean and variance of g at points.
    pub fn marginals(&self, x: &Points) -> Result<Vec<Marginal>> {
        self.posterior.marginals(x)
    }

    /// Mean and sd of f at points, without the noise of an observation.
    pub fn moments(&self, x: &Points) -> Result<Vec<(f64, f64)>> {
        let moments = crate::belief::Warped::new(&self.warp, &self.posterior).moments(x)?;
        let sds = moments.vars().into_iter().map(f64::sqrt);
        Ok(moments.means().into_iter().zip(sds).collect())
    }

    /// The law of f where g has this marginal, or of an observation with noise of this variance.
    pub fn law(&self, at: Marginal, noise: f64) -> ObservationLaw<'_> {
        match self.on {
            NoiseOn::F if self.warp.name() != "identity" => {
                let law = ObservationLaw::new(&self.warp, at, noise);
                // Values on an end say how the noise meets it.
                match on_an_end(&self.warp, &self.values) {
                    Some(_) => law.clipped(),
                    None => law,
                }
            }
            _ => {
                let s = at.s + noise / unit(&self.warp).powi(2);
                ObservationLaw::new(&self.warp, Marginal { s, ..at }, 0.0)
            }
        }
    }

    /// The noise of a new observation: `None` where each of the data has its own.
    pub fn noise_of_new(&self) -> Option<f64> {
        match self.noise[..] {
            [noise] => Some(noise),
            _ => None,
        }
    }

    /// What each observation was expected to be, given all the others.
    pub fn left_out(&self) -> Scores {
        left_out::scores(self)
    }
}

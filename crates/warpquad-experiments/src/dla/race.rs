//! Run one method on one spectrum against the clock, and keep what it knew when.

use super::clock::{Clock, Whose};
use super::likelihood::{Likelihood, Workspace};
use super::prior::prior;
use super::truth::Truth;
use warpquad::baseline::{self, Evaluate, Settings};
use warpquad::engine::{Engine, Method, Outcome};
use warpquad::fit::Space;
use warpquad::measure::{Measure, Product};
use warpquad::numeric::sobol::Sobol;
use warpquad::numeric::special::ln_normal_pdf;
use warpquad::warp::Range;
use warpquad::{Belief, Error, Points, Result, Value};

/// The methods compared, in the tables' order: the paper's seven, its words as they stand, its
/// method by left-out densities and another quadrature, ours the last.
pub const METHODS: [&str; 11] = [
    "bmc",
    "wsabi-m-g",
    "wsabi-m",
    "mmlt-g",
    "mmlt",
    "mmlt-literal",
    "mmlt f-loo",
    "wsabi-l",
    "smc",
    "qmc",
    "auto",
];

/// Prior points at which predictions are judged.
const JUDGED: usize = 512;

/// The smallest sd, in units of the peak, that a prediction is credited with. Almost everywhere f
/// is 0 to thousands of digits, and a good belief knows it. Without a floor the mean is the number
/// of those digits.
pub const FLOOR: f64 = 0.01;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// CPU seconds.
    pub seconds: f64,
    /// Evaluations.
    pub evaluations: usize,
    /// Whether a quadrature is asked for what it knows on the way too, not at the end alone.
    pub looks: bool,
}

/// What was known at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Evaluations.
    pub evaluations: usize,
    /// Seconds of CPU, without those for finding out what is known.
    pub cpu: f64,
    /// Seconds of wall clock.
    pub wall: f64,
    /// ln of the mean of Z; NaN if that is negative.
    pub ln_mean: f64,
    /// The median of ln Z.
    pub ln_median: f64,
    /// The sd of ln Z.
    pub ln_sd: f64,
}

/// A run and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// In the order of time.
    pub moments: Vec<Moment>,
    /// ln p(Z* | D) under the normal law of Z, as a density of Z in units of the largest f.
    pub ln_p: f64,
    /// ln p(ln Z* | D) under a normal law of ln Z with the drawn law's median and sd.
    pub ln_p_drawn: f64,
    /// Mean ln predictive density of f at prior points, in units of the largest f; NaN for Monte
    /// Carlo.
    pub mll: f64,
    /// Why it ended early, if it did.
    pub failure: String,
}

/// Run a method; after its name may stand the space of its fit.
pub fn race(
    likelihood: &Likelihood,
    absorbers: usize,
    method: &str,
    truth: &Truth,
    limits: Limits,
    seed: u64,
) -> Result<Course> {
    if !baseline::is_baseline(method) {
        let (name, fit) = method.split_once(' ').unwrap_or((method, ""));
        let mut method = Method::by_name(name)?;
        if !fit.is_empty() {
            method.space = Space::by_name(fit)?;
        }
        return race_of(likelihood, absorbers, method, truth, limits, seed);
    }
    let measure = prior(likelihood.z_range(), absorbers)?;
    monte_carlo(likelihood, &measure, method, truth, limits, seed)
}

/// Run a quadrature that has no name of its own.
pub fn race_of(
    likelihood: &Likelihood,
    absorbers: usize,
    method: Method,
    truth: &Truth,
    limits: Limits,
    seed: u64,
) -> Result<Course> {
    let measure = prior(likelihood.z_range(), absorbers)?;
    quadrature(likelihood, &measure, method, truth, limits, seed)
}

fn monte_carlo(
    likelihood: &Likelihood,
    measure: &Product,
    method: &str,
    truth: &Truth,
    limits: Limits,
    seed: u64,
) -> Result<Course> {
    let clock = Clock::start(Whose::Thread);
    let mut integrand = Timed {
        likelihood,
        work: Workspace::default(),
        clock: &clock,
        limits,
        used: 0,
    };
    let settings = Settings {
        seed,
        ..Settings::default()
    };
    let mut moments = Vec::new();
    let mut heard = |known: &baseline::BaselineOutcome| {
        let (cpu, wall) = clock.read();
        moments.push(Moment {
            evaluations: known.evaluations,
            cpu,
            wall,
            ln_mean: known.ln_z,
            ln_median: known.ln_z,
            ln_sd: known.ln_sd,
        });
    };
    let by = baseline::by_name(method)?;
    let end = baseline::run(by.as_ref(), &mut integrand, measure, &settings, &mut heard)?;
    let ln_z = truth.first.ln_z;
    Ok(Course {
        moments,
        ln_p: end.estimate.ln_density_relative(ln_z) + truth.ln_peak - ln_z,
        ln_p_drawn: ln_normal(ln_z, end.ln_z, end.ln_sd),
        mll: f64::NAN,
        failure: String::new(),
    })
}

/// The likelihood until time or evaluations are spent.
struct Timed<'a> {
    likelihood: &'a Likelihood,
    work: Workspace,
    clock: &'a Clock,
    limits: Limits,
    used: usize,
}

impl Evaluate for Timed<'_> {
    fn evaluate(&mut self, points: &Points) -> Result<Option<Vec<Value>>> {
        let mut out = Vec::with_capacity(points.len());
        for (i, x) in points.iter().enumerate() {
            // Reading the clock costs as much as a likelihood.
            let late = i.is_multiple_of(16) && self.clock.read().0 > self.limits.seconds;
            if late || self.used >= self.limits.evaluations {
                return Ok(None);
            }
            self.used += 1;
            out.push(Value::Log(self.likelihood.ln_at(x, &mut self.work)?));
        }
        Ok(Some(out))
    }
}

fn quadrature(
    likelihood: &Likelihood,
    measure: &Product,
    method: Method,
    truth: &Truth,
    limits: Limits,
    seed: u64,
) -> Result<Course> {
    let mut engine = Engine::new(method, Range::POSITIVE, measure, seed)?;
    let mut work = Workspace::default();
    let mut course = Course {
        moments: Vec::new(),
        ln_p: f64::NAN,
        ln_p_drawn: f64::NAN,
        mll: f64::NAN,
        failure: String::new(),
    };
    let mut clock = Clock::start(Whose::Process);
    let mut next_look = match limits.looks {
        true => 4 * measure.dim(),
        false => limits.evaluations,
    };
    let failed = loop {
        if let Err(error) = observe(&mut engine, likelihood, &mut work) {
            break Some(error);
        }
        let over = clock.read().0 >= limits.seconds || engine.len() >= limits.evaluations;
        if engine.len() < next_look && !over {
            continue;
        }
        clock.hold();
        // Half as many again from look to look.
        next_look = engine.len() + engine.len().div_ceil(2);
        match engine.outcome() {
            Ok(outcome) => note(&mut course, &outcome, &clock, truth),
            Err(error) => break Some(error),
        }
        if over {
            break None;
        }
        clock.go_on();
    };
    let judged = mean_log_density(&mut engine, likelihood, measure, truth, &mut work);
    course.mll = judged.unwrap_or(f64::NAN);
    course.failure = failed.map_or_else(String::new, |error| error.to_string());
    Ok(course)
}

fn observe(engine: &mut Engine, likelihood: &Likelihood, work: &mut Workspace) -> Result<()> {
    let (points, _) = engine.observations();
    let none = Points::empty(points.dim())?;
    let x = engine.ask(&none, &none)?;
    let value = Value::Log(likelihood.ln_at(&x, work)?);
    engine.tell(&x, value)
}

fn note(course: &mut Course, outcome: &Outcome, clock: &Clock, truth: &Truth) {
    let (cpu, wall) = clock.read();
    let moment = Moment {
        evaluations: outcome.evaluations,
        cpu,
        wall,
        ln_mean: outcome.estimate.ln_mean(),
        ln_median: outcome.law.ln_quantile(0.5),
        ln_sd: outcome.ln_sd(),
    };
    let ln_z = truth.first.ln_z;
    course.ln_p = outcome.estimate.ln_density_relative(ln_z) + truth.ln_peak - ln_z;
    course.ln_p_drawn = ln_normal(ln_z, moment.ln_median, moment.ln_sd);
    course.moments.push(moment);
}

fn ln_normal(x: f64, mean: f64, sd: f64) -> f64 {
    ln_normal_pdf((x - mean) / sd) - sd.ln()
}

/// The mean over prior points of ln N(f; m, K), in units of the peak and with the sd at least
/// [`FLOOR`].
pub(super) fn mean_log_density(
    engine: &mut Engine,
    likelihood: &Likelihood,
    measure: &Product,
    truth: &Truth,
    work: &mut Workspace,
) -> Result<f64> {
    let dim = measure.dim();
    let mut sobol =
        Sobol::scrambled(dim, 1).ok_or_else(|| Error::spec("dimension", "too large"))?;
    let mut points = Points::empty(dim)?;
    let (mut u, mut x) = (vec![0.0; dim], vec![0.0; dim]);
    for _ in 0..JUDGED {
        sobol.next_into(&mut u);
        measure.quantile(&u, &mut x);
        points.push(&x)?;
    }
    let Some(model) = engine.model()? else {
        return Ok(f64::NAN);
    };
    let mut judge = |belief: &dyn Belief| -> Result<f64> {
        let moments = belief.moments(&points)?;
        // x exp(ln_unit): a mean may be e^1000 of the peak, and so may its sd, while their quotient
        // is plain.
        let scaled = |x: f64, ln_unit: f64| x.signum() * (x.abs().ln() + ln_unit).exp();
        let mut sum = 0.0;
        for (i, x) in points.iter().enumerate() {
            let (ln_var, _) = belief.ln_var_gradient(x)?;
            let ln_sd = (0.5 * ln_var).max(FLOOR.ln() + truth.ln_peak);
            let mean = scaled(moments.offset, -ln_sd)
                + scaled(moments.mean[i], moments.ln_unit[i] - ln_sd);
            let f = (likelihood.ln_at(x, work)? - ln_sd).exp();
            sum += ln_normal_pdf(f - mean) - (ln_sd - truth.ln_peak);
        }
        Ok(sum / points.len() as f64)
    };
    judge(model)
}

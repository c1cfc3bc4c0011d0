//! Run a baseline: hand its points to the integrand, keep what it knows, and say it when it stops.

use super::{Baseline, Evaluate, Function};
use crate::data::Value;
use crate::error::{Error, Result, Step};
use crate::functional::Estimate;
use crate::measure::{Chart, Coordinates, Measure, Restricted};
use crate::numeric::random::Rng;
use crate::numeric::special::normal_cdf;
use crate::points::Points;

/// Particles of a pass, at least: their chains must scatter.
const LEAST: usize = 16;

/// What a run is fixed by, besides the integrand and the measure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// How many evaluations to plan for: the last pass is sized to fit. `None`: passes only double.
    pub budget: Option<usize>,
    /// The size of every pass: particles, chains, live points or posterior draws. `None`: small at
    /// first, then doubled from pass to pass.
    pub particles: Option<usize>,
    /// The seed.
    pub seed: u64,
}

/// Posterior points with their weights, for density pi(x) f(x) / Z.
#[derive(Debug, Clone)]
pub struct Samples {
    /// Where, in the measure's own coordinates.
    pub points: Points,
    /// ln of each weight, up to a common constant.
    pub ln_weights: Vec<f64>,
}

impl Samples {
    pub(super) fn none(dim: usize) -> Result<Samples> {
        Ok(Samples {
            points: Points::empty(dim)?,
            ln_weights: Vec::new(),
        })
    }
}

/// What was known after so many evaluations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trace {
    /// Evaluations so far.
    pub evaluations: usize,
    /// ln Z.
    pub ln_z: f64,
    /// Its standard deviation.
    pub ln_sd: f64,
    /// Whether this is an answer.
    pub complete: bool,
}

/// What a baseline knows of Z.
#[derive(Debug, Clone)]
pub struct BaselineOutcome {
    /// ln Z; NaN where Z is negative.
    pub ln_z: f64,
    /// The standard deviation of ln Z.
    pub ln_sd: f64,
    /// Z and its sd, of either sign, in a unit that cannot underflow.
    pub estimate: Estimate,
    /// Evaluations used, those of an unfinished pass included.
    pub evaluations: usize,
    /// Whether this is an answer. If not, no pass has come to its end: ln Z is the middle of what
    /// is still possible and its sd half the width.
    pub complete: bool,
    /// What was known before.
    pub trace: Vec<Trace>,
    /// Posterior points of the last pass; `mc` and `qmc` keep none.
    pub samples: Option<Samples>,
    /// How many equally large values of f would say as much as these did, for plain averages; one
    /// that is small says that a few points carry Z and that the error is not to be trusted.
    pub effective: Option<f64>,
}

impl BaselineOutcome {
    /// Without trace and samples.
    pub(crate) fn bare(&self) -> BaselineOutcome {
        BaselineOutcome {
            trace: Vec::new(),
            samples: None,
            ..*self
        }
    }
}

/// Why a baseline ends.
#[derive(Debug)]
pub enum Halt {
    /// The integrand said stop.
    Stop,
    /// Something is wrong.
    Error(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Error(error)
    }
}

/// A run of a baseline, as the baseline sees it.
///
/// Baselines live in normal scores: z is standard normal where x(z) has the law of the measure.
pub struct Run<'a> {
    f: &'a mut dyn Evaluate,
    measure: &'a dyn Measure,
    scores: Option<Box<dyn Coordinates>>,
    settings: &'a Settings,
    heard: &'a mut dyn FnMut(&BaselineOutcome),
    evaluations: usize,
    known: Option<BaselineOutcome>,
}

impl Run<'_> {
    /// The dimension.
    pub fn dim(&self) -> usize {
        self.measure.dim()
    }

    /// What the run is fixed by.
    pub fn settings(&self) -> &Settings {
        self.settings
    }

    /// The generator of an independent stream of this run.
    pub fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.settings.seed).child(stream)
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The points of the measure at normal scores z.
    pub fn at_scores(&self, z: &Points) -> Result<Points> {
        // The cube's corners: Phi rounds to 1 from z = 8.3 on.
        let inside = |z: &f64| normal_cdf(*z).clamp(f64::MIN_POSITIVE, 1.0_f64.next_down());
        self.map(z, |z, x| match &self.scores {
            Some(scores) => scores.from_natural(z, x),
            None => {
                let u: Vec<f64> = z.iter().map(inside).collect();
                self.measure.quantile(&u, x);
            }
        })
    }

    /// The points of the measure at points u of the unit cube. Where it is restricted to a region
    /// some lie outside, where f counts as 0: [`next_of_cube`](Self::next_of_cube) has none such.
    pub fn at_cube(&self, u: &Points) -> Result<Points> {
        self.map(u, |u, x| self.measure.quantile(u, x))
    }

    /// The point of the measure at the next point u of the unit cube that is inside the region that
    /// the measure may be restricted to.
    pub fn next_of_cube(&self, mut next: impl FnMut(&mut [f64])) -> Vec<f64> {
        let (mut u, mut x) = (vec![0.0; self.dim()], vec![0.0; self.dim()]);
        loop {
            next(&mut u);
            self.measure.quantile(&u, &mut x);
            if self.region().is_none_or(|region| region.holds(&x)) {
                return x;
            }
        }
    }

    /// A draw from the measure, in normal scores.
    pub fn draw_scores(&self, rng: &mut Rng) -> Result<Vec<f64>> {
        let mut z = vec![0.0; self.dim()];
        loop {
            rng.fill_normal(&mut z);
            if self.holds(&z)? {
                return Ok(z);
            }
        }
    }

    /// Whether a point of normal scores is inside the region that the measure may be restricted to.
    pub fn holds(&self, z: &[f64]) -> Result<bool> {
        let Some(region) = self.region() else {
            return Ok(true);
        };
        let x = self.at_scores(&Points::new(self.dim(), z.to_vec())?)?;
        Ok(region.holds(x.row(0)))
    }

    /// The measure, if it is restricted to a region.
    pub fn region(&self) -> Option<&Restricted> {
        self.measure.restricted()
    }

    fn map(&self, points: &Points, to: impl Fn(&[f64], &mut [f64])) -> Result<Points> {
        let mut out = Points::empty(self.dim())?;
        let mut x = vec![0.0; self.dim()];
        for point in points.iter() {
            to(point, &mut x);
            out.push(&x)?;
        }
        Ok(out)
    }

    /// f at points of the measure; 0 without an evaluation outside the region that it may be
    /// restricted to.
    pub fn values(&mut self, x: &Points) -> std::result::Result<Vec<Value>, Halt> {
        let Some(region) = self.region() else {
            return self.evaluated(x);
        };
        let inside: Vec<usize> = (0..x.len()).filter(|&i| region.holds(x.row(i))).collect();
        let mut values = vec![Value::Log(f64::NEG_INFINITY); x.len()];
        if !inside.is_empty() {
            let evaluated = self.evaluated(&x.select(&inside))?;
            inside
                .iter()
                .zip(evaluated)
                .for_each(|(&i, value)| values[i] = value);
        }
        Ok(values)
    }

    fn evaluated(&mut self, x: &Points) -> std::result::Result<Vec<Value>, Halt> {
        let values = self.f.evaluate(x)?.ok_or(Halt::Stop)?;
        for (i, value) in values.iter().enumerate() {
            value.check(self.evaluations + i)?;
        }
        self.evaluations += values.len();
        Ok(values)
    }

    /// ln f at normal scores; an error where f is negative.
    pub fn ln_f(&mut self, z: &Points) -> std::result::Result<Vec<f64>, Halt> {
        let x = self.at_scores(z)?;
        let first = self.evaluations;
        let values = self.values(&x)?;
        let ln = |(i, value): (usize, Value)| match value {
            Value::Linear(f) if f < 0.0 => Err(Halt::Error(Error::Range {
                index: first + i,
                value: f.to_string(),
                range: "[0, inf)".into(),
                advice: "this method needs f >= 0; mc and qmc take any sign".into(),
            })),
            other => Ok(other.ln_abs()),
        };
        values.into_iter().enumerate().map(ln).collect()
    }

    /// Whether an answer is known already.
    pub fn has_answer(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.complete)
    }

    /// Say what is known now.
    pub fn know(&mut self, known: Known) {
        let evaluations = self.evaluations;
        let mut trace = self.known.take().map_or_else(Vec::new, |old| old.trace);
        let mut estimate = known.estimate;
        // Points are drawn from the normalised measure.
        estimate.ln_unit += self.region().map_or(0.0, Restricted::ln_total);
        let (ln_z, ln_sd) = (estimate.ln_mean(), known.ln_sd);
        trace.push(Trace {
            evaluations,
            ln_z,
            ln_sd,
            complete: known.complete,
        });
        let outcome = BaselineOutcome {
            ln_z,
            ln_sd,
            estimate,
            evaluations,
            complete: known.complete,
            trace,
            samples: known.samples,
            effective: known.effective,
        };
        (self.heard)(&outcome);
        self.known = Some(outcome);
    }
}

/// What a baseline says of Z.
#[derive(Debug)]
pub struct Known {
    estimate: Estimate,
    ln_sd: f64,
    complete: bool,
    samples: Option<Samples>,
    effective: Option<f64>,
}

impl Known {
    /// ln Z with its standard deviation.
    pub fn ln(ln_z: f64, ln_sd: f64) -> Known {
        let estimate = Estimate {
            offset: 0.0,
            ln_unit: ln_z,
            mean: 1.0,
            // The normal law whose log-normal twin has this sd.
            var: (ln_sd * ln_sd).exp_m1(),
            node_error: 0.0,
            closed_form: false,
        };
        Known {
            estimate,
            ln_sd,
            complete: true,
            samples: None,
            effective: None,
        }
    }

    /// Bounds on ln Z, from a run that is not there yet.
    pub fn between(low: f64, high: f64) -> Known {
        Known {
            complete: false,
            ..Known::ln(0.5 * (low + high), 0.5 * (high - low))
        }
    }

    /// An average of values in units of exp(ln_unit), its variance, and the values' effective
    /// number.
    pub fn average(ln_unit: f64, mean: f64, var: f64, effective: f64) -> Known {
        let base = Known::ln(ln_unit, 0.0);
        let estimate = Estimate {
            mean,
            var,
            ..base.estimate
        };
        Known {
            ln_sd: estimate.ln_sd(),
            estimate,
            effective: Some(effective),
            ..base
        }
    }

    /// With posterior points.
    pub fn with_samples(self, samples: Samples) -> Known {
        let samples = Some(samples);
        Known { samples, ..self }
    }
}

/// Run a baseline until the integrand says stop; `heard` is told whenever more is known.
pub fn run(
    baseline: &dyn Baseline,
    f: &mut dyn Evaluate,
    measure: &dyn Measure,
    settings: &Settings,
    heard: &mut dyn FnMut(&BaselineOutcome),
) -> Result<BaselineOutcome> {
    if settings.particles.is_some_and(|n| n < LEAST) {
        let reason = format!("need at least {LEAST}, for an error estimate");
        return Err(Error::spec("particles", reason));
    }
    let mut run = Run {
        f,
        measure,
        scores: measure.coordinates(Chart::Score).ok(),
        settings,
        heard,
        evaluations: 0,
        known: None,
    };
    match baseline.integrate(&mut run) {
        Ok(()) | Err(Halt::Stop) => {}
        Err(Halt::Error(error)) => return Err(error),
    }
    let evaluations = run.evaluations;
    let known = run.known.ok_or_else(|| {
        let what = format!(
            "{} knows nothing of Z after {evaluations} evaluations: every f was 0, or the budget \
             does not reach its first estimate; raise the budget",
            baseline.name()
        );
        Error::numerics(Step::Integrate, what)
    })?;
    Ok(BaselineOutcome {
        evaluations,
        ..known
    })
}

/// Integrate exp(ln_f) with a baseline within the budget of the settings.
///
/// ```
/// use warpquad::baseline::{Settings, Smc, integrate};
/// use warpquad::measure::Product;
/// let pi = Product::uniform(&[(-50.0, 50.0)])?;
/// let settings = Settings { budget: Some(5000), ..Settings::default() };
/// let z = integrate(&Smc, |x| -0.5 * x[0] * x[0], &pi, &settings)?;
/// let exact = 0.5 * (2.0 * std::f64::consts::PI).ln() - 100_f64.ln();
/// assert!((z.ln_z - exact).abs() < 4.0 * z.ln_sd && z.ln_sd < 0.3);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn integrate(
    baseline: &dyn Baseline,
    mut ln_f: impl FnMut(&[f64]) -> f64,
    measure: &dyn Measure,
    settings: &Settings,
) -> Result<BaselineOutcome> {
    if settings.budget.is_none() {
        let reason = "is needed here; without one, stop through `Evaluate`";
        return Err(Error::spec("budget", reason));
    }
    let mut f = Function::new(|x: &[f64]| Ok(Some(Value::Log(ln_f(x)))), settings.budget);
    run(baseline, &mut f, measure, settings, &mut |_| {})
}

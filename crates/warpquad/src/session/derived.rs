//! Say what is known of derived quantities: numbers that the integrand gave beside f.

use super::Session;
use crate::engine::Engine;
use crate::error::Result;
use crate::numeric::random::Rng;
use crate::points::Points;
use serde_json::{Value as Json, json};

/// Numbers that an integrand gave beside f, by name.
pub type Derived = Vec<(String, f64)>;

/// Draws behind the marginals of a report.
const DRAWS: usize = 2000;

/// The marginal of a derived quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedMarginal {
    /// Its name.
    pub name: String,
    /// Its posterior mean.
    pub mean: f64,
    /// Its posterior standard deviation, what the interpolation does not know included.
    pub sd: f64,
    /// Its central 95 %.
    pub interval: [f64; 2],
    /// How uncertain the interpolation is, in the root mean square over the posterior.
    pub interpolation_sd: f64,
}

impl DerivedMarginal {
    /// The object of the report's `derived`.
    pub fn to_json(&self) -> Json {
        json!({
            "mean": self.mean, "sd": self.sd, "interval": self.interval,
            "interpolation_sd": self.interpolation_sd,
        })
    }
}

/// A derived quantity at points of the posterior: the mean and sd of the interpolation there, and a
/// draw from it.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedDraws {
    /// Its name.
    pub name: String,
    /// Draws: they carry what the interpolation does not know.
    pub draws: Vec<f64>,
    /// The root mean square of the interpolation's sd.
    pub interpolation_sd: f64,
}

/// Derived quantities at points, from their values at the observations of an engine. A quantity
/// that cannot be interpolated, because too few values are known, is left out.
pub fn derived_draws(
    engine: &mut Engine,
    columns: &[(String, Vec<f64>)],
    points: &Points,
    seed: u64,
) -> Result<Vec<DerivedDraws>> {
    let mut out = Vec::new();
    for (number, (name, values)) in columns.iter().enumerate() {
        let Ok(known) = engine.interpolate(values) else {
            continue;
        };
        let at = known.at(points)?;
        let mut rng = Rng::new(seed).child(number as u64);
        let squares: f64 = at.iter().map(|(_, sd)| sd * sd).sum();
        out.push(DerivedDraws {
            name: name.clone(),
            draws: at
                .iter()
                .map(|(mean, sd)| mean + sd * rng.normal())
                .collect(),
            interpolation_sd: (squares / at.len().max(1) as f64).sqrt(),
        });
    }
    Ok(out)
}

impl Session {
    /// The derived quantities at the observations, in their order; NaN where one was not given.
    ///
    /// ```
    /// use warpquad::session::{Session, evaluator::Answer, spec::Problem};
    /// use warpquad::Value;
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// for _ in 0..12 {
    ///     let task = session.ask()?;
    ///     let derived = vec![("double".to_string(), 2.0 * task.x[0])];
    ///     let value = Value::Log(-task.x[0].powi(2));
    ///     session.tell(task.id, Answer::With(value, derived), 0.0)?;
    /// }
    /// assert_eq!(session.derived()[0].0, "double");
    /// let found = &session.derived_marginals()?[0];
    /// // The posterior is normal with variance 1/3.
    /// assert!(found.mean.abs() < 0.1 && (found.sd - 2.0 / 3.0_f64.sqrt()).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn derived(&self) -> Vec<(String, Vec<f64>)> {
        let n = self.observations().1.len();
        let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
        for (&place, derived) in self.driver.derived() {
            for (name, value) in derived {
                let known = columns.iter().position(|(known, _)| known == name);
                let column = known.unwrap_or_else(|| {
                    columns.push((name.clone(), vec![f64::NAN; n]));
                    columns.len() - 1
                });
                columns[column].1[place] = *value;
            }
        }
        columns
    }

    /// The marginals of the derived quantities; none for a method that keeps no belief.
    pub fn derived_marginals(&mut self) -> Result<Vec<DerivedMarginal>> {
        let columns = self.derived();
        let Some(engine) = self.driver.engine_mut().filter(|_| !columns.is_empty()) else {
            return Ok(Vec::new());
        };
        // An f of either sign has no posterior.
        let Ok(sample) = engine.posterior_sample(DRAWS, 0) else {
            return Ok(Vec::new());
        };
        let found = derived_draws(engine, &columns, &sample.points, 0)?;
        Ok(found.into_iter().map(marginal).collect())
    }
}

fn marginal(found: DerivedDraws) -> DerivedMarginal {
    let mut draws = found.draws;
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let sd = (draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    draws.sort_by(f64::total_cmp);
    let at = |p: f64| draws[((p * n) as usize).min(draws.len() - 1)];
    DerivedMarginal {
        name: found.name,
        mean,
        sd,
        interval: [at(0.025), at(0.975)],
        interpolation_sd: found.interpolation_sd,
    }
}

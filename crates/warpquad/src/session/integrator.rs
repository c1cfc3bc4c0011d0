//! Hold what a session drives: Bayesian quadrature, or a baseline.

use super::coroutine::Coroutine;
use super::setup;
use super::spec::Problem;
use crate::baseline::{self, BaselineOutcome};
use crate::data::Value;
use crate::engine::{Draw, Engine, LastFit, Method, Outcome};
use crate::error::Result;
use crate::functional::Law;
use crate::points::Points;
use serde_json::Value as Json;

/// What chooses points and knows Z.
#[derive(Debug)]
pub(super) enum Integrator {
    Quadrature { method: Method, engine: Box<Engine> },
    Baseline(Box<Coroutine>),
}

impl Integrator {
    /// What a problem asks for. `planned` is the number of evaluations that a baseline plans for: the
    /// budget that the run began with.
    pub fn new(problem: &Problem, seed: u64, planned: Option<usize>) -> Result<Integrator> {
        let measure = problem.measure()?;
        if let Some(baseline) = setup::baseline(problem)? {
            let settings = baseline::Settings {
                budget: planned,
                particles: problem.method.particles,
                seed,
            };
            let coroutine = Coroutine::new(baseline, measure, settings)?;
            return Ok(Integrator::Baseline(Box::new(coroutine)));
        }
        let method = setup::method(problem)?;
        let engine = Engine::new(
            method.clone(),
            problem.settings.range,
            measure.as_ref(),
            seed,
        )?
        .with_noise(problem.settings.noise.unwrap_or(0.0));
        Ok(Integrator::Quadrature {
            method,
            engine: Box::new(engine),
        })
    }

    /// What must agree for a run to go on as it began.
    pub fn json(&self, problem: &Problem) -> Json {
        match self {
            Integrator::Quadrature { method, .. } => setup::method_json(problem, method),
            Integrator::Baseline(baseline) => {
                setup::baseline_json(problem, baseline.settings().budget)
            }
        }
    }

    /// The parts of Bayesian quadrature; `None` for a baseline.
    pub fn method(&self) -> Option<&Method> {
        match self {
            Integrator::Quadrature { method, .. } => Some(method),
            Integrator::Baseline(_) => None,
        }
    }

    /// The engine of Bayesian quadrature; `None` for a baseline.
    pub fn engine(&self) -> Option<&Engine> {
        match self {
            Integrator::Quadrature { engine, .. } => Some(engine),
            Integrator::Baseline(_) => None,
        }
    }

    /// What a baseline knows; `None` for Bayesian quadrature.
    pub fn baseline(&self) -> Option<&BaselineOutcome> {
        match self {
            Integrator::Quadrature { .. } => None,
            Integrator::Baseline(baseline) => baseline.known(),
        }
    }

    /// Whether a point can be handed out before more values come in.
    pub fn is_ready(&self) -> bool {
        match self {
            Integrator::Quadrature { .. } => true,
            Integrator::Baseline(baseline) => baseline.is_ready(),
        }
    }

    pub fn ask(&mut self, pending: &Points, avoid: &Points) -> Result<Vec<f64>> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.ask(pending, avoid),
            Integrator::Baseline(baseline) => baseline.ask(),
        }
    }

    /// A point drawn from the belief; `None` for a baseline, which has none.
    pub fn draw(&mut self, stream: u64) -> Result<Option<Draw>> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.draw(stream).map(Some),
            Integrator::Baseline(_) => Ok(None),
        }
    }

    /// A point was handed out.
    pub fn asked(&mut self, x: &[f64]) {
        if let Integrator::Baseline(baseline) = self {
            baseline.asked(x);
        }
    }

    pub fn tell(&mut self, x: &[f64], value: Value) -> Result<()> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.tell(x, value),
            Integrator::Baseline(baseline) => baseline.tell(x, value),
        }
    }

    pub fn observations(&self) -> (&Points, &[Value]) {
        match self {
            Integrator::Quadrature { engine, .. } => engine.observations(),
            Integrator::Baseline(baseline) => baseline.observations(),
        }
    }

    pub fn last_fit(&self) -> Option<&LastFit> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.last_fit(),
            Integrator::Baseline(_) => None,
        }
    }

    pub fn restore(&mut self, fit: LastFit) {
        if let Integrator::Quadrature { engine, .. } = self {
            engine.restore(fit);
        }
    }

    pub fn outcome(&mut self, problem: &Problem) -> Result<Outcome> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.outcome(),
            Integrator::Baseline(baseline) => {
                let known = baseline.outcome()?;
                let law = match problem.settings.range.lo >= 0.0 {
                    true => Law::log_normal(known.ln_z, known.ln_sd),
                    false => Law::normal(&known.estimate),
                };
                Ok(Outcome {
                    law,
                    estimate: known.estimate,
                    theta: None,
                    evaluations: baseline.observations().1.len(),
                })
            }
        }
    }
}

//! Hold what a session drives: Bayesian quadrature, or a baseline.

use super::coroutine::Coroutine;
use super::setup;
use super::spec::{Failed, Problem};
use crate::baseline::{self, Baseline, BaselineOutcome};
use crate::data::Value;
use crate::engine::{Draw, Engine, LastFit, Method, Outcome, TakenFrame};
use crate::error::{Error, Result};
use crate::functional::Law;
use crate::points::Points;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// What chooses points and knows Z.
#[derive(Debug)]
pub(super) enum Integrator {
    Quadrature {
        /// The parts, if they were named.
        method: Option<Method>,
        /// What must agree for a run to go on as it began.
        described: Json,
        engine: Box<Engine>,
    },
    Baseline(Box<Coroutine>),
}

/// An engine or a baseline that the caller brings, in place of one that a registry names.
///
/// See [`Session::with_integrator`](super::Session::with_integrator).
#[derive(Debug, Clone)]
pub enum OwnIntegrator {
    /// Bayesian quadrature.
    Engine {
        /// What to call it in the journal; going on with a run under another name is refused.
        name: String,
        /// The engine, before its first observation.
        engine: Box<Engine>,
    },
    /// A method without a model of f.
    Baseline(Arc<dyn Baseline>),
}

impl OwnIntegrator {
    /// What the journal calls it.
    pub fn name(&self) -> &str {
        match self {
            OwnIntegrator::Engine { name, .. } => name,
            OwnIntegrator::Baseline(baseline) => baseline.name(),
        }
    }

    pub(super) fn integrator(
        self,
        problem: &Problem,
        seed: u64,
        planned: Option<usize>,
    ) -> Result<Integrator> {
        match self {
            OwnIntegrator::Engine { name, engine } => Ok(Integrator::Quadrature {
                method: None,
                described: json!({"name": name}),
                engine,
            }),
            OwnIntegrator::Baseline(own) => Integrator::of_baseline(own, problem, seed, planned),
        }
    }
}

impl Integrator {
    /// What a problem asks for. `planned` is the number of evaluations that a baseline plans for:
    /// the budget that the run began with.
    pub fn new(problem: &Problem, seed: u64, planned: Option<usize>) -> Result<Integrator> {
        if let Some(baseline) = setup::baseline(problem)? {
            return Integrator::of_baseline(baseline, problem, seed, planned);
        }
        let measure = problem.measure()?;
        let method = setup::method(problem)?;
        let engine = Engine::new(
            method.clone(),
            problem.settings.range,
            measure.as_ref(),
            seed,
        )?
        .with_noise(problem.settings.noise.unwrap_or(0.0))
        .with_failed_as_zero(problem.settings.failed == Some(Failed::Zero))
        .with_start(problem.start.points(), problem.start.half_widths())?;
        Ok(Integrator::Quadrature {
            described: setup::method_json(problem, &method),
            method: Some(method),
            engine: Box::new(engine),
        })
    }

    fn of_baseline(
        baseline: Arc<dyn Baseline>,
        problem: &Problem,
        seed: u64,
        planned: Option<usize>,
    ) -> Result<Integrator> {
        let settings = baseline::Settings {
            budget: planned,
            particles: problem.method.particles,
            seed,
        };
        let coroutine = Coroutine::new(baseline, problem.measure()?, settings)?;
        Ok(Integrator::Baseline(Box::new(coroutine)))
    }

    /// What must agree for a run to go on as it began.
    pub fn json(&self, problem: &Problem) -> Json {
        match self {
            Integrator::Quadrature { described, .. } => described.clone(),
            Integrator::Baseline(baseline) => {
                setup::baseline_json(problem, baseline.settings().budget)
            }
        }
    }

    /// The parts of a named method of Bayesian quadrature.
    pub fn method(&self) -> Option<&Method> {
        match self {
            Integrator::Quadrature { method, .. } => method.as_ref(),
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

    /// The same, to be asked for what takes work.
    pub fn engine_mut(&mut self) -> Option<&mut Engine> {
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

    /// Take a value that was not asked for.
    pub fn give(&mut self, x: &[f64], value: Value) -> Result<()> {
        self.taking()?.give(x, value)
    }

    /// Evaluate these points before any other choice.
    pub fn begin_with(&mut self, points: Vec<Vec<f64>>) -> Result<()> {
        self.taking()?.begin_with(points)
    }

    /// The engine, which takes points of anyone's choice; a baseline does not.
    fn taking(&mut self) -> Result<&mut Engine> {
        let reason = "a baseline takes no points that it did not ask for";
        self.engine_mut()
            .ok_or_else(|| Error::spec("initial", reason))
    }

    /// An evaluation failed for good.
    pub fn fail(&mut self, x: &[f64]) -> Result<()> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.fail(x),
            Integrator::Baseline(_) => Ok(()),
        }
    }

    pub fn observations(&self) -> (&Points, &[Value]) {
        match self {
            Integrator::Quadrature { engine, .. } => engine.observations(),
            Integrator::Baseline(baseline) => baseline.observations(),
        }
    }

    /// The last fit in the frame of each peak; in that of the prior while there is none.
    pub fn fits(&self) -> Vec<Option<LastFit>> {
        match self {
            Integrator::Quadrature { engine, .. } => (0..engine.components().max(1))
                .map(|component| engine.last_fit_in(component).cloned())
                .collect(),
            Integrator::Baseline(_) => Vec::new(),
        }
    }

    pub fn restore(&mut self, component: usize, fit: LastFit) {
        if let Integrator::Quadrature { engine, .. } = self {
            engine.restore_in(component, fit);
        }
    }

    /// The frames that were taken, in order.
    pub fn frames(&self) -> &[TakenFrame] {
        match self {
            Integrator::Quadrature { engine, .. } => engine.frames(),
            Integrator::Baseline(_) => &[],
        }
    }

    /// Go on in a frame that was kept.
    pub fn take_frame(&mut self, frame: TakenFrame) -> Result<()> {
        match self {
            Integrator::Quadrature { engine, .. } => engine.take_frame(frame),
            Integrator::Baseline(_) => Err(Error::spec("frame", "a baseline has no frames")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::evaluator::Answer;
    use crate::session::{Next, Session};
    use std::path::Path;

    const TEXT: &str = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n\
                        method.name = 'bmc'\nbudget.evaluations = ";

    fn problem(evaluations: usize) -> (Problem, String) {
        let text = format!("{TEXT}{evaluations}");
        (Problem::parse(&text).unwrap(), text)
    }

    fn own(name: &str) -> OwnIntegrator {
        let (problem, _) = problem(1);
        let measure = problem.measure().unwrap();
        let method = Method::by_name("bmc").unwrap();
        let engine = Engine::new(method, problem.settings.range, measure.as_ref(), 3).unwrap();
        OwnIntegrator::Engine {
            name: name.into(),
            engine: Box::new(engine),
        }
    }

    fn begin(name: &str, evaluations: usize, dir: Option<&Path>) -> Result<Session> {
        let (problem, text) = problem(evaluations);
        Session::with_integrator(problem, &text, 3, dir, own(name))
    }

    fn points(mut session: Session) -> Vec<Vec<f64>> {
        while let Next::Evaluate(task) = session.next().unwrap() {
            let value = Value::Log(-task.x[0].powi(2));
            session.tell(task.id, Answer::Value(value), 0.0).unwrap();
        }
        let points = session.observations().0.iter();
        points.map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn an_engine_of_ones_own_runs_like_a_named_one() {
        let (problem, text) = problem(12);
        let named = points(Session::new(problem, &text, 3).unwrap());
        assert_eq!(points(begin("mine", 12, None).unwrap()), named);
    }

    #[test]
    fn a_run_of_ones_own_goes_on_under_its_name() {
        let dir = std::env::temp_dir().join(format!("warpquad-own-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        let whole = points(begin("mine", 12, None).unwrap());
        assert_eq!(points(begin("mine", 5, Some(&dir)).unwrap()), whole[..5]);
        assert_eq!(points(begin("mine", 12, Some(&dir)).unwrap()), whole);
        let other = begin("other", 12, Some(&dir)).unwrap_err();
        assert!(other.to_string().contains("\"mine\""), "{other}");
        let unnamed = Session::open(&dir, None).unwrap_err();
        assert!(unnamed.to_string().contains("mine"), "{unnamed}");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

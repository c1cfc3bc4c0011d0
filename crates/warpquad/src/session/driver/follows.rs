//! Refuse events of a journal that cannot follow what happened before.

use super::Driver;
use crate::belief::Theta;
use crate::engine::{Engine, Peak};
use crate::session::event::Event;

impl Driver {
    /// Why an event cannot follow, in words.
    pub fn check_follows(&self, event: &Event) -> Result<(), String> {
        match event {
            Event::Ask { id, x, .. } => self.check_ask(*id, x),
            Event::Tell { id, value, .. } => {
                value.check(*id as usize).map_err(|error| error.to_string())
            }
            Event::Given { id, x, value, .. } => {
                self.check_ask(*id, x)?;
                value.check(*id as usize).map_err(|error| error.to_string())
            }
            Event::Initial(initial) => {
                let mut first = initial.first.iter();
                first.try_for_each(|x| self.check_point("a point to begin with", x))
            }
            Event::Fit {
                component,
                n,
                theta,
                tau,
                ..
            } => {
                self.check_component(*component, self.integrator.fits().len())?;
                self.check_fit(theta, *n, *tau)
            }
            Event::Frame(frame) => {
                self.check_component(frame.component, self.components() + 1)?;
                self.check_frame(&frame.peak, frame.n)
            }
            Event::Start { .. } | Event::Fail { .. } | Event::Stop { .. } => Ok(()),
        }
    }

    fn check_ask(&self, id: u64, x: &[f64]) -> Result<(), String> {
        let next = self.next_id;
        if id != next {
            return Err(format!("point {id} was asked for in place of {next}"));
        }
        self.check_point(&format!("point {id}"), x)
    }

    fn check_point(&self, name: &str, x: &[f64]) -> Result<(), String> {
        let dim = self.problem.names.len();
        if x.len() != dim || x.iter().any(|x| !x.is_finite()) {
            return Err(format!("{name} is {x:?}, not {dim} finite numbers"));
        }
        Ok(())
    }

    /// How many peaks have frames.
    fn components(&self) -> usize {
        self.integrator.engine().map_or(0, Engine::components)
    }

    /// Refuse the number of a peak that is not there.
    fn check_component(&self, component: usize, count: usize) -> Result<(), String> {
        match component < count {
            true => Ok(()),
            false => Err(format!("peak {component} of a run of {count}")),
        }
    }

    /// Refuse a frame that is not of this run.
    fn check_frame(&self, peak: &Peak, n: usize) -> Result<(), String> {
        let (dim, told) = (self.problem.names.len(), self.told.len());
        if n > told {
            return Err(format!(
                "a frame that rests on {n} values, when {told} were told"
            ));
        }
        match peak.center().len() {
            same if same == dim => Ok(()),
            other => Err(format!("a frame in {other} dimensions, in a run of {dim}")),
        }
    }

    /// Refuse hyperparameters that are not of this run.
    fn check_fit(&self, theta: &Theta, n: usize, tau: Option<f64>) -> Result<(), String> {
        let (dim, told) = (self.problem.names.len(), self.told.len());
        if n > told {
            return Err(format!("a fit to {n} values, when {told} were told"));
        }
        if tau.is_some_and(|tau| !(tau.is_finite() && tau > 0.0)) {
            return Err(format!("tau is {tau:?}, not a positive number"));
        }
        theta.check().map_err(|error| error.to_string())?;
        match theta.dim() == dim {
            true => Ok(()),
            false => Err(format!(
                "a fit in {} dimensions, in a run of {dim}",
                theta.dim()
            )),
        }
    }
}

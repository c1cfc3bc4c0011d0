//! Hold what was seen in one frame, and what is made of it: the model that chooses, its word on Z.

use super::strategy::{Answer, Kept, Strategy};
use super::{History, LastFit};
use crate::belief::{Ensemble, Model};
use crate::error::Result;
use crate::functional::{Estimate, Law};

/// What was seen in one frame: the prior's, or that of one peak among several.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub seen: History,
    /// The model of the observations so far, the fit behind it, and the run's length then.
    current: Option<(Model, LastFit, usize)>,
    /// What the strategy keeps between choices.
    pub kept: Kept,
    /// What the leading model says of this part of Z, after so many observations and failures.
    glanced: Option<(Law, Estimate, [usize; 2])>,
}

impl Part {
    /// Nothing is made of it yet.
    pub fn new(seen: History) -> Part {
        Part {
            seen,
            current: None,
            kept: Kept::default(),
            glanced: None,
        }
    }

    /// Forget what was worked out.
    pub fn forget(&mut self) {
        self.current = None;
        self.kept = Kept::default();
        self.glanced = None;
    }

    /// Forget the model, for another fit.
    pub fn forget_model(&mut self) {
        self.current = None;
    }

    /// The model of all observations that chooses, of a run with `n` of them; `None` while every f
    /// is 0.
    pub fn model(&mut self, strategy: &dyn Strategy, n: usize) -> Result<Option<&Model>> {
        let known = matches!(&self.current, Some((_, _, known)) if *known == n);
        if !known {
            if self.seen.data()?.all_zero() && self.seen.range.lo == 0.0 {
                return Ok(None);
            }
            let (model, fit) = strategy.fit(&self.seen)?;
            self.current = Some((model, fit, n));
        }
        Ok(self.current.as_ref().map(|(model, _, _)| model))
    }

    /// The fit behind the model has chosen a point. Only such a fit counts for later ones: looking
    /// at a run leaves no trace.
    pub fn count_fit(&mut self) {
        if let Some((_, fit, _)) = &self.current {
            let fit = fit.clone();
            self.seen.keep(fit);
        }
    }

    /// What is believed of f in this frame; `None` while every f is 0.
    pub fn answer(&mut self, strategy: &dyn Strategy, n: usize) -> Result<Option<Answer>> {
        self.model(strategy, n)?;
        let Some((lead, fit, _)) = &self.current else {
            return Ok(None);
        };
        strategy.answer(&self.seen, lead, fit).map(Some)
    }

    /// The same by the leading model alone, with little work.
    pub fn quick_answer(&mut self, strategy: &dyn Strategy, n: usize) -> Result<Option<Answer>> {
        let Some((law, estimate)) = self.glance(strategy, n)? else {
            return Ok(None);
        };
        let lead = self.model(strategy, n)?.cloned();
        Ok(lead.map(|lead| Answer {
            ensemble: Ensemble::one(lead),
            law,
            estimate,
            doubts: Default::default(),
        }))
    }

    /// What the leading model says of this part of Z; `None` while every f is 0.
    pub fn glance(&mut self, strategy: &dyn Strategy, n: usize) -> Result<Option<(Law, Estimate)>> {
        let now = [self.seen.len(), self.seen.failed.len()];
        if !matches!(&self.glanced, Some((_, _, then)) if *then == now) {
            self.model(strategy, n)?;
            let Some((lead, fit, _)) = &self.current else {
                return Ok(None);
            };
            let (law, estimate) = strategy.glance(&self.seen, lead, fit)?;
            self.glanced = Some((law, estimate, now));
        }
        let known = self.glanced.as_ref();
        Ok(known.map(|(law, estimate, _)| (law.clone(), *estimate)))
    }
}

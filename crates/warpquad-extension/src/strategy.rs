//! A strategy of one's own: fit at every step, choose by a rule, answer with one model.

use std::sync::Arc;
use warpquad::acquisition::{Acquisition, Context};
use warpquad::engine::{Answer, Choice, Doubts, History, Kept, LastFit, Strategy};
use warpquad::fit::Space;
use warpquad::functional::{Drawing, law_of_z};
use warpquad::kernel::Kernel;
use warpquad::warp::{Range, Warp};
use warpquad::{Ensemble, Error, Fit, Matching, Model, Process, Result, Theta, fit};

/// Parts of one's own, and no more decisions than needed.
#[derive(Debug, Clone)]
pub struct OneFit {
    /// xi.
    pub warp: Arc<dyn Warp>,
    /// The kernel of g.
    pub kernel: Arc<dyn Kernel>,
    /// Where to look next.
    pub rule: Arc<dyn Acquisition>,
}

impl Strategy for OneFit {
    fn check_range(&self, range: Range) -> Result<()> {
        match range == self.warp.range() {
            true => Ok(()),
            false => Err(Error::spec("range", "is not that of the warp")),
        }
    }

    fn fit(&self, seen: &History) -> Result<(Model, LastFit)> {
        let data = seen.data()?;
        let warp = data.warp_shared(self.warp.clone())?;
        let lengths = seen.frame().measure().scale();
        let start = Theta::constant(-1.0, 1.0, lengths)?;
        let process = Process::shared(self.kernel.clone(), start);
        let how = Fit {
            space: Space::G,
            ..Fit::default()
        };
        let process = fit(&process, &warp, &data, &how)?;
        let posterior = process.condition(data.points(), &data.g(&warp)?)?;
        let kept = LastFit {
            theta: process.theta().clone(),
            n: seen.len(),
            full: seen.len(),
            tau: None,
        };
        Ok((Model::new(warp, posterior, Matching::Moments), kept))
    }

    fn choose(
        &self,
        seen: &History,
        lead: &Model,
        choice: &Choice<'_>,
        _: &mut Kept,
    ) -> Result<Vec<f64>> {
        self.rule.choose(&Context {
            belief: lead,
            measure: seen.frame().measure(),
            taken: choice.taken,
            seed: seen.seed(),
            step: choice.step,
        })
    }

    fn answer(&self, seen: &History, lead: &Model, _: &LastFit) -> Result<Answer> {
        let ensemble = Ensemble::one(lead.clone());
        let measure = seen.frame().measure();
        let drawn = law_of_z(&ensemble, measure, &Drawing::default(), seen.streams())?;
        Ok(Answer {
            estimate: drawn.estimate(),
            law: drawn.law,
            ensemble,
            doubts: Doubts::default(),
        })
    }
}

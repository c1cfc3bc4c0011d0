//! Run a method as published: one model, the paper's parts.

use super::fitter::Fitter;
use super::strategy::{Answer, Choice, Doubts, Kept, Strategy};
use super::{History, LastFit, range};
use crate::acquisition::{Acquisition, Context};
use crate::belief::{Ensemble, Matching, Model};
use crate::data::Data;
use crate::error::Result;
use crate::fit::{LengthPrior, Space};
use crate::functional::{Law, enough_nodes, law};
use crate::kernel::Kernel;
use crate::measure::Chart;
use crate::numeric::stream::Stream;
use crate::warp::{Affine, Range, Warp};
use std::sync::Arc;

/// WSABI's alpha, in units of the smallest observation.
const ALPHA: f64 = 0.8;

/// Draws of the law of Z.
const LAW_DRAWS: usize = 1000;

/// One model, made of given parts.
#[derive(Debug, Clone)]
pub struct Published {
    /// xi.
    pub warp: Arc<dyn Warp>,
    /// The kernel of g.
    pub kernel: Arc<dyn Kernel>,
    /// The space of the fit.
    pub space: Space,
    /// Where to look next.
    pub acquisition: Arc<dyn Acquisition>,
    /// How the belief about f is made.
    pub matching: Matching,
    /// The coordinates of the process.
    pub coordinates: Chart,
    /// Nodes of the integral to begin with; more are taken where their error is not small.
    pub nodes: usize,
    /// A fit from all starting points every so many observations.
    pub refit_every: usize,
    /// A prior on length scales; none in the paper's methods.
    pub length_prior: Option<LengthPrior>,
    /// Variance on g, besides the noise.
    pub nugget: f64,
}

impl Published {
    /// The warp in the data's units. The square of a positive f stands on the smallest observation.
    fn warp_for(&self, data: &Data, range: Range) -> Result<Affine> {
        let values = data.values().iter().map(|v| v.ln_abs() - data.ln_scale());
        let lowest = values.fold(f64::INFINITY, f64::min);
        match self.warp.standing_on(ALPHA * lowest.exp()) {
            Some(square) if range.lo == 0.0 => Affine::scaled(square?, data.ln_scale()),
            _ => range::warp_for(&self.warp, range, data),
        }
    }

    fn fitter<'a>(&self, seen: &'a History, data: &'a Data) -> Result<Fitter<'a>> {
        Ok(Fitter {
            data,
            measure: seen.frame().measure(),
            warp: self.warp_for(data, seen.range())?,
            kernel: self.kernel.clone(),
            matching: self.matching,
            space: self.space,
            noise: seen.noise() + self.nugget,
            length_prior: self.length_prior,
            quadratic_mean: false,
            tolerance: None,
            seed: seen.seed(),
        })
    }
}

impl Strategy for Published {
    fn chart(&self) -> Chart {
        self.coordinates
    }

    fn check_range(&self, range: Range) -> Result<()> {
        match self.warp.standing_on(0.0) {
            Some(_) if range.lo == 0.0 => Ok(()),
            _ => range::check(&self.warp, range),
        }
    }

    fn fit(&self, seen: &History) -> Result<(Model, LastFit)> {
        let (n, data) = (seen.len(), seen.data()?);
        let fitter = self.fitter(seen, &data)?;
        let last = seen.last_fit();
        if let Some(fit) = last.filter(|fit| fit.n == n)
            && let Ok(model) = fitter.condition(fit.theta.clone())
        {
            return Ok((model, fit.clone()));
        }
        let (model, full) = match last {
            Some(fit) if n < fit.full + self.refit_every => (fitter.improve(&fit.theta)?, fit.full),
            _ => (fitter.fit_all(None)?, n),
        };
        let fit = LastFit {
            theta: model.theta().clone(),
            n,
            full,
            tau: None,
        };
        Ok((model, fit))
    }

    fn choose(
        &self,
        seen: &History,
        lead: &Model,
        choice: &Choice<'_>,
        _: &mut Kept,
    ) -> Result<Vec<f64>> {
        self.acquisition.choose(&Context {
            belief: lead,
            measure: seen.frame().measure(),
            taken: choice.taken,
            seed: seen.seed(),
            step: choice.step,
        })
    }

    fn answer(&self, seen: &History, lead: &Model, _: &LastFit) -> Result<Answer> {
        let (measure, streams) = (seen.frame().measure(), seen.streams());
        let (nodes, estimate) = enough_nodes(lead, measure, self.nodes, seen.seed())?;
        let ensemble = Ensemble::one(lead.clone());
        let law = match self.matching {
            Matching::Moments => law(&ensemble, &nodes, LAW_DRAWS, &streams.rng(Stream::Law))?,
            // A linearised belief is Gaussian, so its law of Z is known.
            Matching::Linearised => Law::normal(&estimate),
        };
        Ok(Answer {
            ensemble,
            law,
            estimate,
            doubts: Doubts::default(),
        })
    }
}

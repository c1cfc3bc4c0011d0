//! Run a method as published: one model, the paper's parts.

use super::fitter::Fitter;
use super::strategy::{Answer, Choice, Doubts, Kept, Strategy};
use super::{History, LastFit, Reading, range};
use crate::acquisition::{Acquisition, Context};
use crate::belief::{Ensemble, Matching, Model};
use crate::data::Data;
use crate::error::Result;
use crate::fit::Space;
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
    /// The coordinates of the process.
    pub coordinates: Chart,
    /// Nodes of the integral to begin with; more are taken where their error is not small.
    pub nodes: usize,
    /// A fit from all starting points every so many observations.
    pub refit_every: usize,
    /// Everything that has no name.
    pub reading: Reading,
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

    /// The observations, none of a positive f lower than the floor.
    fn data(&self, seen: &History) -> Result<Data> {
        let data = seen.data()?;
        Ok(match self.reading.floor_nats {
            Some(nats) if seen.range().lo >= 0.0 => data.floored(nats),
            _ => data,
        })
    }

    fn fitter<'a>(&self, seen: &'a History, data: &'a Data) -> Result<Fitter<'a>> {
        Ok(Fitter {
            data,
            measure: seen.frame().measure(),
            warp: self.warp_for(data, seen.range())?,
            kernel: self.kernel.clone(),
            matching: self.reading.matching,
            space: self.space,
            confined: self.reading.confined,
            noise: seen.noise() + self.reading.nugget,
            length_prior: self.reading.length_prior,
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

    fn initial_points(&self, dim: usize) -> usize {
        self.reading.initial_points.unwrap_or(8).max(4 * dim)
    }

    fn check_range(&self, range: Range) -> Result<()> {
        match self.warp.standing_on(0.0) {
            Some(_) if range.lo == 0.0 => Ok(()),
            _ => range::check(&self.warp, range),
        }
    }

    fn fit(&self, seen: &History) -> Result<(Model, LastFit)> {
        let (n, data) = (seen.len(), self.data(seen)?);
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
        let law = match self.reading.matching {
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

#[cfg(test)]
mod tests {
    use super::super::{Engine, Method, Plan, Reading};
    use crate::data::Value;
    use crate::measure::Product;
    use crate::points::Points;
    use crate::warp::Range;

    fn engine(reading: Reading) -> Engine {
        let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
        let method = Method {
            plan: Plan::Published(reading),
            ..Method::by_name("mmlt-literal").unwrap()
        };
        Engine::new(method, Range::POSITIVE, &measure, 0).unwrap()
    }

    fn deepest_after(reading: Reading, n: usize) -> f64 {
        let mut engine = engine(reading);
        let none = Points::empty(1).unwrap();
        for _ in 0..n {
            let x = engine.ask(&none, &none).unwrap();
            engine.tell(&x, Value::Log(-1000.0 * x[0] * x[0])).unwrap();
        }
        let model = engine.model().unwrap().unwrap();
        model.process().g().iter().copied().fold(0.0, f64::min)
    }

    #[test]
    fn nothing_counts_as_lower_than_the_floor() {
        let floored = Reading {
            floor_nats: Some(30.0),
            ..Reading::default()
        };
        assert_eq!(deepest_after(floored, 10), -30.0);
        assert!(deepest_after(Reading::default(), 10) < -500.0);
    }

    #[test]
    fn a_reading_begins_with_as_many_points_as_it_says() {
        let first = |initial_points| {
            let reading = Reading {
                initial_points,
                ..Reading::default()
            };
            engine(reading).strategy.initial_points(1)
        };
        assert_eq!((first(None), first(Some(24))), (8, 24));
    }
}

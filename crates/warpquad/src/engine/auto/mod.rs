//! The strategy that chooses for the user: one file for each decision, all numbers in [`Tuning`].

mod axes;
mod climb;
mod doubts;
mod effects;
mod exploring;
mod feasible;
mod maker;
mod models;
mod refinement;
mod saturation;
mod schedule;
mod scores;
mod tuning;
mod units;
mod widening;

pub use climb::Climb;
pub(in crate::engine) use climb::Parameters;
pub use tuning::{Field, Tuning};

use super::strategy::{Answer, Choice, Kept, Strategy};
use super::{History, LastFit, range};
use crate::acquisition::{Acquisition, Context, Explore, LookAhead};
use crate::belief::{Belief, Ensemble, Model};
use crate::error::Result;
use crate::fit::Space;
use crate::functional::{Drawing, DrawnLaw, Estimate, Law, law_of_z};
use crate::kernel::Kernel;
use crate::measure::Chart;
use crate::numeric::stream::{Stream, Streams};
use crate::warp::{Range, Warp};
use maker::{Maker, Shape};
use std::sync::Arc;
use widening::{Said, hindsight, unseen_nats};

/// Our own strategy. One model chooses the points; several, weighted by left-out densities, answer.
#[derive(Debug, Clone)]
pub struct Auto {
    /// xi; one that saturates has its depth chosen by the data.
    pub warp: Arc<dyn Warp>,
    /// The kernel of the model that chooses.
    pub kernel: Arc<dyn Kernel>,
    /// The kernel of the model that joins the answer beside it.
    pub rough_kernel: Arc<dyn Kernel>,
    /// The space of the fit.
    pub space: Space,
    /// Where to look next; `None` for the look-ahead that the tuning describes.
    pub acquisition: Option<Arc<dyn Acquisition>>,
    /// The coordinates of the process.
    pub coordinates: Chart,
    /// Nodes of the integral.
    pub nodes: usize,
    /// A fit from all starting points every so many observations, at least.
    pub refit_every: usize,
    /// Every number that it decides by.
    pub tuning: Tuning,
}

impl Auto {
    fn look_ahead(&self) -> LookAhead {
        let tuning = &self.tuning;
        LookAhead {
            tails_sd: tuning.tails_sd.clone(),
            nodes_per_dimension: tuning.look_nodes_per_dimension,
            nodes_least: tuning.look_nodes_least,
            nodes_most: tuning.look_nodes_most,
            candidates: tuning.look_candidates,
            gradients: tuning.look_gradients,
            settled_part: tuning.settled_part,
            exploring_sd: tuning.exploring_sd,
        }
    }

    fn drawing(&self) -> Drawing {
        let tuning = &self.tuning;
        Drawing {
            draws: tuning.law_draws,
            joint_nodes: tuning.joint_nodes,
            nodes: self.nodes,
            reach_sd: tuning.reach_sd,
            box_error: tuning.box_error,
            nodes_beside_boxes: tuning.nodes_beside_boxes,
            fine_nodes_part: tuning.fine_nodes_part,
            fine_nodes_factor: tuning.fine_nodes_factor,
            shared_surface_from: tuning.shared_surface_from,
        }
    }

    /// How many times wider the answer must be for where it stood after a part of the
    /// observations; 1 where nothing can be said of that, as before the first fit.
    fn hindsight(&self, seen: &History, now: Said) -> f64 {
        let tuning = &self.tuning;
        let part = tuning.hindsight_part;
        let n = (part * seen.len() as f64) as usize;
        if n < self.initial_points(seen.dim()) {
            return 1.0;
        }
        let then = self.said_after(&seen.first(n), seen.streams());
        then.map_or(1.0, |then| hindsight(then, now, part))
    }

    /// What the leading model said of Z.
    fn said_after(&self, seen: &History, streams: Streams) -> Option<Said> {
        if seen.data().ok()?.all_zero() && seen.range().lo == 0.0 {
            return None;
        }
        let data = feasible::data(self, seen).ok()?;
        let (lead, fit) = self.fit(seen).ok()?;
        let maker = Maker {
            auto: self,
            seen,
            data: &data,
        };
        let drawn = self.drawn_by_lead(&maker, &lead, fit.tau, streams).ok()?;
        Some(Said::by(&drawn.law, drawn.node_error))
    }

    /// The law of Z by the leading model alone, from few draws and nodes.
    fn drawn_by_lead(
        &self,
        maker: &Maker<'_>,
        lead: &Model,
        tau: Option<f64>,
        streams: Streams,
    ) -> Result<DrawnLaw> {
        let ensemble = models::lead_alone(maker, lead, tau)?;
        let how = Drawing {
            draws: self.tuning.hindsight_draws,
            nodes: (self.nodes / self.tuning.hindsight_one_node_in).max(1),
            fine_nodes_factor: 1,
            ..self.drawing()
        };
        let seen = maker.seen;
        let streams = Streams::new(streams.seed(Stream::Hindsight), seen.len() as u64);
        self.law_within(ensemble, seen, &how, streams)
            .map(|(drawn, _)| drawn)
    }

    /// The law of Z over where f is positive, with the uncertainty about where that is, and the
    /// ensemble that knows it.
    fn law_within(
        &self,
        ensemble: Ensemble,
        seen: &History,
        how: &Drawing,
        streams: Streams,
    ) -> Result<(DrawnLaw, Ensemble)> {
        let ensemble = ensemble.within(feasible::for_answer(self, seen));
        let measure = seen.frame().measure();
        let mut drawn = law_of_z(&ensemble, measure, how, streams)?;
        if let Some(edge) = ensemble.feasible() {
            let mut rng = streams.rng(Stream::Edge);
            let factors = feasible::ln_factors(edge, &ensemble, measure, &self.tuning, &mut rng)?;
            drawn.law = drawn.law.times(&factors, &mut rng);
        }
        Ok((drawn, ensemble))
    }
}

impl Strategy for Auto {
    fn chart(&self) -> Chart {
        self.coordinates
    }

    fn climbing(&self, range: Range) -> Option<&Tuning> {
        (self.warp.saturates() && range == Range::POSITIVE).then_some(&self.tuning)
    }

    fn check_range(&self, range: Range) -> Result<()> {
        range::check(&self.warp, range)
    }

    fn initial_points(&self, dim: usize) -> usize {
        let tuning = &self.tuning;
        (tuning.initial_per_dimension * dim).max(tuning.initial_least)
    }

    fn fit(&self, seen: &History) -> Result<(Model, LastFit)> {
        let data = feasible::data(self, seen)?;
        let (n, last) = (seen.len(), seen.last_fit());
        let maker = Maker {
            auto: self,
            seen,
            data: &data,
        };
        let shape = |tau: Option<f64>| Shape::of_choice(maker.warping(tau));
        let tuning = &self.tuning;
        if let Some(fit) = last.filter(|fit| schedule::still_serves(n, fit.n, tuning)) {
            // A theta of fewer observations may be no good for these.
            if let Ok(model) = maker.condition(&shape(fit.tau), fit.theta.clone()) {
                return Ok((model, fit.clone()));
            }
        }
        let full_due = |full| schedule::is_full_due(n, full, self.refit_every, tuning);
        let (model, full, tau) = match last {
            Some(fit) if !full_due(fit.full) => {
                let model = maker.fitter(&shape(fit.tau))?.improve(&fit.theta)?;
                (model, fit.full, fit.tau)
            }
            _ if self.warp.saturates() => {
                let tau = last.and_then(|fit| fit.tau);
                let theta = last.map(|fit| &fit.theta);
                let (model, tau) = saturation::choose(&maker, tau, theta)?;
                (model, n, Some(tau))
            }
            _ => (maker.fitter(&shape(None))?.fit_all(None)?, n, None),
        };
        let fit = LastFit {
            theta: model.theta().clone(),
            n,
            full,
            tau,
        };
        Ok((model, fit))
    }

    fn choose(
        &self,
        seen: &History,
        lead: &Model,
        choice: &Choice<'_>,
        kept: &mut Kept,
    ) -> Result<Vec<f64>> {
        let lead = &lead.clone().within(feasible::for_choice(self, seen, kept));
        if let Some(z) = feasible::edge_point(self, seen, lead, choice)? {
            return Ok(z);
        }
        let at = |belief| Context {
            belief,
            measure: seen.frame().measure(),
            taken: choice.taken,
            seed: seen.seed(),
            step: choice.step,
        };
        let look = self.look_ahead();
        let rule: &dyn Acquisition = match &self.acquisition {
            Some(rule) => rule.as_ref(),
            None => &look,
        };
        if let Some(z) = rule.choose_unless_settled(&at(lead as &dyn Belief))? {
            return Ok(z);
        }
        let turn = choice.step / look.tails_sd.len();
        let explorer = exploring::explorer(self, seen, lead, choice.pending, turn, kept)?;
        Explore(look.clone()).choose(&at(&explorer))
    }

    fn answer(&self, seen: &History, lead: &Model, fit: &LastFit) -> Result<Answer> {
        let data = feasible::data(self, seen)?;
        let maker = Maker {
            auto: self,
            seen,
            data: &data,
        };
        let ensemble = models::ensemble(&maker, lead, fit.tau)?;
        let (drawn, ensemble) = self.law_within(ensemble, seen, &self.drawing(), seen.streams())?;
        let wider = self.hindsight(seen, Said::by(&drawn.law, drawn.node_error));
        let law = drawn.law.widened(wider);
        let doubts = doubts::doubts(&maker, &ensemble, lead, fit.tau);
        let answer = Answer {
            estimate: law.estimate(drawn.node_error),
            ensemble: ensemble.widened(wider),
            law,
            doubts,
        };
        // What was extrapolated may as well be nothing.
        let kept = (1.0 - doubts.failed_part.unwrap_or(0.0)).max(f64::MIN_POSITIVE);
        let unseen = unseen_nats(&seen.values, self.initial_points(seen.dim()));
        Ok(answer.with_law_reaching(unseen.max(-kept.ln())))
    }

    /// The leading model's word, as wide as its left-out errors make it.
    fn glance(&self, seen: &History, lead: &Model, fit: &LastFit) -> Result<(Law, Estimate)> {
        let data = feasible::data(self, seen)?;
        let maker = Maker {
            auto: self,
            seen,
            data: &data,
        };
        let drawn = self.drawn_by_lead(&maker, lead, fit.tau, seen.streams())?;
        let unseen = unseen_nats(&seen.values, self.initial_points(seen.dim()));
        let law = drawn.law.reaching(unseen);
        let estimate = law.estimate(drawn.node_error);
        Ok((law, estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;
    use crate::engine::{Frame, Method};
    use crate::measure::Product;

    /// `auto` for a positive f, as it comes.
    pub fn auto() -> Auto {
        Method::auto(Range::POSITIVE).auto_parts().unwrap()
    }

    /// A run that was told ln f at these points of a box.
    pub fn history(
        bounds: &[(f64, f64)],
        points: &[Vec<f64>],
        ln_f: impl Fn(&[f64]) -> f64,
    ) -> History {
        let measure = Product::uniform(bounds).unwrap();
        let frame = Frame::prior(&measure, Chart::Identity).unwrap();
        let mut seen = History::new(frame, Range::POSITIVE, 0).unwrap();
        for x in points {
            seen.points.push(x).unwrap();
            seen.values.push(Value::Log(ln_f(x)));
        }
        seen
    }

    /// The same at n points over the unit interval.
    pub fn line_history(n: usize, ln_f: impl Fn(f64) -> f64) -> History {
        let at = |i: usize| vec![i as f64 / (n - 1) as f64];
        let points: Vec<Vec<f64>> = (0..n).map(at).collect();
        history(&[(0.0, 1.0)], &points, |x| ln_f(x[0]))
    }

    /// The given warp's model of a run, fitted from all starting points with this nugget.
    pub fn model_with_nugget(seen: &History, nugget: f64) -> Model {
        let mut auto = auto();
        auto.tuning.nugget = nugget;
        let data = seen.data().unwrap();
        let maker = Maker {
            auto: &auto,
            seen,
            data: &data,
        };
        let shape = Shape::of_choice(maker.warping(None));
        maker.fitter(&shape).unwrap().fit_all(None).unwrap()
    }
}

//! Explore once content: look for modes with a model that tells all depths apart.

use super::model::{Model, ModelMaker};
use super::run::{Engine, LastFit};
use crate::belief::Theta;
use crate::data::Data;
use crate::error::Result;
use crate::points::Points;

/// A fit for every ten observations at first, and for every eighth part of them later.
fn milestone(n: usize) -> usize {
    let step = (n.next_power_of_two() / 8).max(10);
    n / step * step
}

impl Engine {
    /// The model that looks for modes where `lead` is content: its warp without the floor. To the leading model all that lies below the
    /// floor is one plain, on which a mode may hide anywhere; here the plain has slopes, and most of it is too low to hide one.
    ///
    /// Where the warp has no floor, or the depths cannot be fitted, it is the lead.
    pub(super) fn explorer(&mut self, lead: &Model, pending: &Points) -> Result<Model> {
        let data = self.data()?;
        let model = self
            .exploring_theta()
            .and_then(|theta| self.deep_maker(&data)?.condition(theta).ok());
        match model {
            Some(model) => model.with_pending(pending),
            None => Ok(lead.clone()),
        }
    }

    /// Its theta is fitted to the observations up to the last milestone, so that a restored run finds the same.
    fn exploring_theta(&mut self) -> Option<Theta> {
        let (n, tau) = (milestone(self.len()), self.last_fit.as_ref()?.tau);
        let known = self.exploring.as_ref();
        if known.is_none_or(|last| (last.n, last.tau) != (n, tau)) {
            let then = self.first(n).data().ok()?;
            let theta = self.deep_maker(&then)?.fit(None).ok()?.theta().clone();
            self.exploring = Some(LastFit {
                theta,
                n,
                full: n,
                tau,
            });
        }
        self.exploring.as_ref().map(|last| last.theta.clone())
    }

    /// Only a warp whose tau the data chose has a floor to take away.
    fn deep_maker<'a>(&'a self, data: &'a Data) -> Option<ModelMaker<'a>> {
        let tau = self.last_fit.as_ref()?.tau?;
        let mut maker = self.maker(data, Some(tau));
        maker.shape.deep = true;
        Some(maker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;
    use crate::engine::Method;
    use crate::measure::Product;
    use crate::warp::Range;

    fn new() -> Engine {
        let square = Product::uniform(&[(-1.0, 1.0), (-1.0, 1.0)]).unwrap();
        let method = Method::auto(Range::POSITIVE);
        Engine::new(method, Range::POSITIVE, &square, 1).unwrap()
    }

    /// A run on a peak whose flanks fall far below the floor, and the same restored from its last fit.
    fn run_and_restored() -> (Engine, Engine) {
        let none = Points::empty(2).unwrap();
        let (mut run, mut restored) = (new(), new());
        for _ in 0..37 {
            let x = run.ask(&none, &none).unwrap();
            let value = Value::Log(-5e3 * (x[0] * x[0] + (x[1] - 0.3).powi(2)));
            run.tell(&x, value).unwrap();
            restored.tell(&x, value).unwrap();
        }
        restored.restore(run.last_fit().unwrap().clone());
        (run, restored)
    }

    #[test]
    fn a_restored_run_explores_with_the_same_model() {
        let (mut run, mut restored) = run_and_restored();
        let theta = run.exploring_theta();
        assert!(theta.is_some());
        assert_eq!(restored.exploring_theta(), theta);
    }

    #[test]
    fn the_explorer_tells_depths_apart_that_are_one_to_the_lead() {
        let (mut run, _) = run_and_restored();
        let lead = run.model().unwrap().unwrap().clone();
        let none = Points::empty(2).unwrap();
        let explorer = run.explorer(&lead, &none).unwrap();
        let lowest = |model: &Model| model.posterior().g().iter().copied().fold(0.0, f64::min);
        let at_lowest = |model: &Model| {
            let g = model.posterior().g();
            g.iter().filter(|g| **g == lowest(model)).count()
        };
        assert!(at_lowest(&lead) > 1);
        assert_eq!(at_lowest(&explorer), 1);
        assert!(lowest(&explorer) < lowest(&lead));
    }

    #[test]
    fn without_a_floor_the_lead_explores() {
        let mut run = new();
        run.method = Method::auto(Range::REAL);
        let none = Points::empty(2).unwrap();
        for x in [[0.1, 0.2], [-0.3, 0.5], [0.7, -0.6]] {
            run.tell(&x, Value::Linear(x[0] - x[1])).unwrap();
        }
        let lead = run.model().unwrap().unwrap().clone();
        let explorer = run.explorer(&lead, &none).unwrap();
        assert_eq!(explorer.theta(), lead.theta());
    }
}

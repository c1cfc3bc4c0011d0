//! Say what a strategy decides: when to fit and how, where to look next, what to answer.

use super::{History, LastFit, Outcome, Tuning};
use crate::belief::{Edges, Ensemble, Model, Theta};
use crate::error::Result;
use crate::functional::{Estimate, Law};
use crate::measure::Chart;
use crate::numeric::random::Rng;
use crate::numeric::special::ln_add_exp;
use crate::points::Points;
use crate::warp::Range;
use std::fmt::Debug;

/// What a choice is made among.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Observed, pending and failed points, in the frame's coordinates.
    pub taken: &'a Points,
    /// Points that were asked for and not told yet.
    pub pending: &'a Points,
    /// How many points were asked for before this one.
    pub step: usize,
}

/// What a strategy may keep between choices. It is a function of the history, so a restored run
/// makes it again.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The fit of the model that explores.
    pub explorer: Option<LastFit>,
    /// How sharp and how bent the edge of where f is positive is, after so many observations.
    pub edges: Option<(Edges, usize)>,
}

/// How a method goes about a run.
///
/// A strategy has no state: what it does is a function of the history. `published` is the paper's
/// way, `auto` is ours; a user's own can run an [`Engine`](super::Engine) or a session too.
pub trait Strategy: Debug + Send + Sync {
    /// The coordinates of the prior that the process lives in.
    fn chart(&self) -> Chart {
        Chart::Identity
    }

    /// The numbers of a climb to a narrow peak under a vague prior; `None` for a strategy that
    /// stays in the prior, or for an f of a range whose logarithm is not followed.
    fn climbing(&self, _range: Range) -> Option<&Tuning> {
        None
    }

    /// Refuse a range of f that cannot be reached, before anything is observed.
    fn check_range(&self, range: Range) -> Result<()>;

    /// Space-filling points before the first fit: a length scale needs a few points a dimension.
    fn initial_points(&self, dim: usize) -> usize {
        (4 * dim).max(8)
    }

    /// The model of all observations that chooses the next point, and the fit to be kept with it.
    fn fit(&self, seen: &History) -> Result<(Model, LastFit)>;

    /// The next point, in the frame's coordinates. `lead` is the fitted model, conditioned on
    /// pending points at their mean.
    fn choose(
        &self,
        seen: &History,
        lead: &Model,
        choice: &Choice<'_>,
        kept: &mut Kept,
    ) -> Result<Vec<f64>>;

    /// What is believed of f, and so of Z.
    fn answer(&self, seen: &History, lead: &Model, fit: &LastFit) -> Result<Answer>;

    /// What was known of Z, for a look back at many moments of a run: it may take less work, and so
    /// fewer models, than the answer.
    fn glance(&self, seen: &History, lead: &Model, fit: &LastFit) -> Result<(Law, Estimate)> {
        let answer = self.answer(seen, lead, fit)?;
        Ok((answer.law, answer.estimate))
    }
}

/// What is believed of f, with the law of Z that it implies.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The belief about f, in the frame's coordinates.
    pub ensemble: Ensemble,
    /// The law of Z by drawing g.
    pub law: Law,
    /// The normal law of Z.
    pub estimate: Estimate,
    /// What else speaks against it.
    pub doubts: Doubts,
}

/// What speaks against an answer beside its own law of Z.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Doubts {
    /// The part of Z, as it is believed, that lies where evaluations fail; `None` where that is not
    /// learnt.
    pub failed_part: Option<f64>,
    /// The sd of noise on ln f that explains exact observations far better than none.
    pub noise_sd: Option<f64>,
    /// The part of Z in peaks outside the frames, of which only the height and the shape are known.
    pub outside_part: Option<f64>,
}

/// A peak outside the frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outside {
    /// About ln of its mass, at least.
    pub ln_mass: f64,
    /// So much more it may be, in nats.
    pub above_nats: f64,
    /// The chance that it is there.
    pub chance: f64,
}

/// ln of the mass of a peak by its height and curvature alone is off by so much.
const NORMAL_PEAK_SD: f64 = 0.7;
/// Draws of it.
const OUTSIDE_DRAWS: usize = 500;

impl Answer {
    /// The answer with a 95 % interval of ln Z that reaches at least so many nats to each side;
    /// what is said of f stays as it is.
    pub(super) fn with_law_reaching(self, nats: f64) -> Answer {
        if !self.law.is_narrower(nats) {
            return self;
        }
        let law = self.law.reaching(nats);
        Answer {
            estimate: law.estimate(self.estimate.relative_node_error()),
            law,
            ..self
        }
    }

    /// The answer with what lies outside the frames in the law of Z.
    pub(super) fn with_outside(mut self, outside: Outside, rng: &mut Rng) -> Answer {
        let inside = self.law.ln_quantile(0.5);
        if !inside.is_finite() || !outside.ln_mass.is_finite() {
            return self;
        }
        let ln_ratio = outside.ln_mass - inside;
        let is_certain = outside.chance >= 1.0;
        let draw = |_| match is_certain || rng.uniform() < outside.chance {
            true => {
                let above = outside.above_nats * rng.uniform();
                ln_add_exp(0.0, ln_ratio + above + NORMAL_PEAK_SD * rng.normal())
            }
            false => 0.0,
        };
        let factors: Vec<f64> = (0..OUTSIDE_DRAWS).map(draw).collect();
        let law = self.law.times(&factors, rng);
        self.doubts.outside_part = is_certain.then(|| (ln_ratio - ln_add_exp(0.0, ln_ratio)).exp());
        Answer {
            estimate: law.estimate(self.estimate.relative_node_error()),
            law,
            ..self
        }
    }

    /// The same, with what is said of f as many times wider.
    pub(super) fn reaching(self, nats: f64) -> Answer {
        let times = (nats / self.law.ln_half_width()).max(1.0);
        match times.is_finite() {
            true => Answer {
                ensemble: self.ensemble.clone().widened(times),
                ..self.with_law_reaching(nats)
            },
            false => self.with_law_reaching(nats),
        }
    }

    /// The law of Z, for a report.
    pub fn outcome(&self, evaluations: usize) -> Outcome {
        let theta: &Theta = self.ensemble.heaviest().theta();
        Outcome {
            law: self.law.clone(),
            estimate: self.estimate,
            theta: Some(theta.clone()),
            evaluations,
        }
    }
}

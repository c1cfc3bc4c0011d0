//! Make the models of `auto`: what sets one apart from the leading one, and its fit.

use super::units::{floor_nats, headroom_nats};
use super::{Auto, schedule};
use crate::belief::{Matching, Model, Theta};
use crate::data::Data;
use crate::engine::fitter::Fitter;
use crate::engine::{History, range};
use crate::error::Result;
use crate::fit::LengthPrior;
use crate::warp::{Affine, Capped, Square};
use std::sync::Arc;

/// What makes g of f.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Warping {
    /// ln f, saturating this many nats below its largest value.
    Saturating(f64),
    /// The warp that the user or the range of f asks for.
    Given,
    /// The square root of f.
    Root,
}

/// How far above the largest observation f may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headroom {
    /// As far as a slope seen from afar leads: it must be believed to be climbed.
    Choice,
    /// As far as the largest observation has risen lately.
    Answer,
}

/// What sets a model of `auto` apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub warping: Warping,
    pub headroom: Headroom,
    /// Whether observations below the floor count as no lower.
    pub has_floor: bool,
    /// Whether the kernel is the rougher one.
    pub is_rough: bool,
    /// Whether the mean of g falls off, in place of a constant one.
    pub quadratic_mean: bool,
    /// Whether the observations are taken as exact, with a nugget that is no more than rounding.
    pub is_exact: bool,
}

impl Shape {
    /// The shape of the model that chooses.
    pub fn of_choice(warping: Warping) -> Shape {
        Shape {
            warping,
            headroom: Headroom::Choice,
            has_floor: true,
            is_rough: false,
            quadratic_mean: false,
            is_exact: false,
        }
    }

    /// The same for the answer.
    pub fn of_answer(warping: Warping) -> Shape {
        Shape {
            headroom: Headroom::Answer,
            ..Shape::of_choice(warping)
        }
    }
}

/// Makes models of one set of data.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub auto: &'a Auto,
    pub seen: &'a History,
    pub data: &'a Data,
}

impl<'a> Maker<'a> {
    /// ln |f| at the observations, in their order.
    pub fn ln_f(&self) -> Vec<f64> {
        self.data.values().iter().map(|v| v.ln_abs()).collect()
    }

    /// The number of parameters.
    pub fn dim(&self) -> usize {
        self.data.points().dim()
    }

    /// The warp that saturates at tau, or the given one if no tau is chosen.
    pub fn warping(&self, tau: Option<f64>) -> Warping {
        tau.map_or(Warping::Given, Warping::Saturating)
    }

    fn warp(&self, shape: &Shape) -> Result<Affine> {
        let (tuning, range) = (&self.auto.tuning, self.seen.range());
        match shape.warping {
            Warping::Saturating(tau) => {
                let headroom = match shape.headroom {
                    Headroom::Choice => tuning.choice_headroom_nats,
                    Headroom::Answer => headroom_nats(&self.ln_f(), tuning),
                };
                let floor = match shape.has_floor {
                    true => floor_nats(&self.ln_f(), self.dim(), tuning),
                    false => f64::MAX,
                };
                self.data
                    .warp_shared(Arc::new(Capped::new(tau, headroom, floor)?))
            }
            Warping::Given => range::warp_for(&self.auto.warp, range, self.data),
            Warping::Root => self.data.warp(Square::new(0.0)?),
        }
    }

    /// What fits a model of this shape.
    pub fn fitter(&self, shape: &Shape) -> Result<Fitter<'a>> {
        let (auto, tuning) = (self.auto, &self.auto.tuning);
        let nugget = match shape.warping {
            Warping::Root => tuning.square_nugget,
            _ => tuning.nugget,
        };
        let sparing = schedule::is_sparing(self.data.len(), self.dim(), tuning);
        Ok(Fitter {
            data: self.data,
            measure: self.seen.frame().measure(),
            warp: self.warp(shape)?,
            kernel: match shape.is_rough {
                true => auto.rough_kernel.clone(),
                false => auto.kernel.clone(),
            },
            matching: Matching::Moments,
            space: auto.space,
            confined: true,
            noise: self.seen.noise() + nugget,
            length_prior: Some(LengthPrior {
                median: tuning.length_median,
                sd: tuning.length_sd,
            }),
            quadratic_mean: shape.quadratic_mean,
            tolerance: sparing.then_some(tuning.sparing_tolerance),
            seed: self.seen.seed(),
        })
    }

    /// Condition on the data with hyperparameters as they are.
    pub fn condition(&self, shape: &Shape, theta: Theta) -> Result<Model> {
        self.fitter(shape)?.condition(theta)
    }

    /// Fit from where another model of the same data stands: its lengths, and g's own level and
    /// spread.
    ///
    /// A mean that falls off leaves other lengths to find, so such a model starts from everywhere.
    /// One that takes the data as exact keeps the other's theta: fitted, it extrapolates more
    /// boldly than what has been put to the test.
    pub fn fit_like(&self, shape: &Shape, other: &Model) -> Result<Model> {
        let (fitter, theta) = (self.fitter(shape)?, other.theta());
        if shape.quadratic_mean {
            return fitter.fit_all(theta.axes.clone());
        }
        if shape.is_exact {
            let tuning = &self.auto.tuning;
            let nugget = (tuning.exact_nugget * theta.output_scale).min(tuning.nugget);
            return fitter.condition(Theta {
                noise: self.seen.noise() + nugget,
                ..theta.clone()
            });
        }
        fitter.improve(&Theta {
            length_scales: theta.length_scales.clone(),
            effects: theta.effects,
            ..fitter.first_theta(theta.axes.clone())?
        })
    }
}

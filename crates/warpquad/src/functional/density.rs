//! Give the density f pi / Z that an ensemble believes in, up to pi.

use super::Nodes;
use crate::belief::{self, Ensemble, Model};
use crate::error::{Error, Result};
use crate::numeric::special::{ln_add_exp, ln_sum_exp};
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// Variance of g beyond which the mean of f says nothing: f is then unknown by a factor e, and the
/// mean of exp(g), exp(mu + s/2), follows the far tail of g.
const KNOWN_VARIANCE: f64 = 1.0;

/// The mean over the kinds of models of f / Z, each kind with its own Z.
///
/// This is the mean of the normalised posterior over draws of f, so draws from it and means of
/// expectations over draws of f agree, whether or not the models agree on Z.
pub(super) struct Density<'a> {
    /// For each kind its best model, ln of its weight, and ln of its Z.
    kinds: Vec<(&'a Model, f64, f64)>,
}

/// The density on the nodes that its Z is summed on.
pub(super) struct OnNodes {
    /// ln of f / Z, kind by kind, without the kinds' weights.
    pub by_kind: Vec<Vec<f64>>,
    /// ln of what f may well be, at one sd of g: see [`Belief::ln_reach`](crate::Belief::ln_reach).
    pub ln_reach: Vec<f64>,
}

impl<'a> Density<'a> {
    /// With every Z summed on these nodes; an error where f may be negative, or has no mass there.
    pub fn new(ensemble: &'a Ensemble, nodes: &Nodes) -> Result<(Density<'a>, OnNodes)> {
        let (mut kinds, mut by_kind) = (Vec::new(), Vec::new());
        let mut ln_reach = vec![f64::NEG_INFINITY; nodes.points.len()];
        for kind in ensemble.kinds() {
            let (model, ln_weight) = (&kind.fitted, kind.weight.ln());
            if model.warp().range().lo < 0.0 {
                return Err(negative());
            }
            let marginals = model.process().marginals(&nodes.points)?;
            for (sum, &at) in ln_reach.iter_mut().zip(&marginals) {
                *sum = ln_add_exp(*sum, ln_weight + belief::ln_reach(model.warp(), at, 1.0));
            }
            let mut ln_f: Vec<f64> = marginals.iter().map(|&at| ln_centre(model, at)).collect();
            let terms = ln_f.iter().zip(&nodes.ln_weights).map(|(f, w)| f + w);
            let ln_z = ln_sum_exp(&terms.collect::<Vec<f64>>());
            if ln_z.is_finite() {
                ln_f.iter_mut().for_each(|ln_f| *ln_f -= ln_z);
                kinds.push((model, ln_weight, ln_z));
                by_kind.push(ln_f);
            }
        }
        match kinds.is_empty() {
            true => Err(no_mass()),
            false => Ok((Density { kinds }, OnNodes { by_kind, ln_reach })),
        }
    }

    /// ln of the mean of f / Z over the kinds.
    pub fn mixed(&self, by_kind: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![f64::NEG_INFINITY; by_kind[0].len()];
        for (own, (_, ln_weight, _)) in by_kind.iter().zip(&self.kinds) {
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum = ln_add_exp(*sum, ln_weight + own);
            }
        }
        sum
    }

    /// ln of the mean of f / Z at the points.
    pub fn ln_density(&self, x: &Points) -> Result<Vec<f64>> {
        let of_kind = |(model, _, ln_z): &(&Model, f64, f64)| -> Result<Vec<f64>> {
            let marginals = model.process().marginals(x)?;
            let ln_f = marginals.iter().map(|&at| ln_centre(model, at) - ln_z);
            Ok(ln_f.collect())
        };
        let by_kind = self.kinds.iter().map(of_kind).collect::<Result<Vec<_>>>()?;
        Ok(self.mixed(&by_kind))
    }

    /// ln of the weighted mean of Z over the kinds: what turns f / Z into f.
    pub fn ln_z(&self) -> f64 {
        let terms = self
            .kinds
            .iter()
            .map(|(_, ln_weight, ln_z)| ln_weight + ln_z);
        ln_sum_exp(&terms.collect::<Vec<f64>>())
    }

    /// Whether a model is the best of its kind here; its place among the kinds.
    pub fn place(&self, model: &Model) -> Option<usize> {
        self.kinds
            .iter()
            .position(|(m, _, _)| std::ptr::eq(*m, model))
    }
}

/// Below this variance of g the mean of f is f at the mean of g, to six digits and more.
const NEGLIGIBLE_VARIANCE: f64 = 1e-6;

/// ln of a model's mean of f at a point, with the variance of g counted up to [`KNOWN_VARIANCE`].
fn ln_centre(model: &Model, Marginal { mu, s }: Marginal) -> f64 {
    let part = match s < NEGLIGIBLE_VARIANCE {
        true => model.value_at(mu, mu),
        false => model.mean_at(Marginal {
            mu,
            s: s.min(KNOWN_VARIANCE),
        }),
    };
    let (ln_unit, value) = whole(model.warp().offset(), part);
    ln_unit + value.max(0.0).ln()
}

/// The whole of f in a unit: an offset is of f's own size, never of an underflowing one.
pub(super) fn whole(offset: f64, (ln_unit, value): (f64, f64)) -> (f64, f64) {
    match offset {
        0.0 => (ln_unit, value),
        offset => (0.0, offset + ln_unit.exp() * value),
    }
}

fn negative() -> Error {
    let reason = "f may be negative under this method, so f times the prior is no density; say \
                  that f is positive (range), or take a method whose warp keeps it so";
    Error::spec("posterior", reason)
}

pub(super) fn no_mass() -> Error {
    let reason = "the belief has no mass on any node; observe where f > 0";
    Error::spec("posterior", reason)
}

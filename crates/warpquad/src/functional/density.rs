//! Give the density f pi / Z that an ensemble believes in, up to pi.

use super::Nodes;
use crate::belief::{self, Belief, Ensemble, Feasible, Model};
use crate::error::{Error, Result};
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_sum_exp};
use crate::points::Points;
use crate::warp::{Marginal, Warp};
use std::sync::Arc;

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
    /// Nodes carry it; a point that is moved to has to be asked.
    feasible: Option<&'a Feasible>,
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
            let (mut ln_f, reach) = ln_centres(model, &nodes.points, Some(&nodes.ln_weights))?;
            for (sum, own) in ln_reach.iter_mut().zip(reach) {
                *sum = ln_add_exp(*sum, ln_weight + own);
            }
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
            false => {
                let feasible = ensemble.feasible().map(Arc::as_ref);
                Ok((Density { kinds, feasible }, OnNodes { by_kind, ln_reach }))
            }
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
        let by_kind = (0..self.kinds.len()).map(|k| self.of_kind(k, x));
        Ok(self.mixed(&by_kind.collect::<Result<Vec<_>>>()?))
    }

    /// ln of f / Z under the kind at one place, at the points.
    pub fn of_kind(&self, place: usize, x: &Points) -> Result<Vec<f64>> {
        let (model, _, ln_z) = self.kinds[place];
        let (ln_f, _) = ln_centres(model, x, None)?;
        let chances = self.ln_chance(x);
        let pairs = ln_f.into_iter().zip(chances);
        Ok(pairs.map(|(ln_f, chance)| ln_f + chance - ln_z).collect())
    }

    /// ln of the probability that f is positive; 0 where nothing had to be learnt of it.
    pub fn ln_chance(&self, x: &Points) -> Vec<f64> {
        match self.feasible {
            Some(feasible) => feasible.ln_chance(x),
            None => vec![0.0; x.len()],
        }
    }

    /// The same with f at the mean of g in place of the mean of f, which takes no variance: cheap,
    /// and close to it where f is known.
    pub fn at_mean_of_g(&self, place: usize, x: &Points) -> Result<Vec<f64>> {
        let (model, _, ln_z) = self.kinds[place];
        let means = in_parts(x, |part| model.process().means(part))?;
        let ln_f = |mu: f64| {
            let (ln_unit, value) = whole(model.warp().offset(), model.value_at(mu, mu));
            ln_unit + value.max(0.0).ln() - ln_z
        };
        let pairs = means.into_iter().zip(self.ln_chance(x));
        Ok(pairs.map(|(mu, chance)| ln_f(mu) + chance).collect())
    }

    /// The place of a kind drawn by what each adds to the mean of f / Z at a node.
    pub fn draw_kind(&self, by_kind: &[Vec<f64>], node: usize, rng: &mut Rng) -> usize {
        let pairs = by_kind.iter().zip(&self.kinds);
        let terms: Vec<f64> = pairs.map(|(own, (_, w, _))| w + own[node]).collect();
        let total = ln_sum_exp(&terms);
        let mut left = rng.uniform();
        for (k, term) in terms.iter().enumerate() {
            left -= (term - total).exp();
            if left < 0.0 {
                return k;
            }
        }
        terms.len() - 1
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

/// Points this many nats below the heaviest add nothing: f at the mean of g is enough there.
const NEGLIGIBLE_NATS: f64 = 20.0;

/// ln of a model's mean of f at the points, with the variance of g counted up to
/// [`KNOWN_VARIANCE`]; and ln of what f may well be there, at one sd of g.
///
/// A mean takes a quadrature, so it is taken only where the points have mass.
fn ln_centres(
    model: &Model,
    x: &Points,
    ln_weights: Option<&[f64]>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let marginals = in_parts(x, |part| model.process().marginals(part))?;
    let reach = |at: &Marginal| belief::ln_reach(model.warp(), *at, 1.0);
    let reach: Vec<f64> = marginals.iter().map(reach).collect();
    let weight = |i: usize| ln_weights.map_or(0.0, |weights| weights[i]);
    let ln_mass = |i: usize| reach[i] + weight(i);
    let top = (0..x.len()).map(ln_mass).fold(f64::NEG_INFINITY, f64::max);
    let centre = |i: usize| {
        let Marginal { mu, s } = marginals[i];
        let light = ln_mass(i) < top - NEGLIGIBLE_NATS;
        let part = match light || s < NEGLIGIBLE_VARIANCE {
            true => model.value_at(mu, mu),
            false => model.mean_at(Marginal {
                mu,
                s: s.min(KNOWN_VARIANCE),
            }),
        };
        let (ln_unit, value) = whole(model.warp().offset(), part);
        ln_unit + value.max(0.0).ln()
    };
    Ok((parallel::map(x.len(), centre), reach))
}

/// Points that one thread takes at a time: a few blocks of a triangular solve.
const POINTS_AT_ONCE: usize = 512;

/// What `work` says of the points, on all threads.
fn in_parts<T: Send>(
    x: &Points,
    work: impl Fn(&Points) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let parts = parallel::map(x.len().div_ceil(POINTS_AT_ONCE), |k| {
        let from = k * POINTS_AT_ONCE;
        work(&x.slice(from, (from + POINTS_AT_ONCE).min(x.len())))
    });
    let mut out = Vec::with_capacity(x.len());
    for part in parts {
        out.extend(part?);
    }
    Ok(out)
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

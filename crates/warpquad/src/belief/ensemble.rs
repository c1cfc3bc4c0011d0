//! Hold several models of one f, with weights and with how much wider they are than they claim.

use super::{Anatomy, Belief, Feasible, Model, Moments};
use crate::error::Result;
use crate::numeric::linalg::Mat;
use crate::numeric::special::ln_add_exp;
use crate::points::Points;
use std::sync::Arc;

/// A model of an ensemble.
#[derive(Debug, Clone)]
pub struct Member {
    /// The model.
    pub model: Model,
    /// Its weight among the members of its kind; these sum to 1 at most.
    pub weight: f64,
    /// What it says about f is so many times as uncertain as it claims.
    pub widening: f64,
}

/// Members that differ in their hyperparameters only.
#[derive(Debug, Clone)]
pub struct Kind {
    /// The model with the best hyperparameters: it stands for all where one is enough.
    pub fitted: Model,
    /// The weights of all kinds sum to 1.
    pub weight: f64,
    /// The models that are drawn from; one at least.
    pub members: Vec<Member>,
}

/// Weighted models of one f: a belief like each of them.
///
/// Everything that is said about f comes from here: the law of Z, the posterior, predictions. A
/// published method is an ensemble of one.
///
/// # Moments
/// Those of the mixture: m = sum of w m_k, K = sum of w (v^2 K_k + (m_k - m)(m_k - m)'), where v
/// is how many times as wide as it claims a member is taken.
///
/// ```
/// use warpquad::{Belief, Ensemble, Matching, Model, Points, Process, Theta};
/// use warpquad::{kernel::Matern32, warp::{Affine, Identity}};
/// let model = |mean: f64| -> warpquad::Result<Model> {
///     let process = Process::new(Matern32, Theta::constant(mean, 1.0, vec![1.0])?);
///     let nothing = process.condition(&Points::empty(1)?, &[])?;
///     let warp = Affine::scaled(std::sync::Arc::new(Identity), 0.0)?;
///     Ok(Model::new(warp, nothing, Matching::Moments))
/// };
/// let both = Ensemble::weighted(vec![(model(0.0)?, 0.5), (model(4.0)?, 0.5)]);
/// let at = both.moments(&Points::from_rows(&[vec![0.0]])?)?;
/// assert!((at.means()[0] - 2.0).abs() < 1e-12 && (at.vars()[0] - 5.0).abs() < 1e-12);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ensemble {
    kinds: Vec<Kind>,
    widening: f64,
    feasible: Option<Arc<Feasible>>,
}

impl Ensemble {
    /// One model, taken as it is.
    pub fn one(model: Model) -> Ensemble {
        Ensemble::weighted(vec![(model, 1.0)])
    }

    /// Models with weights that sum to 1, each a kind of its own, taken as they are.
    pub fn weighted(models: Vec<(Model, f64)>) -> Ensemble {
        let kind = |(model, weight): (Model, f64)| Kind {
            members: vec![Member {
                model: model.clone(),
                weight: 1.0,
                widening: 1.0,
            }],
            fitted: model,
            weight,
        };
        Ensemble::of(models.into_iter().map(kind).collect())
    }

    /// Models of these kinds; one at least.
    pub fn of(kinds: Vec<Kind>) -> Ensemble {
        Ensemble {
            kinds,
            widening: 1.0,
            feasible: None,
        }
    }

    /// The same, of an f that is positive only where this says; everywhere without it.
    pub fn within(mut self, feasible: Option<Arc<Feasible>>) -> Ensemble {
        self.feasible = feasible;
        self
    }

    /// The same, with everything it says so many times as uncertain.
    pub fn widened(mut self, times: f64) -> Ensemble {
        self.widening *= times;
        self
    }

    /// How many times as uncertain as its members together say.
    pub fn widening(&self) -> f64 {
        self.widening
    }

    /// The kinds of models.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Every member with its kind and its share; the shares sum to 1.
    pub fn members(&self) -> impl Iterator<Item = (&Kind, &Member, f64)> {
        let of_kind =
            |kind: &Kind| kind.weight * kind.members.iter().map(|m| m.weight).sum::<f64>();
        let total: f64 = self.kinds.iter().map(of_kind).sum();
        self.kinds.iter().flat_map(move |kind| {
            let share = move |member: &Member| kind.weight * member.weight / total;
            kind.members.iter().map(move |m| (kind, m, share(m)))
        })
    }

    /// The best model of the heaviest kind.
    pub fn heaviest(&self) -> &Model {
        let mut heaviest = &self.kinds[0];
        for kind in &self.kinds {
            if kind.weight > heaviest.weight {
                heaviest = kind;
            }
        }
        &heaviest.fitted
    }

    /// Whether f is positive under every model, so that Z has a logarithm.
    pub fn is_positive(&self) -> bool {
        self.kinds.iter().all(|kind| kind.fitted.is_positive())
    }
}

/// What the members say at some points, in one unit a point.
struct Mixed {
    moments: Moments,
    /// For each member its share, its variance factor, and for each point its unit in the common
    /// one and the deviation of its mean from that of all.
    members: Vec<(f64, f64, Vec<f64>, Vec<f64>)>,
}

impl Ensemble {
    fn mixed(&self, x: &Points) -> Result<Mixed> {
        let mut each = Vec::new();
        for (_, member, share) in self.members() {
            let factor = (member.widening * self.widening).powi(2);
            each.push((share, factor, member.model.moments(x)?));
        }
        let n = x.len();
        let unit = |i: usize| {
            each.iter()
                .map(|(_, _, m)| m.ln_unit[i])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let ln_unit: Vec<f64> = (0..n).map(unit).collect();
        let offset = each[0].2.offset;
        let mut mean = vec![0.0; n];
        let mut members = Vec::with_capacity(each.len());
        for (share, factor, own) in &each {
            let units: Vec<f64> = (0..n)
                .map(|i| (own.ln_unit[i] - ln_unit[i]).exp())
                .collect();
            // Warps of one range share their offset, but for that of another constant.
            let moved = |i: usize| match own.offset - offset {
                0.0 => units[i] * own.mean[i],
                gap => units[i] * own.mean[i] + gap * (-ln_unit[i]).exp(),
            };
            let means: Vec<f64> = (0..n).map(moved).collect();
            mean.iter_mut()
                .zip(&means)
                .for_each(|(sum, m)| *sum += share * m);
            members.push((*share, *factor, units, means));
        }
        let mut var = vec![0.0; n];
        for ((share, factor, units, means), (_, _, own)) in members.iter_mut().zip(&each) {
            for i in 0..n {
                means[i] -= mean[i];
                let within = *factor * units[i] * units[i] * own.var[i];
                var[i] += *share * (within + means[i] * means[i]);
            }
        }
        let moments = Moments {
            offset,
            ln_unit,
            mean,
            var,
        };
        Ok(Mixed { moments, members })
    }
}

impl Belief for Ensemble {
    fn dim(&self) -> usize {
        self.kinds[0].fitted.dim()
    }

    fn moments(&self, x: &Points) -> Result<Moments> {
        let mut out = self.mixed(x)?.moments;
        if let Some(feasible) = &self.feasible {
            // f is a value with the probability c, and 0 otherwise.
            for (i, ln_c) in feasible.ln_chance(x).into_iter().enumerate() {
                let (c, mean) = (ln_c.exp(), out.mean[i]);
                out.mean[i] = c * mean;
                out.var[i] = c * out.var[i] + c * (1.0 - c) * mean * mean;
            }
        }
        Ok(out)
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<Mat> {
        let (left, right) = (self.mixed(x)?.members, self.mixed(y)?.members);
        let mut out = Mat::zeros(x.len(), y.len());
        for (((_, member, share), left), right) in self.members().zip(left).zip(right) {
            let own = member.model.cov(x, y)?;
            for j in 0..y.len() {
                for i in 0..x.len() {
                    let within = left.1 * left.2[i] * right.2[j] * own[(i, j)];
                    out[(i, j)] += share * (within + left.3[i] * right.3[j]);
                }
            }
        }
        Ok(out)
    }

    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        if let Some(only) = self.only() {
            let (ln_var, gradient) = only.ln_var_gradient(x)?;
            return Ok((ln_var + 2.0 * self.widening.ln(), gradient));
        }
        // The variance between models has no gradient of its own: a central difference.
        let at = |x: &[f64]| -> Result<f64> {
            let point = Points::new(x.len(), x.to_vec())?;
            let m = self.moments(&point)?;
            Ok(2.0 * m.ln_unit[0] + m.var[0].ln())
        };
        let mut gradient = Vec::with_capacity(x.len());
        let lengths = self.heaviest().theta().coordinate_lengths();
        for (j, length) in lengths.iter().enumerate() {
            let h = 1e-5 * length;
            let (mut up, mut down) = (x.to_vec(), x.to_vec());
            (up[j], down[j]) = (x[j] + h, x[j] - h);
            gradient.push((at(&up)? - at(&down)?) / (2.0 * h));
        }
        Ok((at(x)?, gradient))
    }

    fn feasible(&self) -> Option<&Arc<Feasible>> {
        self.feasible.as_ref()
    }

    fn anatomy(&self) -> Option<Anatomy<'_>> {
        self.only().filter(|_| self.widening == 1.0)?.anatomy()
    }

    fn guide(&self) -> Option<Anatomy<'_>> {
        self.heaviest().anatomy()
    }

    fn ln_reach(&self, x: &Points, u: f64) -> Result<Vec<f64>> {
        let mut sum = vec![f64::NEG_INFINITY; x.len()];
        for kind in &self.kinds {
            let own = kind.fitted.ln_reach(x, u)?;
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum = ln_add_exp(*sum, kind.weight.ln() + own);
            }
        }
        Ok(sum)
    }
}

impl Ensemble {
    /// The model of an ensemble of one that claims what its model claims.
    fn only(&self) -> Option<&Model> {
        match &self.kinds[..] {
            [Kind { members, .. }] => match &members[..] {
                [member] if member.widening == 1.0 => Some(&member.model),
                _ => None,
            },
            _ => None,
        }
    }
}

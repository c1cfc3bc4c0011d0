//! Draw the law of Z: g jointly on the nodes that matter, pushed through xi and summed.
//!
//! Unlike the normal law of the matched belief, it is never negative for a positive f and its
//! quantiles suffer no log-normal tail.

use super::estimate::in_unit;
use super::replicates::{error_between, standard_error};
use super::surface::{Surface, Terms};
use super::{Estimate, Follower, Nodes, Tilt, cubature};
use crate::belief::{Belief, Ensemble, Kind, Member, Model, ln_sizes};
use crate::error::{Error, Result};
use crate::measure::Measure;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_sum_exp, normal_quantile};
use crate::numeric::stream::{Stream, Streams};
use crate::points::Points;

/// Equally likely quantiles that stand for a law with a formula.
const QUANTILES: usize = 999;

/// A law of ln Z that is narrower than this part of it is rounding.
const ROUNDING: f64 = 1e3 * f64::EPSILON;

/// Draws of Z.
#[derive(Debug, Clone)]
pub struct Law {
    /// Sorted ln Z for a positive f; sorted Z in the unit otherwise.
    samples: Vec<f64>,
    /// `None` if the samples are logarithms.
    ln_unit: Option<f64>,
}

impl Law {
    /// The normal law of an estimate, as its equally likely quantiles: what a linearised belief,
    /// which is Gaussian, says of Z.
    pub fn normal(estimate: &Estimate) -> Law {
        let offset = in_unit(estimate.offset, estimate.ln_unit);
        let at = |k: usize| normal_quantile((k as f64 + 0.5) / QUANTILES as f64);
        let (mean, sd) = (offset + estimate.mean, estimate.var.sqrt());
        Law {
            samples: (0..QUANTILES).map(|k| mean + sd * at(k)).collect(),
            ln_unit: Some(estimate.ln_unit),
        }
    }

    /// The law whose logarithm is normal, as its equally likely quantiles: what a Monte Carlo
    /// estimate of ln Z says of a positive Z.
    ///
    /// ```
    /// use warpquad::functional::Law;
    /// let z = Law::log_normal(-9000.0, 0.1);
    /// assert_eq!(z.ln_quantile(0.5), -9000.0);
    /// assert!((z.ln_sd() - 0.1).abs() < 1e-3);
    /// ```
    pub fn log_normal(ln_z: f64, ln_sd: f64) -> Law {
        let at = |k: usize| ln_z + ln_sd * normal_quantile((k as f64 + 0.5) / QUANTILES as f64);
        Law {
            samples: (0..QUANTILES).map(at).collect(),
            ln_unit: None,
        }
    }

    /// The law of these draws: of ln Z, or of Z in a unit.
    pub(crate) fn of_draws(mut samples: Vec<f64>, ln_unit: Option<f64>) -> Law {
        samples.sort_by(f64::total_cmp);
        Law { samples, ln_unit }
    }

    /// The same law, so many times as wide about its median: in ln Z for a positive f, which keeps
    /// Z positive.
    pub(crate) fn widened(mut self, times: f64) -> Law {
        let middle = self.sample_quantile(0.5);
        let wider = |x: &mut f64| *x = middle + times * (*x - middle);
        self.samples.iter_mut().for_each(wider);
        self
    }

    /// Half of the central 95 % of ln Z; NaN where Z may be negative.
    pub(crate) fn ln_half_width(&self) -> f64 {
        0.5 * (self.ln_quantile(0.975) - self.ln_quantile(0.025))
    }

    /// Whether the central 95 % of ln Z reach less far than so many nats; not where Z is 0 or may
    /// be negative.
    pub(crate) fn is_narrower(&self, nats: f64) -> bool {
        self.ln_half_width() < nats && self.ln_quantile(0.5).is_finite()
    }

    /// The same law where its central 95 % of ln Z reach so many nats to each side, widened until
    /// they do elsewhere. One whose width is rounding becomes normal in ln Z.
    pub(crate) fn reaching(self, nats: f64) -> Law {
        if !self.is_narrower(nats) {
            return self;
        }
        let (half, middle) = (self.ln_half_width(), self.ln_quantile(0.5));
        match half > ROUNDING * middle.abs() {
            true => self.widened(nats / half),
            false => Law::log_normal(middle, nats / normal_quantile(0.975)),
        }
    }

    /// The same draws moved by so much: in ln Z where they are of ln Z, in the law's unit
    /// otherwise.
    pub(crate) fn shifted(mut self, by: f64) -> Law {
        self.samples.iter_mut().for_each(|x| *x += by);
        self
    }

    /// The law of Z times a factor that is independent of it: each draw of ln Z with a draw of ln
    /// of the factor. A law of a Z that may be negative stays as it is.
    pub(crate) fn times(mut self, ln_factors: &[f64], rng: &mut Rng) -> Law {
        if self.ln_unit.is_none() && !ln_factors.is_empty() {
            let mut order: Vec<usize> = (0..self.samples.len()).collect();
            rng.shuffle(&mut order);
            for (place, &i) in order.iter().enumerate() {
                self.samples[i] += ln_factors[place % ln_factors.len()];
            }
            self.samples.sort_by(f64::total_cmp);
        }
        self
    }

    /// Draws of ln Z of several laws, each in an order of its own: what is drawn together is
    /// independent. They are as many as the law with the most draws has.
    pub(crate) fn together(laws: &[Law], rng: &mut Rng) -> Vec<Vec<f64>> {
        let most = laws.iter().map(Law::len).max().unwrap_or(0);
        let mut one = |law: &Law| -> Vec<f64> {
            let mut order: Vec<usize> = (0..most).collect();
            rng.shuffle(&mut order);
            let all = order.into_iter();
            all.map(|i| law.samples[i * law.len() / most]).collect()
        };
        laws.iter().map(&mut one).collect()
    }

    /// The law of the sum of positive numbers that are independent of each other.
    ///
    /// Draws are paired at random.
    pub(crate) fn sum(laws: &[Law], rng: &mut Rng) -> Law {
        let draws = Law::together(laws, rng);
        let count = draws.first().map_or(0, Vec::len);
        let one = |i: usize| {
            let terms: Vec<f64> = draws.iter().map(|of| of[i]).collect();
            ln_sum_exp(&terms)
        };
        Law::of_draws((0..count).map(one).collect(), None)
    }

    /// The draws' mean and variance as an estimate, on nodes with that relative error.
    pub(crate) fn estimate(&self, relative_node_error: f64) -> Estimate {
        let (ln_unit, mean, var) = self.moments();
        Estimate {
            offset: 0.0,
            ln_unit,
            mean,
            var,
            node_error: relative_node_error * mean.abs(),
            closed_form: false,
        }
    }

    /// Mean and variance of the draws, in a unit that is returned with them.
    fn moments(&self) -> (f64, f64, f64) {
        let (ln_unit, values): (f64, Vec<f64>) = match self.ln_unit {
            Some(ln_unit) => (ln_unit, self.samples.clone()),
            None => {
                // In units of the mean no draw exceeds their number; in units of the median a wide
                // law overflows.
                let ln_unit = self.ln_mean();
                (
                    ln_unit,
                    self.samples.iter().map(|x| (x - ln_unit).exp()).collect(),
                )
            }
        };
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let var = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        (ln_unit, mean, var)
    }

    /// The quantile of Z itself; it may underflow.
    pub fn quantile(&self, p: f64) -> f64 {
        let x = self.sample_quantile(p);
        match self.ln_unit {
            None => x.exp(),
            Some(ln_unit) => x * ln_unit.exp(),
        }
    }

    /// The quantile of ln Z; NaN where Z is negative.
    pub fn ln_quantile(&self, p: f64) -> f64 {
        let x = self.sample_quantile(p);
        match self.ln_unit {
            None => x,
            Some(ln_unit) => ln_unit + x.ln(),
        }
    }

    /// The standard deviation of ln Z, from the central 68 % so that no tail can spoil it.
    pub fn ln_sd(&self) -> f64 {
        0.5 * (self.ln_quantile(0.841_344_746_068_543) - self.ln_quantile(0.158_655_253_931_457))
    }

    /// ln of the mean over the draws; NaN if it is negative.
    pub fn ln_mean(&self) -> f64 {
        let n = self.samples.len() as f64;
        match self.ln_unit {
            None => ln_sum_exp(&self.samples) - n.ln(),
            Some(ln_unit) => ln_unit + (self.samples.iter().sum::<f64>() / n).ln(),
        }
    }

    /// The number of draws.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    fn sample_quantile(&self, p: f64) -> f64 {
        sorted_quantile(&self.samples, p)
    }
}

/// Linear interpolation between order statistics.
pub(super) fn sorted_quantile(samples: &[f64], p: f64) -> f64 {
    let last = samples.len() - 1;
    let at = p.clamp(0.0, 1.0) * last as f64;
    let i = (at as usize).min(last);
    let (low, high) = (samples[i], samples[(i + 1).min(last)]);
    // Equal infinities must not make a NaN.
    if low == high {
        low
    } else {
        low + (at - i as f64) * (high - low)
    }
}

/// How the law of Z is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawing {
    /// Draws of Z. With 1000 its 2.5 % quantile is known to about a sixth of the sd.
    pub draws: usize,
    /// Nodes that are drawn jointly: their covariance is factored, in O(n^3).
    pub joint_nodes: usize,
    /// Nodes that carry the integral.
    pub nodes: usize,
    /// Nodes follow what f reaches at so many sd of g: between the median of Z and its 97.5 %
    /// quantile.
    pub reach_sd: f64,
    /// Boxes replace the nodes where their relative error is smaller.
    pub box_error: f64,
    /// Nodes that are kept beside boxes, to draw from.
    pub nodes_beside_boxes: usize,
    /// More nodes are taken where their error is a larger part of the sd of ln Z ...
    pub fine_nodes_part: f64,
    /// ... and so many times as many; 1 for none.
    pub fine_nodes_factor: usize,
    /// From so many observations on, the members of a kind share the surface of its best model:
    /// what all nodes put right for that is put right for theirs.
    pub shared_surface_from: usize,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            draws: 1000,
            joint_nodes: 700,
            nodes: 16_384,
            reach_sd: 1.5,
            box_error: 1e-4,
            nodes_beside_boxes: 4096,
            fine_nodes_part: 0.1,
            fine_nodes_factor: 8,
            shared_surface_from: 200,
        }
    }
}

/// The law of Z, and the standard error of its nodes as a part of Z.
#[derive(Debug, Clone)]
pub struct DrawnLaw {
    /// The law.
    pub law: Law,
    /// The relative standard error of the nodes.
    pub node_error: f64,
}

impl DrawnLaw {
    /// The mean and variance of the draws, with the error of the nodes.
    pub fn estimate(&self) -> Estimate {
        self.law.estimate(self.node_error)
    }
}

/// The law of Z on given nodes: `draws` of them.
///
/// ```
/// use warpquad::functional::{Nodes, law};
/// use warpquad::measure::Product;
/// use warpquad::numeric::random::Rng;
/// use warpquad::{Ensemble, Matching, Model, Points, Process, Theta};
/// use warpquad::{kernel::Matern32, warp::{Affine, Log}};
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.3])?);
/// let posterior = process.condition(&Points::from_rows(&[vec![0.2]])?, &[1.0])?;
/// let warp = Affine::scaled(std::sync::Arc::new(Log), -9000.0)?;
/// let belief = Ensemble::one(Model::new(warp, posterior, Matching::Moments));
/// let nodes = Nodes::sobol(&Product::uniform(&[(0.0, 1.0)])?, 512, 0)?;
/// let z = law(&belief, &nodes, 200, &Rng::new(1))?;
/// assert!(z.ln_quantile(0.1) < z.ln_quantile(0.9));
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn law(ensemble: &Ensemble, nodes: &Nodes, draws: usize, rng: &Rng) -> Result<Law> {
    let how = Drawing {
        draws,
        ..Drawing::default()
    };
    let on = Carried {
        nodes: nodes.clone(),
        boxes: None,
    };
    Ok(on.law(ensemble, &how, rng)?.0)
}

/// The law of Z on nodes that follow the ensemble, more of them where their error matters.
pub fn law_of_z(
    ensemble: &Ensemble,
    measure: &dyn Measure,
    how: &Drawing,
    streams: Streams,
) -> Result<DrawnLaw> {
    let reach = |x: &Points| ensemble.ln_reach(x, how.reach_sd);
    let seed = streams.rng(Stream::Nodes).next_u64();
    let follower = Follower::new(measure, ensemble, &reach, how.nodes, seed)?;
    let mut on = Carried {
        nodes: follower.nodes(how.nodes, follower.seed)?,
        boxes: None,
    };
    // Boxes find many digits of a smooth surface, and an edge is none.
    if ensemble.is_positive() && ensemble.feasible().is_none() {
        on.boxes = boxes(ensemble, measure, &on.nodes, how.box_error)?;
    }
    if on.boxes.is_some() {
        on.nodes = on.nodes.at_most(how.nodes_beside_boxes);
    }
    law_on(&on, ensemble, how, streams, &|n, seed| {
        follower.nodes(n, seed)
    })
}

/// The law of the integral of f r, on nodes that follow f r: Z under another density.
pub(crate) fn law_of_tilted(
    ensemble: &Ensemble,
    tilt: Tilt<'_>,
    how: &Drawing,
    streams: Streams,
) -> Result<DrawnLaw> {
    let reach = |x: &Points| tilt.reach(ensemble, how.reach_sd, x);
    let seed = streams.rng(Stream::Nodes).next_u64();
    let follower = Follower::new(tilt.measure, ensemble, &reach, how.nodes, seed)?;
    let nodes = |n: usize, seed: u64| Ok(tilt.weighted(follower.nodes(n, seed)?));
    let on = Carried {
        nodes: nodes(how.nodes, follower.seed)?,
        boxes: None,
    };
    if on.nodes.ln_weights.iter().all(|w| *w == f64::NEG_INFINITY) {
        let reason = "the other prior has no mass where the run's own prior has some: f is not known \
                      there; start a new run";
        return Err(Error::spec("prior", reason));
    }
    law_on(&on, ensemble, how, streams, &nodes)
}

/// The law of Z on these nodes, put right on more of them where their error matters.
fn law_on(
    on: &Carried,
    ensemble: &Ensemble,
    how: &Drawing,
    streams: Streams,
    more: &dyn Fn(usize, u64) -> Result<Nodes>,
) -> Result<DrawnLaw> {
    let (law, parts, ln_unit) = on.law(ensemble, how, &streams.rng(Stream::Law))?;
    let error = match &on.boxes {
        Some((_, error)) => *error,
        None => standard_error(&parts),
    };
    let enough = error <= how.fine_nodes_part * law.ln_sd();
    if on.boxes.is_some() || how.fine_nodes_factor == 1 || enough {
        return Ok(DrawnLaw {
            law,
            node_error: error,
        });
    }
    // All models share the nodes, and where Z is known that well their surfaces differ little: what
    // is put right for one is put right for all, as with a control variate.
    let model = ensemble.heaviest();
    let terms = Terms { model, ln_unit };
    let coarse = terms.replicates_of_median(&on.nodes)?;
    let seed = streams.rng(Stream::FineNodes).next_u64();
    let many = more(how.fine_nodes_factor * how.nodes, seed)?;
    let fine = terms.replicates_of_median(&many)?;
    Ok(DrawnLaw {
        law: law.shifted(fine.mean() - coarse.mean()),
        node_error: standard_error(&fine.parts()).hypot(error_between(&parts, &coarse.parts())),
    })
}

/// Nodes that integrate the surfaces of the medians to many digits, where there are such, and
/// their relative error.
fn boxes(
    ensemble: &Ensemble,
    measure: &dyn Measure,
    nodes: &Nodes,
    target: f64,
) -> Result<Option<(Nodes, f64)>> {
    let ln_f = |x: &Points| {
        let mut sum = vec![f64::NEG_INFINITY; x.len()];
        for kind in ensemble.kinds() {
            let sizes = ln_sizes(kind.fitted.warp(), &kind.fitted.process().means(x)?);
            for (sum, size) in sum.iter_mut().zip(sizes) {
                *sum = ln_add_exp(*sum, kind.weight.ln() + size);
            }
        }
        Ok(sum)
    };
    let pairs = ln_f(&nodes.points)?.into_iter().zip(&nodes.ln_weights);
    let ln_mass: Vec<f64> = pairs.map(|(f, w)| f + w).collect();
    cubature(measure, (&nodes.points, &ln_mass), &ln_f, target)
}

/// The nodes that carry an integral, and boxes with their relative error where there are such.
struct Carried {
    nodes: Nodes,
    boxes: Option<(Nodes, f64)>,
}

impl Carried {
    /// Draws of Z, each member's share of them; what each replicate of the nodes says of the
    /// average surface, in parts of what all say; and ln of the unit of Z, where it has one.
    fn law(
        &self,
        ensemble: &Ensemble,
        how: &Drawing,
        rng: &Rng,
    ) -> Result<(Law, Vec<f64>, Option<f64>)> {
        let reach = ensemble.ln_reach(&self.nodes.points, how.reach_sd)?;
        let positive = ensemble.is_positive();
        let ln_unit = (!positive).then(|| ln_sum_exp(&reach) - (reach.len() as f64).ln());
        let boxes = self.boxes.as_ref().map(|(boxes, _)| boxes);
        let observations = ensemble.heaviest().process().points().len();
        let shared = observations >= how.shared_surface_from;
        let shares: Vec<f64> = ensemble.members().map(|(_, _, share)| share).collect();
        let mut parts = vec![0.0; self.nodes.replicates];
        let (mut samples, mut passed, mut i) = (Vec::with_capacity(how.draws), 0.0, 0);
        for kind in ensemble.kinds() {
            for (base, members) in by_surface(kind, shared) {
                let terms = Terms {
                    model: base,
                    ln_unit,
                };
                let surface = Surface::new(terms, &self.nodes, boxes, &reach, how.joint_nodes)?;
                for member in members {
                    passed += shares[i];
                    let until = (how.draws as f64 * passed).round() as usize;
                    let count = until.saturating_sub(samples.len());
                    let own = &mut rng.child(i as u64);
                    samples.extend(surface.draws(&member.model, member.widening, count, own)?);
                    let pairs = parts.iter_mut().zip(&surface.parts);
                    pairs.for_each(|(sum, part)| *sum += shares[i] * part);
                    i += 1;
                }
            }
        }
        let law = Law::of_draws(samples, ln_unit).widened(ensemble.widening());
        Ok((law, parts, ln_unit))
    }
}

/// Members, each group with the model whose surface is summed on all nodes for it: the best one
/// for all, or each its own.
fn by_surface(kind: &Kind, shared: bool) -> Vec<(&Model, &[Member])> {
    match shared {
        true => vec![(&kind.fitted, &kind.members)],
        false => kind
            .members
            .chunks(1)
            .map(|one| (&one[0].model, one))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_law_keeps_its_median_and_its_moments_are_finite() {
        let law = Law::log_normal(-9000.0, 0.5);
        let wide = law.clone().widened(4000.0);
        assert_eq!(wide.ln_quantile(0.5), -9000.0);
        assert!((wide.ln_sd() / law.ln_sd() - 4000.0).abs() < 1e-6);
        let estimate = wide.estimate(1e-3);
        assert!(estimate.mean.is_finite() && estimate.var.is_finite());
        assert!((estimate.relative_node_error() - 1e-3).abs() < 1e-12);
    }

    #[test]
    fn a_sum_has_the_mean_and_the_variance_of_its_parts() {
        let laws = [Law::log_normal(-9000.0, 0.3), Law::log_normal(-9001.0, 0.2)];
        let sum = Law::sum(&laws, &mut Rng::new(1));
        let moments = |law: &Law| {
            let (ln_unit, mean, var) = law.moments();
            let unit = (ln_unit + 9000.0).exp();
            (unit * mean, unit * unit * var)
        };
        let [a, b] = laws.each_ref().map(moments);
        let (mean, var) = moments(&sum);
        assert!((mean - a.0 - b.0).abs() < 1e-12);
        assert!((var / (a.1 + b.1) - 1.0).abs() < 0.1, "{var}");
        assert_eq!(
            Law::sum(&laws[..1], &mut Rng::new(1)).samples,
            laws[0].samples
        );
    }

    #[test]
    fn a_narrow_law_reaches_as_far_as_it_is_told() {
        for ln_sd in [0.01, 1e-9, 0.0] {
            let law = Law::log_normal(-1e10, ln_sd).reaching(0.12);
            assert_eq!(law.ln_quantile(0.5), -1e10);
            // Numbers of this size are 2e-6 apart.
            let (low, high) = (law.ln_quantile(0.025), law.ln_quantile(0.975));
            assert!((low + 1e10 + 0.12).abs() < 1e-3, "{ln_sd} {low}");
            assert!((high + 1e10 - 0.12).abs() < 1e-3, "{ln_sd} {high}");
        }
        let wide = Law::log_normal(2.0, 0.1);
        assert_eq!(wide.ln_sd(), wide.clone().reaching(0.12).ln_sd());
    }
}

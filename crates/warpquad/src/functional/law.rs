//! Draw the law of Z: g jointly on the nodes that matter, pushed through xi and summed.
//!
//! Unlike the normal law of the matched belief, it is never negative for a positive f and its
//! quantiles suffer no log-normal tail.

use super::estimate::in_unit;
use super::{Estimate, Nodes};
use crate::belief::{Belief, PosteriorProcess, not_positive_definite};
use crate::error::Result;
use crate::numeric::linalg::{self, Cholesky, Mat, dot};
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_sum_exp, normal_quantile};
use crate::numeric::vmath;
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// Nodes drawn jointly at most: the covariance is factored, in O(n^3).
const JOINT_NODES: usize = 700;

/// Equally likely quantiles that stand for a law with a formula.
const QUANTILES: usize = 999;

/// Draws of Z.
#[derive(Debug, Clone)]
pub struct Law {
    /// Sorted ln Z for a positive f; sorted Z in the unit otherwise.
    samples: Vec<f64>,
    /// `None` if the samples are logarithms.
    ln_unit: Option<f64>,
}

impl Law {
    /// The normal law of an estimate, as its equally likely quantiles: what a linearised belief, which
    /// is Gaussian, says of Z.
    pub fn normal(estimate: &Estimate) -> Law {
        let offset = in_unit(estimate.offset, estimate.ln_unit);
        let at = |k: usize| normal_quantile((k as f64 + 0.5) / QUANTILES as f64);
        let (mean, sd) = (offset + estimate.mean, estimate.var.sqrt());
        Law {
            samples: (0..QUANTILES).map(|k| mean + sd * at(k)).collect(),
            ln_unit: Some(estimate.ln_unit),
        }
    }

    /// The law whose logarithm is normal, as its equally likely quantiles: what a Monte Carlo estimate of ln Z
    /// says of a positive Z.
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

    /// The same law, so many times as wide about its median: in ln Z for a positive f, which keeps Z positive.
    pub(crate) fn widened(mut self, times: f64) -> Law {
        let middle = self.sample_quantile(0.5);
        let wider = |x: &mut f64| *x = middle + times * (*x - middle);
        self.samples.iter_mut().for_each(wider);
        self
    }

    /// The same draws moved by so much: in ln Z where they are of ln Z, in the law's unit otherwise.
    pub(crate) fn shifted(mut self, by: f64) -> Law {
        self.samples.iter_mut().for_each(|x| *x += by);
        self
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
                // In units of the mean no draw exceeds their number; in units of the median a wide law overflows.
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

/// Draw Z = integral of xi(g) on the nodes, `draws` times.
///
/// The nodes that matter are drawn jointly; the rest of the integral follows in proportion (for a
/// signed f: is added as its mean), so the law is centred on what all nodes say.
pub fn law(
    warp: &dyn Warp,
    posterior: &PosteriorProcess,
    nodes: &Nodes,
    draws: usize,
    rng: &mut Rng,
) -> Result<Law> {
    let marginals = posterior.marginals(&nodes.points)?;
    let ln_means: Vec<f64> = marginals.iter().map(|&at| ln_abs_mean(warp, at)).collect();
    // What a node can add to Z: its mean or its sd, whichever is larger.
    let reach: Vec<f64> = (0..ln_means.len())
        .map(|i| nodes.ln_weights[i] + ln_means[i].max(0.5 * warp.ln_var(marginals[i]).value))
        .collect();
    let chosen = choose(&reach);
    let points = nodes.points.select(&chosen);
    let mu: Vec<f64> = chosen.iter().map(|&i| marginals[i].mu).collect();
    let (g, added) = draw(posterior, &points, &mu, draws.max(1), rng)?;
    let positive = warp.range().lo >= 0.0 && warp.offset() == 0.0;
    if positive {
        let terms = |pairs: &mut dyn Iterator<Item = (usize, f64)>| {
            ln_sum_exp(
                &pairs
                    .map(|(i, m)| nodes.ln_weights[i] + m)
                    .collect::<Vec<f64>>(),
            )
        };
        let all = terms(&mut ln_means.iter().copied().enumerate());
        // What the drawn nodes add on average, by the very law they are drawn from.
        let widened = |i: usize| Marginal {
            mu: marginals[i].mu,
            s: marginals[i].s + added,
        };
        let part = terms(&mut chosen.iter().map(|&i| (i, ln_abs_mean(warp, widened(i)))));
        let ln_weights: Vec<f64> = chosen.iter().map(|&i| nodes.ln_weights[i]).collect();
        let mut samples: Vec<f64> = (0..g.cols())
            .map(|k| ln_weighted_sum(warp, &ln_weights, g.col(k)) + all - part)
            .collect();
        samples.sort_by(f64::total_cmp);
        return Ok(Law {
            samples,
            ln_unit: None,
        });
    }
    Ok(signed(warp, nodes, &chosen, &marginals, &g))
}

/// ln of the sum of exp(ln_weight) xi(g), for a positive xi.
pub(crate) fn ln_weighted_sum(warp: &dyn Warp, ln_weights: &[f64], g: &[f64]) -> f64 {
    let (mut ln_units, mut values) = (g.to_vec(), vec![0.0; g.len()]);
    warp.locals(&mut ln_units, &mut values);
    ln_units
        .iter_mut()
        .zip(ln_weights)
        .for_each(|(u, w)| *u += w);
    let top = ln_units.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ln_units.iter_mut().for_each(|u| *u -= top);
    vmath::exp(&mut ln_units);
    top + dot(&ln_units, &values).ln()
}

/// The same for an f of either sign, in the unit of the largest term.
fn signed(
    warp: &dyn Warp,
    nodes: &Nodes,
    chosen: &[usize],
    marginals: &[Marginal],
    g: &Mat,
) -> Law {
    let means: Vec<_> = marginals.iter().map(|&at| warp.mean(at)).collect();
    let ln_units = means
        .iter()
        .zip(&nodes.ln_weights)
        .map(|(m, w)| m.ln_unit + w);
    let ln_unit = ln_units.fold(f64::NEG_INFINITY, f64::max);
    let offset = in_unit(warp.offset(), ln_unit);
    let term = |i: usize, ln: f64, value: f64| (nodes.ln_weights[i] + ln - ln_unit).exp() * value;
    let mean: f64 = (0..means.len())
        .map(|i| term(i, means[i].ln_unit, means[i].value))
        .sum();
    let part: f64 = chosen
        .iter()
        .map(|&i| term(i, means[i].ln_unit, means[i].value))
        .sum();
    let mut samples: Vec<f64> = (0..g.cols())
        .map(|k| {
            let pairs = chosen.iter().zip(g.col(k));
            let drawn: f64 = pairs
                .map(|(&i, &g)| {
                    let local = warp.local(g);
                    term(i, local.ln_unit, local.value)
                })
                .sum();
            offset + mean - part + drawn
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    Law {
        samples,
        ln_unit: Some(ln_unit),
    }
}

fn ln_abs_mean(warp: &dyn Warp, at: Marginal) -> f64 {
    let mean = warp.mean(at);
    mean.ln_unit + mean.value.abs().ln()
}

/// Whole replicates up to the limit if all nodes matter alike; otherwise the heaviest of all nodes.
pub(super) fn choose(reach: &[f64]) -> Vec<usize> {
    let n = reach.len();
    let top = reach.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Nodes 20 nats below the heaviest add less than 1e-5 of it even if there are thousands.
    let mut heavy: Vec<usize> = (0..n).filter(|&i| reach[i] > top - 20.0).collect();
    if heavy.len() > JOINT_NODES {
        heavy.sort_by(|&a, &b| reach[b].total_cmp(&reach[a]));
        let carried = ln_sum_exp(
            &heavy[..JOINT_NODES]
                .iter()
                .map(|&i| reach[i])
                .collect::<Vec<_>>(),
        );
        let all = ln_sum_exp(&heavy.iter().map(|&i| reach[i]).collect::<Vec<_>>());
        if carried > all - 0.02 {
            heavy.truncate(JOINT_NODES);
        } else {
            let stride = heavy.len().div_ceil(JOINT_NODES);
            heavy.sort_unstable();
            heavy = heavy.into_iter().step_by(stride).collect();
        }
        heavy.sort_unstable();
    }
    heavy
}

/// Factor Sigma_D with as little added to its diagonal as makes it positive definite; say how much.
///
/// Sigma_D is a difference of numbers of the prior's size, so its rounding, not its own size, is
/// what the diagonal has to outweigh; the solves behind it can magnify that rounding by the
/// condition of the data's matrix. What is added widens the law a little, and never narrows it.
fn factor_for_draws(sigma: &Mat, output_scale: f64) -> Option<(Cholesky, f64)> {
    let n = sigma.rows();
    let rounding = n as f64 * f64::EPSILON * output_scale;
    (0..9).find_map(|power| {
        let added = rounding * 10.0_f64.powi(power);
        let mut widened = sigma.clone();
        for i in 0..n {
            widened[(i, i)] += added;
        }
        Some((Cholesky::new(widened)?, added))
    })
}

/// Joint draws of g at points with these means, a column a draw, and the variance added to each.
pub(crate) fn draw(
    posterior: &PosteriorProcess,
    points: &Points,
    mu: &[f64],
    draws: usize,
    rng: &mut Rng,
) -> Result<(Mat, f64)> {
    let sigma = posterior.cov_lower(points)?;
    let scale = posterior.process().theta().output_scale;
    let (factor, added) = factor_for_draws(&sigma, scale).ok_or_else(not_positive_definite)?;
    let n = mu.len();
    let lower = Mat::from_fn(
        n,
        n,
        |i, j| if i >= j { factor.lower()[(i, j)] } else { 0.0 },
    );
    let mut z = Mat::zeros(n, draws);
    for k in 0..draws {
        rng.fill_normal(z.col_mut(k));
    }
    let mut g = linalg::mul(&lower, &z);
    for k in 0..draws {
        for (g, mu) in g.col_mut(k).iter_mut().zip(mu) {
            *g += mu;
        }
    }
    Ok((g, added))
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
}

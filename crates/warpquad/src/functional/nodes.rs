//! Place nodes: Sobol' points through the quantile map, or a mixture that follows the belief.

use crate::belief::{Belief, Link, Posterior};
use crate::error::{Error, Result, Step};
use crate::measure::{Form, Measure};
use crate::numeric::sobol::{MAX_DIM, Sobol};
use crate::numeric::special::{ln_add_exp, ln_sum_exp, normal_quantile};
use crate::points::Points;

/// Independent randomisations a rule is split into; their spread is the node error.
const REPLICATES: usize = 8;

/// Widths of the importance mixture, in units of half a length scale (METHOD section 5).
const WIDTHS: [f64; 3] = [1.0, 0.3, 0.1];

/// Weighted points: the integral of f against the measure is about sum of exp(ln_weights) f(points).
///
/// The points come in `replicates` runs of equal length, each an independent randomisation of the
/// same rule, so that the spread over runs estimates the error of the rule.
#[derive(Debug, Clone)]
pub struct Nodes {
    /// Where.
    pub points: Points,
    /// ln of each weight; the weights of one replicate sum to about 1 / replicates.
    pub ln_weights: Vec<f64>,
    /// How many independent runs.
    pub replicates: usize,
}

impl Nodes {
    /// Scrambled Sobol' points through the measure's quantile map. A sample is its own set of nodes.
    ///
    /// ```
    /// use warpquad::functional::Nodes;
    /// use warpquad::measure::{Product, univariate};
    /// let pi = Product::new(vec![univariate("normal", &[1.0, 2.0])?])?;
    /// let nodes = Nodes::sobol(&pi, 1024, 0)?;
    /// let mean: f64 = nodes.points.iter().zip(&nodes.ln_weights).map(|(x, w)| x[0] * w.exp()).sum();
    /// assert!((mean - 1.0).abs() < 1e-2);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn sobol(measure: &dyn Measure, n: usize, seed: u64) -> Result<Nodes> {
        if let Form::Sample(sample) = measure.form() {
            return Ok(Nodes {
                ln_weights: vec![-(sample.len() as f64).ln(); sample.len()],
                points: sample.clone(),
                replicates: 1,
            });
        }
        let (replicates, size) = split(n);
        let dim = measure.dim();
        let mut points = Points::empty(dim)?;
        let mut x = vec![0.0; dim];
        for r in 0..replicates {
            for u in sequence(dim, seed, r)?.points(size).chunks_exact(dim) {
                measure.quantile(u, &mut x);
                points.push(&x)?;
            }
        }
        let ln_weight = -((replicates * size) as f64).ln();
        Ok(Nodes {
            ln_weights: vec![ln_weight; points.len()],
            points,
            replicates,
        })
    }

    /// Half the nodes from the measure, half from Gaussians at the best observed points, weighted
    /// by the balance heuristic: w = pi / (pi/2 + q/2), so no weight exceeds 2.
    ///
    /// Nodes from the prior alone miss a narrow peak. Where the measure has no density, or the
    /// belief no observation, these are plain Sobol' nodes.
    pub fn importance(
        measure: &dyn Measure,
        belief: &dyn Belief,
        n: usize,
        seed: u64,
    ) -> Result<Nodes> {
        let proposal = Proposal::following(belief);
        let sample = matches!(measure.form(), Form::Sample(_));
        let Some(proposal) = proposal.filter(|_| measure.has_density() && !sample) else {
            return Nodes::sobol(measure, n, seed);
        };
        let (replicates, size) = split(n);
        let dim = measure.dim();
        let mut points = Points::empty(dim)?;
        let mut x = vec![0.0; dim];
        for r in 0..replicates {
            let half = size.div_ceil(2);
            for u in sequence(dim, seed, r)?.points(half).chunks_exact(dim) {
                measure.quantile(u, &mut x);
                points.push(&x)?;
            }
            // One more coordinate chooses the component.
            let mut sobol = sequence(dim + 1, seed ^ 0x9e37_79b9_7f4a_7c15, r)?;
            for u in sobol.points(size - half).chunks_exact(dim + 1) {
                proposal.draw(u, &mut x);
                points.push(&x)?;
            }
        }
        let half_share = size.div_ceil(2) as f64 / size as f64;
        let total = ((replicates * size) as f64).ln();
        let ln_weights = points
            .iter()
            .map(|x| {
                let ln_pi = measure.ln_density(x);
                if ln_pi == f64::NEG_INFINITY {
                    return f64::NEG_INFINITY;
                }
                let ln_q = proposal.ln_density(x) + (1.0 - half_share).ln();
                ln_pi - ln_add_exp(half_share.ln() + ln_pi, ln_q) - total
            })
            .collect();
        Ok(Nodes {
            points,
            ln_weights,
            replicates,
        })
    }

    /// The first replicates that together have at most `most` nodes, as a rule of its own.
    pub(super) fn at_most(&self, most: usize) -> Nodes {
        let size = self.points.len() / self.replicates;
        let replicates = (most / size.max(1)).clamp(1, self.replicates);
        let rescale = (self.replicates as f64 / replicates as f64).ln();
        let kept = replicates * size;
        Nodes {
            points: self.points.slice(0, kept),
            ln_weights: self.ln_weights[..kept]
                .iter()
                .map(|w| w + rescale)
                .collect(),
            replicates,
        }
    }
}

fn split(n: usize) -> (usize, usize) {
    let replicates = REPLICATES.min(n.max(1));
    (replicates, n.max(1).div_ceil(replicates))
}

fn sequence(dim: usize, seed: u64, replicate: usize) -> Result<Sobol> {
    let seed = seed
        .wrapping_mul(REPLICATES as u64)
        .wrapping_add(replicate as u64);
    Sobol::scrambled(dim, seed).ok_or_else(|| {
        let what = format!("Sobol' nodes reach {MAX_DIM} dimensions, not {dim}; use a baseline");
        Error::numerics(Step::Integrate, what)
    })
}

/// A mixture of axis-aligned Gaussians at the observed points that carry the belief's mass.
#[derive(Debug)]
struct Proposal {
    centers: Vec<Vec<f64>>,
    /// Cumulative weights of the centers.
    cumulative: Vec<f64>,
    ln_weights: Vec<f64>,
    half_lengths: Vec<f64>,
}

impl Proposal {
    /// Observed points within 8 + d nats of the best, weighted by exp((ln f - ln f_max) / 3).
    fn following(belief: &dyn Belief) -> Option<Proposal> {
        let anatomy = belief.anatomy()?;
        let posterior = anatomy.posterior;
        let ln_f = ln_observed(posterior, anatomy.link);
        let top = ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let depth = 8.0 + belief.dim() as f64;
        let near = (0..ln_f.len()).filter(|&i| ln_f[i] > top - depth);
        let (centers, ln_weights): (Vec<_>, Vec<_>) = near
            .map(|i| (posterior.points().row(i).to_vec(), (ln_f[i] - top) / 3.0))
            .unzip();
        let total = ln_sum_exp(&ln_weights);
        let ln_weights: Vec<f64> = ln_weights.iter().map(|w| w - total).collect();
        let mut sum = 0.0;
        let cumulative = ln_weights.iter().map(|w| {
            sum += w.exp();
            sum
        });
        Some(Proposal {
            cumulative: cumulative.collect(),
            centers,
            half_lengths: halves(posterior),
            ln_weights,
        })
    }

    /// Map d + 1 uniform numbers to a point.
    fn draw(&self, u: &[f64], x: &mut [f64]) {
        let pick = u[0] * WIDTHS.len() as f64;
        let width = WIDTHS[(pick as usize).min(WIDTHS.len() - 1)];
        let chosen = self.cumulative.partition_point(|&c| c < pick.fract());
        let center = &self.centers[chosen.min(self.centers.len() - 1)];
        for (d, x) in x.iter_mut().enumerate() {
            *x = center[d] + width * self.half_lengths[d] * normal_quantile(u[d + 1]);
        }
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        let dim = x.len() as f64;
        let ln_volume: f64 = self.half_lengths.iter().map(|l| l.ln()).sum();
        let constant = -0.5 * dim * std::f64::consts::TAU.ln() - ln_volume;
        let mut terms = Vec::with_capacity(WIDTHS.len() * self.centers.len());
        for (center, ln_weight) in self.centers.iter().zip(&self.ln_weights) {
            let z = x.iter().zip(center).zip(&self.half_lengths);
            let r2: f64 = z.map(|((x, c), l)| ((x - c) / l).powi(2)).sum();
            for width in WIDTHS {
                let ln_component = -0.5 * r2 / (width * width) - dim * width.ln();
                terms.push(ln_weight + ln_component);
            }
        }
        constant - (WIDTHS.len() as f64).ln() + ln_sum_exp(&terms)
    }
}

fn halves(posterior: &Posterior) -> Vec<f64> {
    let lengths = &posterior.prior().theta().length_scales;
    lengths.iter().map(|l| 0.5 * l).collect()
}

/// ln |f| at the observed points.
fn ln_observed(posterior: &Posterior, link: Link<'_>) -> Vec<f64> {
    let g = posterior.g().iter();
    match link {
        Link::Latent => g.map(|g| g.abs().ln()).collect(),
        Link::Matched(warp) | Link::Linearised(warp) => g
            .map(|&g| {
                let local = warp.local(g);
                local.ln_unit + local.value.abs().ln()
            })
            .collect(),
    }
}

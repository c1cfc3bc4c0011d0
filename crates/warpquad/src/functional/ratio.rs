//! Weigh nodes by f: expectations under f pi / Z, as ratios of two affine functionals on one set of nodes.

use super::Nodes;
use super::law::{choose, draw, sorted_quantile};
use super::nodes::plausible_reach;
use crate::belief::{Belief, Link, PosteriorProcess};
use crate::error::{Error, Result, finite, same_length};
use crate::numeric::linalg::{Mat, dot};
use crate::numeric::random::Rng;
use crate::numeric::special::normal_quantile;
use crate::numeric::weights::normalised;
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// Nodes lighter than this part of the heaviest are left out: together they weigh less than rounding.
const LIGHT: f64 = 1e-16;

/// The measure f pi / Z on nodes, under the belief's mean and under joint draws of f.
///
/// # Definition
/// With nodes x_i and weights w_i of pi, `E[h] = L_h[f] / L_1[f]` is about the sum of p_i h(x_i), where
/// p_i is proportional to w_i f(x_i).
///
/// ```
/// use warpquad::functional::{Nodes, Ratio};
/// use warpquad::measure::Product;
/// use warpquad::numeric::random::Rng;
/// use warpquad::{Points, Process, Theta, Warped, kernel::SquaredExponential, warp::Log};
/// // ln f = -x is known at 33 points: under a uniform pi on (0, 1), E[x] = (e - 2) / (e - 1).
/// let points = Points::from_rows(&(0..33).map(|i| vec![i as f64 / 32.0]).collect::<Vec<_>>())?;
/// let g: Vec<f64> = points.iter().map(|x| -x[0]).collect();
/// let process = Process::new(SquaredExponential, Theta::constant(0.0, 1.0, vec![0.5])?);
/// let posterior = process.condition(&points, &g)?;
/// let belief = Warped::new(&Log, &posterior);
/// let nodes = Nodes::sobol(&Product::uniform(&[(0.0, 1.0)])?, 1024, 0)?;
/// let ratio = Ratio::new(&belief, &nodes, 100, &mut Rng::new(0))?;
/// let h: Vec<f64> = ratio.points().iter().map(|x| x[0]).collect();
/// let e = std::f64::consts::E;
/// assert!((ratio.expectation(&h)?.mean - (e - 2.0) / (e - 1.0)).abs() < 1e-4);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ratio {
    points: Points,
    /// p_i under the belief's mean; they sum to 1.
    weights: Vec<f64>,
    /// Which independent run of the node rule each node belongs to.
    run: Vec<usize>,
    runs: usize,
    /// The nodes that are drawn jointly.
    chosen: Vec<usize>,
    /// Their p_i under the mean of the law they are drawn from; they sum to 1.
    chosen_weights: Vec<f64>,
    /// Their p_i under each draw of f, a column a draw.
    draws: Mat,
}

/// What is known of an expectation.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The mean of the ratio over draws of f.
    pub mean: f64,
    /// The standard error of the node rule.
    pub node_error: f64,
    /// The ratio under each draw of f, sorted.
    pub samples: Vec<f64>,
}

impl Expectation {
    /// The standard deviation: what the belief does not know and the node rule's error together.
    pub fn sd(&self) -> f64 {
        let spread: f64 = self.samples.iter().map(|e| (e - self.mean).powi(2)).sum();
        (spread / self.samples.len() as f64)
            .sqrt()
            .hypot(self.node_error)
    }

    /// The central interval with that probability: quantiles of the draws, each moved out by the node
    /// rule's error.
    pub fn interval(&self, probability: f64) -> [f64; 2] {
        let tail = 0.5 * (1.0 - probability);
        let node = normal_quantile(1.0 - tail) * self.node_error;
        let middle = self.quantile(0.5);
        let (low, high) = (self.quantile(tail), self.quantile(1.0 - tail));
        [
            middle - (middle - low).hypot(node),
            middle + (high - middle).hypot(node),
        ]
    }

    fn quantile(&self, p: f64) -> f64 {
        sorted_quantile(&self.samples, p)
    }
}

impl Ratio {
    /// Weigh the nodes by the belief's mean, and those that matter by `draws` joint draws of f.
    pub fn new(belief: &dyn Belief, nodes: &Nodes, draws: usize, rng: &mut Rng) -> Result<Ratio> {
        let f = Positive::new(belief)?;
        let marginals = f.posterior.marginals(&nodes.points)?;
        let ln_weights: Vec<f64> = (0..marginals.len())
            .map(|i| nodes.ln_weights[i] + f.ln_centre(marginals[i]))
            .collect();
        let reach = plausible_reach(belief, &nodes.points, 1.0)?;
        let reach = reach.iter().zip(&nodes.ln_weights).map(|(r, w)| r + w);
        let chosen = choose(&reach.collect::<Vec<_>>());
        let points = nodes.points.select(&chosen);
        let mu: Vec<f64> = chosen.iter().map(|&i| marginals[i].mu).collect();
        let (g, _) = draw(f.posterior, &points, &mu, draws.max(1), rng)?;
        let mut drawn = Mat::zeros(chosen.len(), g.cols());
        for k in 0..g.cols() {
            let terms = chosen.iter().zip(g.col(k)).map(|(&i, &g)| {
                let (ln_unit, value) = f.at(g, marginals[i].mu);
                (nodes.ln_weights[i] + ln_unit, value)
            });
            fill_normalised(terms, drawn.col_mut(k));
        }
        let part: Vec<f64> = chosen.iter().map(|&i| ln_weights[i]).collect();
        let size = nodes.points.len() / nodes.replicates;
        Ok(Ratio {
            points: nodes.points.clone(),
            weights: normalised(&ln_weights).ok_or_else(no_mass)?,
            run: (0..nodes.points.len()).map(|i| i / size).collect(),
            runs: nodes.replicates,
            chosen_weights: normalised(&part).ok_or_else(no_mass)?,
            chosen,
            draws: drawn,
        }
        .trimmed())
    }

    /// The same without nodes that weigh nothing: they may lie outside the support, where h has no value.
    fn trimmed(self) -> Ratio {
        let top = self.weights.iter().copied().fold(0.0, f64::max);
        let mut keep: Vec<bool> = self.weights.iter().map(|&w| w > LIGHT * top).collect();
        self.chosen.iter().for_each(|&i| keep[i] = true);
        let kept: Vec<usize> = (0..keep.len()).filter(|&i| keep[i]).collect();
        let mut position = vec![0; keep.len()];
        kept.iter()
            .enumerate()
            .for_each(|(to, &i)| position[i] = to);
        Ratio {
            points: self.points.select(&kept),
            weights: kept.iter().map(|&i| self.weights[i]).collect(),
            run: kept.iter().map(|&i| self.run[i]).collect(),
            chosen: self.chosen.iter().map(|&i| position[i]).collect(),
            ..self
        }
    }

    /// The nodes.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The share of f pi / Z that each node stands for under the belief's mean.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The same nodes in other coordinates.
    pub fn with_points(self, points: Points) -> Result<Ratio> {
        same_length("points", points.len(), self.points.len())?;
        Ok(Ratio { points, ..self })
    }

    /// Whether these nodes agree with others on the mean of every coordinate and know all of them
    /// better, as plain Sobol' nodes do for a broad and smooth f.
    pub(crate) fn beats(&self, other: &Ratio) -> Result<bool> {
        for d in 0..self.points.dim() {
            let along = |ratio: &Ratio| {
                let h: Vec<f64> = ratio.points.iter().map(|x| x[d]).collect();
                ratio.expectation(&h)
            };
            let (own, others) = (along(self)?, along(other)?);
            let agree = (own.mean - others.mean).abs() <= 4.0 * own.sd().hypot(others.sd());
            if !agree || own.node_error > others.node_error {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The expectation of h from its values on the nodes.
    ///
    /// The draws see only the nodes that matter; they are shifted so that their mean law has the
    /// expectation of all nodes.
    pub fn expectation(&self, h: &[f64]) -> Result<Expectation> {
        same_length("h", h.len(), self.weights.len())?;
        for (i, &h) in h.iter().enumerate() {
            finite(&format!("h[{i}]"), h)?;
        }
        let centre = dot(&self.weights, h);
        let part: Vec<f64> = self.chosen.iter().map(|&i| h[i]).collect();
        let shift = centre - dot(&self.chosen_weights, &part);
        let columns = 0..self.draws.cols();
        let mut samples: Vec<f64> = columns
            .map(|k| shift + dot(self.draws.col(k), &part))
            .collect();
        samples.sort_by(f64::total_cmp);
        Ok(Expectation {
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            node_error: self.node_error(h, centre),
            samples,
        })
    }

    /// The standard error of a ratio of sums over independent runs: the spread of each run's
    /// residual sum of p_i (h_i - mean), by which the ratio moves to first order.
    fn node_error(&self, h: &[f64], mean: f64) -> f64 {
        if self.runs < 2 {
            return 0.0;
        }
        let mut residuals = vec![0.0; self.runs];
        for ((&run, p), h) in self.run.iter().zip(&self.weights).zip(h) {
            residuals[run] += p * (h - mean);
        }
        let runs = self.runs as f64;
        // The residuals add up to 0; each is 1/runs of an estimate of its own.
        let spread: f64 = residuals.iter().map(|r| (r * runs).powi(2)).sum();
        // A mean of so few runs follows Student's t, whose variance is (runs - 1) / (runs - 3) of a
        // normal one's.
        let student = (runs - 1.0) / (runs - 3.0).max(1.0);
        (student * spread / (runs * (runs - 1.0))).sqrt()
    }
}

/// Variance of g beyond which the mean of f says nothing: f is then unknown by a factor e, and the
/// mean of exp(g), exp(mu + s/2), follows the far tail of g.
const SURE: f64 = 1.0;

/// A belief about a positive f, taken apart.
pub(super) struct Positive<'a> {
    pub posterior: &'a PosteriorProcess,
    warp: &'a dyn Warp,
    linearised: bool,
}

impl<'a> Positive<'a> {
    /// The parts, or why f pi is no density.
    pub fn new(belief: &'a dyn Belief) -> Result<Positive<'a>> {
        let anatomy = belief.anatomy().ok_or_else(no_mass)?;
        let (warp, linearised) = match anatomy.link {
            Link::Matched(warp) => (warp, false),
            Link::Linearised(warp) => (warp, true),
            Link::Latent => return Err(signed()),
        };
        let posterior = anatomy.posterior;
        let parts = Positive {
            posterior,
            warp,
            linearised,
        };
        let positive = warp.range().lo >= 0.0;
        positive.then_some(parts).ok_or_else(signed)
    }

    /// ln of the belief's mean of f, with the variance of g counted up to [`SURE`].
    pub fn ln_centre(&self, Marginal { mu, s }: Marginal) -> f64 {
        let (ln_unit, value) = match self.linearised {
            true => self.at(mu, mu),
            false => {
                let mean = self.warp.mean(Marginal { mu, s: s.min(SURE) });
                in_unit(self.warp.offset(), mean.ln_unit, mean.value)
            }
        };
        ln_unit + value.max(0.0).ln()
    }

    /// [`Positive::ln_centre`] at some points.
    pub fn ln_centres(&self, x: &Points) -> Result<Vec<f64>> {
        let marginals = self.posterior.marginals(x)?;
        Ok(marginals.into_iter().map(|at| self.ln_centre(at)).collect())
    }

    /// f in a unit at a drawn g whose mean is `mu`.
    fn at(&self, g: f64, mu: f64) -> (f64, f64) {
        let local = self.warp.local(if self.linearised { mu } else { g });
        let value = match self.linearised {
            true => local.value + local.slope * (g - mu),
            false => local.value,
        };
        in_unit(self.warp.offset(), local.ln_unit, value)
    }
}

fn signed() -> Error {
    let reason = "f may be negative under this method, so f times the process is no density; say that f is \
                  positive (range), or take a method whose warp keeps it so";
    Error::spec("posterior", reason)
}

pub(super) fn no_mass() -> Error {
    let reason = "the belief has no mass on any node; observe where f > 0";
    Error::spec("posterior", reason)
}

/// The whole of f in a unit: an offset is of f's own size, never of an underflowing one.
fn in_unit(offset: f64, ln_unit: f64, value: f64) -> (f64, f64) {
    match offset {
        0.0 => (ln_unit, value),
        offset => (0.0, offset + ln_unit.exp() * value),
    }
}

/// Terms exp(ln_unit) value, scaled to sum to 1.
fn fill_normalised(terms: impl Iterator<Item = (f64, f64)> + Clone, out: &mut [f64]) {
    let tops = terms.clone().map(|(ln_unit, value)| match value {
        0.0 => f64::NEG_INFINITY,
        value => ln_unit + value.abs().ln(),
    });
    let top = tops.fold(f64::NEG_INFINITY, f64::max);
    for (out, (ln_unit, value)) in out.iter_mut().zip(terms) {
        *out = (ln_unit - top).exp() * value;
    }
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= total);
}

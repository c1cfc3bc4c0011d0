//! Look where an observation would narrow the tails of the integral most.

use super::cross::Cross;
use super::{Acquisition, Context, InformationGain, Maximise, Score, maximise};
use crate::belief::{Feasible, PosteriorProcess, ln_reach};
use crate::error::Result;
use crate::functional::Nodes;
use crate::numeric::special::ln_add_exp;
use crate::numeric::vmath;
use crate::points::Points;
use crate::warp::{Marginal, Warp};
use std::sync::Arc;

/// Look ahead at the tails.
///
/// # Definition
/// argmin over x of the integral over pi of |xi(mu + u sd') - xi(mu - u sd')|, sd' being the
/// standard deviation of g after an observation at x, which leaves the mean as it is. u goes
/// through `tails_sd` in turn.
///
/// # Numerics
/// The integral is a sum over nodes that follow its own integrand. Candidates are prior points and
/// nodes; the best is refined along the exact gradient. Without a latent process to look at, it is
/// [`InformationGain`]. It is settled where the tails at u sd, of all of f at once, are less than u
/// times `settled_part` of Z apart.
///
/// # Reference
/// Jarvenpaa, Gutmann, Vehtari and Marttinen (2021), with u = 0.67 throughout.
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, LookAhead};
/// use warpquad::{Points, Process, Theta, Warped};
/// use warpquad::{kernel::SquaredExponential, measure::Product, warp::Log};
/// let pi = Product::uniform(&[(0.0, 1.0)])?;
/// let process = Process::new(SquaredExponential, Theta::constant(-5.0, 9.0, vec![0.1])?);
/// let taken = Points::from_rows(&[vec![0.1], vec![0.2], vec![0.3], vec![0.4], vec![0.6]])?;
/// let posterior = process.condition(&taken, &[-9.0, -8.0, -8.0, -9.0, 0.0])?;
/// let belief = Warped::new(&Log, &posterior);
/// let at = Context { belief: &belief, measure: &pi, taken: &taken, seed: 1, step: 3 };
/// // Beside the peak, or where nothing is known.
/// assert!(LookAhead::default().choose(&at)?[0] > 0.4);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LookAhead {
    /// How many standard deviations of g the tails are taken at, in turn. 5 alone wastes
    /// evaluations on sharp peaks of huge range, 1 alone misses modes.
    pub tails_sd: Vec<f64>,
    /// Nodes of the integral for each dimension: the order of its values is asked, not the values.
    pub nodes_per_dimension: usize,
    /// Nodes at least.
    pub nodes_least: usize,
    /// Nodes at most.
    pub nodes_most: usize,
    /// Quasi-random candidates from the prior; as many of the nodes join them.
    pub candidates: usize,
    /// Gradients that refine the best candidate: the sum over nodes has a kink at every one of
    /// them, so more digits say nothing.
    pub gradients: usize,
    /// Where the tails of Z at u sd are less than u times this part of Z apart, little is left to
    /// win. They are those of an f that is too high, or too low, everywhere at once: Z itself is
    /// known far better then.
    pub settled_part: f64,
    /// How many standard deviations of g a mode may be above its mean.
    pub exploring_sd: f64,
}

impl Default for LookAhead {
    fn default() -> LookAhead {
        LookAhead {
            tails_sd: vec![2.0, 5.0, 1.0],
            nodes_per_dimension: 64,
            nodes_least: 256,
            nodes_most: 512,
            candidates: 128,
            gradients: 10,
            settled_part: 0.05,
            exploring_sd: 5.0,
        }
    }
}

impl Acquisition for LookAhead {
    fn name(&self) -> &'static str {
        "look-ahead"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        self.choose_at(at, self.tail_sd(at))
    }

    fn choose_unless_settled(&self, at: &Context<'_>) -> Result<Option<Vec<f64>>> {
        let u = self.tail_sd(at);
        let near = u < self.exploring_sd;
        match Look::new(self, at, u)? {
            Some(look) if near && look.ahead.relative_width() < self.settled_part * u => Ok(None),
            Some(look) => look.choose(at).map(Some),
            None => InformationGain.choose(at).map(Some),
        }
    }
}

impl LookAhead {
    /// The tails of this choice.
    fn tail_sd(&self, at: &Context<'_>) -> f64 {
        self.tails_sd[at.step % self.tails_sd.len()]
    }

    /// Choose with the tails at u sd.
    pub(super) fn choose_at(&self, at: &Context<'_>, u: f64) -> Result<Vec<f64>> {
        match Look::new(self, at, u)? {
            Some(look) => look.choose(at),
            None => InformationGain.choose(at),
        }
    }
}

/// One look: the tails, and where they are.
struct Look<'a> {
    how: &'a LookAhead,
    ahead: Ahead<'a>,
    nodes: Points,
    feasible: Option<&'a Feasible>,
}

impl<'a> Look<'a> {
    /// None without a latent process to look at.
    fn new(how: &'a LookAhead, at: &Context<'a>, u: f64) -> Result<Option<Look<'a>>> {
        let Some(anatomy) = at.belief.anatomy() else {
            return Ok(None);
        };
        let most = how.nodes_most.max(how.nodes_least);
        let n = (how.nodes_per_dimension * at.measure.dim()).clamp(how.nodes_least, most);
        let nodes = Nodes::plausible(at.measure, at.belief, u, n, at.choice_seed())?;
        Ok(Some(Look {
            how,
            ahead: Ahead::new(anatomy.posterior, anatomy.link.warp(), &nodes, u)?,
            nodes: nodes.points,
            feasible: at.belief.feasible().map(Arc::as_ref),
        }))
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let stride = self.nodes.len().div_ceil(self.how.candidates);
        let some: Vec<usize> = (0..self.nodes.len()).step_by(stride).collect();
        let theta = self.ahead.posterior.process().theta();
        let options = Maximise {
            candidates: self.how.candidates,
            refined: 1,
            steps: self.how.gradients,
            more: Some(&self.nodes.select(&some)),
            lengths: Some(&theta.coordinate_lengths()),
            ..Maximise::default()
        };
        let score = Score {
            values: &|x| self.scores(x),
            gradient: Some(&|x| self.gradient(x)),
        };
        maximise(at.measure, at.taken, at.choice_seed(), &score, &options)
    }
}

impl Look<'_> {
    /// The scores of points: what is left in the mean where an observation may come to nothing.
    fn scores(&self, x: &Points) -> Result<Vec<f64>> {
        let mut scores = self.ahead.scores(x)?;
        if let Some(feasible) = self.feasible {
            let now = self.ahead.ln_width();
            for (score, chance) in scores.iter_mut().zip(feasible.ln_chance(x)) {
                *score = -ln_mean_width(-*score, now, chance.exp());
            }
        }
        Ok(scores)
    }

    /// The same at one point with its gradient.
    fn gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let (score, mut slope) = self.ahead.gradient(x)?;
        let Some(feasible) = self.feasible else {
            return Ok((score, slope));
        };
        let (now, c) = (self.ahead.ln_width(), feasible.ln_chance_at(x).exp());
        let mean = ln_mean_width(-score, now, c);
        // With W = exp(-score): d ln(c W + (1 - c) W_0) = (dc (W - W_0) - c W dscore) / (...).
        let (after, before) = ((-score - mean).exp(), (now - mean).exp());
        let lengths = self.ahead.posterior.process().theta().coordinate_lengths();
        for (d, length) in lengths.iter().enumerate() {
            let h = 1e-4 * length;
            let at = |by: f64| {
                let mut x = x.to_vec();
                x[d] += by;
                feasible.ln_chance_at(&x).exp()
            };
            let d_c = (at(h) - at(-h)) / (2.0 * h);
            slope[d] = c * after * slope[d] - d_c * (after - before);
        }
        Ok((-mean, slope))
    }
}

/// ln of the mean width, where an observation narrows it to `after` with the probability c and
/// leaves it at `now` otherwise.
fn ln_mean_width(after: f64, now: f64, c: f64) -> f64 {
    ln_add_exp(c.ln() + after, (1.0 - c).max(0.0).ln() + now)
}

/// What is left of the tails after an observation.
pub(super) struct Ahead<'a> {
    posterior: &'a PosteriorProcess,
    warp: &'a dyn Warp,
    u: f64,
    cross: Cross<'a>,
    ln_weights: Vec<f64>,
}

impl<'a> Ahead<'a> {
    pub fn new(
        posterior: &'a PosteriorProcess,
        warp: &'a dyn Warp,
        nodes: &Nodes,
        u: f64,
    ) -> Result<Ahead<'a>> {
        let cross = Cross::new(posterior, nodes.points.clone())?;
        let pairs = cross.marginals.iter().zip(&nodes.ln_weights);
        let reach = pairs.map(|(&at, w)| w + ln_reach(warp, at, u));
        let top = reach.fold(f64::NEG_INFINITY, f64::max);
        Ok(Ahead {
            posterior,
            warp,
            u,
            cross,
            // In units of the largest term, so that the sums stay near 1.
            ln_weights: nodes.ln_weights.iter().map(|w| w - top).collect(),
        })
    }

    /// The variance of an observation at a point where g has variance s. Next to an observed point
    /// both s and the covariances are rounding.
    fn observed(&self, s: f64) -> f64 {
        let theta = self.posterior.process().theta();
        s + theta.noise + 1e-12 * theta.output_scale
    }

    /// The width between the tails of Z as they are, in parts of Z at the mean of g.
    fn relative_width(&self) -> f64 {
        let (mut width, mut whole) = (0.0, 0.0);
        for (at, w) in self.cross.marginals.iter().zip(&self.ln_weights) {
            let away = self.u * at.s.max(0.0).sqrt();
            let [below, middle, above] = [-away, 0.0, away].map(|by| {
                let local = self.warp.local(at.mu + by);
                (w + local.ln_unit).exp() * local.value
            });
            width += (above - below).abs();
            whole += middle.abs();
        }
        width / whole
    }

    /// ln of the width between the tails of Z as they are, in the unit of the scores.
    fn ln_width(&self) -> f64 {
        let width = |(at, w): (&Marginal, &f64)| {
            let away = self.u * at.s.max(0.0).sqrt();
            let [below, above] = [-away, away].map(|by| {
                let local = self.warp.local(at.mu + by);
                (w + local.ln_unit).exp() * local.value
            });
            (above - below).abs()
        };
        let pairs = self.cross.marginals.iter().zip(&self.ln_weights);
        pairs.map(width).sum::<f64>().ln()
    }

    /// Minus ln of the width between the tails of Z, in some unit, after an observation at each
    /// point.
    pub fn scores(&self, x: &Points) -> Result<Vec<f64>> {
        let (own, cov) = self.cross.columns(x)?;
        let m = self.ln_weights.len();
        let (mut units, mut values) = (vec![0.0; 2 * m], vec![0.0; 2 * m]);
        let mut score = |j: usize| {
            let (c, s) = (cov.col(j), self.observed(own[j].s));
            for (i, at) in self.cross.marginals.iter().enumerate() {
                let sd = (at.s - c[i] * c[i] / s).max(0.0).sqrt();
                (units[i], units[m + i]) = (at.mu + self.u * sd, at.mu - self.u * sd);
            }
            self.warp.locals(&mut units, &mut values);
            let (above, below) = units.split_at_mut(m);
            for (i, w) in self.ln_weights.iter().enumerate() {
                above[i] += w;
                below[i] += w;
            }
            vmath::exp(&mut units);
            let end = |k: usize| units[k] * values[k];
            -(0..m)
                .map(|i| (end(i) - end(m + i)).abs())
                .sum::<f64>()
                .ln()
        };
        Ok((0..x.len()).map(&mut score).collect())
    }

    /// The same at one point with its gradient.
    ///
    /// With v = s_i - c_i^2 / S, S being the variance of the observation, the node's part of the
    /// width is w (xi(mu + u sqrt v) - xi(mu - u sqrt v)), and its derivative in v is w u
    /// (xi'(above) + xi'(below)) / (2 sqrt v).
    pub fn gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let own = self.posterior.latent(x)?;
        let (s, crossed) = (self.observed(own.marginal.s), self.cross.at(x));
        let (mut width, mut d_s) = (0.0, 0.0);
        let mut d_c = Vec::with_capacity(crossed.cov.len());
        let nodes = self.cross.marginals.iter().zip(&self.ln_weights);
        for ((at, w), c) in nodes.zip(&crossed.cov) {
            let sd = (at.s - c * c / s).max(0.0).sqrt();
            let [above, below] = [at.mu + self.u * sd, at.mu - self.u * sd].map(|g| {
                let local = self.warp.local(g);
                let unit = (w + local.ln_unit).exp();
                (unit * local.value, unit * local.slope)
            });
            let part = above.0 - below.0;
            width += part.abs();
            // At the node itself the width has a kink, and no slope.
            let d_v = if sd > 0.0 {
                part.signum() * self.u * (above.1 + below.1) / (2.0 * sd)
            } else {
                0.0
            };
            d_c.push(-2.0 * c / s * d_v);
            d_s += (c / s).powi(2) * d_v;
        }
        let by_cov = crossed.gradient(&d_c);
        let slope = by_cov.iter().zip(&own.d_s);
        let slope = slope.map(|(c, s)| -(c + d_s * s) / width);
        Ok((-width.ln(), slope.collect()))
    }
}

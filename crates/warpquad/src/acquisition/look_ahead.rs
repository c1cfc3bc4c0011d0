//! Look where an observation would narrow the tails of the integral most.

use super::candidates::Space;
use super::{Acquisition, Context, InformationGain};
use crate::belief::{Belief, Posterior};
use crate::error::Result;
use crate::functional::{Nodes, ln_reach};
use crate::numeric::random::Rng;
use crate::numeric::vmath;
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// How many standard deviations of g the tails are taken at, in turn. 5 alone wastes evaluations on
/// sharp peaks of huge range, 1 alone misses modes.
const TAILS: [f64; 3] = [2.0, 5.0, 1.0];

/// Nodes of the integral: its argument's order is asked, not its value.
const NODES: usize = 512;

/// Quasi-random candidates from the prior; as many of the nodes join them.
const CANDIDATES: usize = 192;

/// Rounds of refinement around the best candidate so far, and candidates in each.
const ROUNDS: i32 = 4;
const AROUND: usize = 32;

/// Nodes e^-25 below the largest do not change the order of candidates.
const NEGLIGIBLE: f64 = 25.0;

/// Look ahead at the tails.
///
/// # Definition
/// argmin over x of the integral over pi of |xi(mu + u sd') - xi(mu - u sd')|, sd' being the standard deviation of
/// g after an observation at x, which leaves the mean as it is. u goes through 2, 5 and 1 in turn.
///
/// # Numerics
/// The integral is a sum over 512 nodes that follow its own integrand. Candidates are prior points and
/// nodes; the best is refined by four rounds of ever narrower normal steps. Without a latent
/// process to look at, it is [`InformationGain`].
///
/// # Reference
/// Jarvenpaa, Gutmann, Vehtari and Marttinen (2021), with u = 0.67 throughout.
///
/// ```
/// use warpquad::acquisition::{Acquisition, Context, LookAhead};
/// use warpquad::{Points, Prior, Theta, Warped, kernel::SquaredExponential, measure::Product, warp::Log};
/// let pi = Product::uniform(&[(0.0, 1.0)])?;
/// let prior = Prior::new(SquaredExponential, Theta::constant(-5.0, 9.0, vec![0.1])?);
/// let taken = Points::from_rows(&[vec![0.1], vec![0.2], vec![0.3], vec![0.4], vec![0.6]])?;
/// let posterior = prior.condition(&taken, &[-9.0, -8.0, -8.0, -9.0, 0.0])?;
/// let belief = Warped::new(&Log, &posterior);
/// let at = Context { belief: &belief, measure: &pi, taken: &taken, seed: 1, step: 3 };
/// assert!(LookAhead.choose(&at)?[0] > 0.4);     // beside the peak, or where nothing is known
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LookAhead;

impl Acquisition for LookAhead {
    fn name(&self) -> &'static str {
        "look-ahead"
    }

    fn choose(&self, at: &Context<'_>) -> Result<Vec<f64>> {
        let Some(anatomy) = at.belief.anatomy() else {
            return InformationGain.choose(at);
        };
        let warp = anatomy.link.warp();
        let (posterior, seed) = (anatomy.posterior, at.choice_seed());
        let u = TAILS[at.step % TAILS.len()];
        let nodes = Nodes::plausible(at.measure, at.belief, u, NODES, seed)?;
        let space = Space::new(at.measure, at.taken)?;
        let candidates = candidates(&space, &nodes, seed)?;
        let ahead = Ahead::new(posterior, warp, &nodes, u)?;
        Search {
            space,
            ahead,
            lengths: &posterior.prior().theta().coordinate_lengths(),
        }
        .best(candidates, &mut Rng::new(seed))
    }
}

fn candidates(space: &Space<'_>, nodes: &Nodes, seed: u64) -> Result<Points> {
    if space.sample().is_some() {
        return space.sample_candidates(seed);
    }
    let mut out = space.quasi_random(!seed, CANDIDATES)?;
    let stride = nodes.points.len().div_ceil(CANDIDATES);
    let some: Vec<usize> = (0..nodes.points.len()).step_by(stride).collect();
    out.extend(&nodes.points.select(&some))?;
    Ok(out)
}

/// What is left of the tails after an observation.
struct Ahead<'a> {
    posterior: &'a Posterior,
    warp: &'a dyn Warp,
    u: f64,
    points: Points,
    ln_weights: Vec<f64>,
    marginals: Vec<Marginal>,
}

impl<'a> Ahead<'a> {
    fn new(
        posterior: &'a Posterior,
        warp: &'a dyn Warp,
        nodes: &Nodes,
        u: f64,
    ) -> Result<Ahead<'a>> {
        let marginals = posterior.marginals(&nodes.points)?;
        let pairs = marginals.iter().zip(&nodes.ln_weights);
        let reach: Vec<f64> = pairs.map(|(&at, w)| w + ln_reach(warp, at, u)).collect();
        let top = reach.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let keep: Vec<usize> = (0..reach.len())
            .filter(|&i| reach[i] > top - NEGLIGIBLE)
            .collect();
        Ok(Ahead {
            posterior,
            warp,
            u,
            points: nodes.points.select(&keep),
            // In units of the largest term, so that the sums stay near 1.
            ln_weights: keep.iter().map(|&i| nodes.ln_weights[i] - top).collect(),
            marginals: keep.iter().map(|&i| marginals[i]).collect(),
        })
    }

    /// The width between the tails of Z, in some unit, after an observation at each point.
    fn widths(&self, x: &Points) -> Result<Vec<f64>> {
        let theta = self.posterior.prior().theta();
        // Next to an observed point both the variance and the covariances are rounding.
        let rounding = theta.noise + 1e-12 * theta.output_scale;
        let cov = self.posterior.cov(&self.points, x)?;
        let own = self.posterior.marginals(x)?;
        let m = self.marginals.len();
        let (mut units, mut values) = (vec![0.0; 2 * m], vec![0.0; 2 * m]);
        let mut width = |j: usize| {
            let (c, s) = (cov.col(j), own[j].s + rounding);
            for i in 0..m {
                let Marginal { mu, s: before } = self.marginals[i];
                let sd = (before - c[i] * c[i] / s).max(0.0).sqrt();
                (units[i], units[m + i]) = (mu + self.u * sd, mu - self.u * sd);
            }
            self.warp.locals(&mut units, &mut values);
            let (above, below) = units.split_at_mut(m);
            for (i, w) in self.ln_weights.iter().enumerate() {
                above[i] += w;
                below[i] += w;
            }
            vmath::exp(&mut units);
            let end = |k: usize| units[k] * values[k];
            (0..m).map(|i| (end(i) - end(m + i)).abs()).sum()
        };
        Ok((0..x.len()).map(&mut width).collect())
    }
}

/// The search for the narrowest tails.
struct Search<'a> {
    space: Space<'a>,
    ahead: Ahead<'a>,
    lengths: &'a [f64],
}

impl Search<'_> {
    fn best(&self, candidates: Points, rng: &mut Rng) -> Result<Vec<f64>> {
        let mut best: Option<(Vec<f64>, f64)> = None;
        self.improve(&candidates, &mut best)?;
        for round in 0..ROUNDS {
            let Some((x, _)) = best.as_ref().filter(|_| self.space.sample().is_none()) else {
                break;
            };
            let near = self.around(x, 0.3 * 0.4_f64.powi(round), rng)?;
            self.improve(&near, &mut best)?;
        }
        best.map(|(x, _)| x).ok_or_else(|| self.space.exhausted())
    }

    fn improve(&self, candidates: &Points, best: &mut Option<(Vec<f64>, f64)>) -> Result<()> {
        for (x, width) in candidates.iter().zip(self.ahead.widths(candidates)?) {
            let better = best.as_ref().is_none_or(|(_, least)| width < *least);
            if better && width.is_finite() && self.space.holds(x) && self.space.is_free(x) {
                *best = Some((x.to_vec(), width));
            }
        }
        Ok(())
    }

    /// Normal steps of that many length scales.
    fn around(&self, center: &[f64], width: f64, rng: &mut Rng) -> Result<Points> {
        let mut out = Points::empty(center.len())?;
        for _ in 0..AROUND {
            let pairs = center.iter().zip(self.lengths);
            let x: Vec<f64> = pairs.map(|(x, l)| x + width * l * rng.normal()).collect();
            if self.space.holds(&x) {
                out.push(&x)?;
            }
        }
        Ok(out)
    }
}

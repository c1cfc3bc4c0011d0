//! Place nodes where a target has its mass, by adaptive importance sampling.

use super::Nodes;
use super::nodes::{Proposal, Scout, in_blocks, ln_total, own_nodes, sequence, split};
use crate::belief::Belief;
use crate::error::Result;
use crate::measure::{Chart, Circle, Circles, Coordinates, Form, Measure, Restricted, Turned};
use crate::numeric::mixture::Mixture;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_add_exp, ln_normal_pdf};
use crate::numeric::weights::{effective, normalised};
use crate::points::Points;

/// Rounds of adaptation at most; two are enough unless the mass is in a part in 10^4 of the prior.
const MOST_ROUNDS: usize = 6;

/// The adaptation ends when this part of a round's nodes is effective.
const EFFECTIVE_PART: f64 = 0.3;

/// Nodes of a round that only adapts, in parts of those asked for.
const ADAPTING_ONE_IN: usize = 4;

/// About n nodes that follow exp(reach) pi, weighted for integrals against pi: see [`Follower`].
pub(super) fn follow(
    measure: &dyn Measure,
    belief: &dyn Belief,
    reach: &dyn Fn(&Points) -> Result<Vec<f64>>,
    n: usize,
    seed: u64,
) -> Result<Nodes> {
    let follower = Follower::new(measure, belief, reach, n, seed)?;
    follower.nodes(n, follower.seed)
}

/// A proposal that follows exp(reach) pi.
///
/// A scout, half from the measure and half around the best observed points, is followed by rounds
/// in each of which a mixture of Gaussians is fitted to the weighted nodes of the round before
/// (population Monte Carlo, Cappe et al. 2004). The mixture lives in the measure's normal scores,
/// where pi is N(0, I) and has no edges. A fifth of the nodes are the measure's own, so no weight
/// exceeds 5. Where the belief had to learn where f is positive, weights carry the probability of
/// that. Where the measure has no density, or nothing is observed, it gives Sobol' nodes.
pub(crate) struct Follower<'a> {
    measure: &'a dyn Measure,
    belief: &'a dyn Belief,
    found: Option<Found>,
    /// A seed for its nodes that no round has used.
    pub seed: u64,
}

/// Where mass was found.
struct Found {
    scores: Box<dyn Coordinates>,
    observed: Proposal,
    /// None where the scout found no mass.
    mixture: Option<Mixture>,
}

impl<'a> Follower<'a> {
    /// Adapt with a quarter of n nodes a round.
    pub fn new(
        measure: &'a dyn Measure,
        belief: &'a dyn Belief,
        reach: &dyn Fn(&Points) -> Result<Vec<f64>>,
        n: usize,
        seed: u64,
    ) -> Result<Follower<'a>> {
        let sample = matches!(measure.form(), Form::Sample(_));
        let observed = belief
            .guide()
            .and_then(|guide| Proposal::at_observed(guide, measure));
        let Some(observed) = observed.filter(|_| measure.has_density() && !sample) else {
            return Ok(Follower {
                measure,
                belief,
                found: None,
                seed,
            });
        };
        let mut found = Found {
            scores: measure.coordinates(Chart::Score)?,
            observed,
            mixture: None,
        };
        let size = n.div_ceil(ADAPTING_ONE_IN);
        let (mut rng, mut seed) = (Rng::new(seed).child(1), seed);
        for round in 0..MOST_ROUNDS {
            let nodes = found.nodes(measure, size, seed)?.within(belief);
            if let (0, Some(circles)) = (round, measure.circles()) {
                let cuts = cuts(&circles, &nodes, &reach(&nodes.points)?);
                found.scores = Box::new(Turned::new(found.scores, circles, cuts));
            }
            let (t, ln_mass) = weighed(&nodes, reach, found.scores.as_ref())?;
            let Some(mixture) = Mixture::fit(&t, &ln_mass, &mut rng) else {
                break;
            };
            found.mixture = Some(mixture);
            seed = rng.next_u64();
            if effective(&ln_mass) > EFFECTIVE_PART * size as f64 {
                break;
            }
        }
        Ok(Follower {
            measure,
            belief,
            found: Some(found),
            seed,
        })
    }

    /// About n nodes, weighted for integrals against pi.
    pub fn nodes(&self, n: usize, seed: u64) -> Result<Nodes> {
        let nodes = match &self.found {
            Some(found) => found.nodes(self.measure, n, seed),
            None => Nodes::sobol(self.measure, n, seed),
        }?;
        Ok(nodes.within(self.belief))
    }
}

/// Parts of a circle among which the one with the least mass is sought.
const ARCS: usize = 32;

/// Where to cut each circle, so that the scores have their ends where the least of the mass is.
fn cuts(circles: &Circles, nodes: &Nodes, reach: &[f64]) -> Vec<f64> {
    let pairs = nodes.ln_weights.iter().zip(reach);
    let ln_mass: Vec<f64> = pairs.map(|(w, r)| w + r).collect();
    let mass = normalised(&ln_mass).unwrap_or_else(|| vec![1.0; ln_mass.len()]);
    let cut = |(d, circle): (usize, &Option<Circle>)| {
        let Some(circle) = circle else {
            return 0.0;
        };
        let mut arcs = [0.0; ARCS];
        for (x, mass) in nodes.points.iter().zip(&mass) {
            let part = (circle.wrap(x[d]) - circle.start) / circle.period;
            arcs[((part * ARCS as f64) as usize).min(ARCS - 1)] += mass;
        }
        // The neighbours too, so that the cut is in the middle of a wide valley.
        let around = |k: usize| -> f64 {
            let near = |by: usize| arcs[(k + by) % ARCS];
            near(0) + 0.5 * (near(1) + near(ARCS - 1)) + 0.25 * (near(2) + near(ARCS - 2))
        };
        let least = (0..ARCS).min_by(|&i, &j| around(i).total_cmp(&around(j)));
        let middle = (least.unwrap_or(0) as f64 + 0.5) / ARCS as f64;
        circle.start + middle * circle.period
    };
    circles.each().iter().enumerate().map(cut).collect()
}

/// The nodes that have mass, in normal scores, with ln of their mass. A node so far out in a tail
/// that it has no score (beyond 38 sd) has none.
fn weighed(
    nodes: &Nodes,
    reach: &dyn Fn(&Points) -> Result<Vec<f64>>,
    scores: &dyn Coordinates,
) -> Result<(Points, Vec<f64>)> {
    let mut t = Points::empty(nodes.points.dim())?;
    let mut one = vec![0.0; nodes.points.dim()];
    let mut inside = Vec::with_capacity(nodes.points.len());
    for (i, x) in nodes.points.iter().enumerate() {
        if nodes.ln_weights[i] > f64::NEG_INFINITY && scores.to_natural(x, &mut one).is_ok() {
            t.push(&one)?;
            inside.push(i);
        }
    }
    let reach = reach(&nodes.points.select(&inside))?;
    let pairs = inside.iter().zip(reach);
    Ok((t, pairs.map(|(&i, r)| nodes.ln_weights[i] + r).collect()))
}

/// One node in so many is the measure's own, and one in so many near the observed points.
const MEASURE_ONE_IN: usize = 5;
const OBSERVED_ONE_IN: usize = 20;

impl Found {
    fn nodes(&self, measure: &dyn Measure, n: usize, seed: u64) -> Result<Nodes> {
        let Some(mixture) = &self.mixture else {
            let observed = &self.observed;
            return Scout { measure, observed }.nodes(n, seed);
        };
        let (replicates, size) = split(n);
        let (own, near) = (
            (size / MEASURE_ONE_IN).max(1),
            (size / OBSERVED_ONE_IN).max(1),
        );
        let left = size.saturating_sub(own + near) as f64;
        // Whole numbers of nodes: the shares that are drawn are the shares that are weighted.
        let share = |ln: f64| ((ln.exp() * left).round() as usize).max(1);
        let components = mixture.components.iter();
        let counts: Vec<usize> = components.map(|c| share(c.ln_share)).collect();
        let size = own + near + counts.iter().sum::<usize>();
        let ln_part = |count: usize| (count as f64 / size as f64).ln();
        let mut drawn = Drawn {
            measure,
            scores: self.scores.as_ref(),
            observed: &self.observed,
            mixture: mixture.clone(),
            ln_own: ln_part(own) - ln_total(measure),
            ln_near: ln_part(near),
        };
        for (c, &count) in drawn.mixture.components.iter_mut().zip(&counts) {
            c.ln_share = ln_part(count);
        }
        let points = drawn.points(replicates, own, near, &counts, seed)?;
        let total = ((replicates * size) as f64).ln();
        let ln_weights = in_blocks(&points, |block| {
            let ratios = drawn.ln_ratios(block).into_iter();
            ratios.map(|ratio| -ratio - total).collect()
        });
        Ok(Nodes {
            points,
            ln_weights,
            replicates,
        })
    }
}

/// The measure, the observed points and the mixture, with the shares that are drawn.
struct Drawn<'a> {
    measure: &'a dyn Measure,
    scores: &'a dyn Coordinates,
    observed: &'a Proposal,
    mixture: Mixture,
    ln_own: f64,
    ln_near: f64,
}

impl Drawn<'_> {
    /// Each part has a Sobol' sequence of its own in every replicate.
    fn points(
        &self,
        replicates: usize,
        own: usize,
        near: usize,
        counts: &[usize],
        seed: u64,
    ) -> Result<Points> {
        let dim = self.measure.dim();
        let mut points = Points::empty(dim)?;
        let (mut x, mut t) = (vec![0.0; dim], vec![0.0; dim]);
        let mut seeds = Rng::new(seed);
        let mut stream = || seeds.next_u64() >> 8;
        for r in 0..replicates {
            own_nodes(self.measure, sequence(dim, stream(), r)?, own, &mut points)?;
            let mut around = sequence(dim + 1, stream(), r)?;
            for u in around.points(near).chunks_exact(dim + 1) {
                self.observed.draw(u, &mut x);
                points.push(&x)?;
            }
            for (&count, component) in counts.iter().zip(&self.mixture.components) {
                for u in sequence(dim, stream(), r)?.points(count).chunks_exact(dim) {
                    component.draw(u, &mut t);
                    self.scores.from_natural(&t, &mut x);
                    points.push(&x)?;
                }
            }
        }
        Ok(points)
    }

    /// ln of the whole proposal's density over pi at every point; infinite where pi vanishes.
    fn ln_ratios(&self, points: &Points) -> Vec<f64> {
        let mut out = vec![f64::INFINITY; points.len()];
        let (mut inside, mut t) = (Vec::with_capacity(points.len()), points.slice(0, 0));
        let (mut one, mut ln_pi) = (vec![0.0; points.dim()], Vec::with_capacity(points.len()));
        for (i, x) in points.iter().enumerate() {
            let at_x = self.measure.ln_density(x);
            let scored = self.scores.to_natural(x, &mut one).is_ok();
            if at_x > f64::NEG_INFINITY && scored && t.push(&one).is_ok() {
                inside.push(i);
                ln_pi.push(at_x);
            }
        }
        if inside.is_empty() {
            return out;
        }
        let near = self.observed.ln_densities(&points.select(&inside));
        let found = self.mixture.ln_densities(&t);
        // In normal scores pi is standard normal, and larger in a region that it is restricted to.
        let ln_divisor = self
            .measure
            .restricted()
            .map_or(0.0, Restricted::ln_divisor);
        for (k, (&i, t)) in inside.iter().zip(t.iter()).enumerate() {
            let ln_phi: f64 = t.iter().map(|&t| ln_normal_pdf(t)).sum();
            let near = self.ln_near + near[k] - ln_pi[k];
            out[i] = ln_add_exp(
                ln_add_exp(self.ln_own, near),
                found[k] - ln_phi + ln_divisor,
            );
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Process, Theta, Warped};
    use crate::kernel::SquaredExponential;
    use crate::measure::Product;
    use crate::warp::Log;

    /// What the nodes say of the integral of exp(ln f), replicate by replicate.
    fn replicates(nodes: &Nodes, ln_f: &dyn Fn(&[f64]) -> f64) -> Vec<f64> {
        let size = nodes.points.len() / nodes.replicates;
        let term = |i: usize| (nodes.ln_weights[i] + ln_f(nodes.points.row(i))).exp();
        let sum = |r: usize| (r * size..(r + 1) * size).map(term).sum::<f64>();
        (0..nodes.replicates)
            .map(|r| nodes.replicates as f64 * sum(r))
            .collect()
    }

    fn check(bounds: &[(f64, f64)], seen: &[f64], ln_f: &dyn Fn(&[f64]) -> f64, truth: f64) {
        let pi = Product::uniform(bounds).unwrap();
        let lengths = bounds.iter().map(|(lo, hi)| 0.1 * (hi - lo)).collect();
        let process = Process::new(
            SquaredExponential,
            Theta::constant(0.0, 1.0, lengths).unwrap(),
        );
        let points = Points::from_rows(&[seen.to_vec()]).unwrap();
        let posterior = process.condition(&points, &[0.0]).unwrap();
        let reach = |x: &Points| Ok(x.iter().map(ln_f).collect());
        let belief = Warped::new(&Log, &posterior);
        let nodes = follow(&pi, &belief, &reach, 8192, 3).unwrap();
        let each = replicates(&nodes, ln_f);
        let n = each.len() as f64;
        let mean = each.iter().sum::<f64>() / n;
        let spread = each.iter().map(|z| (z - mean).powi(2)).sum::<f64>();
        let error = (spread / (n * (n - 1.0))).sqrt();
        assert!(error < 0.01 * truth, "error {error} of {truth}");
        assert!((mean - truth).abs() < 4.0 * error, "{mean} {truth} {error}");
        assert!(
            nodes
                .ln_weights
                .iter()
                .all(|w| *w <= (5.5 / nodes.points.len() as f64).ln())
        );
    }

    #[test]
    fn follow_a_narrow_peak() {
        // A width of 1/300 of the box in three dimensions: 4e-7 of the volume.
        let ln_f = |x: &[f64]| -0.5 * x.iter().map(|x| ((x - 0.4) / 0.0033).powi(2)).sum::<f64>();
        let truth = (0.0033 * std::f64::consts::TAU.sqrt()).powi(3);
        check(&[(0.0, 1.0); 3], &[0.402, 0.398, 0.401], &ln_f, truth);
    }

    #[test]
    fn follow_an_edge() {
        // Half of every Gaussian proposal in x would fall outside.
        let ln_f = |x: &[f64]| -12.0 * x[0] - 20.0 * x[1];
        let truth = 1.0 / 240.0 * (1.0 - (-12.0_f64).exp());
        check(&[(0.0, 1.0); 2], &[0.1, 0.1], &ln_f, truth);
    }
}

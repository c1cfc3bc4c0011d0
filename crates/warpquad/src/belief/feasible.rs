//! Learn where f is positive, or can be had at all, from where it is and where it is not.

use super::propagation::{Sites, factor, sites};
use crate::error::{Error, Result, Step, same_length};
use crate::numeric::linalg::{Cholesky, Mat, dot};
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::special::{ln_normal_cdf, normal_cdf};
use crate::points::Points;

/// The parts of the latent's variance, and its length.
///
/// Lengths are in the root of the mean squared distance of two observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edges {
    /// The length over which the edge bends.
    pub length: f64,
    /// The variance of the part that bends.
    pub bent: f64,
    /// The variance of the part that is a plane: an order of two parameters is one.
    pub plane: f64,
}

/// The variance of the constant part: which side is the larger one.
const CONSTANT: f64 = 4.0;

/// What is tried, one after another, each with the best so far of the other. A latent of a large
/// variance makes an edge sharp, one of a small variance leaves it vague.
const LENGTHS: [f64; 3] = [0.25, 0.5, 1.0];
const VARIANCES: [(f64, f64); 6] = [
    (25.0, 25.0),
    (4.0, 4.0),
    (25.0, 0.0),
    (100.0, 0.0),
    (4.0, 100.0),
    (100.0, 400.0),
];

/// Sites with less pull than this part of a standard deviation are left out of predictions.
const IDLE: f64 = 1e-4;

/// The probability that f is positive: a latent normal process whose sign says where.
///
/// The latent has a constant part, a plane and a part that bends, all in units of the
/// observations' spread. Signs are seen through a standard normal error, small beside the latent
/// where edges are sharp. The law given the signs is that of expectation propagation.
///
/// ```
/// use warpquad::{Feasible, Points};
/// let points: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i) / 19.0]).collect();
/// let positive: Vec<bool> = points.iter().map(|x| x[0] < 0.62).collect();
/// let feasible = Feasible::learn(&Points::from_rows(&points)?, &positive, &[1.0])?;
/// let at = feasible.ln_chance(&Points::from_rows(&[vec![0.3], vec![0.9]])?);
/// assert!(at[0].exp() > 0.95 && at[1].exp() < 0.05);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Feasible {
    space: Space,
    edges: Edges,
    /// The observations whose sites pull, in the space's coordinates.
    points: Points,
    roots: Vec<f64>,
    factor: Cholesky,
    weights: Vec<f64>,
}

/// Coordinates in which observations have a spread of one order.
#[derive(Debug, Clone)]
struct Space {
    middle: Vec<f64>,
    scale: Vec<f64>,
}

impl Space {
    fn new(points: &Points, scale: &[f64]) -> Space {
        let n = points.len() as f64;
        let column = |d: usize| points.iter().map(move |x| x[d] / scale[d]);
        let middle: Vec<f64> = (0..scale.len())
            .map(|d| column(d).sum::<f64>() / n)
            .collect();
        // The mean squared distance of two points is twice the sum of the variances.
        let spread: f64 = (0..scale.len())
            .map(|d| column(d).map(|z| (z - middle[d]).powi(2)).sum::<f64>() / n)
            .sum();
        let size = (2.0 * spread).sqrt();
        let size = if size > 0.0 { size } else { 1.0 };
        Space {
            middle: (0..scale.len()).map(|d| middle[d] * scale[d]).collect(),
            scale: scale.iter().map(|s| s * size).collect(),
        }
    }

    fn points(&self, x: &Points) -> Points {
        let dim = x.dim();
        let standard = |(i, x): (usize, &f64)| (x - self.middle[i % dim]) / self.scale[i % dim];
        let data = x.as_slice().iter().enumerate().map(standard).collect();
        // Whole rows in, whole rows out.
        Points::new(dim, data).unwrap_or_else(|_| x.clone())
    }
}

impl Edges {
    fn kernel(&self, x: &[f64], y: &[f64]) -> f64 {
        let r2: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
        // Twice the mean square of a point is the mean squared distance, which is 1.
        CONSTANT
            + 2.0 * self.plane * dot(x, y)
            + self.bent * (-0.5 * r2 / self.length.powi(2)).exp()
    }

    fn matrix(&self, x: &Points, y: &Points) -> Mat {
        Mat::from_fn(x.len(), y.len(), |i, j| self.kernel(x.row(i), y.row(j)))
    }
}

impl Feasible {
    /// Learn from points and whether f is positive there, with the best of some edges; `scale` is a
    /// typical length of each coordinate.
    pub fn learn(points: &Points, positive: &[bool], scale: &[f64]) -> Result<Feasible> {
        let edges = Feasible::edges_for(points, positive, scale)?;
        Feasible::with(points, positive, scale, edges)
    }

    /// The edges that say most of these observations.
    pub fn edges_for(points: &Points, positive: &[bool], scale: &[f64]) -> Result<Edges> {
        same_length("positive", positive.len(), points.len())?;
        let space = Space::new(points, scale);
        let z = space.points(points);
        let at = |length: f64, (bent, plane): (f64, f64)| Edges {
            length,
            bent,
            plane,
        };
        let evidence = |edges: &Edges| {
            let found = sites(&edges.matrix(&z, &z), positive);
            found.map_or(f64::NEG_INFINITY, |sites| sites.ln_evidence)
        };
        let best = |tried: Vec<Edges>| -> Option<Edges> {
            let said = parallel::map(tried.len(), |i| evidence(&tried[i]));
            let (mut best, mut most) = (None, f64::NEG_INFINITY);
            for (edges, said) in tried.into_iter().zip(said) {
                if said > most {
                    (best, most) = (Some(edges), said);
                }
            }
            best
        };
        let first = best(LENGTHS.map(|length| at(length, VARIANCES[0])).to_vec());
        let length = first.map_or(LENGTHS[1], |edges| edges.length);
        best(VARIANCES.map(|variances| at(length, variances)).to_vec()).ok_or_else(not_learnt)
    }

    /// Learn with edges that are given.
    pub fn with(
        points: &Points,
        positive: &[bool],
        scale: &[f64],
        edges: Edges,
    ) -> Result<Feasible> {
        same_length("positive", positive.len(), points.len())?;
        let space = Space::new(points, scale);
        let z = space.points(points);
        let k = edges.matrix(&z, &z);
        let found = sites(&k, positive).ok_or_else(not_learnt)?;
        let pulls = |i: &usize| {
            let sd = k[(*i, *i)].sqrt();
            found.precision[*i].sqrt() * sd > IDLE || found.shift[*i].abs() * sd > IDLE
        };
        let kept: Vec<usize> = (0..positive.len()).filter(pulls).collect();
        let select = |all: &[f64]| kept.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let own = Sites {
            precision: select(&found.precision),
            shift: select(&found.shift),
            ln_evidence: found.ln_evidence,
        };
        let points = z.select(&kept);
        let k = edges.matrix(&points, &points);
        let factor = factor(&k, &own.precision).ok_or_else(not_learnt)?;
        let roots: Vec<f64> = own.precision.iter().map(|p| p.sqrt()).collect();
        // (K + S^-1)^-1 S^-1 nu = nu - S^1/2 B^-1 S^1/2 K nu.
        let mut pulled: Vec<f64> = k
            .mul_vec(&own.shift)
            .iter()
            .zip(&roots)
            .map(|(x, root)| x * root)
            .collect();
        factor.solve_vec(&mut pulled);
        let weights = own.shift.iter().zip(pulled.iter().zip(&roots));
        Ok(Feasible {
            weights: weights.map(|(nu, (x, root))| nu - x * root).collect(),
            space,
            edges,
            points,
            roots,
            factor,
        })
    }

    /// The edges that it was learnt with.
    pub fn edges(&self) -> Edges {
        self.edges
    }

    /// The latent's means at points of the space, and S^1/2 K against the observations, solved.
    fn latent(&self, z: &Points) -> (Vec<f64>, Mat) {
        let mut cross = self.edges.matrix(&self.points, z);
        let means = (0..z.len())
            .map(|j| dot(cross.col(j), &self.weights))
            .collect();
        for j in 0..z.len() {
            let column = cross.col_mut(j).iter_mut().zip(&self.roots);
            column.for_each(|(x, root)| *x *= root);
        }
        if !self.roots.is_empty() {
            self.factor.solve_lower(&mut cross);
        }
        (means, cross)
    }

    /// ln of the probability that f is positive at the points.
    pub fn ln_chance(&self, x: &Points) -> Vec<f64> {
        const BLOCK: usize = 1024;
        let blocks = x.len().div_ceil(BLOCK);
        let of_block = |b: usize| {
            let part = x.slice(b * BLOCK, ((b + 1) * BLOCK).min(x.len()));
            let z = self.space.points(&part);
            let (means, cross) = self.latent(&z);
            let one = |j: usize| {
                let own = self.edges.kernel(z.row(j), z.row(j));
                let s = (own - dot(cross.col(j), cross.col(j))).max(0.0);
                ln_normal_cdf(means[j] / (1.0 + s).sqrt())
            };
            (0..z.len()).map(one).collect::<Vec<f64>>()
        };
        parallel::map(blocks, of_block).concat()
    }

    /// The same at one point.
    pub fn ln_chance_at(&self, x: &[f64]) -> f64 {
        match Points::from_rows(&[x.to_vec()]) {
            Ok(one) => self.ln_chance(&one)[0],
            Err(_) => f64::NEG_INFINITY,
        }
    }

    /// Joint draws of whether f is positive at the points, a column a draw: the probability of it
    /// given the latent, which is 0 or 1 but next to an edge.
    pub fn draws(&self, x: &Points, count: usize, rng: &mut Rng) -> Result<Mat> {
        let z = self.space.points(x);
        let (means, cross) = self.latent(&z);
        let n = z.len();
        let cov = Mat::from_fn(n, n, |i, j| {
            self.edges.kernel(z.row(i), z.row(j)) - dot(cross.col(i), cross.col(j))
        });
        let scale = self.edges.bent + self.edges.plane + CONSTANT;
        let factor = (-12..-2).find_map(|power| {
            let mut more = cov.clone();
            (0..n).for_each(|i| more[(i, i)] += scale * 10.0_f64.powi(power));
            Cholesky::new(more)
        });
        let factor = factor.ok_or_else(not_learnt)?;
        let mut out = Mat::zeros(n, count);
        for k in 0..count {
            let e: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            for i in 0..n {
                let a: f64 = (0..=i).map(|j| factor.lower()[(i, j)] * e[j]).sum();
                out[(i, k)] = normal_cdf(means[i] + a);
            }
        }
        Ok(out)
    }
}

fn not_learnt() -> Error {
    let reason = "where f is positive cannot be learnt from these observations: a matrix cannot be \
                  factored; check that the points are finite and not all the same";
    Error::numerics(Step::Condition, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sobol::Sobol;

    fn cube(dim: usize, n: usize, seed: u64) -> Points {
        let mut sobol = Sobol::scrambled(dim, seed).unwrap();
        let mut out = Points::empty(dim).unwrap();
        let mut x = vec![0.0; dim];
        for _ in 0..n {
            sobol.next_into(&mut x);
            out.push(&x).unwrap();
        }
        out
    }

    /// The part of fresh points whose side is told right.
    fn told_right(dim: usize, n: usize, holds: impl Fn(&[f64]) -> bool) -> f64 {
        let points = cube(dim, n, 1);
        let positive: Vec<bool> = points.iter().map(&holds).collect();
        let feasible = Feasible::learn(&points, &positive, &vec![1.0; dim]).unwrap();
        let fresh = cube(dim, 512, 2);
        let chances = feasible.ln_chance(&fresh);
        let right = fresh.iter().zip(&chances);
        right.filter(|(x, ln)| holds(x) == (ln.exp() > 0.5)).count() as f64 / 512.0
    }

    #[test]
    fn planes_and_balls_are_learnt_from_few_points() {
        assert!(told_right(2, 40, |x| x[0] > x[1]) > 0.95);
        assert!(told_right(6, 60, |x| x[0] > x[1]) > 0.85);
        let ball = |x: &[f64]| x.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>() < 0.12;
        assert!(told_right(2, 60, ball) > 0.92);
    }

    #[test]
    fn the_part_that_is_positive_is_within_its_uncertainty() {
        // 0.3 of the square; 20 points leave it known to a few hundredths.
        let points = cube(2, 20, 3);
        let positive: Vec<bool> = points.iter().map(|x| x[0] < 0.3).collect();
        let feasible = Feasible::learn(&points, &positive, &[1.0, 1.0]).unwrap();
        let nodes = cube(2, 256, 4);
        let mean = feasible.ln_chance(&nodes);
        let mean = mean.iter().map(|ln| ln.exp()).sum::<f64>() / 256.0;
        let draws = feasible.draws(&nodes, 400, &mut Rng::new(5)).unwrap();
        let parts: Vec<f64> = (0..400)
            .map(|k| draws.col(k).iter().sum::<f64>() / 256.0)
            .collect();
        let drawn = parts.iter().sum::<f64>() / 400.0;
        let sd = (parts.iter().map(|p| (p - drawn).powi(2)).sum::<f64>() / 400.0).sqrt();
        assert!((drawn - mean).abs() < 0.02, "{drawn} {mean}");
        assert!(
            (mean - 0.3).abs() < 2.5 * sd && sd < 0.15 && sd > 0.005,
            "{mean} {sd}"
        );
    }
}

//! Fit a mixture of Gaussians to weighted points, so that draws can follow any shape of mass.

use super::linalg::{Cholesky, Mat};
use super::random::Rng;
use super::special::{ln_sum_exp, ln_sum_exp_columns, normal_quantile};
use crate::points::Points;

/// Gaussians at most, besides the one over everything: enough for a curved ridge in the plane.
const COMPONENTS: usize = 16;

/// Steps of expectation and maximisation: a proposal needs no more than its first digit.
const STEPS: usize = 8;

/// A proposal is wider than what it follows, by this factor in variance, for the sake of the tails.
const INFLATION: f64 = 1.4;

/// The share of one Gaussian over all of the mass, with three times its covariance: where no
/// component reaches, the measure's own nodes would be few and their weights large.
const DEFENCE: f64 = 0.2;

/// Points e^-25 below the total add nothing that a double would show.
const NEGLIGIBLE: f64 = 25.0;

/// A mixture of Gaussians with full covariances.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    pub components: Vec<Component>,
}

/// One Gaussian of the mixture.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    pub ln_share: f64,
    mean: Vec<f64>,
    factor: Cholesky,
    ln_norm: f64,
}

impl Component {
    fn new(ln_share: f64, mean: Vec<f64>, covariance: Mat) -> Option<Component> {
        let factor = Cholesky::new(covariance)?;
        let ln_norm = -0.5 * (mean.len() as f64 * std::f64::consts::TAU.ln() + factor.ln_det());
        Some(Component {
            ln_share,
            mean,
            factor,
            ln_norm,
        })
    }

    /// ln of the share times the density at points given a dimension after another; `z` is scratch
    /// of the same size.
    fn ln_terms(&self, columns: &[f64], z: &mut [f64], out: &mut [f64]) {
        let (n, lower) = (out.len(), self.factor.lower());
        out.fill(self.ln_share + self.ln_norm);
        // z = L^-1 (x - mean), all points at once.
        for (i, mean) in self.mean.iter().enumerate() {
            let (solved, rest) = z.split_at_mut(i * n);
            let own = &mut rest[..n];
            let x = &columns[i * n..(i + 1) * n];
            own.iter_mut().zip(x).for_each(|(z, x)| *z = x - mean);
            for (j, before) in solved.chunks_exact(n).enumerate() {
                let l = lower[(i, j)];
                own.iter_mut().zip(before).for_each(|(z, b)| *z -= l * b);
            }
            let pivot = 1.0 / lower[(i, i)];
            for (z, out) in own.iter_mut().zip(&mut *out) {
                *z *= pivot;
                *out -= 0.5 * *z * *z;
            }
        }
    }

    /// Map d uniform numbers to a point.
    pub fn draw(&self, u: &[f64], x: &mut [f64]) {
        let lower = self.factor.lower();
        let z: Vec<f64> = u.iter().map(|&u| normal_quantile(u)).collect();
        for (i, x) in x.iter_mut().enumerate() {
            *x = self.mean[i] + (0..=i).map(|j| lower[(i, j)] * z[j]).sum::<f64>();
        }
    }

    /// The standard deviation in one coordinate.
    fn sd(&self, i: usize) -> f64 {
        let l = self.factor.lower();
        (0..=i).map(|j| l[(i, j)] * l[(i, j)]).sum::<f64>().sqrt()
    }

    /// The same Gaussian with its covariance multiplied.
    fn widened(&self, factor: f64) -> Option<Component> {
        let (d, l) = (self.mean.len(), self.factor.lower());
        let covariance = Mat::from_fn(d, d, |i, j| {
            factor * (0..=i.min(j)).map(|m| l[(i, m)] * l[(j, m)]).sum::<f64>()
        });
        Component::new(self.ln_share, self.mean.clone(), covariance)
    }
}

impl Mixture {
    /// Fit to points with these ln weights; `None` if no weight is positive.
    ///
    /// There are as many Gaussians as the effective number of points can carry. Each covariance is
    /// averaged with that of a 1/k share of the whole, which counts as d + 1 points at most.
    pub fn fit(points: &Points, ln_weights: &[f64], rng: &mut Rng) -> Option<Mixture> {
        let total = ln_sum_exp(ln_weights);
        let heavy: Vec<usize> = (0..points.len())
            .filter(|&i| ln_weights[i] > total - NEGLIGIBLE)
            .collect();
        if heavy.is_empty() || !total.is_finite() {
            return None;
        }
        let mass = Mass {
            points: points.select(&heavy),
            weights: heavy
                .iter()
                .map(|&i| (ln_weights[i] - total).exp())
                .collect(),
        };
        let (d, effective) = (points.dim(), mass.effective());
        let k = COMPONENTS
            .min((effective / (2 * d + 2) as f64) as usize)
            .max(1);
        // A share 1/k of the mass has 1/k of the volume.
        let shrink = (k as f64).powf(-1.0 / d as f64);
        let whole = mass.gaussian()?;
        let lengths: Vec<f64> = (0..d).map(|i| shrink * whole.sd(i)).collect();
        let mut mixture = Mixture::around(&mass, &mass.centers(k, &lengths, rng), &lengths)?;
        for _ in 0..STEPS {
            mixture = mixture.improved(&mass, &lengths)?;
        }
        let widened = mixture.components.iter().map(|c| c.widened(INFLATION));
        let mut components = widened.collect::<Option<Vec<Component>>>()?;
        components
            .iter_mut()
            .for_each(|c| c.ln_share += (1.0 - DEFENCE).ln());
        components.push(Component {
            ln_share: DEFENCE.ln(),
            ..whole.widened(3.0)?
        });
        Some(Mixture { components })
    }

    fn around(mass: &Mass, centers: &[usize], lengths: &[f64]) -> Option<Mixture> {
        let (d, ln_share) = (lengths.len(), -(centers.len() as f64).ln());
        let round = |i: usize, j: usize| if i == j { lengths[i] * lengths[i] } else { 0.0 };
        let make = |&i: &usize| {
            let mean = mass.points.row(i).to_vec();
            Component::new(ln_share, mean, Mat::from_fn(d, d, round))
        };
        let components = centers.iter().map(make).collect::<Option<Vec<_>>>()?;
        Some(Mixture { components })
    }

    /// One step: share every point out by responsibility, move every component to its share.
    fn improved(&self, mass: &Mass, lengths: &[f64]) -> Option<Mixture> {
        let mut shares = vec![Share::new(lengths.len()); self.components.len()];
        let mut table = self.ln_terms(&mass.points);
        ln_sum_exp_columns(&mut table, mass.points.len());
        let responsible = table.chunks_exact(mass.points.len());
        for ((share, c), parts) in shares.iter_mut().zip(&self.components).zip(responsible) {
            for ((x, w), part) in mass.points.iter().zip(&mass.weights).zip(parts) {
                share.add(w * part, x, &c.mean);
            }
        }
        // A component with less than one effective point says nothing.
        let effective = mass.effective();
        let said = shares.iter().zip(&self.components);
        let said = said.filter(|(share, _)| share.weight * effective >= 1.0);
        let moved = said.map(|(share, c)| share.component(c, effective, lengths));
        let mut components = moved.collect::<Option<Vec<Component>>>()?;
        if components.is_empty() {
            return Some(self.clone());
        }
        let ln_shares: Vec<f64> = components.iter().map(|c| c.ln_share).collect();
        let total = ln_sum_exp(&ln_shares);
        components.iter_mut().for_each(|c| c.ln_share -= total);
        Some(Mixture { components })
    }

    /// A random point.
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let mut at = rng.uniform();
        let passed = |c: &&Component| {
            at -= c.ln_share.exp();
            at < 0.0
        };
        let last = &self.components[self.components.len() - 1];
        let chosen = self.components.iter().find(passed).unwrap_or(last);
        let u: Vec<f64> = chosen.mean.iter().map(|_| rng.uniform()).collect();
        let mut x = vec![0.0; u.len()];
        chosen.draw(&u, &mut x);
        x
    }

    /// ln of the density at every point.
    pub fn ln_densities(&self, points: &Points) -> Vec<f64> {
        ln_sum_exp_columns(&mut self.ln_terms(points), points.len())
    }

    /// The terms of the density, a component after another.
    fn ln_terms(&self, points: &Points) -> Vec<f64> {
        let (n, columns) = (points.len(), points.columns());
        let mut scratch = vec![0.0; columns.len()];
        let mut table = vec![0.0; self.components.len() * n];
        let rows = table.chunks_exact_mut(n).zip(&self.components);
        rows.for_each(|(row, c)| c.ln_terms(&columns, &mut scratch, row));
        table
    }
}

/// What one component is given in a step: weight, first and second moments about its old mean.
#[derive(Clone)]
struct Share {
    weight: f64,
    first: Vec<f64>,
    second: Mat,
}

impl Share {
    fn new(d: usize) -> Share {
        Share {
            weight: 0.0,
            first: vec![0.0; d],
            second: Mat::zeros(d, d),
        }
    }

    fn add(&mut self, weight: f64, x: &[f64], center: &[f64]) {
        // Below the rounding of the sum it is added to.
        if weight < 1e-17 {
            return;
        }
        self.weight += weight;
        for i in 0..x.len() {
            let at = weight * (x[i] - center[i]);
            self.first[i] += at;
            for j in 0..=i {
                self.second[(i, j)] += at * (x[j] - center[j]);
            }
        }
    }

    fn component(&self, old: &Component, effective: f64, lengths: &[f64]) -> Option<Component> {
        let d = lengths.len();
        let shift: Vec<f64> = self.first.iter().map(|f| f / self.weight).collect();
        let count = self.weight * effective;
        // d + 1 points of the whole steady a component of few points, and fade where it has many of
        // its own.
        let process = (d as f64 + 1.0) / (1.0 + count / (d as f64 + 1.0));
        let covariance = Mat::from_fn(d, d, |i, j| {
            let own = self.second[(i.max(j), i.min(j))] / self.weight - shift[i] * shift[j];
            let like = if i == j { lengths[i] * lengths[i] } else { 0.0 };
            (count * own + process * like) / (count + process)
        });
        let mean = old.mean.iter().zip(&shift).map(|(m, s)| m + s).collect();
        Component::new(self.weight.ln(), mean, covariance)
    }
}

/// Points with weights that sum to 1.
struct Mass {
    points: Points,
    weights: Vec<f64>,
}

impl Mass {
    fn effective(&self) -> f64 {
        1.0 / self.weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// The Gaussian with the mean and covariance of all points.
    fn gaussian(&self) -> Option<Component> {
        let mut share = Share::new(self.points.dim());
        let center = self.points.row(0);
        for (x, &w) in self.points.iter().zip(&self.weights) {
            share.add(w, x, center);
        }
        let d = center.len();
        let shift = &share.first;
        let covariance = Mat::from_fn(d, d, |i, j| {
            let own = share.second[(i.max(j), i.min(j))] - shift[i] * shift[j];
            // One point alone has no covariance.
            own + if i == j { 1e-12 } else { 0.0 }
        });
        let mean = center.iter().zip(shift).map(|(c, s)| c + s).collect();
        Component::new(0.0, mean, covariance)
    }

    /// k centers that are heavy and far from each other, in lengths (k-means++).
    fn centers(&self, k: usize, lengths: &[f64], rng: &mut Rng) -> Vec<usize> {
        let n = self.weights.len();
        let heavier = |best: usize, i: usize| {
            if self.weights[i] > self.weights[best] {
                i
            } else {
                best
            }
        };
        let mut centers = vec![(0..n).fold(0, heavier)];
        let mut pull = vec![f64::INFINITY; n];
        while centers.len() < k {
            let last = self.points.row(centers[centers.len() - 1]);
            for (i, x) in self.points.iter().enumerate() {
                let z = x.iter().zip(last).zip(lengths);
                let r2: f64 = z.map(|((x, c), l)| ((x - c) / l).powi(2)).sum();
                pull[i] = pull[i].min(self.weights[i] * r2);
            }
            let mut left = rng.uniform() * pull.iter().sum::<f64>();
            let chosen = (0..n).find(|&i| {
                left -= pull[i];
                left <= 0.0
            });
            centers.push(chosen.unwrap_or(n - 1));
        }
        centers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::special::ln_normal_pdf;

    /// Two clusters of very different weight, width and place.
    fn two_clusters(n: usize) -> (Points, Vec<f64>) {
        let mut rng = Rng::new(5);
        let mut points = Points::empty(2).unwrap();
        for i in 0..n {
            let (center, width) = if i % 4 == 0 { (3.0, 0.1) } else { (-1.0, 0.5) };
            let x = [center + width * rng.normal(), width * rng.normal()];
            points.push(&x).unwrap();
        }
        let ln_weights = vec![-900.0; n];
        (points, ln_weights)
    }

    #[test]
    fn follows_two_clusters() {
        let (points, ln_weights) = two_clusters(2000);
        let mixture = Mixture::fit(&points, &ln_weights, &mut Rng::new(1)).unwrap();
        let normal =
            |r2: f64, w: f64| (-0.5 * r2 / (w * w)).exp() / (std::f64::consts::TAU * w * w);
        for (center, width, share) in [(3.0, 0.1, 0.25), (-1.0, 0.5, 0.75)] {
            let want = (share * normal(0.0, width)).ln();
            let at = Points::new(2, vec![center, 0.0]).unwrap();
            let got = mixture.ln_densities(&at)[0];
            assert!((got - want).abs() < 0.8, "{got} {want}");
        }
        let shares: Vec<f64> = mixture.components.iter().map(|c| c.ln_share).collect();
        assert!(ln_sum_exp(&shares).abs() < 1e-12);
    }

    #[test]
    fn the_density_of_two_correlated_normals() {
        // (x, y) with variances 4 and 9 and correlation 1/2: x is N(1, 4), y given x is N(-2 + 3 (x
        // - 1) / 4, 27/4).
        let covariance = Mat::from_fn(2, 2, |i, j| [[4.0, 3.0], [3.0, 9.0]][i][j]);
        let component = Component::new(0.0, vec![1.0, -2.0], covariance).unwrap();
        let components = vec![component];
        let points = [[1.0, -2.0], [2.5, 0.3], [-40.0, 7.0]];
        let at = Points::new(2, points.concat()).unwrap();
        let ln_normal =
            |z: f64, variance: f64| ln_normal_pdf(z / variance.sqrt()) - 0.5 * variance.ln();
        for ([x, y], got) in points.iter().zip(Mixture { components }.ln_densities(&at)) {
            let want = ln_normal(x - 1.0, 4.0) + ln_normal(y + 2.0 - 0.75 * (x - 1.0), 6.75);
            assert!((got - want).abs() < 1e-12 * want.abs(), "{got} {want}");
        }
    }

    #[test]
    fn one_point_and_no_mass() {
        let points = Points::from_rows(&[vec![1.0, 2.0], vec![5.0, 5.0]]).unwrap();
        let none = [f64::NEG_INFINITY; 2];
        assert!(Mixture::fit(&points, &none, &mut Rng::new(1)).is_none());
        let one = [0.0, f64::NEG_INFINITY];
        let mixture = Mixture::fit(&points, &one, &mut Rng::new(1)).unwrap();
        let there = Points::new(2, vec![1.0, 2.0, 1.1, 2.0]).unwrap();
        let density = mixture.ln_densities(&there);
        assert!(density[0] > density[1]);
    }
}

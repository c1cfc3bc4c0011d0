//! Hold a population in normal scores, and move it: random walks in the population's own shape.

use super::run::{Halt, Run};

use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::random::Rng;
use crate::numeric::weights::{self, effective};
use crate::points::Points;

/// Points in normal scores with ln f there.
#[derive(Debug, Clone)]
pub(super) struct Cloud {
    pub z: Points,
    pub ln_f: Vec<f64>,
}

impl Cloud {
    /// So many draws from the measure.
    pub fn draw(run: &mut Run<'_>, n: usize, rng: &mut Rng) -> Result<Cloud, Halt> {
        let mut z = Points::empty(run.dim())?;
        for _ in 0..n {
            z.push(&run.draw_scores(rng)?)?;
        }
        let ln_f = run.ln_f(&z)?;
        Ok(Cloud { z, ln_f })
    }

    pub fn len(&self) -> usize {
        self.ln_f.len()
    }

    /// The members with these indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Cloud {
        Cloud {
            z: self.z.select(indices),
            ln_f: indices.iter().map(|&i| self.ln_f[i]).collect(),
        }
    }

    pub fn extend(&mut self, other: &Cloud) -> Result<(), Halt> {
        self.z.extend(&other.z)?;
        self.ln_f.extend_from_slice(&other.ln_f);
        Ok(())
    }

    /// The largest ln f.
    pub fn top(&self) -> f64 {
        self.ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// One Metropolis step of every member towards the density proportional to N(z; 0, I) f^beta.
    ///
    /// Half of the proposals are a walk z + s L xi. Its s is spread over a decade below the best
    /// one for a Gaussian, 2.38 / sqrt(d), so that none need be tuned. The other half go z -> m +
    /// sqrt(1 - r^2) (z - m) + r L xi. This leaves the population's normal law unchanged, and takes
    /// long steps where the target is like it.
    pub fn step(
        &mut self,
        run: &mut Run<'_>,
        beta: f64,
        shape: &Shape,
        rng: &mut Rng,
    ) -> Result<(), Halt> {
        let dim = self.z.dim();
        let mut proposed = Vec::with_capacity(self.len() * dim);
        let mut ln_forth_and_back = Vec::with_capacity(self.len());
        for z in self.z.iter() {
            if rng.uniform() < 0.5 {
                let scale = 2.38 / (dim as f64).sqrt() * (-rng.uniform() * 10_f64.ln()).exp();
                let jump = shape.draw(rng);
                proposed.extend(z.iter().zip(&jump).map(|(z, j)| z + scale * j));
                ln_forth_and_back.push(0.0);
            } else {
                let r = rng.uniform();
                let (keep, jump) = ((1.0 - r * r).sqrt(), shape.draw(rng));
                let at = |((z, m), j): ((&f64, &f64), &f64)| m + keep * (z - m) + r * j;
                let new: Vec<f64> = z.iter().zip(&shape.mean).zip(&jump).map(at).collect();
                ln_forth_and_back.push(0.5 * (shape.squared(&new) - shape.squared(z)));
                proposed.extend(new);
            }
        }
        let proposed = Points::new(dim, proposed)?;
        let ln_f = run.ln_f(&proposed)?;
        let mut z = Vec::with_capacity(self.len() * dim);
        for i in 0..self.len() {
            let (old, new) = (self.z.row(i), proposed.row(i));
            let ln_ratio = 0.5 * (squared(old) - squared(new))
                + beta * (ln_f[i] - self.ln_f[i])
                + ln_forth_and_back[i];
            let accept = rng.uniform().ln() < ln_ratio;
            z.extend_from_slice(if accept { new } else { old });
            if accept {
                self.ln_f[i] = ln_f[i];
            }
        }
        self.z = Points::new(dim, z)?;
        Ok(())
    }
}

pub(super) fn squared(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum()
}

/// Weights with sum 1, even if no point has any: then all alike.
pub(super) fn normalised(ln_weights: &[f64]) -> Vec<f64> {
    let alike = || vec![1.0 / ln_weights.len() as f64; ln_weights.len()];
    weights::normalised(ln_weights).unwrap_or_else(alike)
}

/// The mean and covariance of a weighted population.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub mean: Vec<f64>,
    factor: Cholesky,
}

impl Shape {
    pub fn of(z: &Points, ln_weights: &[f64]) -> Shape {
        let dim = z.dim();
        let weights = normalised(ln_weights);
        let mut mean = vec![0.0; dim];
        for (z, w) in z.iter().zip(&weights) {
            mean.iter_mut().zip(z).for_each(|(m, z)| *m += w * z);
        }
        let mut cov = Mat::zeros(dim, dim);
        for (z, w) in z.iter().zip(&weights) {
            for i in 0..dim {
                for j in 0..=i {
                    cov[(i, j)] += w * (z[i] - mean[i]) * (z[j] - mean[j]);
                }
            }
        }
        // Few points know variances, not correlations. So d / (d + n) of the latter are given up,
        // which also keeps the matrix positive definite. Points that all coincide still get some
        // width.
        let n = effective(ln_weights);
        let kept = n / (n + dim as f64);
        for i in 0..dim {
            cov[(i, i)] = cov[(i, i)].max(1e-20) * (1.0 + 1e-9);
            for j in 0..i {
                cov[(i, j)] *= kept;
                cov[(j, i)] = cov[(i, j)];
            }
        }
        let diagonal = Mat::from_fn(dim, dim, |i, j| if i == j { cov[(i, i)] } else { 0.0 });
        let unit = || Mat::from_fn(dim, dim, |i, j| f64::from(u8::from(i == j)));
        let factor = Cholesky::new(cov).or_else(|| Cholesky::new(diagonal));
        let factor = factor.or_else(|| Cholesky::new(unit()));
        Shape {
            mean,
            factor: factor.expect("the unit matrix has a factor"),
        }
    }

    /// L xi: normal with the population's covariance and mean 0.
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let mut xi = vec![0.0; self.mean.len()];
        rng.fill_normal(&mut xi);
        self.stretch(&xi)
    }

    /// L xi.
    pub fn stretch(&self, xi: &[f64]) -> Vec<f64> {
        let lower = self.factor.lower();
        let row = |i: usize| (0..=i).map(|j| lower[(i, j)] * xi[j]).sum();
        (0..xi.len()).map(row).collect()
    }

    /// (z - m)' C^-1 (z - m).
    pub fn squared(&self, z: &[f64]) -> f64 {
        self.squared_between(z, &self.mean)
    }

    /// (a - b)' C^-1 (a - b).
    pub fn squared_between(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut away: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        self.factor.solve_lower_vec(&mut away);
        squared(&away)
    }
}

//! Step 3: condition the Gaussian process on g by what was observed.

use super::process::Scaled;
use super::{Anatomy, Belief, Link, Moments, Process, chain};
use crate::error::{Error, Result, Step, finite, positive, same_length};
use crate::numeric::linalg::{self, Cholesky, Mat, dot};
use crate::points::Points;
use crate::warp::{LnVar, Marginal};

/// Points a prediction handles at once: the block of n x 256 covariances stays in the cache.
const BLOCK: usize = 256;

/// Jitters tried in turn, relative to the mean of the diagonal.
///
/// Exact data need none; the squared exponential's matrices lose positive definiteness to rounding
/// at about n eps, and 1e-6 of the variance is the most that may pass for rounding.
pub(crate) const JITTERS: [f64; 6] = [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6];

/// g at one point with the gradients of its mean and variance in x.
#[derive(Debug, Clone, PartialEq)]
pub struct Latent {
    /// Mean and variance.
    pub marginal: Marginal,
    /// d mu / d x.
    pub d_mu: Vec<f64>,
    /// d s / d x.
    pub d_s: Vec<f64>,
}

/// p(g | D) = GP(mu_D, Sigma_D).
#[derive(Debug, Clone)]
pub struct PosteriorProcess {
    process: Process,
    x: Points,
    g: Vec<f64>,
    scaled: Scaled,
    factor: Cholesky,
    /// (Sigma + noise)^-1 (g - mu).
    weights: Vec<f64>,
    jitter: f64,
    /// The variance of the noise on each observation, beside that of theta; empty without such.
    own_noise: Vec<f64>,
}

impl PosteriorProcess {
    pub(super) fn new(
        process: Process,
        x: Points,
        g: Vec<f64>,
        own_noise: Vec<f64>,
    ) -> Result<PosteriorProcess> {
        process.theta().check()?;
        same_length("point", x.dim(), process.theta().dim())?;
        same_length("g", g.len(), x.len())?;
        if !own_noise.is_empty() {
            same_length("noise", own_noise.len(), x.len())?;
        }
        for (i, &v) in own_noise.iter().enumerate() {
            if v != 0.0 {
                positive(&format!("noise[{i}]"), v)?;
            }
        }
        for (i, &g) in g.iter().enumerate() {
            finite(&format!("g[{i}]"), g)?;
        }
        let scaled = Scaled::new(&x, process.theta());
        let mut sigma = process.sigma_scaled(&scaled, &x);
        for i in 0..x.len() {
            sigma[(i, i)] += process.theta().noise + own_noise.get(i).unwrap_or(&0.0);
        }
        let (factor, jitter) = factor_with_jitter(&sigma).ok_or_else(not_positive_definite)?;
        let mut posterior = PosteriorProcess {
            process,
            x,
            g,
            scaled,
            factor,
            weights: Vec::new(),
            jitter,
            own_noise,
        };
        posterior.reweigh();
        Ok(posterior)
    }

    fn reweigh(&mut self) {
        let means = self.process.means(&self.x);
        self.weights = self.g.iter().zip(means).map(|(g, m)| g - m).collect();
        self.factor.solve_vec(&mut self.weights);
    }

    /// Condition on more points, in O(n^2) a point.
    ///
    /// The jitter stays what it was while the longer matrix factors; otherwise the ladder is
    /// climbed afresh.
    pub fn extend(&self, x: &Points, g: &[f64]) -> Result<PosteriorProcess> {
        same_length("point", x.dim(), self.dim())?;
        same_length("g", g.len(), x.len())?;
        for (i, &g) in g.iter().enumerate() {
            finite(&format!("g[{i}]"), g)?;
        }
        let (mut all_x, mut all_g) = (self.x.clone(), self.g.clone());
        all_x.extend(x)?;
        all_g.extend_from_slice(g);
        let mut own_noise = self.own_noise.clone();
        if !own_noise.is_empty() {
            own_noise.resize(all_g.len(), 0.0);
        }
        let theta = self.process.theta();
        let cross = self.process.sigma_scaled(&self.scaled, x);
        let mut corner = self.process.sigma(x, x)?;
        let nugget = theta.noise + self.jitter * (theta.output_scale + theta.noise);
        for i in 0..x.len() {
            corner[(i, i)] += nugget;
        }
        let Some(factor) = self.factor.extended(cross, corner).filter(well_conditioned) else {
            return PosteriorProcess::new(self.process.clone(), all_x, all_g, own_noise);
        };
        let mut posterior = PosteriorProcess {
            process: self.process.clone(),
            scaled: Scaled::new(&all_x, theta),
            x: all_x,
            g: all_g,
            factor,
            weights: Vec::new(),
            jitter: self.jitter,
            own_noise,
        };
        posterior.reweigh();
        Ok(posterior)
    }

    /// The prior it came from.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Where g was observed.
    pub fn points(&self) -> &Points {
        &self.x
    }

    /// What was observed.
    pub fn g(&self) -> &[f64] {
        &self.g
    }

    /// The variance of the noise on each observation, beside that of theta; empty without such.
    pub fn own_noise(&self) -> &[f64] {
        &self.own_noise
    }

    /// The jitter that the factorisation needed, relative to the diagonal: output scale and noise.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The factor of Sigma(X, X) + noise.
    pub(crate) fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// (Sigma + noise)^-1 (g - mu).
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// mu_D and Sigma_D(x, x) at the points, block by block.
    pub fn marginals(&self, x: &Points) -> Result<Vec<Marginal>> {
        same_length("point", x.dim(), self.dim())?;
        let mut out = Vec::with_capacity(x.len());
        for start in (0..x.len()).step_by(BLOCK) {
            let block = x.slice(start, (start + BLOCK).min(x.len()));
            out.extend(self.marginals_reduced(&block).0);
        }
        Ok(out)
    }

    /// The same at once, with L^-1 Sigma(X, x). What Sigma_D loses to the data is the inner product
    /// of two columns.
    pub(crate) fn marginals_reduced(&self, x: &Points) -> (Vec<Marginal>, Mat) {
        let mut k = self.process.sigma_scaled(&self.scaled, x);
        let means: Vec<f64> = (0..x.len())
            .map(|j| self.process.mean_at(x.row(j)) + dot(k.col(j), &self.weights))
            .collect();
        self.factor.solve_lower(&mut k);
        let output_scale = self.process.theta().output_scale;
        let marginal = |(j, mu): (usize, f64)| {
            let s = output_scale - dot(k.col(j), k.col(j));
            // Rounding can leave -1e-17 at an observed point.
            Marginal { mu, s: s.max(0.0) }
        };
        (means.into_iter().enumerate().map(marginal).collect(), k)
    }

    /// mu_D at the points, without variances: O(n) a point.
    pub fn means(&self, x: &Points) -> Result<Vec<f64>> {
        same_length("point", x.dim(), self.dim())?;
        let mut k = vec![0.0; self.x.len()];
        let mean_at = |x: &[f64]| {
            self.process.sigma_to(&self.scaled, x, &mut k);
            self.process.mean_at(x) + dot(&k, &self.weights)
        };
        Ok(x.iter().map(mean_at).collect())
    }

    /// What each observation was expected to be, given all the others: mean and variance of g_i
    /// there.
    ///
    /// With A = (Sigma + noise)^-1: variance 1 / A_ii, mean g_i - (A (g - mu))_i / A_ii
    /// (Sundararajan and Keerthi 2001).
    ///
    /// ```
    /// use warpquad::{Belief, Points, Process, Theta, kernel::Matern32};
    /// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![0.5])?);
    /// let x = Points::from_rows(&[vec![0.0], vec![0.4], vec![1.0]])?;
    /// let left_out = process.condition(&x, &[0.3, 0.1, -0.2])?.leave_one_out();
    /// let others = process.condition(&x.slice(0, 2), &[0.3, 0.1])?.marginals(&x.slice(2, 3))?;
    /// assert!((left_out[2].mu - others[0].mu).abs() < 1e-12);
    /// assert!((left_out[2].s - others[0].s).abs() < 1e-12);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn leave_one_out(&self) -> Vec<Marginal> {
        let n = self.x.len();
        let mut inverse = Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
        self.factor.solve_lower(&mut inverse);
        let left_out = |i: usize| {
            let s = 1.0 / dot(inverse.col(i), inverse.col(i));
            let mu = self.g[i] - self.weights[i] * s;
            Marginal { mu, s }
        };
        (0..n).map(left_out).collect()
    }

    /// L^-1 Sigma(X, x).
    fn reduced(&self, x: &Points) -> Mat {
        let mut k = self.process.sigma_scaled(&self.scaled, x);
        self.factor.solve_lower(&mut k);
        k
    }

    /// Mean, variance and their gradients at one point.
    pub fn latent(&self, x: &[f64]) -> Result<Latent> {
        same_length("point", x.len(), self.dim())?;
        let (theta, n) = (self.process.theta(), self.x.len());
        let mut k = vec![0.0; n];
        let slopes = self.process.sigma_slopes(&self.scaled, x, &mut k);
        let mu = self.process.mean_at(x) + dot(&k, &self.weights);
        let mut solved = k.clone();
        self.factor.solve_vec(&mut solved);
        // Sigma_D = s - k' A k.
        let s = theta.output_scale - dot(&k, &solved);
        let marginal = Marginal { mu, s: s.max(0.0) };
        let mut d_mu = theta.pull_back(theta.mean_gradient(&theta.turn(x)));
        let explained = slopes.sums(&self.weights, theta);
        d_mu.iter_mut().zip(explained).for_each(|(d, e)| *d += e);
        let d_s = slopes.sums(&solved, theta);
        Ok(Latent {
            marginal,
            d_mu,
            d_s: d_s.iter().map(|d| -2.0 * d).collect(),
        })
    }
}

/// Factor a matrix (its lower triangle), climbing the jitter ladder; the jitter is relative to the
/// mean of the diagonal.
pub(crate) fn factor_with_jitter(a: &Mat) -> Option<(Cholesky, f64)> {
    let n = a.rows();
    let diagonal = (0..n).map(|i| a[(i, i)]).sum::<f64>() / n.max(1) as f64;
    JITTERS.iter().find_map(|&jitter| {
        let mut b = a.clone();
        for i in 0..n {
            b[(i, i)] += jitter * diagonal;
        }
        let factor = Cholesky::new(b).filter(well_conditioned)?;
        Some((factor, jitter))
    })
}

/// A squared pivot below n eps of the largest is rounding, and so are the weights it leads to.
pub(crate) fn well_conditioned(factor: &Cholesky) -> bool {
    let l = factor.lower();
    let pivots = (0..factor.order()).map(|i| l[(i, i)] * l[(i, i)]);
    let (low, high) = pivots.fold((f64::INFINITY, 0.0_f64), |(low, high), p| {
        (low.min(p), high.max(p))
    });
    factor.order() == 0 || low > factor.order() as f64 * f64::EPSILON * high
}

pub(crate) fn not_positive_definite() -> Error {
    Error::numerics(
        Step::Condition,
        "the covariance matrix is not positive definite even with jitter 1e-6: points coincide or \
         length scales are far too long; remove repeated points, give a noise variance or fit again",
    )
}

impl Belief for PosteriorProcess {
    fn dim(&self) -> usize {
        self.process.theta().dim()
    }

    fn moments(&self, x: &Points) -> Result<Moments> {
        let marginals = self.marginals(x)?;
        Ok(Moments {
            offset: 0.0,
            ln_unit: vec![0.0; x.len()],
            mean: marginals.iter().map(|at| at.mu).collect(),
            var: marginals.iter().map(|at| at.s).collect(),
        })
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<Mat> {
        let mut out = self.process.sigma(x, y)?;
        let lost = linalg::transpose_mul(&self.reduced(x), &self.reduced(y));
        for j in 0..out.cols() {
            for (o, l) in out.col_mut(j).iter_mut().zip(lost.col(j)) {
                *o -= l;
            }
        }
        Ok(out)
    }

    fn cov_lower(&self, x: &Points) -> Result<Mat> {
        let mut out = self.process.sigma(x, x)?;
        linalg::subtract_gram_lower(&mut out, &self.reduced(x));
        Ok(out)
    }

    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let latent = self.latent(x)?;
        let s = latent.marginal.s;
        let ln_var = LnVar {
            value: s.ln(),
            d_mu: 0.0,
            d_s: 1.0 / s,
        };
        Ok(chain(ln_var, &latent.d_mu, &latent.d_s))
    }

    fn anatomy(&self) -> Option<Anatomy<'_>> {
        Some(Anatomy {
            posterior: self,
            link: Link::Latent,
        })
    }
}

//! Step 4: match the first two moments of f = xi(g).

use super::{Anatomy, Belief, Link, Moments, PosteriorProcess, chain};
use crate::error::Result;
use crate::numeric::linalg::Mat;
use crate::points::Points;
use crate::warp::{Marginal, Warp};

/// p(f | D) ~ GP(m_D, K_D), with m_D and K_D the exact first two moments of xi(g).
///
/// ```
/// use warpquad::{Belief, Points, Process, Theta, Warped, kernel::Matern32, warp::Log};
/// let process = Process::new(Matern32, Theta::constant(0.0, 1.0, vec![1.0])?);
/// let posterior = process.condition(&Points::from_rows(&[vec![0.0]])?, &[-3.0])?;
/// let f = Warped::new(&Log, &posterior).moments(&Points::from_rows(&[vec![0.0]])?)?;
/// assert!((f.means()[0] - (-3.0_f64).exp()).abs() < 1e-12);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Warped<'a> {
    warp: &'a dyn Warp,
    posterior: &'a PosteriorProcess,
}

impl<'a> Warped<'a> {
    /// The belief about f = xi(g).
    pub fn new(warp: &'a dyn Warp, posterior: &'a PosteriorProcess) -> Warped<'a> {
        Warped { warp, posterior }
    }

    fn features(&self, marginals: &[Marginal]) -> Vec<f64> {
        let width = self.warp.feature_count();
        let mut out = vec![0.0; width * marginals.len()];
        for (at, out) in marginals.iter().zip(out.chunks_exact_mut(width)) {
            self.warp.features(*at, out);
        }
        out
    }
}

impl Belief for Warped<'_> {
    fn dim(&self) -> usize {
        self.posterior.dim()
    }

    fn moments(&self, x: &Points) -> Result<Moments> {
        let marginals = self.posterior.marginals(x)?;
        let mut out = Moments {
            offset: self.warp.offset(),
            ln_unit: Vec::with_capacity(x.len()),
            mean: Vec::with_capacity(x.len()),
            var: Vec::with_capacity(x.len()),
        };
        let mut features = vec![0.0; self.warp.feature_count()];
        for at in marginals {
            let mean = self.warp.mean(at);
            self.warp.features(at, &mut features);
            out.ln_unit.push(mean.ln_unit);
            out.mean.push(mean.value);
            out.var
                .push(self.warp.cov(&features, &features, at.s).max(0.0));
        }
        Ok(out)
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<Mat> {
        let mut out = self.posterior.cov(x, y)?;
        let left = self.features(&self.posterior.marginals(x)?);
        let right = self.features(&self.posterior.marginals(y)?);
        let width = self.warp.feature_count();
        for (j, right) in right.chunks_exact(width).enumerate() {
            self.warp.cov_column(right, &left, out.col_mut(j));
        }
        Ok(out)
    }

    fn cov_lower(&self, x: &Points) -> Result<Mat> {
        let mut out = self.posterior.cov_lower(x)?;
        let features = self.features(&self.posterior.marginals(x)?);
        let width = self.warp.feature_count();
        for (j, own) in features.chunks_exact(width).enumerate() {
            let below = &features[j * width..];
            self.warp.cov_column(own, below, &mut out.col_mut(j)[j..]);
        }
        Ok(out)
    }

    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let latent = self.posterior.latent(x)?;
        let ln_var = self.warp.ln_var(latent.marginal);
        Ok(chain(ln_var, &latent.d_mu, &latent.d_s))
    }

    fn anatomy(&self) -> Option<Anatomy<'_>> {
        Some(Anatomy {
            posterior: self.posterior,
            link: Link::Matched(self.warp),
        })
    }
}

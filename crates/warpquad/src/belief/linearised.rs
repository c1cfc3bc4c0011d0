//! The other step 4: expand xi about the mean of g, as WSABI-L does.

use super::{Anatomy, Belief, Link, Moments, PosteriorProcess, chain};
use crate::error::Result;
use crate::numeric::linalg::Mat;
use crate::points::Points;
use crate::warp::{LnVar, Local, Warp};

/// f ~ xi(mu_D) + xi'(mu_D) (g - mu_D): m = xi(mu), K = xi'(mu) c xi'(mu').
///
/// Cheaper than matching and never above it in the mean for a convex xi; it forgets that an
/// uncertain g makes f = xi(g) larger.
///
/// ```
/// use warpquad::{Belief, Linearised, Points, Process, Theta, kernel::Matern32, warp::Square};
/// let process = Process::new(Matern32, Theta::constant(2.0, 1.0, vec![1.0])?);
/// let posterior = process.condition(&Points::from_rows(&[vec![0.0]])?, &[3.0])?;
/// let far = Linearised::new(&Square::default(), &posterior)
///     .moments(&Points::from_rows(&[vec![90.0]])?)?;
/// assert!((far.mean[0] - 4.0).abs() < 1e-12 && (far.var[0] - 16.0).abs() < 1e-12);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Linearised<'a> {
    warp: &'a dyn Warp,
    posterior: &'a PosteriorProcess,
}

impl<'a> Linearised<'a> {
    /// The linearised belief about f = xi(g).
    pub fn new(warp: &'a dyn Warp, posterior: &'a PosteriorProcess) -> Linearised<'a> {
        Linearised { warp, posterior }
    }

    fn locals(&self, x: &Points) -> Result<Vec<Local>> {
        let means = self.posterior.means(x)?;
        Ok(means.into_iter().map(|mu| self.warp.local(mu)).collect())
    }
}

impl Belief for Linearised<'_> {
    fn dim(&self) -> usize {
        self.posterior.dim()
    }

    fn moments(&self, x: &Points) -> Result<Moments> {
        let marginals = self.posterior.marginals(x)?;
        let locals: Vec<Local> = marginals.iter().map(|at| self.warp.local(at.mu)).collect();
        let var = marginals.iter().zip(&locals);
        Ok(Moments {
            offset: self.warp.offset(),
            ln_unit: locals.iter().map(|l| l.ln_unit).collect(),
            mean: locals.iter().map(|l| l.value).collect(),
            var: var.map(|(at, l)| l.slope * l.slope * at.s).collect(),
        })
    }

    fn cov(&self, x: &Points, y: &Points) -> Result<Mat> {
        let mut out = self.posterior.cov(x, y)?;
        let (left, right) = (self.locals(x)?, self.locals(y)?);
        for (j, right) in right.iter().enumerate() {
            for (c, left) in out.col_mut(j).iter_mut().zip(&left) {
                *c *= left.slope * right.slope;
            }
        }
        Ok(out)
    }

    fn ln_var_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let latent = self.posterior.latent(x)?;
        let (mu, s) = (latent.marginal.mu, latent.marginal.s);
        let ln_slope = |mu: f64| {
            let local = self.warp.local(mu);
            local.ln_unit + local.slope.abs().ln()
        };
        // xi'' is not part of a warp's contract; ln|xi'| is smooth, so a central difference at the
        // cube root of eps gives its slope to ten digits.
        let h = 6e-6 * (1.0 + mu.abs());
        let ln_var = LnVar {
            value: 2.0 * ln_slope(mu) + s.ln(),
            d_mu: (ln_slope(mu + h) - ln_slope(mu - h)) / h,
            d_s: 1.0 / s,
        };
        Ok(chain(ln_var, &latent.d_mu, &latent.d_s))
    }

    fn anatomy(&self) -> Option<Anatomy<'_>> {
        Some(Anatomy {
            posterior: self.posterior,
            link: Link::Linearised(self.warp),
        })
    }
}

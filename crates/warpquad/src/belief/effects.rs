//! Let g be partly a sum of functions of one coordinate each: parameters that act on their own.

use crate::error::{Error, Result, positive};

/// Main effects, as the analysis of variance calls them: the share of g's variance that is a sum
/// over coordinates.
///
/// ```text
/// Sigma(x, y) = s [(1 - share) rho(sum over d of z_d^2)
///                  + share / D sum over d of rho(z_d^2 / stretch^2)]
/// with z_d = (x_d - y_d) / l_d
/// ```
///
/// What is seen along one coordinate is then known wherever the others are. Independent parameters
/// with D marginals of some shape take as many observations as D functions of one variable, not as
/// one function of D.
///
/// ```
/// use warpquad::{Belief, Effects, Points, Process, Theta, kernel::SquaredExponential};
/// let theta = Theta {
///     effects: Some(Effects::new(0.9, 1.0)?),
///     ..Theta::constant(0.0, 1.0, vec![1.0, 1.0])?
/// };
/// let at = |x: [f64; 2]| Points::from_rows(&[x.to_vec()]);
/// let far = Process::new(SquaredExponential, theta).cov(&at([0.0, 0.0])?, &at([0.0, 100.0])?)?;
/// assert!((far[(0, 0)] - 0.45).abs() < 1e-15);
/// assert!(Effects::new(1.5, 1.0).is_err());
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effects {
    /// The part of the variance that is a sum, between 0 and 1.
    pub share: f64,
    /// The lengths of the sum's terms, in length scales.
    pub stretch: f64,
}

impl Effects {
    /// This share of the variance, with lengths that are so many times the length scales.
    pub fn new(share: f64, stretch: f64) -> Result<Effects> {
        let effects = Effects { share, stretch };
        effects.check().map(|()| effects)
    }

    /// Refuse what no prior can have.
    pub fn check(&self) -> Result<()> {
        if !(self.share > 0.0 && self.share < 1.0) {
            let reason = format!("must be between 0 and 1, got {}", self.share);
            return Err(Error::spec("effects.share", reason));
        }
        positive("effects.stretch", self.stretch).map(|_| ())
    }

    /// Add z^2 / stretch^2 of one column, in length scales.
    pub(crate) fn add_squares(&self, x: &[f64], y: f64, out: &mut [f64]) {
        let scale = self.stretch.powi(-2);
        for (out, x) in out.iter_mut().zip(x) {
            *out += scale * (x - y) * (x - y);
        }
    }
}

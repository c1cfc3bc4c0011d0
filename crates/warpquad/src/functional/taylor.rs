//! Integrate the log warp by the paper's Taylor scheme: polynomials instead of exp.

use super::closed_form::{Algebra, Bivariate, ClosedForm, Term, trusted};
use crate::belief::PosteriorProcess;
use crate::error::{Error, Result, Step, same_length};
use crate::kernel::Family;
use crate::measure::Measure;
use crate::warp::Warp;

/// The integral of exp(g), expanded about g = 0 to order 1 or 2 in e = mu_D + Sigma_D(x, x) / 2 and
/// c = Sigma_D(x, x') together.
///
/// # Definition
///
/// ```text
/// m = exp(e)                 ~ 1 + e             or  1 + e + e^2/2
/// K = exp(e + e') expm1(c)   ~ c                 or  c + c^2/2 + c (e + e')
/// ```
///
/// (K has no leading 1: it vanishes with c.) With the squared exponential kernel and a Gaussian
/// measure or a product of uniforms and normals every term has a closed form.
///
/// # Range
///
/// The expansion is about 0, so it holds only where |mu_D + Sigma_D / 2| and Sigma_D are well below
/// 1 all over the measure: a likelihood in units of its largest value, over a region where it
/// falls by less than a factor of 2 or so. Elsewhere it is not an approximation at all: the
/// variance can even come out negative, which is an error.
///
/// # Judging it
///
/// Compare orders 1 and 2: the difference is the last term kept, and the first one left out is
/// smaller than it by about a third of max |e|. Where the two differ by more than a tenth of the
/// mean, use nodes.
///
/// # Reference
///
/// Chai and Garnett (2019), section 3.3.
///
/// ```
/// use warpquad::functional::taylor::taylor;
/// use warpquad::measure::Product;
/// use warpquad::{Points, Process, Theta, kernel::SquaredExponential, warp::Log};
/// // A constant g = 0.1, all but known: Z = exp(0.1) up to 0.1^3 / 6.
/// let process = Process::new(SquaredExponential, Theta::constant(0.1, 1e-9, vec![1.0])?);
/// let posterior = process.condition(&Points::from_rows(&[vec![0.5]])?, &[0.1])?;
/// let z = taylor(&Log, &posterior, &Product::uniform(&[(0.0, 1.0)])?, 2)?;
/// assert!((z.mean - 0.1_f64.exp()).abs() < 2e-4);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn taylor(
    warp: &dyn Warp,
    posterior: &PosteriorProcess,
    measure: &dyn Measure,
    order: usize,
) -> Result<ClosedForm> {
    if !warp.is_exponential() {
        let reason = format!(
            "the Taylor scheme expands exp: use the log warp, not {}",
            warp.name()
        );
        return Err(Error::spec("warp", reason));
    }
    let (mean, var) = expansion(posterior, measure, order)?;
    if var < 0.0 {
        let what = format!(
            "the Taylor scheme gives the variance {var}: |mu + s/2| is too large for an expansion \
             about 0; use nodes"
        );
        return Err(Error::numerics(Step::Integrate, what));
    }
    // xi(g) = offset + exp(ln_unit) value exp(g), read off at g = 0.
    let at_zero = warp.local(0.0);
    Ok(ClosedForm {
        offset: warp.offset(),
        ln_unit: at_zero.ln_unit,
        mean: at_zero.value * mean,
        var: at_zero.value * at_zero.value * var,
    })
}

/// The integrals of the expanded m and K, whatever sign the second has.
pub(super) fn expansion(
    posterior: &PosteriorProcess,
    measure: &dyn Measure,
    order: usize,
) -> Result<(f64, f64)> {
    check(posterior, measure, order)?;
    let algebra = Algebra::new(posterior, &measure.form()).ok_or_else(|| {
        Error::spec(
            "taylor",
            "needs a constant prior mean and a Gaussian measure or a product of uniforms and normals",
        )
    })?;
    // e^order holds the 2 order-fold products of k(x, x_i): the largest of all tensors.
    let sums = algebra.affords(0, 2 * order, 0).and_then(|()| {
        let mean = algebra.mean(&mean(order))?;
        Some((mean, algebra.double(&covariance(order))?))
    });
    let Some((mean, var)) = sums else {
        let reason = format!(
            "{} points are too many: order 2 costs n^5; use nodes, order 1 or at most 30 points",
            posterior.points().len()
        );
        return Err(Error::spec("taylor", reason));
    };
    if trusted((mean.0, var.0.abs()), (mean.1, var.1)).is_none() {
        let what = "rounding spoils the Taylor scheme where points are much closer than a length \
                    scale; use nodes or add noise";
        return Err(Error::numerics(Step::Integrate, what));
    }
    Ok((mean.0, var.0))
}

fn check(posterior: &PosteriorProcess, measure: &dyn Measure, order: usize) -> Result<()> {
    let kernel = posterior.process().kernel();
    if kernel.family() != Family::SquaredExponential {
        let reason = format!(
            "the Taylor scheme needs products that stay in the family: use squared-exponential, not {}",
            kernel.name()
        );
        return Err(Error::spec("kernel", reason));
    }
    if !(1..=2).contains(&order) {
        return Err(Error::spec("order", format!("must be 1 or 2, got {order}")));
    }
    let theta = posterior.process().theta();
    if theta.circles.is_some() {
        let reason = "the Taylor scheme has no form for a periodic parameter: use nodes";
        return Err(Error::spec("taylor", reason));
    }
    same_length("measure", measure.dim(), theta.dim())
}

/// e = mu + s/2.
fn exponent() -> Bivariate {
    Bivariate(vec![(1, 0, 1.0), (0, 1, 0.5)])
}

fn one() -> Bivariate {
    Bivariate(vec![(0, 0, 1.0)])
}

/// 1 + e, and + e^2/2 = mu^2/2 + mu s/2 + s^2/8.
fn mean(order: usize) -> Bivariate {
    let mut terms = vec![(0, 0, 1.0), (1, 0, 1.0), (0, 1, 0.5)];
    if order == 2 {
        terms.extend([(2, 0, 0.5), (1, 1, 0.5), (0, 2, 0.125)]);
    }
    Bivariate(terms)
}

/// c, and + c^2/2 + c (e + e').
fn covariance(order: usize) -> Vec<Term> {
    let mut terms = vec![Term::new(1, 1.0, one(), one())];
    if order == 2 {
        terms.push(Term::new(2, 0.5, one(), one()));
        // Both orders of e and e' have the same double integral.
        terms.push(Term::new(1, 2.0, exponent(), one()));
    }
    terms
}

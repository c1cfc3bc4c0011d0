//! Integrate a belief exactly where kernel, measure and warp allow it: one table, one row a case.
//!
//! With a constant prior mean the latent posterior is mu_D = mu + k(x, X) w and
//! Sigma_D = k - k(x, X) A k(X, x'), so the moments of a polynomial warp are polynomials in
//! k(x, x_i), k(x', x_j) and k(x, x'), and only their integrals are needed. A radial Matern kernel
//! is not a product over dimensions: it is in the table in one dimension only.

mod algebra;
mod frame;
mod matern;
mod product;
mod squared_exponential;
mod tensor;

pub(super) use algebra::{Algebra, Bivariate, Term};

use crate::belief::{Anatomy, Belief, Link, MeanFunction, PosteriorProcess};
use crate::kernel::Family;
use crate::measure::{Form, Form1, Measure};
use crate::warp::PolynomialForm;

/// Z = offset + exp(ln_unit) N(mean, var).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedForm {
    /// The constant outside the unit.
    pub offset: f64,
    /// ln of the unit.
    pub ln_unit: f64,
    /// The mean less the offset, in the unit.
    pub mean: f64,
    /// The variance in the unit squared.
    pub var: f64,
}

/// The operations that a closed form may cost, about a tenth of a second; nodes are cheaper beyond.
pub(super) const LIMIT: f64 = 1e8;

/// What a row of the table works on.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub posterior: &'a PosteriorProcess,
    pub form: Form<'a>,
    /// The constant mean of the prior.
    pub mu: f64,
    /// xi(g) = a_0 + a_1 g + ..., the last one not 0.
    pub coefficients: Vec<f64>,
    /// Whether f is linearised about mu_D instead of matched.
    pub linearised: bool,
}

impl Case<'_> {
    fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }
}

/// One closed form.
pub struct Row {
    /// The kernel, by its registry name.
    pub kernel: &'static str,
    /// The measure, in words.
    pub measure: &'static str,
    /// How f comes from g, in words.
    pub link: &'static str,
    family: Family,
    knows_measure: fn(&Form<'_>) -> bool,
    knows_link: fn(&Case<'_>) -> bool,
    solve: fn(&Case<'_>) -> Option<(f64, f64)>,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} x {}: {}", self.kernel, self.measure, self.link)
    }
}

const fn squared_exponential(
    measure: (&'static str, fn(&Form<'_>) -> bool),
    link: (&'static str, fn(&Case<'_>) -> bool),
    solve: fn(&Case<'_>) -> Option<(f64, f64)>,
) -> Row {
    Row {
        kernel: "squared-exponential",
        measure: measure.0,
        link: link.0,
        family: Family::SquaredExponential,
        knows_measure: measure.1,
        knows_link: link.1,
        solve,
    }
}

const fn matern(kernel: &'static str, p: usize) -> Row {
    Row {
        kernel,
        measure: "uniform on an interval (one dimension)",
        link: LINEAR.0,
        family: Family::Matern { p },
        knows_measure: is_interval,
        knows_link: LINEAR.1,
        solve: matern::linear,
    }
}

const GAUSSIAN: (&str, fn(&Form<'_>) -> bool) = ("Gaussian, full covariance", |form| {
    matches!(form, Form::Gaussian { .. })
});
const PRODUCT: (&str, fn(&Form<'_>) -> bool) = (
    "product of uniforms and normals",
    |form| matches!(form, Form::Product(laws) if !laws.contains(&Form1::Other)),
);
type Knows = fn(&Case<'_>) -> bool;
const LINEAR: (&str, Knows) = ("identity, up to an affine map", |case| case.degree() <= 1);
const MATCHED: (&str, Knows) = ("polynomial of degree 2 (square), matched", |case| {
    case.degree() == 2 && !case.linearised
});
const LINEARISED: (&str, Knows) = ("polynomial of degree 2 (square), linearised", |case| {
    case.degree() == 2 && case.linearised
});
const HIGHER: (&str, Knows) = ("polynomial of degree 3 or more", |case| case.degree() > 2);

fn is_interval(form: &Form<'_>) -> bool {
    matches!(form, Form::Product(laws) if matches!(laws[..], [Form1::Uniform { .. }]))
}

/// Every closed form, in the order in which [`integral`] tries them.
pub static TABLE: &[Row] = &[
    squared_exponential(GAUSSIAN, LINEAR, squared_exponential::linear),
    squared_exponential(PRODUCT, LINEAR, squared_exponential::linear),
    squared_exponential(GAUSSIAN, MATCHED, squared_exponential::quadratic),
    squared_exponential(PRODUCT, MATCHED, squared_exponential::quadratic),
    squared_exponential(GAUSSIAN, LINEARISED, squared_exponential::quadratic),
    squared_exponential(PRODUCT, LINEARISED, squared_exponential::quadratic),
    squared_exponential(GAUSSIAN, HIGHER, squared_exponential::polynomial),
    squared_exponential(PRODUCT, HIGHER, squared_exponential::polynomial),
    matern("matern12", 0),
    matern("matern32", 1),
    matern("matern52", 2),
];

/// The integral of a belief against a measure, if the [`TABLE`] has it.
///
/// `None` where it does not: for a quadratic prior mean, for other kernels, measures and warps, for
/// a Matern kernel in more than one dimension, where the sums would cost more than about 1e8
/// operations, and for degrees above 1 where points are so close together that rounding would show.
///
/// ```
/// use warpquad::functional::closed_form::integral;
/// use warpquad::measure::Product;
/// use warpquad::{Points, Process, Theta, kernel::SquaredExponential};
/// // One observation in the middle of a box much narrower than the length scale: Z is g there.
/// let process = Process::new(SquaredExponential, Theta::constant(0.0, 1.0, vec![1e6])?);
/// let posterior = process.condition(&Points::from_rows(&[vec![0.5]])?, &[3.0])?;
/// let z = integral(&posterior, &Product::uniform(&[(0.0, 1.0)])?).expect("a row of the table");
/// assert!((z.mean - 3.0).abs() < 1e-11 && z.var < 1e-11);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn integral(belief: &dyn Belief, measure: &dyn Measure) -> Option<ClosedForm> {
    let anatomy = belief.anatomy()?;
    let polynomial = polynomial(anatomy.link)?;
    let case = case(anatomy, measure, &polynomial)?;
    let (mean, var) = solve(&case)?;
    let finite = mean.is_finite() && var.is_finite();
    finite.then_some(ClosedForm {
        offset: polynomial.offset,
        ln_unit: polynomial.ln_unit,
        mean,
        // Rounding can leave -1e-17 where all is known.
        var: var.max(0.0),
    })
}

/// The table's answer: the first row that knows the case.
fn solve(case: &Case<'_>) -> Option<(f64, f64)> {
    let family = case.posterior.process().kernel().family();
    let knows = |row: &&Row| {
        row.family == family && (row.knows_measure)(&case.form) && (row.knows_link)(case)
    };
    let row = TABLE.iter().find(knows)?;
    (row.solve)(case)
}

/// The answer, unless rounding may have spoiled it: `sizes` are the sums of the absolute values of
/// all that was added to make mean and variance.
///
/// Wanted is a mean off by at most a thousandth of its standard deviation and a variance off by at
/// most a hundredth, or either off by less than 1e-10 of the mean, which nobody sees.
pub(super) fn trusted(value: (f64, f64), sizes: (f64, f64)) -> Option<(f64, f64)> {
    let (mean, var) = value;
    let negligible = 1e-10 * mean.abs();
    let mean_error = ROUNDING * sizes.0;
    let var_error = ROUNDING * sizes.1;
    let fine = mean_error <= negligible.max(1e-3 * var.max(0.0).sqrt())
        && var_error <= (negligible * negligible).max(1e-2 * var);
    fine.then_some(value)
}

/// The relative rounding of one integral; the sums are of absolute values, so signs that differ
/// make the true error smaller than the estimate.
const ROUNDING: f64 = f64::EPSILON;

fn polynomial(link: Link<'_>) -> Option<PolynomialForm> {
    link.warp().as_polynomial()
}

fn case<'a>(
    anatomy: Anatomy<'a>,
    measure: &'a dyn Measure,
    polynomial: &PolynomialForm,
) -> Option<Case<'a>> {
    let posterior = anatomy.posterior;
    // Turned, a product measure is none; a sum is not the product that these integrals are.
    let theta = posterior.process().theta();
    let is_product = theta.axes.is_none() && theta.effects.is_none() && theta.circles.is_none();
    if measure.dim() != posterior.dim() || !is_product {
        return None;
    }
    let mut coefficients = polynomial.coefficients.clone();
    while coefficients.last() == Some(&0.0) {
        coefficients.pop();
    }
    Some(Case {
        posterior,
        form: measure.form(),
        mu: constant_mean(posterior)?,
        coefficients,
        linearised: matches!(anatomy.link, Link::Linearised(_)),
    })
}

/// The prior mean, if it is constant.
pub(super) fn constant_mean(posterior: &PosteriorProcess) -> Option<f64> {
    match posterior.process().theta().mean {
        MeanFunction::Constant(mu) => Some(mu),
        MeanFunction::Quadratic { .. } => None,
    }
}

#[cfg(test)]
mod tests;

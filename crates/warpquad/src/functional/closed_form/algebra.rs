//! Integrate any polynomial in mu_D, Sigma_D(x, x) and Sigma_D(x, x') against the measure.
//!
//! Let y = L^-1 k(X, x), so that with v = L^-1 (g - mu) and the output scale s
//!
//! ```text
//! mu_D = mu + v'y      Sigma_D(x, x) = s - y'y      Sigma_D(x, x') = k(x, x') - y'y'
//! ```
//!
//! and a polynomial in these is a sum of k(x, x')^j times products of entries of y and y'. Their
//! integrals are tensors: the products of squared exponentials integrate in closed form, and L^-1
//! on every index turns k(X, x) into y. Contracting indices with v or with each other gives every
//! term. A product of p copies on either side costs n^(2p) in general, but without k(x, x') the
//! double integral is a product of two single ones, so degree D costs n^(2D - 2), not n^(2D).

use super::frame::Frame;
use super::product::Powers;
use super::squared_exponential::Whitener;
use super::tensor::Tensor;
use super::{LIMIT, constant_mean};
use crate::belief::PosteriorProcess;
use crate::measure::Form;
use crate::numeric::linalg::dot;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A polynomial in mu_D and Sigma_D(x, x): a list of (power of mu, power of Sigma, coefficient).
#[derive(Debug, Clone, PartialEq)]
pub(in crate::functional) struct Bivariate(pub Vec<(usize, usize, f64)>);

impl Bivariate {
    /// sum over i of a_i mu^i.
    pub fn power_series(a: &[f64]) -> Bivariate {
        Bivariate(a.iter().enumerate().map(|(i, &a)| (i, 0, a)).collect())
    }

    /// E of sum over i of a_i g^i, with E g^i = sum over b of i! / (2^b b! (i - 2b)!) mu^(i - 2b)
    /// s^b.
    pub fn expectation(a: &[f64]) -> Bivariate {
        let mut terms = Vec::new();
        for (i, &a) in a.iter().enumerate() {
            let mut coefficient = a;
            for b in 0..=i / 2 {
                terms.push((i - 2 * b, b, coefficient));
                let left = (i - 2 * b) as f64;
                coefficient *= left * (left - 1.0) / (2.0 * (b + 1) as f64);
            }
        }
        Bivariate(terms)
    }

    /// The same in h = mu_D - mu and t = s - Sigma_D.
    fn centred(&self, mu: f64, s: f64) -> Vec<(usize, usize, f64)> {
        let mut sums: HashMap<(usize, usize), f64> = HashMap::new();
        for &(a, b, coefficient) in &self.0 {
            for i in 0..=a {
                for k in 0..=b {
                    let shifts = mu.powi((a - i) as i32) * s.powi((b - k) as i32);
                    let ways = binomial(a, i) * binomial(b, k);
                    *sums.entry((i, k)).or_default() += coefficient * sign(k) * ways * shifts;
                }
            }
        }
        let mut terms: Vec<_> = sums.into_iter().map(|((i, k), c)| (i, k, c)).collect();
        terms.retain(|term| term.2 != 0.0);
        // A fixed order, so that sums round the same way in every run.
        terms.sort_by_key(|term| (term.0, term.1));
        terms
    }
}

/// coefficient Sigma_D(x, x')^power left(x) right(x').
#[derive(Debug, Clone)]
pub(in crate::functional) struct Term {
    power: usize,
    coefficient: f64,
    left: Bivariate,
    right: Bivariate,
}

impl Term {
    pub fn new(power: usize, coefficient: f64, left: Bivariate, right: Bivariate) -> Term {
        Term {
            power,
            coefficient,
            left,
            right,
        }
    }
}

/// The integrals of one posterior against one measure.
///
/// Each comes with its size, the sum of the absolute values of all that was added, which says what
/// rounding can do to it.
pub(in crate::functional) struct Algebra {
    frame: Frame,
    whitener: Whitener,
    /// L^-1 (g - mu) = L' w.
    v: Vec<f64>,
    v_size: Vec<f64>,
    mu: f64,
    s: f64,
    /// Tensors made so far, by power of k(x, x') and numbers of indices.
    tensors: RefCell<HashMap<(usize, usize, usize), Rc<WithSize>>>,
}

/// A tensor and its size.
struct WithSize {
    value: Tensor,
    size: Tensor,
}

impl Algebra {
    /// `None` where the prior mean is not constant or the measure does not factorise.
    pub fn new(posterior: &PosteriorProcess, form: &Form<'_>) -> Option<Algebra> {
        let mu = constant_mean(posterior)?;
        let mut v: Vec<f64> = posterior.g().iter().map(|g| g - mu).collect();
        posterior.factor().solve_lower_vec(&mut v);
        Some(Algebra {
            frame: Frame::new(posterior, form)?,
            whitener: Whitener::new(posterior.factor()),
            v_size: v.iter().map(|v| v.abs()).collect(),
            v,
            mu,
            s: posterior.process().theta().output_scale,
            tensors: RefCell::default(),
        })
    }

    /// `None` if the tensor of the integrals with these powers costs too much: ask for the largest
    /// one before making the smaller ones.
    pub fn affords(&self, j: usize, left: usize, right: usize) -> Option<()> {
        let n = self.frame.len() as f64;
        let order = (left + right) as f64;
        // Multiplying by L^-1 runs at several operations a cycle, the integrals do not; symmetry
        // spares all but an eighth or less of those.
        let integral = match j {
            0 => self.frame.single_cost(),
            _ => self.frame.double_cost(),
        };
        let each = (order * n + integral) / 8.0 + 4.0;
        (n.powf(order) * each <= LIMIT).then_some(())
    }

    /// The integral of a polynomial and its size; `None` if it costs too much.
    pub fn mean(&self, polynomial: &Bivariate) -> Option<(f64, f64)> {
        let sum = self.weighted(polynomial, 0)?;
        Some((sum.value.data[0], sum.size.data[0]))
    }

    /// The double integral of a sum of terms and its size; `None` if it costs too much.
    pub fn double(&self, terms: &[Term]) -> Option<(f64, f64)> {
        let (mut sum, mut size) = (0.0, 0.0);
        for term in terms {
            for j in 0..=term.power {
                let ways = binomial(term.power, j) * term.coefficient;
                let part = match j {
                    0 => self.apart(term)?,
                    _ => self.together(term, j)?,
                };
                sum += sign(term.power - j) * ways * part.0;
                size += ways.abs() * part.1;
            }
        }
        Some((sum, size))
    }

    /// The double integral of (y'y')^power left right, a sum of products of single integrals.
    fn apart(&self, term: &Term) -> Option<(f64, f64)> {
        let left = self.weighted(&term.left, term.power)?;
        let right = self.weighted(&term.right, term.power)?;
        let size = left.value.dot_sizes(&right.size) + left.size.dot_sizes(&right.value);
        Some((dot(&left.value.data, &right.value.data), size))
    }

    /// The double integral of k(x, x')^j (y'y')^(power - j) left right.
    fn together(&self, term: &Term, j: usize) -> Option<(f64, f64)> {
        let free = term.power - j;
        let (mut sum, mut size) = (0.0, 0.0);
        for &(a, b, left) in &term.left.centred(self.mu, self.s) {
            for &(a2, b2, right) in &term.right.centred(self.mu, self.s) {
                let (rows, cols) = (free + a + 2 * b, free + a2 + 2 * b2);
                let tensor = self.tensor(j, rows, cols)?;
                // Contract y', then y; the indices left over pair y with y'.
                let contract = |tensor: &Tensor, v: &[f64]| {
                    let one_side = tensor.contract(v, a2, b2).swapped(rows);
                    one_side.contract(v, a, b).paired(free)
                };
                sum += left * right * contract(&tensor.value, &self.v);
                size += (left * right).abs() * contract(&tensor.size, &self.v_size);
            }
        }
        Some((sum, size))
    }

    /// The integral of polynomial(x) times the `free`-fold product of y.
    fn weighted(&self, polynomial: &Bivariate, free: usize) -> Option<WithSize> {
        let n = self.frame.len();
        let (mut value, mut size) = (Tensor::zeros(n, free), Tensor::zeros(n, free));
        for (a, b, coefficient) in polynomial.centred(self.mu, self.s) {
            let tensor = self.tensor(0, free + a + 2 * b, 0)?;
            value.add(coefficient, &tensor.value.contract(&self.v, a, b));
            size.add(coefficient.abs(), &tensor.size.contract(&self.v_size, a, b));
        }
        Some(WithSize { value, size })
    }

    /// dint k(x, x')^j y x ... x y' x ..., with `left` copies of y and `right` of y'.
    fn tensor(&self, j: usize, left: usize, right: usize) -> Option<Rc<WithSize>> {
        if let Some(known) = self.tensors.borrow().get(&(j, left, right)) {
            return Some(known.clone());
        }
        self.affords(j, left, right)?;
        let (n, order) = (self.frame.len(), left + right);
        let scale = self.s.powi((order + j) as i32);
        let powers = Powers {
            left,
            right,
            between: j,
        };
        let double = self.frame.double(powers);
        let mut value = Tensor::symmetric(n, left, right, |at_x, at_y| {
            let (x, y) = (self.frame.gather(at_x), self.frame.gather(at_y));
            let integral = match j {
                0 => self.frame.single(&x),
                _ => double.at(&x, &y),
            };
            scale * integral
        });
        let mut size = value.clone();
        value.multiply_lower(&self.whitener.value);
        size.multiply_lower(&self.whitener.size);
        let tensor = Rc::new(WithSize { value, size });
        self.tensors
            .borrow_mut()
            .insert((j, left, right), tensor.clone());
        Some(tensor)
    }
}

fn sign(power: usize) -> f64 {
    if power.is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64)
}

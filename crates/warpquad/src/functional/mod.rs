//! Step 5: apply an affine functional L to a belief: `Z ~ N(L[m], L^2[K])`.

pub mod closed_form;
mod cubature;
mod density;
mod draws;
mod enough;
mod estimate;
mod following;
mod law;
mod nodes;
mod ratio;
mod replicates;
mod sample;
mod surface;
pub mod taylor;
mod tilt;

use cubature::cubature;
pub(crate) use enough::enough_nodes;
pub use estimate::Estimate;
use following::Follower;
pub(crate) use law::law_of_tilted;
pub use law::{Drawing, DrawnLaw, Law, law, law_of_z};
pub use nodes::Nodes;
pub(crate) use ratio::better_nodes;
pub use ratio::{Expectation, Ratio};
pub(crate) use sample::posterior_weights;
pub(crate) use sample::sample_tilted;
pub use sample::{Sample, sample};
pub(crate) use tilt::{LnRatio, Tilt};

use crate::belief::{Belief, Moments};
use crate::error::{Result, same_length};
use crate::measure::Measure;
use crate::numeric::linalg::dot;
use crate::points::Points;

/// Nodes that the double integral of K uses at most: its cost is quadratic in them.
const VARIANCE_NODES: usize = 1024;

/// An affine functional: a constant, and weighted integrals and point values of f.
///
/// ```
/// use warpquad::{Functional, Points, Process, Theta, kernel::Matern32};
/// use warpquad::measure::{Product, univariate};
/// let pi = Product::new(vec![univariate("uniform", &[-1.0, 1.0])?])?;
/// let belief = Process::new(Matern32, Theta::constant(2.0, 1.0, vec![0.5])?)
///     .condition(&Points::from_rows(&[vec![0.0]])?, &[2.0])?;
/// let z = Functional::integral(&pi, 1024);
/// let excess = z.clone().minus(Functional::at(&[0.0])).plus_constant(1.0);
/// assert!((excess.apply(&belief)?.mean() - 1.0).abs() < 1e-12);
/// assert!((z.times(3.0).apply(&belief)?.mean() - 6.0).abs() < 1e-12);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Functional<'a> {
    constant: f64,
    terms: Vec<(f64, Term<'a>)>,
}

#[derive(Debug, Clone)]
enum Term<'a> {
    Integral {
        measure: &'a dyn Measure,
        rule: Rule,
    },
    Value(Vec<f64>),
}

#[derive(Debug, Clone)]
enum Rule {
    Auto { n: usize, seed: u64 },
    Following { n: usize, seed: u64 },
    Given(Nodes),
}

impl<'a> Functional<'a> {
    /// The integral against a measure: by closed form where there is one, else on n Sobol' nodes.
    pub fn integral(measure: &'a dyn Measure, n: usize) -> Functional<'a> {
        Functional::term(Term::Integral {
            measure,
            rule: Rule::Auto { n, seed: 0 },
        })
    }

    /// The integral on n importance nodes that follow the belief it is applied to.
    pub fn following(measure: &'a dyn Measure, n: usize, seed: u64) -> Functional<'a> {
        Functional::term(Term::Integral {
            measure,
            rule: Rule::Following { n, seed },
        })
    }

    /// The integral on given nodes.
    pub fn on(measure: &'a dyn Measure, nodes: Nodes) -> Functional<'a> {
        Functional::term(Term::Integral {
            measure,
            rule: Rule::Given(nodes),
        })
    }

    /// The value f(x).
    pub fn at(x: &[f64]) -> Functional<'a> {
        Functional::term(Term::Value(x.to_vec()))
    }

    fn term(term: Term<'a>) -> Functional<'a> {
        Functional {
            constant: 0.0,
            terms: vec![(1.0, term)],
        }
    }

    /// Randomise the Sobol' nodes by another seed.
    pub fn seeded(mut self, to: u64) -> Functional<'a> {
        for (_, term) in &mut self.terms {
            if let Term::Integral {
                rule: Rule::Auto { seed, .. } | Rule::Following { seed, .. },
                ..
            } = term
            {
                *seed = to;
            }
        }
        self
    }

    /// c L.
    pub fn times(mut self, c: f64) -> Functional<'a> {
        self.constant *= c;
        self.terms.iter_mut().for_each(|(w, _)| *w *= c);
        self
    }

    /// L + L'.
    pub fn plus(mut self, other: Functional<'a>) -> Functional<'a> {
        self.constant += other.constant;
        self.terms.extend(other.terms);
        self
    }

    /// L - L'.
    pub fn minus(self, other: Functional<'a>) -> Functional<'a> {
        self.plus(other.times(-1.0))
    }

    /// L + c.
    pub fn plus_constant(mut self, c: f64) -> Functional<'a> {
        self.constant += c;
        self
    }

    /// What the belief says about `Z = L[f]`.
    pub fn apply(&self, belief: &dyn Belief) -> Result<Estimate> {
        self.check(belief)?;
        if let [(weight, Term::Integral { measure, rule })] = &self.terms[..]
            && let Rule::Auto { .. } = rule
            && let Some(form) = closed_form::integral(belief, *measure)
        {
            return Ok(Estimate {
                offset: self.constant + weight * form.offset,
                ln_unit: form.ln_unit,
                mean: weight * form.mean,
                var: weight * weight * form.var,
                node_error: 0.0,
                closed_form: true,
            });
        }
        let (sums, mean) = self.sums(belief)?;
        let var = variance(&sums, mean.ln_unit, belief)?;
        Ok(Estimate { var, ..mean })
    }

    /// The mean of Z and the error of its nodes alone; the variance, the costly part, is NaN.
    pub(crate) fn apply_mean(&self, belief: &dyn Belief) -> Result<Estimate> {
        self.check(belief)?;
        Ok(self.sums(belief)?.1)
    }

    fn check(&self, belief: &dyn Belief) -> Result<()> {
        for (_, term) in &self.terms {
            let dim = match term {
                Term::Integral { measure, .. } => measure.dim(),
                Term::Value(x) => x.len(),
            };
            same_length("functional", dim, belief.dim())?;
        }
        Ok(())
    }

    /// Every term on its nodes, and what they add up to.
    fn sums(&self, belief: &dyn Belief) -> Result<(Vec<Sum>, Estimate)> {
        let weight_sum: f64 = self.terms.iter().map(|(w, _)| w).sum();
        let mut sums = Vec::with_capacity(self.terms.len());
        for (weight, term) in &self.terms {
            sums.push(Sum::new(*weight, term.nodes(belief)?, belief)?);
        }
        let top = sums
            .iter()
            .map(|s| s.ln_top)
            .fold(f64::NEG_INFINITY, f64::max);
        let ln_unit = if top.is_finite() { top } else { 0.0 };
        let offset = sums.first().map_or(0.0, |s| s.moments.offset);
        let (mean, errors): (Vec<f64>, Vec<f64>) = sums.iter().map(|s| s.mean(ln_unit)).unzip();
        let estimate = Estimate {
            offset: self.constant + offset * weight_sum,
            ln_unit,
            mean: mean.iter().sum(),
            var: f64::NAN,
            node_error: errors.iter().map(|e| e * e).sum::<f64>().sqrt(),
            closed_form: false,
        };
        Ok((sums, estimate))
    }
}

impl Term<'_> {
    fn nodes(&self, belief: &dyn Belief) -> Result<Nodes> {
        match self {
            Term::Value(x) => Ok(Nodes {
                points: Points::new(x.len(), x.clone())?,
                ln_weights: vec![0.0],
                replicates: 1,
            }),
            Term::Integral { measure, rule } => match rule {
                Rule::Auto { n, seed } => Nodes::sobol(*measure, *n, *seed),
                Rule::Following { n, seed } => Nodes::importance(*measure, belief, *n, *seed),
                Rule::Given(nodes) => Ok(nodes.clone()),
            },
        }
    }
}

/// One term on its nodes.
struct Sum {
    weight: f64,
    nodes: Nodes,
    moments: Moments,
    /// The largest ln of weight times mean or sd.
    ln_top: f64,
}

impl Sum {
    fn new(weight: f64, nodes: Nodes, belief: &dyn Belief) -> Result<Sum> {
        let moments = belief.moments(&nodes.points)?;
        let reach = moments.ln_reach();
        let tops = nodes.ln_weights.iter().zip(reach).map(|(w, r)| w + r);
        let ln_top = tops.fold(f64::NEG_INFINITY, f64::max);
        Ok(Sum {
            weight,
            nodes,
            moments,
            ln_top,
        })
    }

    /// `L[m]` in the unit, and the standard error of the node rule.
    fn mean(&self, ln_unit: f64) -> (f64, f64) {
        let runs = self.nodes.replicates;
        let size = self.nodes.points.len() / runs;
        let estimates: Vec<f64> = (0..runs)
            .map(|r| {
                let terms = (r * size..(r + 1) * size).map(|i| {
                    let ln_weight = self.nodes.ln_weights[i] + self.moments.ln_unit[i] - ln_unit;
                    ln_weight.exp() * self.moments.mean[i]
                });
                self.weight * runs as f64 * terms.sum::<f64>()
            })
            .collect();
        let mean = estimates.iter().sum::<f64>() / runs as f64;
        (mean, replicates::standard_error(&estimates))
    }
}

/// `L^2[K]` in the unit squared, on at most [`VARIANCE_NODES`] nodes.
fn variance(sums: &[Sum], ln_unit: f64, belief: &dyn Belief) -> Result<f64> {
    let (mut points, mut omega) = (Points::empty(belief.dim())?, Vec::new());
    for sum in sums {
        let few = sum.nodes.at_most(VARIANCE_NODES / sums.len());
        let scaled: Vec<f64> = few
            .ln_weights
            .iter()
            .zip(&sum.moments.ln_unit)
            .map(|(w, u)| sum.weight * (w + u - ln_unit).exp())
            .collect();
        // sd(sum of the tail) is at most the tail's sum of weights times sd: what cannot reach a
        // millionth of the largest is left out.
        let reach = |i: usize| scaled[i].abs() * sum.moments.var[i].sqrt();
        let top = (0..scaled.len()).map(reach).fold(0.0, f64::max);
        let kept: Vec<usize> = (0..scaled.len())
            .filter(|&i| reach(i) > 1e-9 * top)
            .collect();
        points.extend(&few.points.select(&kept))?;
        omega.extend(kept.iter().map(|&i| scaled[i]));
    }
    if omega.is_empty() {
        return Ok(0.0);
    }
    let mut cov = belief.cov_lower(&points)?;
    cov.mirror_lower();
    let var = dot(&omega, &cov.mul_vec(&omega));
    // Weights times an overflowed covariance: nothing is known.
    Ok(if var.is_nan() {
        f64::INFINITY
    } else {
        var.max(0.0)
    })
}

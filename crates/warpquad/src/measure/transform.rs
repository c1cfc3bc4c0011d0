//! Take a measure as a user's own map of the unit cube.

use super::coordinates::open;
use super::{Chart, Coordinates, Identity, Measure, Product};
use crate::error::{Error, Result, same_length};
use std::fmt;
use std::sync::Arc;

/// A map of the open unit cube into R^d.
pub type Map = Arc<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// A log density on R^d.
pub type LnDensity = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// The law of T(u), u uniform on the unit cube (a "prior transform").
///
/// # Definition
/// pi is the push-forward of the uniform law under the map T.
///
/// # Moments
/// Not known: `None`.
///
/// # Range
/// T must be finite on the open cube, and smooth if a density is to be had.
///
/// # Numerics
/// The natural chart is the unit cube itself, where the density is exactly one and nothing but T is
/// needed. The density in x is, in this order: the one given; minus ln |det dT/du| by central
/// differences at the inverse given; otherwise unknown. In the last case
/// [`has_density`](Measure::has_density) says so and `ln_density` is negative infinity everywhere.
/// Gradients in x are central differences.
///
/// ```
/// use std::sync::Arc;
/// use warpquad::measure::{Measure, Transform};
/// let square = Transform::new(1, Arc::new(|u, x| x[0] = u[0] * u[0]))?
///     .with_inverse(Arc::new(|x, u| u[0] = x[0].sqrt()));
/// // p(x) = 1/(2 sqrt x).
/// assert!((square.ln_density(&[0.25]) - 0.0).abs() < 1e-8);
/// assert_eq!(square.natural().measure().ln_density(&[0.7]), 0.0);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Clone)]
pub struct Transform {
    dim: usize,
    map: Map,
    inverse: Option<Map>,
    ln_density: Option<LnDensity>,
    support: Vec<(f64, f64)>,
    law: Product,
}

impl fmt::Debug for Transform {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Transform")
            .field("dim", &self.dim)
            .finish_non_exhaustive()
    }
}

impl Transform {
    /// The law of `map(u)` in `dim` dimensions.
    pub fn new(dim: usize, map: Map) -> Result<Transform> {
        let law = Product::uniform(&vec![(0.0, 1.0); dim])?;
        let support = vec![(f64::NEG_INFINITY, f64::INFINITY); dim];
        Ok(Transform {
            dim,
            map,
            inverse: None,
            ln_density: None,
            support,
            law,
        })
    }

    /// Add the inverse map u(x).
    pub fn with_inverse(mut self, inverse: Map) -> Transform {
        self.inverse = Some(inverse);
        self
    }

    /// Add the log density in x.
    pub fn with_ln_density(mut self, ln_density: LnDensity) -> Transform {
        self.ln_density = Some(ln_density);
        self
    }

    /// Add the box that carries the mass.
    pub fn with_support(mut self, support: Vec<(f64, f64)>) -> Result<Transform> {
        same_length("support", support.len(), self.dim)?;
        for &(lo, hi) in &support {
            super::ordered(lo, hi)?;
        }
        self.support = support;
        Ok(self)
    }

    /// ln |det dx/du| at `u`.
    fn ln_jacobian(&self, u: &[f64]) -> f64 {
        if let Some(ln_density) = &self.ln_density {
            let mut x = vec![0.0; self.dim];
            self.quantile(u, &mut x);
            return -ln_density(&x);
        }
        let mut jacobian = vec![0.0; self.dim * self.dim];
        let (mut ahead, mut behind) = (vec![0.0; self.dim], vec![0.0; self.dim]);
        for j in 0..self.dim {
            // The cube root of rounding balances it against the cubic term. Near a face the step
            // shrinks to stay inside.
            let h = f64::EPSILON.cbrt() * u[j].min(1.0 - u[j]).max(f64::MIN_POSITIVE);
            let mut v = u.to_vec();
            v[j] = u[j] + h;
            self.quantile(&v, &mut ahead);
            let right = v[j];
            v[j] = u[j] - h;
            self.quantile(&v, &mut behind);
            for i in 0..self.dim {
                jacobian[i * self.dim + j] = (ahead[i] - behind[i]) / (right - v[j]);
            }
        }
        ln_abs_det(jacobian, self.dim)
    }

    fn inverse_of(&self, x: &[f64]) -> Option<Vec<f64>> {
        let mut u = vec![0.0; self.dim];
        (self.inverse.as_ref()?)(x, &mut u);
        u.iter().all(|u| (0.0..=1.0).contains(u)).then_some(u)
    }
}

/// ln |det A| by elimination with row pivots; negative infinity if singular.
fn ln_abs_det(mut a: Vec<f64>, d: usize) -> f64 {
    let mut sum = 0.0;
    for k in 0..d {
        let size = |i: usize, a: &[f64]| a[i * d + k].abs();
        let pivot = (k..d)
            .max_by(|&i, &j| size(i, &a).total_cmp(&size(j, &a)))
            .unwrap_or(k);
        for j in 0..d {
            a.swap(k * d + j, pivot * d + j);
        }
        let top = a[k * d + k];
        if top == 0.0 || top.is_nan() {
            return f64::NEG_INFINITY;
        }
        sum += top.abs().ln();
        for i in k + 1..d {
            let factor = a[i * d + k] / top;
            for j in k..d {
                a[i * d + j] -= factor * a[k * d + j];
            }
        }
    }
    sum
}

impl Measure for Transform {
    fn dim(&self) -> usize {
        self.dim
    }

    fn quantile(&self, u: &[f64], x: &mut [f64]) {
        let u: Vec<f64> = u.iter().map(|&u| open(u)).collect();
        (self.map)(&u, x);
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        if let Some(ln_density) = &self.ln_density {
            return ln_density(x);
        }
        self.inverse_of(x)
            .map_or(f64::NEG_INFINITY, |u| -self.ln_jacobian(&u))
    }

    fn ln_density_gradient(&self, x: &[f64], out: &mut [f64]) {
        let scale = if self.has_density() {
            self.scale()
        } else {
            vec![0.0; self.dim]
        };
        let mut y = x.to_vec();
        for j in 0..self.dim {
            // A density by differences has seven digits. A step of 1e-3 of the scale keeps half of
            // them in its slope.
            let h = if self.ln_density.is_some() {
                1e-5
            } else {
                1e-3
            } * scale[j];
            y[j] = x[j] + h;
            let ahead = self.ln_density(&y);
            y[j] = x[j] - h;
            let slope = (ahead - self.ln_density(&y)) / (2.0 * h);
            out[j] = if slope.is_finite() { slope } else { 0.0 };
            y[j] = x[j];
        }
    }

    fn has_density(&self) -> bool {
        self.ln_density.is_some() || self.inverse.is_some()
    }

    fn support(&self) -> Vec<(f64, f64)> {
        self.support.clone()
    }

    fn scale(&self) -> Vec<f64> {
        // Quartiles over a lattice of 128 points; the generators are powers of 1/phi_d, Roberts' R
        // sequence.
        let n = 128;
        let root = (0..40).fold(2.0_f64, |r, _| {
            (1.0 + r).powf(1.0 / (self.dim as f64 + 1.0))
        });
        let mut columns = vec![Vec::with_capacity(n); self.dim];
        let mut x = vec![0.0; self.dim];
        for i in 0..n {
            let coordinate = |j: usize| (0.5 + (i + 1) as f64 * root.powi(-(j as i32 + 1))).fract();
            let u: Vec<f64> = (0..self.dim).map(coordinate).collect();
            self.quantile(&u, &mut x);
            columns
                .iter_mut()
                .zip(&x)
                .for_each(|(column, &x)| column.push(x));
        }
        let spread = |column: &mut Vec<f64>| {
            column.sort_by(f64::total_cmp);
            2.0 * (column[3 * n / 4] - column[n / 4])
        };
        let spreads = columns.iter_mut().map(spread);
        let sides = spreads
            .zip(&self.support)
            .map(|(s, (lo, hi))| s.min(hi - lo));
        sides
            .map(|s| if s > 0.0 && s.is_finite() { s } else { 1.0 })
            .collect()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        None
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        None
    }

    fn coordinates(&self, chart: Chart) -> Result<Box<dyn Coordinates>> {
        match chart {
            Chart::Natural | Chart::Unit => Ok(self.natural()),
            Chart::Identity => Ok(Box::new(Identity(self.clone()))),
            Chart::Score | Chart::Free => {
                let reason = format!(
                    "a map of the cube has no \"{}\" chart; use unit, or map normal scores yourself",
                    chart.name()
                );
                Err(Error::spec("chart", reason))
            }
        }
    }

    fn natural(&self) -> Box<dyn Coordinates> {
        Box::new(Cube(self.clone()))
    }
}

/// The unit cube itself as the chart of a [`Transform`].
#[derive(Debug, Clone)]
struct Cube(Transform);

impl Coordinates for Cube {
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()> {
        same_length("point", x.len(), self.0.dim)?;
        if self.0.inverse.is_none() {
            let reason =
                "cannot be placed in the cube: give the inverse of the map, or the point as u";
            return Err(Error::spec("point", reason));
        }
        let u = self.0.inverse_of(x);
        let u = u.ok_or_else(|| {
            Error::spec("point", format!("{x:?} is not in the image of the cube"))
        })?;
        z.copy_from_slice(&u);
        Ok(())
    }

    fn from_natural(&self, z: &[f64], x: &mut [f64]) {
        self.0.quantile(z, x);
    }

    fn ln_jacobian(&self, z: &[f64]) -> f64 {
        self.0.ln_jacobian(z)
    }

    fn measure(&self) -> &dyn Measure {
        &self.0.law
    }
}

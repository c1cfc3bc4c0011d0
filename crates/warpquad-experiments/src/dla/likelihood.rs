//! Evaluate the log likelihood of a spectrum with any number of absorbers, by the matrix inversion
//! lemma.
//!
//! With a the absorption, d = a^2 omega2 + v and r = y - a m, the covariance is diag(d) +
//! (aN)(aN)'. The lemma leaves matrices of order 20: B = I + G, where G is the Gram matrix of the
//! rows (a/sqrt d) N, and c, the product of these rows with r/sqrt d. Both come out of one Gram
//! matrix of 21 columns.

use super::absorption::{Absorber, Profiles, REACH};
use super::emission::{Emission, Laid, RANK};
use super::spectrum::Spectrum;
use std::f64::consts::PI;
use warpquad::error::Step;
use warpquad::numeric::linalg::{Cholesky, Mat, Scratch, subtract_gram_lower};
use warpquad::numeric::random::Rng;
use warpquad::{Error, Result};

/// A spectrum with the emission model laid over it: all of the likelihood that does not depend on
/// absorbers.
#[derive(Debug, Clone)]
pub struct Likelihood {
    profiles: Profiles,
    /// Observed wavelengths of all pixels, and [`REACH`] more on each side.
    wavelengths: Vec<f64>,
    /// Which pixels are not masked.
    kept: Vec<usize>,
    /// Flux and noise variance there.
    flux: Vec<f64>,
    noise: Vec<f64>,
    /// The model there; the factor once more, column after column.
    model: Laid,
    columns: Vec<f64>,
    z_range: (f64, f64),
}

/// Memory for evaluations, and the count of them.
#[derive(Debug, Default)]
pub struct Workspace {
    raw: Vec<f64>,
    absorption: Vec<f64>,
    scale: Vec<f64>,
    rows: Option<Mat>,
    gram: Option<Mat>,
    scratch: Scratch,
}

impl Likelihood {
    /// Lay the model over a spectrum.
    pub fn new(emission: &Emission, spectrum: &Spectrum) -> Result<Likelihood> {
        let kept: Vec<usize> = spectrum.unmasked().collect();
        let at = |i: &usize| spectrum.wavelength(*i as f64);
        let observed: Vec<f64> = kept.iter().map(at).collect();
        let model = emission.lay(&observed, spectrum.z_quasar)?;
        let columns = (0..RANK).flat_map(|j| model.factor.iter().map(move |row| row[j]));
        let columns = columns.collect();
        let reach = REACH as f64;
        let all = 0..spectrum.len() + 2 * REACH;
        Ok(Likelihood {
            profiles: Profiles::new(&emission.lines)?,
            wavelengths: all.map(|i| spectrum.wavelength(i as f64 - reach)).collect(),
            flux: kept.iter().map(|&i| spectrum.flux[i]).collect(),
            noise: kept.iter().map(|&i| spectrum.noise_variance[i]).collect(),
            z_range: spectrum.z_range()?,
            columns,
            kept,
            model,
        })
    }

    /// Pixels that count.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no pixel counts.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The redshifts at which an absorber is looked for.
    pub fn z_range(&self) -> (f64, f64) {
        self.z_range
    }

    /// The log likelihood at (z, log_nhi, z, log_nhi, ...), which is empty for no absorber. The
    /// workspace may come from any other spectrum.
    pub fn ln_at(&self, x: &[f64], work: &mut Workspace) -> Result<f64> {
        self.absorption(x, work)?;
        self.given_absorption(work)
    }

    /// The same with memory of its own.
    pub fn ln(&self, x: &[f64]) -> Result<f64> {
        self.ln_at(x, &mut Workspace::default())
    }

    /// The absorption at the kept pixels, in `work.absorption`.
    fn absorption(&self, x: &[f64], work: &mut Workspace) -> Result<()> {
        let (pairs, rest) = x.as_chunks::<2>();
        if !rest.is_empty() || x.iter().any(|x| !x.is_finite()) {
            let reason = format!("must be finite pairs of redshift and log_nhi, got {x:?}");
            return Err(Error::spec("absorbers", reason));
        }
        let pixels = self.wavelengths.len() - 2 * REACH;
        work.raw.resize(self.wavelengths.len(), 0.0);
        work.absorption.clear();
        work.absorption.resize(pixels, 1.0);
        for &[z, log_nhi] in pairs {
            let (raw, out) = (&mut work.raw, &mut work.absorption);
            let absorber = Absorber { z, log_nhi };
            self.profiles.absorb(absorber, &self.wavelengths, raw, out);
        }
        for (to, &from) in self.kept.iter().enumerate() {
            work.absorption[to] = work.absorption[from];
        }
        work.absorption.truncate(self.kept.len());
        Ok(())
    }

    fn given_absorption(&self, work: &mut Workspace) -> Result<f64> {
        let n = self.len();
        work.scale.resize(n, 0.0);
        let mut rows = sized(&mut work.rows, n, RANK + 1);
        let (mut ln_d, mut square) = (LnProduct::default(), 0.0);
        let residual = rows.col_mut(RANK);
        for i in 0..n {
            let a = work.absorption[i];
            let d = a * a * self.model.omega2[i] + self.noise[i];
            let root = 1.0 / d.sqrt();
            work.scale[i] = a * root;
            residual[i] = (self.flux[i] - a * self.model.mean[i]) * root;
            square += residual[i] * residual[i];
            ln_d.push(d);
        }
        for (j, column) in self.columns.chunks_exact(n).enumerate() {
            for ((out, m), s) in rows.col_mut(j).iter_mut().zip(column).zip(&work.scale) {
                *out = m * s;
            }
        }
        // -I - A'A, whose last row is -c'.
        let mut gram = sized(&mut work.gram, RANK + 1, RANK + 1);
        for j in 0..=RANK {
            gram.col_mut(j).fill(0.0);
            gram[(j, j)] = -1.0;
        }
        subtract_gram_lower(&mut gram, &rows);
        let mut c = [0.0; RANK];
        let b = Mat::from_fn(RANK, RANK, |i, j| if i < j { 0.0 } else { -gram[(i, j)] });
        for (j, c) in c.iter_mut().enumerate() {
            *c = gram[(RANK, j)];
        }
        (work.rows, work.gram) = (Some(rows), Some(gram));
        let Ok(factor) = Cholesky::with_scratch(b, &mut work.scratch) else {
            return Err(Error::Numerics {
                step: Step::Observe,
                what: "the spectrum's covariance is not positive definite; look for a noise \
                       variance that is not positive"
                    .into(),
            });
        };
        factor.solve_lower_vec(&mut c);
        let explained: f64 = c.iter().map(|c| c * c).sum();
        let constant = n as f64 * (2.0 * PI).ln();
        Ok(-0.5 * (constant + ln_d.finish() + factor.ln_det() + square - explained))
    }

    /// Draw a flux for the same pixels, with absorbers at `x`: y = a (m + N xi) + sqrt(a^2 omega2 +
    /// v) e.
    pub fn drawn(&self, x: &[f64], rng: &mut Rng) -> Result<Likelihood> {
        let mut work = Workspace::default();
        self.absorption(x, &mut work)?;
        let mut latent = [0.0; RANK];
        rng.fill_normal(&mut latent);
        let mut out = self.clone();
        for i in 0..self.len() {
            let a = work.absorption[i];
            let row = self.model.factor[i].iter().zip(&latent);
            let continuum = self.model.mean[i] + row.map(|(n, xi)| n * xi).sum::<f64>();
            let sd = (a * a * self.model.omega2[i] + self.noise[i]).sqrt();
            out.flux[i] = a * continuum + sd * rng.normal();
        }
        Ok(out)
    }
}

/// A matrix of that size, from memory that was kept where it fits.
fn sized(kept: &mut Option<Mat>, rows: usize, cols: usize) -> Mat {
    let fits = |m: &Mat| (m.rows(), m.cols()) == (rows, cols);
    let kept = kept.take().filter(fits);
    kept.unwrap_or_else(|| Mat::zeros(rows, cols))
}

/// The log of a product of many positive numbers, with one logarithm for several of them.
#[derive(Debug)]
struct LnProduct {
    product: f64,
    ln: f64,
}

impl Default for LnProduct {
    fn default() -> LnProduct {
        LnProduct {
            product: 1.0,
            ln: 0.0,
        }
    }
}

impl LnProduct {
    /// Multiply. The product of two numbers between 1e-150 and 1e150 is a normal double. Others
    /// pass through the logarithm alone.
    #[inline(always)]
    fn push(&mut self, x: f64) {
        const SMALL: f64 = 1e-150;
        let inside = |x: f64| (SMALL..1.0 / SMALL).contains(&x);
        if inside(x) {
            self.product *= x;
        } else {
            self.ln += x.ln();
        }
        if !inside(self.product) {
            self.ln += self.product.ln();
            self.product = 1.0;
        }
    }

    fn finish(self) -> f64 {
        self.ln + self.product.ln()
    }
}

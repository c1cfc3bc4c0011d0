//! Minus the ln likelihood of the data under the matched belief, with its exact gradient.
//!
//! In the points' units, with E = K / (u u') and r = f / u - m / u,
//!
//! ```text
//! -ln p = r' E^-1 r / 2 + ln|E| / 2 + sum of ln u + n ln(2 pi) / 2
//! ```
//!
//! and with a = E^-1 r, W = E^-1 - a a', its differential is a' dr + tr(W dE) / 2 + sum of d ln u.

use super::{Parameters, Space};
use crate::belief::{Effects, Embedding, MeanFunction, Theta, chord};
use crate::kernel::Kernel;
use crate::numeric::linalg::{Cholesky, Mat, Scratch, dot};
use crate::numeric::loops::{self, Lanes, add_products, add_weighted_squares, multiply, total};
use crate::points::Points;
use crate::warp::{Cov, Equal, Marginal, Mean, Warp};
use std::f64::consts::TAU;
use std::sync::Arc;

/// The function a fit minimises.
///
/// Pairs (i > j) are kept packed, column after column of the strict lower triangle, so that kernel
/// and warp run over one long slice.
#[derive(Debug)]
pub struct Objective<'a> {
    kernel: Arc<dyn Kernel>,
    pub(super) warp: &'a dyn Warp,
    parameters: &'a Parameters,
    pub(super) x: &'a Points,
    pub(super) g: &'a [f64],
    /// What theta's noise is multiplied by at each observation, where it is noise on the data that
    /// are fitted instead of on g; empty otherwise.
    shares: &'a [f64],
    /// The axis that each column of distances belongs to.
    axes: Vec<usize>,
    /// The columns, one after another.
    columns: Vec<f64>,
    /// The same in length scales.
    scaled: Vec<f64>,
    pub(super) pairs: Pairs,
    factor: Mat,
    pub(super) inverse: Mat,
    scratch: Scratch,
    jitter: f64,
    /// Whether observations are judged one by one, each given the others, instead of together.
    left_out: bool,
}

/// Packed quantities of all pairs, and after them of a point with itself where all points share one
/// marginal. Under a warp whose covariance is a function of c alone `d_mu` and `d_s` are empty.
#[derive(Debug)]
pub(super) struct Pairs {
    /// rho, then c.
    pub(super) c: Vec<f64>,
    /// d rho / d(r^2), less the share of main effects.
    slope: Vec<f64>,
    effects: EffectPairs,
    pub(super) value: Vec<f64>,
    pub(super) d_c: Vec<f64>,
    d_mu: Vec<f64>,
    d_s: Vec<f64>,
}

/// The same for main effects; empty without them.
#[derive(Debug, Default)]
struct EffectPairs {
    /// s (mean of rho_d - rho): what c gains with the share.
    contrast: Vec<f64>,
    /// u rho'(u), u = z_d^2 / stretch^2, for every dimension.
    slopes: Vec<Vec<f64>>,
}

/// Pairs whose r^2 are turned into rho at once: few enough for the first-level cache, many beside
/// the width of a vector.
const BATCH: usize = 1024;

/// Sums over all pairs of W times the partials of E.
pub(super) struct Sums {
    d_mu: Lanes,
    d_s: Lanes,
    /// W dE/dc c.
    c: Lanes,
    /// W dE/dc rho' z^2, z the scaled difference in a dimension.
    squares: Vec<Lanes>,
    /// W dE/dc times the contrast of main effects, and times their slopes.
    contrast: Lanes,
    effects: Vec<Lanes>,
}

/// What the factorisation yields.
pub(super) struct Solved {
    /// a = E^-1 r.
    pub(super) a: Vec<f64>,
    /// r' a / 2 + ln|E| / 2.
    value: f64,
}

impl<'a> Objective<'a> {
    /// The objective for these data; `x` is along the axes of theta.
    pub fn new(
        kernel: Arc<dyn Kernel>,
        warp: &'a dyn Warp,
        x: &'a Points,
        g: &'a [f64],
        parameters: &'a Parameters,
    ) -> Objective<'a> {
        let n = x.len();
        let embedding = Embedding::of(parameters.template());
        let columns = columns(x, &embedding);
        let pairs = n * n.saturating_sub(1) / 2;
        let packed = || vec![0.0; pairs + 1];
        let unless_zero = || {
            if warp.is_function_of_c() {
                Vec::new()
            } else {
                packed()
            }
        };
        Objective {
            kernel,
            warp,
            parameters,
            x,
            g,
            shares: &[],
            scaled: columns.clone(),
            columns,
            axes: embedding.axes().to_vec(),
            pairs: Pairs {
                c: packed(),
                slope: packed(),
                effects: EffectPairs::default(),
                value: packed(),
                d_c: packed(),
                d_mu: unless_zero(),
                d_s: unless_zero(),
            },
            factor: Mat::zeros(n, n),
            inverse: Mat::zeros(n, n),
            scratch: Scratch::default(),
            jitter: 0.0,
            left_out: false,
        }
    }

    /// The same with noise on the data that are fitted, of variance theta's noise times a share of
    /// each observation; the mean must be constant.
    pub fn with_shares(self, shares: &'a [f64]) -> Objective<'a> {
        Objective { shares, ..self }
    }

    /// The same as a fit in this space minimises it. The data are those of the warp in any case: a
    /// fit in g-space has the identity.
    pub fn with_space(self, space: Space) -> Objective<'a> {
        Objective {
            left_out: space == Space::FLeftOut,
            ..self
        }
    }

    /// The jitter of the last evaluation, relative to the mean of the diagonal.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// -ln p at a vector of [`Parameters`], with its gradient; infinite where the matrix cannot be
    /// factored, so that an optimiser turns back.
    pub fn evaluate(&mut self, vector: &[f64], gradient: &mut [f64]) -> f64 {
        let theta = self.parameters.theta(vector);
        gradient.fill(0.0);
        self.fill_latent(&theta);
        let value = match theta.mean {
            _ if self.left_out => self.evaluate_left_out(&theta, gradient),
            MeanFunction::Constant(mu) => self.evaluate_equal(mu, &theta, gradient),
            MeanFunction::Quadratic { .. } => self.evaluate_general(&theta, gradient),
        };
        match value {
            Some(value) => value + self.parameters.penalty(vector, gradient),
            None => f64::INFINITY,
        }
    }

    /// c and the kernel's slope for all pairs.
    fn fill_latent(&mut self, theta: &Theta) {
        let n = self.x.len();
        for (k, &d) in self.axes.iter().enumerate() {
            let (column, l) = (k * n..(k + 1) * n, theta.length_scales[d]);
            let x = &self.columns[column.clone()];
            for (z, x) in self.scaled[column].iter_mut().zip(x) {
                *z = x / l;
            }
        }
        let Pairs { c, slope, .. } = &mut self.pairs;
        let mut own = vec![0.0; self.axes.len()];
        let (mut filled, mut end) = (0, 0);
        for j in 0..n {
            for (k, own) in own.iter_mut().enumerate() {
                *own = self.scaled[k * n + j];
            }
            let start = end;
            end += n - j - 1;
            loops::squared_distances(&self.scaled, n, j + 1, &own, &mut c[start..end]);
            if end - filled >= BATCH || j + 1 == n {
                let batch = &mut c[filled..end];
                self.kernel.fill(batch, Some(&mut slope[filled..end]));
                batch.iter_mut().for_each(|c| *c *= theta.output_scale);
                filled = end;
            }
        }
        if let Some(effects) = &theta.effects {
            self.add_effects(theta.output_scale, effects);
        }
    }

    /// c <- c + share s (mean of rho_d - rho).
    fn add_effects(&mut self, s: f64, effects: &Effects) {
        let (n, dim) = (self.x.len(), self.x.dim());
        let axes = &self.axes;
        let Pairs {
            c,
            slope,
            effects: pairs,
            ..
        } = &mut self.pairs;
        let count = c.len() - 1;
        pairs.contrast.clear();
        pairs.contrast.extend(c[..count].iter().map(|c| -c));
        pairs.slopes.resize(dim, vec![0.0; count]);
        let (mut rho, mut derivative) = ([0.0; BATCH], [0.0; BATCH]);
        pairs.slopes.iter_mut().for_each(|out| out.fill(0.0));
        for (z, &d) in self.scaled.chunks_exact(n).zip(axes) {
            let (out, mut start) = (&mut pairs.slopes[d], 0);
            for j in 0..n {
                let end = start + n - j - 1;
                effects.add_squares(&z[j + 1..], z[j], &mut out[start..end]);
                start = end;
            }
        }
        for out in &mut pairs.slopes {
            let batches = out.chunks_mut(BATCH).zip(pairs.contrast.chunks_mut(BATCH));
            for (u, contrast) in batches {
                let rho = &mut rho[..u.len()];
                rho.copy_from_slice(u);
                self.kernel.fill(rho, Some(&mut derivative[..u.len()]));
                multiply(u, &derivative);
                let terms = contrast.iter_mut().zip(rho);
                terms.for_each(|(sum, rho)| *sum += s / dim as f64 * *rho);
            }
        }
        let terms = c.iter_mut().zip(&pairs.contrast);
        terms.for_each(|(c, contrast)| *c += effects.share * contrast);
        slope.iter_mut().for_each(|k| *k *= 1.0 - effects.share);
    }

    /// The constant mean: all observations share one marginal.
    fn evaluate_equal(&mut self, mu: f64, theta: &Theta, gradient: &mut [f64]) -> Option<f64> {
        let n = self.x.len();
        let on_g = if self.shares.is_empty() {
            theta.noise
        } else {
            0.0
        };
        let at = Marginal {
            mu,
            s: theta.output_scale + on_g,
        };
        let mean = self.warp.mean(at);
        let noise = theta.noise * (-2.0 * mean.ln_unit).exp();
        let shares = self.shares;
        let own_noise = |i: usize| shares.get(i).map_or(0.0, |share| share * noise);
        self.fill_equal(at);
        let Pairs {
            value,
            d_c,
            d_mu,
            d_s,
            ..
        } = &self.pairs;
        let own = |values: &[f64]| values.last().copied().unwrap_or(0.0);
        let diagonal = own(value);
        // On the diagonal c = s moves with s.
        let (diagonal_mu, diagonal_s) = (own(d_mu), own(d_s) + own(d_c));
        let f: Vec<f64> = self
            .g
            .iter()
            .map(|&g| in_unit(self.warp, g, &mean))
            .collect();
        let r: Vec<f64> = f.iter().map(|f| f - mean.value).collect();
        let solved = self.solve(&r, |i| diagonal + own_noise(i))?;
        let a = &solved.a;
        let sums = self.contract(a);
        let trace_half = 0.5 * (0..n).map(|i| self.w(a, i, i)).sum::<f64>();
        let (sum_a, a_f) = (a.iter().sum::<f64>(), dot(a, &f));
        let d_shared = |unit: f64, value: f64, pairs: &Lanes, diagonal: f64| {
            -unit * a_f - value * sum_a + n as f64 * unit + total(pairs) + trace_half * diagonal
        };
        // d / d ln of the noise; in units of the mean it falls as those grow.
        let d_noise = 0.5 * (0..n).map(|i| self.w(a, i, i) * own_noise(i)).sum::<f64>();
        gradient[0] = d_shared(mean.ln_unit_mu, mean.d_mu, &sums.d_mu, diagonal_mu)
            - 2.0 * d_noise * mean.ln_unit_mu;
        let d_var = d_shared(mean.ln_unit_s, mean.d_s, &sums.d_s, diagonal_s)
            - 2.0 * d_noise * mean.ln_unit_s;
        self.latent_gradient(theta, d_var, &sums, gradient);
        if let (Some(i), false) = (self.parameters.noise_index(), self.shares.is_empty()) {
            gradient[i] = d_noise;
        }
        Some(solved.value + n as f64 * (mean.ln_unit + 0.5 * TAU.ln()))
    }

    /// Any mean: every observation has a marginal of its own.
    fn evaluate_general(&mut self, theta: &Theta, gradient: &mut [f64]) -> Option<f64> {
        let n = self.x.len();
        let width = self.warp.feature_count();
        let s = theta.output_scale + theta.noise;
        let mut features = vec![0.0; n * width];
        let mut means = Vec::with_capacity(n);
        for (x, out) in self.x.iter().zip(features.chunks_exact_mut(width)) {
            let at = Marginal {
                mu: theta.mean_along(x),
                s,
            };
            self.warp.features(at, out);
            means.push(self.warp.mean(at));
        }
        let feature = |i: usize| &features[i * width..(i + 1) * width];
        let partials = if self.warp.is_function_of_c() {
            // Any marginal will do, and there are no partials in it.
            self.fill_equal(Marginal { mu: 0.0, s });
            Vec::new()
        } else {
            self.fill_by_features(feature)
        };
        let own = |i: usize| self.warp.cov_partials(feature(i), feature(i), s);
        let diagonal: Vec<Cov> = (0..n).map(own).collect();
        let pairs = self.g.iter().zip(&means);
        let f: Vec<f64> = pairs
            .map(|(&g, mean)| in_unit(self.warp, g, mean))
            .collect();
        let r: Vec<f64> = f
            .iter()
            .zip(&means)
            .map(|(f, mean)| f - mean.value)
            .collect();
        let solved = self.solve(&r, |i| diagonal[i].value)?;
        let mut d_mu = vec![0.0; n];
        let mut d_var = 0.0;
        for i in 0..n {
            let (a, cov, mean) = (solved.a[i], &diagonal[i], &means[i]);
            let w = 0.5 * self.w(&solved.a, i, i);
            let own = 1.0 - a * f[i];
            d_mu[i] += own * mean.ln_unit_mu - a * mean.d_mu + w * (cov.d_mu + cov.d_mu2);
            d_var += own * mean.ln_unit_s - a * mean.d_s + w * (cov.d_s + cov.d_s2 + cov.d_c);
        }
        let pairs = (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j)));
        for ((i, j), cov) in pairs.zip(&partials) {
            let w = self.w(&solved.a, i, j);
            d_mu[i] += w * cov.d_mu;
            d_mu[j] += w * cov.d_mu2;
            d_var += w * (cov.d_s + cov.d_s2);
        }
        mean_gradient(theta, self.x, &d_mu, gradient);
        let sums = self.contract(&solved.a);
        self.latent_gradient(theta, d_var, &sums, gradient);
        let ln_units: f64 = means.iter().map(|mean| mean.ln_unit).sum();
        Some(solved.value + ln_units + 0.5 * n as f64 * TAU.ln())
    }

    /// Covariances of all pairs, and of a point with itself, where all share one marginal.
    fn fill_equal(&mut self, at: Marginal) {
        let Pairs {
            c,
            value,
            d_c,
            d_mu,
            d_s,
            ..
        } = &mut self.pairs;
        if let Some(own) = c.last_mut() {
            *own = at.s;
        }
        let out = Equal {
            value,
            d_c,
            d_mu,
            d_s,
        };
        self.warp.equal(at, c, out);
    }

    /// Covariances of all pairs from the features of their marginals, with all partials.
    fn fill_by_features<'f>(&mut self, feature: impl Fn(usize) -> &'f [f64]) -> Vec<Cov> {
        let n = self.x.len();
        let mut partials = Vec::with_capacity(self.pairs.c.len());
        for j in 0..n {
            for i in j + 1..n {
                let c = self.pairs.c[partials.len()];
                partials.push(self.warp.cov_partials(feature(i), feature(j), c));
            }
        }
        for (k, cov) in partials.iter().enumerate() {
            self.pairs.value[k] = cov.value;
            self.pairs.d_c[k] = cov.d_c;
        }
        partials
    }

    /// Factor E, climbing the jitter ladder, and solve for a.
    pub(super) fn solve(&mut self, r: &[f64], diagonal: impl Fn(usize) -> f64) -> Option<Solved> {
        let n = r.len();
        if !r.iter().all(|r| r.is_finite()) {
            return None;
        }
        let level = (0..n).map(&diagonal).sum::<f64>() / n as f64;
        let mut matrix = std::mem::replace(&mut self.factor, Mat::zeros(0, 0));
        for jitter in crate::belief::JITTERS {
            let mut start = 0;
            for j in 0..n {
                let column = &mut matrix.col_mut(j)[j..];
                column[0] = diagonal(j) + jitter * level;
                let below = column.len() - 1;
                column[1..].copy_from_slice(&self.pairs.value[start..start + below]);
                start += below;
            }
            match Cholesky::with_scratch(matrix, &mut self.scratch) {
                Ok(factor) if crate::belief::well_conditioned(&factor) => {
                    self.jitter = jitter;
                    let mut a = r.to_vec();
                    factor.solve_vec(&mut a);
                    factor.inverse_lower(&mut self.inverse, &mut self.scratch);
                    let value = 0.5 * (dot(r, &a) + factor.ln_det());
                    self.factor = factor.into_mat();
                    return value.is_finite().then_some(Solved { a, value });
                }
                Ok(factor) => matrix = factor.into_mat(),
                Err(spoilt) => matrix = spoilt,
            }
        }
        self.factor = matrix;
        None
    }

    /// W = E^-1 - a a' of a pair, i >= j.
    fn w(&self, a: &[f64], i: usize, j: usize) -> f64 {
        self.inverse[(i, j)] - a[i] * a[j]
    }

    /// The sums over all pairs that the gradient needs.
    pub(super) fn contract(&self, a: &[f64]) -> Sums {
        let mut sums = Sums {
            d_mu: [0.0; 8],
            d_s: [0.0; 8],
            c: [0.0; 8],
            squares: vec![[0.0; 8]; self.axes.len()],
            contrast: [0.0; 8],
            effects: vec![[0.0; 8]; self.pairs.effects.slopes.len()],
        };
        add_pairs(&mut sums, &self.inverse, a, &self.pairs, &self.scaled);
        sums
    }

    /// The gradient in ln output scale, ln length scales, ln noise and the numbers of main effects,
    /// given d / d(marginal variance).
    pub(super) fn latent_gradient(
        &self,
        theta: &Theta,
        d_var: f64,
        sums: &Sums,
        gradient: &mut [f64],
    ) {
        let at = self.parameters.scale_index();
        gradient[at] = theta.output_scale * d_var + total(&sums.c);
        if let Some(i) = self.parameters.noise_index() {
            gradient[i] = theta.noise * d_var;
        }
        // d c / d ln l = s rho'(r^2) (-2 z^2).
        for (&d, squares) in self.axes.iter().zip(&sums.squares) {
            gradient[at + 1 + d] += -2.0 * theta.output_scale * total(squares);
        }
        if let (Some(i), Some(Effects { share, .. })) =
            (self.parameters.effects_index(), theta.effects)
        {
            gradient[i] = share * (1.0 - share) * total(&sums.contrast);
            // A longer stretch is a longer length of every term.
            for (d, slopes) in sums.effects.iter().enumerate() {
                let own = -2.0 * theta.output_scale * share / self.x.dim() as f64 * total(slopes);
                gradient[at + 1 + d] += own;
                gradient[i + 1] += own;
            }
        }
    }
}

/// Add all pairs. A column of W stays in the first-level cache while everything is multiplied by
/// it.
fn add_pairs(sums: &mut Sums, inverse: &Mat, a: &[f64], pairs: &Pairs, scaled: &[f64]) {
    let n = a.len();
    let (mut column, mut start) = (vec![0.0; n], 0);
    for j in 0..n {
        let w = &mut column[j + 1..];
        let packed = start..start + w.len();
        start += w.len();
        for ((w, e), later) in w.iter_mut().zip(&inverse.col(j)[j + 1..]).zip(&a[j + 1..]) {
            *w = e - a[j] * later;
        }
        if !pairs.d_mu.is_empty() {
            add_products(&mut sums.d_mu, w, &pairs.d_mu[packed.clone()]);
            add_products(&mut sums.d_s, w, &pairs.d_s[packed.clone()]);
        }
        multiply(w, &pairs.d_c[packed.clone()]);
        add_products(&mut sums.c, w, &pairs.c[packed.clone()]);
        for (acc, slopes) in sums.effects.iter_mut().zip(&pairs.effects.slopes) {
            add_products(acc, w, &slopes[packed.clone()]);
        }
        if !sums.effects.is_empty() {
            add_products(
                &mut sums.contrast,
                w,
                &pairs.effects.contrast[packed.clone()],
            );
        }
        multiply(w, &pairs.slope[packed]);
        for (acc, x) in sums.squares.iter_mut().zip(scaled.chunks_exact(n)) {
            add_weighted_squares(acc, w, &x[j + 1..], x[j]);
        }
    }
}

/// The columns that distances are taken in, one after another.
fn columns(x: &Points, embedding: &Embedding) -> Vec<f64> {
    let (n, mut out) = (x.len(), vec![0.0; x.len() * embedding.axes().len()]);
    for (i, x) in x.iter().enumerate() {
        for (k, y) in embedding.columns(x).iter().enumerate() {
            out[k * n + i] = *y;
        }
    }
    out
}

/// f - offset at an observation, in the unit of its mean.
fn in_unit(warp: &dyn Warp, g: f64, mean: &Mean) -> f64 {
    let local = warp.local(g);
    local.value * (local.ln_unit - mean.ln_unit).exp()
}

/// The gradient in the mean function's numbers, from d / d mu_i.
pub(super) fn mean_gradient(theta: &Theta, x: &Points, d_mu: &[f64], gradient: &mut [f64]) {
    gradient[0] = d_mu.iter().sum();
    if let MeanFunction::Quadratic { center, width, .. } = &theta.mean {
        let dim = x.dim();
        let periods: Vec<Option<f64>> = (0..dim).map(|d| theta.period(d)).collect();
        for (x, d_mu) in x.iter().zip(d_mu) {
            for d in 0..dim {
                let (apart, slope) = chord(x[d] - center[d], periods[d]);
                let z = apart / width[d];
                gradient[1 + d] += d_mu * z * slope / width[d];
                gradient[1 + dim + d] += d_mu * z * z;
            }
        }
    }
}

//! Hold the learned model of quasar emission, and lay it over the pixels of a spectrum: steps 1 to
//! 4 of the data's README.

use super::absorption::Line;
use warpquad::{Error, Result};

/// Columns of the low-rank factor.
pub const RANK: usize = 20;

/// Power law of an optical depth: t (w/L)^b for the first line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth {
    /// The depth t.
    pub tau: f64,
    /// The exponent b.
    pub beta: f64,
}

/// The learned model on its own grid of rest wavelengths.
#[derive(Debug, Clone, PartialEq)]
pub struct Emission {
    /// Rest wavelengths, ascending.
    pub rest: Vec<f64>,
    /// For each of them the mean, the log of the forest's extra sd, and the row of the factor M.
    pub rows: Vec<[f64; RANK + 2]>,
    /// The forest in the extra variance, with its constant.
    pub noise: Depth,
    /// The constant c_0 of the extra variance.
    pub c_0: f64,
    /// The forest in the mean.
    pub mean: Depth,
    /// The Lyman series.
    pub lines: Vec<Line>,
}

/// The model at the pixels of one spectrum: y ~ Normal(m, N N' + diag(omega2 + v)).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Laid {
    /// The mean m.
    pub mean: Vec<f64>,
    /// The extra variance.
    pub omega2: Vec<f64>,
    /// The rows of N.
    pub factor: Vec<[f64; RANK]>,
}

impl Emission {
    /// The model at observed `wavelengths` of a quasar at redshift `z`.
    pub fn lay(&self, wavelengths: &[f64], z: f64) -> Result<Laid> {
        let mut out = Laid::default();
        for &w in wavelengths {
            let [mu, ln_omega, row @ ..] = self.at(w / (1.0 + z))?;
            let suppressed = (-self.depth(self.mean, w, z)).exp();
            let forest = 1.0 - (-self.depth(self.noise, w, z)).exp() + self.c_0;
            out.mean.push(mu * suppressed);
            out.omega2
                .push((ln_omega.exp() * forest * suppressed).powi(2));
            out.factor.push(row.map(|m| m * suppressed));
        }
        Ok(out)
    }

    /// The row of the model at a rest wavelength, interpolated linearly.
    fn at(&self, rest: f64) -> Result<[f64; RANK + 2]> {
        let above = self.rest.partition_point(|&x| x <= rest);
        let above = above.min(self.rest.len().saturating_sub(1));
        let inside = above > 0 && (self.rest[above - 1]..=self.rest[above]).contains(&rest);
        if !inside {
            let reason = format!("does not reach the rest wavelength {rest} A");
            return Err(Error::spec("null_model", reason));
        }
        let (a, b) = (self.rest[above - 1], self.rest[above]);
        let t = (rest - a) / (b - a);
        let (low, high) = (&self.rows[above - 1], &self.rows[above]);
        Ok(std::array::from_fn(|i| low[i] + t * (high[i] - low[i])))
    }

    /// The forest's optical depth at an observed wavelength, from lines that the quasar's light had
    /// yet to meet.
    fn depth(&self, Depth { tau, beta }: Depth, w: f64, z: f64) -> f64 {
        let Some(first) = self.lines.first() else {
            return 0.0;
        };
        let met = self.lines.iter().filter(|l| w / l.wavelength <= 1.0 + z);
        let share = |l: &Line| l.strength * l.wavelength / (first.strength * first.wavelength);
        met.map(|l| tau * share(l) * (w / l.wavelength).powf(beta))
            .sum()
    }
}

//! Hold one spectrum: its pixels, the quasar's redshift, and where absorbers are looked for.

use super::absorption::LIGHT;
use warpquad::{Error, Result};

/// The wavelength of Lyman alpha, Angstrom.
const LYMAN_ALPHA: f64 = 1215.6701;
/// The Lyman limit, Angstrom, below which all light is absorbed.
const LYMAN_LIMIT: f64 = 911.7633;
/// 3000 km/s as a redshift: absorbers closer to the quasar, or to the limit, are not looked for.
const CLEARANCE: f64 = 3e8 / LIGHT;
/// The step of the grid in log10 of the wavelength.
const STEP: f64 = 1e-4;

/// A spectrum as observed, on a grid without gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// plate-mjd-fiber.
    pub id: String,
    /// The quasar's redshift.
    pub z_quasar: f64,
    /// log10 of the wavelength of the first pixel, in Angstrom.
    pub log10_first: f64,
    /// The flux in units of the continuum, NaN where masked.
    pub flux: Vec<f64>,
    /// The variance of its noise.
    pub noise_variance: Vec<f64>,
    /// Pixels to leave out.
    pub masked: Vec<bool>,
}

impl Spectrum {
    /// No pixel yet.
    pub fn empty(id: &str, z_quasar: f64, log10_first: f64) -> Spectrum {
        Spectrum {
            id: id.into(),
            z_quasar,
            log10_first,
            flux: Vec::new(),
            noise_variance: Vec::new(),
            masked: Vec::new(),
        }
    }

    /// The number of pixels.
    pub fn len(&self) -> usize {
        self.flux.len()
    }

    /// Whether there is no pixel.
    pub fn is_empty(&self) -> bool {
        self.flux.is_empty()
    }

    /// log10 of the wavelength of pixel `i` of the grid, which may lie beyond its ends.
    pub fn log10_wavelength(&self, i: f64) -> f64 {
        self.log10_first + STEP * i
    }

    /// The wavelength of pixel `i`, in Angstrom.
    pub fn wavelength(&self, i: f64) -> f64 {
        10_f64.powf(self.log10_wavelength(i))
    }

    /// The pixels that count.
    pub fn unmasked(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&i| !self.masked[i])
    }

    /// The redshifts at which an absorber's Lyman alpha line is looked for.
    pub fn z_range(&self) -> Result<(f64, f64)> {
        let (Some(first), Some(last)) = (self.unmasked().next(), self.unmasked().last()) else {
            return Err(Error::spec(&self.id, "every pixel is masked"));
        };
        let z = |i: usize| self.wavelength(i as f64) / LYMAN_ALPHA - 1.0;
        let limit = LYMAN_LIMIT * (1.0 + self.z_quasar) / LYMAN_ALPHA - 1.0;
        let lo = z(first).max(limit + CLEARANCE);
        let hi = z(last).min(self.z_quasar) - CLEARANCE;
        if lo >= hi {
            let reason = format!("no redshift to look at: from {lo} to {hi}");
            return Err(Error::spec(&self.id, reason));
        }
        Ok((lo, hi))
    }
}

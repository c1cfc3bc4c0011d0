//! Compute how much light absorbers of neutral hydrogen let through: Voigt profiles of the first
//! lines, as the instrument sees them.

use super::voigt::{FRAC_1_SQRT_PI, MAX_Y, WING_FROM, voigt, wing};
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use warpquad::numeric::vmath;
use warpquad::{Error, Result};

/// Speed of light, cm/s.
pub const LIGHT: f64 = 2.997_924_58e10;
/// Charge of the electron, in statcoulomb.
const CHARGE: f64 = 4.803_204_672_997_660e-10;
/// Mass of the electron, g.
const MASS: f64 = 9.109_383_56e-28;
/// Thermal width of hydrogen at 10 000 K, cm/s: the Doppler parameter over sqrt 2.
const WIDTH: f64 = 9.085_371_216_279_238_00e5;
/// Lines that an absorber is given.
pub const LINES: usize = 3;
/// Pixels that the instrument reaches to either side.
pub const REACH: usize = 3;
/// The instrument's response: a Gaussian for resolving power 2000, on steps of 1e-4 in log10
/// wavelength. The second half mirrors the first about the last number.
const RESPONSE: [f64; REACH + 1] = [
    0.002_174_609_921_380_808_11,
    0.041_162_305_958_045_174_2,
    0.240_309_364_651_846_963,
    0.432_707_438_937_454_059,
];

/// One line of the Lyman series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Rest wavelength, Angstrom.
    pub wavelength: f64,
    /// Oscillator strength.
    pub strength: f64,
    /// Transition rate, 1/s.
    pub rate: f64,
}

/// A cloud of hydrogen on the line of sight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absorber {
    /// Its redshift.
    pub z: f64,
    /// log10 of its column density per cm^2.
    pub log_nhi: f64,
}

/// A line as its profile needs it. The optical depth is nhi `peak` H(x, y) with x = `per_shift`
/// (w/((1 + z) `wavelength`) - 1).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Profile {
    wavelength: f64,
    peak: f64,
    y: f64,
}

/// 1/(s sqrt 2) times c: the scaled velocity x of a relative shift of 1.
const PER_SHIFT: f64 = LIGHT / WIDTH * FRAC_1_SQRT_2;

impl Profile {
    fn new(line: &Line) -> Result<Profile> {
        let cm = 1e-8 * line.wavelength;
        let y = line.rate * cm / (4.0 * PI) / WIDTH * FRAC_1_SQRT_2;
        if !(0.0..=MAX_Y).contains(&y) {
            let reason = format!(
                "the line at {} A is damped by {y}, not between 0 and {MAX_Y} Doppler widths",
                line.wavelength
            );
            return Err(Error::spec("lyman_series", reason));
        }
        let area = PI * CHARGE * CHARGE * line.strength * cm / (MASS * LIGHT);
        Ok(Profile {
            wavelength: line.wavelength,
            peak: area / WIDTH * FRAC_1_SQRT_2 * FRAC_1_SQRT_PI,
            y,
        })
    }

    /// Take `nhi` of this line, at redshift `z`, from the log of the raw absorption.
    fn subtract(&self, nhi: f64, z: f64, wavelengths: &[f64], out: &mut [f64]) {
        let centre = self.wavelength * (1.0 + z);
        let (scale, peak) = (PER_SHIFT / centre, nhi * self.peak);
        let near = centre * (WING_FROM / PER_SHIFT);
        let from = wavelengths.partition_point(|&w| w <= centre - near);
        let to = wavelengths.partition_point(|&w| w < centre + near);
        let (y2, far) = (self.y * self.y, peak * self.y * FRAC_1_SQRT_PI);
        // A loop without branches, so that the compiler vectorises it: nearly all pixels are in the
        // wings.
        for side in [0..from, to..wavelengths.len()] {
            for (out, w) in out[side.clone()].iter_mut().zip(&wavelengths[side]) {
                let x = (w - centre) * scale;
                *out -= far * wing(1.0 / (x * x + y2), y2);
            }
        }
        for (out, w) in out[from..to].iter_mut().zip(&wavelengths[from..to]) {
            *out -= peak * voigt((w - centre) * scale, self.y);
        }
    }
}

/// The first lines of the series, ready to absorb.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles([Profile; LINES]);

impl Profiles {
    /// The first [`LINES`] of `lines`.
    pub fn new(lines: &[Line]) -> Result<Profiles> {
        let Some(first) = lines.first_chunk::<LINES>() else {
            let reason = format!("needs at least {LINES} lines, got {}", lines.len());
            return Err(Error::spec("lyman_series", reason));
        };
        let [a, b, c] = first;
        Ok(Profiles([
            Profile::new(a)?,
            Profile::new(b)?,
            Profile::new(c)?,
        ]))
    }

    /// Multiply `out` by the absorption at each pixel. `wavelengths`, and `raw` for scratch, reach
    /// [`REACH`] pixels further to either side.
    pub fn absorb(
        &self,
        absorber: Absorber,
        wavelengths: &[f64],
        raw: &mut [f64],
        out: &mut [f64],
    ) {
        let nhi = 10_f64.powf(absorber.log_nhi);
        raw.fill(0.0);
        for profile in &self.0 {
            profile.subtract(nhi, absorber.z, wavelengths, raw);
        }
        vmath::exp(raw);
        let [a, b, c, d] = RESPONSE;
        for (i, out) in out.iter_mut().enumerate() {
            let w: &[f64; 2 * REACH + 1] = match raw[i..].first_chunk() {
                Some(window) => window,
                None => return,
            };
            *out *= a * (w[0] + w[6]) + b * (w[1] + w[5]) + c * (w[2] + w[4]) + d * w[3];
        }
    }
}

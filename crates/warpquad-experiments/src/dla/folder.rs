//! Read the data folder; a file that is missing is an error that says where it comes from.

use super::absorption::Line;
use super::csv_file::CsvFile;
use super::emission::{Depth, Emission, RANK};
use super::likelihood::Likelihood;
use super::spectrum::Spectrum;
use crate::Context;
use crate::sources::DLA;
use std::path::{Path, PathBuf};
use warpquad::Result;

/// The folder `dla` of the data.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

/// A row of `quasars.csv`: what a spectrum is, and what others found.
#[derive(Debug, Clone, PartialEq)]
pub struct Quasar {
    /// plate-mjd-fiber.
    pub id: String,
    /// The quasar's redshift.
    pub z: f64,
    /// The search range as given; ours is computed.
    pub z_range: (f64, f64),
    /// The log likelihood without an absorber.
    pub ln_none: f64,
    /// A stratified estimate of the log evidence of one absorber, with its standard error.
    pub ln_one: (f64, f64),
    /// The smallest and the largest log likelihood found with one absorber.
    pub ln_extremes: (f64, f64),
}

impl Folder {
    /// The folder `dla` below `data`.
    pub fn new(data: &Path) -> Folder {
        Folder {
            path: data.join(DLA.folder),
        }
    }

    /// The folder that an experiment was given.
    pub fn of(context: &Context<'_>) -> Result<Folder> {
        // Asked for here, so that a missing folder is said before anything is computed.
        context.source(&DLA, "quasars.csv")?;
        let data = context.data.as_deref().unwrap_or(Path::new("."));
        Ok(Folder::new(data))
    }

    /// Every quasar, in the table's order.
    pub fn quasars(&self) -> Result<Vec<Quasar>> {
        let table = self.table("quasars.csv")?;
        let quasar = |row| {
            let number = |column| table.number(row, column);
            Ok(Quasar {
                id: table.text(row, "id")?.into(),
                z: number("z_qso")?,
                z_range: (number("z_dla_min")?, number("z_dla_max")?),
                ln_none: number("log_likelihood_no_dla")?,
                ln_one: (
                    number("log_evidence_1dla")?,
                    number("log_evidence_1dla_se")?,
                ),
                ln_extremes: (
                    number("min_log_likelihood_1dla")?,
                    number("max_log_likelihood_1dla")?,
                ),
            })
        };
        (0..table.count()).map(quasar).collect()
    }

    /// The spectrum of a quasar.
    pub fn spectrum(&self, quasar: &Quasar) -> Result<Spectrum> {
        let table = self.table(&format!("spectra/{}.csv", quasar.id))?;
        let first = table.number(0, "log10_wavelength")?;
        let mut out = Spectrum::empty(&quasar.id, quasar.z, first);
        for i in 0..table.count() {
            let off = table.number(i, "log10_wavelength")? - out.log10_wavelength(i as f64);
            // A tenth of the step of 1e-4.
            if off.abs() > 1e-5 {
                let reason = format!("row {}: not on the grid of step 0.0001", i + 1);
                return Err(table.wrong(reason));
            }
            let flux = table.optional(i, "flux")?.filter(|flux| flux.is_finite());
            let variance = table.optional(i, "noise_variance")?.filter(|&v| v > 0.0);
            let masked = table.text(i, "masked")? != "0";
            if !masked && flux.zip(variance).is_none() {
                let reason = format!("row {}: neither masked nor a flux with a variance", i + 1);
                return Err(table.wrong(reason));
            }
            out.flux.push(flux.unwrap_or(f64::NAN));
            out.noise_variance.push(variance.unwrap_or(f64::NAN));
            out.masked.push(masked);
        }
        Ok(out)
    }

    /// The learned model.
    pub fn emission(&self) -> Result<Emission> {
        let table = self.table("null_model.csv")?;
        let (mut rest, mut rows) = (Vec::new(), Vec::new());
        for row in 0..table.count() {
            let numbers = table.numbers(row)?;
            let Ok([first, others @ ..]) = <[f64; RANK + 3]>::try_from(numbers.as_slice()) else {
                let reason = format!("row {}: needs {} numbers", row + 1, RANK + 3);
                return Err(table.wrong(reason));
            };
            rest.push(first);
            rows.push(others);
        }
        let scalars = self.table("null_model_params.csv")?;
        let number = |name: &str| {
            let row = (0..scalars.count()).find(|&row| scalars.text(row, "name") == Ok(name));
            let row = row.ok_or_else(|| scalars.wrong(format!("has no row {name}")))?;
            scalars.number(row, "value")
        };
        let depth = |tau, beta| -> Result<Depth> {
            Ok(Depth {
                tau: number(tau)?,
                beta: number(beta)?,
            })
        };
        Ok(Emission {
            rest,
            rows,
            noise: depth("tau_0", "beta")?,
            c_0: number("c_0")?,
            mean: depth("meanflux_tau_0", "meanflux_beta")?,
            lines: self.lines()?,
        })
    }

    /// The likelihood of a quasar's spectrum.
    pub fn likelihood(&self, emission: &Emission, quasar: &Quasar) -> Result<Likelihood> {
        Likelihood::new(emission, &self.spectrum(quasar)?)
    }

    fn lines(&self) -> Result<Vec<Line>> {
        let table = self.table("lyman_series.csv")?;
        let line = |row| {
            Ok(Line {
                wavelength: table.number(row, "wavelength_angstrom")?,
                strength: table.number(row, "oscillator_strength")?,
                rate: table.number(row, "transition_rate_per_s")?,
            })
        };
        (0..table.count()).map(line).collect()
    }

    /// A table of reference values.
    pub fn reference(&self, name: &str) -> Result<CsvFile> {
        self.table(name)
    }

    fn table(&self, name: &str) -> Result<CsvFile> {
        CsvFile::read(&self.path.join(name), &DLA.advice(name))
    }
}

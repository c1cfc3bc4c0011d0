//! Detect damped Lyman-alpha absorbers by model selection: the likelihood, its prior, and the
//! experiments of section 5.2.
//!
//! A quasar's light passes clouds of hydrogen. An absorber takes out a broad line at its redshift.
//! The likelihood of a spectrum given k absorbers, integrated over each one's redshift and column
//! density, is the evidence for k: an integral in 2k dimensions.

mod absorption;
pub mod by_evaluations;
mod clock;
mod csv_file;
mod emission;
pub mod fig1;
pub mod fig4;
mod folder;
mod likelihood;
mod prior;
pub mod race;
pub mod readings;
pub mod results;
mod spectrum;
pub mod subject;
pub mod tables;
pub mod truth;
mod voigt;

pub use absorption::{Absorber, LINES, Line, Profiles, REACH};
pub use csv_file::CsvFile;
pub use emission::{Depth, Emission, Laid, RANK};
pub use folder::{Folder, Quasar};
pub use likelihood::{Likelihood, Workspace};
pub use prior::{FITTED_WEIGHT, LOG_NHI, LogNhi, prior};
pub use spectrum::Spectrum;
pub use voigt::voigt;

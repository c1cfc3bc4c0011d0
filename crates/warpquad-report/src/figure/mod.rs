//! Draw the figures of a run as SVG, with what a pointer over them reads.

pub mod calibration;
mod clip;
pub mod convergence;
pub mod corner;
pub mod failures;
mod ink;
pub mod left_out;
mod marks;
pub mod models;
pub mod overlay;
mod rows;
pub mod time;

pub(crate) use ink::Sheet;
pub use marks::{Hover, Panel};

/// How many times its own size a figure as wide as a page is shown where there is room.
pub(crate) const WIDE: f64 = 1.25;

/// A figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The name of its file, without an ending.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
    /// What to see in it.
    pub caption: String,
    /// The picture.
    pub svg: String,
    /// Its width in pixels, below which its text gets too small to read.
    pub least_width: u32,
    /// What a pointer reads.
    pub hover: Hover,
}

/// An error of drawing, which can only be one of the program's own.
pub(crate) fn drawing(error: impl std::fmt::Display) -> warpquad::Error {
    warpquad::Error::spec("figure", format!("could not be drawn: {error}"))
}

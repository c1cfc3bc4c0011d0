//! Say how large panels are, and set up the axes of one at its place in the figure.

use super::super::drawing;
use super::super::ink::{Area, FAINT, UNITS, text};
use super::ticked::Ticked;
use crate::axis::Axis;
use plotters::prelude::*;
use warpquad::Result;

/// Room for labels at the left and below, in pixels.
pub const LEFT: i32 = 72;
const BELOW: i32 = 46;
/// Room at the very left, without which a name loses its edge.
const EDGE: i32 = 6;
pub const GAP: i32 = 10;
/// Letters of a figure that a telephone shows whole, and of one that it scrolls.
pub const LETTERS: i32 = 12;
const SMALL_LETTERS: i32 = 10;
/// The smallest letters that are read, in pixels of the screen.
const LEAST_LETTERS: f64 = 8.1;
/// Where there is room, a figure is shown as wide as this at least.
const COMFORTABLE: f64 = 700.0;

/// How large the panels of so many parameters are, in pixels.
#[derive(Debug)]
pub struct Layout {
    rows: i32,
    pub size: i32,
    /// The height of a panel.
    pub down: i32,
}

impl Layout {
    /// Up to four parameters fit on a page 400 pixels wide; more would be too small to read.
    pub fn of(parameters: usize) -> Layout {
        let size = match parameters {
            1 => 420,
            2 => 221,
            3 => 144,
            4 => 105,
            5 | 6 => 132,
            _ => 112,
        };
        let down = if parameters == 1 { 200 } else { size };
        Layout {
            rows: parameters as i32,
            size,
            down,
        }
    }

    pub fn width(&self) -> i32 {
        LEFT + self.rows * (self.size + GAP) + GAP
    }

    pub fn height(&self) -> i32 {
        BELOW + self.rows.max(2) * (self.down + GAP) + GAP
    }

    /// How many times its own size the figure is shown where there is room.
    pub fn scale(&self) -> f64 {
        (COMFORTABLE / f64::from(self.width())).max(1.0)
    }

    /// The width below which its letters cannot be read.
    pub fn least_width(&self) -> u32 {
        (f64::from(self.width()) * LEAST_LETTERS / f64::from(self.letters())).ceil() as u32
    }

    /// The size of the smallest letters.
    pub fn letters(&self) -> i32 {
        match self.rows {
            ..=4 => LETTERS,
            _ => SMALL_LETTERS,
        }
    }
}

pub type Drawn<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Ticked, Ticked>>;

/// Where a panel's axes stand, in pixels.
pub struct Place {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
    /// The size of its ticks' labels.
    pub letters: i32,
    /// Whether labels stand at its left, and below it.
    pub has_left: bool,
    pub has_bottom: bool,
}

impl Place {
    pub fn chart<'a>(&self, area: &Area<'a>, x: &Axis, y: &Axis) -> Result<Drawn<'a>> {
        let left = if self.has_left { LEFT - EDGE } else { 0 };
        let below = if self.has_bottom { BELOW } else { 0 };
        let part = area.clone().shrink(
            ((self.x - left) * UNITS, self.y * UNITS),
            ((self.width + left) * UNITS, (self.height + below) * UNITS),
        );
        ChartBuilder::on(&part)
            .x_label_area_size(below * UNITS)
            .y_label_area_size(left * UNITS)
            .build_cartesian_2d(Ticked::new(x, self.ticks()), Ticked::new(y, self.ticks()))
            .map_err(drawing)
    }

    fn ticks(&self) -> usize {
        match self.width {
            ..150 => 3,
            _ => 5,
        }
    }

    pub fn mesh(&self, chart: &mut Drawn<'_>, x: &str, y: &str) -> Result<()> {
        let mut mesh = chart.configure_mesh();
        mesh.disable_mesh()
            .axis_style(FAINT.stroke_width(UNITS as u32 / 2))
            .label_style(text(self.letters))
            .axis_desc_style(text(13))
            .set_all_tick_mark_size(4 * UNITS);
        if self.has_bottom {
            mesh.x_desc(x);
        }
        if self.has_left {
            mesh.y_desc(y);
        }
        mesh.draw().map_err(drawing)
    }
}

pub fn draw_text(area: &Area<'_>, words: &str, at: (i32, i32), pixels: i32) -> Result<()> {
    let at = (at.0 * UNITS, at.1 * UNITS);
    area.draw_text(words, &text(pixels), at).map_err(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_four_parameters_fit_on_a_telephone() {
        // 400 pixels less the page's margins of 16.
        for parameters in 1..=4 {
            assert!(Layout::of(parameters).least_width() <= 368, "{parameters}");
        }
        for parameters in 5..=8 {
            let layout = Layout::of(parameters);
            assert!((layout.least_width() as i32) < layout.width());
        }
    }
}

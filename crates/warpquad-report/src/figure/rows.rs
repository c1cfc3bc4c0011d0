//! Draw log Z of several things under each other, each with its 95 % interval.

use super::ink::{FAINT, UNITS, panel, text};
use super::{Hover, Sheet, drawing};
use crate::axis::{ends, opened};
use crate::words::{decimals, fixed};
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 560;
const ROW: i32 = 38;

/// One thing that says something of log Z.
pub struct Row {
    pub name: String,
    pub log_z: f64,
    pub low: f64,
    pub high: f64,
    pub colour: RGBColor,
}

impl Row {
    fn label(&self) -> String {
        let d = decimals((self.high - self.low) / 4.0);
        format!(
            "{}: log Z = {} [{}, {}]",
            self.name,
            fixed(self.log_z, d),
            fixed(self.low, d),
            fixed(self.high, d)
        )
    }
}

/// The picture, and what a pointer reads.
pub fn picture(rows: &[Row]) -> Result<(String, Hover)> {
    let (low, high) = ends(rows.iter().flat_map(|row| [row.low, row.high]));
    let (low, high) = opened(low, high);
    let margin = 0.06 * (high - low);
    let (low, high) = (low - margin, high + margin);
    let digits = decimals((high - low) / 8.0).saturating_sub(1);
    let mut sheet = Sheet::new(WIDTH, 60 + ROW * rows.len() as i32);
    let seen = sheet.draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10 * UNITS)
            // Half of a tick's label stands beyond each end.
            .margin_left(34 * UNITS)
            .margin_right(34 * UNITS)
            .x_label_area_size(40 * UNITS)
            .build_cartesian_2d(low..high, 0.0..rows.len() as f64)
            .map_err(drawing)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .disable_y_axis()
            .axis_style(FAINT.stroke_width(UNITS as u32 / 2))
            .label_style(text(13))
            .axis_desc_style(text(14))
            .x_labels(6)
            .x_label_formatter(&|x| fixed(*x, digits))
            .x_desc("log Z")
            .draw()
            .map_err(drawing)?;
        let mut seen = panel(&chart);
        for (i, row) in rows.iter().enumerate() {
            let y = rows.len() as f64 - i as f64 - 0.75;
            let bar = PathElement::new(
                vec![(row.low, y), (row.high, y)],
                row.colour.mix(0.6).stroke_width(2 * UNITS as u32),
            );
            chart.draw_series([bar]).map_err(drawing)?;
            let dot = Circle::new((row.log_z, y), 4 * UNITS, row.colour.filled());
            chart.draw_series([dot]).map_err(drawing)?;
            let at = chart.backend_coord(&(row.log_z, y));
            seen.points.push((at.0, at.1, i));
            let name = Text::new(row.name.clone(), (low, y + 0.55), text(13));
            chart.draw_series([name]).map_err(drawing)?;
        }
        Ok(seen)
    })?;
    let hover = Hover {
        panels: vec![seen],
        labels: rows.iter().map(Row::label).collect(),
    };
    Ok((sheet.finish_at(super::WIDE), hover))
}

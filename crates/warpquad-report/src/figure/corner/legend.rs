//! Say in the empty corner what colours and marks mean.

use super::super::drawing;
use super::super::ink::{Area, BLUE, FAINT, ORANGE, RAMP, RED, UNITS};
use super::place::{LETTERS, draw_text};
use super::{Corner, colour_range};
use crate::axis::ends;
use crate::words::short;
use plotters::prelude::*;
use warpquad::Result;

impl Corner<'_> {
    /// What colours and marks mean, in the empty corner.
    pub(super) fn legend(&self, area: &Area<'_>, x: i32, y: i32) -> Result<()> {
        let draw = |shape: Rectangle<(i32, i32)>| area.draw(&shape).map_err(drawing);
        let unit = |(a, b): (i32, i32)| (a * UNITS, b * UNITS);
        let (low, high) = colour_range(self.found);
        let step = 14;
        for (k, colour) in RAMP.iter().enumerate() {
            let left = x + step * k as i32;
            let corners = [unit((left, y)), unit((left + step, y + 9))];
            draw(Rectangle::new(corners, colour.filled()))?;
        }
        let below = if self.found.in_logs
            && low > ends(self.found.evaluations.iter().filter_map(|e| e.value)).0
        {
            "≤ "
        } else {
            ""
        };
        draw_text(
            area,
            &format!("{below}{}", short(low)),
            (x, y + 12),
            LETTERS,
        )?;
        let end = x + step * RAMP.len() as i32;
        let name = self.found.value_name();
        draw_text(
            area,
            &format!("{} {name}", short(high)),
            (end + 6, y - 1),
            LETTERS,
        )?;
        // Below the ramp's own numbers.
        let mut row = y + 40;
        let mut line = |text: &str, mark: &dyn Fn(i32) -> Result<()>| -> Result<()> {
            mark(row)?;
            draw_text(area, text, (x + 22, row - 7), LETTERS)?;
            row += 16;
            Ok(())
        };
        if !self.found.draws.is_empty() {
            line("posterior: 50 % and 95 %", &|row| {
                let corners = [unit((x, row - 5)), unit((x + 16, row + 5))];
                draw(Rectangle::new(corners, BLUE.mix(0.36).filled()))
            })?;
        }
        line("prior", &|row| {
            let ends = vec![unit((x, row)), unit((x + 16, row))];
            let path = PathElement::new(ends, FAINT.stroke_width(UNITS as u32));
            area.draw(&path).map_err(drawing)
        })?;
        line("the largest f seen", &|row| {
            let ring = Circle::new(
                unit((x + 8, row)),
                5 * UNITS,
                ORANGE.stroke_width(2 * UNITS as u32),
            );
            area.draw(&ring).map_err(drawing)
        })?;
        if !self.found.failures.is_empty() {
            line("failed", &|row| {
                let cross = Cross::new(
                    unit((x + 8, row)),
                    4 * UNITS,
                    RED.stroke_width(UNITS as u32),
                );
                area.draw(&cross).map_err(drawing)
            })?;
        }
        Ok(())
    }
}

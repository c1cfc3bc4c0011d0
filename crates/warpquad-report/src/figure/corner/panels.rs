//! Draw the panels: the marginal of a parameter, a pair of them, and f against one.

use super::super::ink::{Area, BLUE, FAINT, ORANGE, RED, UNITS, panel, ramp};
use super::super::{Panel, drawing};
use super::place::{Place, draw_text};
use super::{Corner, PARTS, colour_range, column};
use crate::axis::Axis;
use crate::density::{filled, histogram, regions, stairs};
use plotters::prelude::*;
use warpquad::Result;

/// How many times as high as the curve a panel is, so that the name above it stays free.
fn headroom(pixels: i32) -> f64 {
    let name = 22.0;
    let pixels = f64::from(pixels);
    pixels / (pixels - name)
}

impl Corner<'_> {
    pub(super) fn marginal(&self, area: &Area<'_>, place: &Place, k: usize) -> Result<()> {
        let (axis, column_of) = (&self.axes[k], self.shown[k]);
        let of = |rows: &[Vec<f64>]| histogram(axis, &column(rows, column_of));
        let (prior, posterior) = (of(&self.found.prior), of(&self.found.draws));
        let most = posterior
            .iter()
            .chain(&prior)
            .fold(0.0, |a: f64, b| a.max(*b));
        let height = Axis {
            is_log: false,
            low: 0.0,
            high: headroom(place.height) * most.max(1e-300),
        };
        let mut chart = place.chart(area, axis, &height)?;
        let name = self.name(k);
        place.mesh(&mut chart, &name, "")?;
        if !self.found.draws.is_empty() {
            chart
                .draw_series([Polygon::new(
                    filled(axis, &posterior),
                    BLUE.mix(0.3).filled(),
                )])
                .map_err(drawing)?;
            let edge = BLUE.stroke_width(UNITS as u32);
            chart
                .draw_series([PathElement::new(stairs(axis, &posterior), edge)])
                .map_err(drawing)?;
        }
        let edge = FAINT.stroke_width(UNITS as u32);
        chart
            .draw_series([PathElement::new(stairs(axis, &prior), edge)])
            .map_err(drawing)?;
        if let Some(best) = self.best(k) {
            // As high as the curves: above them stands the name.
            let line = vec![(best, 0.0), (best, most)];
            let edge = ORANGE.stroke_width(UNITS as u32 * 3 / 2);
            chart
                .draw_series([PathElement::new(line, edge)])
                .map_err(drawing)?;
        }
        // The name stands in the panel's corner too: far from the labels it is missed.
        let at = (place.x + 5, place.y + 3);
        draw_text(area, &name, at, 12)
    }

    pub(super) fn pair(&self, area: &Area<'_>, place: &Place, j: usize, i: usize) -> Result<Panel> {
        let (x, y) = (&self.axes[j], &self.axes[i]);
        let mut chart = place.chart(area, x, y)?;
        place.mesh(&mut chart, &self.name(j), &self.name(i))?;
        let draws = &self.found.draws;
        if draws.len() >= 100 {
            let (a, b) = (column(draws, self.shown[j]), column(draws, self.shown[i]));
            let found = regions((x, &a), (y, &b), &PARTS)?;
            for (rings, opacity) in found.into_iter().zip([0.16, 0.24]) {
                let style = BLUE.mix(opacity).filled();
                let rings = rings.into_iter().map(|ring| Polygon::new(ring, style));
                chart.draw_series(rings).map_err(drawing)?;
            }
        }
        let mut seen = panel(&chart);
        let radius = (if self.looks.len() > 200 { 7 } else { 9 }) * UNITS / 4;
        for &(at, part) in &self.looks {
            let row = &self.found.evaluations[at].x;
            let (a, b) = (x.place(row[self.shown[j]]), y.place(row[self.shown[i]]));
            if !(x.holds(a) && y.holds(b)) {
                continue;
            }
            let pixel = chart.backend_coord(&(a, b));
            seen.points.push((pixel.0, pixel.1, at));
            let dot = Circle::new((a, b), radius, ramp(part).filled());
            chart.draw_series([dot]).map_err(drawing)?;
        }
        for failed in &self.found.failures {
            let Some((&a, &b)) = failed.x.get(self.shown[j]).zip(failed.x.get(self.shown[i]))
            else {
                continue;
            };
            let (a, b) = (x.place(a), y.place(b));
            if x.holds(a) && y.holds(b) {
                let cross = Cross::new((a, b), 4 * UNITS, RED.stroke_width(UNITS as u32));
                chart.draw_series([cross]).map_err(drawing)?;
            }
        }
        if let Some((a, b)) = self.best(j).zip(self.best(i)) {
            let ring = Circle::new((a, b), 6 * UNITS, ORANGE.stroke_width(2 * UNITS as u32));
            chart.draw_series([ring]).map_err(drawing)?;
        }
        Ok(seen)
    }

    /// f at every evaluation of one parameter.
    pub(super) fn values(&self, area: &Area<'_>, place: &Place) -> Result<Panel> {
        let x = &self.axes[0];
        let (low, high) = colour_range(self.found);
        let margin = 0.1 * (high - low);
        let y = Axis {
            is_log: false,
            low: low - margin,
            high: high + margin,
        };
        let mut chart = place.chart(area, x, &y)?;
        place.mesh(&mut chart, &self.name(0), self.found.value_name())?;
        let mut seen = panel(&chart);
        for &(at, part) in &self.looks {
            let one = &self.found.evaluations[at];
            let (a, b) = (
                x.place(one.x[self.shown[0]]),
                one.value.unwrap_or(f64::NEG_INFINITY),
            );
            let at_floor = b.max(low);
            if x.holds(a) {
                let pixel = chart.backend_coord(&(a, at_floor));
                seen.points.push((pixel.0, pixel.1, at));
                let dot = Circle::new((a, at_floor), 3 * UNITS, ramp(part).filled());
                chart.draw_series([dot]).map_err(drawing)?;
            }
        }
        Ok(seen)
    }
}

//! Draw the posterior: every parameter's marginal beside the prior's, every pair, and where the run
//! looked.

use super::ink::{Area, BLUE, FAINT, ORANGE, RAMP, RED, UNITS, panel, ramp, text};
use super::{Figure, Hover, Panel, Sheet, drawing};
use crate::axis::{Axis, ends, opened};
use crate::density::{filled, histogram, regions, stairs};
use crate::findings::Findings;
use crate::words::{count, short};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;
use warpquad::{Error, Result};

/// Parameters that one figure shows unless others are named: more are too small to read.
pub const MOST: usize = 8;
/// Evaluations that are shown; of more, those with the largest f.
const MOST_EVALUATIONS: usize = 600;
/// Nats below the best evaluation that the colours span: 8 is a likelihood of 1/3000 of it.
const DEPTH: f64 = 8.0;
/// Parts of the posterior that the shaded regions hold.
const PARTS: [f64; 2] = [0.95, 0.5];
/// Room for labels at the left and below, in pixels.
const LEFT: i32 = 72;
/// Room at the very left, without which a name loses its edge.
const EDGE: i32 = 6;
const BELOW: i32 = 46;
const GAP: i32 = 10;

/// What is common to all panels.
struct Corner<'a> {
    found: &'a Findings,
    /// The parameters, by place, in their own order.
    shown: Vec<usize>,
    axes: Vec<Axis>,
    /// Evaluations from the lowest f to the largest, and their colours' parts.
    looks: Vec<(usize, f64)>,
}

/// The places of the named parameters, or of all; of more than [`MOST`], those that the posterior
/// narrowed most. Always in the parameters' own order.
pub fn chosen(found: &Findings, names: Option<&[String]>) -> Result<Vec<usize>> {
    let Some(names) = names else {
        let mut all: Vec<usize> = (0..found.dim()).collect();
        if all.len() > MOST {
            let shrunk =
                |k: usize| spread(&column(&found.draws, k)) / spread(&column(&found.prior, k));
            let keys: Vec<f64> = all.iter().map(|&k| shrunk(k)).collect();
            all.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
            all.truncate(MOST);
            all.sort_unstable();
        }
        return Ok(all);
    };
    let mut out = Vec::new();
    for name in names {
        let place = found.names.iter().position(|own| own == name);
        let unknown = || {
            let known = found.names.join(", ");
            Error::spec(
                "parameters",
                format!("there is no '{name}'; the run has {known}"),
            )
        };
        out.push(place.ok_or_else(unknown)?);
    }
    out.sort_unstable();
    out.dedup();
    match out.is_empty() {
        true => Err(Error::spec("parameters", "name one at least")),
        false => Ok(out),
    }
}

/// The figure of these parameters.
pub fn draw(found: &Findings, shown: &[usize]) -> Result<Figure> {
    let axis = |&k: &usize| Axis::of(&column(&found.prior, k), &column(&found.draws, k));
    let corner = Corner {
        axes: shown.iter().map(axis).collect(),
        shown: shown.to_vec(),
        looks: looks(found),
        found,
    };
    let rows = shown.len();
    let size = match rows {
        1 => 420,
        2 => 260,
        3 => 200,
        4 => 165,
        5 | 6 => 132,
        _ => 112,
    };
    let rows_down = if rows == 1 { 2 } else { rows as i32 };
    let down = if rows == 1 { 200 } else { size };
    let width = LEFT + rows as i32 * (size + GAP) + GAP;
    let height = BELOW + rows_down * (down + GAP) + GAP;
    let mut sheet = Sheet::new(width, height);
    let panels = sheet.draw(|area| match rows {
        1 => corner.line(area, size, down),
        _ => corner.triangle(area, size),
    })?;
    let labels = found.evaluations.iter().enumerate();
    let labels = labels.map(|(i, one)| label(found, i, one.value, &one.x));
    Ok(Figure {
        name: "corner",
        title: "The posterior".into(),
        alt: corner.alt(),
        caption: corner.caption(),
        svg: sheet.finish(),
        least_width: (width as u32).min(420 + 60 * rows as u32),
        hover: Hover {
            panels,
            labels: labels.collect(),
        },
    })
}

fn label(found: &Findings, i: usize, value: Option<f64>, x: &[f64]) -> String {
    let pairs = found.names.iter().zip(x);
    let x: Vec<String> = pairs.map(|(n, x)| format!("{n} = {}", short(*x))).collect();
    let value = value.map_or("zero".into(), short);
    format!(
        "evaluation {}: {} = {value} at {}",
        i + 1,
        found.value_name(),
        x.join(", ")
    )
}

/// The values of one parameter.
pub fn column(rows: &[Vec<f64>], k: usize) -> Vec<f64> {
    rows.iter().filter_map(|row| row.get(k).copied()).collect()
}

fn spread(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    crate::axis::quantile(&sorted, 0.84) - crate::axis::quantile(&sorted, 0.16)
}

/// The evaluations to show from the lowest to the highest, each with its part of the colours.
fn looks(found: &Findings) -> Vec<(usize, f64)> {
    let value = |i: usize| found.evaluations[i].value.unwrap_or(f64::NEG_INFINITY);
    let mut order: Vec<usize> = (0..found.evaluations.len()).collect();
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    let order = order.split_off(order.len().saturating_sub(MOST_EVALUATIONS));
    let (low, high) = colour_range(found);
    let part = |i: usize| ((value(i) - low) / (high - low)).clamp(0.0, 1.0);
    order.iter().map(|&i| (i, part(i))).collect()
}

/// The values that the colours span.
fn colour_range(found: &Findings) -> (f64, f64) {
    let (low, high) = ends(found.evaluations.iter().filter_map(|one| one.value));
    let low = if found.in_logs {
        low.max(high - DEPTH)
    } else {
        low
    };
    opened(low, high)
}

/// A range whose ticks suit the axis: by 1, 2 and 5 where places are log10.
#[derive(Clone)]
struct Ticked {
    range: RangedCoordf64,
    axis: Axis,
    most: usize,
}

impl Ticked {
    fn new(axis: &Axis, most: usize) -> Ticked {
        Ticked {
            range: (axis.low..axis.high).into(),
            axis: axis.clone(),
            most,
        }
    }
}

impl Ranged for Ticked {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        ticks(&self.axis, self.most)
    }

    fn range(&self) -> Range<f64> {
        self.axis.low..self.axis.high
    }
}

impl ValueFormatter<f64> for Ticked {
    fn format_ext(&self, value: &f64) -> String {
        self.axis.label(*value)
    }
}

/// At most so many ticks: round numbers, or 1, 2 and 5 of each decade.
fn ticks(axis: &Axis, most: usize) -> Vec<f64> {
    if axis.is_log {
        for steps in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let decades = axis.low.floor() as i32..=axis.high.ceil() as i32;
            let all =
                decades.flat_map(|k| steps.iter().map(move |s: &f64| f64::from(k) + s.log10()));
            let inside: Vec<f64> = all.filter(|&place| axis.holds(place)).collect();
            if (2..=most + 1).contains(&inside.len()) {
                return inside;
            }
        }
    }
    let range: RangedCoordf64 = (axis.low..axis.high).into();
    range.key_points(most)
}

type Drawn<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Ticked, Ticked>>;

impl Corner<'_> {
    /// All pairs and all marginals.
    fn triangle(&self, area: &Area<'_>, size: i32) -> Result<Vec<Panel>> {
        let rows = self.shown.len();
        let mut panels = Vec::new();
        for i in 0..rows {
            for j in 0..=i {
                let (x, y) = (
                    LEFT + j as i32 * (size + GAP),
                    GAP + i as i32 * (size + GAP),
                );
                let place = Place {
                    x,
                    y,
                    width: size,
                    height: size,
                    has_left: j == 0 && i > 0,
                    has_bottom: i + 1 == rows,
                };
                match i == j {
                    true => self.marginal(area, &place, i)?,
                    false => panels.push(self.pair(area, &place, j, i)?),
                }
            }
        }
        self.legend(area, LEFT + size + 2 * GAP, GAP + 4)?;
        Ok(panels)
    }

    /// One parameter: its marginal, and below it f at every evaluation.
    fn line(&self, area: &Area<'_>, size: i32, down: i32) -> Result<Vec<Panel>> {
        let mut place = Place {
            x: LEFT,
            y: GAP,
            width: size,
            height: down,
            has_left: false,
            has_bottom: false,
        };
        self.marginal(area, &place, 0)?;
        place.y += down + GAP;
        (place.has_left, place.has_bottom) = (true, true);
        Ok(vec![self.values(area, &place)?])
    }

    fn marginal(&self, area: &Area<'_>, place: &Place, k: usize) -> Result<()> {
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
            high: 1.12 * most.max(1e-300),
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
            let line = vec![(best, 0.0), (best, height.high)];
            let edge = ORANGE.stroke_width(UNITS as u32 * 3 / 2);
            chart
                .draw_series([PathElement::new(line, edge)])
                .map_err(drawing)?;
        }
        // The name stands in the panel's corner too: far from the labels it is missed.
        let at = (place.x + 5, place.y + 3);
        draw_text(area, &name, at, 12)
    }

    fn pair(&self, area: &Area<'_>, place: &Place, j: usize, i: usize) -> Result<Panel> {
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
    fn values(&self, area: &Area<'_>, place: &Place) -> Result<Panel> {
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

    /// What colours and marks mean, in the empty corner.
    fn legend(&self, area: &Area<'_>, x: i32, y: i32) -> Result<()> {
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
        draw_text(area, &format!("{below}{}", short(low)), (x, y + 12), 11)?;
        let end = x + step * RAMP.len() as i32;
        let name = self.found.value_name();
        draw_text(
            area,
            &format!("{} {name}", short(high)),
            (end + 6, y - 1),
            11,
        )?;
        // Below the ramp's own numbers.
        let mut row = y + 40;
        let mut line = |text: &str, mark: &dyn Fn(i32) -> Result<()>| -> Result<()> {
            mark(row)?;
            draw_text(area, text, (x + 22, row - 7), 11)?;
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

    fn name(&self, k: usize) -> String {
        self.found.names[self.shown[k]].clone()
    }

    /// The place of the best evaluation, if the window holds it.
    fn best(&self, k: usize) -> Option<f64> {
        let row = &self.found.evaluations[self.found.best()?].x;
        let place = self.axes[k].place(*row.get(self.shown[k])?);
        self.axes[k].holds(place).then_some(place)
    }

    fn alt(&self) -> String {
        let names: Vec<String> = (0..self.shown.len()).map(|k| self.name(k)).collect();
        format!(
            "Corner plot of {}: the marginal of each with the prior's, the posterior of each pair, and the \
             evaluations coloured by {}. The table below has the numbers.",
            names.join(", "),
            self.found.value_name()
        )
    }

    fn caption(&self) -> String {
        let mut out = String::from(match self.shown.len() {
            1 => "Above: the marginal (blue) and the prior (grey). Below: every evaluation.",
            _ => {
                "Diagonal: the marginals (blue) and the prior's (grey). Below: regions of each pair that hold \
                  50 % and 95 % of the posterior, and the evaluations."
            }
        });
        let inside = |one: &&(usize, f64)| {
            let row = &self.found.evaluations[one.0].x;
            let mut places = self.shown.iter().zip(&self.axes);
            places.all(|(&k, axis)| axis.holds(axis.place(row[k])))
        };
        let all = self.found.evaluations.len();
        let hidden = all - self.looks.iter().filter(inside).count();
        if hidden > 0 {
            let verb = if hidden == 1 { "lies" } else { "lie" };
            out += &format!(
                " {} of {all} {verb} outside of some window, which follows the posterior{}.",
                count(hidden, "evaluation"),
                if all > MOST_EVALUATIONS {
                    ", or below the 600 largest"
                } else {
                    ""
                }
            );
        }
        if self.shown.len() < self.found.dim() {
            out += &format!(
                " {} of {} parameters are shown; --parameters names others.",
                self.shown.len(),
                self.found.dim()
            );
        }
        out
    }
}

/// Where a panel's axes stand, in pixels.
struct Place {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    /// Whether labels stand at its left, and below it.
    has_left: bool,
    has_bottom: bool,
}

impl Place {
    fn chart<'a>(&self, area: &Area<'a>, x: &Axis, y: &Axis) -> Result<Drawn<'a>> {
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
        if self.width < 150 { 3 } else { 5 }
    }

    fn mesh(&self, chart: &mut Drawn<'_>, x: &str, y: &str) -> Result<()> {
        let small = if self.width < 150 { 10 } else { 12 };
        let mut mesh = chart.configure_mesh();
        mesh.disable_mesh()
            .axis_style(FAINT.stroke_width(UNITS as u32 / 2))
            .label_style(text(small))
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

fn draw_text(area: &Area<'_>, words: &str, at: (i32, i32), pixels: i32) -> Result<()> {
    let at = (at.0 * UNITS, at.1 * UNITS);
    area.draw_text(words, &text(pixels), at).map_err(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_ticks_at_round_numbers() {
        let axis = Axis {
            is_log: true,
            low: -0.6,
            high: 0.6,
        };
        let labels: Vec<String> = ticks(&axis, 4).iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["0.5", "1", "2"]);
    }
}

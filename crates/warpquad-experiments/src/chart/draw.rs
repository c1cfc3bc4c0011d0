//! Turn a figure into SVG elements.

use super::axis::Scaled;
use super::{Figure, Mark, Panel, Style};
use std::fmt::Write;

/// Room around a chart for titles, tick labels and axis labels, in pixels: left, right, top,
/// bottom.
const ROOM: [f64; 4] = [64.0, 16.0, 34.0, 50.0];
/// Heights of the figure's title and of a legend's row.
const TITLE: f64 = 36.0;
const LEGEND: f64 = 26.0;
/// Width of a letter at 12 pixels, near enough to lay out a legend.
const LETTER: f64 = 6.6;
/// Colours of a heat map from low to high (viridis, at tenths of its range).
const HEAT: [[f64; 3]; 11] = [
    [68.0, 1.0, 84.0],
    [72.0, 36.0, 117.0],
    [65.0, 68.0, 135.0],
    [53.0, 95.0, 141.0],
    [42.0, 120.0, 142.0],
    [33.0, 145.0, 140.0],
    [34.0, 168.0, 132.0],
    [68.0, 191.0, 112.0],
    [122.0, 209.0, 81.0],
    [189.0, 223.0, 38.0],
    [253.0, 231.0, 37.0],
];

/// A rectangle on the page.
#[derive(Clone, Copy)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// A chart's frame with both axes scaled.
struct View {
    frame: Frame,
    x: Scaled,
    y: Scaled,
}

impl View {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        // A value far beyond an axis stays on the page's number range; the frame clips it.
        let clamp = |t: f64| t.clamp(-10.0, 11.0);
        let (x, y) = (clamp(self.x.at(x)), clamp(self.y.at(y)));
        (
            self.frame.x + x * self.frame.width,
            self.frame.y + (1.0 - y) * self.frame.height,
        )
    }
}

pub(super) fn figure(figure: &Figure) -> String {
    let columns = figure.columns.min(figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns);
    let width = columns as f64 * figure.size.0;
    let entries = legend_entries(figure);
    let lines = legend_lines(&entries, width);
    let height = TITLE + rows as f64 * figure.size.1 + LEGEND * lines.len() as f64 + 6.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    text(
        &mut out,
        (width / 2.0, 24.0),
        &figure.title,
        "text-anchor=\"middle\" font-size=\"16\" font-weight=\"bold\"",
    );
    for (i, panel) in figure.panels.iter().enumerate() {
        let corner = (
            (i % columns) as f64 * figure.size.0,
            TITLE + (i / columns) as f64 * figure.size.1,
        );
        draw_panel(&mut out, panel, i, corner, figure.size);
    }
    for (i, line) in lines.iter().enumerate() {
        let y = TITLE + rows as f64 * figure.size.1 + LEGEND * (i as f64 + 0.5);
        draw_legend(&mut out, line, width, y);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_panel(out: &mut String, panel: &Panel, index: usize, corner: (f64, f64), size: (f64, f64)) {
    let bar = panel
        .marks
        .iter()
        .any(|mark| matches!(mark, Mark::Heat { .. }));
    let right = if bar { 92.0 } else { ROOM[1] };
    let slanted = panel
        .x
        .names
        .iter()
        .any(|name| name.len() as f64 * LETTER > slot(panel, size.0 - ROOM[0] - right));
    let bottom = if slanted { ROOM[3] + 44.0 } else { ROOM[3] };
    let frame = Frame {
        x: corner.0 + ROOM[0],
        y: corner.1 + ROOM[2],
        width: size.0 - ROOM[0] - right,
        height: size.1 - ROOM[2] - bottom,
    };
    let view = View {
        frame,
        x: panel.x.scaled(panel.marks.iter().flat_map(xs)),
        y: panel.y.scaled(panel.marks.iter().flat_map(ys)),
    };
    let center = frame.x + frame.width / 2.0;
    text(
        out,
        (center, frame.y - 10.0),
        &panel.title,
        "text-anchor=\"middle\" font-size=\"13\"",
    );
    let Frame {
        x,
        y,
        width,
        height,
    } = frame;
    let _ = writeln!(
        out,
        "<clipPath id=\"c{index}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\"/></clipPath>"
    );
    draw_ticks(out, &view, slanted);
    let _ = writeln!(out, "<g clip-path=\"url(#c{index})\">");
    for mark in &panel.marks {
        draw_mark(out, mark, &view);
    }
    out.push_str("</g>\n");
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" \
         stroke=\"#222\"/>"
    );
    text(
        out,
        (center, corner.1 + size.1 - 12.0),
        &panel.x.label,
        "text-anchor=\"middle\"",
    );
    let (x, y) = (corner.0 + 14.0, frame.y + frame.height / 2.0);
    let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\"");
    text(out, (x, y), &panel.y.label, &turned);
    for mark in &panel.marks {
        if let Mark::Heat { values, name, .. } = mark {
            draw_bar(out, values, name, frame);
        }
    }
}

/// The room of one name on the horizontal axis.
fn slot(panel: &Panel, width: f64) -> f64 {
    width / panel.x.names.len().max(1) as f64
}

fn draw_ticks(out: &mut String, view: &View, slanted: bool) {
    let Frame {
        x,
        y,
        width,
        height,
    } = view.frame;
    let bottom = y + height;
    let inside = |t: f64| (-1e-9..=1.0 + 1e-9).contains(&t);
    for (value, label) in view
        .x
        .ticks
        .iter()
        .filter(|(value, _)| inside(view.x.at(*value)))
    {
        let at = x + view.x.at(*value) * width;
        line(out, (at, y), (at, bottom), "stroke=\"#e6e6e6\"");
        line(out, (at, bottom), (at, bottom + 4.0), "stroke=\"#222\"");
        if slanted {
            let turned = format!(
                "text-anchor=\"end\" transform=\"rotate(-35 {at:.1} {:.1})\"",
                bottom + 14.0
            );
            text(out, (at, bottom + 14.0), label, &turned);
        } else {
            text(out, (at, bottom + 17.0), label, "text-anchor=\"middle\"");
        }
    }
    for (value, label) in view
        .y
        .ticks
        .iter()
        .filter(|(value, _)| inside(view.y.at(*value)))
    {
        let at = bottom - view.y.at(*value) * height;
        line(out, (x, at), (x + width, at), "stroke=\"#e6e6e6\"");
        line(out, (x - 4.0, at), (x, at), "stroke=\"#222\"");
        text(out, (x - 7.0, at + 4.0), label, "text-anchor=\"end\"");
    }
}

fn draw_mark(out: &mut String, mark: &Mark, view: &View) {
    match mark {
        Mark::Line { points, style } => {
            for run in finite_runs(points, |p| p.0.is_finite() && p.1.is_finite()) {
                let _ = writeln!(
                    out,
                    "<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>",
                    path(run.iter().map(|p| view.at(p.0, p.1))),
                    stroke(style)
                );
            }
        }
        Mark::Band { points, style } => {
            for run in finite_runs(points, |p| {
                p.0.is_finite() && p.1.is_finite() && p.2.is_finite()
            }) {
                let upper = run.iter().map(|p| view.at(p.0, p.2));
                let lower = run.iter().rev().map(|p| view.at(p.0, p.1));
                let _ = writeln!(
                    out,
                    "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.22\"/>",
                    path(upper.chain(lower)),
                    style.color
                );
            }
        }
        Mark::Dots { points, style } => {
            for p in points.iter().filter(|p| p.0.is_finite() && p.1.is_finite()) {
                dot(out, view.at(p.0, p.1), style);
            }
        }
        Mark::Intervals { points, style } => {
            for p in points.iter().filter(|p| p.1.is_finite() && p.3.is_finite()) {
                line(out, view.at(p.0, p.1), view.at(p.0, p.3), &stroke(style));
                dot(
                    out,
                    view.at(p.0, p.2),
                    &style.clone().sized(2.2 * style.size),
                );
            }
        }
        Mark::Heat {
            ends,
            columns,
            values,
            ..
        } => draw_heat(out, ends, *columns, values, view),
    }
}

fn draw_heat(
    out: &mut String,
    ends: &[(f64, f64); 2],
    columns: usize,
    values: &[f64],
    view: &View,
) {
    let rows = values.len() / columns.max(1);
    let (low, high) = bounds(values);
    let corner =
        |i: usize, n: usize, ends: (f64, f64)| ends.0 + (ends.1 - ends.0) * i as f64 / n as f64;
    for (i, value) in values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
    {
        let (column, row) = (i % columns, i / columns);
        let (x0, y0) = view.at(
            corner(column, columns, ends[0]),
            corner(row + 1, rows, ends[1]),
        );
        let (x1, y1) = view.at(
            corner(column + 1, columns, ends[0]),
            corner(row, rows, ends[1]),
        );
        // Half a pixel of overlap hides the seams between cells.
        let (width, height) = (x1 - x0 + 0.5, y1 - y0 + 0.5);
        let color = heat((value - low) / (high - low));
        let _ = writeln!(
            out,
            "<rect x=\"{x0:.1}\" y=\"{y0:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{color}\"/>"
        );
    }
}

/// The colour bar to the right of a heat map.
fn draw_bar(out: &mut String, values: &[f64], name: &str, frame: Frame) {
    let (low, high) = bounds(values);
    let (x, steps) = (frame.x + frame.width + 10.0, 60);
    for i in 0..steps {
        let (t, height) = (i as f64 / steps as f64, frame.height / steps as f64);
        let y = frame.y + frame.height - (i + 1) as f64 * height;
        let color = heat(t);
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"12\" height=\"{:.1}\" fill=\"{color}\"/>",
            height + 0.5
        );
    }
    let axis = super::Axis::linear("")
        .range(low, high)
        .scaled(std::iter::empty());
    for (value, label) in &axis.ticks {
        let y = frame.y + (1.0 - axis.at(*value)) * frame.height;
        text(out, (x + 16.0, y + 4.0), label, "font-size=\"11\"");
    }
    let (x, y) = (x + 74.0, frame.y + frame.height / 2.0);
    let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\"");
    text(out, (x, y), name, &turned);
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let finite = values.iter().filter(|x| x.is_finite());
    let (low, high) = finite.fold(start, |(low, high), x| (low.min(*x), high.max(*x)));
    if high > low {
        (low, high)
    } else {
        (low, low + 1.0)
    }
}

fn heat(t: f64) -> String {
    let at = t.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let i = (at.floor() as usize).min(HEAT.len() - 2);
    let mix = |c: usize| HEAT[i][c] + (at - i as f64) * (HEAT[i + 1][c] - HEAT[i][c]);
    format!("rgb({:.0},{:.0},{:.0})", mix(0), mix(1), mix(2))
}

/// The named marks, each name once, and whether it stands for a line, an area or dots.
fn legend_entries(figure: &Figure) -> Vec<(&Style, char)> {
    let mut entries: Vec<(&Style, char)> = Vec::new();
    for mark in figure.panels.iter().flat_map(|panel| &panel.marks) {
        let (style, kind) = match mark {
            Mark::Line { style, .. } => (style, 'l'),
            Mark::Band { style, .. } => (style, 'b'),
            Mark::Dots { style, .. } | Mark::Intervals { style, .. } => (style, 'd'),
            Mark::Heat { .. } => continue,
        };
        if style.name.is_some() && entries.iter().all(|(seen, _)| seen.name != style.name) {
            entries.push((style, kind));
        }
    }
    entries
}

fn entry_width(style: &Style) -> f64 {
    52.0 + LETTER * style.name.as_deref().unwrap_or("").chars().count() as f64
}

/// The legend broken into lines that fit the width.
fn legend_lines<'a>(entries: &[(&'a Style, char)], width: f64) -> Vec<Vec<(&'a Style, char)>> {
    let mut lines: Vec<Vec<(&Style, char)>> = Vec::new();
    let mut used = f64::INFINITY;
    for &(style, kind) in entries {
        used += entry_width(style);
        if used > width - 20.0 {
            lines.push(Vec::new());
            used = entry_width(style);
        }
        if let Some(line) = lines.last_mut() {
            line.push((style, kind));
        }
    }
    lines
}

fn draw_legend(out: &mut String, entries: &[(&Style, char)], width: f64, y: f64) {
    let total: f64 = entries.iter().map(|(style, _)| entry_width(style)).sum();
    let mut x = (width - total) / 2.0 + 8.0;
    for &(style, kind) in entries {
        match kind {
            'l' => line(out, (x, y), (x + 24.0, y), &stroke(style)),
            'b' => {
                let color = &style.color;
                let y = y - 6.0;
                let _ = writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"24\" height=\"12\" fill=\"{color}\" \
                     fill-opacity=\"0.22\"/>"
                );
            }
            _ => dot(
                out,
                (x + 12.0, y),
                &style.clone().sized(style.size.max(3.5)),
            ),
        }
        text(
            out,
            (x + 30.0, y + 4.0),
            style.name.as_deref().unwrap_or(""),
            "",
        );
        x += entry_width(style);
    }
}

fn xs(mark: &Mark) -> Vec<f64> {
    match mark {
        Mark::Line { points, .. } | Mark::Dots { points, .. } => {
            points.iter().map(|p| p.0).collect()
        }
        Mark::Band { points, .. } => points.iter().map(|p| p.0).collect(),
        Mark::Intervals { points, .. } => points.iter().map(|p| p.0).collect(),
        Mark::Heat { ends, .. } => vec![ends[0].0, ends[0].1],
    }
}

fn ys(mark: &Mark) -> Vec<f64> {
    match mark {
        Mark::Line { points, .. } | Mark::Dots { points, .. } => {
            points.iter().map(|p| p.1).collect()
        }
        Mark::Band { points, .. } => points.iter().flat_map(|p| [p.1, p.2]).collect(),
        Mark::Intervals { points, .. } => points.iter().flat_map(|p| [p.1, p.2, p.3]).collect(),
        Mark::Heat { ends, .. } => vec![ends[1].0, ends[1].1],
    }
}

/// Runs of neighbouring points that have a place.
fn finite_runs<T>(points: &[T], finite: impl Fn(&T) -> bool) -> Vec<&[T]> {
    points
        .split(|point| !finite(point))
        .filter(|run| !run.is_empty())
        .collect()
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    points.join(" ")
}

fn stroke(style: &Style) -> String {
    let dashes = if style.dashed {
        " stroke-dasharray=\"6 4\""
    } else {
        ""
    };
    format!(
        "stroke=\"{}\" stroke-width=\"{}\"{dashes}",
        style.color, style.size
    )
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), stroke: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(
        out,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {stroke}/>"
    );
}

fn dot(out: &mut String, at: (f64, f64), style: &Style) {
    let _ = writeln!(
        out,
        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"{}\"/>",
        at.0, at.1, style.size, style.color
    );
}

fn text(out: &mut String, at: (f64, f64), content: &str, attributes: &str) {
    let content = content
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" {attributes}>{content}</text>",
        at.0, at.1
    );
}

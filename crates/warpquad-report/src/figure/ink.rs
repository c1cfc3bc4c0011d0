//! Hold the colours and the sheet that figures are drawn on.

use super::{Panel, drawing};
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use warpquad::Result;

/// Units of the picture for one pixel: the library draws on whole units, and curves need finer.
pub const UNITS: i32 = 4;

// Every colour has its twin for dark pages in page.css, found by its hexadecimal digits.
pub const TEXT: RGBColor = RGBColor(0x24, 0x29, 0x2F);
pub const FAINT: RGBColor = RGBColor(0x8A, 0x8F, 0x98);
pub const BLUE: RGBColor = RGBColor(0x1F, 0x5F, 0xA8);
pub const ORANGE: RGBColor = RGBColor(0xC2, 0x5A, 0x12);
pub const RED: RGBColor = RGBColor(0xB3, 0x26, 0x1E);

/// From low to high: eight steps of viridis without its lightest end, which white hides.
pub const RAMP: [RGBColor; 8] = [
    RGBColor(0x44, 0x01, 0x54),
    RGBColor(0x46, 0x32, 0x7E),
    RGBColor(0x36, 0x5C, 0x8D),
    RGBColor(0x27, 0x7F, 0x8E),
    RGBColor(0x1F, 0xA1, 0x87),
    RGBColor(0x4A, 0xC1, 0x6D),
    RGBColor(0x9F, 0xDA, 0x3A),
    RGBColor(0xE8, 0xC5, 0x1E),
];

/// The colour of a part between 0 and 1.
pub fn ramp(part: f64) -> RGBColor {
    let last = RAMP.len() - 1;
    RAMP[((part * RAMP.len() as f64) as usize).min(last)]
}

/// What a figure is drawn on.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A set of axes.
pub type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Axes over a window, with a name for each and a way to write the ticks.
pub fn axes<'a>(
    area: &Area<'a>,
    (x, x_name): (std::ops::Range<f64>, &str),
    (y, y_name): (std::ops::Range<f64>, &str),
    write: [&dyn Fn(f64) -> String; 2],
) -> Result<Chart<'a>> {
    let below = if x_name.is_empty() { 24 } else { 40 };
    let mut chart = ChartBuilder::on(area)
        .margin(10 * UNITS)
        .margin_right(26 * UNITS)
        .x_label_area_size(below * UNITS)
        .y_label_area_size(92 * UNITS)
        .build_cartesian_2d(x, y)
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FAINT.mix(0.2).stroke_width(UNITS as u32 / 2))
        .axis_style(FAINT.stroke_width(UNITS as u32 / 2))
        .label_style(text(13))
        .axis_desc_style(text(14))
        .set_all_tick_mark_size(4 * UNITS)
        .x_labels(8)
        .y_labels(5)
        .x_label_formatter(&|x| write[0](*x))
        .y_label_formatter(&|y| write[1](*y))
        .x_desc(x_name)
        .y_desc(y_name)
        .draw()
        .map_err(drawing)?;
    Ok(chart)
}

/// A sheet of so many pixels.
pub struct Sheet {
    width: i32,
    height: i32,
    svg: String,
}

impl Sheet {
    pub fn new(width: i32, height: i32) -> Sheet {
        Sheet {
            width,
            height,
            svg: String::new(),
        }
    }

    /// Draw on it.
    pub fn draw<T>(&mut self, how: impl FnOnce(&Area<'_>) -> Result<T>) -> Result<T> {
        let size = ((self.width * UNITS) as u32, (self.height * UNITS) as u32);
        let area = SVGBackend::with_string(&mut self.svg, size).into_drawing_area();
        let made = how(&area)?;
        area.present().map_err(drawing)?;
        Ok(made)
    }

    /// The picture: points of one colour in one path each, so that thousands of them stay small,
    /// and of the size in pixels.
    pub fn finish(self) -> String {
        self.finish_at(1.0)
    }

    /// The same, shown so many times as large where there is room.
    pub fn finish_at(self, scale: f64) -> String {
        let (width, height) = (self.width * UNITS, self.height * UNITS);
        let old = format!("width=\"{width}\" height=\"{height}\"");
        let shown = |pixels: i32| (scale * f64::from(pixels)).round();
        let (wide, high) = (shown(self.width), shown(self.height));
        let new = format!("width=\"{wide}\" height=\"{high}\"");
        merged(&self.svg.replacen(&old, &new, 1))
    }
}

/// The library takes the size of a line of text, which it has at 1.24 of the letters'.
const LINE: f64 = 1.24;

/// A style for text of so many pixels.
pub fn text(pixels: i32) -> TextStyle<'static> {
    let size = LINE * f64::from(pixels * UNITS);
    TextStyle::from(("sans-serif", size).into_font()).color(&TEXT)
}

/// The place of a chart's axes, for a pointer.
pub fn panel<X, Y>(chart: &ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>) -> Panel
where
    X: Ranged,
    Y: Ranged,
{
    let (x, y) = chart.plotting_area().get_pixel_range();
    Panel {
        bounds: [x.start, y.start, x.end, y.end],
        points: Vec::new(),
    }
}

/// Put circles of one radius and colour that follow each other into one path of dots.
fn merged(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut dots: Option<(String, String)> = None;
    let flush = |dots: &mut Option<(String, String)>, out: &mut String| {
        if let Some((style, path)) = dots.take() {
            out.push_str(&format!("<path d=\"{path}\" {style}/>\n"));
        }
    };
    for line in svg.lines() {
        let Some((style, at)) = dot(line) else {
            flush(&mut dots, &mut out);
            out.push_str(line);
            out.push('\n');
            continue;
        };
        if dots.as_ref().is_none_or(|(own, _)| *own != style) {
            flush(&mut dots, &mut out);
            dots = Some((style, String::new()));
        }
        if let Some((_, path)) = &mut dots {
            path.push_str(&at);
        }
    }
    flush(&mut dots, &mut out);
    out
}

/// The style and the path of a filled circle; `None` for anything else.
fn dot(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("<circle ")?;
    let field = |name: &str| {
        let from = rest.find(&format!("{name}=\""))? + name.len() + 2;
        rest[from..].split('"').next()
    };
    if field("fill")? == "none" {
        return None;
    }
    let (x, y, r) = (field("cx")?, field("cy")?, field("r")?.parse::<i32>().ok()?);
    let style = format!(
        "fill=\"none\" stroke=\"{}\" stroke-opacity=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"",
        field("fill")?,
        field("opacity")?,
        2 * r
    );
    Some((style, format!("M{x} {y}h0")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_of_one_colour_become_one_path() {
        let circle = |x: i32, fill: &str| {
            format!(
                "<circle cx=\"{x}\" cy=\"5\" r=\"3\" opacity=\"1\" fill=\"{fill}\" stroke=\"none\" stroke-width=\"1\"/>"
            )
        };
        let lines = [
            circle(1, "#112233"),
            circle(2, "#112233"),
            circle(3, "#445566"),
        ];
        let svg = merged(&lines.join("\n"));
        assert_eq!(svg.lines().count(), 2);
        assert!(svg.contains("d=\"M1 5h0M2 5h0\"") && svg.contains("stroke=\"#445566\""));
        let ring = circle(1, "none");
        assert_eq!(merged(&ring).trim(), ring);
    }

    #[test]
    fn the_ramp_holds_its_ends() {
        assert_eq!((ramp(0.0), ramp(1.0)), (RAMP[0], RAMP[7]));
    }
}

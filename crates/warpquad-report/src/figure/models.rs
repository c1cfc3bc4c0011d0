//! Draw what each kind of models says of log Z, beside the answer and the audit.

use super::ink::{Area, BLUE, FAINT, ORANGE, TEXT, UNITS, panel, text};
use super::{Figure, Hover, Panel, Sheet, drawing};
use crate::axis::{ends, opened};
use crate::findings::Findings;
use crate::words::{decimals, fixed};
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 680;
const ROW: i32 = 34;
/// Half of a 95 % interval of a normal law, in sds.
const REACH: f64 = 1.96;

struct Row {
    name: String,
    log_z: f64,
    low: f64,
    high: f64,
    colour: RGBColor,
}

/// The figure; `None` without models or without a log of Z.
pub fn draw(found: &Findings) -> Result<Option<Figure>> {
    let rows = rows(found);
    if rows.len() < 2 {
        return Ok(None);
    }
    let mut sheet = Sheet::new(WIDTH, 60 + ROW * rows.len() as i32);
    let seen = sheet.draw(|area| picture(area, &rows))?;
    let label = |row: &Row| {
        let d = decimals((row.high - row.low) / 4.0);
        format!(
            "{}: log Z = {} [{}, {}]",
            row.name,
            fixed(row.log_z, d),
            fixed(row.low, d),
            fixed(row.high, d)
        )
    };
    let labels: Vec<String> = rows.iter().map(label).collect();
    Ok(Some(Figure {
        name: "models",
        title: "What each model says of log Z".into(),
        alt: format!("log Z with its 95 % interval: {}.", labels.join("; ")),
        caption: "log Z with its 95 % interval: the answer, the audit if there was one, and each kind of \
                  models by itself with its weight."
            .into(),
        svg: sheet.finish(),
        least_width: 480,
        hover: Hover {
            panels: vec![seen],
            labels,
        },
    }))
}

fn rows(found: &Findings) -> Vec<Row> {
    let mut out = Vec::new();
    let number = |json: &serde_json::Value| json.as_f64();
    let report = &found.report;
    let interval = &report["log_z_interval"];
    let answer = number(&report["log_z"])
        .zip(number(&interval[0]))
        .zip(number(&interval[1]));
    if let Some(((log_z, low), high)) = answer {
        out.push(Row {
            name: "the answer".into(),
            log_z,
            low,
            high,
            colour: TEXT,
        });
    }
    let mut normal = |name: String, log_z: Option<f64>, sd: Option<f64>, colour: RGBColor| {
        if let Some((log_z, sd)) = log_z.zip(sd) {
            out.push(Row {
                name,
                log_z,
                low: log_z - REACH * sd,
                high: log_z + REACH * sd,
                colour,
            });
        }
    };
    let audit = &report["audit"];
    let (log_z, sd) = (number(&audit["log_z"]), number(&audit["log_z_sd"]));
    normal("the audit".into(), log_z, sd, ORANGE);
    for kind in found.trust.iter().flat_map(|trust| &trust.kinds) {
        let name = format!("{:.0} %: {}", 100.0 * kind.weight, kind.label);
        normal(name, kind.log_z, kind.log_z_sd, BLUE);
    }
    out
}

fn picture(area: &Area<'_>, rows: &[Row]) -> Result<Panel> {
    let (low, high) = ends(rows.iter().flat_map(|row| [row.low, row.high]));
    let (low, high) = opened(low, high);
    let margin = 0.06 * (high - low);
    let (low, high) = (low - margin, high + margin);
    let digits = decimals((high - low) / 8.0).saturating_sub(1);
    let mut chart = ChartBuilder::on(area)
        .margin(10 * UNITS)
        .x_label_area_size(40 * UNITS)
        .build_cartesian_2d(low..high, 0.0..rows.len() as f64)
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_y_axis()
        .axis_style(FAINT.stroke_width(UNITS as u32 / 2))
        .label_style(text(12))
        .axis_desc_style(text(13))
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
        let name = Text::new(row.name.clone(), (low, y + 0.55), text(12));
        chart.draw_series([name]).map_err(drawing)?;
    }
    Ok(seen)
}

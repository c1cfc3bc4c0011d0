//! Draw the marginals of one parameter in several runs over each other, and their log Z in a row.

use super::ink::{BLUE, FAINT, ORANGE, RED, UNITS, axes, text};
use super::rows::{Row, picture};
use super::{Figure, Hover, Sheet, drawing};
use crate::axis::Axis;
use crate::density::{filled, histogram, stairs};
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 480;
const HEIGHT: i32 = 260;

/// The colours of runs, again from the first where there are more runs.
const COLOURS: [RGBColor; 6] = [
    BLUE,
    ORANGE,
    RGBColor(0x1F, 0xA1, 0x87),
    RED,
    RGBColor(0x46, 0x32, 0x7E),
    FAINT,
];

/// The colour of a run, by its place.
pub fn colour(place: usize) -> RGBColor {
    COLOURS[place % COLOURS.len()]
}

/// One run: its name, its place among all, and its draws of the parameter.
pub type Drawn<'a> = (&'a str, usize, Vec<f64>);

/// The marginals of a parameter, with its prior in the first of the runs.
pub fn marginals(parameter: &str, prior: &[f64], runs: &[Drawn<'_>]) -> Result<Figure> {
    let all: Vec<f64> = runs.iter().flat_map(|run| run.2.iter().copied()).collect();
    let axis = Axis::of(prior, &all);
    let heights: Vec<Vec<f64>> = runs.iter().map(|run| histogram(&axis, &run.2)).collect();
    let before = histogram(&axis, prior);
    let top = heights
        .iter()
        .chain([&before])
        .flatten()
        .fold(1e-300, |a: f64, b| a.max(*b));
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    sheet.draw(|area| {
        let (label, none) = (|x: f64| axis.label(x), |_: f64| String::new());
        let (x, y) = ((axis.low..axis.high, parameter), (0.0..1.08 * top, ""));
        let mut chart = axes(area, x, y, [&label, &none])?;
        let thin = FAINT.mix(0.8).stroke_width(UNITS as u32);
        chart
            .draw_series([PathElement::new(stairs(&axis, &before), thin)])
            .map_err(drawing)?;
        for (run, heights) in runs.iter().zip(&heights) {
            let own = colour(run.1);
            chart
                .draw_series([Polygon::new(filled(&axis, heights), own.mix(0.14).filled())])
                .map_err(drawing)?;
            let edge = own.stroke_width(2 * UNITS as u32);
            chart
                .draw_series([PathElement::new(stairs(&axis, heights), edge)])
                .map_err(drawing)?;
        }
        for (row, run) in runs.iter().enumerate() {
            let at = (340 * UNITS, (14 + 16 * row as i32) * UNITS);
            let style = text(12).color(&COLOURS[run.1 % COLOURS.len()]);
            area.draw_text(run.0, &style, at).map_err(drawing)?;
        }
        Ok(())
    })?;
    let names: Vec<&str> = runs.iter().map(|run| run.0).collect();
    Ok(Figure {
        name: "marginals",
        title: parameter.into(),
        alt: format!(
            "The marginal posterior of {parameter} in {}, over each other.",
            names.join(", ")
        ),
        caption: format!(
            "{parameter} in {}; thin grey is the prior of {}.",
            names.join(", "),
            names[0]
        ),
        svg: sheet.finish(),
        least_width: 340,
        hover: Hover::default(),
    })
}

/// log Z of every run with its 95 % interval: a name, the median, and the ends.
pub fn evidences(runs: &[(String, f64, [f64; 2])]) -> Result<Figure> {
    let row = |(place, run): (usize, &(String, f64, [f64; 2]))| Row {
        name: run.0.clone(),
        log_z: run.1,
        low: run.2[0],
        high: run.2[1],
        colour: colour(place),
    };
    let rows: Vec<Row> = runs.iter().enumerate().map(row).collect();
    let (svg, hover) = picture(&rows)?;
    Ok(Figure {
        name: "evidences",
        title: "log Z of each model".into(),
        alt: format!("log Z with its 95 % interval: {}.", hover.labels.join("; ")),
        caption: "log Z of each model with its 95 % interval.".into(),
        svg,
        least_width: 360,
        hover,
    })
}

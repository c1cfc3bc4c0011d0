//! Draw what floor, fit and acquisition do to the error.

use super::design::{ACQUISITIONS, Cell, FITS, FLOORS, factorial};
use super::report::by_spectrum;
use super::runs::Runs;
use crate::chart::{Axis, Figure, Mark, Panel, Style};
use crate::dla::subject::Subject;
use crate::table::quantile;
use warpquad::Result;

/// What is drawn; larger errors are drawn at the upper end.
const RANGE: (f64, f64) = (3e-3, 1e4);

/// Median errors over the floor: a line a fit, and a panel an acquisition.
pub(super) fn picture(runs: &Runs<'_>, design: &[&Subject]) -> Result<Figure> {
    let title = "Median error of the log evidence by what the paper leaves open";
    let mut figure = Figure::new(title, ACQUISITIONS.len()).sized(340.0, 320.0);
    for acquisition in ACQUISITIONS {
        let x = Axis::names("g floored, nats below the best", &FLOORS);
        let y = Axis::log("nats").range(RANGE.0, RANGE.1);
        let mut panel = Panel::new(&format!("points by {acquisition}"), x, y);
        for (color, fit) in FITS.iter().enumerate() {
            let mut points = Vec::new();
            for (at, floor) in FLOORS.iter().enumerate() {
                let here = |cell: &Cell| {
                    (cell.floor, cell.fit, cell.acquisition) == (*floor, *fit, acquisition)
                };
                let cells: Vec<Cell> = factorial().into_iter().filter(here).collect();
                let median = quantile(&by_spectrum(runs, &cells, design)?.concat(), 0.5);
                points.push((at as f64, median.clamp(RANGE.0, RANGE.1)));
            }
            let style = Style::color(color).named(&format!("fit: {fit}"));
            let dots = Mark::Dots {
                points: points.clone(),
                style: Style::color(color).sized(3.0),
            };
            panel = panel.with(Mark::Line { points, style }).with(dots);
        }
        figure = figure.with(panel);
    }
    Ok(figure)
}

//! Draw where failures lie: every parameter on a line of its own, over the whole of the prior.

use super::ink::{FAINT, RED, TEXT, UNITS, panel, text};
use super::{Figure, Hover, Sheet, drawing};
use crate::axis::{Axis, quantile};
use crate::figure::corner::column;
use crate::findings::Findings;
use crate::words::short;
use plotters::prelude::*;
use warpquad::Result;
use warpquad::session::count;

const WIDTH: i32 = 560;
const ROW: i32 = 54;

/// Parameters that are shown: with more, those whose failures stand most apart.
const MOST: usize = 8;

/// The figure; `None` without failures.
pub fn draw(found: &Findings) -> Result<Option<Figure>> {
    if found.failures.is_empty() {
        return Ok(None);
    }
    let rows = shown(found);
    let axes: Vec<Axis> = rows
        .iter()
        .map(|&k| Axis::of(&column(&found.prior, k), &[]))
        .collect();
    let mut sheet = Sheet::new(WIDTH, 18 + ROW * rows.len() as i32);
    let seen = sheet.draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6 * UNITS)
            .margin_left(20 * UNITS)
            .margin_right(20 * UNITS)
            .build_cartesian_2d(0.0..1.0, 0.0..rows.len() as f64)
            .map_err(drawing)?;
        let mut seen = panel(&chart);
        for (row, (&k, axis)) in rows.iter().zip(&axes).enumerate() {
            let y = rows.len() as f64 - row as f64 - 0.72;
            let part =
                |x: f64| ((axis.place(x) - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
            let line = PathElement::new(
                vec![(0.0, y), (1.0, y)],
                FAINT.stroke_width(UNITS as u32 / 2),
            );
            chart.draw_series([line]).map_err(drawing)?;
            for one in &found.evaluations {
                let x = part(one.x[k]);
                let tick = PathElement::new(
                    vec![(x, y - 0.1), (x, y + 0.1)],
                    FAINT.stroke_width(UNITS as u32),
                );
                chart.draw_series([tick]).map_err(drawing)?;
            }
            for (i, one) in found.failures.iter().enumerate() {
                let Some(&x) = one.x.get(k) else { continue };
                let at = (part(x), y);
                let cross = Cross::new(at, 5 * UNITS, RED.stroke_width(3 * UNITS as u32 / 2));
                chart.draw_series([cross]).map_err(drawing)?;
                let pixel = chart.backend_coord(&at);
                seen.points.push((pixel.0, pixel.1, i));
            }
            let name = format!(
                "{}: {} to {}",
                found.names[k],
                end(axis, axis.low),
                end(axis, axis.high)
            );
            let name = Text::new(name, (0.0, y + 0.6), text(13).color(&TEXT));
            chart.draw_series([name]).map_err(drawing)?;
        }
        Ok(seen)
    })?;
    let label = |one: &crate::findings::Failed| {
        let pairs = found.names.iter().zip(&one.x);
        let x: Vec<String> = pairs.map(|(n, x)| format!("{n} = {}", short(*x))).collect();
        format!("failed at {}: {}", x.join(", "), one.reason)
    };
    let shown = match rows.len() < found.dim() {
        true => format!(
            " {} of {} parameters are shown, those whose failures stand most apart.",
            rows.len(),
            found.dim()
        ),
        false => String::new(),
    };
    Ok(Some(Figure {
        name: "failures",
        title: "Where the failures lie".into(),
        alt: format!(
            "{} and the evaluations on a line for each parameter, from the lower end of its prior to the \
             upper end. The table below has the points.",
            count(found.failures.len(), "failed attempt")
        ),
        caption: format!(
            "Each line is a parameter over its prior; ticks are evaluations, red crosses failures.{shown} \
             Crosses that gather at one end say where the integrand breaks down."
        ),
        svg: sheet.finish_at(super::WIDE),
        least_width: 360,
        hover: Hover {
            panels: vec![seen],
            labels: found.failures.iter().map(label).collect(),
        },
    }))
}

/// An end of the axis as a number that is round at a hundredth of the axis or so.
fn end(axis: &Axis, place: f64) -> String {
    let step = 10f64.powf((axis.high - axis.low).log10().floor() - 1.0);
    axis.label((place / step).round() * step)
}

/// The parameters to show, in their own order.
fn shown(found: &Findings) -> Vec<usize> {
    let mut all: Vec<usize> = (0..found.dim()).collect();
    if all.len() > MOST {
        let apart: Vec<f64> = all.iter().map(|&k| apart(found, k)).collect();
        all.sort_by(|&a, &b| apart[b].total_cmp(&apart[a]));
        all.truncate(MOST);
        all.sort_unstable();
    }
    all
}

/// How far the middle failure stands from the middle evaluation, in units of the prior's spread.
fn apart(found: &Findings, k: usize) -> f64 {
    let sorted = |mut x: Vec<f64>| {
        x.sort_by(f64::total_cmp);
        x
    };
    let prior = sorted(column(&found.prior, k));
    let spread = quantile(&prior, 0.84) - quantile(&prior, 0.16);
    let points = |x: Vec<f64>| quantile(&sorted(x), 0.5);
    let failed = points(
        found
            .failures
            .iter()
            .filter_map(|one| one.x.get(k).copied())
            .collect(),
    );
    let fine = points(found.evaluations.iter().map(|one| one.x[k]).collect());
    let apart = (failed - fine).abs() / spread;
    if apart.is_finite() { apart } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Evaluated, Failed};

    /// Ten parameters, of which the last one decides whether an evaluation fails.
    fn found() -> Findings {
        let names = (0..10).map(|k| format!("p{k}")).collect();
        let at = |last: f64| {
            let mut x = vec![0.5; 10];
            x[9] = last;
            x
        };
        let evaluated = |x: Vec<f64>| Evaluated {
            x,
            value: Some(0.0),
            seconds: 1.0,
            at: 1.0,
            is_audit: false,
        };
        Findings {
            names,
            prior: (0..=100).map(|i| vec![f64::from(i) / 100.0; 10]).collect(),
            evaluations: vec![evaluated(at(0.1)), evaluated(at(0.3))],
            failures: vec![Failed {
                x: at(0.9),
                reason: "no convergence".into(),
                seconds: 1.0,
                is_given_up: true,
            }],
            ..Findings::default()
        }
    }

    #[test]
    fn the_parameters_whose_failures_stand_apart_are_shown() {
        let found = found();
        let shown = shown(&found);
        assert_eq!((shown.len(), shown.last()), (8, Some(&9)));
        let figure = draw(&found).unwrap().unwrap();
        let points = &figure.hover.panels[0].points;
        // One cross on each line, the last far to the right.
        assert_eq!(points.len(), 8);
        assert!(points[7].0 > points[0].0);
        assert!(figure.hover.labels[0].ends_with("p9 = 0.9: no convergence"));
    }

    #[test]
    fn a_run_without_failures_has_no_such_figure() {
        assert!(draw(&Findings::default()).unwrap().is_none());
    }
}

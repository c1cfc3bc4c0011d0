//! Draw how log Z and its interval came to be, and where the largest f rose.

use super::ink::{Area, BLUE, FAINT, ORANGE, UNITS, axes, panel};
use super::{Figure, Hover, Panel, Sheet, WIDE, clip, drawing};
use crate::axis::{ends, opened};
use crate::findings::{Findings, Step};
use crate::words::{REACH, decimals, fixed, short, whole};
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 560;
const HEIGHT: i32 = 410;

/// The figure; `None` before there is anything to show.
pub fn draw(found: &Findings) -> Result<Option<Figure>> {
    let known: Vec<(f64, [f64; 3])> = found
        .trace
        .iter()
        .filter_map(|step| known(step, found.in_logs))
        .collect();
    let what = if found.in_logs { "log Z" } else { "Z" };
    if found.evaluations.is_empty() {
        return Ok(None);
    }
    let last = found.evaluations.len().max(2) as f64;
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    let mut hover = Hover::default();
    sheet.draw(|area| {
        let (top, bottom) = area.split_vertically(if known.is_empty() { 0 } else { 240 * UNITS });
        if !known.is_empty() {
            hover.panels.push(upper(&top, &known, last, what)?);
            hover.labels = known.iter().map(|one| label(one, what)).collect();
        }
        let mut low = lower(&bottom, found, last)?;
        let first = hover.labels.len();
        low.points.iter_mut().for_each(|point| point.2 += first);
        hover.panels.push(low);
        Ok(())
    })?;
    let name = found.value_name();
    for (i, one) in found.evaluations.iter().enumerate() {
        let value = one.value.map_or("zero".into(), short);
        hover
            .labels
            .push(format!("evaluation {}: {name} = {value}", i + 1));
    }
    let end = known.last().map_or(String::new(), |(_, [mid, low, high])| {
        let d = decimals((high - low) / 4.0);
        format!(
            " It ends at {} with the 95 % interval from {} to {}.",
            fixed(*mid, d),
            fixed(*low, d),
            fixed(*high, d)
        )
    });
    Ok(Some(Figure {
        name: "convergence",
        title: format!("{what} against evaluations"),
        alt: format!(
            "The median of {what} and its 95 % interval against evaluations.{end} Below, {name} at every evaluation, and the largest so far."
        ),
        caption: format!(
            "Above: the median of {what} with its 95 % interval, as the leading model saw it on the way; the \
             last point is the answer; what lies off this window is cut. Below: {name} at each evaluation, and a line at the largest so far."
        ),
        svg: sheet.finish_at(WIDE),
        least_width: 360,
        hover,
    }))
}

/// The median and the ends of the interval of log Z; of Z, where f itself is shown.
fn known(step: &Step, in_logs: bool) -> Option<(f64, [f64; 3])> {
    let logs = step.log_z.zip(step.low).zip(step.high);
    let logs = logs.map(|((mid, low), high)| [mid, low, high]);
    let normal = step.z.map(|[z, sd]| [z, z - REACH * sd, z + REACH * sd]);
    let shown = match in_logs {
        true => logs,
        false => logs.map(|logs| logs.map(f64::exp)).or(normal),
    };
    Some((step.evaluations as f64, shown?))
}

fn label((n, [mid, low, high]): &(f64, [f64; 3]), what: &str) -> String {
    let d = decimals((high - low) / 4.0);
    format!(
        "after {n} evaluations: {what} = {} [{}, {}]",
        fixed(*mid, d),
        fixed(*low, d),
        fixed(*high, d)
    )
}

/// The window: early beliefs can be off by hundreds of nats, so that of the later half,
/// opened to twice its size.
fn window(known: &[(f64, [f64; 3])]) -> (f64, f64) {
    let late = &known[known.len() / 2..];
    let (low, high) = ends(late.iter().flat_map(|(_, [_, low, high])| [*low, *high]));
    let (low, high) = opened(low, high);
    let margin = 0.5 * (high - low);
    (low - margin, high + margin)
}

fn upper(area: &Area<'_>, known: &[(f64, [f64; 3])], last: f64, what: &str) -> Result<Panel> {
    let window @ (low, high) = window(known);
    let digits = decimals((high - low) / 8.0).saturating_sub(1);
    let fine = |y: f64| fixed(y, digits);
    let mut chart = axes(area, (0.0..last, ""), (low..high, what), [&whole, &fine])?;
    let band = known.iter().map(|(n, [_, _, high])| (*n, *high));
    let back = known.iter().rev().map(|(n, [_, low, _])| (*n, *low));
    let band = clip::polygon(&band.chain(back).collect::<Vec<_>>(), low, high);
    let inside = |y: f64| (low..=high).contains(&y);
    let line: Vec<(f64, f64)> = known.iter().map(|(n, [mid, _, _])| (*n, *mid)).collect();
    let wide = 2 * UNITS as u32;
    chart
        .draw_series([Polygon::new(band, BLUE.mix(0.18).filled())])
        .map_err(drawing)?;
    let parts = clip::line(&line, low, high).into_iter();
    chart
        .draw_series(parts.map(|part| PathElement::new(part, BLUE.stroke_width(wide))))
        .map_err(drawing)?;
    let mut seen = panel(&chart);
    for (i, (n, [mid, low, high])) in known.iter().enumerate() {
        // A single moment has no band: its interval is a line.
        if known.len() == 1 {
            let ends = vec![(*n, *low), (*n, *high)];
            let bar = PathElement::new(ends, BLUE.mix(0.4).stroke_width(2 * wide));
            chart.draw_series([bar]).map_err(drawing)?;
        }
        // What lies outside of the window is read at its edge.
        let edge = mid.clamp(window.0, window.1);
        let at = chart.backend_coord(&(*n, edge));
        seen.points.push((at.0, at.1, i));
        if inside(*mid) {
            chart
                .draw_series([Circle::new((*n, *mid), 3 * UNITS, BLUE.filled())])
                .map_err(drawing)?;
        }
    }
    Ok(seen)
}

/// Nats below the best that the lower panel reaches: deeper evaluations stand on its floor.
const DEPTH: f64 = 60.0;

fn lower(area: &Area<'_>, found: &Findings, last: f64) -> Result<Panel> {
    let (least, most) = ends(found.evaluations.iter().filter_map(|one| one.value));
    let least = if found.in_logs {
        least.max(most - DEPTH)
    } else {
        least
    };
    let (low, high) = opened(least, most);
    let margin = 0.08 * (high - low);
    let (low, high) = (low - margin, high + margin);
    let name = found.value_name();
    let mut chart = axes(
        area,
        (0.0..last, "evaluations"),
        (low..high, name),
        [&whole, &short],
    )?;
    let mut seen = panel(&chart);
    let mut best = f64::NEG_INFINITY;
    let (mut dots, mut line) = (Vec::new(), Vec::new());
    for (i, one) in found.evaluations.iter().enumerate() {
        let (n, value) = ((i + 1) as f64, one.value.unwrap_or(f64::NEG_INFINITY));
        let at = (n, value.max(low));
        if value > best {
            if best > f64::NEG_INFINITY {
                line.push((n, best.max(low)));
            }
            best = value;
        }
        line.push((n, best.max(low)));
        let place = chart.backend_coord(&at);
        seen.points.push((place.0, place.1, i));
        dots.push(at);
    }
    line.push((last, best.max(low)));
    let wide = UNITS as u32 * 3 / 2;
    chart
        .draw_series([PathElement::new(line, ORANGE.stroke_width(wide))])
        .map_err(drawing)?;
    let dot = |at: (f64, f64)| Circle::new(at, 2 * UNITS, FAINT.filled());
    chart
        .draw_series(dots.into_iter().map(dot))
        .map_err(drawing)?;
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_is_shown_where_f_is() {
        let step = Step {
            evaluations: 8,
            log_z: Some(0.0),
            low: Some(-1.0),
            high: Some(1.0),
            z: None,
        };
        assert_eq!(known(&step, true), Some((8.0, [0.0, -1.0, 1.0])));
        let (_, shown) = known(&step, false).unwrap();
        assert_eq!(shown, [1.0, (-1.0_f64).exp(), 1.0_f64.exp()]);
    }

    #[test]
    fn a_negative_z_has_an_interval_too() {
        let step = Step {
            evaluations: 8,
            log_z: None,
            low: None,
            high: None,
            z: Some([-0.5, 0.1]),
        };
        assert_eq!(known(&step, true), None);
        let (_, [mid, low, high]) = known(&step, false).unwrap();
        assert!(mid == -0.5 && (low + 0.696).abs() < 1e-12 && (high + 0.304).abs() < 1e-12);
    }
}

//! Draw how log Z and its interval came to be, and where the largest f rose.

use super::ink::{Area, BLUE, FAINT, ORANGE, UNITS, axes, panel};
use super::{Figure, Hover, Panel, Sheet, drawing};
use crate::axis::{ends, opened};
use crate::findings::{Findings, Step};
use crate::words::{decimals, fixed, short, whole};
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 560;
const HEIGHT: i32 = 410;

/// The figure; `None` before there is anything to show.
pub fn draw(found: &Findings) -> Result<Option<Figure>> {
    let known: Vec<(f64, [f64; 3])> = found.trace.iter().filter_map(known).collect();
    if found.evaluations.is_empty() {
        return Ok(None);
    }
    let last = found.evaluations.len().max(2) as f64;
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    let mut hover = Hover::default();
    sheet.draw(|area| {
        let (top, bottom) = area.split_vertically(if known.is_empty() { 0 } else { 240 * UNITS });
        if !known.is_empty() {
            hover.panels.push(upper(&top, &known, last)?);
            hover.labels = known.iter().map(label).collect();
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
        title: "log Z against evaluations".into(),
        alt: format!(
            "The median of log Z and its 95 % interval against evaluations.{end} Below, {name} at every evaluation, and the largest so far."
        ),
        caption: format!(
            "Above: the median of log Z with its 95 % interval, as the leading model saw it on the way; the \
             last point is the answer. Below: {name} at each evaluation, and a line at the largest so far."
        ),
        svg: sheet.finish(),
        least_width: 360,
        hover,
    }))
}

fn known(step: &Step) -> Option<(f64, [f64; 3])> {
    Some((
        step.evaluations as f64,
        [step.log_z?, step.low?, step.high?],
    ))
}

fn label((n, [mid, low, high]): &(f64, [f64; 3])) -> String {
    let d = decimals((high - low) / 4.0);
    format!(
        "after {n} evaluations: log Z = {} [{}, {}]",
        fixed(*mid, d),
        fixed(*low, d),
        fixed(*high, d)
    )
}

/// The window of log Z: early beliefs can be off by hundreds of nats, so that of the later half,
/// opened to twice its size.
fn window(known: &[(f64, [f64; 3])]) -> (f64, f64) {
    let late = &known[known.len() / 2..];
    let (low, high) = ends(late.iter().flat_map(|(_, [_, low, high])| [*low, *high]));
    let (low, high) = opened(low, high);
    let margin = 0.5 * (high - low);
    (low - margin, high + margin)
}

fn upper(area: &Area<'_>, known: &[(f64, [f64; 3])], last: f64) -> Result<Panel> {
    let (low, high) = window(known);
    let digits = decimals((high - low) / 8.0).saturating_sub(1);
    let fine = |y: f64| fixed(y, digits);
    let mut chart = axes(area, (0.0..last, ""), (low..high, "log Z"), [&whole, &fine])?;
    let clip = |y: f64| y.clamp(low, high);
    let band = known.iter().map(|(n, [_, _, high])| (*n, clip(*high)));
    let back = known.iter().rev().map(|(n, [_, low, _])| (*n, clip(*low)));
    let band: Vec<(f64, f64)> = band.chain(back).collect();
    let inside = |y: f64| (low..=high).contains(&y);
    let line = known.iter().map(|(n, [mid, _, _])| (*n, clip(*mid)));
    let wide = 2 * UNITS as u32;
    chart
        .draw_series([Polygon::new(band, BLUE.mix(0.18).filled())])
        .map_err(drawing)?;
    chart
        .draw_series([PathElement::new(
            line.collect::<Vec<_>>(),
            BLUE.stroke_width(wide),
        )])
        .map_err(drawing)?;
    let mut seen = panel(&chart);
    for (i, (n, [mid, low, high])) in known.iter().enumerate() {
        // A single moment has no band: its interval is a line.
        if known.len() == 1 {
            let ends = vec![(*n, clip(*low)), (*n, clip(*high))];
            let bar = PathElement::new(ends, BLUE.mix(0.4).stroke_width(2 * wide));
            chart.draw_series([bar]).map_err(drawing)?;
        }
        let at = chart.backend_coord(&(*n, clip(*mid)));
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

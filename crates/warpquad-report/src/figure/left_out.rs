//! Draw what the model says of each observation that is left out, against the observation.

use super::ink::{BLUE, FAINT, RED, UNITS, axes, panel};
use super::{Figure, Hover, Sheet, drawing};
use crate::axis::{ends, opened};
use crate::findings::{LeftOut, Trust};
use crate::words::short;
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 480;
const HEIGHT: i32 = 400;
/// Nats below the largest observation that the figure reaches: below, nothing counts for Z.
const DEPTH: f64 = 40.0;

/// The figure; `None` with fewer than three observations, of which none is predicted by the others.
pub fn draw(trust: &Trust) -> Result<Option<Figure>> {
    if trust.left_out.len() < 3 {
        return Ok(None);
    }
    let (least, most) = ends(trust.left_out.iter().map(|one| one.observed));
    let least = if trust.in_logs {
        least.max(most - DEPTH)
    } else {
        least
    };
    let (low, high) = opened(least, most);
    let margin = 0.08 * (high - low);
    let (low, high) = (low - margin, high + margin);
    let name = if trust.in_logs { "ln f" } else { "f" };
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    let shown: Vec<(usize, &LeftOut)> = trust
        .left_out
        .iter()
        .enumerate()
        .filter(|(_, one)| one.observed >= low)
        .collect();
    let seen = sheet.draw(|area| {
        let x_name = format!("predicted {name}");
        let y_name = format!("observed {name}");
        let mut chart = axes(
            area,
            (low..high, &x_name),
            (low..high, &y_name),
            [&short, &short],
        )?;
        let line = PathElement::new(
            vec![(low, low), (high, high)],
            FAINT.stroke_width(UNITS as u32),
        );
        chart.draw_series([line]).map_err(drawing)?;
        let mut seen = panel(&chart);
        let clip = |x: f64| x.clamp(low, high);
        for (_, one) in &shown {
            let colour = if is_outside(one) { RED } else { BLUE };
            let ends = vec![
                (clip(one.low), one.observed),
                (clip(one.high), one.observed),
            ];
            let bar = PathElement::new(ends, colour.mix(0.45).stroke_width(UNITS as u32));
            chart.draw_series([bar]).map_err(drawing)?;
        }
        for (i, one) in &shown {
            let colour = if is_outside(one) { RED } else { BLUE };
            let at = (clip(one.median), one.observed);
            let pixel = chart.backend_coord(&at);
            seen.points.push((pixel.0, pixel.1, *i));
            let dot = Circle::new(at, 10 * UNITS / 4, colour.filled());
            chart.draw_series([dot]).map_err(drawing)?;
        }
        Ok(seen)
    })?;
    let (outside, all) = (
        shown.iter().filter(|(_, one)| is_outside(one)).count(),
        shown.len(),
    );
    let expected = 0.05 * all as f64;
    let labels = trust.left_out.iter().enumerate().map(|(i, one)| {
        format!(
            "observation {}: {name} = {}, predicted {} [{}, {}], off by {} sd",
            i + 1,
            short(one.observed),
            short(one.median),
            short(one.low),
            short(one.high),
            short(one.off_sd)
        )
    });
    let deep = trust.left_out.len() - all;
    let deep = match deep {
        0 => String::new(),
        k => format!(" {k} more than {DEPTH:.0} nats below the largest are not shown."),
    };
    let counted = format!(
        "{outside} of {all} observations lie outside of the 95 % interval that the others predict; about \
         {expected:.1} are expected."
    );
    Ok(Some(Figure {
        name: "left-out",
        title: "Left-out predictions".into(),
        alt: format!(
            "Each observation against its prediction from all the others, with 95 % intervals. {counted}"
        ),
        caption: format!(
            "Each observation against what the others say of it, with 95 % intervals. {counted}{deep}"
        ),
        svg: sheet.finish(),
        least_width: 360,
        hover: Hover {
            panels: vec![seen],
            labels: labels.collect(),
        },
    }))
}

/// Whether an observation lies outside of its predicted 95 %.
fn is_outside(one: &LeftOut) -> bool {
    one.observed < one.low || one.observed > one.high
}

//! Draw where the time went over the run: in the integrand, and in choosing and fitting.

use super::ink::{BLUE, FAINT, ORANGE, UNITS, axes, panel};
use super::{Figure, Hover, Sheet, drawing};
use crate::findings::Findings;
use crate::words::{seconds, whole};
use plotters::prelude::*;
use warpquad::Result;

const WIDTH: i32 = 560;
const HEIGHT: i32 = 260;

/// Where the seconds of a run went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Of wall clock, in all.
    pub wall: f64,
    /// In the integrand, added up over workers.
    pub integrand: f64,
    /// In choosing points, estimated from the steps without a fit.
    pub choosing: f64,
    /// In fitting: the rest of what passed between evaluations.
    pub fitting: f64,
    /// The part of their time that the workers were busy.
    pub busy: f64,
}

/// Seconds between the answer before each evaluation and its own start, by its order; with several
/// workers points are chosen while others are evaluated, and this says nothing.
fn between(found: &Findings) -> Vec<f64> {
    let mut before = 0.0;
    let gap = |one: &crate::findings::Evaluated| {
        let gap = (one.at - one.seconds - before).max(0.0);
        before = one.at;
        gap
    };
    found.evaluations.iter().map(gap).collect()
}

/// Where the seconds went, as far as the journal tells.
pub fn spent(found: &Findings) -> Spent {
    let number = |name: &str| found.report[name].as_f64().unwrap_or(0.0);
    let workers = found.budget["workers"].as_f64().unwrap_or(1.0).max(1.0);
    let last = found.evaluations.last().map_or(0.0, |one| one.at);
    let (wall, integrand) = (number("seconds").max(last), number("seconds_in_integrand"));
    let own = (wall - integrand / workers - number("seconds_in_journal")).max(0.0);
    let fitted: Vec<usize> = found.fits.iter().map(|fit| fit.0).collect();
    let gaps = between(found);
    let chosen = gaps
        .iter()
        .enumerate()
        .skip_while(|(i, _)| fitted.first().is_none_or(|n| i < n));
    let mut plain: Vec<f64> = chosen
        .filter(|(i, _)| !fitted.contains(i))
        .map(|(_, gap)| *gap)
        .collect();
    plain.sort_by(f64::total_cmp);
    let each = plain.get(plain.len() / 2).copied().unwrap_or(0.0);
    let first = fitted.first().copied().unwrap_or(gaps.len());
    let choosing = (each * gaps.len().saturating_sub(first) as f64).min(own);
    Spent {
        wall,
        integrand,
        choosing,
        fitting: own - choosing,
        busy: if wall > 0.0 {
            (integrand / (workers * wall)).min(1.0)
        } else {
            0.0
        },
    }
}

/// The figure; `None` before two evaluations.
pub fn draw(found: &Findings) -> Result<Option<Figure>> {
    let n = found.evaluations.len();
    if n < 2 {
        return Ok(None);
    }
    let wall: Vec<f64> = found.evaluations.iter().map(|one| one.at).collect();
    let workers = found.budget["workers"].as_f64().unwrap_or(1.0).max(1.0);
    let mut sum = 0.0;
    let inside: Vec<f64> = found
        .evaluations
        .iter()
        .map(|one| {
            sum += one.seconds / workers;
            sum
        })
        .collect();
    let top = 1.05 * wall.iter().chain(&inside).fold(1e-9, |a: f64, b| a.max(*b));
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    let seen = sheet.draw(|area| {
        let (x, y) = ((0.0..n as f64, "evaluations"), (0.0..top, "elapsed"));
        let mut chart = axes(area, x, y, [&whole, &seconds])?;
        for (count, full) in &found.fits {
            if *full {
                let line = vec![(*count as f64, 0.0), (*count as f64, top)];
                let line = PathElement::new(line, FAINT.mix(0.5).stroke_width(UNITS as u32 / 2));
                chart.draw_series([line]).map_err(drawing)?;
            }
        }
        let points = |of: &[f64]| -> Vec<(f64, f64)> {
            of.iter()
                .enumerate()
                .map(|(i, s)| ((i + 1) as f64, *s))
                .collect()
        };
        let fill = |of: &[f64]| {
            let mut out = vec![(1.0, 0.0)];
            out.extend(points(of));
            out.push((n as f64, 0.0));
            out
        };
        let wide = 2 * UNITS as u32;
        let area_of = Polygon::new(fill(&inside), ORANGE.mix(0.3).filled());
        chart.draw_series([area_of]).map_err(drawing)?;
        let line = PathElement::new(points(&inside), ORANGE.stroke_width(wide));
        chart.draw_series([line]).map_err(drawing)?;
        let line = PathElement::new(points(&wall), BLUE.stroke_width(wide));
        chart.draw_series([line]).map_err(drawing)?;
        let mut seen = panel(&chart);
        for (i, at) in points(&wall).iter().enumerate() {
            let pixel = chart.backend_coord(at);
            seen.points.push((pixel.0, pixel.1, i));
        }
        Ok(seen)
    })?;
    let labels = (0..n).map(|i| {
        format!(
            "after {} evaluations: {} elapsed, {} in the integrand",
            i + 1,
            seconds(wall[i]),
            seconds(inside[i])
        )
    });
    let by = if workers > 1.0 {
        ", divided by the workers"
    } else {
        ""
    };
    Ok(Some(Figure {
        name: "time",
        title: "Where the time went".into(),
        alt: format!(
            "Elapsed time against evaluations: {} in all, {} of it in the integrand{by}.",
            seconds(wall[n - 1]),
            seconds(inside[n - 1])
        ),
        caption: format!(
            "Blue: elapsed. Orange: in the integrand{by}. What is between them went into fitting, choosing and \
             the journal. Thin lines: fits from all starting points."
        ),
        svg: sheet.finish_at(super::WIDE),
        least_width: 360,
        hover: Hover {
            panels: vec![seen],
            labels: labels.collect(),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Evaluated;
    use serde_json::json;

    #[test]
    fn time_between_evaluations_is_split_by_the_steps_that_fit() {
        // Each choice takes 1 s, each of two fits 3 s more, each evaluation 2 s.
        let mut found = Findings::default();
        let mut at = 0.0;
        for i in 0..6 {
            at += if [2, 4].contains(&i) { 4.0 } else { 1.0 } + 2.0;
            let one = Evaluated {
                x: vec![0.0],
                value: Some(0.0),
                seconds: 2.0,
                at,
                is_audit: false,
            };
            found.evaluations.push(one);
        }
        found.fits = vec![(2, true), (4, false)];
        found.budget = json!({"workers": 1});
        found.report =
            json!({"seconds": at, "seconds_in_integrand": 12.0, "seconds_in_journal": 0.0});
        let spent = spent(&found);
        assert_eq!(
            (spent.integrand, spent.choosing, spent.fitting),
            (12.0, 4.0, 8.0)
        );
    }
}

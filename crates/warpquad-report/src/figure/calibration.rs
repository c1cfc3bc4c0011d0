//! Draw whether left-out predictions are as often right as they claim.

use super::ink::{Area, BLUE, FAINT, UNITS, axes, panel};
use super::{Figure, Hover, Panel, Sheet, drawing};
use crate::findings::Trust;
use plotters::prelude::*;
use warpquad::Result;
use warpquad::numeric::special::normal_cdf;

const WIDTH: i32 = 480;
const HEIGHT: i32 = 400;
/// Fewer observations show no shape.
const LEAST: usize = 8;
/// Central intervals of these probabilities are counted.
const STEPS: usize = 20;

/// The figure; `None` with too few observations.
pub fn draw(trust: &Trust) -> Result<Option<Figure>> {
    let off: Vec<f64> = trust.left_out.iter().map(|one| one.off_sd.abs()).collect();
    if off.len() < LEAST {
        return Ok(None);
    }
    let steps: Vec<(f64, f64)> = (0..=STEPS)
        .map(|k| k as f64 / STEPS as f64)
        .map(|claimed| (claimed, covered(&off, claimed)))
        .collect();
    let mut sheet = Sheet::new(WIDTH, HEIGHT);
    let seen = sheet.draw(|area| picture(area, &steps, off.len()))?;
    let at_95 = 100.0 * covered(&off, 0.95);
    let percent = |x: f64| format!("{:.0} %", 100.0 * x);
    let labels = steps.iter().map(|(claimed, held)| {
        format!("intervals of {} hold {}", percent(*claimed), percent(*held))
    });
    let said = format!("The 95 % intervals hold {at_95:.0} % of the observations.");
    Ok(Some(Figure {
        name: "calibration",
        title: "Calibration".into(),
        alt: format!(
            "The part of observations within their predicted intervals against the intervals' probability. {said}"
        ),
        caption: format!(
            "How many observations lie within central intervals of the left-out predictions. On the line they \
             are as often right as they claim, above it they are too cautious, below it too bold. Grey: where \
             95 % of such curves lie by chance. {said}"
        ),
        svg: sheet.finish(),
        least_width: 360,
        hover: Hover {
            panels: vec![seen],
            labels: labels.collect(),
        },
    }))
}

/// The part of observations within the central interval of a probability.
fn covered(off_sd: &[f64], probability: f64) -> f64 {
    let inside = |off: &&f64| 2.0 * normal_cdf(**off) - 1.0 <= probability;
    off_sd.iter().filter(inside).count() as f64 / off_sd.len() as f64
}

fn picture(area: &Area<'_>, steps: &[(f64, f64)], n: usize) -> Result<Panel> {
    let percent = |x: f64| format!("{:.0} %", 100.0 * x);
    let (x, y) = ((0.0..1.0, "claimed"), (0.0..1.0, "observed"));
    let mut chart = axes(area, x, y, [&percent, &percent])?;
    // The sd of a binomial part at p.
    let half = |p: f64| 1.96 * (p * (1.0 - p) / n as f64).sqrt();
    let up = steps.iter().map(|(p, _)| (*p, (p + half(*p)).min(1.0)));
    let down = steps
        .iter()
        .rev()
        .map(|(p, _)| (*p, (p - half(*p)).max(0.0)));
    let band: Vec<(f64, f64)> = up.chain(down).collect();
    chart
        .draw_series([Polygon::new(band, FAINT.mix(0.2).filled())])
        .map_err(drawing)?;
    let wide = UNITS as u32;
    let even = PathElement::new(vec![(0.0, 0.0), (1.0, 1.0)], FAINT.stroke_width(wide));
    chart.draw_series([even]).map_err(drawing)?;
    let line = PathElement::new(steps.to_vec(), BLUE.stroke_width(2 * wide));
    chart.draw_series([line]).map_err(drawing)?;
    let mut seen = panel(&chart);
    for (i, step) in steps.iter().enumerate() {
        let at = chart.backend_coord(step);
        seen.points.push((at.0, at.1, i));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_law_are_covered_as_they_claim() {
        use warpquad::numeric::special::normal_quantile;
        let off: Vec<f64> = (0..1000)
            .map(|i| normal_quantile((f64::from(i) + 0.5) / 1000.0).abs())
            .collect();
        for p in [0.1, 0.5, 0.95] {
            assert!((covered(&off, p) - p).abs() < 2e-3);
        }
    }
}

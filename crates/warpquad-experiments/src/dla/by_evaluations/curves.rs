//! Draw the median error over evaluations.

use super::runs::Run;
use crate::chart::{Axis, Figure, Mark, Panel, Style};
use crate::dla::race::Moment;
use crate::table::{Table, digits, quantile};

/// Medians of the error of what was last known, and their picture.
pub fn curves(odd: &[(&str, Vec<Run>)], absorbers: usize) -> (Table, Figure) {
    let mut table = Table::new(&["method", "evaluations", "median_error", "of_median"]);
    let title = format!("{}-d: median error of the log evidence", 2 * absorbers);
    let mut panel = Panel::new(&title, Axis::log("evaluations"), Axis::log("nats"));
    for (color, (method, runs)) in odd.iter().enumerate() {
        let mut looks: Vec<usize> = runs
            .iter()
            .flat_map(|run| run.course.moments.iter().map(|m| m.evaluations))
            .collect();
        looks.sort_unstable();
        looks.dedup();
        let mut points = Vec::new();
        for look in looks {
            let median = |by: fn(&Moment) -> f64| {
                let known = |run: &Run| {
                    let moments = run.course.moments.iter();
                    run.error(moments.take_while(|m| m.evaluations <= look).last(), by)
                };
                quantile(&runs.iter().map(known).collect::<Vec<f64>>(), 0.5)
            };
            let (by_mean, by_median) = (median(|m| m.ln_mean), median(|m| m.ln_median));
            table.push(vec![
                method.to_string(),
                look.to_string(),
                digits(by_mean, 4),
                digits(by_median, 4),
            ]);
            if by_mean.is_finite() {
                points.push((look as f64, by_mean.clamp(1e-3, 1e5)));
            }
        }
        let style = Style::color(color).named(method);
        panel = panel.with(Mark::Line { points, style });
    }
    let figure = Figure::new("Errors by evaluations, up to 100 000 nats", 1);
    (table, figure.sized(560.0, 380.0).with(panel))
}

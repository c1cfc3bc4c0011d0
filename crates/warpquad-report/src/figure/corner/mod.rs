//! Draw the posterior: every parameter's marginal beside the prior's, every pair, and where the run
//! looked.

mod chosen;
mod legend;
mod panels;
mod place;
mod ticked;

pub use chosen::chosen;

use super::ink::Area;
use super::{Figure, Hover, Panel, Sheet};
use crate::axis::{Axis, ends, opened};
use crate::findings::Findings;
use crate::words::short;
use place::{GAP, LEFT, Layout, Place};
use warpquad::Result;
use warpquad::session::count;

/// Parameters that one figure shows unless others are named: more are too small to read.
pub const MOST: usize = 8;
/// Evaluations that are shown; of more, so many evenly from the lowest f to the largest.
const MOST_EVALUATIONS: usize = 600;
/// Nats below the best evaluation that the colours span: 8 is a likelihood of 1/3000 of it.
const DEPTH: f64 = 8.0;
/// Parts of the posterior that the shaded regions hold.
const PARTS: [f64; 2] = [0.95, 0.5];
/// What is common to all panels.
struct Corner<'a> {
    found: &'a Findings,
    /// The parameters, by place, in their own order.
    shown: Vec<usize>,
    axes: Vec<Axis>,
    /// Evaluations from the lowest f to the largest, and their colours' parts.
    looks: Vec<(usize, f64)>,
}

/// The figure of these parameters.
pub fn draw(found: &Findings, shown: &[usize]) -> Result<Figure> {
    let axis = |&k: &usize| Axis::of(&column(&found.prior, k), &column(&found.draws, k));
    let corner = Corner {
        axes: shown.iter().map(axis).collect(),
        shown: shown.to_vec(),
        looks: looks(found),
        found,
    };
    let layout = Layout::of(shown.len());
    let mut sheet = Sheet::new(layout.width(), layout.height());
    let panels = sheet.draw(|area| match shown.len() {
        1 => corner.line(area, &layout),
        _ => corner.triangle(area, &layout),
    })?;
    let labels = found.evaluations.iter().enumerate();
    let labels = labels.map(|(i, one)| label(found, i, one.value, &one.x));
    Ok(Figure {
        name: "corner",
        title: "The posterior".into(),
        alt: corner.alt(),
        caption: corner.caption(),
        svg: sheet.finish_at(layout.scale()),
        least_width: layout.least_width(),
        hover: Hover {
            panels,
            labels: labels.collect(),
        },
    })
}

fn label(found: &Findings, i: usize, value: Option<f64>, x: &[f64]) -> String {
    let pairs = found.names.iter().zip(x);
    let x: Vec<String> = pairs.map(|(n, x)| format!("{n} = {}", short(*x))).collect();
    let value = value.map_or("zero".into(), short);
    format!(
        "evaluation {}: {} = {value} at {}",
        i + 1,
        found.value_name(),
        x.join(", ")
    )
}

/// The values of one parameter.
pub fn column(rows: &[Vec<f64>], k: usize) -> Vec<f64> {
    rows.iter().filter_map(|row| row.get(k).copied()).collect()
}

/// The evaluations to show from the lowest to the highest, each with its part of the colours.
fn looks(found: &Findings) -> Vec<(usize, f64)> {
    let value = |i: usize| found.evaluations[i].value.unwrap_or(f64::NEG_INFINITY);
    let mut order: Vec<usize> = (0..found.evaluations.len()).collect();
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    let order = thinned(order, MOST_EVALUATIONS);
    let (low, high) = colour_range(found);
    let part = |i: usize| ((value(i) - low) / (high - low)).clamp(0.0, 1.0);
    order.iter().map(|&i| (i, part(i))).collect()
}

/// So many of them at most, evenly spaced, the last one always.
fn thinned(order: Vec<usize>, most: usize) -> Vec<usize> {
    let (all, shown) = (order.len(), order.len().min(most));
    (1..=shown).map(|k| order[k * all / shown - 1]).collect()
}

/// The values that the colours span.
fn colour_range(found: &Findings) -> (f64, f64) {
    let (low, high) = ends(found.evaluations.iter().filter_map(|one| one.value));
    let low = if found.in_logs {
        low.max(high - DEPTH)
    } else {
        low
    };
    opened(low, high)
}

impl Corner<'_> {
    /// All pairs and all marginals.
    fn triangle(&self, area: &Area<'_>, layout: &Layout) -> Result<Vec<Panel>> {
        let size = layout.size;
        let rows = self.shown.len();
        let mut panels = Vec::new();
        for i in 0..rows {
            for j in 0..=i {
                let (x, y) = (
                    LEFT + j as i32 * (size + GAP),
                    GAP + i as i32 * (size + GAP),
                );
                let place = Place {
                    x,
                    y,
                    width: size,
                    height: size,
                    letters: layout.letters(),
                    has_left: j == 0 && i > 0,
                    has_bottom: i + 1 == rows,
                };
                match i == j {
                    true => self.marginal(area, &place, i)?,
                    false => panels.push(self.pair(area, &place, j, i)?),
                }
            }
        }
        self.legend(area, LEFT + size + 2 * GAP, GAP + 4)?;
        Ok(panels)
    }

    /// One parameter: its marginal, and below it f at every evaluation.
    fn line(&self, area: &Area<'_>, layout: &Layout) -> Result<Vec<Panel>> {
        let mut place = Place {
            x: LEFT,
            y: GAP,
            width: layout.size,
            height: layout.down,
            letters: layout.letters(),
            has_left: false,
            has_bottom: false,
        };
        self.marginal(area, &place, 0)?;
        place.y += layout.down + GAP;
        (place.has_left, place.has_bottom) = (true, true);
        Ok(vec![self.values(area, &place)?])
    }

    fn name(&self, k: usize) -> String {
        self.found.names[self.shown[k]].clone()
    }

    /// The place of the best evaluation, if the window holds it.
    fn best(&self, k: usize) -> Option<f64> {
        let row = &self.found.evaluations[self.found.best()?].x;
        let place = self.axes[k].place(*row.get(self.shown[k])?);
        self.axes[k].holds(place).then_some(place)
    }

    fn alt(&self) -> String {
        let names: Vec<String> = (0..self.shown.len()).map(|k| self.name(k)).collect();
        format!(
            "Corner plot of {}: the marginal of each with the prior's, the posterior of each pair, and the \
             evaluations coloured by {}. The table below has the numbers.",
            names.join(", "),
            self.found.value_name()
        )
    }

    fn caption(&self) -> String {
        let mut out = String::from(match (self.shown.len(), self.found.draws.is_empty()) {
            (1, true) => "Above: the prior. Below: the evaluations.",
            (1, false) => {
                "Above: the marginal (blue) and the prior (grey). Below: the evaluations."
            }
            (_, true) => "Diagonal: the prior's marginals. Below: the evaluations.",
            (_, false) => {
                "Diagonal: the marginals (blue) and the prior's (grey). Below: regions of each pair that hold \
                  50 % and 95 % of the posterior, and the evaluations."
            }
        });
        let inside = |one: &&(usize, f64)| {
            let row = &self.found.evaluations[one.0].x;
            let mut places = self.shown.iter().zip(&self.axes);
            places.all(|(&k, axis)| axis.holds(axis.place(row[k])))
        };
        let (all, drawn) = (self.found.evaluations.len(), self.looks.len());
        if drawn < all {
            out +=
                &format!(" {drawn} of {all} are drawn, evenly from the lowest to the largest f.");
        }
        let hidden = drawn - self.looks.iter().filter(inside).count();
        if hidden > 0 {
            let verb = if hidden == 1 { "lies" } else { "lie" };
            out += &format!(
                " {} of {drawn} {verb} outside of some window, which follows the posterior.",
                count(hidden, "evaluation"),
            );
        }
        if self.shown.len() < self.found.dim() {
            out += &format!(
                " {} of {} parameters are shown; --parameters names others.",
                self.shown.len(),
                self.found.dim()
            );
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_evaluations_the_largest_is_always_shown() {
        assert_eq!(thinned((0..10).collect(), 4), [1, 4, 6, 9]);
        assert_eq!(thinned(vec![3, 1], 600), [3, 1]);
        assert!(thinned(Vec::new(), 600).is_empty());
    }
}

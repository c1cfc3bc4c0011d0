//! Put ticks on an axis: round numbers, or 1, 2 and 5 of each decade.

use crate::axis::Axis;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// A range whose ticks suit the axis: by 1, 2 and 5 where places are log10.
#[derive(Clone)]
pub struct Ticked {
    range: RangedCoordf64,
    axis: Axis,
    most: usize,
}

impl Ticked {
    pub fn new(axis: &Axis, most: usize) -> Ticked {
        Ticked {
            range: (axis.low..axis.high).into(),
            axis: axis.clone(),
            most,
        }
    }
}

impl Ranged for Ticked {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        ticks(&self.axis, self.most)
    }

    fn range(&self) -> Range<f64> {
        self.axis.low..self.axis.high
    }
}

impl ValueFormatter<f64> for Ticked {
    fn format_ext(&self, value: &f64) -> String {
        self.axis.label(*value)
    }
}

/// At most so many ticks: round numbers, or 1, 2 and 5 of each decade.
fn ticks(axis: &Axis, most: usize) -> Vec<f64> {
    if axis.is_log {
        for steps in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let decades = axis.low.floor() as i32..=axis.high.ceil() as i32;
            let all =
                decades.flat_map(|k| steps.iter().map(move |s: &f64| f64::from(k) + s.log10()));
            let inside: Vec<f64> = all.filter(|&place| axis.holds(place)).collect();
            if (2..=most + 1).contains(&inside.len()) {
                return inside;
            }
        }
    }
    let range: RangedCoordf64 = (axis.low..axis.high).into();
    range.key_points(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_ticks_at_round_numbers() {
        let axis = Axis {
            is_log: true,
            low: -0.6,
            high: 0.6,
        };
        let labels: Vec<String> = ticks(&axis, 4).iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["0.5", "1", "2"]);
    }
}

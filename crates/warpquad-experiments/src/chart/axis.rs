//! Scale an axis: its range, its ticks and their labels.

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its text.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Its ends; those of the marks if none are given.
    pub range: Option<(f64, f64)>,
    /// Names in place of numbers, at 0, 1, 2, ...
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Axis {
        Axis {
            label: label.to_string(),
            log: false,
            range: None,
            names: Vec::new(),
        }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Axis {
        Axis {
            log: true,
            ..Axis::linear(label)
        }
    }

    /// An axis of names at 0, 1, 2, ...
    pub fn names(label: &str, names: &[&str]) -> Axis {
        Axis {
            names: names.iter().map(|name| name.to_string()).collect(),
            range: Some((-0.6, names.len() as f64 - 0.4)),
            ..Axis::linear(label)
        }
    }

    /// With fixed ends.
    pub fn range(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }

    /// The coordinate that is linear on the page.
    fn place(&self, x: f64) -> f64 {
        if self.log { x.log10() } else { x }
    }

    /// Fit the axis to values: the map to [0, 1] and the ticks.
    pub(super) fn scaled(&self, values: impl Iterator<Item = f64>) -> Scaled {
        let (low, high) = match self.range {
            Some((low, high)) => (self.place(low), self.place(high)),
            None => padded(values.map(|x| self.place(x))),
        };
        let mut scaled = Scaled {
            log: self.log,
            low,
            high,
            ticks: Vec::new(),
        };
        scaled.ticks = match (self.names.is_empty(), self.log) {
            (false, _) => self
                .names
                .iter()
                .enumerate()
                .map(|(i, name)| (i as f64, name.clone()))
                .collect(),
            (true, true) => log_ticks(low, high),
            (true, false) => linear_ticks(low, high),
        };
        scaled
    }
}

/// An axis with ends and ticks.
pub(super) struct Scaled {
    log: bool,
    low: f64,
    high: f64,
    /// Where, in the axis' own units, and the label.
    pub ticks: Vec<(f64, String)>,
}

impl Scaled {
    /// Where on [0, 1] a value is; outside it beyond the ends, NaN where it has no place.
    pub fn at(&self, x: f64) -> f64 {
        let x = if self.log { x.log10() } else { x };
        (x - self.low) / (self.high - self.low)
    }
}

/// The range of finite values and 4 % more at either end.
fn padded(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values
        .filter(|x| x.is_finite())
        .fold(start, |(low, high), x| (low.min(x), high.max(x)));
    if low > high {
        return (0.0, 1.0);
    }
    // One value alone gets room of its own size.
    let room = if high > low {
        0.04 * (high - low)
    } else {
        low.abs().max(1.0)
    };
    (low - room, high + room)
}

/// About five ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 5.0;
    if !(rough > 0.0 && rough.is_finite()) {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(power);
    let after = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    let label = |x: f64| {
        if x.abs() >= 1e5 || after > 5 {
            format!("{x:e}")
        } else {
            format!("{x:.after$}")
        }
    };
    (first..=last)
        .map(|i| i as f64 * step)
        .map(|x| (x, minus(&label(x + 0.0))))
        .collect()
}

/// Powers of ten, every k-th so that there are at most seven; 2 and 5 between them if there are
/// few.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let (first, last) = (low.ceil() as i32, high.floor() as i32);
    let label = |x: f64| {
        if (1e-3..1e5).contains(&x) {
            format!("{x}")
        } else {
            format!("{x:e}")
        }
    };
    if last - first < 2 {
        let decades = low.floor() as i32..=high.ceil() as i32;
        let all = decades
            .flat_map(|k| [1.0, 2.0, 5.0].map(|m: f64| (m * 10f64.powi(k) * 1e12).round() / 1e12));
        return all
            .filter(|x| (low..=high).contains(&x.log10()))
            .map(|x| (x, minus(&label(x))))
            .collect();
    }
    let every = (last - first) / 7 + 1;
    let powers = (first..=last).filter(|k| k % every == 0);
    powers
        .map(|k| {
            (
                10f64.powi(k),
                if (-3..5).contains(&k) {
                    label(10f64.powi(k))
                } else {
                    format!("1e{k}")
                },
            )
        })
        .collect()
}

/// With a true minus sign.
fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_ends() {
        let labels = |ticks: Vec<(f64, String)>| {
            ticks
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(linear_ticks(-0.1, 1.04)), ["0.0", "0.5", "1.0"]);
        assert_eq!(
            labels(linear_ticks(-5.0, 5.0)),
            ["\u{2212}4", "\u{2212}2", "0", "2", "4"]
        );
        assert_eq!(labels(log_ticks(0.0, 3.0)), ["1", "10", "100", "1000"]);
        assert_eq!(labels(log_ticks(0.1, 0.9)), ["2", "5"]);
        assert!(linear_ticks(1.0, 1.0).is_empty());
    }
}

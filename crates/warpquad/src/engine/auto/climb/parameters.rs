//! Hold what a climb has to know of the parameters of a prior.

use super::surface::Tilt;

/// What a climb has to know of the parameters.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct Parameters {
    /// The coordinates beyond which the prior has no mass that a double could tell from 0.
    pub ends: Vec<(f64, f64)>,
    /// Those that are never negative.
    pub is_positive: Vec<bool>,
    /// Those that may be any positive number, as the width of a noise is.
    pub is_scale: Vec<bool>,
    /// For each parameter what its coordinate is multiplied with: the e-folds of a positive one, x
    /// itself of one on the whole line; `None` where the coordinate is neither.
    pub units: Vec<Option<f64>>,
}

/// The rates at which likelihoods grow with a noise, a precision or an intercept: for each e-fold
/// of a positive parameter, and for each unit of one of either sign.
const RATES_OF_POSITIVE: [f64; 3] = [-2.0, -1.0, 1.0];
const RATES_OF_OTHERS: [f64; 2] = [-1.0, 1.0];

impl Parameters {
    /// E-folds of a positive parameter for each unit of its coordinate.
    pub(super) fn e_folds(&self, axis: usize) -> Option<f64> {
        self.units[axis].filter(|_| self.is_positive[axis])
    }

    /// The tilts that a surface may have.
    pub(super) fn tilts(&self) -> Vec<Tilt> {
        let of = |(axis, unit): (usize, &Option<f64>)| {
            let rates: &[f64] = match self.is_positive[axis] {
                true => &RATES_OF_POSITIVE,
                false => &RATES_OF_OTHERS,
            };
            let unit = *unit;
            let tilt = move |rate: &f64| {
                unit.map(|unit| Tilt {
                    axis,
                    rate: rate * unit,
                })
            };
            rates.iter().filter_map(tilt).collect::<Vec<Tilt>>()
        };
        self.units.iter().enumerate().flat_map(of).collect()
    }

    /// The point with no coordinate beyond the ends.
    pub(super) fn within(&self, mut z: Vec<f64>) -> Vec<f64> {
        for (z, &(low, high)) in z.iter_mut().zip(&self.ends) {
            *z = z.clamp(low, high);
        }
        z
    }
}

//! Keep account of values that a run was given without asking for them.
//!
//! An older run, an optimiser's path or a sampler's points lie where they lie. They do not stand
//! for space-filling points, but for the one in whose cell they are: so a run that was given values
//! looks at the rest of the prior all the same, and no more than that.

use crate::acquisition::{Acquisition, Context, QuasiRandom};
use crate::belief::{Process, Theta};
use crate::error::Result;
use crate::kernel::Matern32;
use crate::measure::Measure;
use crate::points::Points;
use std::collections::BTreeSet;

/// The values that were given, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Given {
    /// The place among all observations, and the cell of the design.
    values: Vec<(usize, usize)>,
}

impl Given {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The observation with this place was given, in this cell.
    pub fn push(&mut self, place: usize, cell: usize) {
        self.values.push((place, cell));
    }

    /// Whether the observation with this place stands for a space-filling point: one that was
    /// asked for does, and of those given the first in its cell.
    pub fn stands_for_design(&self, place: usize) -> bool {
        let Ok(at) = self
            .values
            .binary_search_by_key(&place, |(place, _)| *place)
        else {
            return true;
        };
        let cell = self.values[at].1;
        self.values[..at]
            .iter()
            .all(|(_, earlier)| *earlier != cell)
    }

    /// The cells of a design of this size that nothing given lies in, in order.
    pub fn free_cells(&self, size: usize) -> Vec<usize> {
        let taken: BTreeSet<usize> = self.values.iter().map(|(_, cell)| *cell).collect();
        (0..size).filter(|cell| !taken.contains(cell)).collect()
    }

    /// The same when a run had made its first `n` observations.
    pub fn first(&self, n: usize) -> Given {
        let before = self.values.iter().take_while(|(place, _)| *place < n);
        Given {
            values: before.copied().collect(),
        }
    }
}

/// The cell of a design that a point lies in: the nearest of the first space-filling points of a
/// run, in units of the measure.
pub(super) fn cell(z: &[f64], measure: &dyn Measure, size: usize, seed: u64) -> Result<usize> {
    let (scale, circles) = (measure.scale(), measure.circles());
    let nothing = Process::new(Matern32, Theta::constant(0.0, 1.0, scale.clone())?);
    let taken = Points::empty(measure.dim())?;
    let mut nearest = (0, f64::INFINITY);
    for step in 0..size {
        let at = QuasiRandom.choose(&Context {
            belief: &nothing,
            measure,
            taken: &taken,
            seed,
            step,
        })?;
        let apart = |d: usize| match &circles {
            Some(circles) => circles.difference(d, at[d], z[d]),
            None => at[d] - z[d],
        };
        let apart: f64 = (0..z.len()).map(|d| (apart(d) / scale[d]).powi(2)).sum();
        if apart < nearest.1 {
            nearest = (step, apart);
        }
    }
    Ok(nearest.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Product;

    #[test]
    fn the_first_of_a_cell_stands_for_its_design_point() {
        let mut given = Given::default();
        for (place, cell) in [(0, 3), (1, 3), (4, 0), (5, 3)] {
            given.push(place, cell);
        }
        let stands: Vec<bool> = (0..7).map(|place| given.stands_for_design(place)).collect();
        assert_eq!(stands, [true, false, true, true, true, false, true]);
        assert_eq!(given.free_cells(5), [1, 2, 4]);
        assert_eq!(given.first(4).len(), 2);
        assert_eq!(given.first(4).free_cells(4), [0, 1, 2]);
    }

    #[test]
    fn a_point_is_in_the_cell_of_the_nearest_design_point() {
        let pi = Product::uniform(&[(0.0, 8.0)]).unwrap();
        let mut cells: Vec<usize> = (0..8)
            .map(|k| cell(&[0.5 + k as f64], &pi, 8, 3).unwrap())
            .collect();
        cells.sort();
        // Each eighth of the interval has one of the first eight Sobol' points.
        cells.dedup();
        assert!(cells.len() >= 6, "{cells:?}");
        assert_eq!(
            cell(&[1.0], &pi, 8, 3).unwrap(),
            cell(&[1.0], &pi, 8, 3).unwrap()
        );
    }
}

//! Turn the coordinates: g may change along directions of its own, which are no one's parameters.

use crate::error::{Error, Result, finite};
use crate::points::Points;

/// A linear map y = A x: distances, length scales and a quadratic mean are then taken in y.
///
/// ```
/// use warpquad::Axes;
/// let axes = Axes::new(&[vec![1.0, 1.0], vec![1.0, -1.0]])?;
/// assert_eq!(axes.turn(&[2.0, 3.0]), [5.0, -1.0]);
/// assert!(Axes::new(&[vec![1.0, 1.0], vec![2.0]]).is_err());
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Axes {
    /// The directions, one after another.
    rows: Points,
}

impl Axes {
    /// The map with these d directions in d dimensions.
    pub fn new(rows: &[Vec<f64>]) -> Result<Axes> {
        let rows = Points::from_rows(rows)?;
        if rows.len() != rows.dim() {
            let (n, d) = (rows.len(), rows.dim());
            let reason = format!("{n} directions in {d} dimensions; give {d}");
            return Err(Error::spec("axes", reason));
        }
        for &a in rows.as_slice() {
            finite("axes", a)?;
        }
        Ok(Axes { rows })
    }

    /// The dimension d.
    pub fn dim(&self) -> usize {
        self.rows.dim()
    }

    /// The directions.
    pub fn rows(&self) -> Vec<Vec<f64>> {
        self.rows.iter().map(<[f64]>::to_vec).collect()
    }

    /// A x.
    pub fn turn(&self, x: &[f64]) -> Vec<f64> {
        let along = |row: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum();
        self.rows.iter().map(along).collect()
    }

    /// A' v: the gradient in x of what has the gradient v in y.
    pub fn pull_back(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        for (row, v) in self.rows.iter().zip(v) {
            out.iter_mut().zip(row).for_each(|(o, a)| *o += a * v);
        }
        out
    }
}

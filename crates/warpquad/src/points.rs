//! Hold n points of R^d, row after row.

use crate::error::{Error, Result, finite, same_length};

/// n points in d dimensions, stored row-major; d is at least 1 and every coordinate is finite.
///
/// ```
/// use warpquad::Points;
/// let points = Points::from_rows(&[vec![0.0, 1.0], vec![2.0, 3.0]])?;
/// assert_eq!((points.len(), points.dim()), (2, 2));
/// assert_eq!(points.row(1), &[2.0, 3.0]);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    dim: usize,
    data: Vec<f64>,
}

impl Points {
    /// Points from a flat row-major vector.
    pub fn new(dim: usize, data: Vec<f64>) -> Result<Points> {
        let mut points = Points::empty(dim)?;
        if !data.len().is_multiple_of(dim) {
            let reason = format!("{} numbers do not make rows of {dim}", data.len());
            return Err(Error::spec("points", reason));
        }
        for (i, &x) in data.iter().enumerate() {
            if !x.is_finite() {
                finite(&format!("points[{}][{}]", i / dim, i % dim), x)?;
            }
        }
        points.data = data;
        Ok(points)
    }

    /// No points yet, in `dim` dimensions.
    pub fn empty(dim: usize) -> Result<Points> {
        if dim == 0 {
            let reason = "must be at least 1: an integral over no parameters is the value itself";
            return Err(Error::spec("dimension", reason));
        }
        Ok(Points {
            dim,
            data: Vec::new(),
        })
    }

    /// Points from their rows, which must all have one length.
    pub fn from_rows(rows: &[Vec<f64>]) -> Result<Points> {
        let dim = rows.first().map_or(0, Vec::len);
        let mut points = Points::empty(dim)?;
        for row in rows {
            points.push(row)?;
        }
        Ok(points)
    }

    /// Append one point.
    pub fn push(&mut self, row: &[f64]) -> Result<()> {
        same_length("point", row.len(), self.dim)?;
        for (d, &x) in row.iter().enumerate() {
            if !x.is_finite() {
                finite(&format!("points[{}][{d}]", self.len()), x)?;
            }
        }
        self.data.extend_from_slice(row);
        Ok(())
    }

    /// Append all points of `other`.
    pub fn extend(&mut self, other: &Points) -> Result<()> {
        same_length("point", other.dim, self.dim)?;
        self.data.extend_from_slice(&other.data);
        Ok(())
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The dimension d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Point `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// All points in order.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.data.chunks_exact(self.dim)
    }

    /// The coordinates, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// The coordinates, a dimension after another: the layout that loops over points want.
    ///
    /// ```
    /// use warpquad::Points;
    /// let points = Points::from_rows(&[vec![1.0, 2.0], vec![3.0, 4.0]])?;
    /// assert_eq!(points.columns(), [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn columns(&self) -> Vec<f64> {
        let column = |d: usize| self.iter().map(move |x| x[d]);
        (0..self.dim).flat_map(column).collect()
    }

    /// The points with the given indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Points {
        let mut data = Vec::with_capacity(indices.len() * self.dim);
        for &i in indices {
            data.extend_from_slice(self.row(i));
        }
        Points {
            dim: self.dim,
            data,
        }
    }

    /// The points `from..to`.
    pub fn slice(&self, from: usize, to: usize) -> Points {
        Points {
            dim: self.dim,
            data: self.data[from * self.dim..to * self.dim].to_vec(),
        }
    }
}

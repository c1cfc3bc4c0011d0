//! Factor, solve and invert symmetric positive definite matrices; the only file that names faer.
//!
//! Everything runs on one thread: below n = 1000 two threads are slower than one, and callers
//! parallelise over starts, blocks and candidates instead.

pub use super::loops::dot;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::matmul::{self};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par, Side};
use std::ops::{Index, IndexMut};

/// A dense matrix, column after column.
#[derive(Debug, Clone, PartialEq)]
pub struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Mat {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Mat {
        Mat {
            rows,
            cols,
            data: vec![0.0; rows * cols],
        }
    }

    /// The matrix with entries `entry(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Mat {
        let mut out = Mat::zeros(rows, cols);
        for j in 0..cols {
            for (i, x) in out.col_mut(j).iter_mut().enumerate() {
                *x = entry(i, j);
            }
        }
        out
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Column `j`.
    pub fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Column `j`, to write to.
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// All entries, column after column.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Copy the lower triangle onto the upper one.
    pub fn mirror_lower(&mut self) {
        for j in 0..self.cols {
            for i in j + 1..self.rows {
                self[(j, i)] = self[(i, j)];
            }
        }
    }

    /// The eigenvalues, the smallest first, and the eigenvectors as columns, of a symmetric matrix
    /// given by its lower triangle. `None` if the iteration does not converge.
    ///
    /// ```
    /// use warpquad::numeric::linalg::Mat;
    /// let a = Mat::from_fn(2, 2, |i, j| if i == j { 20.0 } else { 15.0 });
    /// let (values, vectors) = a.symmetric_eigen().unwrap();
    /// assert!((values[0] - 5.0).abs() < 1e-12 && (values[1] - 35.0).abs() < 1e-12);
    /// assert!((vectors[(0, 1)] - vectors[(1, 1)]).abs() < 1e-12);
    /// ```
    pub fn symmetric_eigen(&self) -> Option<(Vec<f64>, Mat)> {
        let eigen = self.view().self_adjoint_eigen(Side::Lower).ok()?;
        let (s, u) = (eigen.S(), eigen.U());
        let values = (0..self.rows).map(|i| s[i]).collect();
        let vectors = Mat::from_fn(self.rows, self.rows, |i, j| u[(i, j)]);
        Some((values, vectors))
    }

    /// The transpose.
    pub fn transposed(&self) -> Mat {
        Mat::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// A v.
    pub fn mul_vec(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        for (j, &x) in v.iter().enumerate() {
            for (o, a) in out.iter_mut().zip(self.col(j)) {
                *o += a * x;
            }
        }
        out
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.data, self.rows, self.cols)
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.data, self.rows, self.cols)
    }
}

impl Index<(usize, usize)> for Mat {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i + j * self.rows]
    }
}

impl IndexMut<(usize, usize)> for Mat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i + j * self.rows]
    }
}

/// A^T B.
pub fn transpose_mul(a: &Mat, b: &Mat) -> Mat {
    let mut out = Mat::zeros(a.cols, b.cols);
    let (at, b) = (a.view().transpose(), b.view());
    matmul::matmul(out.view_mut(), Accum::Replace, at, b, 1.0, Par::Seq);
    out
}

/// A B.
pub fn mul(a: &Mat, b: &Mat) -> Mat {
    let mut out = Mat::zeros(a.rows, b.cols);
    let (a, b) = (a.view(), b.view());
    matmul::matmul(out.view_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// Subtract A^T A from the lower triangle of `out`.
pub fn subtract_gram_lower(out: &mut Mat, a: &Mat) {
    triangular::matmul(
        out.view_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        a.view().transpose(),
        BlockStructure::Rectangular,
        a.view(),
        BlockStructure::Rectangular,
        -1.0,
        Par::Seq,
    );
}

/// Memory that repeated factorisations of one size share.
#[derive(Default)]
pub struct Scratch(Option<MemBuffer>, usize);

impl std::fmt::Debug for Scratch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Scratch for order {}", self.1)
    }
}

impl Scratch {
    fn stack(&mut self, n: usize) -> &mut MemStack {
        if self.0.is_none() || self.1 < n {
            let req = StackReq::any_of(&[
                llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()),
                llt::inverse::inverse_scratch::<f64>(n, Par::Seq),
            ]);
            *self = Scratch(Some(MemBuffer::new(req)), n);
        }
        MemStack::new(
            self.0
                .get_or_insert_with(|| MemBuffer::new(StackReq::EMPTY)),
        )
    }
}

/// The lower Cholesky factor L of A = L L^T; only the lower triangle is meaningful.
#[derive(Debug, Clone)]
pub struct Cholesky {
    l: Mat,
}

impl Cholesky {
    /// Factor A, of which only the lower triangle is read; `None` if it is not positive definite.
    pub fn new(a: Mat) -> Option<Cholesky> {
        Cholesky::with_scratch(a, &mut Scratch::default()).ok()
    }

    /// The same, with memory to reuse; a failure gives the matrix's memory back.
    pub fn with_scratch(mut a: Mat, scratch: &mut Scratch) -> Result<Cholesky, Mat> {
        let n = a.rows;
        let stack = scratch.stack(n);
        let none = llt::factor::LltRegularization::default();
        let outcome =
            llt::factor::cholesky_in_place(a.view_mut(), none, Par::Seq, stack, Default::default());
        // A NaN passes through the factorisation without a failed pivot.
        let sound = (0..n).all(|i| a[(i, i)].is_finite() && a[(i, i)] > 0.0);
        if outcome.is_ok() && sound {
            Ok(Cholesky { l: a })
        } else {
            Err(a)
        }
    }

    /// The order n.
    pub fn order(&self) -> usize {
        self.l.rows
    }

    /// The factor L; its upper triangle is not meaningful.
    pub fn lower(&self) -> &Mat {
        &self.l
    }

    /// Give the memory of the factor back.
    pub fn into_mat(self) -> Mat {
        self.l
    }

    /// ln |A|.
    pub fn ln_det(&self) -> f64 {
        2.0 * (0..self.order()).map(|i| self.l[(i, i)].ln()).sum::<f64>()
    }

    /// B <- L^-1 B.
    pub fn solve_lower(&self, b: &mut Mat) {
        solve_lower_triangular_in_place(self.l.view(), b.view_mut(), Par::Seq);
    }

    /// B <- L^-T B.
    pub fn solve_lower_transposed(&self, b: &mut Mat) {
        solve_upper_triangular_in_place(self.l.view().transpose(), b.view_mut(), Par::Seq);
    }

    /// b <- L^-1 b.
    pub fn solve_lower_vec(&self, b: &mut [f64]) {
        let n = b.len();
        solve_lower_triangular_in_place(
            self.l.view(),
            MatMut::from_column_major_slice_mut(b, n, 1),
            Par::Seq,
        );
    }

    /// b <- L^-T b.
    pub fn solve_lower_transposed_vec(&self, b: &mut [f64]) {
        let n = b.len();
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        solve_upper_triangular_in_place(self.l.view().transpose(), b, Par::Seq);
    }

    /// b <- A^-1 b.
    pub fn solve_vec(&self, b: &mut [f64]) {
        let n = b.len();
        let mut b = MatMut::from_column_major_slice_mut(b, n, 1);
        solve_lower_triangular_in_place(self.l.view(), b.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.l.view().transpose(), b, Par::Seq);
    }

    /// The lower triangle of A^-1, written to `out`.
    pub fn inverse_lower(&self, out: &mut Mat, scratch: &mut Scratch) {
        let stack = scratch.stack(self.order());
        llt::inverse::inverse(out.view_mut(), self.l.view(), Par::Seq, stack);
    }

    /// Append k rows and columns to A in O(n^2 k). `cross` is A_21 (k columns of length n).
    /// `corner` is A_22, of which only the lower triangle is read. `None` leaves the factor as it
    /// was.
    pub fn extended(&self, mut cross: Mat, mut corner: Mat) -> Option<Cholesky> {
        let (n, k) = (self.order(), corner.rows);
        self.solve_lower(&mut cross);
        subtract_gram_lower(&mut corner, &cross);
        let corner = Cholesky::new(corner)?;
        // Written once, in order: zeroing (n + k)^2 numbers first costs as much as the solve.
        let mut data = Vec::with_capacity((n + k) * (n + k));
        for j in 0..n {
            data.extend_from_slice(self.l.col(j));
            data.extend((0..k).map(|i| cross[(j, i)]));
        }
        for j in 0..k {
            data.resize(data.len() + n, 0.0);
            data.extend_from_slice(corner.l.col(j));
        }
        let l = Mat {
            rows: n + k,
            cols: n + k,
            data,
        };
        Some(Cholesky { l })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spd(n: usize) -> Mat {
        Mat::from_fn(n, n, |i, j| {
            (-0.3 * (i as f64 - j as f64).abs()).exp() + if i == j { 0.1 } else { 0.0 }
        })
    }

    #[test]
    fn the_inverse_inverts_and_the_solve_agrees() {
        let (n, mut scratch) = (9, Scratch::default());
        let a = spd(n);
        let factor = Cholesky::new(a.clone()).unwrap();
        let mut inverse = Mat::zeros(n, n);
        factor.inverse_lower(&mut inverse, &mut scratch);
        inverse.mirror_lower();
        let product = mul(&a, &inverse);
        for i in 0..n {
            for j in 0..n {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((product[(i, j)] - expected).abs() < 1e-12);
            }
        }
        let b: Vec<f64> = (0..n).map(|i| i as f64 - 2.0).collect();
        let mut x = b.clone();
        factor.solve_vec(&mut x);
        for (got, want) in x.iter().zip(inverse.mul_vec(&b)) {
            assert!((got - want).abs() < 1e-12);
        }
    }

    #[test]
    fn extension_equals_factoring_afresh() {
        let (n, k) = (6, 3);
        let a = spd(n + k);
        let head = Cholesky::new(Mat::from_fn(n, n, |i, j| a[(i, j)])).unwrap();
        let cross = Mat::from_fn(n, k, |i, j| a[(i, n + j)]);
        let corner = Mat::from_fn(k, k, |i, j| a[(n + i, n + j)]);
        let extended = head.extended(cross, corner).unwrap();
        let fresh = Cholesky::new(a).unwrap();
        for j in 0..n + k {
            for i in j..n + k {
                assert!((extended.lower()[(i, j)] - fresh.lower()[(i, j)]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn indefinite_and_nan_matrices_are_refused() {
        assert!(Cholesky::new(Mat::from_fn(2, 2, |_, _| 1.0)).is_none());
        assert!(Cholesky::new(Mat::from_fn(2, 2, |_, _| f64::NAN)).is_none());
    }
}

//! Hold integrals of products in tensors: build by symmetry, multiply and contract indices.

use crate::numeric::linalg::Mat;

/// A tensor with `order` indices from 0 to n - 1; the first index runs fastest.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    n: usize,
    order: usize,
    pub data: Vec<f64>,
}

impl Tensor {
    pub fn zeros(n: usize, order: usize) -> Tensor {
        let data = vec![0.0; n.pow(order as u32)];
        Tensor { n, order, data }
    }

    /// A tensor symmetric in its first `left` indices and in its last `right` ones, and under their
    /// exchange if they are as many; `entry` is asked once for each orbit.
    pub fn symmetric(
        n: usize,
        left: usize,
        right: usize,
        entry: impl Fn(&[usize], &[usize]) -> f64,
    ) -> Tensor {
        let mut out = Tensor::zeros(n, left + right);
        let mut index = vec![0; left + right];
        for flat in 0..out.data.len() {
            let mut rest = flat;
            for i in &mut index {
                *i = rest % n;
                rest /= n;
            }
            // Large indices first make the smallest flat index of the orbit: it comes first.
            index[..left].sort_unstable_by(|a, b| b.cmp(a));
            index[left..].sort_unstable_by(|a, b| b.cmp(a));
            let flatten = |index: &[usize]| index.iter().rev().fold(0, |flat, i| flat * n + i);
            let mut first = flatten(&index);
            if left == right {
                index.rotate_left(left);
                let exchanged = flatten(&index);
                index.rotate_left(left);
                first = first.min(exchanged);
            }
            out.data[flat] = if first < flat {
                out.data[first]
            } else {
                entry(&index[..left], &index[left..])
            };
        }
        out
    }

    /// Multiply every index by a lower triangular matrix, on slabs of consecutive numbers.
    pub fn multiply_lower(&mut self, lower: &Mat) {
        let n = self.n;
        if n == 0 {
            return;
        }
        for mode in 0..self.order {
            let stride = n.pow(mode as u32);
            for block in self.data.chunks_exact_mut(n * stride) {
                // From the last row up, so that the rows above are still the old ones.
                for i in (0..n).rev() {
                    let (above, rest) = block.split_at_mut(i * stride);
                    let row = &mut rest[..stride];
                    row.iter_mut().for_each(|r| *r *= lower[(i, i)]);
                    for (k, old) in above.chunks_exact(stride).enumerate() {
                        let factor = lower[(i, k)];
                        row.iter_mut().zip(old).for_each(|(r, x)| *r += factor * x);
                    }
                }
            }
        }
    }

    /// Add a multiple of a tensor of the same shape.
    pub fn add(&mut self, factor: f64, other: &Tensor) {
        let pairs = self.data.iter_mut().zip(&other.data);
        pairs.for_each(|(x, y)| *x += factor * y);
    }

    /// The sum of |x y| over all entries.
    pub fn dot_sizes(&self, other: &Tensor) -> f64 {
        let pairs = self.data.iter().zip(&other.data);
        pairs.map(|(x, y)| (x * y).abs()).sum()
    }

    /// The trace of a tensor with 2 `free` indices as a square matrix.
    pub fn paired(&self, free: usize) -> f64 {
        let size = self.n.pow(free as u32);
        (0..size).map(|i| self.data[i + i * size]).sum()
    }

    /// Contract the last indices: `dots` of them with v, then `traces` pairs with each other.
    pub fn contract(&self, v: &[f64], dots: usize, traces: usize) -> Tensor {
        let mut out = self.clone();
        for _ in 0..traces {
            let mut less = Tensor::zeros(self.n, out.order - 2);
            let size = less.data.len();
            for i in 0..self.n {
                let slab = &out.data[i * (self.n + 1) * size..][..size];
                less.data
                    .iter_mut()
                    .zip(slab)
                    .for_each(|(sum, x)| *sum += x);
            }
            out = less;
        }
        for _ in 0..dots {
            let mut less = Tensor::zeros(self.n, out.order - 1);
            let size = less.data.len();
            for (i, v) in v.iter().enumerate() {
                let slab = &out.data[i * size..][..size];
                less.data
                    .iter_mut()
                    .zip(slab)
                    .for_each(|(sum, x)| *sum += v * x);
            }
            out = less;
        }
        out
    }

    /// The first `left` indices moved behind the others.
    pub fn swapped(&self, left: usize) -> Tensor {
        let rows = self.n.pow(left as u32);
        let cols = self.data.len() / rows.max(1);
        let mut out = Tensor::zeros(self.n, self.order);
        for col in 0..cols {
            for row in 0..rows {
                out.data[col + row * cols] = self.data[row + col * rows];
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T_ij|kl = a_i a_j b_k b_l + its exchange, the simplest tensor with the symmetries.
    fn example() -> (Tensor, Vec<f64>, Vec<f64>) {
        let (a, b) = (vec![1.0, -2.0, 0.5], vec![0.3, 1.1, -0.7]);
        let at = |v: &[f64], index: &[usize]| index.iter().map(|&i| v[i]).product::<f64>();
        let tensor = Tensor::symmetric(3, 2, 2, |x, y| {
            at(&a, x) * at(&b, y) + at(&b, x) * at(&a, y)
        });
        (tensor, a, b)
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn symmetry_fills_every_entry() {
        let (tensor, a, b) = example();
        for flat in 0..81 {
            let [i, j, k, l] = [1, 3, 9, 27].map(|stride| flat / stride % 3);
            let want = a[i] * a[j] * b[k] * b[l] + b[i] * b[j] * a[k] * a[l];
            assert!((tensor.data[flat] - want).abs() < 1e-15);
        }
    }

    #[test]
    fn contractions_are_inner_products() {
        let (tensor, a, b) = example();
        let v = [0.2, -0.4, 1.5];
        let matrix = tensor.contract(&v, 2, 0).swapped(2);
        let want = 2.0 * dot(&a, &v).powi(2) * dot(&b, &v).powi(2);
        assert!((matrix.contract(&v, 2, 0).data[0] - want).abs() < 1e-13);
        let traces = tensor.contract(&v, 0, 1).contract(&v, 0, 1).data[0];
        assert!((traces - 2.0 * dot(&a, &a) * dot(&b, &b)).abs() < 1e-13);
        assert!((tensor.paired(2) - 2.0 * dot(&a, &b).powi(2)).abs() < 1e-13);
    }

    #[test]
    fn a_triangular_matrix_multiplies_every_index() {
        let (mut tensor, a, b) = example();
        let lower = Mat::from_fn(
            3,
            3,
            |i, j| if i >= j { (1 + i + 2 * j) as f64 } else { 9.0 },
        );
        let mul = |v: &[f64]| -> Vec<f64> {
            let row = |i: usize| (0..=i).map(|j| lower[(i, j)] * v[j]).sum();
            (0..3).map(row).collect()
        };
        let (a, b) = (mul(&a), mul(&b));
        tensor.multiply_lower(&lower);
        let want = a[2] * a[0] * b[1] * b[2] + b[2] * b[0] * a[1] * a[2];
        assert!((tensor.data[2 + 9 + 54] - want).abs() < 1e-11 * want.abs());
    }
}

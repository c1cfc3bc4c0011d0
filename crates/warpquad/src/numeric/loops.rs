//! Run the inner loops of likelihoods and predictions over slices.
//!
//! They are compiled for the build's baseline only. Copies for AVX2 and AVX-512, chosen at run
//! time, made a likelihood 2 to 3 % faster at n = 100 (0 to 6 % at 500): not worth their `unsafe`.

/// A sum runs in this many parts side by side. They break the chain of additions, so that the
/// compiler can vectorise it.
pub type Lanes = [f64; 8];

/// acc += sum of a_i b_i.
#[inline]
pub fn add_products(acc: &mut Lanes, a: &[f64], b: &[f64]) {
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    let mut sum = *acc;
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for k in 0..8 {
            sum[k] += a[k] * b[k];
        }
    }
    *acc = sum;
    for (acc, (a, b)) in acc.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *acc += a * b;
    }
}

/// acc += sum of w_i (x_i - y)^2.
#[inline]
pub fn add_weighted_squares(acc: &mut Lanes, w: &[f64], x: &[f64], y: f64) {
    let (w_blocks, w_rest) = w.as_chunks::<8>();
    let (x_blocks, x_rest) = x.as_chunks::<8>();
    let mut sum = *acc;
    for (w, x) in w_blocks.iter().zip(x_blocks) {
        for k in 0..8 {
            sum[k] += w[k] * ((x[k] - y) * (x[k] - y));
        }
    }
    *acc = sum;
    for (acc, (w, x)) in acc.iter_mut().zip(w_rest.iter().zip(x_rest)) {
        *acc += w * ((x - y) * (x - y));
    }
}

/// a_i <- a_i b_i.
#[inline]
pub fn multiply(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a *= b;
    }
}

/// The sum of the parts.
#[inline]
pub fn total(acc: &Lanes) -> f64 {
    let [a, b, c, d, e, f, g, h] = *acc;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The inner product of two vectors of one length.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut acc = [0.0; 8];
    add_products(&mut acc, a, b);
    total(&acc)
}

/// r^2 from y to as many points as `out` has room for. Coordinate d of the points begins at d
/// `stride` + `from`.
pub fn squared_distances(
    coordinates: &[f64],
    stride: usize,
    from: usize,
    y: &[f64],
    out: &mut [f64],
) {
    out.fill(0.0);
    for (d, &y) in y.iter().enumerate() {
        let x = &coordinates[d * stride + from..][..out.len()];
        for (out, x) in out.iter_mut().zip(x) {
            *out += (x - y) * (x - y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_every_length_are_whole() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(|i| i as f64 + 1.0).collect();
            let want: f64 = a.iter().map(|a| a * a).sum();
            assert_eq!(dot(&a, &a), want);
            let (w, mut acc) = (vec![1.0; n], [0.0; 8]);
            add_weighted_squares(&mut acc, &w, &a, -1.0);
            assert_eq!(
                total(&acc),
                a.iter().map(|a| (a + 1.0) * (a + 1.0)).sum::<f64>()
            );
        }
    }

    #[test]
    fn distances_from_the_middle_of_a_column() {
        let coordinates = [0.0, 1.0, 2.0, 0.0, 2.0, 4.0];
        let mut out = [0.0; 2];
        squared_distances(&coordinates, 3, 1, &[0.0, 0.0], &mut out);
        assert_eq!(out, [5.0, 20.0]);
    }
}

//! Generate Sobol' points, plain or scrambled, in up to 64 dimensions.
//!
//! Coordinate `j` of point `i` is the exclusive or of the direction numbers `v_k` at the one bits
//! `k` of the Gray code of `i`, read as a binary fraction (Antonov and Saleev 1979).
//!
//! The scramble is Matousek's (1998). Each coordinate is multiplied by a random lower triangular
//! matrix over GF(2) with unit diagonal, then shifted by a random vector. Both act on bits from the
//! most significant down, so the points stay a digital net with the same `t`. Each point alone is
//! uniform, so an average over them is unbiased.

use super::random::{Rng, open_unit};
use super::sobol_directions::DIRECTIONS;

/// The most dimensions: the rows of the table, and the van der Corput sequence before them.
pub const MAX_DIM: usize = DIRECTIONS.len() + 1;

/// The binary digits of a coordinate, and so the direction numbers of a dimension. They allow more
/// points than anyone can draw.
const BITS: usize = 64;

/// A Sobol' sequence at its current position.
///
/// ```
/// use warpquad::numeric::sobol::Sobol;
///
/// // Any 2^m scrambled points put exactly one coordinate into each interval of length 2^-m.
/// let points = Sobol::scrambled(1, 7).unwrap().points(8);
/// let mut cells: Vec<usize> = points.iter().map(|x| (8.0 * x) as usize).collect();
/// cells.sort();
/// assert_eq!(cells, [0, 1, 2, 3, 4, 5, 6, 7]);
/// ```
#[derive(Clone, Debug)]
pub struct Sobol {
    /// `directions[k]` holds `v_k` of every dimension, so a step reads one row. Only those that
    /// were needed so far are there: scrambling one is a product of a matrix and a vector, and most
    /// sequences are short.
    directions: Vec<Vec<u64>>,
    /// The plain direction numbers of every dimension.
    columns: Vec<[u64; BITS]>,
    /// The scramble of every dimension; none for the plain sequence.
    matrices: Vec<[u64; BITS]>,
    shift: Vec<u64>,
    state: Vec<u64>,
    index: u64,
}

impl Sobol {
    /// The plain sequence, which starts at the origin; `None` unless `1 <= dim <= MAX_DIM`.
    pub fn new(dim: usize) -> Option<Sobol> {
        if dim == 0 || dim > MAX_DIM {
            return None;
        }
        Some(Sobol::from_parts(Vec::new(), vec![0; dim]))
    }

    /// The scrambled sequence of this seed, inside the open unit cube; `None` unless
    /// `1 <= dim <= MAX_DIM`.
    ///
    /// Coordinate `j` depends on the seed and `j` only, not on `dim`. The first 2^52 values of a
    /// coordinate are distinct.
    pub fn scrambled(dim: usize, seed: u64) -> Option<Sobol> {
        if dim == 0 || dim > MAX_DIM {
            return None;
        }
        let parent = Rng::new(seed);
        let (mut matrices, mut shift) = (Vec::with_capacity(dim), Vec::with_capacity(dim));
        for j in 0..dim {
            let mut rng = parent.child(j as u64);
            matrices.push(lower_triangular(&mut rng));
            shift.push(rng.next_u64());
        }
        Some(Sobol::from_parts(matrices, shift))
    }

    fn from_parts(matrices: Vec<[u64; BITS]>, shift: Vec<u64>) -> Sobol {
        let columns: Vec<[u64; BITS]> = (0..shift.len()).map(direction_numbers).collect();
        Sobol {
            columns,
            matrices,
            directions: Vec::new(),
            state: shift.clone(),
            shift,
            index: 0,
        }
    }

    /// The direction numbers up to `v_k`, scrambled where that is asked for.
    fn scramble_to(&mut self, k: usize) {
        for k in self.directions.len()..=k {
            let plain = self.columns.iter().map(|column| column[k]);
            let row = match self.matrices.is_empty() {
                true => plain.collect(),
                false => plain
                    .zip(&self.matrices)
                    .map(|(v, matrix)| multiply(matrix, v))
                    .collect(),
            };
            self.directions.push(row);
        }
    }

    /// The number of coordinates of a point.
    pub fn dim(&self) -> usize {
        self.state.len()
    }

    /// Write the next point into `out` (its first `dim` entries) and advance.
    pub fn next_into(&mut self, out: &mut [f64]) {
        for (x, &bits) in out.iter_mut().zip(&self.state) {
            *x = self.value(bits);
        }
        // The Gray codes of i and i + 1 differ in the bit of i's lowest zero.
        let flip = (self.index.trailing_ones() as usize).min(BITS - 1);
        self.index = self.index.wrapping_add(1);
        self.scramble_to(flip);
        toggle(&mut self.state, &self.directions[flip]);
    }

    /// The next `n` points, one row of `dim` coordinates after another.
    pub fn points(&mut self, n: usize) -> Vec<f64> {
        let dim = self.dim();
        let mut points = vec![0.0; n * dim];
        points
            .chunks_exact_mut(dim)
            .for_each(|row| self.next_into(row));
        points
    }

    /// Move to the point of this index, the first being 0.
    ///
    /// ```
    /// use warpquad::numeric::sobol::Sobol;
    ///
    /// let mut walked = Sobol::scrambled(3, 1).unwrap();
    /// walked.points(1000);
    /// let mut jumped = Sobol::scrambled(3, 1).unwrap();
    /// jumped.skip_to(1000);
    /// assert_eq!(walked.points(5), jumped.points(5));
    /// ```
    pub fn skip_to(&mut self, index: u64) {
        self.index = index;
        self.state.copy_from_slice(&self.shift);
        let gray = index ^ (index >> 1);
        for k in (0..BITS).filter(|k| gray >> k & 1 == 1) {
            self.scramble_to(k);
            toggle(&mut self.state, &self.directions[k]);
        }
    }

    /// Plain points keep their exact dyadic values, the origin included; scrambled ones sit at cell
    /// midpoints.
    fn value(&self, bits: u64) -> f64 {
        if !self.matrices.is_empty() {
            open_unit(bits)
        } else {
            (bits >> 11) as f64 / (1_u64 << 53) as f64
        }
    }
}

fn toggle(state: &mut [u64], direction: &[u64]) {
    for (s, v) in state.iter_mut().zip(direction) {
        *s ^= v;
    }
}

/// The direction numbers `v_k = m_k / 2^k`, `k = 1, 2, ...`, as 64-bit fractions.
///
/// With the primitive polynomial `x^s + a_1 x^{s-1} + ... + a_s` (and `a_s = 1`), Sobol's
/// recurrence is `v_k = a_1 v_{k-1} + ... + a_s v_{k-s} + v_{k-s} / 2^s`, the sums being exclusive
/// ors.
fn direction_numbers(dim: usize) -> [u64; BITS] {
    let Some((polynomial, initial)) = dim.checked_sub(1).map(|row| DIRECTIONS[row]) else {
        // The first dimension is the van der Corput sequence: every m_k is one.
        return std::array::from_fn(|k| 1 << (BITS - 1 - k));
    };
    let s = initial.len();
    let mut v = [0; BITS];
    for k in 0..BITS {
        v[k] = if k < s {
            u64::from(initial[k]) << (BITS - 1 - k)
        } else {
            let terms = (1..=s).filter(|i| polynomial >> (s - i) & 1 == 1);
            terms.fold(v[k - s] >> s, |sum, i| sum ^ v[k - i])
        };
    }
    v
}

/// Rows of a random matrix: row `i` (from the most significant bit) is random before bit `i`, one
/// at it, zero after.
fn lower_triangular(rng: &mut Rng) -> [u64; BITS] {
    std::array::from_fn(|i| {
        let diagonal = 1_u64 << (BITS - 1 - i);
        let below_diagonal = diagonal | (diagonal - 1);
        (rng.next_u64() & !below_diagonal) | diagonal
    })
}

/// The matrix-vector product over GF(2).
fn multiply(matrix: &[u64; BITS], v: u64) -> u64 {
    matrix.iter().fold(0, |product, row| {
        product << 1 | u64::from((row & v).count_ones() & 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: f64 = (1_u64 << 30) as f64;

    #[test]
    fn plain_points_equal_scipy_bit_for_bit() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/oracle/sobol.csv");
        let text = std::fs::read_to_string(path).unwrap();
        let (mut rows, mut checksums) = (0, 0);
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            if cells[0] == "checksum" {
                let mut sobol = Sobol::new(64).unwrap();
                sobol.skip_to(cells[1].parse().unwrap());
                let sum = sobol.points(256).iter().fold(0_u64, |h, x| {
                    h.wrapping_mul(1_099_511_628_211)
                        .wrapping_add((x * SCALE) as u64)
                });
                assert_eq!(sum, cells[2].parse::<u64>().unwrap());
                checksums += 1;
                continue;
            }
            let mut sobol = Sobol::new(16).unwrap();
            sobol.skip_to(cells[0].parse().unwrap());
            let want: Vec<f64> = cells[1..]
                .iter()
                .map(|c| c.parse::<f64>().unwrap() / SCALE)
                .collect();
            assert_eq!(sobol.points(1), want, "point {}", cells[0]);
            rows += 1;
        }
        assert_eq!((rows, checksums), (38, 2));
    }

    /// Points in each cell of the grid with `2^a` by `2^b` cells over coordinates `j` and `k`.
    fn counts(
        points: &[f64],
        dim: usize,
        (j, a): (usize, u32),
        (k, b): (usize, u32),
    ) -> Vec<usize> {
        let mut counts = vec![0; 1 << (a + b)];
        for row in points.chunks_exact(dim) {
            let (x, y) = (row[j] * f64::from(1 << a), row[k] * f64::from(1 << b));
            counts[(x as usize) << b | y as usize] += 1;
        }
        counts
    }

    #[test]
    fn scrambling_keeps_the_net() {
        for seed in [0, 1, 99] {
            let mut sobol = Sobol::scrambled(MAX_DIM, seed).unwrap();
            // Two consecutive blocks of 2^10 points: each is a net of its own.
            for _ in 0..2 {
                let points = sobol.points(1024);
                for j in 0..MAX_DIM {
                    assert!(
                        counts(&points, MAX_DIM, (j, 10), (0, 0))
                            .iter()
                            .all(|&c| c == 1)
                    );
                }
                // The first two coordinates are a (0, m, 2)-net: every shape of cell holds one
                // point.
                for a in 0..=10 {
                    assert!(
                        counts(&points, MAX_DIM, (0, a), (1, 10 - a))
                            .iter()
                            .all(|&c| c == 1)
                    );
                }
            }
        }
    }

    #[test]
    fn scrambled_values_are_open_and_distinct() {
        let n = 1 << 12;
        let points = Sobol::scrambled(8, 5).unwrap().points(n);
        assert!(points.iter().all(|&x| 0.0 < x && x < 1.0));
        for j in 0..8 {
            let mut column: Vec<u64> = points
                .iter()
                .skip(j)
                .step_by(8)
                .map(|x| x.to_bits())
                .collect();
            column.sort_unstable();
            column.dedup();
            assert_eq!(column.len(), n);
        }
    }

    #[test]
    fn seeds_and_dimensions() {
        let draw = |dim, seed| Sobol::scrambled(dim, seed).unwrap().points(4);
        assert_eq!(draw(3, 1), draw(3, 1));
        assert_ne!(draw(3, 1), draw(3, 2));
        // A coordinate does not depend on how many others there are.
        assert!(
            draw(2, 1)
                .iter()
                .step_by(2)
                .eq(draw(5, 1).iter().step_by(5))
        );
        assert!(Sobol::new(0).is_none() && Sobol::new(MAX_DIM + 1).is_none());
        assert!(Sobol::scrambled(0, 1).is_none() && Sobol::scrambled(MAX_DIM + 1, 1).is_none());
        // Short and long buffers are filled as far as they go.
        let mut long = [9.0; 3];
        Sobol::new(2).unwrap().next_into(&mut long);
        assert_eq!(long, [0.0, 0.0, 9.0]);
        let mut last = Sobol::new(1).unwrap();
        last.skip_to(u64::MAX);
        last.points(3);
    }

    #[test]
    fn first_scrambled_point_never_changes() {
        let point = Sobol::scrambled(3, 42).unwrap().points(1);
        assert_eq!(
            point,
            [0.08358318871624715, 0.7339217131268755, 0.6791013645898966]
        );
    }

    const DIM: usize = 4;

    fn smooth(row: &[f64]) -> f64 {
        row.iter().map(|x| 1.0 + (x - 0.5) * x.exp()).product()
    }

    /// The root mean square error over 30 scrambles of the mean of `smooth`, and the Monte Carlo
    /// error for it.
    fn errors(n: usize) -> (f64, f64) {
        // int_0^1 (x - 1/2) exp(x) dx = (3 - e) / 2.
        let exact = (1.0 + (3.0 - 1.0_f64.exp()) / 2.0).powi(DIM as i32);
        let (mut scrambled, mut variance) = (0.0, 0.0);
        for seed in 0..30 {
            let values: Vec<f64> = Sobol::scrambled(DIM, seed)
                .unwrap()
                .points(n)
                .chunks_exact(DIM)
                .map(smooth)
                .collect();
            scrambled += (values.iter().sum::<f64>() / n as f64 - exact).powi(2) / 30.0;
            variance += values.iter().map(|v| (v - exact).powi(2)).sum::<f64>() / (30 * n) as f64;
        }
        (scrambled.sqrt(), (variance / n as f64).sqrt())
    }

    #[test]
    fn converges_faster_than_monte_carlo() {
        let ((few, _), (many, monte_carlo)) = (errors(1 << 8), errors(1 << 12));
        println!("{few} {many} {monte_carlo}");
        // Monte Carlo gains 4 on sixteen times the points; a scrambled net gains up to 64 (n^-3/2)
        // on a smooth function.
        assert!(few / many > 25.0);
        assert!(many < monte_carlo / 30.0);
    }
}

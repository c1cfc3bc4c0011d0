//! Draw reproducible random numbers: a PCG generator with a seed and independent child streams.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

/// A pseudo-random generator, the same on every machine for the same seed.
///
/// ```
/// use warpquad::numeric::random::Rng;
///
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.next_u64(), b.next_u64());
/// // A child depends on the seed and its number only, not on what was drawn in between.
/// assert_eq!(a.child(3).next_u64(), Rng::new(7).child(3).next_u64());
/// ```
#[derive(Clone, Debug)]
pub struct Rng {
    pcg: Pcg64,
    /// What the state was seeded with; children derive from it.
    key: u64,
    /// The second of a pair of normals, which come two at a time.
    spare: Option<f64>,
}

impl Rng {
    /// The generator of this seed. Any seed is as good as another, zero included.
    pub fn new(seed: u64) -> Rng {
        // PCG streams that differ in the increment only can be correlated. So state and increment
        // are both hashed.
        let word = |i: u64| u128::from(mix(seed.wrapping_add(i.wrapping_mul(GOLDEN))));
        let state = word(1) << 64 | word(2);
        let stream = word(3) << 64 | word(4);
        Rng {
            pcg: Pcg64::new(state, stream),
            key: seed,
            spare: None,
        }
    }

    /// The generator of an independent stream; `self` does not advance and its position does not
    /// matter.
    pub fn child(&self, stream: u64) -> Rng {
        // Two rounds keep (seed, stream) and (seed + GOLDEN, stream - 1) apart, as one sum would
        // not.
        Rng::new(mix(mix(self.key ^ GOLDEN).wrapping_add(mix(stream))))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.pcg.next_u64()
    }

    /// Uniform in the open interval (0, 1): the midpoints of 2^52 equal cells.
    ///
    /// Every midpoint is a double of 53 bits, so neither end nor any rounding onto it can occur.
    ///
    /// ```
    /// use warpquad::numeric::random::Rng;
    ///
    /// let u = Rng::new(1).uniform();
    /// assert!(0.0 < u && u < 1.0);
    /// ```
    pub fn uniform(&mut self) -> f64 {
        open_unit(self.next_u64())
    }

    /// Uniform over `0..n`, without bias; zero when `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        // Lemire: the high word of a 64 x 64 bit product, rejecting the 2^64 mod n lowest
        // fractions.
        let reject = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= reject {
                return (product >> 64) as usize;
            }
        }
    }

    /// A standard normal, by the polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        // (u, v) uniform in the unit disc and r = u^2 + v^2: u sqrt(-2 ln r / r) and its twin are
        // independent normals.
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let r = u * u + v * v;
            if r < 1.0 && r > 0.0 {
                // libm's logarithm, because the system's may differ in its last bit between
                // platforms.
                let scale = (-2.0 * libm::log(r) / r).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }

    /// Fill a slice with independent standard normals.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|z| *z = self.normal());
    }

    /// Permute a slice uniformly (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// The top 52 bits as a midpoint: `(k + 1/2) / 2^52`, exact and strictly inside (0, 1).
pub(crate) fn open_unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// 2^64 divided by the golden ratio: its multiples are spread evenly.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64 bits in which every input bit reaches every output bit (the finaliser of
/// SplitMix64).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(n: usize, mut draw: impl FnMut() -> f64) -> f64 {
        (0..n).map(|_| draw()).sum::<f64>() / n as f64
    }

    #[test]
    fn first_outputs_never_change() {
        let mut rng = Rng::new(42);
        let bits: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        let want = [
            0xc985_0d51_600b_031f,
            0xfce3_af5a_f9d9_1153,
            0x068e_579a_b557_e511,
            0xa270_7e5f_fbdf_1a3f,
        ];
        assert_eq!(bits, want);
        assert_eq!(rng.child(1).next_u64(), 0xb6d3_112a_aab3_aa19);
        let rest = (rng.uniform(), rng.normal(), rng.below(1000));
        assert_eq!(rest, (0.05170793083077341, 0.3091445650950237, 419));
    }

    #[test]
    fn moments_of_uniform_and_normal() {
        let n = 400_000;
        let mut rng = Rng::new(1);
        // Five standard errors each: sd 1/sqrt(12), then 1, sqrt(2), sqrt(96) for Z, Z^2, Z^4.
        let five = |sd: f64| 5.0 * sd / (n as f64).sqrt();
        assert!((mean(n, || rng.uniform()) - 0.5).abs() < five(0.2887));
        assert!(mean(n, || rng.normal()).abs() < five(1.0));
        assert!((mean(n, || rng.normal().powi(2)) - 1.0).abs() < five(1.415));
        assert!((mean(n, || rng.normal().powi(4)) - 3.0).abs() < five(9.8));
        assert!((mean(n, || f64::from(rng.normal() > 2.0)) - 0.022_750_13).abs() < five(0.1492));
    }

    #[test]
    fn pairs_of_normals_are_uncorrelated() {
        let (n, mut rng) = (200_000, Rng::new(3));
        let mut z = vec![0.0; n + 2];
        rng.fill_normal(&mut z);
        for lag in [1, 2] {
            let r = (0..n).map(|i| z[i] * z[i + lag]).sum::<f64>() / n as f64;
            assert!(r.abs() < 5.0 / (n as f64).sqrt());
        }
    }

    #[test]
    fn children_differ_from_each_other_and_the_parent() {
        let parent = Rng::new(9);
        let mut first: Vec<u64> = (0..1000).map(|i| parent.child(i).next_u64()).collect();
        first.extend((0..1000).map(|i| parent.child(i).child(0).next_u64()));
        first.extend((0..1000).map(|i| Rng::new(i).next_u64()));
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 3000);
        let (mut a, mut b) = (parent.child(0), parent.child(1));
        let n = 100_000;
        let r = mean(n, || a.normal() * b.normal());
        assert!(r.abs() < 5.0 / (n as f64).sqrt());
    }

    #[test]
    fn below_is_even_and_in_range() {
        let mut rng = Rng::new(5);
        assert_eq!((rng.below(0), rng.below(1)), (0, 0));
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[rng.below(7)] += 1);
        // Binomial sd 93.
        assert!(
            counts.iter().all(|c: &i32| (c - 10_000).abs() < 465),
            "{counts:?}"
        );
        assert!((0..100).all(|_| rng.below(usize::MAX) < usize::MAX));
    }

    #[test]
    fn shuffle_is_an_even_permutation_of_places() {
        let mut rng = Rng::new(6);
        let mut places = [[0; 4]; 4];
        for _ in 0..40_000 {
            let mut items = [0, 1, 2, 3];
            rng.shuffle(&mut items);
            (0..4).for_each(|i| places[i][items[i]] += 1);
        }
        assert!(
            places
                .iter()
                .flatten()
                .all(|c: &i32| (c - 10_000).abs() < 435),
            "{places:?}"
        );
        rng.shuffle::<u8>(&mut []);
    }

    #[test]
    fn the_unit_interval_is_open() {
        assert_eq!(open_unit(0), 0.5 / (1_u64 << 52) as f64);
        assert!(open_unit(u64::MAX) < 1.0);
    }
}

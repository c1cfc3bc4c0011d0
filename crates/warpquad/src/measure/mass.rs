//! Work out which mass a measure gives a region, without evaluations of f.
//!
//! In the unit cube of the quantile map the measure is uniform. Along a line parallel to a side the
//! region is a few intervals, whose ends bisection finds. Their length is averaged over Sobol'
//! lines: it is a continuous function of the line, which Sobol' points integrate to more digits
//! than the region itself.

use super::{Measure, Region};
use crate::error::Result;
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::sobol::Sobol;

/// A mass, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mass {
    pub value: f64,
    /// The standard error.
    pub error: f64,
    /// How many points were asked.
    pub tried: usize,
}

impl Mass {
    /// A mass that is known.
    pub fn known(value: f64) -> Mass {
        Mass {
            value,
            error: 0.0,
            tried: 0,
        }
    }
}

/// Independent randomisations.
const REPLICATES: usize = 8;

/// Lines of each replicate: to choose the side that they are parallel to, at first, and at most.
const LINES: [usize; 3] = [64, 1024, 8192];

/// More lines are taken until the relative error is below this.
const ENOUGH: f64 = 1e-6;

/// Points along a line at which the constraints are asked, in one dimension and in more.
const ALONG: [usize; 2] = [4097, 33];

/// How near to the ends of a side the first and the last of them are.
const NEAR_END: f64 = 1e-9;

/// Halvings of the interval around an end: 2^-40 of a side.
const HALVINGS: usize = 40;

/// Points that check the lines, and those that count where the lines have missed something.
const CHECKED: usize = 1 << 16;
const COUNTED: usize = 1 << 20;

/// The mass of a region.
pub(super) fn mass(measure: &dyn Measure, region: &dyn Region) -> Result<Mass> {
    let cube = Cube { measure, region };
    let counted = cube.count(CHECKED);
    let Some(lines) = cube.by_lines() else {
        return Ok(cube.count(COUNTED));
    };
    // A region that no line finds is thin in every direction: then points count.
    let apart = (lines.value - counted.value).abs();
    match apart <= 6.0 * counted.error + 4.0 * lines.error + 1e-12 {
        true => Ok(Mass {
            tried: CHECKED,
            ..lines
        }),
        false => Ok(cube.count(COUNTED)),
    }
}

/// The unit cube that the quantile map sends to the measure, and a region.
struct Cube<'a> {
    measure: &'a dyn Measure,
    region: &'a dyn Region,
}

impl Cube<'_> {
    /// The part of so many points of the cube that is inside.
    fn count(&self, n: usize) -> Mass {
        let dim = self.measure.dim();
        let shares = parallel::map(REPLICATES, |r| {
            let (mut x, mut u) = (vec![0.0; dim], vec![0.0; dim]);
            let (mut points, mut rng) = (sobol(dim, r), Rng::new(r as u64));
            let inside = (0..n / REPLICATES).filter(|_| {
                match &mut points {
                    Some(points) => points.next_into(&mut u),
                    None => u.iter_mut().for_each(|u| *u = rng.uniform()),
                }
                self.measure.quantile(&u, &mut x);
                self.region.holds(&x)
            });
            inside.count() as f64 / (n / REPLICATES) as f64
        });
        let (value, spread) = mean_and_error(&shares);
        // Few points inside say less than their spread does: that of independent ones is safe.
        let plain = (value * (1.0 - value)).max(1.0 / n as f64) / n as f64;
        Mass {
            value,
            error: spread.max(plain.sqrt()),
            tried: n,
        }
    }

    /// The mean length over lines; `None` in more dimensions than Sobol' points reach.
    fn by_lines(&self) -> Option<Mass> {
        let dim = self.measure.dim();
        if dim == 1 {
            return Some(Mass::known(self.length(&mut [0.5], 0)));
        }
        sobol(dim - 1, 0)?;
        let even = vec![Bins::even(); dim];
        let tried: Vec<Lines> = (0..dim).map(|j| self.lines(j, &even, LINES[0])).collect();
        let error = |j: &usize| tried[*j].mass.error;
        let best = (0..dim).min_by(|i, j| error(i).total_cmp(&error(j)))?;
        let mut bins = match dim {
            2 => even,
            _ => tried.into_iter().nth(best)?.bins,
        };
        let mut n = LINES[1];
        loop {
            let found = self.lines(best, &bins, n);
            if n >= LINES[2] || found.mass.error < ENOUGH * found.mass.value {
                return Some(found.mass);
            }
            // One coordinate of lines is integrated to more digits where nothing is uneven.
            if dim > 2 {
                bins = found.bins;
            }
            n *= 2;
        }
    }

    /// The mean length over so many lines of each replicate, parallel to side `j` and as dense as
    /// the bins say.
    fn lines(&self, j: usize, bins: &[Bins], n: usize) -> Lines {
        let dim = self.measure.dim();
        let runs = parallel::map(REPLICATES, |r| {
            let mut found = vec![[0.0; BINS]; dim];
            let Some(mut sobol) = sobol(dim - 1, r) else {
                return (0.0, found);
            };
            let mut rest = vec![0.0; dim - 1];
            let mut u = vec![0.5; dim];
            let mut sum = 0.0;
            for _ in 0..n {
                sobol.next_into(&mut rest);
                let mut weight = 1.0;
                for (k, &v) in (0..dim).filter(|k| *k != j).zip(&rest) {
                    let (at, density) = bins[k].draw(v);
                    u[k] = at;
                    weight /= density;
                }
                let part = weight * self.length(&mut u, j);
                sum += part;
                for (found, at) in found.iter_mut().zip(&u) {
                    found[bin(*at)] += part;
                }
            }
            (sum / n as f64, found)
        });
        let means: Vec<f64> = runs.iter().map(|(mean, _)| *mean).collect();
        let (value, error) = mean_and_error(&means);
        let total = |k: usize| {
            let mut sum = [0.0; BINS];
            for (_, found) in &runs {
                sum.iter_mut().zip(&found[k]).for_each(|(s, f)| *s += f);
            }
            Bins::of(sum)
        };
        Lines {
            mass: Mass {
                value,
                error,
                tried: n,
            },
            bins: (0..dim).map(total).collect(),
        }
    }

    /// The length of what is inside along side `j` through a point of the cube.
    fn length(&self, u: &mut [f64], j: usize) -> f64 {
        let mut x = vec![0.0; u.len()];
        let along = ALONG[usize::from(u.len() > 1)];
        let at = |k: usize| (k as f64 / (along - 1) as f64).clamp(NEAR_END, 1.0 - NEAR_END);
        let mut margins = |t: f64, out: &mut Vec<f64>| {
            u[j] = t;
            self.measure.quantile(u, &mut x);
            self.region.margins(&x, out);
        };
        let mut table = Vec::new();
        for k in 0..along {
            margins(at(k), &mut table);
        }
        let count = table.len() / along;
        let mut ends = vec![0.0, 1.0];
        let mut one = Vec::with_capacity(count);
        for i in 0..count {
            let mut margin = |t: f64| {
                one.clear();
                margins(t, &mut one);
                one.get(i).copied().unwrap_or(f64::NAN)
            };
            let seen = |k: usize| table[k * count + i];
            for k in 1..along {
                if (seen(k - 1) > 0.0) != (seen(k) > 0.0) {
                    ends.push(crossing(&mut margin, at(k - 1), at(k), seen(k) > 0.0));
                }
            }
            for k in 0..along {
                let (before, after) = (k.saturating_sub(1), (k + 1).min(along - 1));
                // A thin part of the region, or a thin gap, between points that do not show it.
                for sign in [1.0, -1.0] {
                    let height = |k: usize| sign * seen(k);
                    let is_top = [before, after]
                        .iter()
                        .all(|n| *n == k || height(*n) < height(k));
                    if !(is_top && height(k) <= 0.0) {
                        continue;
                    }
                    let top = highest(|t| sign * margin(t), at(before), at(after));
                    if sign * margin(top) > 0.0 {
                        ends.push(crossing(&mut margin, at(before), top, sign > 0.0));
                        ends.push(crossing(&mut margin, top, at(after), sign < 0.0));
                    }
                }
            }
        }
        ends.sort_by(f64::total_cmp);
        let mut inside = |t: f64| {
            u[j] = t;
            self.measure.quantile(u, &mut x);
            self.region.holds(&x)
        };
        let pieces = ends.windows(2).filter(|pair| pair[1] > pair[0]);
        let inside = pieces.filter(|pair| inside(0.5 * (pair[0] + pair[1])));
        inside.map(|pair| pair[1] - pair[0]).sum()
    }
}

/// Where a margin changes its sign: it `rises` from below 0 to above, or falls.
fn crossing(margin: &mut dyn FnMut(f64) -> f64, low: f64, high: f64, rises: bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        match (margin(middle) > 0.0) == rises {
            true => high = middle,
            false => low = middle,
        }
    }
    0.5 * (low + high)
}

/// Where a function is highest between two points, or the first place where it is positive, by
/// golden section.
fn highest(mut of: impl FnMut(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..HALVINGS {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        let (at_a, at_b) = (of(a), of(b));
        match (at_a > 0.0, at_b > 0.0) {
            (true, _) => return a,
            (_, true) => return b,
            _ if at_a > at_b => high = b,
            _ => low = a,
        }
    }
    0.5 * (low + high)
}

/// What lines have found: the mass, and where along each side it is.
struct Lines {
    mass: Mass,
    bins: Vec<Bins>,
}

/// Bins of equal width along a side.
const BINS: usize = 16;

/// The part of the lines that are spread evenly, wherever mass was found.
const EVEN: f64 = 0.2;

/// The bin of a point of a side.
fn bin(u: f64) -> usize {
    ((u * BINS as f64) as usize).min(BINS - 1)
}

/// A density along a side that is constant in each bin, as in Lepage's VEGAS.
#[derive(Debug, Clone, Copy)]
struct Bins([f64; BINS]);

impl Bins {
    fn even() -> Bins {
        Bins([1.0; BINS])
    }

    /// In proportion to the mass that was found in each bin.
    fn of(found: [f64; BINS]) -> Bins {
        let mean = found.iter().sum::<f64>() / BINS as f64;
        match mean > 0.0 {
            true => Bins(found.map(|f| EVEN + (1.0 - EVEN) * f / mean)),
            false => Bins::even(),
        }
    }

    /// The point at which the part v of the mass is passed, and the density there.
    fn draw(&self, v: f64) -> (f64, f64) {
        let mut left = v * BINS as f64;
        for (k, density) in self.0.iter().enumerate() {
            if left < *density || k == BINS - 1 {
                let inside = (left / density).min(1.0);
                return ((k as f64 + inside) / BINS as f64, *density);
            }
            left -= density;
        }
        (v, 1.0)
    }
}

/// Scrambled Sobol' points; the same for the same replicate.
fn sobol(dim: usize, replicate: usize) -> Option<Sobol> {
    Sobol::scrambled(dim, 0x006d_6173_7300 + replicate as u64)
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n * (n - 1.0))).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Product, univariate};

    /// Where a function is positive.
    struct Positive<F>(F);

    impl<F> std::fmt::Debug for Positive<F> {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("where a function is positive")
        }
    }

    impl<F: Fn(&[f64]) -> f64 + Send + Sync> Region for Positive<F> {
        fn holds(&self, x: &[f64]) -> bool {
            (self.0)(x) > 0.0
        }

        fn margins(&self, x: &[f64], out: &mut Vec<f64>) {
            out.push((self.0)(x));
        }
    }

    fn relative_error(
        measure: &dyn Measure,
        margin: impl Fn(&[f64]) -> f64 + Send + Sync,
        truth: f64,
    ) -> f64 {
        (mass(measure, &Positive(margin)).unwrap().value / truth - 1.0).abs()
    }

    #[test]
    fn masses_that_have_formulas() {
        let cube = |d: usize| Product::uniform(&vec![(0.0, 1.0); d]).unwrap();
        let normals = (0..2).map(|_| univariate("normal", &[0.0, 1.0]).unwrap());
        let normals = Product::new(normals.collect()).unwrap();
        let quarter = |x: &[f64]| 1.0 - x[0] * x[0] - x[1] * x[1];
        let simplex = |x: &[f64]| 1.0 - x.iter().sum::<f64>();
        for (what, error, least) in [
            (
                "an interval",
                relative_error(&cube(1), |x| (x[0] - 0.3) * (0.7 - x[0]), 0.4),
                1e-9,
            ),
            (
                "two in order",
                relative_error(&cube(2), |x| x[1] - x[0], 0.5),
                1e-6,
            ),
            (
                "three in order",
                relative_error(&cube(3), |x| (x[1] - x[0]).min(x[2] - x[1]), 1.0 / 6.0),
                1e-4,
            ),
            (
                "a disc",
                relative_error(&cube(2), quarter, std::f64::consts::FRAC_PI_4),
                1e-5,
            ),
            // The radius squared is exponential with mean 2.
            (
                "a disc of normals",
                relative_error(&normals, quarter, -(-0.5_f64).exp_m1()),
                1e-5,
            ),
            (
                "a simplex",
                relative_error(&cube(4), simplex, 1.0 / 24.0),
                5e-4,
            ),
            (
                "a larger simplex",
                relative_error(&cube(6), simplex, 1.0 / 720.0),
                2e-2,
            ),
            (
                "a band",
                relative_error(
                    &cube(2),
                    |x| 0.003 - (x[0] - x[1]).abs(),
                    1.0 - 0.997_f64.powi(2),
                ),
                1e-4,
            ),
        ] {
            assert!(error < least, "{what}: {error}");
        }
    }

    #[test]
    fn what_no_line_finds_is_counted() {
        let square = Product::uniform(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let nothing = mass(&square, &Positive(|x: &[f64]| x[0] - 2.0)).unwrap();
        assert_eq!(nothing.value, 0.0);
    }
}

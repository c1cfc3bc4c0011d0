//! Propose points: quasi-random ones through the quantile map, near ones, and the points of a
//! sample.

use crate::belief::Belief;
use crate::belief::ln_sizes;
use crate::error::{Error, Result, Step, same_length};
use crate::measure::{Circles, Form, Measure};
use crate::numeric::random::Rng;
use crate::numeric::sobol::Sobol;
use crate::points::Points;

/// How close, relative to the measure's scale in every coordinate, a point is the same point. At
/// 1e-9 the kernel matrix of two such points has lost all its digits.
const SAME: f64 = 1e-9;

/// The most points of a sample that one choice looks at: scoring is O(n^2) a point.
const LARGEST_SAMPLE: usize = 4096;

/// How many quasi-random points to try before giving up on finding a free one.
const PATIENCE: usize = 256;

/// The same for a point inside a region whose mass is not known, as in the frame of a peak.
const DRAWS_IN_A_FRAME: usize = 64;

/// The space of a choice: the measure and what is taken in it.
pub(super) struct Space<'a> {
    pub measure: &'a dyn Measure,
    pub taken: &'a Points,
    scale: Vec<f64>,
    support: Vec<(f64, f64)>,
    circles: Option<Circles>,
}

impl<'a> Space<'a> {
    pub fn new(measure: &'a dyn Measure, taken: &'a Points) -> Result<Space<'a>> {
        same_length("taken", taken.dim(), measure.dim())?;
        Ok(Space {
            measure,
            taken,
            scale: measure.scale(),
            support: measure.support(),
            circles: measure.circles(),
        })
    }

    /// The sample, if the measure is one.
    pub fn sample(&self) -> Option<&'a Points> {
        match self.measure.form() {
            Form::Sample(points) => Some(points),
            _ => None,
        }
    }

    /// Whether x is a point the integrand may be evaluated at: strictly inside the support, where
    /// the density does not vanish. All points of a sample are.
    pub fn holds(&self, x: &[f64]) -> bool {
        let inside = |(x, (lo, hi)): (&f64, &(f64, f64))| x.is_finite() && lo < x && x < hi;
        self.sample().is_some()
            || x.iter().zip(&self.support).all(inside)
                && (!self.measure.has_density() || self.measure.ln_density(x) > f64::NEG_INFINITY)
    }

    /// Bring the angles of x between their ends.
    pub fn wrap(&self, x: &mut [f64]) {
        if let Some(circles) = &self.circles {
            circles.wrap(x);
        }
    }

    /// Which coordinates are angles.
    pub fn circles(&self) -> Option<&Circles> {
        self.circles.as_ref()
    }

    /// Whether no taken point is the same as x.
    pub fn is_free(&self, x: &[f64]) -> bool {
        let same = |y: &[f64]| (0..x.len()).all(|d| self.apart(d, x, y) <= SAME * self.scale[d]);
        !self.taken.iter().any(same)
    }

    fn apart(&self, d: usize, x: &[f64], y: &[f64]) -> f64 {
        apart(d, x, y, self.circles())
    }

    /// The first of the points u of the cube, in order, whose image is free; at worst any free
    /// point of the sample.
    pub fn first_free(&self, mut cube: Cube, seed: u64) -> Result<Vec<f64>> {
        let mut x = vec![0.0; self.measure.dim()];
        for _ in 0..PATIENCE * self.draws_a_point() {
            self.measure.quantile(&cube.next(), &mut x);
            if self.holds(&x) && self.is_free(&x) {
                return Ok(x);
            }
        }
        let rest = self.free_sample(seed, 1)?;
        if rest.is_empty() {
            return Err(self.exhausted());
        }
        Ok(rest.row(0).to_vec())
    }

    /// Up to `count` free points of the sample, in random order unless that is all of it.
    fn free_sample(&self, seed: u64, count: usize) -> Result<Points> {
        let mut out = Points::empty(self.measure.dim())?;
        let Some(sample) = self.sample() else {
            return Ok(out);
        };
        let mut order: Vec<usize> = (0..sample.len()).collect();
        if sample.len() > count {
            Rng::new(seed).shuffle(&mut order);
        }
        let free = order.into_iter().map(|i| sample.row(i));
        for x in free.filter(|x| self.is_free(x)).take(count) {
            out.push(x)?;
        }
        Ok(out)
    }

    /// What there is to choose from in a sample.
    pub fn sample_candidates(&self, seed: u64) -> Result<Points> {
        let out = self.free_sample(seed, LARGEST_SAMPLE)?;
        if out.is_empty() {
            return Err(self.exhausted());
        }
        Ok(out)
    }

    pub fn exhausted(&self) -> Error {
        let what = match self.sample() {
            Some(sample) => format!(
                "all {} points of the sample are taken; stop here, or integrate against a larger \
                 sample",
                sample.len()
            ),
            None => format!(
                "none of {} quasi-random points is inside the support and not taken; \
                 check the measure's quantile map",
                PATIENCE * self.draws_a_point()
            ),
        };
        Error::numerics(Step::Acquire, what)
    }

    /// `count` quasi-random points of the measure; those that the map sends outside are left out.
    pub fn quasi_random(&self, seed: u64, count: usize) -> Result<Points> {
        let dim = self.measure.dim();
        let (mut out, mut cube, mut x) =
            (Points::empty(dim)?, Cube::new(dim, seed), vec![0.0; dim]);
        for _ in 0..count * self.draws_a_point() {
            self.measure.quantile(&cube.next(), &mut x);
            if self.holds(&x) {
                out.push(&x)?;
            }
            if out.len() == count {
                break;
            }
        }
        Ok(out)
    }

    /// Draws by the quantile map that it takes about until one is inside a region that the measure
    /// is restricted to.
    fn draws_a_point(&self) -> usize {
        match self.measure.restricted() {
            None => 1,
            Some(region) if region.is_mass_known() => (-region.ln_mass()).exp().ceil() as usize,
            Some(_) => DRAWS_IN_A_FRAME,
        }
    }
}

/// Scrambled Sobol' points of the unit cube; plain random ones beyond the table of directions.
pub(super) struct Cube {
    dim: usize,
    sobol: Option<Sobol>,
    rng: Rng,
}

impl Cube {
    pub fn new(dim: usize, seed: u64) -> Cube {
        Cube {
            dim,
            sobol: Sobol::scrambled(dim, seed),
            rng: Rng::new(seed),
        }
    }

    /// The same sequence from point `index` on.
    pub fn from_index(dim: usize, seed: u64, index: usize) -> Cube {
        let mut cube = Cube::new(dim, seed);
        match &mut cube.sobol {
            Some(sobol) => sobol.skip_to(index as u64),
            None => cube.rng = cube.rng.child(index as u64),
        }
        cube
    }

    /// Independent random points.
    pub fn random(dim: usize, seed: u64) -> Cube {
        Cube {
            dim,
            sobol: None,
            rng: Rng::new(seed),
        }
    }

    pub fn next(&mut self) -> Vec<f64> {
        let mut u = vec![0.0; self.dim];
        match &mut self.sobol {
            Some(sobol) => sobol.next_into(&mut u),
            None => u.iter_mut().for_each(|u| *u = self.rng.uniform()),
        }
        u
    }
}

/// What the belief says about where to look: the highest observed points and the lengths over which
/// the belief changes.
pub(super) struct Hints {
    /// Observed points where |f| is large, the largest first, no two within [`CROWDED`] lengths.
    pub near: Points,
    /// One length a dimension.
    pub lengths: Vec<f64>,
}

/// How many observed points to look around, and how far apart they must be in length scales: two
/// points of one narrow peak say the same.
const NEAR_POINTS: usize = 8;
const CROWDED: f64 = 0.3;

impl Hints {
    pub fn new(belief: &dyn Belief, measure: &dyn Measure) -> Result<Hints> {
        let scale = measure.scale();
        let Some(anatomy) = belief.anatomy() else {
            return Ok(Hints {
                near: Points::empty(measure.dim())?,
                // A quarter of the measure's scale is where fits start their length scales.
                lengths: scale.iter().map(|s| 0.25 * s).collect(),
            });
        };
        let theta = anatomy.posterior.process().theta();
        same_length("measure's dimension", measure.dim(), theta.dim())?;
        let lengths: Vec<f64> = theta
            .coordinate_lengths()
            .iter()
            .zip(&scale)
            .map(|(l, s)| l.min(*s))
            .collect();
        let ln_f = ln_sizes(anatomy.link.warp(), anatomy.posterior.g());
        let points = anatomy.posterior.points();
        let circles = measure.circles();
        let metric = Metric {
            lengths: &lengths,
            circles: circles.as_ref(),
        };
        let apart = |_: usize| CROWDED;
        let chosen = separated(points, &descending(&ln_f), NEAR_POINTS, &metric, &apart);
        Ok(Hints {
            near: points.select(&chosen),
            lengths,
        })
    }
}

/// Indices of the finite values, the largest first; ties keep their order.
pub(super) fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len())
        .filter(|&i| values[i].is_finite())
        .collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    order
}

/// Go through `order` and keep at most `count` points, each farther from every kept point i than
/// `radius(i)`.
pub(super) fn separated(
    points: &Points,
    order: &[usize],
    count: usize,
    metric: &Metric<'_>,
    radius: &dyn Fn(usize) -> f64,
) -> Vec<usize> {
    let mut kept: Vec<(usize, f64)> = Vec::with_capacity(count);
    for &i in order {
        if kept.len() == count {
            break;
        }
        let apart =
            |&(k, radius): &(usize, f64)| metric.distance(points.row(i), points.row(k)) > radius;
        if kept.iter().all(apart) {
            kept.push((i, radius(i)));
        }
    }
    kept.into_iter().map(|(i, _)| i).collect()
}

/// How far points are apart.
pub(super) struct Metric<'a> {
    /// One length a coordinate.
    pub lengths: &'a [f64],
    /// Which coordinates are angles.
    pub circles: Option<&'a Circles>,
}

impl Metric<'_> {
    /// The largest difference of a coordinate, in lengths.
    pub fn distance(&self, x: &[f64], y: &[f64]) -> f64 {
        let apart = |d: usize| apart(d, x, y, self.circles) / self.lengths[d];
        (0..x.len()).map(apart).fold(0.0, f64::max)
    }
}

/// How far x and y are apart in coordinate d; of an angle the shorter way round.
fn apart(d: usize, x: &[f64], y: &[f64], circles: Option<&Circles>) -> f64 {
    let difference = match circles {
        Some(circles) => circles.difference(d, x[d], y[d]),
        None => x[d] - y[d],
    };
    difference.abs()
}

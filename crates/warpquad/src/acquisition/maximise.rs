//! Maximise a score over the support of a measure, from many starts and with gradients.

use super::candidates::{Cube, Metric, Space, descending, separated};
use crate::error::{Result, same_length};
use crate::measure::{Circle, Circles, Measure};
use crate::numeric::optimize::{Options, minimize};
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::points::Points;

/// Scores of many points at once; NaN and -infinity are points that are not wanted.
pub type Values<'a> = dyn Fn(&Points) -> Result<Vec<f64>> + Sync + 'a;

/// The score of one point with its gradient.
pub type Gradient<'a> = dyn Fn(&[f64]) -> Result<(f64, Vec<f64>)> + Sync + 'a;

/// What to maximise; a ln of something positive as a rule.
#[derive(Clone, Copy)]
pub struct Score<'a> {
    /// The scores of all candidates in one batch.
    pub values: &'a Values<'a>,
    /// What refines the best of them; without it the best candidate is the answer.
    pub gradient: Option<&'a Gradient<'a>>,
}

/// How hard to search, and around what.
#[derive(Debug, Clone, Copy)]
pub struct Maximise<'a> {
    /// Quasi-random candidates.
    pub candidates: usize,
    /// Candidates around each of the `near` points, at each of three distances.
    pub around: usize,
    /// How many of the best candidates to refine.
    pub refined: usize,
    /// The most gradients a refinement may ask for.
    pub steps: usize,
    /// The mass that the search box leaves out at each end of each coordinate.
    pub tail: f64,
    /// Points worth looking around, such as the highest observed ones.
    pub near: Option<&'a Points>,
    /// Candidates beside the quasi-random ones.
    pub more: Option<&'a Points>,
    /// The lengths over which the score changes; a quarter of the measure's scale if not given.
    pub lengths: Option<&'a [f64]>,
}

impl Default for Maximise<'_> {
    /// 256 + 12 a near point, 5 refinements of at most 60 steps, and one part in a million left
    /// out at each end: +-4.75 standard deviations of a normal law.
    fn default() -> Self {
        Maximise {
            candidates: 256,
            around: 4,
            refined: 5,
            steps: 60,
            tail: 1e-6,
            near: None,
            more: None,
            lengths: None,
        }
    }
}

/// Jitters around a near point, in half lengths.
const JITTER_WIDTHS: [f64; 3] = [1.0, 0.3, 0.1];

/// A point of the support, not taken, where the score is as large as the search can make it.
///
/// Candidates are scrambled Sobol' points through the quantile map and jittered copies of the near
/// points. The best of them that lie in different basins (the distance to the nearest taken point
/// is a basin's radius) are refined by L-BFGS-B in coordinates divided by the lengths. The search
/// box is, in each coordinate, the range of the quantile map over points of the cube with one or
/// all coordinates at `tail` or 1 - `tail`, of the candidates and of the near points: strictly
/// inside the support, whose ends may be infinite. A measure without a density is not refined,
/// since nothing tells a gradient step where it ends. Of a sample only the sample's own points are
/// considered, a random 4096 of them if there are more.
///
/// If no candidate has a finite score, the first quasi-random point that is not taken is the
/// answer.
///
/// ```
/// use warpquad::acquisition::{Maximise, Score, maximise};
/// use warpquad::{Points, measure::Product};
/// let pi = Product::uniform(&[(0.0, 1.0), (0.0, 3.0)])?;
/// // The nearest point of the box to (2, 1) is (1, 1).
/// let value = |x: &[f64]| -(x[0] - 2.0).powi(2) - (x[1] - 1.0).powi(2);
/// let score = Score {
///     values: &|x: &Points| Ok(x.iter().map(value).collect()),
///     gradient: Some(&|x: &[f64]| Ok((value(x), vec![4.0 - 2.0 * x[0], 2.0 - 2.0 * x[1]]))),
/// };
/// let x = maximise(&pi, &Points::empty(2)?, 1, &score, &Maximise::default())?;
/// assert!((x[0] - 1.0).abs() < 2e-6 && x[0] < 1.0 && (x[1] - 1.0).abs() < 1e-4);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn maximise(
    measure: &dyn Measure,
    taken: &Points,
    seed: u64,
    score: &Score<'_>,
    options: &Maximise<'_>,
) -> Result<Vec<f64>> {
    let space = Space::new(measure, taken)?;
    let search = Search::new(&space, seed, options)?;
    let candidates = search.candidates()?;
    let values = (score.values)(&candidates)?;
    same_length("scores", values.len(), candidates.len())?;
    let order = descending(&values);
    let mut found: Vec<(Vec<f64>, f64)> = match score.gradient {
        Some(gradient) if search.refines() => search.refine(&candidates, &order, gradient)?,
        _ => Vec::new(),
    };
    found.extend(
        order
            .iter()
            .map(|&i| (candidates.row(i).to_vec(), values[i])),
    );
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let best = found
        .into_iter()
        .find(|(x, _)| space.holds(x) && space.is_free(x));
    match best {
        Some((x, _)) => Ok(x),
        None => space.first_free(Cube::new(measure.dim(), !seed), seed),
    }
}

/// One search: the space, its randomness and its options with defaults filled in.
struct Search<'a> {
    space: &'a Space<'a>,
    seed: u64,
    options: &'a Maximise<'a>,
    lengths: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(space: &'a Space<'a>, seed: u64, options: &'a Maximise<'a>) -> Result<Search<'a>> {
        let lengths = match options.lengths {
            Some(lengths) => lengths.to_vec(),
            None => space.measure.scale().iter().map(|s| 0.25 * s).collect(),
        };
        same_length("lengths", lengths.len(), space.measure.dim())?;
        Ok(Search {
            space,
            seed,
            options,
            lengths,
        })
    }

    fn refines(&self) -> bool {
        self.space.sample().is_none() && self.space.measure.has_density()
    }

    fn candidates(&self) -> Result<Points> {
        if self.space.sample().is_some() {
            return self.space.sample_candidates(self.seed);
        }
        let mut out = self
            .space
            .quasi_random(self.seed, self.options.candidates)?;
        if let Some(near) = self
            .options
            .near
            .filter(|_| self.space.measure.has_density())
        {
            same_length("near", near.dim(), out.dim())?;
            self.add_near(near, &mut out)?;
        }
        let more = self.options.more.into_iter().flat_map(Points::iter);
        for x in more.filter(|x| self.space.holds(x)) {
            out.push(x)?;
        }
        Ok(out)
    }

    fn add_near(&self, near: &Points, out: &mut Points) -> Result<()> {
        let mut rng = Rng::new(self.seed).child(1);
        let mut x = vec![0.0; near.dim()];
        for centre in near.iter() {
            for k in 0..JITTER_WIDTHS.len() * self.options.around {
                let width = 0.5 * JITTER_WIDTHS[k % JITTER_WIDTHS.len()];
                for (d, x) in x.iter_mut().enumerate() {
                    *x = centre[d] + width * self.lengths[d] * rng.normal();
                }
                self.space.wrap(&mut x);
                if self.space.holds(&x) {
                    out.push(&x)?;
                }
            }
        }
        Ok(())
    }

    /// Climb from the best candidates; what fails to climb is left out.
    fn refine(
        &self,
        candidates: &Points,
        order: &[usize],
        gradient: &Gradient<'_>,
    ) -> Result<Vec<(Vec<f64>, f64)>> {
        // A maximum of a variance sits between the points that pin it down, and so do its
        // neighbours.
        let metric = Metric {
            lengths: &self.lengths,
            circles: self.space.circles(),
        };
        let radius = |i: usize| {
            let apart = self
                .space
                .taken
                .iter()
                .map(|y| metric.distance(candidates.row(i), y));
            apart.fold(1.0, f64::min)
        };
        let starts = separated(candidates, order, self.options.refined, &metric, &radius);
        let bounds = self.bounds(candidates);
        let climbed = parallel::map(starts.len(), |k| {
            self.climb(candidates.row(starts[k]), &bounds, gradient)
        });
        Ok(climbed
            .into_iter()
            .filter(|(_, value)| value.is_finite())
            .collect())
    }

    fn climb(
        &self,
        start: &[f64],
        bounds: &[(f64, f64)],
        gradient: &Gradient<'_>,
    ) -> (Vec<f64>, f64) {
        let x_of = |z: &[f64]| -> Vec<f64> {
            let scaled = z.iter().zip(&self.lengths).zip(bounds);
            // Dividing and multiplying again may round past a bound.
            let mut x: Vec<f64> = scaled
                .map(|((z, l), (lo, hi))| (z * l).max(*lo).min(*hi))
                .collect();
            self.space.wrap(&mut x);
            x
        };
        let downhill = |z: &[f64], out: &mut [f64]| {
            let x = x_of(z);
            let Some(Ok((value, slope))) = self.space.holds(&x).then(|| gradient(&x)) else {
                return f64::NAN;
            };
            for (d, out) in out.iter_mut().enumerate() {
                *out = -slope[d] * self.lengths[d];
            }
            -value
        };
        let to_z = |(x, l): (&f64, &f64)| x / l;
        let z: Vec<f64> = start.iter().zip(&self.lengths).map(to_z).collect();
        let box_z = bounds
            .iter()
            .zip(&self.lengths)
            .map(|((lo, hi), l)| (lo / l, hi / l));
        let options = Options {
            max_evaluations: self.options.steps,
            ..Options::default()
        };
        let end = minimize(downhill, &z, &box_z.collect::<Vec<_>>(), &options);
        (x_of(&end.x), -end.value)
    }

    /// The search box.
    fn bounds(&self, candidates: &Points) -> Vec<(f64, f64)> {
        let dim = self.space.measure.dim();
        let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); dim];
        let mut widen = |x: &[f64]| {
            for ((lo, hi), &x) in bounds.iter_mut().zip(x) {
                *lo = lo.min(x);
                *hi = hi.max(x);
            }
        };
        let mut x = vec![0.0; dim];
        for end in [self.options.tail, 1.0 - self.options.tail] {
            let one = |d: usize| (0..dim).map(|j| if j == d { end } else { 0.5 }).collect();
            let mut corners: Vec<Vec<f64>> = (0..dim).map(one).collect();
            corners.push(vec![end; dim]);
            for u in corners {
                self.space.measure.quantile(&u, &mut x);
                if self.space.holds(&x) {
                    widen(&x);
                }
            }
        }
        candidates.iter().for_each(&mut widen);
        let near = self.options.near.into_iter().flat_map(Points::iter);
        near.filter(|x| self.space.holds(x)).for_each(widen);
        // An angle may go once round from wherever it starts.
        let circles = self.space.circles().into_iter().flat_map(Circles::each);
        for (bound, circle) in bounds.iter_mut().zip(circles) {
            if let Some(Circle { start, period }) = circle {
                *bound = (start - period, start + 2.0 * period);
            }
        }
        bounds
    }
}

//! Learn the slope and the curvature of ln f from differences of exact values.

use super::Parameters;
use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::loops::dot;

/// What is known of ln f about a point, along some of the parameters.
#[derive(Debug, Clone)]
pub(super) struct Local {
    /// The parameters.
    pub axes: Vec<usize>,
    /// The unit of each.
    pub unit: Vec<f64>,
    /// The slope, in units.
    pub slope: Vec<f64>,
    /// The curvature with its sign turned, in units: positive definite.
    pub bend: Mat,
}

/// Curvatures along axes of their own are at least this part of the largest.
const LEAST_CURVATURE: f64 = 1e-9;
/// Added to the diagonal of the bend, as a part of its trace.
const JITTER: f64 = 1e-14;
/// A step that shows less than this part of the curvature that was expected is taken as one that
/// shows that part (Powell's damping).
const LEAST_BEND: f64 = 0.2;

impl Local {
    /// The same with all `dim` parameters: those that are missing stand alone, with these sds.
    pub fn completed(mut self, dim: usize, sd: impl Fn(usize) -> f64) -> Local {
        let missing: Vec<usize> = (0..dim).filter(|axis| !self.axes.contains(axis)).collect();
        let (r, known) = (dim, self.bend);
        self.bend = Mat::from_fn(r, r, |i, j| match (i < known.rows(), j < known.cols()) {
            (true, true) => known[(i, j)],
            (false, false) if i == j => 1.0,
            _ => 0.0,
        });
        for axis in missing {
            self.axes.push(axis);
            self.unit.push(sd(axis));
            self.slope.push(0.0);
        }
        self
    }

    /// The same step in the coordinates of a point.
    pub fn in_coordinates(&self, step: &[f64], dim: usize) -> Vec<f64> {
        let mut out = vec![0.0; dim];
        for ((&axis, unit), s) in self.axes.iter().zip(&self.unit).zip(step) {
            out[axis] = unit * s;
        }
        out
    }

    /// ln f falls by this many times as much everywhere.
    pub fn scale(&mut self, by: f64) {
        self.slope.iter_mut().for_each(|s| *s *= by);
        for j in 0..self.bend.cols() {
            self.bend.col_mut(j).iter_mut().for_each(|b| *b *= by);
        }
    }

    /// The lower factor of the bend; its rows and columns are directions of equal curvature.
    fn factor(&self) -> Option<Cholesky> {
        let r = self.axes.len();
        let trace: f64 = (0..r).map(|k| self.bend[(k, k)]).sum();
        Cholesky::new(Mat::from_fn(r, r, |i, j| {
            self.bend[(i, j)] + if i == j { JITTER * trace } else { 0.0 }
        }))
    }

    /// Steps in units after which ln f falls by `drop_nats` from a top, each in a direction of its
    /// own that no other bends.
    pub fn directions(&self, drop_nats: f64) -> Option<Vec<Vec<f64>>> {
        let factor = self.factor()?;
        let length = (2.0 * drop_nats).sqrt();
        let direction = |k: usize| {
            let mut w = vec![0.0; self.axes.len()];
            w[k] = length;
            factor.solve_lower_transposed_vec(&mut w);
            w
        };
        Some((0..self.axes.len()).map(direction).collect())
    }

    /// Learn the slope after a step from the values at the `directions` taken there with these
    /// signs, and from it how the curvature along the step differs from what was thought.
    pub fn learn(
        &mut self,
        step: &[f64],
        (rises, signs): (&[f64], &[f64]),
        drop_nats: f64,
    ) -> Option<()> {
        let factor = self.factor()?;
        let length = (2.0 * drop_nats).sqrt();
        let r = self.axes.len();
        // The curvature along each direction is one.
        let turned = |k: usize| match rises[k].is_finite() {
            true => signs[k] * (rises[k] + drop_nats) / length,
            false => 0.0,
        };
        let turned: Vec<f64> = (0..r).map(turned).collect();
        let lower = factor.lower();
        let at = |i: usize| (0..=i).map(|k| lower[(i, k)] * turned[k]).sum::<f64>();
        let slope: Vec<f64> = (0..r).map(at).collect();
        let fall: Vec<f64> = self.slope.iter().zip(&slope).map(|(a, b)| a - b).collect();
        let thought = self.bend.mul_vec(step);
        let (seen, expected) = (dot(step, &fall), dot(step, &thought));
        let part = match seen >= LEAST_BEND * expected {
            true => 1.0,
            false => (1.0 - LEAST_BEND) * expected / (expected - seen),
        };
        let mixed: Vec<f64> = fall
            .iter()
            .zip(&thought)
            .map(|(f, t)| part * f + (1.0 - part) * t)
            .collect();
        let along = dot(step, &mixed);
        if expected > 0.0 && along > 0.0 {
            for i in 0..r {
                for j in 0..r {
                    self.bend[(i, j)] +=
                        mixed[i] * mixed[j] / along - thought[i] * thought[j] / expected;
                }
            }
        }
        self.slope = slope;
        Some(())
    }
}

/// A curvature with the signs of its eigenvalues made positive, none of them tiny.
fn positive(bend: &Mat) -> Option<Mat> {
    let (values, vectors) = bend.symmetric_eigen()?;
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let least = (LEAST_CURVATURE * largest).max(f64::MIN_POSITIVE);
    let r = values.len();
    Some(Mat::from_fn(r, r, |i, j| {
        let term = |k: usize| values[k].abs().max(least) * vectors[(i, k)] * vectors[(j, k)];
        (0..r).map(term).sum()
    }))
}

/// The points whose values tell the slope and the curvature about a point. The curvature along the
/// first parameters may be known.
#[derive(Debug, Clone)]
pub(super) struct Design {
    axes: Vec<usize>,
    /// Signed steps along the parameters.
    steps: Vec<f64>,
    known: Option<Mat>,
}

impl Design {
    /// Steps of these lengths along these parameters. Steps go towards the middle of the ends.
    pub fn new(
        at: &[f64],
        axes: Vec<usize>,
        lengths: &[f64],
        parameters: &Parameters,
        known: Option<Mat>,
    ) -> Design {
        let inwards = |&axis: &usize| {
            let (low, high) = parameters.ends[axis];
            if at[axis] > 0.5 * (low + high) {
                -1.0
            } else {
                1.0
            }
        };
        let steps = axes
            .iter()
            .zip(lengths)
            .map(|(axis, length)| inwards(axis) * length);
        Design {
            steps: steps.collect(),
            axes,
            known,
        }
    }

    /// Take steps along the first parameters to the same side as before: a known curvature is that
    /// of signed units.
    pub fn keep_signs(&mut self, units: &[f64]) {
        for (step, unit) in self
            .steps
            .iter_mut()
            .zip(units)
            .take(self.known.as_ref().map_or(0, Mat::cols))
        {
            *step = step.abs() * unit.signum();
        }
    }

    /// How many of the parameters have a known curvature.
    fn known(&self) -> usize {
        self.known.as_ref().map_or(0, Mat::cols)
    }

    /// Pairs of parameters whose curvature is not known.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (self.known()..self.axes.len()).flat_map(|k| (0..k).map(move |j| (k, j)))
    }

    /// The points: one step along each parameter, one back where the curvature is not known, and
    /// one along each pair.
    pub fn points(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let moved = |by: &[(usize, f64)]| {
            let mut z = at.to_vec();
            for &(k, sign) in by {
                z[self.axes[k]] += sign * self.steps[k];
            }
            z
        };
        let r = self.axes.len();
        let ahead = (0..r).map(|k| moved(&[(k, 1.0)]));
        let back = (self.known()..r).map(|k| moved(&[(k, -1.0)]));
        let pairs = self.pairs().map(|(k, j)| moved(&[(k, 1.0), (j, 1.0)]));
        ahead.chain(back).chain(pairs).collect()
    }

    /// What the rises from the middle at those points say. What is not finite counts as flat.
    pub fn local(self, rises: &[f64]) -> Option<Local> {
        let (r, known) = (self.axes.len(), self.known());
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let (ahead, rest) = rises.split_at(r);
        let (back, pairs) = rest.split_at(r - known);
        let mut bend = Mat::zeros(r, r);
        let mut slope = vec![0.0; r];
        for k in 0..r {
            match &self.known {
                Some(known) if k < known.cols() => {
                    (0..known.cols()).for_each(|j| bend[(k, j)] = known[(k, j)]);
                    slope[k] = finite(ahead[k] + 0.5 * bend[(k, k)]);
                }
                _ => {
                    bend[(k, k)] = finite(-ahead[k] - back[k - known]);
                    slope[k] = finite(0.5 * (ahead[k] - back[k - known]));
                }
            }
        }
        for ((k, j), both) in self.pairs().zip(pairs) {
            let mixed = finite(ahead[k] + ahead[j] - both);
            (bend[(k, j)], bend[(j, k)]) = (mixed, mixed);
        }
        let bend = positive(&bend)?;
        Some(Local {
            axes: self.axes,
            unit: self.steps,
            slope,
            bend,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(dim: usize) -> Parameters {
        Parameters {
            ends: vec![(-7.5, 7.5); dim],
            is_positive: vec![false; dim],
            is_scale: vec![false; dim],
            units: vec![None; dim],
        }
    }

    /// -((x - 3)^2 + (x - 3)(y + 1) + 2 (y + 1)^2) with z left alone.
    fn quadratic(z: &[f64]) -> f64 {
        let (a, b) = (z[0] - 3.0, z[1] + 1.0);
        -(a * a + a * b + 2.0 * b * b)
    }

    fn local_at(at: &[f64], known: Option<Mat>) -> Local {
        let design = Design::new(at, vec![0, 1], &[0.1, 0.2], &parameters(2), known);
        let value = quadratic(at);
        let rises: Vec<f64> = design
            .points(at)
            .iter()
            .map(|z| quadratic(z) - value)
            .collect();
        design.local(&rises).unwrap()
    }

    #[test]
    fn the_top_of_a_quadratic_is_one_step_away() {
        let at = [-1.0, 2.0];
        let local = local_at(&at, None);
        let step = local.step_within(f64::INFINITY).unwrap();
        let by = local.in_coordinates(&step.by, 2);
        assert!((at[0] + by[0] - 3.0).abs() < 1e-9 && (at[1] + by[1] + 1.0).abs() < 1e-9);
        assert!((step.promised + quadratic(&at)).abs() < 1e-9);
    }

    #[test]
    fn a_known_curvature_saves_values() {
        let at = [-1.0, 2.0];
        let first = local_at(&at, None);
        let design = Design::new(
            &at,
            vec![0, 1],
            &[0.1, 0.2],
            &parameters(2),
            Some(first.bend.clone()),
        );
        assert_eq!(design.points(&at).len(), 2);
        let again = local_at(&at, Some(first.bend.clone()));
        assert!(
            again
                .slope
                .iter()
                .zip(&first.slope)
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
    }

    #[test]
    fn a_slope_after_a_step_is_learnt_from_one_value_a_direction() {
        let at = [-1.0, 2.0];
        let mut local = local_at(&at, None);
        let step = [5.0, 3.0];
        let by = local.in_coordinates(&step, 2);
        let then = [at[0] + by[0], at[1] + by[1]];
        let directions = local.directions(0.01).unwrap();
        let signs = [1.0, -1.0];
        let rise = |(w, sign): (&Vec<f64>, &f64)| {
            let by = local.in_coordinates(w, 2);
            quadratic(&[then[0] + sign * by[0], then[1] + sign * by[1]]) - quadratic(&then)
        };
        let rises: Vec<f64> = directions.iter().zip(&signs).map(rise).collect();
        let bend = local.bend.clone();
        local.learn(&step, (&rises, &signs), 0.01).unwrap();
        let fresh = local_at(&then, None);
        assert!(
            local
                .slope
                .iter()
                .zip(&fresh.slope)
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
        // A quadratic keeps its curvature.
        for k in 0..2 {
            assert!((local.bend[(k, k)] - bend[(k, k)]).abs() < 1e-9);
        }
    }

    #[test]
    fn a_saddle_is_left_on_the_side_that_rises() {
        let at = [0.5, 0.5];
        let saddle = |z: &[f64]| z[0] * z[0] - z[1] * z[1];
        let design = Design::new(&at, vec![0, 1], &[0.1, 0.1], &parameters(2), None);
        let rises: Vec<f64> = design
            .points(&at)
            .iter()
            .map(|z| saddle(z) - saddle(&at))
            .collect();
        let local = design.local(&rises).unwrap();
        let by = local.in_coordinates(&local.step_within(f64::INFINITY).unwrap().by, 2);
        assert!(by[0] > 0.0 && by[1] < 0.0, "{by:?}");
    }
}

//! Minimise a smooth function inside a box with L-BFGS-B, surviving every non-finite value on the
//! way.

use std::cell::RefCell;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, Executor,
    FirstOrderState, Gradient, Lbfgsb, Termination,
};

/// Where a minimisation ended: the best point it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// The best point seen, inside the bounds.
    pub x: Vec<f64>,
    /// The value there; infinite if the start itself had none.
    pub value: f64,
    /// How many times the function was called.
    pub evaluations: usize,
    /// Whether a tolerance was met at `x` (and not the budget spent, or the line search stuck).
    pub converged: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The most calls of the function.
    pub max_evaluations: usize,
    /// Stop when a step lowers the value by less than this, relative to `max(|f|, 1)`.
    pub tolerance_value: f64,
    /// Stop when no component of the projected gradient exceeds this.
    pub tolerance_gradient: f64,
}

impl Default for Options {
    /// 1000 evaluations, 1e-9 in the value, 1e-5 in the gradient: a log likelihood to far below its
    /// noise.
    fn default() -> Options {
        Options {
            max_evaluations: 1000,
            tolerance_value: 1e-9,
            tolerance_gradient: 1e-5,
        }
    }
}

/// Minimise `f` over the box `bounds` from `x0`; `f` returns the value and fills the gradient.
///
/// `x0` is moved into the box. A bound may be infinite, and a coordinate without one is free. A
/// value or gradient that is not finite makes the line search turn back. At the start it ends the
/// search with an infinite value.
///
/// ```
/// use warpquad::numeric::optimize::{Options, minimize};
///
/// // The nearest point to (2, -1) in the unit square is (1, 0).
/// let f = |x: &[f64], g: &mut [f64]| {
///     g[0] = 2.0 * (x[0] - 2.0);
///     g[1] = 2.0 * (x[1] + 1.0);
///     (x[0] - 2.0).powi(2) + (x[1] + 1.0).powi(2)
/// };
/// let minimum = minimize(f, &[0.3, 0.7], &[(0.0, 1.0); 2], &Options::default());
/// assert!(minimum.converged);
/// assert_eq!(minimum.x, [1.0, 0.0]);
/// ```
pub fn minimize(
    f: impl FnMut(&[f64], &mut [f64]) -> f64,
    x0: &[f64],
    bounds: &[(f64, f64)],
    options: &Options,
) -> Minimum {
    let bound = |i: usize| {
        bounds
            .get(i)
            .copied()
            .unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
    };
    let lower: Vec<f64> = (0..x0.len()).map(|i| bound(i).0).collect();
    let upper: Vec<f64> = (0..x0.len()).map(|i| bound(i).1).collect();
    let start: Vec<f64> = (0..x0.len())
        .map(|i| x0[i].max(lower[i]).min(upper[i]))
        .collect();

    let record = Record::new(f, start, options.max_evaluations.max(1));
    if !record.best.value.is_finite() || x0.is_empty() {
        let converged = record.best.value.is_finite();
        return record.minimum(converged);
    }
    let solver = Lbfgsb::new()
        .with_absolute_projected_gradient_tolerance(tolerance(options.tolerance_gradient))
        .with_relative_cost_reduction_tolerance(tolerance(options.tolerance_value));
    let state = FirstOrderState::new(record.best.x.clone());
    let record = RefCell::new(record);
    let problem = Boxed {
        record: &record,
        lower,
        upper,
    };
    // An error is the spent budget or an empty box: either way the best point seen stands.
    let outcome = Executor::new(problem, solver, state)
        .max_iter(u64::MAX)
        .run();
    let best = record.borrow().best.value;
    // Rounding may leave the last iterate a hair above the best point. A stand-in value (see
    // `wall`) is no minimum.
    let slack = options.tolerance_value.max(10.0 * f64::EPSILON) * best.abs().max(1.0);
    let converged = outcome.is_ok_and(|end| {
        matches!(end.report.termination, Termination::Converged(_)) && end.cost() <= best + slack
    });
    record.into_inner().minimum(converged)
}

/// The solver refuses (by panic) a tolerance that is negative or not finite.
fn tolerance(value: f64) -> f64 {
    if value.is_finite() {
        value.max(0.0)
    } else {
        0.0
    }
}

/// The function with its budget, and the best point it was called at.
struct Record<F> {
    f: F,
    evaluations: usize,
    budget: usize,
    best: Point,
}

struct Point {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// The budget of evaluations is spent.
#[derive(Debug)]
struct Spent;

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Record<F> {
    fn new(mut f: F, x: Vec<f64>, budget: usize) -> Record<F> {
        let mut gradient = vec![0.0; x.len()];
        let value = f(&x, &mut gradient);
        let value = if finite(value, &gradient) {
            value
        } else {
            f64::INFINITY
        };
        Record {
            f,
            evaluations: 1,
            budget,
            best: Point { x, value, gradient },
        }
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Spent> {
        // The solver asks again for its start, and for the iterate after a reset.
        if x == self.best.x {
            gradient.copy_from_slice(&self.best.gradient);
            return Ok(self.best.value);
        }
        if self.evaluations >= self.budget {
            return Err(Spent);
        }
        self.evaluations += 1;
        let value = (self.f)(x, gradient);
        if !finite(value, gradient) {
            return Ok(self.wall(x, gradient));
        }
        if value < self.best.value {
            self.best.value = value;
            self.best.x.copy_from_slice(x);
            self.best.gradient.copy_from_slice(gradient);
        }
        Ok(value)
    }

    /// A stand-in for a value that does not exist, which sends the line search a tenth of the way
    /// back.
    ///
    /// With `s = x - best` and the slope `c = |gradient_best . s|`, the parabola
    /// `q(t) = f_best - c t + 5 c t^2` has its minimum at `t = 1/10` and `q(1) = f_best + 4 c`,
    /// `q'(1) = 9 c`. A huge constant instead would interpolate to a step of zero and end the
    /// search.
    fn wall(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let step: Vec<f64> = x.iter().zip(&self.best.x).map(|(a, b)| a - b).collect();
        let slope = dot(&step, &self.best.gradient).abs();
        let length2 = dot(&step, &step);
        for (g, s) in gradient.iter_mut().zip(&step) {
            *g = 9.0 * slope / length2 * s;
        }
        let value = self.best.value + 4.0 * slope;
        if finite(value, gradient) && value > self.best.value {
            return value;
        }
        gradient.fill(0.0);
        self.best.value + self.best.value.abs() + 1.0
    }

    fn minimum(self, converged: bool) -> Minimum {
        Minimum {
            x: self.best.x,
            value: self.best.value,
            evaluations: self.evaluations,
            converged,
        }
    }
}

fn finite(value: f64, gradient: &[f64]) -> bool {
    value.is_finite() && gradient.iter().all(|g| g.is_finite())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The record as the solver wants to see it.
struct Boxed<'a, F> {
    record: &'a RefCell<Record<F>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> CostFunction for Boxed<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Spent;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Spent> {
        self.cost_and_gradient(x).map(|(value, _)| value)
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Gradient for Boxed<'_, F> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Spent> {
        self.cost_and_gradient(x).map(|(_, gradient)| gradient)
    }

    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), Spent> {
        let mut gradient = vec![0.0; x.len()];
        let value = self.cost_and_gradient_into(x, &mut gradient)?;
        Ok((value, gradient))
    }

    fn cost_and_gradient_into(&self, x: &Vec<f64>, gradient: &mut Vec<f64>) -> Result<f64, Spent> {
        gradient.resize(x.len(), 0.0);
        self.record.borrow_mut().evaluate(x, gradient)
    }
}

impl<F> Constraints for Boxed<'_, F> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.lower), Some(&self.upper)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    /// Minimum 0 at (1, ..., 1), at the end of a curved valley.
    fn rosenbrock(x: &[f64], g: &mut [f64]) -> f64 {
        g.fill(0.0);
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (t, u) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
            value += 100.0 * t * t + u * u;
            g[i] += -400.0 * x[i] * t - 2.0 * u;
            g[i + 1] += 200.0 * t;
        }
        value
    }

    /// `sum (i x_i - ln x_i)`, minimum at `x_i = 1 / i`; NaN for a negative coordinate.
    fn barrier(x: &[f64], g: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for i in 0..x.len() {
            let c = (i + 1) as f64;
            value += c * x[i] - x[i].ln();
            g[i] = c - 1.0 / x[i];
        }
        value
    }

    fn assert_near(x: &[f64], want: &[f64], tolerance: f64) {
        assert!(
            x.iter().zip(want).all(|(a, b)| (a - b).abs() <= tolerance),
            "{x:?} is not {want:?}"
        );
    }

    #[test]
    fn follows_the_valley() {
        let ten: Vec<f64> = (0..10)
            .map(|i| if i % 2 == 0 { -1.2 } else { 1.0 })
            .collect();
        for bound in [FREE, (-5.0, 5.0)] {
            for x0 in [&ten[..2], &ten[..]] {
                let m = minimize(rosenbrock, x0, &vec![bound; x0.len()], &Options::default());
                assert!(m.converged && m.evaluations < 120);
                assert_near(&m.x, &vec![1.0; x0.len()], 1e-5);
            }
        }
    }

    #[test]
    fn bad_scaling() {
        // Curvatures from 1 to 1e6.
        let f = |x: &[f64], g: &mut [f64]| {
            let curvature = |i: usize| 10f64.powf(6.0 * i as f64 / 7.0);
            (0..8).for_each(|i| g[i] = curvature(i) * (x[i] - 1.0));
            (0..8)
                .map(|i| 0.5 * curvature(i) * (x[i] - 1.0).powi(2))
                .sum()
        };
        let options = Options {
            tolerance_value: 0.0,
            tolerance_gradient: 1e-7,
            ..Options::default()
        };
        let m = minimize(f, &[3.0; 8], &[FREE; 8], &options);
        assert!(m.converged && m.evaluations < 200);
        assert_near(&m.x, &[1.0; 8], 1e-6);
    }

    #[test]
    fn optimum_on_a_bound_and_never_outside() {
        let inside = |x: &[f64], g: &mut [f64]| {
            assert!(x[0] <= 0.5 && x[0] >= -5.0 && x[2] == 0.25);
            rosenbrock(x, g)
        };
        let m = minimize(
            inside,
            &[-9.0, 1.0, 7.0],
            &[(-5.0, 0.5), FREE, (0.25, 0.25)],
            &Options::default(),
        );
        assert!(m.converged);
        assert_eq!((m.x[0], m.x[2]), (0.5, 0.25));
    }

    #[test]
    fn turns_back_from_regions_without_a_value() {
        for bound in [FREE, (-50.0, 50.0)] {
            let m = minimize(barrier, &[5.0; 4], &[bound; 4], &Options::default());
            assert!(m.converged && m.evaluations < 60, "{m:?}");
            assert_near(&m.x, &[1.0, 0.5, 1.0 / 3.0, 0.25], 1e-4);
        }
        // The optimum itself lies at the edge of the region.
        let edge = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0;
            if x[0] < 1.0 { f64::INFINITY } else { x[0] }
        };
        let m = minimize(edge, &[3.0], &[FREE], &Options::default());
        assert!(m.value < 1.01 && m.value >= 1.0, "{m:?}");
    }

    #[test]
    fn start_without_a_value() {
        let lost = Minimum {
            x: vec![0.5],
            value: f64::INFINITY,
            evaluations: 1,
            converged: false,
        };
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(
                minimize(
                    |_: &[f64], _: &mut [f64]| bad,
                    &[0.5],
                    &[FREE],
                    &Options::default()
                ),
                lost
            );
        }
        let bad_gradient = |_: &[f64], g: &mut [f64]| {
            g[0] = f64::NAN;
            1.0
        };
        assert_eq!(
            minimize(bad_gradient, &[0.5], &[FREE], &Options::default()),
            lost
        );
    }

    #[test]
    fn degenerate_calls_return() {
        let o = Options::default();
        let m = minimize(|_: &[f64], _: &mut [f64]| 3.0, &[], &[], &o);
        assert_eq!((m.value, m.evaluations, m.converged), (3.0, 1, true));
        // An empty box, a NaN bound, a NaN start, missing bounds, absurd tolerances.
        minimize(rosenbrock, &[0.0, 0.0], &[(1.0, -1.0), FREE], &o);
        minimize(rosenbrock, &[0.0, 0.0], &[(f64::NAN, f64::NAN), FREE], &o);
        minimize(rosenbrock, &[f64::NAN, 0.0], &[FREE; 2], &o);
        assert!(minimize(rosenbrock, &[0.0, 0.0], &[], &o).converged);
        let absurd = Options {
            tolerance_value: f64::NAN,
            tolerance_gradient: -1.0,
            ..o
        };
        assert!(minimize(rosenbrock, &[0.0, 0.0], &[FREE; 2], &absurd).value < 1e-12);
        // The gradient points uphill; the function has no minimum.
        minimize(
            |x: &[f64], g: &mut [f64]| {
                g[0] = -1.0;
                x[0]
            },
            &[0.0],
            &[FREE],
            &o,
        );
        minimize(
            |x: &[f64], g: &mut [f64]| {
                g[0] = 1.0;
                x[0]
            },
            &[0.0],
            &[FREE],
            &o,
        );
    }

    #[test]
    fn spends_no_more_than_its_budget() {
        for budget in [0, 1, 2, 7, 20] {
            let options = Options {
                max_evaluations: budget,
                ..Options::default()
            };
            let m = minimize(rosenbrock, &[-1.2, 1.0], &[FREE; 2], &options);
            assert_eq!(m.evaluations, budget.max(1));
            assert!(!m.converged);
            assert_eq!(m.value, rosenbrock(&m.x, &mut [0.0; 2]));
        }
    }

    /// Holes strewn by a hash of the point: whatever happens, the best point seen comes back.
    #[test]
    fn survives_random_holes() {
        for seed in 0..200_u64 {
            let mut best = f64::INFINITY;
            let holes = |x: &[f64], g: &mut [f64]| {
                let bits = x.iter().fold(seed, |h, v| {
                    (h ^ v.to_bits())
                        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        .rotate_left(31)
                });
                let value = rosenbrock(x, g);
                match bits % 8 {
                    0 => f64::NAN,
                    1 => f64::INFINITY,
                    2 => {
                        g[1] = f64::NAN;
                        value
                    }
                    _ => {
                        best = best.min(value);
                        value
                    }
                }
            };
            let bound = if seed % 2 == 0 { FREE } else { (-3.0, 3.0) };
            let m = minimize(
                holes,
                &[-1.2, 1.0, 0.3, 0.1],
                &[bound; 4],
                &Options::default(),
            );
            assert_eq!(m.value, best);
        }
    }
}

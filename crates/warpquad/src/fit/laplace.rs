//! Draw hyperparameters around the best ones: what the data leave open of theta is uncertainty
//! about Z.

use super::{Fit, Objective, Parameters, in_space};
use crate::belief::{Process, Theta};
use crate::data::Data;
use crate::error::{Error, Result, Step};
use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::parallel;
use crate::numeric::random::Rng;
use crate::numeric::special::ln_sum_exp;
use crate::numeric::weights::normalised;
use crate::warp::Warp;

/// The step of the differences, in ln of a length: rounding and the third derivative then cost 1e-6
/// each.
const STEP: f64 = 1e-3;

/// A direction in which theta is not known to this many nats of a length or scale is cut there.
const WIDEST: f64 = 2.0;

/// `count` draws of theta with their weights, which sum to 1. The process's own theta is taken as
/// the best.
///
/// The law is normal in the numbers of [`Parameters`]. Its covariance is the inverse of the Hessian
/// of the objective, by central differences of the exact gradient. The draws are weighted by the
/// objective itself. No weight may exceed sqrt(count) times the mean of them (Ionides 2008).
pub fn laplace(
    process: &Process,
    warp: &dyn Warp,
    data: &Data,
    how: &Fit,
    count: usize,
    rng: &mut Rng,
) -> Result<Vec<(Theta, f64)>> {
    let g = data.g(warp)?;
    let x = process.theta().turn_points(data.points())?;
    let parameters = Parameters::new(process, &x, &g, warp, how)?;
    let (warp, _) = in_space(warp, g[0], how.space);
    let best = parameters.vector(process.theta());
    let at = |vector: &[f64]| {
        let mut gradient = vec![0.0; vector.len()];
        let objective = Objective::new(process.kernel().clone(), warp, &x, &g, &parameters);
        let mut objective = objective.with_space(how.space);
        (objective.evaluate(vector, &mut gradient), gradient)
    };
    let factor = curvature(&at, &best, &parameters).ok_or_else(|| {
        let what = "the likelihood of the hyperparameters has no curvature at its best; fit again with more data";
        Error::numerics(Step::Fit, what)
    })?;
    let draws: Vec<(Vec<f64>, f64)> = (0..count)
        .map(|_| draw(&factor, &best, &parameters, rng))
        .collect();
    let values = parallel::map(count, |k| at(&draws[k].0).0);
    // ln of objective over proposal; the constants cancel.
    let ln_weights: Vec<f64> = values
        .iter()
        .zip(&draws)
        .map(|(value, (_, half_square))| half_square - value)
        .collect();
    let most = ln_sum_exp(&ln_weights) - 0.5 * (count as f64).ln();
    let cut: Vec<f64> = ln_weights.iter().map(|w| w.min(most)).collect();
    let weights = normalised(&cut).unwrap_or_else(|| vec![1.0 / count as f64; count]);
    Ok(draws
        .iter()
        .zip(weights)
        .map(|((x, _), weight)| (parameters.theta(x), weight))
        .collect())
}

/// The factor of the Hessian, raised to where no number is less certain than `WIDEST`.
fn curvature(
    at: &(impl Fn(&[f64]) -> (f64, Vec<f64>) + Sync),
    best: &[f64],
    parameters: &Parameters,
) -> Option<Cholesky> {
    let p = best.len();
    let steps = parameters.steps(STEP);
    let slopes = parallel::map(2 * p, |k| {
        let (i, sign) = (k / 2, if k % 2 == 0 { 1.0 } else { -1.0 });
        let mut x = best.to_vec();
        x[i] += sign * steps[i];
        at(&x).1
    });
    let entry = |i: usize, j: usize| (slopes[2 * i][j] - slopes[2 * i + 1][j]) / (2.0 * steps[i]);
    let hessian = Mat::from_fn(p, p, |i, j| 0.5 * (entry(i, j) + entry(j, i)));
    // In units of the widest sd; every try doubles what is added to the diagonal.
    let least: Vec<f64> = steps
        .iter()
        .map(|step| (WIDEST * step / STEP).powi(-2))
        .collect();
    (0..24).find_map(|k| {
        let lift = if k == 0 { 0.0 } else { 2.0_f64.powi(k - 1) };
        let raised = Mat::from_fn(p, p, |i, j| {
            let own = hessian[(i, j)];
            if i == j {
                own.max(least[i]) + lift * least[i]
            } else {
                own
            }
        });
        Cholesky::new(raised)
    })
}

/// A vector, and half its squared distance in sds. What falls outside the bounds is put on them.
fn draw(
    factor: &Cholesky,
    best: &[f64],
    parameters: &Parameters,
    rng: &mut Rng,
) -> (Vec<f64>, f64) {
    let z: Vec<f64> = best.iter().map(|_| rng.normal()).collect();
    let half_square = 0.5 * z.iter().map(|z| z * z).sum::<f64>();
    let mut step = Mat::from_fn(best.len(), 1, |i, _| z[i]);
    factor.solve_lower_transposed(&mut step);
    let bounds = parameters.bounds().iter();
    let moved = best.iter().zip(step.col(0)).map(|(b, s)| b + s);
    let vector = moved.zip(bounds).map(|(x, (lo, hi))| x.clamp(*lo, *hi));
    (vector.collect(), half_square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;
    use crate::fit::{Space, fit};
    use crate::kernel::Matern52;
    use crate::points::Points;
    use crate::warp::Log;

    /// Twelve values of a smooth ln f on a line.
    fn fitted() -> (Process, Data, Fit) {
        let rows: Vec<Vec<f64>> = (0..12).map(|i| vec![0.3 * f64::from(i)]).collect();
        let values = rows.iter().map(|x| Value::Log((2.0 * x[0]).sin() - x[0]));
        let data = Data::new(Points::from_rows(&rows).unwrap(), values.collect()).unwrap();
        let how = Fit {
            space: Space::G,
            ..Fit::default()
        };
        let process = Process::new(Matern52, Theta::constant(0.0, 1.0, vec![1.0]).unwrap());
        let process = fit(&process, &Log, &data, &how).unwrap();
        (process, data, how)
    }

    #[test]
    fn draws_have_the_moments_of_the_likelihood() {
        let (process, data, how) = fitted();
        let drawn = laplace(&process, &Log, &data, &how, 4000, &mut Rng::new(1)).unwrap();
        let total: f64 = drawn.iter().map(|(_, w)| w).sum();
        assert!((total - 1.0).abs() < 1e-12);
        let ln_length = |theta: &Theta| theta.length_scales[0].ln();
        let mean: f64 = drawn.iter().map(|(t, w)| w * ln_length(t)).sum();
        let square: f64 = drawn.iter().map(|(t, w)| w * ln_length(t).powi(2)).sum();
        // The same by a grid over all three numbers, wide enough for 6 sd on either side.
        let g = data.g(&Log).unwrap();
        let parameters = Parameters::new(&process, data.points(), &g, &Log, &how).unwrap();
        let kernel = process.kernel().clone();
        let warp = &crate::warp::Identity;
        let mut objective = Objective::new(kernel, warp, data.points(), &g, &parameters);
        let best = parameters.vector(process.theta());
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        let least = objective.evaluate(&best, &mut [0.0; 3]);
        for i in -24..=24 {
            for j in -24..=24 {
                for k in -24..=24 {
                    let x = [
                        best[0] + 0.4 * f64::from(i),
                        best[1] + 0.2 * f64::from(j),
                        best[2] + 0.06 * f64::from(k),
                    ];
                    let w = (least - objective.evaluate(&x, &mut [0.0; 3])).exp();
                    sum += w;
                    first += w * x[2];
                    second += w * x[2] * x[2];
                }
            }
        }
        let (exact, sd) = (first / sum, (second / sum - (first / sum).powi(2)).sqrt());
        // The law is skewed, which no cut weights make up for wholly.
        assert!((mean - exact).abs() < 0.4 * sd, "{mean} {exact} {sd}");
        let own = (square - mean * mean).sqrt();
        assert!((own / sd - 1.0).abs() < 0.3, "{own} {sd}");
    }

    #[test]
    fn no_curvature_is_cut_at_the_widest() {
        // Two points say nothing of a length scale.
        let points = Points::from_rows(&[vec![0.0], vec![1.0]]).unwrap();
        let data = Data::new(points, vec![Value::Log(0.0), Value::Log(-1.0)]).unwrap();
        let process = Process::new(Matern52, Theta::constant(-0.5, 1.0, vec![0.5]).unwrap());
        let drawn = laplace(&process, &Log, &data, &Fit::default(), 50, &mut Rng::new(1)).unwrap();
        assert!(
            drawn
                .iter()
                .all(|(theta, w)| theta.check().is_ok() && w.is_finite())
        );
    }
}

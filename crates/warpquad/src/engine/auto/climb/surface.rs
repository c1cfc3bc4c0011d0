//! Fit a surface to the observations around the best one, and find its top.
//!
//! The surface is a quadratic, and further quadratics that grow exponentially along one parameter.
//! With the logarithm of its noise a likelihood of normal errors is exactly of that form, and so is
//! a Poisson likelihood along its intercept. A quadratic alone knows neither.

use crate::numeric::linalg::{Cholesky, Mat};
use crate::numeric::loops::dot;
use crate::numeric::random::Rng;

/// A quadratic grows along one parameter: by so many e-folds for each unit of its coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tilt {
    /// The parameter.
    pub axis: usize,
    /// The rate.
    pub rate: f64,
}

/// A surface of ln f + ln pi around the best observation, in units of its own: the drop from the
/// best at the point center + unit y.
#[derive(Debug, Clone)]
pub(super) struct Surface {
    center: Vec<f64>,
    top: f64,
    /// The unit of each coordinate.
    unit: Vec<f64>,
    /// How far the observations near the best are from it, in steps.
    spread: f64,
    /// The observations, in units, and the weight of the kernel at each.
    y: Vec<Vec<f64>>,
    weights: Vec<f64>,
    /// The tilts, with rates in units.
    tilts: Vec<Tilt>,
    /// The tilts, by their number among those that were offered.
    chosen: Vec<usize>,
    /// The variance of the kernel, and what is needed for that of the surface.
    amplitude: f64,
    factor: Cholesky,
    scale: Vec<f64>,
    /// The part of a drop that the surface does not explain.
    pub unexplained: f64,
}

/// The way to the top of a surface within a radius.
#[derive(Debug, Clone)]
pub(super) struct Ascent {
    /// The place of the top, in the surface's units.
    pub step: Vec<f64>,
    /// What it promises, in nats.
    pub gain: f64,
    /// Whether the top lies inside the radius.
    pub is_inside: bool,
}

/// The parts of a drop that may be left unexplained; the evidence decides.
const UNEXPLAINED: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5];
/// The sd of a coefficient, in units of a typical drop; the evidence decides.
const AMPLITUDES: [f64; 3] = [1.0, 10.0, 100.0];
/// Observations that fell by more than so many times a typical drop are of another landscape.
const FARTHEST: f64 = 1e4;
/// Typical is what so many of the best observations for each parameter have.
const TYPICAL_PER_DIMENSION: usize = 2;
/// ... of those that are at least so far below it.
const LEAST_DROP_NATS: f64 = 0.01;
/// No more observations than this, and than so many times the coefficients of a quadratic.
const MOST_OBSERVATIONS: usize = 150;
const OBSERVATIONS_PER_COEFFICIENT: usize = 3;
/// A surface that leaves more of a drop unexplained does not know where the top is.
const DETERMINED: f64 = 0.1;
/// Where the surface has fallen by so many nats, its sd must be no more than this part of that.
const FALL_NATS: f64 = 2.0;
const KNOWN_PART: f64 = 0.3;
/// The square of the weight of the constant, in units of that of the other features.
const CONSTANT: f64 = 1.1;
/// Beside a tilted quadratic, one that is not tilted has this part of its variance.
const UNTILTED: f64 = 1e-3;
/// Tilts must gain this much evidence, in nats, to be taken.
const WORTH_NATS: f64 = 1.0;
/// No more tilts than this.
const MOST_TILTS: usize = 3;
/// Logarithms of a tilt stay between these.
const LN_TILT: [f64; 2] = [-50.0, 30.0];
/// Added to the unit diagonal of scaled covariances.
const JITTER: f64 = 1e-13;
/// Local quadratics on the way to a top.
const MOST_STEPS: usize = 12;

/// What the evidence was best for.
struct Fit {
    evidence: f64,
    amplitude: f64,
    part: f64,
    factor: Cholesky,
    scale: Vec<f64>,
    whitened: Vec<f64>,
}

/// Observations near the best, and what a surface may be made of.
struct Selection {
    y: Vec<Vec<f64>>,
    drops: Vec<f64>,
    typical: f64,
    noise_nats: f64,
    offered: Vec<Tilt>,
    /// 1.1 + y y' of all pairs.
    products: Mat,
    /// The growth of each offered tilt at each observation.
    growths: Vec<Vec<f64>>,
}

fn growth(tilt: &Tilt, y: &[f64]) -> f64 {
    (tilt.rate * y[tilt.axis])
        .clamp(LN_TILT[0], LN_TILT[1])
        .exp()
}

/// The covariance of the surface at two points, in units of its variance, from the product
/// 1.1 + y y', the growths of the tilts and the products along their axes.
fn covariance(product: f64, tilts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut tilted, mut plain, mut any) = (0.0, product, false);
    for (growths, along) in tilts {
        tilted += growths;
        plain += along * along;
        any = true;
    }
    match any {
        true => plain + (UNTILTED + tilted) * product * product,
        false => product * product,
    }
}

impl Selection {
    fn gram(&self, chosen: &[usize]) -> Mat {
        let n = self.y.len();
        Mat::from_fn(n, n, |i, j| {
            let tilts = chosen.iter().map(|&k| {
                let axis = self.offered[k].axis;
                let growths = self.growths[k][i] * self.growths[k][j];
                (growths, self.y[i][axis] * self.y[j][axis])
            });
            covariance(self.products[(i, j)], tilts)
        })
    }

    fn fit(&self, gram: &Mat, amplitude: f64, part: f64) -> Option<Fit> {
        let n = self.y.len();
        let variance = (amplitude * self.typical).powi(2);
        let noise = |i: usize| {
            let terms = [part * self.typical, part * self.drops[i], self.noise_nats];
            dot(&terms, &terms)
        };
        let scale: Vec<f64> = (0..n)
            .map(|i| (variance * gram[(i, i)] + noise(i)).sqrt())
            .collect();
        let scaled = Mat::from_fn(n, n, |i, j| match i == j {
            true => 1.0 + JITTER,
            false => variance * gram[(i, j)] / scale[i] / scale[j],
        });
        let factor = Cholesky::new(scaled)?;
        let mut whitened: Vec<f64> = (0..n).map(|i| -self.drops[i] / scale[i]).collect();
        factor.solve_lower_vec(&mut whitened);
        let ln_scales: f64 = scale.iter().map(|s| s.ln()).sum();
        let evidence = -0.5 * dot(&whitened, &whitened) - 0.5 * factor.ln_det() - ln_scales;
        evidence.is_finite().then_some(Fit {
            evidence,
            amplitude,
            part,
            factor,
            scale,
            whitened,
        })
    }

    /// The fit with the largest evidence over these amplitudes and unexplained parts.
    fn best_fit(&self, gram: &Mat, amplitudes: &[f64], parts: &[f64]) -> Option<Fit> {
        let pairs = amplitudes
            .iter()
            .flat_map(|a| parts.iter().map(move |p| (*a, *p)));
        let fits = pairs.filter_map(|(amplitude, part)| self.fit(gram, amplitude, part));
        fits.max_by(|a, b| a.evidence.total_cmp(&b.evidence))
    }

    /// Take or leave tilts, one at a time, while the evidence rises.
    fn select(&self, mut chosen: Vec<usize>, mut best: Fit) -> (Vec<usize>, Fit) {
        for _ in 0..MOST_TILTS {
            let parts = [best.part, (0.1 * best.part).max(UNEXPLAINED[0])];
            let mut found: Option<(Fit, Vec<usize>)> = None;
            for k in 0..self.offered.len() {
                let mut trial: Vec<usize> = chosen.clone();
                match trial.iter().position(|&known| known == k) {
                    Some(place) => drop(trial.remove(place)),
                    None => {
                        trial.retain(|&other| self.offered[other].axis != self.offered[k].axis);
                        trial.push(k);
                    }
                }
                let gram = self.gram(&trial);
                let least = found
                    .as_ref()
                    .map_or(best.evidence + WORTH_NATS, |f| f.0.evidence);
                if let Some(fit) = self.best_fit(&gram, &[best.amplitude], &parts)
                    && fit.evidence > least
                {
                    found = Some((fit, trial));
                }
            }
            match found {
                Some((fit, trial)) => (best, chosen) = (fit, trial),
                None => break,
            }
        }
        let gram = self.gram(&chosen);
        let again = self.best_fit(&gram, &AMPLITUDES, &UNEXPLAINED);
        let better = again.filter(|fit| fit.evidence > best.evidence);
        (chosen, better.unwrap_or(best))
    }
}

impl Surface {
    /// The surface that the evidence is best for: its tilts, how much of a drop it leaves
    /// unexplained, and how large its coefficients are, are chosen. `steps` are lengths of the
    /// parameters, as far as they are known, `offered` the tilts that are possible and `chosen`
    /// those that were taken before, which are looked at again if `looks` says so. Observations
    /// carry noise of this sd. `None` where nothing can be fitted.
    pub fn fit(
        (points, values): (&[Vec<f64>], &[f64]),
        steps: &[Option<f64>],
        (offered, chosen, looks): (&[Tilt], &[usize], bool),
        noise_nats: f64,
    ) -> Option<Surface> {
        let d = steps.len();
        let best = (0..values.len()).fold(0, |b, i| if values[i] > values[b] { i } else { b });
        let (center, top) = (points.get(best)?.clone(), *values.get(best)?);
        let mut order: Vec<usize> = (0..values.len())
            .filter(|&i| values[i].is_finite())
            .collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        // Observations at the very top say nothing of how wide it is.
        let mut near = order.clone();
        near.retain(|&i| top - values[i] >= LEAST_DROP_NATS);
        if near.is_empty() {
            near.clone_from(&order);
        }
        near.truncate(TYPICAL_PER_DIMENSION * (d + 1));
        let count = near.len();
        if count == 0 {
            return None;
        }
        // A parameter without a step is in units of its spread among the best.
        let spread = |j: usize| {
            let squares = near.iter().map(|&i| (points[i][j] - center[j]).powi(2));
            let spread = (squares.sum::<f64>() / count as f64).sqrt();
            if spread > 0.0 { spread } else { 1.0 }
        };
        let steps: Vec<f64> = (0..d)
            .map(|j| steps[j].unwrap_or_else(|| spread(j)))
            .collect();
        let scaled = |i: usize| -> Vec<f64> {
            let apart = points[i].iter().zip(&center).zip(&steps);
            apart.map(|((z, c), s)| (z - c) / s).collect()
        };
        let drop_of = |i: usize| top - values[i];
        let far_of = |i: usize| {
            let y = scaled(i);
            dot(&y, &y).sqrt()
        };
        let typical = median(near.iter().map(|&i| drop_of(i)).collect()).max(0.5);
        let spread = median(near.iter().map(|&i| far_of(i)).collect()).max(1e-9);
        let distance = |i: usize| drop_of(i) / typical + (far_of(i) / spread).powi(2);
        let mut keyed: Vec<(f64, usize)> = order.iter().map(|&i| (distance(i), i)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let coefficients = (d + 1) * (d + 2) / 2;
        let most = OBSERVATIONS_PER_COEFFICIENT * coefficients + 2 * d;
        keyed.truncate(most.min(MOST_OBSERVATIONS.max(coefficients + 2 * d)));
        keyed.retain(|&(_, i)| drop_of(i) <= FARTHEST * typical);
        let unit: Vec<f64> = steps.iter().map(|s| s * spread).collect();
        let y: Vec<Vec<f64>> = keyed
            .iter()
            .map(|&(_, i)| scaled(i).iter().map(|y| y / spread).collect())
            .collect();
        let offered: Vec<Tilt> = offered
            .iter()
            .map(|tilt| Tilt {
                axis: tilt.axis,
                rate: tilt.rate * unit[tilt.axis],
            })
            .collect();
        let selection = Selection {
            drops: keyed.iter().map(|&(_, i)| drop_of(i)).collect(),
            typical,
            noise_nats,
            products: Mat::from_fn(y.len(), y.len(), |i, j| CONSTANT + dot(&y[i], &y[j])),
            growths: offered
                .iter()
                .map(|tilt| y.iter().map(|y| growth(tilt, y)).collect())
                .collect(),
            offered,
            y,
        };
        let gram = selection.gram(chosen);
        let fit = selection.best_fit(&gram, &AMPLITUDES, &UNEXPLAINED)?;
        let (chosen, fit) = match looks {
            true => selection.select(chosen.to_vec(), fit),
            false => (chosen.to_vec(), fit),
        };
        let amplitude = (fit.amplitude * typical).powi(2);
        let mut weights = fit.whitened;
        fit.factor.solve_lower_transposed_vec(&mut weights);
        for (w, s) in weights.iter_mut().zip(&fit.scale) {
            *w *= amplitude / s;
        }
        Some(Surface {
            center,
            top,
            unit,
            spread,
            tilts: chosen.iter().map(|&k| selection.offered[k]).collect(),
            chosen,
            y: selection.y,
            weights,
            amplitude,
            factor: fit.factor,
            scale: fit.scale,
            unexplained: fit.part,
        })
    }

    /// The best value that it was fitted to.
    pub fn top(&self) -> f64 {
        self.top
    }

    /// The tilts that were taken, by their number.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Whether it explains what the observations show, and they tell how it falls off along each
    /// axis of its curvature. Observations that lie too near to each other do not.
    pub fn is_determined(&self) -> bool {
        let d = self.unit.len();
        if self.y.len() < (d + 1) * (d + 2) / 2 || self.unexplained > DETERMINED {
            return false;
        }
        let (_, _, hessian) = self.local(&vec![0.0; d]);
        let Some((curvatures, axes)) = hessian.symmetric_eigen() else {
            return false;
        };
        let is_known = |k: usize| {
            let reach = (2.0 * FALL_NATS / -curvatures[k]).sqrt();
            let y: Vec<f64> = axes.col(k).iter().map(|a| reach * a).collect();
            curvatures[k] < 0.0 && self.at(&y).1 < KNOWN_PART * FALL_NATS
        };
        (0..d).all(is_known)
    }

    /// Covariances with the observations, in units of the variance.
    fn cross(&self, y: &[f64]) -> Vec<f64> {
        let own: Vec<f64> = self.tilts.iter().map(|tilt| growth(tilt, y)).collect();
        let with = |other: &Vec<f64>| {
            let tilts = self.tilts.iter().zip(&own).map(|(tilt, own)| {
                let along = y[tilt.axis] * other[tilt.axis];
                (own * growth(tilt, other), along)
            });
            covariance(CONSTANT + dot(y, other), tilts)
        };
        self.y.iter().map(with).collect()
    }

    /// The mean and sd of the surface at a point, in its units.
    pub fn at(&self, y: &[f64]) -> (f64, f64) {
        let cross = self.cross(y);
        let own = self.tilts.iter().map(|tilt| {
            let grown = growth(tilt, y);
            (grown * grown, y[tilt.axis] * y[tilt.axis])
        });
        let variance = self.amplitude * covariance(CONSTANT + dot(y, y), own);
        let mut solved: Vec<f64> = cross
            .iter()
            .zip(&self.scale)
            .map(|(c, s)| self.amplitude * c / s)
            .collect();
        self.factor.solve_lower_vec(&mut solved);
        let left = variance - dot(&solved, &solved);
        (dot(&cross, &self.weights), left.max(0.0).sqrt())
    }

    /// The mean at a point, its slope and its curvature.
    fn local(&self, y: &[f64]) -> (f64, Vec<f64>, Mat) {
        let d = y.len();
        let (mut value, mut slope, mut hessian) = (0.0, vec![0.0; d], Mat::zeros(d, d));
        let plain = if self.tilts.is_empty() { 1.0 } else { UNTILTED };
        for (other, weight) in self.y.iter().zip(&self.weights) {
            let product = CONSTANT + dot(y, other);
            let mut grown = plain;
            for tilt in &self.tilts {
                let growths = growth(tilt, y) * growth(tilt, other);
                grown += growths;
                // The slope of the growth, and its curvature, along the axis.
                let axis = tilt.axis;
                let first = weight * growths * tilt.rate;
                slope[axis] += first * product * product;
                hessian[(axis, axis)] += first * tilt.rate * product * product;
                for i in 0..d {
                    let mixed = first * 2.0 * product * other[i];
                    hessian[(i, axis)] += mixed;
                    hessian[(axis, i)] += mixed;
                }
                // The quadratic along the axis that is not tilted.
                let along = weight * other[axis] * other[axis];
                value += along * y[axis] * y[axis];
                slope[axis] += 2.0 * along * y[axis];
                hessian[(axis, axis)] += 2.0 * along;
            }
            let squared = weight * grown;
            value += squared * product * product;
            for i in 0..d {
                slope[i] += 2.0 * squared * product * other[i];
                for j in 0..d {
                    hessian[(i, j)] += 2.0 * squared * other[i] * other[j];
                }
            }
            if !self.tilts.is_empty() {
                value += weight * product;
                slope
                    .iter_mut()
                    .zip(other)
                    .for_each(|(s, o)| *s += weight * o);
            }
        }
        (value, slope, hessian)
    }

    /// The way to the top within a radius in steps: the top of the local quadratic, again and
    /// again.
    pub fn ascent(&self, radius: f64) -> Option<Ascent> {
        let (radius, d) = (radius / self.spread, self.unit.len());
        let mut step = vec![0.0; d];
        let (start, mut slope, mut hessian) = self.local(&step);
        let (mut value, mut trusted) = (start, radius);
        for _ in 0..MOST_STEPS {
            let turned = local_top(&slope, &hessian, trusted)?;
            let mut next: Vec<f64> = step.iter().zip(&turned).map(|(a, b)| a + b).collect();
            let length = dot(&next, &next).sqrt();
            if length > radius {
                next.iter_mut().for_each(|y| *y *= radius / length);
            }
            let (at, next_slope, next_hessian) = self.local(&next);
            if at > value + 1e-9 {
                let gain = at - value;
                (step, value, slope, hessian) = (next, at, next_slope, next_hessian);
                if gain < 0.01 {
                    break;
                }
            } else {
                trusted *= 0.4;
                if trusted < 1e-3 * radius {
                    break;
                }
            }
        }
        let gain = value - start;
        let is_inside = dot(&step, &step).sqrt() < 0.99 * radius;
        (gain.is_finite() && step.iter().all(|s| s.is_finite())).then_some(Ascent {
            step,
            gain,
            is_inside,
        })
    }

    /// The point after a step.
    pub fn point(&self, step: &[f64]) -> Vec<f64> {
        let terms = self.center.iter().zip(&self.unit).zip(step);
        terms.map(|((c, u), s)| c + u * s).collect()
    }

    /// How long steps are in its units.
    pub fn step_length(&self) -> f64 {
        1.0 / self.spread
    }

    /// The step along each parameter after which the surface has fallen by so much from a top at
    /// the best observation; `None` where that is not known.
    pub fn reaches(&self, drop_nats: f64) -> Vec<Option<f64>> {
        let d = self.unit.len();
        let (_, _, hessian) = self.local(&vec![0.0; d]);
        let reach = |i: usize| {
            let mut y = vec![0.0; d];
            y[i] = (2.0 * drop_nats / -hessian[(i, i)]).sqrt();
            let known = y[i].is_finite() && self.at(&y).1 < KNOWN_PART * drop_nats;
            known.then(|| self.unit[i] * y[i])
        };
        (0..d).map(reach).collect()
    }

    /// The variances that the curvature implies along its axes, with no sd beyond `most` steps.
    fn variances(&self, most: f64) -> Option<(Vec<f64>, Mat)> {
        let (_, _, hessian) = self.local(&vec![0.0; self.unit.len()]);
        let (curvatures, axes) = hessian.symmetric_eigen()?;
        let most = most / self.spread;
        let variance = |c: &f64| match *c < 0.0 {
            true => (-1.0 / c).min(most * most),
            false => most * most,
        };
        Some((curvatures.iter().map(variance).collect(), axes))
    }

    /// A draw from the normal law that the curvature implies about the best observation, with the
    /// same limit.
    pub fn draw(&self, most: f64, rng: &mut Rng) -> Option<Vec<f64>> {
        let (variances, axes) = self.variances(most)?;
        let along: Vec<f64> = variances.iter().map(|v| v.sqrt() * rng.normal()).collect();
        Some(self.point(&axes.mul_vec(&along)))
    }

    /// The covariance that the curvature implies, with no sd beyond `most` steps along any axis of
    /// the curvature.
    pub fn covariance(&self, most: f64) -> Option<Mat> {
        let d = self.unit.len();
        let (variances, axes) = self.variances(most)?;
        Some(Mat::from_fn(d, d, |i, j| {
            let sum = |k: usize| variances[k] * axes[(i, k)] * axes[(j, k)];
            self.unit[i] * self.unit[j] * (0..d).map(sum).sum::<f64>()
        }))
    }
}

/// The step to the top of a quadratic within a radius.
fn local_top(slope: &[f64], hessian: &Mat, radius: f64) -> Option<Vec<f64>> {
    let d = slope.len();
    let (curvatures, axes) = hessian.symmetric_eigen()?;
    let slope: Vec<f64> = (0..d).map(|k| dot(axes.col(k), slope)).collect();
    let along = |shift: f64| -> Vec<f64> {
        let pairs = slope.iter().zip(&curvatures);
        pairs.map(|(s, c)| s / (shift - c)).collect()
    };
    let length = |t: &[f64]| dot(t, t).sqrt();
    let concave = curvatures.iter().all(|c| *c < -1e-12);
    let turned = match concave && length(&along(0.0)) <= radius {
        true => along(0.0),
        false => {
            let highest = curvatures[d - 1].max(0.0);
            let size = highest.abs().max(curvatures[0].abs()) + length(&slope) / radius;
            let (mut low, mut high) = (highest, highest + 2.0 * size + 1e-12);
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                match length(&along(middle)) > radius {
                    true => low = middle,
                    false => high = middle,
                }
            }
            along(high)
        }
    };
    let mut step = vec![0.0; d];
    for (k, t) in turned.iter().enumerate() {
        step.iter_mut()
            .zip(axes.col(k))
            .for_each(|(s, a)| *s += t * a);
    }
    Some(step)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The surface of a function at its values around 0, and the function.
    fn fitted(f: impl Fn(&[f64]) -> f64, n: usize, offered: &[Tilt]) -> Surface {
        let mut rng = Rng::new(3);
        let points: Vec<Vec<f64>> = (0..n)
            .map(|_| (0..3).map(|_| rng.normal()).collect())
            .collect();
        let values: Vec<f64> = points.iter().map(|z| f(z)).collect();
        let steps = [Some(1.0); 3];
        Surface::fit((&points, &values), &steps, (offered, &[], true), 0.0).unwrap()
    }

    /// The top that a surface promises, in the coordinates of the points.
    fn top_of(surface: &Surface) -> Vec<f64> {
        surface.point(&surface.ascent(100.0).unwrap().step)
    }

    #[test]
    fn a_quadratic_is_known_exactly_from_as_many_values_as_coefficients() {
        let f = |z: &[f64]| {
            let (a, b, c) = (z[0] - 3.0, z[1] + 1.0, z[2] - 0.5);
            -4.0 * a * a - 0.3 * b * b - c * c + 2.0 * a * b
        };
        let surface = fitted(f, 14, &[]);
        assert!(surface.is_determined());
        for (found, exact) in top_of(&surface).iter().zip([3.0, -1.0, 0.5]) {
            assert!((found - exact).abs() < 1e-3, "{found} {exact}");
        }
    }

    #[test]
    fn a_noise_that_is_not_known_is_a_tilt() {
        // A regression on two columns, with the logarithm of its noise last.
        let f = |z: &[f64]| {
            let square = 1.0 + (z[0] - 4.0).powi(2) + 3.0 * (z[1] + 2.0 - 0.5 * z[0]).powi(2);
            -20.0 * (z[2] + 0.5 * square * (-2.0 * z[2]).exp())
        };
        let offered = [-2.0, -1.0, 1.0].map(|rate| Tilt { axis: 2, rate });
        let tilted = fitted(f, 24, &offered);
        assert_eq!(tilted.chosen(), [0]);
        for (found, exact) in top_of(&tilted).iter().zip([4.0, 0.0, 0.0]) {
            assert!((found - exact).abs() < 0.02, "{found} {exact}");
        }
    }

    #[test]
    fn the_slope_and_the_curvature_are_those_of_the_mean() {
        let f = |z: &[f64]| -(z[0].exp()) + z[0] * z[1] - z[1] * z[1] - z[2] * z[2];
        let surface = fitted(f, 20, &[Tilt { axis: 0, rate: 1.0 }]);
        let (y, h) = ([0.2, -0.1, 0.3], 1e-4);
        let (value, slope, hessian) = surface.local(&y);
        assert!((value - surface.at(&y).0).abs() < 1e-6 * value.abs());
        for i in 0..3 {
            let moved = |by: f64| {
                let mut moved = y;
                moved[i] += by;
                surface.local(&moved)
            };
            let (up, down) = (moved(h), moved(-h));
            let by_differences = (up.0 - down.0) / (2.0 * h);
            assert!((slope[i] - by_differences).abs() < 1e-4 * (1.0 + slope[i].abs()));
            for j in 0..3 {
                let by_differences = (up.1[j] - down.1[j]) / (2.0 * h);
                let exact = hessian[(i, j)];
                assert!((exact - by_differences).abs() < 1e-4 * (1.0 + exact.abs()));
            }
        }
    }

    #[test]
    fn it_is_least_sure_where_nothing_was_seen() {
        let surface = fitted(|z| -dot(z, z), 6, &[]);
        let far = surface.at(&[3.0, 3.0, -3.0]).1;
        let near = surface.at(&surface.y[0]).1;
        assert!(near < 0.01 * far, "{near} {far}");
    }
}

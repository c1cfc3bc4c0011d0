//! Turn values with noise on f into observations of g with variances of their own.
//!
//! ln N(y; xi(g), v) is expanded about the mode m of p(g | D): with slope xi'(m), an observation of
//! g of variance N = v / xi'(m)^2 at m + (y - xi(m)) / xi'(m) has the same slope in g there. The
//! mode is where this repeats itself (Gauss and Newton's steps, halved until ln p rises).
//!
//! A value on an end of the range says that f + noise lies at it or beyond: with z = (end - f) / sd
//! at the lower end, Phi(z) takes the place of the density.

use crate::belief::Process;
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::numeric::special::{ln_normal_cdf, ln_normal_pdf};
use crate::points::Points;
use crate::warp::{Range, Warp};

/// Observations of g that stand for the values.
#[derive(Debug, Clone)]
pub(super) struct Sites {
    /// Where g seems to be.
    pub g: Vec<f64>,
    /// With which variance.
    pub noise: Vec<f64>,
    /// ln |xi'| there.
    pub ln_slopes: Vec<f64>,
}

/// Where xi is flat a value says hardly anything: a variance beyond so many times that of the
/// process is as good as infinite, and matrices stay well conditioned.
const LARGEST_NOISE: f64 = 1e4;
/// A first guess of g is so many sds of the noise, or this part of the range, from the ends.
const INSET_SDS: f64 = 1.0;
const INSET_PART: f64 = 1e-3;
const STEPS: usize = 100;
const HALVINGS: usize = 30;
/// The mode has settled when no g moves by more, in sds of the process.
const TOLERANCE: f64 = 1e-9;

/// The sites at a first guess: xi^-1 of the values, moved off the ends of the range.
pub(super) fn first(warp: &dyn Warp, y: &[f64], variances: &[f64]) -> Sites {
    let guess = guess(warp, y, variances);
    expand(warp, y, variances, &guess, f64::INFINITY)
}

/// The sites at the mode of p(g | y).
pub(super) fn settled(
    process: &Process,
    warp: &dyn Warp,
    x: &Points,
    y: &[f64],
    variances: &[f64],
) -> Result<Sites> {
    let most = LARGEST_NOISE * process.theta().output_scale;
    let means = process.means(x);
    let sd = process.theta().output_scale.sqrt();
    // ln p(g | y) at g = mu + Sigma a, but for constants.
    let height = |g: &[f64], a: &[f64]| {
        let away: Vec<f64> = g.iter().zip(&means).map(|(g, mu)| g - mu).collect();
        let values = y.iter().zip(g).zip(variances);
        let fit: f64 = values
            .map(|((&y, &g), &v)| said(warp.range(), y, warp.forward(g), v).height)
            .sum();
        fit - 0.5 * dot(&away, a)
    };
    let mut g = guess(warp, y, variances);
    let mut at: Option<(Vec<f64>, f64)> = None;
    for _ in 0..STEPS {
        let sites = expand(warp, y, variances, &g, most);
        let posterior = process.condition_noisy(x, &sites.g, &sites.noise)?;
        let (next, weights) = (posterior.means(x)?, posterior.weights().to_vec());
        let Some((a, now)) = &at else {
            // The first guess is no draw of the process, so there is nothing to compare with.
            let reached = height(&next, &weights);
            (g, at) = (next, Some((weights, reached)));
            continue;
        };
        let between = |from: &[f64], to: &[f64], t: f64| -> Vec<f64> {
            from.iter().zip(to).map(|(a, b)| a + t * (b - a)).collect()
        };
        let mut part = 1.0;
        let mut step = None;
        for _ in 0..HALVINGS {
            let (trial, trial_a) = (between(&g, &next, part), between(a, &weights, part));
            let reached = height(&trial, &trial_a);
            if reached >= *now {
                step = Some((trial, trial_a, reached));
                break;
            }
            part *= 0.5;
        }
        let Some((trial, trial_a, reached)) = step else {
            break;
        };
        let moves = g.iter().zip(&trial).map(|(a, b)| (a - b).abs());
        let most_moved = moves.fold(0.0, f64::max);
        (g, at) = (trial, Some((trial_a, reached)));
        if most_moved < TOLERANCE * sd {
            break;
        }
    }
    Ok(expand(warp, y, variances, &g, most))
}

fn guess(warp: &dyn Warp, y: &[f64], variances: &[f64]) -> Vec<f64> {
    let range = warp.range();
    let low = y.iter().copied().fold(f64::INFINITY, f64::min);
    let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = if (range.hi - range.lo).is_finite() {
        range.hi - range.lo
    } else {
        high - low
    };
    let pairs = y.iter().zip(variances);
    pairs
        .map(|(&y, v)| {
            let inset = (INSET_SDS * v.sqrt()).clamp(INSET_PART * width, 0.25 * width);
            let inside = y.max(range.lo + inset).min(range.hi - inset);
            let g = warp.inverse(inside);
            if g.is_finite() { g } else { 0.0 }
        })
        .collect()
}

/// What a value says of f: the ln likelihood, its slope, and minus its second derivative.
struct Said {
    height: f64,
    slope: f64,
    bend: f64,
}

fn said(range: Range, y: f64, f: f64, v: f64) -> Said {
    let sd = v.sqrt();
    // Towards the end is up.
    let up = match y {
        y if y == range.lo => -1.0,
        y if y == range.hi => 1.0,
        _ => {
            return Said {
                height: -0.5 * (y - f).powi(2) / v,
                slope: (y - f) / v,
                bend: 1.0 / v,
            };
        }
    };
    let z = up * (f - y) / sd;
    let (hazard, bend) = hazard(z);
    Said {
        height: ln_normal_cdf(z),
        slope: up * hazard / sd,
        bend: bend / v,
    }
}

/// So far out the differences below would be rounding, and Mills' ratio has its series.
const FAR_SDS: f64 = 50.0;

/// The slope of ln Phi(z), h = phi(z)/Phi(z), and minus its second derivative, h (h + z).
fn hazard(z: f64) -> (f64, f64) {
    if z < -FAR_SDS {
        let w = z.powi(-2);
        return (-z * (1.0 + w - 2.0 * w * w), 1.0 - w + 6.0 * w * w);
    }
    let hazard = (ln_normal_pdf(z) - ln_normal_cdf(z)).exp();
    (hazard, hazard * (hazard + z))
}

/// The sites of an expansion about g.
fn expand(warp: &dyn Warp, y: &[f64], variances: &[f64], g: &[f64], most: f64) -> Sites {
    let mut sites = Sites {
        g: Vec::with_capacity(y.len()),
        noise: Vec::with_capacity(y.len()),
        ln_slopes: Vec::with_capacity(y.len()),
    };
    for ((&y, &v), &g) in y.iter().zip(variances).zip(g) {
        let local = warp.local(g);
        let slope = local.ln_unit.exp() * local.slope;
        let said = said(warp.range(), y, warp.forward(g), v);
        let noise = (1.0 / (slope * slope * said.bend)).min(most);
        let push = slope * said.slope;
        sites.g.push(g + noise * push);
        sites.noise.push(noise);
        sites.ln_slopes.push(local.ln_unit + local.slope.abs().ln());
    }
    sites
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Belief, Theta};
    use crate::kernel::Matern52;
    use crate::warp::{Identity, Probit};

    fn process() -> Process {
        Process::new(Matern52, Theta::constant(0.2, 2.0, vec![0.7]).unwrap())
    }

    fn line(n: usize) -> Points {
        let rows: Vec<Vec<f64>> = (0..n).map(|i| vec![0.3 * i as f64]).collect();
        Points::from_rows(&rows).unwrap()
    }

    #[test]
    fn under_the_identity_sites_are_the_values() {
        let (x, y, v) = (line(3), [0.5, -1.0, 2.0], [0.1, 0.2, 0.3]);
        let sites = settled(&process(), &Identity, &x, &y, &v).unwrap();
        for i in 0..3 {
            assert!((sites.g[i] - y[i]).abs() < 1e-12 && (sites.noise[i] - v[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn the_mode_is_the_highest_point() {
        let (x, y) = (line(5), [1.0, 1.0, 0.3, 0.0, 0.02]);
        let v = [1e-3; 5];
        let process = process();
        let sites = settled(&process, &Probit, &x, &y, &v).unwrap();
        let posterior = process.condition_noisy(&x, &sites.g, &sites.noise).unwrap();
        let mode = posterior.means(&x).unwrap();
        // ln p(g | y) by the prior's own matrix.
        let height = |g: &[f64]| {
            let away: Vec<f64> = g.iter().map(|g| g - 0.2).collect();
            let prior = process.condition(&x, g).unwrap();
            let f = |i: usize| Probit.forward(g[i]);
            let inside: f64 = (2..5)
                .filter(|i| y[*i] > 0.0)
                .map(|i| (y[i] - f(i)).powi(2) / v[i])
                .sum();
            let ends = ln_normal_cdf((f(0) - 1.0) / v[0].sqrt())
                + ln_normal_cdf((f(1) - 1.0) / v[1].sqrt())
                + ln_normal_cdf(-f(3) / v[3].sqrt());
            ends - 0.5 * (dot(&away, prior.weights()) + inside)
        };
        let top = height(&mode);
        for i in 0..5 {
            for step in [-1e-2, 1e-2] {
                let mut moved = mode.clone();
                moved[i] += step;
                assert!(height(&moved) < top, "{i} {step}");
            }
        }
        assert!(posterior.moments(&x).unwrap().var.iter().all(|s| *s > 0.0));
    }

    #[test]
    fn what_a_value_says_has_its_own_slope_and_bend() {
        for y in [0.0, 0.4, 1.0] {
            let (f, v, h) = (0.93, 0.02, 1e-4);
            let [a, b, c] = [f - h, f, f + h].map(|f| said(Range::UNIT, y, f, v));
            assert!(
                ((c.height - a.height) / (2.0 * h) - b.slope).abs() < 1e-4,
                "{y}"
            );
            assert!(
                ((c.slope - a.slope) / (2.0 * h) + b.bend).abs() < 1e-3 * b.bend,
                "{y}"
            );
        }
    }

    #[test]
    fn far_from_an_end_the_slope_is_that_of_a_square() {
        let (near, far) = (hazard(-FAR_SDS + 1e-9), hazard(-FAR_SDS - 1e-9));
        assert!((near.0 / far.0 - 1.0).abs() < 1e-8 && (near.1 / far.1 - 1.0).abs() < 1e-7);
        // Where noise is far less than the distance, rounding once made this negative.
        let (slope, bend) = hazard(-1e7);
        assert!((slope / 1e7 - 1.0).abs() < 1e-12 && (bend - 1.0).abs() < 1e-12);
    }

    #[test]
    fn where_xi_is_flat_a_value_says_little() {
        let sites = expand(&Probit, &[0.999], &[1e-4], &[7.0], 100.0);
        assert_eq!(sites.noise, [100.0]);
        assert!((sites.g[0] - 7.0).abs() < 1e-6);
    }
}

//! Lay theta out as the vector of free numbers that an optimiser moves, with bounds and starts.

use super::{Fit, LengthPrior, Space, Starts};
use crate::belief::{Effects, MeanFunction, Process, Theta};
use crate::error::{Result, same_length};
use crate::numeric::random::Rng;
use crate::points::Points;
use crate::warp::{Identity, Marginal, Warp};

/// Shortest and longest length scale, in units of the spread of the points.
const LENGTHS: (f64, f64) = (5e-3, 1e1);
/// Length scales that starts take, in units of the spread: within a mode, and across the domain.
const START_LENGTHS: [f64; 2] = [0.1, 0.5];
/// Smallest and largest output scale, in units of the squared range of g.
const OUTPUT_SCALES: (f64, f64) = (1e-8, 1e4);
/// Smallest and largest noise variance, in the same units.
const NOISES: (f64, f64) = (1e-12, 1.0);
/// The smallest and largest odds of main effects against the rest, and the limits of their stretch.
/// Beyond, one of the two parts is nothing.
const ODDS: (f64, f64) = (1e-3, 1e3);
const STRETCHES: (f64, f64) = (0.05, 20.0);
/// The sd of ln odds and of ln stretch under their priors, which are around 1. So a share or a
/// length that the data say nothing of stays.
const ODDS_SD: f64 = 3.0;
const STRETCH_SD: f64 = 1.0;

/// The free numbers: the mean's, ln output scale and ln length scales; then ln noise if it is
/// fitted, and ln odds and ln stretch if there are main effects.
#[derive(Debug, Clone)]
pub struct Parameters {
    template: Theta,
    fit_noise: bool,
    /// The variance that a noise on the data is compared with.
    noise_unit: Option<f64>,
    bounds: Vec<(f64, f64)>,
    /// A typical length in every dimension.
    spread: Vec<f64>,
    length_prior: Option<LengthPrior>,
    x_top: Vec<f64>,
    g_top: f64,
}

impl Parameters {
    /// The layout for this process's mean function, with bounds from the data. `x` is along the
    /// process's axes.
    pub fn new(
        process: &Process,
        x: &Points,
        g: &[f64],
        warp: &dyn Warp,
        how: &Fit,
    ) -> Result<Parameters> {
        let template = process.theta().clone();
        template.check()?;
        same_length("point", x.dim(), template.dim())?;
        let spread = match &how.scales {
            Some(scales) => {
                same_length("scales", scales.len(), x.dim())?;
                scales.clone()
            }
            None => spreads(x, &template),
        };
        let top = (0..g.len()).fold(0, |best, i| if g[i] > g[best] { i } else { best });
        let mut parameters = Parameters {
            fit_noise: how.fit_noise,
            noise_unit: how.own_noise.as_ref().map(|noise| noise.unit),
            bounds: Vec::new(),
            spread,
            length_prior: how.length_prior,
            x_top: x.row(top).to_vec(),
            g_top: g[top],
            template,
        };
        parameters.bounds = parameters.make_bounds(g, warp, how);
        Ok(parameters)
    }

    fn make_bounds(&self, g: &[f64], warp: &dyn Warp, how: &Fit) -> Vec<(f64, f64)> {
        let low = g.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.g_top;
        // A constant function has no range of its own; a thousandth of its level serves.
        let range = (high - low).max(1e-3 * high.abs()).max(1e-3);
        let limits = match how.space {
            Space::F if how.confined => warp.f_space_limits(g),
            _ => Identity.f_space_limits(g),
        };
        let mut bounds = vec![((low - 5.0 * range).max(limits.mu), high + 5.0 * range)];
        if let MeanFunction::Quadratic { .. } = self.template.mean {
            for (x, w) in self.x_top.iter().zip(&self.spread) {
                bounds.push((x - 2.0 * w, x + 2.0 * w));
            }
            let (lo, hi) = LENGTHS;
            bounds.extend(self.spread.iter().map(|w| ((w * lo).ln(), (w * hi).ln())));
        }
        let lowest = OUTPUT_SCALES.0 * range * range;
        let highest = (OUTPUT_SCALES.1 * range * range).min(limits.s);
        bounds.push((lowest.min(0.5 * highest).ln(), highest.ln()));
        let (lo, hi) = LENGTHS;
        bounds.extend(self.spread.iter().map(|w| ((w * lo).ln(), (w * hi).ln())));
        if self.fit_noise {
            let unit = self.noise_unit.unwrap_or(range * range);
            bounds.push(((NOISES.0 * unit).ln(), (NOISES.1 * unit).ln()));
        }
        if self.template.effects.is_some() {
            bounds.extend([ODDS, STRETCHES].map(|(lo, hi)| (lo.ln(), hi.ln())));
        }
        bounds
    }

    /// What stays as it is of theta, whatever the numbers are.
    pub(super) fn template(&self) -> &Theta {
        &self.template
    }

    /// A box for every number.
    pub fn bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }

    /// A small step for every number. It is a part of a factor e for scales, of a length for
    /// places, and of the sd of g for its mean.
    pub(super) fn steps(&self, part: f64) -> Vec<f64> {
        let mut out = vec![part; self.bounds.len()];
        out[0] *= self.template.output_scale.sqrt();
        if let MeanFunction::Quadratic { .. } = self.template.mean {
            for (step, w) in out[1..].iter_mut().zip(&self.spread) {
                *step *= w;
            }
        }
        out
    }

    fn dim(&self) -> usize {
        self.template.dim()
    }

    /// Where ln output scale stands; the mean's numbers are before it.
    pub(super) fn scale_index(&self) -> usize {
        match self.template.mean {
            MeanFunction::Constant(_) => 1,
            MeanFunction::Quadratic { .. } => 1 + 2 * self.dim(),
        }
    }

    /// Where ln noise stands, if it is fitted.
    pub(super) fn noise_index(&self) -> Option<usize> {
        self.fit_noise.then(|| self.scale_index() + 1 + self.dim())
    }

    /// Where ln odds of the main effects stand, ln stretch after it, if there are such.
    pub(super) fn effects_index(&self) -> Option<usize> {
        let after = self.scale_index() + 1 + self.dim() + usize::from(self.fit_noise);
        self.template.effects.map(|_| after)
    }

    /// The vector of a theta.
    pub fn vector(&self, theta: &Theta) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.bounds.len());
        match &theta.mean {
            MeanFunction::Constant(mean) => out.push(*mean),
            MeanFunction::Quadratic {
                peak,
                center,
                width,
            } => {
                out.push(*peak);
                out.extend(center);
                out.extend(width.iter().map(|w| w.ln()));
            }
        }
        out.push(theta.output_scale.ln());
        out.extend(theta.length_scales.iter().map(|l| l.ln()));
        if self.fit_noise {
            out.push(theta.noise.max(f64::MIN_POSITIVE).ln());
        }
        if let Some(Effects { share, stretch }) = theta.effects {
            out.extend([(share / (1.0 - share)).ln(), stretch.ln()]);
        }
        out
    }

    /// The theta of a vector.
    pub fn theta(&self, vector: &[f64]) -> Theta {
        let d = self.dim();
        let exp = |slice: &[f64]| slice.iter().map(|x| x.exp()).collect::<Vec<f64>>();
        let mean = match self.template.mean {
            MeanFunction::Constant(_) => MeanFunction::Constant(vector[0]),
            MeanFunction::Quadratic { .. } => MeanFunction::Quadratic {
                peak: vector[0],
                center: vector[1..=d].to_vec(),
                width: exp(&vector[1 + d..=2 * d]),
            },
        };
        let at = self.scale_index();
        Theta {
            mean,
            output_scale: vector[at].exp(),
            length_scales: exp(&vector[at + 1..=at + d]),
            noise: match self.noise_index() {
                Some(i) => vector[i].exp(),
                None => self.template.noise,
            },
            axes: self.template.axes.clone(),
            circles: self.template.circles.clone(),
            effects: self.effects_index().map(|i| Effects {
                share: 1.0 / (1.0 + (-vector[i]).exp()),
                stretch: vector[i + 1].exp(),
            }),
        }
    }

    /// Minus the ln density of the priors of theta, with its gradient added to `gradient`.
    pub(super) fn penalty(&self, vector: &[f64], gradient: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        let mut add = |i: usize, mean: f64, sd: f64| {
            let z = (vector[i] - mean) / sd;
            sum += 0.5 * z * z + sd.ln() + 0.5 * std::f64::consts::TAU.ln();
            gradient[i] += z / sd;
        };
        if let Some(LengthPrior { median, sd }) = self.length_prior {
            let first = self.scale_index() + 1;
            for (d, w) in self.spread.iter().enumerate() {
                add(first + d, (median * w).ln(), sd);
            }
        }
        if let Some(i) = self.effects_index() {
            add(i, 0.0, ODDS_SD);
            add(i + 1, 0.0, STRETCH_SD);
        }
        sum
    }

    fn start(&self, marginal: Marginal, length: f64) -> Theta {
        let mean = match self.template.mean {
            MeanFunction::Constant(_) => MeanFunction::Constant(marginal.mu),
            // A peak at the best observation that falls by the marginal's depth over the domain.
            MeanFunction::Quadratic { .. } => MeanFunction::Quadratic {
                peak: self.g_top,
                center: self.x_top.clone(),
                width: self.spread.clone(),
            },
        };
        Theta {
            mean,
            output_scale: marginal.s,
            length_scales: self.spread.iter().map(|w| length * w).collect(),
            noise: match self.fit_noise && self.noise_unit.is_none() {
                true => self.template.noise.max(1e-4 * marginal.s),
                false => self.template.noise,
            },
            axes: self.template.axes.clone(),
            circles: self.template.circles.clone(),
            effects: self.template.effects,
        }
    }
}

/// The spread of the points in every dimension; where they have none, the prior's length scale.
fn spreads(x: &Points, template: &Theta) -> Vec<f64> {
    (0..x.dim())
        .map(|d| {
            let column = x.iter().map(|x| x[d]);
            let (lo, hi) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| {
                (lo.min(x), hi.max(x))
            });
            if hi > lo {
                hi - lo
            } else {
                template.length_scales[d]
            }
        })
        .collect()
}

/// The vectors to start from, in a fixed order: the prior's own theta first.
pub(super) fn starts(
    parameters: &Parameters,
    process: &Process,
    marginals: &[Marginal],
    how: &Fit,
    rng: &mut Rng,
) -> Vec<Vec<f64>> {
    let mut out = vec![parameters.vector(process.theta())];
    if how.starts == Starts::All {
        for &marginal in marginals {
            for length in START_LENGTHS {
                out.push(parameters.vector(&parameters.start(marginal, length)));
            }
        }
    }
    for i in 0..how.restarts {
        let marginal = marginals[i % marginals.len()];
        let mut vector = parameters.vector(&parameters.start(marginal, 0.3));
        // A factor of three either way, in every direction.
        let at = parameters.scale_index();
        for x in &mut vector[at..] {
            *x += 1.1 * rng.normal();
        }
        vector[0] += marginal.s.sqrt() * rng.normal();
        out.push(vector);
    }
    out
}

//! Hold the hyperparameters, in one place.

use super::embedding::chord;
use super::{Axes, Effects};
use crate::error::{Error, Result, finite, positive, same_length};
use crate::measure::Circles;
use crate::points::Points;
use std::borrow::Cow;
use std::sync::Arc;

/// The prior mean of g.
#[derive(Debug, Clone, PartialEq)]
pub enum MeanFunction {
    /// The same everywhere, as in the paper.
    Constant(f64),
    /// peak - (1/2) sum over d of ((x_d - center_d) / width_d)^2: tails that fall off.
    Quadratic {
        /// The highest value.
        peak: f64,
        /// Where it is.
        center: Vec<f64>,
        /// How fast it falls, a length per dimension.
        width: Vec<f64>,
    },
}

/// The hyperparameters of a prior.
///
/// ```
/// use warpquad::Theta;
/// let theta = Theta::constant(-1.0, 2.0, vec![0.5, 3.0])?;
/// assert_eq!(theta.dim(), 2);
/// assert!(Theta::constant(0.0, -1.0, vec![1.0]).is_err());
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Theta {
    /// The mean mu(x).
    pub mean: MeanFunction,
    /// The variance Sigma(x, x).
    pub output_scale: f64,
    /// One length a dimension.
    pub length_scales: Vec<f64>,
    /// The variance of the noise on g; 0 for exact integrands. On the log warp it is the variance
    /// of ln f.
    pub noise: f64,
    /// The directions that lengths and a quadratic mean are taken along, in place of the
    /// coordinates.
    pub axes: Option<Arc<Axes>>,
    /// What of g is a sum over these directions; without them it is one function of all.
    pub effects: Option<Effects>,
    /// The coordinates that are angles: distances between them are chords. Axes leave them as they
    /// are, but for their unit.
    pub circles: Option<Arc<Circles>>,
}

impl Theta {
    /// A constant mean and no noise.
    pub fn constant(mean: f64, output_scale: f64, length_scales: Vec<f64>) -> Result<Theta> {
        let theta = Theta {
            mean: MeanFunction::Constant(mean),
            output_scale,
            length_scales,
            noise: 0.0,
            axes: None,
            effects: None,
            circles: None,
        };
        theta.check().map(|()| theta)
    }

    /// The dimension d.
    pub fn dim(&self) -> usize {
        self.length_scales.len()
    }

    /// The period along an axis, if it is an angle.
    pub(crate) fn period(&self, d: usize) -> Option<f64> {
        let circle = self.circles.as_ref()?.each().get(d).copied()??;
        let unit = self.axes.as_ref().map_or(1.0, |axes| axes.rows()[d][d]);
        Some(circle.period * unit.abs())
    }

    /// The prior mean of g at x along the axes.
    pub fn mean_along(&self, x: &[f64]) -> f64 {
        match &self.mean {
            MeanFunction::Constant(mean) => *mean,
            MeanFunction::Quadratic {
                peak,
                center,
                width,
            } => {
                let z = |d: usize| chord(x[d] - center[d], self.period(d)).0 / width[d];
                peak - 0.5 * (0..x.len()).map(|d| z(d).powi(2)).sum::<f64>()
            }
        }
    }

    /// Its gradient in x along the axes.
    pub(crate) fn mean_gradient(&self, x: &[f64]) -> Vec<f64> {
        match &self.mean {
            MeanFunction::Constant(_) => vec![0.0; x.len()],
            MeanFunction::Quadratic { center, width, .. } => {
                let along = |d: usize| {
                    let (z, slope) = chord(x[d] - center[d], self.period(d));
                    -z * slope / width[d].powi(2)
                };
                (0..x.len()).map(along).collect()
            }
        }
    }

    /// x along the axes.
    pub fn turn<'a>(&self, x: &'a [f64]) -> Cow<'a, [f64]> {
        match &self.axes {
            Some(axes) => Cow::Owned(axes.turn(x)),
            None => Cow::Borrowed(x),
        }
    }

    /// Points along the axes.
    pub fn turn_points<'a>(&self, x: &'a Points) -> Result<Cow<'a, Points>> {
        let Some(axes) = &self.axes else {
            return Ok(Cow::Borrowed(x));
        };
        same_length("point", x.dim(), axes.dim())?;
        let turned = x.iter().flat_map(|x| axes.turn(x)).collect();
        Ok(Cow::Owned(Points::new(x.dim(), turned)?))
    }

    /// The gradient in x of what has the gradient `v` along the axes.
    pub fn pull_back(&self, v: Vec<f64>) -> Vec<f64> {
        match &self.axes {
            Some(axes) => axes.pull_back(&v),
            None => v,
        }
    }

    /// The length of g along each coordinate, the others held: 1 / sqrt(sum over axes j of (a_jd /
    /// l_j)^2).
    pub fn coordinate_lengths(&self) -> Vec<f64> {
        let lengths = self.axis_lengths();
        let Some(axes) = &self.axes else {
            return lengths;
        };
        let mut squares = vec![0.0; self.dim()];
        for (row, l) in axes.rows().iter().zip(lengths) {
            let terms = squares.iter_mut().zip(row);
            terms.for_each(|(sum, a)| *sum += (a / l).powi(2));
        }
        squares.iter_mut().for_each(|sum| *sum = 1.0 / sum.sqrt());
        squares
    }

    /// The length of g along each axis: of the squared exponential with the same curvature at 0.
    fn axis_lengths(&self) -> Vec<f64> {
        let Some(Effects { share, stretch }) = self.effects else {
            return self.length_scales.clone();
        };
        let curvature = 1.0 - share + share / (self.dim() as f64 * stretch * stretch);
        let lengths = self.length_scales.iter();
        lengths.map(|l| l / curvature.sqrt()).collect()
    }

    /// Refuse axes that mix an angle with anything.
    fn check_circles(&self) -> Result<()> {
        let Some(circles) = &self.circles else {
            return Ok(());
        };
        same_length("circles", circles.each().len(), self.dim())?;
        let Some(axes) = &self.axes else {
            return Ok(());
        };
        for (i, row) in axes.rows().iter().enumerate() {
            for (j, a) in row.iter().enumerate() {
                let angle = circles.each()[i].is_some() || circles.each()[j].is_some();
                if angle && (i == j) != (*a != 0.0) {
                    let reason = "an angle has an axis of its own: the row of its number, with 0 \
                                  but in its own place";
                    return Err(Error::spec("axes", reason));
                }
            }
        }
        Ok(())
    }

    /// Refuse what no prior can have.
    pub fn check(&self) -> Result<()> {
        positive("output_scale", self.output_scale)?;
        for (d, &l) in self.length_scales.iter().enumerate() {
            positive(&format!("length_scales[{d}]"), l)?;
        }
        if let Some(axes) = &self.axes {
            same_length("axes", axes.dim(), self.dim())?;
        }
        if let Some(effects) = &self.effects {
            effects.check()?;
        }
        self.check_circles()?;
        if self.noise != 0.0 {
            positive("noise", self.noise)?;
        }
        match &self.mean {
            MeanFunction::Constant(mean) => finite("mean", *mean).map(|_| ()),
            MeanFunction::Quadratic {
                peak,
                center,
                width,
            } => {
                finite("peak", *peak)?;
                same_length("center", center.len(), self.dim())?;
                same_length("width", width.len(), self.dim())?;
                for (d, (&c, &w)) in center.iter().zip(width).enumerate() {
                    finite(&format!("center[{d}]"), c)?;
                    positive(&format!("width[{d}]"), w)?;
                }
                Ok(())
            }
        }
    }
}

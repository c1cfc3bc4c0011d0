//! Hold the measure that carries the integral, and the coordinates in which it is standard.

use crate::error::Result;
use crate::measure::{Chart, Coordinates, Measure};
use crate::points::Points;
use std::sync::Arc;

/// A frame: the measure that carries the integral, and its coordinates.
///
/// The process of g lives in the frame's coordinates z, and nodes follow the frame's measure there.
/// The frame of every run is the prior: z is the user's x, or the prior's own coordinates.
///
/// ```
/// use warpquad::engine::Frame;
/// use warpquad::measure::{Chart, Product, univariate};
/// let prior = Product::new(vec![univariate("log-uniform", &[0.01, 100.0])?])?;
/// let frame = Frame::prior(&prior, Chart::Natural)?;
/// let z = frame.point_to_frame(&[1.0])?;
/// assert!(z[0].abs() < 1e-12);
/// assert_eq!(frame.point_from_frame(&z), [1.0]);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Frame {
    coordinates: Arc<dyn Coordinates>,
}

impl Frame {
    /// The prior in coordinates of a chart.
    pub fn prior(measure: &dyn Measure, chart: Chart) -> Result<Frame> {
        Ok(Frame {
            coordinates: measure.coordinates(chart)?.into(),
        })
    }

    /// The frame's measure, in its coordinates.
    pub fn measure(&self) -> &dyn Measure {
        self.coordinates.measure()
    }

    /// The number of parameters.
    pub fn dim(&self) -> usize {
        self.measure().dim()
    }

    /// z of a user's point.
    pub fn point_to_frame(&self, x: &[f64]) -> Result<Vec<f64>> {
        let mut z = vec![0.0; x.len()];
        self.coordinates.to_natural(x, &mut z)?;
        Ok(z)
    }

    /// The user's point at z.
    pub fn point_from_frame(&self, z: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        self.coordinates.from_natural(z, &mut x);
        x
    }

    /// z of many points.
    pub fn to_frame(&self, x: &Points) -> Result<Points> {
        let mut out = Points::empty(x.dim())?;
        for x in x.iter() {
            out.push(&self.point_to_frame(x)?)?;
        }
        Ok(out)
    }

    /// The user's points at many z.
    pub fn from_frame(&self, z: &Points) -> Result<Points> {
        let mut out = Points::empty(z.dim())?;
        for z in z.iter() {
            out.push(&self.point_from_frame(z))?;
        }
        Ok(out)
    }
}

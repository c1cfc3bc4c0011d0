//! Say which points a measure is restricted to.

use super::Coordinates;
use std::fmt::Debug;
use std::sync::Arc;

/// Points that satisfy constraints.
///
/// ```
/// use warpquad::measure::Region;
/// #[derive(Debug)]
/// struct InOrder;
/// impl Region for InOrder {
///     fn holds(&self, x: &[f64]) -> bool {
///         x.windows(2).all(|pair| pair[0] < pair[1])
///     }
/// }
/// assert!(InOrder.holds(&[1.0, 2.0]) && !InOrder.holds(&[2.0, 1.0]));
/// ```
pub trait Region: Debug + Send + Sync {
    /// Whether a point satisfies all constraints.
    fn holds(&self, x: &[f64]) -> bool;

    /// Add a number for each constraint, positive where the point satisfies it.
    ///
    /// Numbers that are continuous show a thin region between two points that both lie outside.
    fn margins(&self, x: &[f64], out: &mut Vec<f64>) {
        out.push(if self.holds(x) { 1.0 } else { -1.0 });
    }
}

/// A region in other coordinates.
#[derive(Debug)]
pub(super) struct Pulled {
    pub region: Arc<dyn Region>,
    pub by: Arc<dyn Coordinates>,
}

impl Pulled {
    fn x(&self, z: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        self.by.from_natural(z, &mut x);
        x
    }
}

impl Region for Pulled {
    fn holds(&self, z: &[f64]) -> bool {
        self.region.holds(&self.x(z))
    }

    fn margins(&self, z: &[f64], out: &mut Vec<f64>) {
        self.region.margins(&self.x(z), out);
    }
}

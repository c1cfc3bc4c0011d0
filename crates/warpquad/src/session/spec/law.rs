//! Hold the law of one parameter, by name.

use crate::error::{Error, Result};
use crate::measure::{Uniform, Univariate, univariate};
use std::sync::Arc;

/// The prior of one parameter: the name of its law in
/// [`measure::REGISTRY`](crate::measure::REGISTRY) and its numbers.
///
/// ```
/// use warpquad::session::spec::Law;
/// let angle = Law { is_periodic: true, ..Law::new("uniform", &[0.0, 360.0]) };
/// assert_eq!(angle.build()?.circle().unwrap().period, 360.0);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// The name.
    pub name: String,
    /// The numbers, in order.
    pub numbers: Vec<f64>,
    /// Whether the two ends are one point.
    pub is_periodic: bool,
}

impl Law {
    /// The law of that name with these numbers.
    pub fn new(name: &str, numbers: &[f64]) -> Law {
        Law {
            name: name.to_string(),
            numbers: numbers.to_vec(),
            is_periodic: false,
        }
    }

    /// The law itself; an error names what no such law can have.
    pub fn build(&self) -> Result<Arc<dyn Univariate>> {
        match (self.is_periodic, self.name.as_str(), &self.numbers[..]) {
            (false, name, numbers) => univariate(name, numbers),
            (true, "uniform", &[lo, hi]) => Ok(Arc::new(Uniform::periodic(lo, hi)?)),
            (true, name, _) => {
                let reason = format!(
                    "is of a uniform prior over one period, not of {name}: give the parameter \
                     uniform = [lo, hi] and put the density of {name} into the integrand"
                );
                Err(Error::spec("periodic", reason))
            }
        }
    }
}

//! Restrict a measure to a region, such as the points that satisfy constraints.

use super::mass::{Mass, mass};
use super::region::Pulled;
use super::{Chart, Circles, Coordinates, Empirical, Form, Measure, Region};
use crate::error::{Error, Result};
use crate::points::Points;
use std::sync::Arc;

/// A measure restricted to a region.
///
/// # Definition
/// p(x) = p_base(x)/m inside the region and 0 outside, where m is the mass that the base gives the
/// region. If the density is [kept](Restricted::keeping_density), p(x) = p_base(x) inside, and the
/// measure has the mass m.
///
/// # Numerics
/// The [`quantile`](Measure::quantile) map is that of the base: it sends some points of the cube
/// outside. Who draws by it leaves these out, as [`holds`](Restricted::holds) says.
///
/// ```
/// use std::sync::Arc;
/// use warpquad::measure::{Measure, Product, Region, Restricted};
/// #[derive(Debug)]
/// struct Disc;
/// impl Region for Disc {
///     fn holds(&self, x: &[f64]) -> bool {
///         x[0] * x[0] + x[1] * x[1] < 1.0
///     }
/// }
/// let square = Product::uniform(&[(-1.0, 1.0), (-1.0, 1.0)])?;
/// let disc = Restricted::new(Arc::new(square), Arc::new(Disc))?;
/// let pi = std::f64::consts::PI;
/// assert!((disc.ln_mass() - (pi / 4.0).ln()).abs() < 1e-5);
/// assert!((disc.ln_density(&[0.5, 0.5]) + pi.ln()).abs() < 1e-5);
/// assert_eq!(disc.ln_density(&[0.9, 0.9]), f64::NEG_INFINITY);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Restricted {
    base: Base,
    region: Arc<dyn Region>,
    /// ln of the mass that the base gives the region, if it is known.
    ln_mass: Option<f64>,
    /// Whether the base's density is divided by it.
    is_normalised: bool,
}

/// A measure by itself, or the law of z in some coordinates.
#[derive(Debug, Clone)]
enum Base {
    Whole(Arc<dyn Measure>),
    Law(Arc<dyn Coordinates>),
}

/// The smallest mass that a region may have: below, a draw from the base is hardly ever inside.
pub(super) const LEAST_MASS: f64 = 1e-4;

impl Restricted {
    /// The base restricted to a region and normalised; an error where that leaves nothing, or
    /// almost nothing.
    pub fn new(base: Arc<dyn Measure>, region: Arc<dyn Region>) -> Result<Restricted> {
        let mass = match base.form() {
            Form::Sample(points) => {
                let inside = points.iter().filter(|x| region.holds(x)).count();
                Mass::known(inside as f64 / points.len() as f64)
            }
            _ => mass(base.as_ref(), region.as_ref())?,
        };
        let none = |reason: String| Err(Error::spec("constraints", reason));
        if mass.value == 0.0 {
            return none(format!(
                "no point of the prior satisfies them all: none of {} tried did. Check their \
                 signs, and whether the priors reach where they hold",
                mass.tried
            ));
        }
        if mass.value < LEAST_MASS && !matches!(base.form(), Form::Sample(_)) {
            return none(format!(
                "almost nothing satisfies them all: about {:.1e} of the prior, and the least is \
                 {LEAST_MASS:e}. Narrow the priors to where they hold, or replace a parameter \
                 by its distance from a bound",
                mass.value
            ));
        }
        Ok(Restricted {
            base: Base::Whole(base),
            region,
            ln_mass: Some(mass.value.ln()),
            is_normalised: true,
        })
    }

    /// The same with the density that the base has: the whole has the mass of the region.
    pub fn keeping_density(mut self) -> Restricted {
        self.is_normalised = false;
        self
    }

    /// The same of a sample: those of its points that are inside.
    pub fn sample(&self) -> Result<Option<Empirical>> {
        let Form::Sample(points) = self.base().form() else {
            return Ok(None);
        };
        let mut inside = Points::empty(points.dim())?;
        for x in points.iter().filter(|x| self.holds(x)) {
            inside.push(x)?;
        }
        Empirical::new(inside).map(Some)
    }

    /// A measure restricted to a region whose mass is not worked out, with the density that the
    /// measure has. Points that the quantile map sends outside count as zeros.
    pub(crate) fn of_unknown_mass(base: Arc<dyn Measure>, region: Arc<dyn Region>) -> Restricted {
        Restricted {
            base: Base::Whole(base),
            region,
            ln_mass: None,
            is_normalised: false,
        }
    }

    fn base(&self) -> &dyn Measure {
        match &self.base {
            Base::Whole(measure) => measure.as_ref(),
            Base::Law(coordinates) => coordinates.measure(),
        }
    }

    /// Whether x is inside.
    pub fn holds(&self, x: &[f64]) -> bool {
        self.region.holds(x)
    }

    /// Add the [margins](Region::margins) of a point.
    pub fn margins(&self, x: &[f64], out: &mut Vec<f64>) {
        self.region.margins(x, out);
    }

    /// ln of the mass that the base gives the region; 0 where that is not known.
    pub fn ln_mass(&self) -> f64 {
        self.ln_mass.unwrap_or(0.0)
    }

    /// Whether the mass that the base gives the region is known.
    pub(crate) fn is_mass_known(&self) -> bool {
        self.ln_mass.is_some()
    }

    /// ln of what the base's density is divided by.
    pub(crate) fn ln_divisor(&self) -> f64 {
        if self.is_normalised {
            self.ln_mass()
        } else {
            0.0
        }
    }

    /// ln of the mass of the whole; 0 where it is not known.
    pub(crate) fn ln_total(&self) -> f64 {
        self.ln_mass() - self.ln_divisor()
    }

    fn within(&self, coordinates: Box<dyn Coordinates>) -> Box<dyn Coordinates> {
        let coordinates: Arc<dyn Coordinates> = coordinates.into();
        let region = Pulled {
            region: self.region.clone(),
            by: coordinates.clone(),
        };
        Box::new(Inside {
            law: Restricted {
                base: Base::Law(coordinates.clone()),
                region: Arc::new(region),
                ln_mass: self.ln_mass,
                is_normalised: self.is_normalised,
            },
            coordinates,
        })
    }
}

impl Measure for Restricted {
    fn dim(&self) -> usize {
        self.base().dim()
    }

    fn quantile(&self, u: &[f64], x: &mut [f64]) {
        self.base().quantile(u, x);
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        // The base first: a constraint may have no value outside the base's support.
        match self.base().ln_density(x) {
            f64::NEG_INFINITY => f64::NEG_INFINITY,
            ln if self.holds(x) => ln - self.ln_divisor(),
            _ => f64::NEG_INFINITY,
        }
    }

    fn ln_density_gradient(&self, x: &[f64], out: &mut [f64]) {
        self.base().ln_density_gradient(x, out);
    }

    fn has_density(&self) -> bool {
        self.base().has_density()
    }

    fn support(&self) -> Vec<(f64, f64)> {
        self.base().support()
    }

    fn scale(&self) -> Vec<f64> {
        self.base().scale()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        None
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        None
    }

    fn circles(&self) -> Option<Circles> {
        self.base().circles()
    }

    fn restricted(&self) -> Option<&Restricted> {
        Some(self)
    }

    fn coordinates(&self, chart: Chart) -> Result<Box<dyn Coordinates>> {
        Ok(self.within(self.base().coordinates(chart)?))
    }

    fn natural(&self) -> Box<dyn Coordinates> {
        self.within(self.base().natural())
    }
}

/// Coordinates of a measure, in which the law of z is restricted too.
#[derive(Debug)]
struct Inside {
    coordinates: Arc<dyn Coordinates>,
    law: Restricted,
}

impl Coordinates for Inside {
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()> {
        self.coordinates.to_natural(x, z)
    }

    fn from_natural(&self, z: &[f64], x: &mut [f64]) {
        self.coordinates.from_natural(z, x);
    }

    fn ln_jacobian(&self, z: &[f64]) -> f64 {
        self.coordinates.ln_jacobian(z)
    }

    fn measure(&self) -> &dyn Measure {
        &self.law
    }
}

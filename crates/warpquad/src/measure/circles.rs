//! Say which coordinates are angles, whose two ends are one point.

use super::{Coordinates, Measure, inside};
use crate::error::Result;

/// A coordinate that comes back to where it began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    /// The lower end of its values.
    pub start: f64,
    /// The upper end less the lower one.
    pub period: f64,
}

impl Circle {
    /// The same point of the circle, strictly between the two ends; a point there stays as it is.
    pub fn wrap(&self, x: f64) -> f64 {
        let end = self.start + self.period;
        if self.start < x && x < end {
            return x;
        }
        inside(
            self.start + (x - self.start).rem_euclid(self.period),
            self.start,
            end,
        )
    }

    /// x - y the shorter way round.
    pub fn difference(&self, x: f64, y: f64) -> f64 {
        let apart = x - y;
        apart - self.period * (apart / self.period).round()
    }
}

/// For each coordinate its circle, if it is an angle; at least one is.
///
/// ```
/// use warpquad::measure::{Circle, Circles};
/// let day = Circle { start: 0.0, period: 24.0 };
/// let circles = Circles::new(vec![None, Some(day)]).unwrap();
/// let mut x = [30.0, 30.0];
/// circles.wrap(&mut x);
/// assert_eq!(x, [30.0, 6.0]);
/// assert_eq!(circles.difference(1, 23.0, 1.0), -2.0);
/// assert!(Circles::new(vec![None]).is_none());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Circles {
    of: Vec<Option<Circle>>,
}

impl Circles {
    /// The circles of coordinates; `None` where there is none.
    pub fn new(of: Vec<Option<Circle>>) -> Option<Circles> {
        of.iter().any(Option::is_some).then_some(Circles { of })
    }

    /// The circle of each coordinate.
    pub fn each(&self) -> &[Option<Circle>] {
        &self.of
    }

    /// Bring every angle between its two ends.
    pub fn wrap(&self, x: &mut [f64]) {
        for (x, circle) in x.iter_mut().zip(&self.of) {
            if let Some(circle) = circle {
                *x = circle.wrap(*x);
            }
        }
    }

    /// x - y in coordinate d, the shorter way round.
    pub fn difference(&self, d: usize, x: f64, y: f64) -> f64 {
        self.of[d].map_or(x - y, |circle| circle.difference(x, y))
    }
}

/// Coordinates in which every angle is cut elsewhere than at its ends.
///
/// A law that is uniform on a circle is the same from any cut on, so the law of z stays.
#[derive(Debug)]
pub(crate) struct Turned {
    coordinates: Box<dyn Coordinates>,
    circles: Circles,
    /// Where each circle is cut.
    cuts: Vec<f64>,
}

impl Turned {
    pub fn new(coordinates: Box<dyn Coordinates>, circles: Circles, cuts: Vec<f64>) -> Turned {
        Turned {
            coordinates,
            circles,
            cuts,
        }
    }

    /// Add (`sign` = 1) or take away what lies between the start of each circle and its cut.
    fn turned(&self, x: &[f64], sign: f64) -> Vec<f64> {
        let mut out = x.to_vec();
        for ((x, circle), cut) in out.iter_mut().zip(self.circles.each()).zip(&self.cuts) {
            if let Some(circle) = circle {
                *x = circle.wrap(*x + sign * (cut - circle.start));
            }
        }
        out
    }
}

impl Coordinates for Turned {
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()> {
        self.coordinates.to_natural(&self.turned(x, -1.0), z)
    }

    fn from_natural(&self, z: &[f64], x: &mut [f64]) {
        self.coordinates.from_natural(z, x);
        let turned = self.turned(x, 1.0);
        x.copy_from_slice(&turned);
    }

    fn ln_jacobian(&self, z: &[f64]) -> f64 {
        self.coordinates.ln_jacobian(z)
    }

    fn measure(&self) -> &dyn Measure {
        self.coordinates.measure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Chart, Product, Uniform};
    use std::sync::Arc;

    #[test]
    fn wrapping_keeps_what_is_inside_and_never_lands_on_an_end() {
        let circle = Circle {
            start: -1.0,
            period: 2.0,
        };
        assert_eq!(circle.wrap(0.3), 0.3);
        assert!((circle.wrap(1.25) + 0.75).abs() < 1e-15);
        assert!((circle.wrap(-7.5) - 0.5).abs() < 1e-15);
        for end in [-1.0, 1.0, 3.0] {
            let x = circle.wrap(end);
            assert!(-1.0 < x && x < 1.0);
        }
        assert!((circle.difference(0.9, -0.9) + 0.2).abs() < 1e-15);
    }

    #[test]
    fn turned_coordinates_begin_at_the_cut() {
        let law = Uniform::periodic(0.0, 4.0).unwrap();
        let pi = Product::new(vec![Arc::new(law)]).unwrap();
        let unit = pi.coordinates(Chart::Unit).unwrap();
        let turned = Turned::new(unit, pi.circles().unwrap(), vec![3.0]);
        let mut z = [0.0];
        turned.to_natural(&[3.5], &mut z).unwrap();
        assert!((z[0] - 0.125).abs() < 1e-15);
        let mut x = [0.0];
        turned.from_natural(&[0.5], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15);
    }
}

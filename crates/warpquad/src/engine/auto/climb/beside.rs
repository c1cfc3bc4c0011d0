//! Choose further points that are worth an evaluation while the awaited one is out.

use super::searching::Side;
use super::surface::Surface;
use super::{Climb, RADIUS, Stage, line};
use crate::numeric::random::Rng;

impl Climb {
    /// A point beside the awaited one, for a further evaluation at the same time: other steps along
    /// the same line, tops of the surface of all that is known by now, points around the best.
    pub fn beside(&self, number: usize) -> Vec<f64> {
        const RADII: [f64; 3] = [1.0, 0.5, 2.0];
        let mut number = number;
        if let Stage::Newton(newton) = &self.stage {
            match newton.open().nth(number + 1) {
                Some(z) => return z.to_vec(),
                None => number = (number + 1).saturating_sub(newton.open().count()),
            }
        }
        let open: Vec<Vec<f64>> = self.sides.iter().filter_map(Side::point).collect();
        if let Some(z) = open.get(number) {
            return self.parameters.within(z.clone());
        }
        number -= open.len();
        let surface = self.surface(false);
        // Where the top is known, what is left to learn is the shape.
        if let Some(surface) = &surface
            && let Some(ascent) = surface.ascent(self.radius)
            && self.is_level(ascent.is_inside, ascent.gain)
            && let Some(z) = self.around(surface, number)
        {
            return z;
        }
        if let Stage::Search {
            line,
            origin,
            along,
            ..
        } = &self.stage
        {
            if let Some(step) = line.beside(number) {
                return self.parameters.within(along.point(origin, step));
            }
            number -= line::BESIDE;
        }
        let top = |radius: f64| {
            let surface = surface.as_ref()?;
            let ascent = surface.ascent(radius * self.radius)?;
            Some(self.parameters.within(surface.point(&ascent.step)))
        };
        // A second value at the same place says nothing.
        let is_new = |z: &Vec<f64>| self.points.iter().all(|known| self.is_apart(z, known));
        let top = RADII.get(number).and_then(|radius| top(*radius));
        if let Some(z) = top.filter(is_new) {
            return z;
        }
        let mut rng = Rng::new(number as u64).child(self.values.len() as u64);
        let zero = vec![0.0; self.steps.len()];
        let best = self.best().map_or(zero.as_slice(), |(z, _)| z);
        let pairs = best.iter().zip(&self.steps);
        let beside = pairs.map(|(z, s)| z + s * rng.normal()).collect();
        self.parameters.within(beside)
    }

    /// A draw from a peak of the surface's shape about the best; `None` where it has none.
    pub(super) fn around(&self, surface: &Surface, number: usize) -> Option<Vec<f64>> {
        let mut rng = Rng::new(number as u64).child(self.values.len() as u64);
        let z = surface.draw(RADIUS[0], &mut rng)?;
        Some(self.parameters.within(z))
    }

    /// Whether two points differ by more than a twentieth of a step along some parameter.
    fn is_apart(&self, a: &[f64], b: &[f64]) -> bool {
        let mut apart = a.iter().zip(b).zip(&self.steps);
        apart.any(|((a, b), s)| (a - b).abs() > 0.05 * s)
    }
}

//! Say what a run knows of the posterior f pi / Z: weighted nodes for expectations, and equal draws.

use super::run::{DRAWS, Engine};
use crate::error::Result;
use crate::functional::{Nodes, Ratio, Sample, sample};
use crate::measure::Coordinates;
use crate::numeric::random::Rng;
use crate::points::Points;

/// Nodes of an expectation, at least: h may ask for more than Z does.
const NODES: usize = 16_384;

/// Streams of random numbers beside that of the law of Z, which is the number of evaluations.
const EXPECTATION: u64 = 1 << 32;
const SAMPLE: u64 = 1 << 33;

impl Engine {
    /// Nodes in the user's coordinates, weighted by pi times the belief's mean and by joint draws of f:
    /// any `E[h] = L_h[f] / L_1[f]` is a sum over them.
    pub fn posterior_nodes(&mut self) -> Result<Ratio> {
        let (seed, n) = (self.seed, self.method.nodes.max(NODES));
        let mut rng = Rng::new(seed).child(EXPECTATION + self.len() as u64);
        let (model, coordinates) = self.known_model()?;
        let ratio = model.belief(|belief| -> Result<Ratio> {
            let measure = coordinates.measure();
            let mut weigh = |nodes: Nodes| Ratio::new(belief, &nodes, DRAWS, &mut rng);
            let followed = weigh(Nodes::plausible(measure, belief, 1.0, n, seed)?)?;
            // Plain nodes may all miss a narrow peak, and then they have no mass at all.
            let plain = weigh(Nodes::sobol(measure, n, seed)?);
            Ok(match plain {
                Ok(plain) if plain.beats(&followed)? => plain,
                _ => followed,
            })
        })?;
        let points = to_user(coordinates, ratio.points())?;
        ratio.with_points(points)
    }

    /// `n` points of equal weight, in the user's coordinates, that follow pi times the belief's mean.
    pub fn posterior_sample(&mut self, n: usize, seed: u64) -> Result<Sample> {
        let mut rng = Rng::new(seed).child(SAMPLE + self.len() as u64);
        let (model, coordinates) = self.known_model()?;
        let measure = coordinates.measure();
        let drawn = model.belief(|belief| sample(belief, measure, n, &mut rng))?;
        let points = to_user(coordinates, &drawn.points)?;
        Ok(Sample { points, ..drawn })
    }

    /// About `n` points that follow pi, in the user's coordinates; all of them if pi is itself a sample.
    pub fn prior_sample(&self, n: usize) -> Result<Points> {
        let coordinates = self.coordinates.as_ref();
        let nodes = Nodes::sobol(coordinates.measure(), n, self.seed)?;
        to_user(coordinates, &nodes.points)
    }
}

fn to_user(coordinates: &dyn Coordinates, z: &Points) -> Result<Points> {
    let mut out = Points::empty(z.dim())?;
    let mut x = vec![0.0; z.dim()];
    for z in z.iter() {
        coordinates.from_natural(z, &mut x);
        out.push(&x)?;
    }
    Ok(out)
}

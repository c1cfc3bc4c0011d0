//! Say what a run knows of the posterior f pi / Z: weighted nodes for expectations, equal draws.

use super::{Engine, Frame};
use crate::error::Result;
use crate::functional::{Nodes, Ratio, Sample, better_nodes, posterior_weights, sample_tilted};
use crate::numeric::stream::{Stream, Streams};
use crate::points::Points;

/// Nodes of an expectation: h may ask for more than Z does.
const EXPECTATION_NODES: usize = 16_384;

/// Draws of f behind an interval, and the nodes that each model draws jointly, in O(n^3).
const EXPECTATION_DRAWS: usize = 1000;
const JOINT_NODES: usize = 300;

/// Nodes that show the shape of a peak.
const SHAPE_NODES: usize = 4096;

impl Engine {
    /// Nodes in the user's coordinates, weighted by the mean of f pi / Z and by joint draws of f:
    /// any `E[h] = L_h[f] / L_1[f]` is a sum over them.
    pub fn posterior_nodes(&mut self) -> Result<Ratio> {
        // The answer may take a frame of its own.
        self.answer()?;
        let streams = self.history().streams();
        let frame = self.history().frame.clone();
        let ensemble = self.ensemble()?.clone();
        let seed = streams.seed(Stream::Expectation);
        let ln_ratio = self.ln_ratio(&frame);
        let (tilt, n) = (self.tilt(&frame, &ln_ratio), EXPECTATION_NODES);
        let followed = tilt.plausible(&ensemble, 1.0, n, seed)?;
        let plain = Nodes::sobol(tilt.measure, n, seed)?.within(&ensemble);
        let nodes = better_nodes(&ensemble, followed, tilt.weighted(plain))?;
        let rng = streams.rng(Stream::Expectation);
        let ratio = Ratio::new(&ensemble, &nodes, EXPECTATION_DRAWS, JOINT_NODES, &rng)?;
        let points = self.points_from_frame(&frame, ratio.points())?;
        ratio.with_points(points)
    }

    /// `n` points of equal weight, in the user's coordinates, that follow the mean of f pi / Z.
    pub fn posterior_sample(&mut self, n: usize, seed: u64) -> Result<Sample> {
        self.answer()?;
        let mut rng = Streams::new(seed, self.len() as u64).rng(Stream::Posterior);
        let frame = self.history().frame.clone();
        let ensemble = self.ensemble()?.clone();
        let ln_ratio = self.ln_ratio(&frame);
        let drawn = sample_tilted(&ensemble, self.tilt(&frame, &ln_ratio), n, &mut rng)?;
        let points = self.points_from_frame(&frame, &drawn.points)?;
        Ok(Sample { points, ..drawn })
    }

    /// The user's points of the frame's coordinates, spread over the images of a peak.
    fn points_from_frame(&self, frame: &Frame, y: &Points) -> Result<Points> {
        match &self.another {
            None => frame.from_frame(y),
            Some(another) => another.points(frame, y),
        }
    }

    /// Nodes in the coordinates of the frame, with their part of the mean of f pi / Z: enough to
    /// see the shape of the peak.
    pub(super) fn peak_nodes(&mut self) -> Result<(Points, Vec<f64>)> {
        self.answer()?;
        let seed = self.history().streams().seed(Stream::Expectation);
        let frame = self.history().frame.clone();
        let ensemble = self.ensemble()?;
        let nodes = Nodes::plausible(frame.measure(), ensemble, 1.0, SHAPE_NODES, seed)?;
        let weights = posterior_weights(ensemble, &nodes)?;
        Ok((nodes.points, weights))
    }

    /// About `n` points that follow pi, in the user's coordinates; all of them if pi is a sample.
    pub fn prior_sample(&self, n: usize) -> Result<Points> {
        if let Some(another) = &self.another {
            return another.prior_sample(n, self.history.seed);
        }
        let frame = &self.history.frame;
        let nodes = Nodes::sobol(frame.measure(), n, self.history.seed)?;
        frame.from_frame(&nodes.points)
    }
}

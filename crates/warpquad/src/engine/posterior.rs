//! Say what a run knows of the posterior f pi / Z: weighted nodes for expectations, equal draws.

use super::answered::shares;
use super::{Engine, Frame};
use crate::belief::Ensemble;
use crate::error::Result;
use crate::functional::{
    Law, Nodes, Ratio, Sample, better_nodes, posterior_weights, sample_tilted,
};
use crate::numeric::stream::{Stream, Streams};
use crate::numeric::weights::systematic;
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
        let believed = self.believed()?;
        let mut ratios = Vec::with_capacity(believed.len());
        for (part, of) in self.parts().iter().zip(&believed) {
            ratios.push(self.nodes_in(&of.frame, &of.ensemble, part.seen.streams())?);
        }
        let laws: Vec<Law> = believed.into_iter().map(|of| of.law).collect();
        let mut rng = self.whole.seen.streams().rng(Stream::Expectation);
        Ratio::joined(ratios, &laws, &mut rng)
    }

    fn nodes_in(&self, frame: &Frame, ensemble: &Ensemble, streams: Streams) -> Result<Ratio> {
        let seed = streams.seed(Stream::Expectation);
        let ln_ratio = self.ln_ratio(frame);
        let (tilt, n) = (self.tilt(frame, &ln_ratio), EXPECTATION_NODES);
        let followed = tilt.plausible(ensemble, 1.0, n, seed)?;
        let plain = Nodes::sobol(tilt.measure, n, seed)?.within(ensemble);
        let nodes = better_nodes(ensemble, followed, tilt.weighted(plain))?;
        let rng = streams.rng(Stream::Expectation);
        let ratio = Ratio::new(ensemble, &nodes, EXPECTATION_DRAWS, JOINT_NODES, &rng)?;
        let points = self.points_from_frame(frame, ratio.points())?;
        ratio.with_points(points)
    }

    /// `n` points of equal weight, in the user's coordinates, that follow the mean of f pi / Z.
    pub fn posterior_sample(&mut self, n: usize, seed: u64) -> Result<Sample> {
        let believed = self.believed()?;
        let mut rng = Streams::new(seed, self.len() as u64).rng(Stream::Posterior);
        let shares = shares(believed.iter().map(|of| &of.law));
        let counts = match shares.len() {
            1 => vec![n],
            _ => counts(&shares, n, rng.uniform()),
        };
        let mut samples = Vec::new();
        for (of, count) in believed.iter().zip(counts) {
            if count > 0 {
                let ln_ratio = self.ln_ratio(&of.frame);
                let tilt = self.tilt(&of.frame, &ln_ratio);
                let drawn = sample_tilted(&of.ensemble, tilt, count, &mut rng)?;
                let points = self.points_from_frame(&of.frame, &drawn.points)?;
                samples.push(Sample { points, ..drawn });
            }
        }
        Sample::joined(samples, &mut rng)
    }

    /// The user's points of the frame's coordinates, spread over the images of a peak.
    fn points_from_frame(&self, frame: &Frame, y: &Points) -> Result<Points> {
        match &self.another {
            None => frame.from_frame(y),
            Some(another) => another.points(frame, y),
        }
    }

    /// Nodes in the coordinates of the frame of a peak, with their part of the mean of f pi there:
    /// enough to see its shape; and the law of its part of Z.
    pub(super) fn peak_nodes(
        &mut self,
        component: usize,
    ) -> Result<Option<(Points, Vec<f64>, Law)>> {
        if component >= self.parts().len() {
            return Ok(None);
        }
        let unknown = self.unknown_shape_nats(component);
        let answer = self.answer_of(component, false)?;
        let (ensemble, law) = (answer.ensemble, answer.law.reaching(unknown));
        let seen = &self.parts()[component].seen;
        let (seed, measure) = (
            seen.streams().seed(Stream::Expectation),
            seen.frame.measure(),
        );
        let nodes = Nodes::plausible(measure, &ensemble, 1.0, SHAPE_NODES, seed)?;
        let weights = posterior_weights(&ensemble, &nodes)?;
        Ok(Some((nodes.points, weights, law)))
    }

    /// About `n` points that follow pi, in the user's coordinates; all of them if pi is a sample.
    pub fn prior_sample(&self, n: usize) -> Result<Points> {
        if let Some(another) = &self.another {
            return another.prior_sample(n, self.whole.seen.seed);
        }
        let frame = &self.whole.seen.frame;
        let nodes = Nodes::sobol(frame.measure(), n, self.whole.seen.seed)?;
        frame.from_frame(&nodes.points)
    }
}

/// How many of `n` draws each part gets: its share, rounded at random.
fn counts(shares: &[f64], n: usize, start: f64) -> Vec<usize> {
    let mut out = vec![0; shares.len()];
    for place in systematic(shares, n, start) {
        out[place] += 1;
    }
    out
}

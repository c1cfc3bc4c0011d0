//! Give the covariances of g between points and nodes, given the data, with gradients.
//!
//! What the data explain is reduced once, so a point takes O(n^2 + n m) for n observations and m nodes:
//!
//! ```text
//! c_j(x) = k(x, x_j) - reduced_j' L^-1 k(X, x),    reduced = L^-1 Sigma(X, nodes),    L L' = Sigma(X, X) + noise
//! ```

use crate::belief::{Belief, Posterior, Theta};
use crate::error::{Result, same_length};
use crate::numeric::linalg::{self, Mat, dot};
use crate::points::Points;
use crate::warp::Marginal;

/// The nodes, and what the data explain of them.
pub(super) struct Cross<'a> {
    posterior: &'a Posterior,
    nodes: Points,
    /// g at the nodes.
    pub marginals: Vec<Marginal>,
    reduced: Mat,
    /// Nodes and data along the axes.
    turned: [Points; 2],
}

impl<'a> Cross<'a> {
    pub fn new(posterior: &'a Posterior, nodes: Points) -> Result<Cross<'a>> {
        same_length("node", nodes.dim(), posterior.dim())?;
        let (marginals, reduced) = posterior.marginals_reduced(&nodes);
        let theta = posterior.prior().theta();
        Ok(Cross {
            turned: [
                theta.turn_points(&nodes)?.into_owned(),
                theta.turn_points(posterior.points())?.into_owned(),
            ],
            posterior,
            nodes,
            marginals,
            reduced,
        })
    }

    /// g at each of many points, and a column of covariances with the nodes for each.
    pub fn columns(&self, x: &Points) -> Result<(Vec<Marginal>, Mat)> {
        let mut cov = self.posterior.prior().sigma(&self.nodes, x)?;
        let (own, reduced) = self.posterior.marginals_reduced(x);
        let explained = linalg::transpose_mul(&self.reduced, &reduced);
        for j in 0..cov.cols() {
            let column = cov.col_mut(j).iter_mut();
            column.zip(explained.col(j)).for_each(|(c, e)| *c -= e);
        }
        Ok((own, cov))
    }

    /// The covariances of one point, and what their gradients need.
    pub fn at(&self, x: &[f64]) -> Crossed<'_> {
        let theta = self.posterior.prior().theta();
        let y = theta.turn(x).into_owned();
        let [to_nodes, to_data] = self.turned.each_ref().map(|to| self.reach(&y, to));
        let mut own = to_data.k.clone();
        self.posterior.factor().solve_lower_vec(&mut own);
        let cov = to_nodes.k.iter().enumerate();
        let cov = cov.map(|(j, k)| k - dot(self.reduced.col(j), &own));
        Crossed {
            cov: cov.collect(),
            cross: self,
            theta,
            y,
            to_nodes,
            to_data,
        }
    }

    /// Prior covariances from y to some points, all along the axes.
    fn reach<'b>(&'b self, y: &[f64], points: &'b Points) -> Reach<'b> {
        let prior = self.posterior.prior();
        let theta = prior.theta();
        let r2 = |p: &[f64]| {
            let z = y.iter().zip(p).zip(&theta.length_scales);
            z.map(|((y, p), l)| ((y - p) / l).powi(2)).sum()
        };
        let mut k: Vec<f64> = points.iter().map(r2).collect();
        let mut derivative = vec![0.0; k.len()];
        prior.kernel().fill(&mut k, Some(&mut derivative));
        for (k, derivative) in k.iter_mut().zip(&mut derivative) {
            *k *= theta.output_scale;
            *derivative *= theta.output_scale;
        }
        Reach {
            points,
            k,
            derivative,
        }
    }
}

/// Covariances of one point with all nodes.
pub(super) struct Crossed<'a> {
    pub cov: Vec<f64>,
    cross: &'a Cross<'a>,
    theta: &'a Theta,
    y: Vec<f64>,
    to_nodes: Reach<'a>,
    to_data: Reach<'a>,
}

impl Crossed<'_> {
    /// sum_j d_c_j dc_j / dx.
    pub fn gradient(&self, d_c: &[f64]) -> Vec<f64> {
        let mut slope = vec![0.0; self.y.len()];
        let lengths = &self.theta.length_scales;
        self.to_nodes.add(&self.y, lengths, d_c, 1.0, &mut slope);
        let mut explained = self.cross.reduced.mul_vec(d_c);
        let factor = self.cross.posterior.factor();
        factor.solve_lower_transposed_vec(&mut explained);
        let data = &self.to_data;
        data.add(&self.y, lengths, &explained, -1.0, &mut slope);
        self.theta.pull_back(slope)
    }
}

/// Prior covariances k from y to some points, with their derivatives in r^2.
struct Reach<'a> {
    points: &'a Points,
    k: Vec<f64>,
    derivative: Vec<f64>,
}

impl Reach<'_> {
    /// Add sign sum_i weight_i dk_i/dy, dk/dy_d = k'(r^2) 2 (y - p)_d / l_d^2.
    fn add(&self, y: &[f64], lengths: &[f64], weights: &[f64], sign: f64, out: &mut [f64]) {
        for ((p, w), k) in self.points.iter().zip(weights).zip(&self.derivative) {
            for (d, out) in out.iter_mut().enumerate() {
                *out += sign * w * k * 2.0 * (y[d] - p[d]) / lengths[d].powi(2);
            }
        }
    }
}

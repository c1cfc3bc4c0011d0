//! Give the covariances of g between points and nodes, given the data, with gradients.
//!
//! What the data explain is reduced once, so a point takes O(n^2 + n m) for n observations and m
//! nodes:
//!
//! ```text
//! c_j(x) = k(x, x_j) - reduced_j' L^-1 k(X, x)
//! reduced = L^-1 Sigma(X, nodes),    L L' = Sigma(X, X) + noise
//! ```

use crate::belief::{Belief, PosteriorProcess, Scaled, Slopes};
use crate::error::{Result, same_length};
use crate::numeric::linalg::{self, Mat, dot};
use crate::points::Points;
use crate::warp::Marginal;

/// The nodes, and what the data explain of them.
pub(super) struct Cross<'a> {
    posterior: &'a PosteriorProcess,
    nodes: Points,
    /// g at the nodes.
    pub marginals: Vec<Marginal>,
    reduced: Mat,
    /// Nodes and data in length scales.
    scaled: [Scaled; 2],
}

impl<'a> Cross<'a> {
    pub fn new(posterior: &'a PosteriorProcess, nodes: Points) -> Result<Cross<'a>> {
        same_length("node", nodes.dim(), posterior.dim())?;
        let (marginals, reduced) = posterior.marginals_reduced(&nodes);
        let theta = posterior.process().theta();
        Ok(Cross {
            scaled: [&nodes, posterior.points()].map(|x| Scaled::new(x, theta)),
            posterior,
            nodes,
            marginals,
            reduced,
        })
    }

    /// g at each of many points, and a column of covariances with the nodes for each.
    pub fn columns(&self, x: &Points) -> Result<(Vec<Marginal>, Mat)> {
        let mut cov = self.posterior.process().sigma(&self.nodes, x)?;
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
        let [to_nodes, to_data] = self.scaled.each_ref().map(|to| self.reach(x, to));
        let mut own = to_data.k.clone();
        self.posterior.factor().solve_lower_vec(&mut own);
        let cov = to_nodes.k.iter().enumerate();
        let cov = cov.map(|(j, k)| k - dot(self.reduced.col(j), &own));
        Crossed {
            cov: cov.collect(),
            cross: self,
            to_nodes,
            to_data,
        }
    }

    fn reach(&self, x: &[f64], to: &Scaled) -> Reach {
        let mut k = vec![0.0; to.len];
        let slopes = self.posterior.process().sigma_slopes(to, x, &mut k);
        Reach { k, slopes }
    }
}

/// Covariances of one point with all nodes.
pub(super) struct Crossed<'a> {
    pub cov: Vec<f64>,
    cross: &'a Cross<'a>,
    to_nodes: Reach,
    to_data: Reach,
}

impl Crossed<'_> {
    /// sum_j d_c_j dc_j / dx.
    pub fn gradient(&self, d_c: &[f64]) -> Vec<f64> {
        let posterior = self.cross.posterior;
        let mut explained = self.cross.reduced.mul_vec(d_c);
        let factor = posterior.factor();
        factor.solve_lower_transposed_vec(&mut explained);
        let theta = posterior.process().theta();
        let mut out = self.to_nodes.slopes.sums(d_c, theta);
        let less = self.to_data.slopes.sums(&explained, theta);
        out.iter_mut().zip(less).for_each(|(o, l)| *o -= l);
        out
    }
}

/// Prior covariances k from a point to others, with their slopes.
struct Reach {
    k: Vec<f64>,
    slopes: Slopes,
}

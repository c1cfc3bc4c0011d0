//! Learn from a belief the axes along which g changes at paces of their own.

use super::Model;
use crate::belief::{Axes, Theta};
use crate::functional::{Nodes, ln_reach};
use crate::measure::Measure;
use crate::numeric::linalg::Mat;
use crate::numeric::weights::normalised;
use std::sync::Arc;

/// Nodes that the gradient of g is averaged over.
const NODES: usize = 256;

/// No direction is held to be so many times longer than the shortest one.
const LONGEST: f64 = 1e3;

/// Theta along axes in which the components of the gradient of g are uncorrelated over what matters of f, with lengths to
/// match; `None` in one dimension, or where no axes are to be had.
///
/// C = E[grad g grad g'] over the mass of the belief, in units of the measure's scale. On a Gaussian f this is its precision
/// matrix, whatever the correlations; on several modes it is the mean of theirs, where a covariance would see the
/// distances between them. Along the eigenvectors a stationary g with lengths l_j has E (dg/dy_j)^2 = s / l_j^2, which
/// gives the lengths.
pub(super) fn along_axes(model: &Model, measure: &dyn Measure, seed: u64) -> Option<Theta> {
    let (d, scale) = (measure.dim(), measure.scale());
    if d == 1 {
        return None;
    }
    let (values, vectors) = gradients(model, measure, seed)?.symmetric_eigen()?;
    let most = values.last().copied().filter(|most| *most > 0.0)?;
    let row = |j: usize| (0..d).map(|i| vectors[(i, j)] / scale[i]).collect();
    let rows: Vec<Vec<f64>> = (0..d).map(row).collect();
    let theta = model.theta();
    let length = |value: &f64| (theta.output_scale / value.max(most / LONGEST.powi(2))).sqrt();
    Some(Theta {
        length_scales: values.iter().map(length).collect(),
        axes: Some(Arc::new(Axes::new(&rows).ok()?)),
        ..theta.clone()
    })
}

/// A typical length along each axis: axes are in units of the measure's scale already.
pub(super) fn scales(measure: &dyn Measure, axes: Option<&Axes>) -> Vec<f64> {
    match axes {
        Some(axes) => vec![1.0; axes.dim()],
        None => measure.scale(),
    }
}

/// E[grad g grad g'], in units of the measure's scale.
fn gradients(model: &Model, measure: &dyn Measure, seed: u64) -> Option<Mat> {
    let (d, scale, posterior) = (measure.dim(), measure.scale(), model.posterior());
    let nodes = model.belief(|belief| Nodes::plausible(measure, belief, 1.0, NODES, seed));
    let nodes = nodes.ok()?;
    let marginals = posterior.marginals(&nodes.points).ok()?;
    let pairs = marginals.iter().zip(&nodes.ln_weights);
    let ln_mass: Vec<f64> = pairs
        .map(|(&at, w)| w + ln_reach(model.warp(), at, 1.0))
        .collect();
    let weights = normalised(&ln_mass)?;
    let mut out = Mat::zeros(d, d);
    for (x, w) in nodes.points.iter().zip(weights) {
        // A gradient takes n^2, and most nodes add nothing.
        if w < 1e-6 {
            continue;
        }
        let slope = posterior.latent(x).ok()?.d_mu;
        let slope: Vec<f64> = slope.iter().zip(&scale).map(|(g, s)| g * s).collect();
        for j in 0..d {
            for i in 0..d {
                out[(i, j)] += w * slope[i] * slope[j];
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Data, Value};
    use crate::engine::Method;
    use crate::measure::Product;
    use crate::numeric::sobol::Sobol;
    use crate::points::Points;
    use crate::warp::Range;

    #[test]
    fn axes_are_those_of_the_precision() {
        // exp(-x' P x / 2) with P = [[20, 15], [15, 20]]: eigenvectors (1, -1) and (1, 1), eigenvalues 5 and 35.
        let ln_f = |x: &[f64]| -10.0 * (x[0] * x[0] + x[1] * x[1]) - 15.0 * x[0] * x[1];
        let mut sobol = Sobol::scrambled(2, 1).unwrap();
        let mut points = Points::empty(2).unwrap();
        for _ in 0..40 {
            let mut u = [0.0; 2];
            sobol.next_into(&mut u);
            points.push(&u.map(|u| 2.0 * u - 1.0)).unwrap();
        }
        let values = points.iter().map(|x| Value::Log(ln_f(x))).collect();
        let data = Data::new(points, values).unwrap();
        let measure = Product::uniform(&[(-1.0, 1.0); 2]).unwrap();
        let method = Method::auto(Range::POSITIVE);
        let model = Model::new(&method, Range::POSITIVE, &measure, &data, 0).unwrap();
        let theta = along_axes(&model, &measure, 0).unwrap();
        let rows = theta.axes.unwrap().rows();
        for (row, sign) in rows.iter().zip([-1.0, 1.0]) {
            assert!((row[1] / row[0] - sign).abs() < 0.1, "{rows:?}");
        }
        let ratio = theta.length_scales[0] / theta.length_scales[1];
        assert!((ratio / 7.0_f64.sqrt() - 1.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn one_dimension_has_no_axes() {
        let points = Points::from_rows(&[vec![0.1], vec![0.4], vec![0.8]]).unwrap();
        let data = Data::new(points, [0.0, -1.0, -4.0].map(Value::Log).to_vec()).unwrap();
        let measure = Product::uniform(&[(0.0, 1.0)]).unwrap();
        let method = Method::auto(Range::POSITIVE);
        let model = Model::new(&method, Range::POSITIVE, &measure, &data, 0).unwrap();
        assert!(along_axes(&model, &measure, 0).is_none());
    }
}

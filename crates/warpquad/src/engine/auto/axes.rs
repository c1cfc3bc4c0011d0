//! Learn from a belief the axes along which g changes at paces of their own.

use super::Tuning;
use crate::belief::{Axes, Belief, Model, Theta};
use crate::functional::Nodes;
use crate::measure::Measure;
use crate::numeric::linalg::Mat;
use crate::numeric::weights::normalised;
use std::sync::Arc;

/// Theta along axes in which the components of the gradient of g are uncorrelated over the mass of
/// f, with lengths to match; `None` in one dimension, or where no axes are to be had.
///
/// C = E[grad g grad g'] over the mass of the belief, in units of the measure's scale. On a
/// Gaussian f this is its precision matrix, whatever the correlations. On several modes it is the
/// mean of theirs, where a covariance would see the distances between them. Along the eigenvectors
/// a stationary g with lengths l_j has E (dg/dy_j)^2 = s / l_j^2, which gives the lengths.
pub(super) fn along_axes(
    model: &Model,
    measure: &dyn Measure,
    seed: u64,
    tuning: &Tuning,
) -> Option<Theta> {
    let (d, scale, circles) = (measure.dim(), measure.scale(), measure.circles());
    let is_angle = |d: &usize| circles.as_ref().is_some_and(|c| c.each()[*d].is_some());
    let (angles, lines): (Vec<usize>, Vec<usize>) = (0..d).partition(is_angle);
    if lines.len() < 2 {
        return None;
    }
    let slopes = gradients(model, measure, seed, tuning.axes_nodes)?;
    let among = Mat::from_fn(lines.len(), lines.len(), |i, j| {
        slopes[(lines[i], lines[j])]
    });
    let (along, vectors) = among.symmetric_eigen()?;
    let most = along.last().copied().filter(|most| *most > 0.0)?;
    let (mut rows, mut values) = (vec![vec![0.0; d]; d], vec![0.0; d]);
    // An angle stays in its own row; a turned one would be no angle.
    for &i in &angles {
        rows[i][i] = 1.0 / scale[i];
        values[i] = slopes[(i, i)];
    }
    for (j, (&row, value)) in lines.iter().zip(along).enumerate() {
        for (i, &column) in lines.iter().enumerate() {
            rows[row][column] = vectors[(i, j)] / scale[column];
        }
        values[row] = value;
    }
    let theta = model.theta();
    let length =
        |value: &f64| (theta.output_scale / value.max(most / tuning.longest_axis.powi(2))).sqrt();
    Some(Theta {
        length_scales: values.iter().map(length).collect(),
        axes: Some(Arc::new(Axes::new(&rows).ok()?)),
        ..theta.clone()
    })
}

/// E[grad g grad g'], in units of the measure's scale.
fn gradients(model: &Model, measure: &dyn Measure, seed: u64, nodes: usize) -> Option<Mat> {
    let (d, scale, process) = (measure.dim(), measure.scale(), model.process());
    let nodes = Nodes::plausible(measure, model, 1.0, nodes, seed).ok()?;
    let reach = model.ln_reach(&nodes.points, 1.0).ok()?;
    let pairs = reach.iter().zip(&nodes.ln_weights);
    let ln_mass: Vec<f64> = pairs.map(|(reach, w)| w + reach).collect();
    let weights = normalised(&ln_mass)?;
    let mut out = Mat::zeros(d, d);
    for (x, w) in nodes.points.iter().zip(weights) {
        // A gradient takes n^2, and most nodes add nothing.
        if w < 1e-6 {
            continue;
        }
        let slope = process.latent(x).ok()?.d_mu;
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
    use super::super::tests::{history, line_history, model_with_nugget};
    use super::*;
    use crate::numeric::sobol::Sobol;

    #[test]
    fn axes_are_those_of_the_precision() {
        // exp(-x' P x / 2) with P = [[20, 15], [15, 20]]: eigenvectors (1, -1) and (1, 1),
        // eigenvalues 5 and 35.
        let ln_f = |x: &[f64]| -10.0 * (x[0] * x[0] + x[1] * x[1]) - 15.0 * x[0] * x[1];
        let mut sobol = Sobol::scrambled(2, 1).unwrap();
        let points = (0..40).map(|_| {
            let mut u = [0.0; 2];
            sobol.next_into(&mut u);
            u.map(|u| 2.0 * u - 1.0).to_vec()
        });
        let points: Vec<Vec<f64>> = points.collect();
        let seen = history(&[(-1.0, 1.0); 2], &points, ln_f);
        let model = model_with_nugget(&seen, 1e-6);
        let measure = seen.frame().measure();
        let theta = along_axes(&model, measure, 0, &Tuning::default()).unwrap();
        let rows = theta.axes.unwrap().rows();
        for (row, sign) in rows.iter().zip([-1.0, 1.0]) {
            assert!((row[1] / row[0] - sign).abs() < 0.1, "{rows:?}");
        }
        let ratio = theta.length_scales[0] / theta.length_scales[1];
        assert!((ratio / 7.0_f64.sqrt() - 1.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn one_dimension_has_no_axes() {
        let seen = line_history(3, |x| -4.0 * x * x);
        let model = model_with_nugget(&seen, 1e-6);
        assert!(along_axes(&model, seen.frame().measure(), 0, &Tuning::default()).is_none());
    }
}

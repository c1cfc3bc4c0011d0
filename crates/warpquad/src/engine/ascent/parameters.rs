//! Work out what a climb has to know of the parameters of a prior.

use crate::engine::Frame;
use crate::engine::auto::Parameters;
use crate::measure::{Circle, Measure};

/// A normal law has less than this beyond each end of what a climb may ask for.
const BEYOND: f64 = 3e-14;

/// A parameter that changes by less than this factor does not set the scale of anything.
const DECADE: f64 = 10.0;

/// What a climb has to know of the parameters of a prior.
pub(super) fn parameters(measure: &dyn Measure, free: &Frame) -> Parameters {
    let dim = free.dim();
    let end = |p: f64| {
        let mut z = vec![0.0; dim];
        free.measure().quantile(&vec![p; dim], &mut z);
        z
    };
    let support = measure.support();
    let at = |z: f64| free.point_from_frame(&vec![z; dim]);
    let (middle, higher) = (at(0.0), at(0.5));
    let unit = |i: usize| match support[i] {
        _ if measure
            .circles()
            .is_some_and(|circles| circles.each()[i].is_some()) =>
        {
            None
        }
        // The coordinate of a log-uniform parameter is a logarithm but near the ends.
        (low, high)
            if high > DECADE * low && (low > 0.0 || high == f64::INFINITY && low == 0.0) =>
        {
            Some(2.0 * (higher[i] / middle[i]).ln())
        }
        (f64::NEG_INFINITY, f64::INFINITY) => Some(2.0 * (higher[i] - middle[i])),
        _ => None,
    };
    let circles = free.measure().circles();
    let circle = |i: usize| circles.as_ref().and_then(|circles| circles.each()[i]);
    let ends = end(BEYOND).into_iter().zip(end(1.0 - BEYOND)).enumerate();
    // A climb may go once round in either direction.
    let ends = ends.map(|(i, ends)| match circle(i) {
        Some(Circle { start, period }) => (start - period, start + 2.0 * period),
        None => ends,
    });
    Parameters {
        ends: ends.collect(),
        is_positive: support.iter().map(|&(low, _)| low >= 0.0).collect(),
        is_scale: support
            .iter()
            .map(|&ends| ends == (0.0, f64::INFINITY))
            .collect(),
        units: (0..dim).map(unit).collect(),
    }
}

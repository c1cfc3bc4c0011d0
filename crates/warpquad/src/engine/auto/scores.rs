//! Score models of the same f by what they say of each observation given the others.

use super::Tuning;
use crate::belief::{Model, ln_sizes};
use crate::numeric::special::ln_normal_pdf;
use crate::warp::{Marginal, Warp};

/// The largest of the finite values and the count-th largest, or the last if they are fewer; 0
/// twice without any.
pub(super) fn largest(values: impl Iterator<Item = f64>, count: usize) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.truncate(count);
    let end = |value: Option<&f64>| value.copied().unwrap_or(0.0);
    (end(sorted.first()), end(sorted.last()))
}

/// The observations that judge models, left out one by one: g, and what the others say of it.
///
/// Z does not depend on how well f is known far below its largest value. On the way up to a peak
/// there may be one or two observations above that, so some judge in any case.
fn left_out(model: &Model, tuning: &Tuning) -> Vec<(f64, Marginal)> {
    let process = model.process();
    let sizes = ln_sizes(model.warp(), process.g());
    let judges = tuning.judges_per_dimension * (process.points().dim() + 1);
    let (top, last) = largest(sizes.iter().copied(), judges);
    let lowest = last.min(top - tuning.judged_nats);
    let all = process.g().iter().copied().zip(process.leave_one_out());
    let pairs = all.zip(sizes);
    pairs
        .filter(|(_, size)| *size >= lowest)
        .map(|(pair, _)| pair)
        .collect()
}

/// ln p(f_i | the others) at the observations that judge.
///
/// These are densities of f itself, N(g_i) / |xi'(g_i)|, and so comparable between warps.
pub(super) fn scores(model: &Model, tuning: &Tuning) -> Vec<f64> {
    coarse_scores(model, 0.0, tuning)
}

/// The same where f is asked for to this part of itself only: what is predicted better than that
/// is as good.
pub(super) fn coarse_scores(model: &Model, part: f64, tuning: &Tuning) -> Vec<f64> {
    let score = |(g, at): (f64, Marginal)| {
        let local = model.warp().local(g);
        // d g / d ln f = (xi - offset) / xi'.
        let sd = at.s.sqrt().hypot(part * local.value / local.slope);
        ln_normal_pdf((g - at.mu) / sd) - sd.ln() - local.ln_unit - local.slope.abs().ln()
    };
    left_out(model, tuning).into_iter().map(score).collect()
}

/// By how much one model's scores are better in sum than another's, with its standard error.
pub(super) fn difference(new: &[f64], old: &[f64]) -> (f64, f64) {
    let each: Vec<f64> = new.iter().zip(old).map(|(new, old)| new - old).collect();
    let sum: f64 = each.iter().sum();
    let mean = sum / each.len().max(1) as f64;
    let squares: f64 = each.iter().map(|x| (x - mean).powi(2)).sum();
    (sum, squares.sqrt())
}

/// How many of its own sds a model is off where an observation is left out, in the root of the
/// mean square; 1 at least.
pub(super) fn understatement(model: &Model, tuning: &Tuning) -> f64 {
    let left_out = left_out(model, tuning);
    let squares = left_out.iter().map(|(g, at)| (g - at.mu).powi(2) / at.s);
    (squares.sum::<f64>() / left_out.len().max(1) as f64)
        .sqrt()
        .max(1.0)
}

/// The root mean square of what a model's predictions of left-out g are off by.
pub(super) fn left_out_error(model: &Model, tuning: &Tuning) -> f64 {
    let left_out = left_out(model, tuning);
    let squares = left_out.iter().map(|(g, at)| (g - at.mu).powi(2));
    (squares.sum::<f64>() / left_out.len().max(1) as f64).sqrt()
}

/// The mean share of a model's left-out variances that is its own, not that of declared noise.
pub(super) fn own_share(model: &Model, noise: f64, tuning: &Tuning) -> f64 {
    let left_out = left_out(model, tuning);
    let own = left_out
        .iter()
        .map(|(_, at)| (1.0 - noise / at.s).clamp(0.0, 1.0));
    own.sum::<f64>() / left_out.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{line_history, model_with_nugget};
    use super::*;

    #[test]
    fn digits_that_are_not_asked_for_win_nothing() {
        let seen = line_history(20, |x| -9.0 * (x - 0.4).powi(2));
        let tuning = Tuning::default();
        let [exact, blurred] = [1e-6, 1e-4].map(|nugget| model_with_nugget(&seen, nugget));
        let gain = |part: f64| {
            let [exact, blurred] = [&exact, &blurred].map(|m| coarse_scores(m, part, &tuning));
            difference(&exact, &blurred).0 / exact.len() as f64
        };
        assert!(gain(0.0) > 1.0, "{}", gain(0.0));
        assert!(gain(0.1).abs() < 0.02, "{}", gain(0.1));
    }

    #[test]
    fn the_difference_of_scores_has_the_error_of_a_sum() {
        // Gains 1, 2 and 3: their sum is 6, and the squares about their mean add up to 2.
        let (sum, error) = difference(&[1.0, 3.0, 5.0], &[0.0, 1.0, 2.0]);
        assert_eq!((sum, error), (6.0, 2.0_f64.sqrt()));
    }

    #[test]
    fn the_largest_values_leave_out_what_is_not_finite() {
        let values = [3.0, f64::NEG_INFINITY, 7.0, 5.0];
        assert_eq!(largest(values.into_iter(), 2), (7.0, 5.0));
        assert_eq!(largest(values.into_iter(), 9), (7.0, 3.0));
        assert_eq!(largest([].into_iter(), 2), (0.0, 0.0));
    }
}

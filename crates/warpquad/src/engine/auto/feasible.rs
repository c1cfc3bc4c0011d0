//! Decide what is learnt about where f is positive and where evaluations succeed.

use super::{Auto, Tuning, schedule};
use crate::belief::{Belief, Edges, Ensemble, Feasible, Model, ln_sizes};
use crate::data::Data;
use crate::engine::History;
use crate::engine::strategy::{Choice, Kept};
use crate::error::Result;
use crate::functional::{Nodes, posterior_weights};
use crate::measure::Measure;
use crate::numeric::random::Rng;
use crate::numeric::stream::Stream;
use crate::numeric::weights::systematic;
use crate::points::Points;
use crate::warp::Range;
use std::sync::Arc;

/// What is asked: where f is positive, or where an evaluation gives a positive value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Z: a failure counts only where it is taken for a zero.
    Answer,
    /// A choice: a failure is an evaluation lost.
    Choice,
}

/// Whether zeros are learnt as an edge: a wall of zeros is no smooth g.
fn has_edges(auto: &Auto, seen: &History) -> bool {
    auto.warp.follows_ln_f() && seen.range() == Range::POSITIVE
}

/// What the process is conditioned on: the positive values where zeros are learnt as an edge.
pub(super) fn data(auto: &Auto, seen: &History) -> Result<Data> {
    match has_edges(auto, seen) {
        true => seen.positive_data(),
        false => seen.data(),
    }
}

/// Points with whether f is positive there; `None` unless it is in some and not in others.
fn signs(auto: &Auto, seen: &History, asked: Asked) -> Option<(Points, Vec<bool>)> {
    let (mut points, mut positive) = (Points::empty(seen.dim()).ok()?, Vec::new());
    let zeros = has_edges(auto, seen);
    for (i, z) in seen.points.iter().enumerate() {
        points.push(z).ok()?;
        positive.push(!zeros || seen.is_positive(i));
    }
    if asked == Asked::Choice || seen.failed_is_zero() {
        for z in seen.failed() {
            points.push(z).ok()?;
            positive.push(false);
        }
    }
    let mixed = positive.contains(&true) && positive.contains(&false);
    mixed.then_some((points, positive))
}

/// Where f is positive, for Z; `None` where nothing says that it is not so everywhere.
pub(super) fn for_answer(auto: &Auto, seen: &History) -> Option<Arc<Feasible>> {
    learnt(auto, seen, Asked::Answer)
}

/// What is asked, learnt from all observations; `None` where it is so everywhere, as far as is
/// seen.
pub(super) fn learnt(auto: &Auto, seen: &History, asked: Asked) -> Option<Arc<Feasible>> {
    let (points, positive) = signs(auto, seen, asked)?;
    let scale = seen.frame().measure().scale();
    // Where nothing can be learnt f counts as positive everywhere, as if nothing had been seen.
    Feasible::learn(&points, &positive, &scale)
        .ok()
        .map(Arc::new)
}

/// Where an evaluation gives a positive value, for a choice, with edges of the last milestone.
pub(super) fn for_choice(auto: &Auto, seen: &History, kept: &mut Kept) -> Option<Arc<Feasible>> {
    let (points, positive) = signs(auto, seen, Asked::Choice)?;
    let scale = seen.frame().measure().scale();
    let edges = edges(auto, seen, kept)?;
    Feasible::with(&points, &positive, &scale, edges)
        .ok()
        .map(Arc::new)
}

/// The edges at the last milestone: a function of the history, so that a restored run finds them.
fn edges(auto: &Auto, seen: &History, kept: &mut Kept) -> Option<Edges> {
    let scale = seen.frame().measure().scale();
    let n = schedule::milestone(seen.len(), &auto.tuning);
    if let Some((edges, at)) = kept.edges
        && at == n
    {
        return Some(edges);
    }
    let then = signs(auto, &seen.first(n), Asked::Choice);
    let early = then.is_none();
    let (points, positive) = then.or_else(|| signs(auto, seen, Asked::Choice))?;
    let edges = Feasible::edges_for(&points, &positive, &scale).ok()?;
    if !early {
        kept.edges = Some((edges, n));
    }
    Some(edges)
}

/// The next point, if this choice is one to look for the edge of a region of zeros: where f is
/// largest among the places where it may be 0.
///
/// A look at the tails of g never asks where f ends, since an observation of 0 narrows none of
/// them.
pub(super) fn edge_point(
    auto: &Auto,
    seen: &History,
    lead: &Model,
    choice: &Choice<'_>,
) -> Result<Option<Vec<f64>>> {
    let tuning = &auto.tuning;
    let due = choice.step.is_multiple_of(tuning.edge_one_in);
    let zeros = has_edges(auto, seen) && (0..seen.len()).any(|i| !seen.is_positive(i));
    let counts = zeros || seen.failed_is_zero() && seen.failed().next().is_some();
    let Some(feasible) = lead.feasible().filter(|_| due && counts) else {
        return Ok(None);
    };
    let measure = seen.frame().measure();
    let seed = seen.streams().rng(Stream::Choice).child(1).next_u64() ^ choice.step as u64;
    let everywhere = lead.clone().within(None);
    let nodes = Nodes::plausible(measure, &everywhere, 1.0, tuning.edge_nodes, seed)?;
    let ln_f = ln_sizes(lead.warp(), &lead.process().means(&nodes.points)?);
    let ln_c = feasible.ln_chance(&nodes.points);
    let all: Vec<f64> = (0..ln_f.len())
        .map(|i| ln_f[i] + nodes.ln_weights[i])
        .collect();
    let doubt = |i: usize| 0.5 * (ln_c[i] + (-ln_c[i].exp_m1()).max(1e-300).ln());
    let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass = |i: usize| (all[i] + ln_c[i] - top).exp();
    let doubted: f64 = (0..all.len())
        .map(|i| (all[i] + 2.0 * doubt(i) - top).exp())
        .sum();
    let whole: f64 = (0..all.len()).map(mass).sum();
    let matters = doubted > tuning.edge_part * whole;
    if !matters {
        return Ok(None);
    }
    let free = |i: &usize| choice.taken.iter().all(|x| x != nodes.points.row(*i));
    let density = |i: usize| {
        let x = nodes.points.row(i);
        let ln_pi = match measure.has_density() {
            true => measure.ln_density(x),
            false => 0.0,
        };
        ln_f[i] + ln_pi + doubt(i)
    };
    let best = (0..all.len())
        .filter(free)
        .max_by(|&a, &b| density(a).total_cmp(&density(b)));
    Ok(best.map(|i| nodes.points.row(i).to_vec()))
}

/// Draws of ln of the part of Z that the uncertain edge leaves, in parts of what its mean leaves.
pub(super) fn ln_factors(
    feasible: &Feasible,
    ensemble: &Ensemble,
    measure: &dyn Measure,
    tuning: &Tuning,
    rng: &mut Rng,
) -> Result<Vec<f64>> {
    let nodes = Nodes::plausible(measure, ensemble, 1.0, tuning.edge_nodes, rng.next_u64())?;
    let weights = posterior_weights(ensemble, &nodes)?;
    let picks = systematic(&weights, tuning.edge_draws_nodes, rng.uniform());
    let (mut chosen, mut parts): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    for pick in picks {
        let part = 1.0 / tuning.edge_draws_nodes as f64;
        match chosen.last() == Some(&pick) {
            true => *parts.last_mut().unwrap_or(&mut 0.0) += part,
            false => {
                chosen.push(pick);
                parts.push(part);
            }
        }
    }
    let points = nodes.points.select(&chosen);
    let chances = feasible.ln_chance(&points);
    let drawn = feasible.draws(&points, tuning.hindsight_draws, rng)?;
    let ln_part = |k: usize| {
        let pairs = drawn.col(k).iter().zip(&parts).zip(&chances);
        let sum: f64 = pairs
            .map(|((one, part), ln_c)| part * one * (-ln_c).exp())
            .sum();
        sum.max(LEAST_PART).ln()
    };
    Ok((0..drawn.cols())
        .map(|k| tuning.edge_widening * ln_part(k))
        .collect())
}

/// An edge that leaves less than this of Z says that it is not known at all.
const LEAST_PART: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::super::tests::{auto, history};
    use super::*;

    /// A run that saw 0 beyond x = 0.6, and failures beyond 0.9.
    fn seen() -> History {
        let points: Vec<Vec<f64>> = (0..9).map(|i| vec![0.1 * f64::from(i)]).collect();
        let ln_f = |x: &[f64]| {
            if x[0] > 0.55 {
                f64::NEG_INFINITY
            } else {
                -x[0]
            }
        };
        let mut seen = history(&[(0.0, 1.0)], &points, ln_f);
        seen.add_failed(&[0.95], f64::INFINITY).unwrap();
        seen
    }

    #[test]
    fn zeros_are_an_edge_and_failures_only_where_they_are_zeros() {
        let (auto, mut seen) = (auto(), seen());
        assert_eq!(data(&auto, &seen).unwrap().len(), 6);
        let negatives = |seen: &History, asked| {
            let (_, positive) = signs(&auto, seen, asked).unwrap();
            positive.iter().filter(|p| !**p).count()
        };
        assert_eq!(negatives(&seen, Asked::Answer), 3);
        assert_eq!(negatives(&seen, Asked::Choice), 4);
        seen.failed_is_zero = true;
        assert_eq!(negatives(&seen, Asked::Answer), 4);
        let at = for_answer(&auto, &seen).unwrap();
        assert!(at.ln_chance_at(&[0.2]).exp() > 0.9 && at.ln_chance_at(&[0.8]).exp() < 0.1);
    }

    #[test]
    fn without_zeros_and_failures_nothing_is_learnt() {
        let points: Vec<Vec<f64>> = (0..9).map(|i| vec![0.1 * f64::from(i)]).collect();
        let plain = history(&[(0.0, 1.0)], &points, |x| -x[0]);
        assert!(for_answer(&auto(), &plain).is_none());
        assert!(for_choice(&auto(), &plain, &mut Kept::default()).is_none());
    }

    #[test]
    fn a_choice_keeps_its_edges_until_the_next_milestone() {
        let (auto, seen, mut kept) = (auto(), seen(), Kept::default());
        let first = for_choice(&auto, &seen, &mut kept).unwrap();
        assert_eq!(
            first.edges(),
            for_choice(&auto, &seen, &mut kept).unwrap().edges()
        );
    }
}

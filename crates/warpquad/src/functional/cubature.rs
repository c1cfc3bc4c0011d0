//! Integrate a positive surface over one or two dimensions by boxes that split where its mass
//! bends.

use super::Nodes;
use crate::error::Result;
use crate::measure::{Form, Measure};
use crate::numeric::gauss::{self, Rule};
use crate::numeric::special::ln_sum_exp;
use crate::points::Points;

/// Gauss-Legendre points along each side of a box, by dimension; beyond, importance nodes do
/// better.
const SIDES: [usize; 2] = [10, 7];

/// Nodes at most.
const MOST_BOX_NODES: usize = 40_000;

/// The relative error at which it ends, by dimension.
const ENDS_AT_ERROR: [f64; 2] = [1e-7, 1e-6];

/// What halving leaves of the error that it showed: 2^-10 and less where the surface is smooth on
/// the scale of the box.
const ERROR_LEFT_BY_HALVING: f64 = 0.1;

/// The boxes cover the scout's nodes down to e^-30 of the largest mass.
const COVERED_NATS: f64 = 30.0;

/// A box whose nodes see less than this part of the mass that a scout found there has missed a
/// peak.
const SEEN_PART: f64 = 0.3;

/// ... unless that is less than this part of all of the mass.
const NEGLIGIBLE: f64 = 1e-4;

/// Nodes for integrals of surfaces like exp(ln_f) against the measure, and their relative error for
/// this one; `None` where the measure has no density or more than two dimensions, or the boxes do
/// not reach `target`.
///
/// The first box is around a scout, nodes with ln of their mass. Each carries a tensor Gauss rule.
/// The box with the largest error, that by which halving all sides changed its sum, is halved next.
/// The scout shows peaks that the rules of large boxes fall beside.
pub(crate) fn cubature(
    measure: &dyn Measure,
    scout: (&Points, &[f64]),
    ln_f: &dyn Fn(&Points) -> Result<Vec<f64>>,
    target: f64,
) -> Result<Option<(Nodes, f64)>> {
    let d = measure.dim();
    if d > SIDES.len() || !measure.has_density() || matches!(measure.form(), Form::Sample(_)) {
        return Ok(None);
    }
    let Some(scout) = Scouted::new(scout) else {
        return Ok(None);
    };
    let (low, side) = scout.frame(&measure.support());
    if side.iter().any(|side| *side <= 0.0) {
        return Ok(None);
    }
    let mut boxes = Boxes {
        measure,
        ln_f,
        rule: gauss::legendre(SIDES[d - 1]),
        unit: ln_sum_exp(&scout.ln_mass),
        leaves: Vec::new(),
    };
    let all = (0..scout.ln_mass.len()).collect();
    let whole = boxes.leaf(low, side, all, &scout)?;
    boxes.leaves.push(whole);
    let most = MOST_BOX_NODES / boxes.rule.nodes.len().pow(d as u32);
    while boxes.leaves.len() < most && boxes.error() > ENDS_AT_ERROR[d - 1] * boxes.sum() {
        boxes.split_worst(&scout)?;
    }
    let error = boxes.error() / boxes.sum();
    if error.is_nan() || error >= target {
        return Ok(None);
    }
    Ok(Some((boxes.nodes()?, error)))
}

/// The scout's nodes that have mass, with ln of it.
struct Scouted {
    points: Points,
    ln_mass: Vec<f64>,
}

impl Scouted {
    fn new((points, ln_mass): (&Points, &[f64])) -> Option<Scouted> {
        let top = ln_mass.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let heavy: Vec<usize> = (0..ln_mass.len())
            .filter(|&i| ln_mass[i] > top - COVERED_NATS)
            .collect();
        (!heavy.is_empty() && top.is_finite()).then(|| Scouted {
            points: points.select(&heavy),
            ln_mass: heavy.iter().map(|&i| ln_mass[i]).collect(),
        })
    }

    /// The lower corner and the sides of the box around all nodes, a tenth wider on each side,
    /// within the support.
    fn frame(&self, support: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
        let ends = support.iter().enumerate().map(|(j, &(lo, hi))| {
            let along = self.points.iter().map(|x| x[j]);
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            let margin = 0.1 * (high - low);
            let low = (low - margin).max(lo);
            (low, (high + margin).min(hi) - low)
        });
        ends.unzip()
    }
}

struct Leaf {
    low: Vec<f64>,
    side: Vec<f64>,
    points: Points,
    ln_weights: Vec<f64>,
    sum: f64,
    error: f64,
    /// The scout's nodes inside.
    inside: Vec<usize>,
}

struct Boxes<'a> {
    measure: &'a dyn Measure,
    ln_f: &'a dyn Fn(&Points) -> Result<Vec<f64>>,
    rule: Rule,
    /// ln of the unit of all sums.
    unit: f64,
    leaves: Vec<Leaf>,
}

impl Boxes<'_> {
    fn sum(&self) -> f64 {
        self.leaves.iter().map(|leaf| leaf.sum).sum()
    }

    fn error(&self) -> f64 {
        self.leaves.iter().map(|leaf| leaf.error).sum()
    }

    /// A box with its rule; its error is its whole sum until it is known better.
    fn leaf(
        &self,
        low: Vec<f64>,
        side: Vec<f64>,
        inside: Vec<usize>,
        scout: &Scouted,
    ) -> Result<Leaf> {
        let (d, m) = (low.len(), self.rule.nodes.len());
        let mut points = Points::empty(d)?;
        let mut ln_weights = Vec::with_capacity(m.pow(d as u32));
        let mut x = vec![0.0; d];
        for k in 0..m.pow(d as u32) {
            let mut ln_weight = 0.0;
            for j in 0..d {
                let i = k / m.pow(j as u32) % m;
                // The rule is for [-1, 1].
                x[j] = low[j] + 0.5 * side[j] * (self.rule.nodes[i] + 1.0);
                ln_weight += (0.5 * side[j] * self.rule.weights[i]).ln();
            }
            points.push(&x)?;
            ln_weights.push(ln_weight + self.measure.ln_density(&x));
        }
        let terms: Vec<f64> = (self.ln_f)(&points)?
            .iter()
            .zip(&ln_weights)
            .map(|(f, w)| (f + w - self.unit).exp())
            .collect();
        let sum: f64 = terms.iter().sum();
        let found: f64 = inside
            .iter()
            .map(|&i| (scout.ln_mass[i] - self.unit).exp())
            .sum();
        let missed = found > NEGLIGIBLE && sum < SEEN_PART * found;
        Ok(Leaf {
            error: if missed { found } else { sum },
            low,
            side,
            points,
            ln_weights,
            sum,
            inside,
        })
    }

    fn split_worst(&mut self, scout: &Scouted) -> Result<()> {
        let worst = (0..self.leaves.len())
            .max_by(|&a, &b| self.leaves[a].error.total_cmp(&self.leaves[b].error));
        let Some(worst) = worst else { return Ok(()) };
        let parent = self.leaves.swap_remove(worst);
        let side: Vec<f64> = parent.side.iter().map(|side| 0.5 * side).collect();
        let d = side.len();
        // Bit j of a part's number says in which half along side j it is.
        let part_of = |x: &[f64]| -> usize {
            let upper = |j: &usize| x[*j] >= parent.low[*j] + side[*j];
            (0..d).filter(upper).map(|j| 1 << j).sum()
        };
        let mut inside = vec![Vec::new(); 1 << d];
        for i in parent.inside {
            inside[part_of(scout.points.row(i))].push(i);
        }
        let mut parts = Vec::with_capacity(inside.len());
        for (k, inside) in inside.into_iter().enumerate() {
            let low = (0..d).map(|j| parent.low[j] + (k >> j & 1) as f64 * side[j]);
            parts.push(self.leaf(low.collect(), side.clone(), inside, scout)?);
        }
        let sum: f64 = parts.iter().map(|part| part.sum).sum();
        let change = (parent.sum - sum).abs();
        let least = 1.0 / parts.len() as f64;
        for part in &mut parts {
            // A part that still misses what the scout found keeps that as its error. The others
            // share what halving changed: where it came from is not known, so none is let off.
            if part.error <= part.sum {
                let share = if sum > 0.0 { part.sum / sum } else { 0.0 };
                part.error = ERROR_LEFT_BY_HALVING * change * share.max(least);
            }
        }
        self.leaves.extend(parts);
        Ok(())
    }

    fn nodes(self) -> Result<Nodes> {
        let mut points = Points::empty(self.measure.dim())?;
        let mut ln_weights = Vec::new();
        for leaf in self.leaves {
            points.extend(&leaf.points)?;
            ln_weights.extend(leaf.ln_weights);
        }
        Ok(Nodes {
            points,
            ln_weights,
            replicates: 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Product, univariate};

    fn error_of(
        measure: &Product,
        ln_f: impl Fn(&[f64]) -> f64 + Sync,
        truth: f64,
    ) -> Option<(f64, f64)> {
        let scout = Nodes::sobol(measure, 4096, 1).unwrap();
        let ln_f = |x: &Points| Ok(x.iter().map(&ln_f).collect::<Vec<f64>>());
        let pairs = ln_f(&scout.points).unwrap();
        let ln_mass: Vec<f64> = pairs
            .iter()
            .zip(&scout.ln_weights)
            .map(|(f, w)| f + w)
            .collect();
        let found = cubature(measure, (&scout.points, &ln_mass), &ln_f, 1e-4).unwrap();
        found.map(|(nodes, claimed)| {
            let f = ln_f(&nodes.points).unwrap();
            let terms: Vec<f64> = f
                .iter()
                .zip(&nodes.ln_weights)
                .map(|(f, w)| f + w)
                .collect();
            ((ln_sum_exp(&terms) - truth).abs(), claimed)
        })
    }

    #[test]
    fn a_peak_in_every_dimension() {
        for d in 1..=2 {
            let pi = Product::uniform(&vec![(0.0, 1.0); d]).unwrap();
            let ln_f =
                |x: &[f64]| -0.5 * x.iter().map(|x| ((x - 0.37) / 0.02).powi(2)).sum::<f64>();
            let truth = d as f64 * (0.02 * std::f64::consts::TAU.sqrt()).ln();
            let (error, claimed) = error_of(&pi, ln_f, truth).unwrap();
            assert!(
                error <= claimed.max(1e-9) && claimed < 1e-4,
                "{d}: {error} {claimed}"
            );
        }
    }

    #[test]
    fn behind_a_normal_prior() {
        let normal = || univariate("normal", &[1.0, 2.0]).unwrap();
        let pi = Product::new(vec![normal(), normal()]).unwrap();
        // The likelihood N(y = 4; x, 1) for each: Z is N(4; 1, 5) twice.
        let ln_n = |r2: f64, v: f64| -0.5 * (r2 / v + (std::f64::consts::TAU * v).ln());
        let ln_f = |x: &[f64]| x.iter().map(|x| ln_n((x - 4.0).powi(2), 1.0)).sum();
        let (error, claimed) = error_of(&pi, ln_f, 2.0 * ln_n(9.0, 5.0)).unwrap();
        assert!(error <= claimed.max(1e-9), "{error} {claimed}");
    }

    #[test]
    fn three_dimensions_are_left_to_others() {
        let pi = Product::uniform(&[(0.0, 1.0); 3]).unwrap();
        assert!(error_of(&pi, |_| 0.0, 0.0).is_none());
    }
}

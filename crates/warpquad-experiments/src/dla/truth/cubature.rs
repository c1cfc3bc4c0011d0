//! Integrate over the rectangle of one absorber by adaptive cubature, in logs.

use super::{Answer, Problem};
use crate::dla::prior::LOG_NHI;
use std::collections::BinaryHeap;
use warpquad::measure::Univariate;
use warpquad::numeric::gauss::{Rule, legendre};
use warpquad::numeric::special::ln_sum_exp;
use warpquad::{Error, Result};

/// Cells to begin with: two in each half of a unit of log_nhi. In redshift there are enough that an
/// absorber, tens of pixels wide, meets several.
const PIXELS_A_CELL: usize = 4;
const CELLS_IN_LOG_NHI: usize = 6;
/// Relative difference of the two rules at which to stop; the better rule is far better than that.
const ENOUGH: f64 = 1e-5;

/// ln Z for one absorber: Gauss-Legendre rules with 6^2 nodes on cells. Cells are split where they
/// differ most from rules with 4^2 nodes.
///
/// The standard error is the sum of the differences.
pub fn cubature(problem: &Problem<'_>, limit: usize) -> Result<Answer> {
    if problem.absorbers != 1 {
        let reason = "cubature takes one absorber";
        return Err(Error::spec("absorbers", reason));
    }
    let before = problem.evaluations.get();
    let rules = [legendre(6), legendre(4)];
    let (lo, hi) = problem.likelihood.z_range();
    let across = problem.likelihood.len().div_ceil(PIXELS_A_CELL);
    let mut cells = BinaryHeap::new();
    for part in parts(lo, hi, across) {
        for column in parts(LOG_NHI.0, LOG_NHI.1, CELLS_IN_LOG_NHI) {
            cells.push(Piece::new(problem, &rules, [part, column])?);
        }
    }
    loop {
        let spent = problem.evaluations.get() - before;
        let (ln_z, ln_error) = totals(&cells);
        // The sums change little with a split: look at them now and then only.
        for _ in 0..32 {
            let enough = ln_error - ln_z < ENOUGH.ln() || spent >= limit;
            let Some(worst) = (!enough).then(|| cells.pop()).flatten() else {
                return Ok(Answer {
                    ln_z,
                    ln_sd: (ln_error - ln_z).exp(),
                    evaluations: spent,
                });
            };
            let [z, column] = worst.sides;
            for z in parts(z.0, z.1, 2) {
                for column in parts(column.0, column.1, 2) {
                    cells.push(Piece::new(problem, &rules, [z, column])?);
                }
            }
        }
    }
}

fn parts(lo: f64, hi: f64, n: usize) -> impl Iterator<Item = (f64, f64)> {
    let width = (hi - lo) / n as f64;
    (0..n).map(move |i| (lo + width * i as f64, lo + width * (i + 1) as f64))
}

fn totals(cells: &BinaryHeap<Piece>) -> (f64, f64) {
    let integrals: Vec<f64> = cells.iter().map(|cell| cell.ln_integral).collect();
    let errors: Vec<f64> = cells.iter().map(|cell| cell.ln_error).collect();
    (ln_sum_exp(&integrals), ln_sum_exp(&errors))
}

/// A cell: its sides, ln of its part of Z, and ln of how far two rules differ about it.
#[derive(Debug, PartialEq)]
struct Piece {
    sides: [(f64, f64); 2],
    ln_integral: f64,
    ln_error: f64,
}

impl Piece {
    fn new(problem: &Problem<'_>, rules: &[Rule; 2], sides: [(f64, f64); 2]) -> Result<Piece> {
        let fine = integral(problem, &rules[0], sides)?;
        let coarse = integral(problem, &rules[1], sides)?;
        Ok(Piece {
            sides,
            ln_integral: fine,
            ln_error: fine + (coarse - fine).exp_m1().abs().ln(),
        })
    }
}

/// ln of the integral of prior times likelihood over a cell.
fn integral(problem: &Problem<'_>, rule: &Rule, [z, column]: [(f64, f64); 2]) -> Result<f64> {
    let (lo, hi) = problem.likelihood.z_range();
    let at = |(a, b): (f64, f64), node: f64| 0.5 * (a + b) + 0.5 * (b - a) * node;
    let mut terms = Vec::with_capacity(rule.nodes.len().pow(2));
    for (i, wi) in rule.nodes.iter().zip(&rule.weights) {
        for (j, wj) in rule.nodes.iter().zip(&rule.weights) {
            let (z, log_nhi) = (at(z, *i), at(column, *j));
            let ln_f = problem.ln_f(&[z, log_nhi])?;
            terms.push((wi * wj).ln() + problem.column.ln_density(log_nhi) + ln_f);
        }
    }
    let area = 0.25 * (z.1 - z.0) * (column.1 - column.0) / (hi - lo);
    Ok(area.ln() + ln_sum_exp(&terms))
}

impl Eq for Piece {}

impl Ord for Piece {
    fn cmp(&self, other: &Piece) -> std::cmp::Ordering {
        self.ln_error.total_cmp(&other.ln_error)
    }
}

impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Piece) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

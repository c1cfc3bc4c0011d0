//! Integrate by nested sampling, replacing points along slices that span the whole prior.

use super::{Answer, Problem};
use warpquad::Result;
use warpquad::numeric::random::Rng;
use warpquad::numeric::special::{ln_1m_exp, ln_add_exp, ln_sum_exp};

/// Coordinates moved for each new point, over the number of coordinates. Each move spans the prior,
/// so few are needed.
const SWEEPS: usize = 2;
/// The part of Z that the live points may still hold at the end.
const REST: f64 = 1e-3;

/// A live point, in the unit cube and in the parameters' own units.
#[derive(Debug, Clone)]
struct Live {
    u: Vec<f64>,
    x: Vec<f64>,
    ln_f: f64,
}

/// ln Z by nested sampling with so many live points; the error is Skilling's sqrt(H/n), H the
/// information.
pub fn nested(problem: &Problem<'_>, n: usize, rng: &mut Rng) -> Result<Answer> {
    let before = problem.evaluations.get();
    let mut live = Vec::with_capacity(n);
    for _ in 0..n {
        let u: Vec<f64> = (0..problem.dim()).map(|_| rng.uniform()).collect();
        let x: Vec<f64> = (0..u.len()).map(|d| problem.coordinate(d, u[d])).collect();
        let ln_f = problem.ln_f(&x)?;
        live.push(Live { u, x, ln_f });
    }
    let ln_shrink = -1.0 / n as f64;
    let (mut ln_x, mut ln_z, mut weighted) = (0.0, f64::NEG_INFINITY, 0.0);
    loop {
        let (worst, best) = extremes(&live);
        if ln_x + live[best].ln_f < ln_z + REST.ln() {
            break;
        }
        let limit = live[worst].ln_f;
        let ln_term = ln_x + ln_1m_exp(ln_shrink) + limit;
        let next = ln_add_exp(ln_z, ln_term);
        weighted = weighted * (ln_z - next).exp() + (ln_term - next).exp() * limit;
        (ln_z, ln_x) = (next, ln_x + ln_shrink);
        let mut from = rng.below(n - 1);
        from += usize::from(from >= worst);
        let mut new = live[from].clone();
        for _ in 0..SWEEPS * problem.dim() {
            slice(problem, &mut new, limit, rng)?;
        }
        live[worst] = new;
    }
    let rest: Vec<f64> = live.iter().map(|p| p.ln_f).collect();
    let information = (weighted - ln_z).max(0.0);
    Ok(Answer {
        ln_z: ln_add_exp(ln_z, ln_x + ln_sum_exp(&rest) - (n as f64).ln()),
        ln_sd: (information / n as f64).sqrt(),
        evaluations: problem.evaluations.get() - before,
    })
}

fn extremes(live: &[Live]) -> (usize, usize) {
    let (mut worst, mut best) = (0, 0);
    for (i, point) in live.iter().enumerate() {
        if point.ln_f < live[worst].ln_f {
            worst = i;
        }
        if point.ln_f > live[best].ln_f {
            best = i;
        }
    }
    (worst, best)
}

/// Draw one coordinate anew where f stays above the limit. The bracket is the whole prior at first,
/// and shrinks to the point from both sides.
fn slice(problem: &Problem<'_>, point: &mut Live, limit: f64, rng: &mut Rng) -> Result<()> {
    let d = rng.below(problem.dim());
    let (old_u, old_x) = (point.u[d], point.x[d]);
    let (mut lo, mut hi) = (0.0, 1.0);
    // Below rounding of the coordinate the point itself is all that is left.
    while hi - lo > 1e-14 {
        let u = lo + (hi - lo) * rng.uniform();
        point.x[d] = problem.coordinate(d, u);
        let ln_f = problem.ln_f(&point.x)?;
        if ln_f > limit {
            (point.u[d], point.ln_f) = (u, ln_f);
            return Ok(());
        }
        if u < old_u { lo = u } else { hi = u }
    }
    point.x[d] = old_x;
    Ok(())
}

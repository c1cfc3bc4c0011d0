//! Show periodic parameters cut where the posterior has the least mass.

use crate::figure::corner::column;
use crate::findings::Findings;
use std::borrow::Cow;

/// Arcs among which the one with the fewest draws is sought.
const ARCS: usize = 64;

/// The lower end of the turn in which to show draws on a circle: cut where they are fewest, most of
/// them within the prior's own ends. Where the ends are as good a cut as any, it stays the start.
///
/// ```
/// use warpquad_report::turn;
/// // Draws around 0 on a circle from 0 to 8.
/// let draw = |i: usize| [0.002 * i as f64, 8.0 - 0.002 * i as f64][i % 2];
/// let draws: Vec<f64> = (0..401).map(draw).collect();
/// let low = turn([0.0, 8.0], &draws);
/// assert!((-5.0..-3.0).contains(&low));
/// assert_eq!(turn([0.0, 8.0], &[4.0, 4.1, 3.9]), 0.0);
/// ```
pub fn turn([start, period]: [f64; 2], draws: &[f64]) -> f64 {
    let mut arcs = [0.0; ARCS];
    let part = |x: f64| ((x - start) / period).rem_euclid(1.0);
    for &x in draws {
        arcs[((part(x) * ARCS as f64) as usize).min(ARCS - 1)] += 1.0;
    }
    // Draws near the boundary before arc k; the closer, the more they count.
    let near = |k: usize| -> f64 {
        let side = |by: usize| arcs[(k + by) % ARCS] + arcs[(k + ARCS - 1 - by) % ARCS];
        side(0) + 0.5 * side(1) + 0.25 * side(2)
    };
    let least = (0..ARCS).map(near).fold(f64::INFINITY, f64::min);
    // Numbers of draws differ by their roots.
    if draws.is_empty() || near(0) <= least + 2.0 * (least + 1.0).sqrt() {
        return start;
    }
    // The middle of the longest run of arcs as empty as the emptiest.
    let is_empty = |k: usize| near(k % ARCS) <= least;
    let runs = (0..ARCS).filter(|&k| is_empty(k) && !is_empty(k + ARCS - 1));
    let length = |k: usize| (0..ARCS).take_while(|by| is_empty(k + by)).count();
    let longest = runs.max_by_key(|&k| (length(k), ARCS - k)).unwrap_or(0);
    let middle = (longest + length(longest) / 2) % ARCS;
    let cut = start + period * middle as f64 / ARCS as f64;
    let beyond = draws.iter().filter(|&&x| start + period * part(x) < cut);
    match 2 * beyond.count() > draws.len() {
        true => cut - period,
        false => cut,
    }
}

/// x in the turn that begins at `low`.
pub fn within(x: f64, low: f64, period: f64) -> f64 {
    low + (x - low).rem_euclid(period)
}

/// The findings with every periodic parameter in the turn that shows its draws whole.
pub fn cut(found: &Findings) -> Cow<'_, Findings> {
    if found.circles.iter().all(Option::is_none) {
        return Cow::Borrowed(found);
    }
    let mut out = found.clone();
    for (k, circle) in found.circles.iter().enumerate() {
        let Some(circle) = *circle else {
            continue;
        };
        let low = turn(circle, &column(&found.draws, k));
        let points = out.evaluations.iter_mut().map(|one| &mut one.x);
        let points = points.chain(out.failures.iter_mut().map(|one| &mut one.x));
        for row in points.chain(&mut out.draws).chain(&mut out.prior) {
            if let Some(x) = row.get_mut(k) {
                *x = within(*x, low, circle[1]);
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_across_the_ends_is_shown_whole() {
        let mut found = Findings {
            names: vec!["a".into(), "b".into()],
            circles: vec![None, Some([-2.0, 4.0])],
            ..Findings::default()
        };
        // Two thirds are just below the upper end, so that is where it is shown.
        let angle = |i: usize| match i % 3 {
            0 => -2.0 + 0.001 * i as f64,
            _ => 2.0 - 0.001 * i as f64,
        };
        found.draws = (0..300).map(|i| vec![9.0, angle(i)]).collect();
        let shown = cut(&found);
        let draws = column(&shown.draws, 1);
        assert!(draws.iter().all(|x| (1.6..2.4).contains(x)));
        assert_eq!(column(&shown.draws, 0), column(&found.draws, 0));
    }

    #[test]
    fn flat_draws_stay_between_the_ends() {
        let draws: Vec<f64> = (0..4000)
            .map(|i| 7.0 * (0.618_034 * f64::from(i)).fract())
            .collect();
        assert_eq!(turn([0.0, 7.0], &draws), 0.0);
        assert_eq!(turn([0.0, 7.0], &[]), 0.0);
    }
}

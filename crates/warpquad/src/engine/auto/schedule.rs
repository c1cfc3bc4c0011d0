//! Decide when to fit, and how thoroughly.

use super::Tuning;

/// Whether theta, fitted to `fitted` observations, still serves n of them. Theta moves ever less
/// while a fit takes n^3, so fits wait for a share of the observations.
pub(super) fn still_serves(n: usize, fitted: usize, tuning: &Tuning) -> bool {
    n < fitted + (n / tuning.fit_one_in).max(1)
}

/// Whether n observations are worth a fit from all starting points, with all decisions made again.
pub(super) fn is_full_due(n: usize, full: usize, refit_every: usize, tuning: &Tuning) -> bool {
    n >= full + refit_every.max(n / tuning.full_fit_one_in)
}

/// Whether fits of n observations cost enough to be sparing with them.
pub(super) fn is_sparing(n: usize, dim: usize, tuning: &Tuning) -> bool {
    let most = tuning.sparing_most.max(tuning.sparing_least);
    n >= (tuning.sparing_per_dimension * dim).clamp(tuning.sparing_least, most)
}

/// The number of observations that the exploring model is fitted to: a function of n alone, so
/// that a restored run finds the same.
pub(super) fn milestone(n: usize, tuning: &Tuning) -> usize {
    let step = n.next_power_of_two() / tuning.exploring_fit_one_in;
    let step = step.max(tuning.exploring_fit_every);
    n / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_become_rarer() {
        let tuning = Tuning::default();
        assert!(still_serves(20, 20, &tuning) && !still_serves(21, 20, &tuning));
        // Of 200 observations one fit in 4, a full one in 25.
        assert!(still_serves(203, 200, &tuning) && !still_serves(204, 200, &tuning));
        assert!(!is_full_due(21, 12, 10, &tuning) && is_full_due(22, 12, 10, &tuning));
        assert!(!is_full_due(215, 190, 10, &tuning) && is_full_due(216, 189, 10, &tuning));
    }

    #[test]
    fn long_runs_are_sparing_by_dimension() {
        let tuning = Tuning::default();
        assert!(!is_sparing(59, 1, &tuning) && is_sparing(60, 1, &tuning));
        assert!(!is_sparing(83, 7, &tuning) && is_sparing(84, 7, &tuning));
        assert!(is_sparing(100, 10, &tuning));
    }

    #[test]
    fn milestones_are_every_tenth_and_later_every_eighth_part() {
        let tuning = Tuning::default();
        let of = |n: usize| milestone(n, &tuning);
        assert_eq!([of(9), of(10), of(37), of(64)], [0, 10, 30, 60]);
        assert_eq!([of(127), of(200), of(300)], [112, 192, 256]);
    }
}

//! Say how much a run may spend when its user does not, or only in part.

use super::spec::{Budget, Problem};
use crate::baseline;

/// Evaluations when no limit is given.
const DEFAULT_EVALUATIONS: usize = 100;
/// The same for a baseline, whose integrand is cheap.
const BASELINE_EVALUATIONS: usize = 10_000;

/// The problem with the default number of evaluations, if it has no limit at all.
///
/// ```
/// use warpquad::session::{bounded, spec::Problem};
/// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n";
/// assert_eq!(bounded(Problem::parse(text)?).budget.evaluations, Some(100));
/// let smc = Problem::parse(&format!("{text}method.name = 'smc'"))?;
/// assert_eq!(bounded(smc).budget.evaluations, Some(10_000));
/// let hour = Problem::parse(&format!("{text}budget.seconds = 3600"))?;
/// assert_eq!(bounded(hour).budget.evaluations, None);
/// # Ok::<(), warpquad::session::spec::SpecError>(())
/// ```
pub fn bounded(mut problem: Problem) -> Problem {
    if is_unlimited(&problem.budget) {
        let name = problem.method.name.as_deref();
        problem.budget.evaluations = Some(match name.is_some_and(baseline::is_baseline) {
            true => BASELINE_EVALUATIONS,
            false => DEFAULT_EVALUATIONS,
        });
    }
    problem
}

fn is_unlimited(budget: &Budget) -> bool {
    budget.evaluations.is_none() && budget.seconds.is_none() && budget.log_z_sd.is_none()
}

/// The budget of a run that goes on. The run's own limits hold unless any is given. The run's own
/// audit holds unless another is given, or the evaluations, whose last part it is, have no limit.
pub(super) fn resumed(own: &Budget, given: Budget) -> Budget {
    let limits = match is_unlimited(&given) {
        true => own.clone(),
        false => given.clone(),
    };
    let own_audit = own.audit.filter(|_| {
        limits.evaluations.is_some() || is_unlimited(&limits) // then the default is a number
    });
    Budget {
        audit: given.audit.or(own_audit),
        workers: own.workers,
        ..limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(evaluations: Option<usize>, seconds: Option<f64>, audit: Option<f64>) -> Budget {
        Budget {
            evaluations,
            seconds,
            audit,
            ..Budget::default()
        }
    }

    #[test]
    fn a_run_goes_on_with_its_own_budget_unless_another_is_given() {
        let own = budget(Some(50), None, Some(0.1));
        assert_eq!(resumed(&own, Budget::default()), own);
        let longer = resumed(&own, budget(Some(80), None, None));
        assert_eq!(longer, budget(Some(80), None, Some(0.1)));
        let timed = resumed(&own, budget(None, Some(9.0), None));
        assert_eq!(timed, budget(None, Some(9.0), None));
        let audited = resumed(&own, budget(None, None, Some(0.2)));
        assert_eq!(audited, budget(Some(50), None, Some(0.2)));
    }
}

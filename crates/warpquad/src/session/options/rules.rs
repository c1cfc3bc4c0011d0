//! Refuse an option where it means nothing.

use super::{Entry, TABLE};
use crate::baseline;
use crate::engine::Method;
use crate::error::Result;
use crate::measure::Form;
use crate::session::spec::{Integrand, Problem};

/// A case in which an option may be refused. In the reason `{method}` stands for the method's name,
/// `{particles}` for the baselines that have particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// The method is Bayesian quadrature.
    Quadrature,
    /// The method is a baseline.
    Baseline,
    /// The method is a baseline without particles.
    NoParticles,
    /// The method has no tuning.
    Untuned,
    /// The evaluations are those of a table.
    Table,
    /// f may be negative.
    AnySign,
    /// The prior is a sample.
    Sample,
}

impl Case {
    /// The case, in a word or two for a table of the guide.
    pub(super) fn name(self) -> &'static str {
        match self {
            Case::Quadrature => "Bayesian quadrature",
            Case::Baseline => "baselines",
            Case::NoParticles => "baselines without particles",
            Case::Untuned => "other methods than auto",
            Case::Table => "tables",
            Case::AnySign => "an f of any sign",
            Case::Sample => "a prior that is a sample",
        }
    }

    fn holds(self, problem: &Problem) -> Result<bool> {
        let made = || baseline::by_name(problem.method_name());
        Ok(match self {
            Case::Quadrature => !baseline::is_baseline(problem.method_name()),
            Case::Baseline => baseline::is_baseline(problem.method_name()),
            Case::NoParticles => made().is_ok_and(|baseline| !baseline.takes_particles()),
            Case::Untuned => {
                let method = Method::by_name(problem.method_name());
                Case::Baseline.holds(problem)? || method.is_ok_and(|one| one.tuning().is_none())
            }
            Case::Table => matches!(problem.integrand, Integrand::Table { .. }),
            Case::AnySign => problem.settings.range.lo < 0.0,
            Case::Sample => matches!(problem.measure()?.form(), Form::Sample(_)),
        })
    }
}

/// Refuse any option that means nothing in this problem.
pub(in crate::session) fn allow_all(problem: &Problem) -> Result<()> {
    TABLE.iter().try_for_each(|entry| allow(problem, entry))
}

/// Refuse an option where it means nothing.
pub(in crate::session) fn allow(problem: &Problem, entry: &Entry) -> Result<()> {
    if (entry.get)(problem).is_none() {
        return Ok(());
    }
    for (case, reason) in entry.refused {
        if case.holds(problem)? {
            let with_particles = baseline::names_where(|one| one.takes_particles()).join(", ");
            let reason = reason
                .replace("{method}", problem.method_name())
                .replace("{particles}", &with_particles);
            let reason = format!("{reason}: leave it out");
            return Err(problem.error(&entry.field(), reason).into());
        }
    }
    Ok(())
}

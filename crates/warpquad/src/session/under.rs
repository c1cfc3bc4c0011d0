//! Look at a run under another prior, without new evaluations.

use super::Session;
use super::spec::Problem;
use crate::error::{Error, Result};

impl Session {
    /// The same run with answers under the prior of this problem, whose parameters are the run's;
    /// it takes no more points.
    ///
    /// ```
    /// use warpquad::session::{Session, evaluator::Answer, spec::Problem};
    /// use warpquad::Value;
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// for _ in 0..15 {
    ///     let task = session.ask()?;
    ///     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
    /// }
    /// let other = Problem::parse_prior("parameters.x.uniform = [-1, 1]")?;
    /// let z = session.under(other)?.outcome()?;
    /// // The mean of exp(-x^2) over (-1, 1) is sqrt(pi) erf(1) / 2.
    /// assert!((z.law.ln_quantile(0.5) - 0.746824_f64.ln()).abs() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn under(&self, problem: Problem) -> Result<Session> {
        let wrong = |reason: String| Error::spec("prior", reason);
        let own = self.problem();
        if problem.arguments != own.arguments {
            return Err(wrong(format!(
                "the run has the parameters {}, in this order and with its fixed numbers; the other \
                 prior has {}",
                own.arguments.names().join(", "),
                problem.arguments.names().join(", ")
            )));
        }
        if !own.settings.mapped.is_empty() {
            let mapped = own.settings.mapped.join(", ");
            let reason = "are coordinates of a prior that only the run's own program knows";
            return Err(wrong(format!("{mapped} {reason}")));
        }
        let (old, new) = (own.measure()?, problem.measure()?);
        let mut session = Session::replay(self.book.events.clone(), None, None)?;
        session.began = None;
        let mut problem = problem;
        problem.integrand = own.integrand.clone();
        problem.settings = own.settings.clone();
        problem.method = own.method.clone();
        problem.budget = own.budget.clone();
        problem.start = own.start.clone();
        session.driver.answer_under(problem, old, new)?;
        Ok(session)
    }

    /// Say why the run stopped, or in which state it is, of one that is only looked at.
    pub fn set_last_stop(&mut self, word: &str) {
        self.driver.set_last_stop(word);
    }
}

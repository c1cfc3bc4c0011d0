//! Change the options of a run that its journal leaves open: the budget, the batch, and what to do
//! about failures.

use super::options::{self, Kept, Setting};
use super::spec::Problem;
use super::{Session, bounded, budget};
use crate::error::{Error, Result};

impl Session {
    /// Go on with these options, given by their keywords. What is not given is as the run has it,
    /// but a limit that is given replaces all its limits; a run without a limit gets the default
    /// budget.
    ///
    /// ```
    /// use warpquad::session::{Session, options::Setting, spec::Problem};
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// session.set_options(&[("budget", Setting::Integer(50))])?;
    /// assert_eq!(session.problem().budget.evaluations, Some(50));
    /// let kernel = Setting::Text("matern32".into());
    /// let fixed = session.set_options(&[("kernel", kernel)]).unwrap_err();
    /// assert!(fixed.to_string().starts_with("kernel: is fixed"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_options(&mut self, given: &[(impl AsRef<str>, Setting)]) -> Result<()> {
        let mut alone = Problem::blank();
        put(&mut alone, given)?;
        let mut problem = self.problem().clone();
        problem.budget = budget::resumed(&problem.budget, alone.budget);
        put(&mut problem, given)?;
        self.driver.change(bounded(problem))
    }
}

/// Make a problem say what is given, if a run that goes on may change it.
fn put(problem: &mut Problem, given: &[(impl AsRef<str>, Setting)]) -> Result<()> {
    for (keyword, setting) in given {
        let keyword = keyword.as_ref();
        let option = options::by_keyword(keyword)
            .ok_or_else(|| Error::spec(keyword, "is no option of a run"))?;
        if option.kept != Kept::Nowhere {
            let reason = "is fixed when a run starts; go on with its own, or start a new run";
            return Err(Error::spec(keyword, reason));
        }
        problem.put(option, setting, keyword)?;
    }
    Ok(())
}

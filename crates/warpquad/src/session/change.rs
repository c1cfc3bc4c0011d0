//! Change the options of a run that its journal leaves open: the budget, and what to do about
//! failures.

use super::options::{self, Kept, Setting};
use super::{Session, setup};
use crate::error::{Error, Result};

impl Session {
    /// Set options by their keywords, in place of the problem file's; `None` is to say nothing of
    /// an option.
    ///
    /// ```
    /// use warpquad::session::{Session, options::Setting, spec::Problem};
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// session.set_options(&[("budget", Some(Setting::Integer(50))), ("seconds", None)])?;
    /// assert_eq!(session.problem().budget.evaluations, Some(50));
    /// let fixed = session.set_options(&[("kernel", None)]).unwrap_err();
    /// assert!(fixed.to_string().starts_with("kernel: is fixed"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_options(&mut self, changes: &[(impl AsRef<str>, Option<Setting>)]) -> Result<()> {
        let mut problem = self.problem.clone();
        for (keyword, setting) in changes {
            let keyword = keyword.as_ref();
            let option = options::by_keyword(keyword)
                .ok_or_else(|| Error::spec(keyword, "is no option of a run"))?;
            if option.kept != Kept::Nowhere {
                let reason = "is fixed when a run starts; go on with its own, or start a new run";
                return Err(Error::spec(keyword, reason));
            }
            match setting {
                Some(setting) => problem.put(option, setting, keyword)?,
                None => (option.clear)(&mut problem),
            }
        }
        setup::audit(&problem)?;
        self.problem = problem;
        Ok(())
    }
}

//! Restore a run from the events of its journal.

use super::event::Event;
use super::guard::{damaged, same_method, same_problem};
use super::spec::Problem;
use super::{Session, setup};
use crate::belief::Theta;
use crate::engine::LastFit;
use crate::error;

impl Session {
    /// The run that these events tell of. If a problem is given it must be the run's own.
    pub(super) fn replay(events: Vec<Event>, problem: Option<Problem>) -> error::Result<Session> {
        let all = events.clone();
        let mut events = events.into_iter().enumerate();
        let Some((
            _,
            Event::Start {
                problem: kept,
                text,
                seed,
                method,
                ..
            },
        )) = events.next()
        else {
            return Err(damaged(1, "the first line does not start a run"));
        };
        let mut own = Problem::parse(&text).map_err(|e| damaged(1, &e.to_string()))?;
        if own.canonical() != kept {
            return Err(damaged(1, "the problem and its text do not agree"));
        }
        let problem = match problem {
            Some(problem) => {
                setup::audit(&problem)?;
                same_problem(problem, &kept)?
            }
            None => {
                own.method = setup::method_spec(&method);
                own
            }
        };
        let planned = method["planned_evaluations"].as_u64();
        let mut session = Session::empty(problem, seed, planned.map(|n| n as usize))?;
        same_method(&session.method_json(), &method)?;
        let mut full = 0;
        for (i, event) in events {
            session
                .apply(event, &mut full)
                .map_err(|reason| damaged(i + 1, &reason))?;
        }
        session.events = all;
        Ok(session)
    }

    /// Take one event of a journal into the state.
    fn apply(&mut self, event: Event, full: &mut usize) -> Result<(), String> {
        match event {
            Event::Start { .. } => return Err("a run starts only once".into()),
            Event::Ask { id, x, audit } => {
                if id != self.next_id {
                    let expected = self.next_id;
                    return Err(format!("point {id} was asked for in place of {expected}"));
                }
                let (got, expected) = (x.len(), self.problem.names.len());
                if got != expected || x.iter().any(|x| !x.is_finite()) {
                    return Err(format!(
                        "point {id} is {x:?}, not {expected} finite numbers"
                    ));
                }
                self.next_id += 1;
                self.audit.extend(audit.map(|draw| (id, draw)));
                self.engine.asked(&x);
                self.pending.insert(id, x);
            }
            Event::Tell {
                id,
                value,
                seconds,
                at,
            } => {
                self.seconds_before = at;
                value.check(id as usize).map_err(|e| e.to_string())?;
                let x = self
                    .pending
                    .remove(&id)
                    .ok_or(format!("point {id} was not asked for"))?;
                self.keep(id, &x, value, seconds)
                    .map_err(|e| e.to_string())?;
            }
            Event::Fail {
                id,
                seconds,
                at,
                last,
                ..
            } => {
                self.seconds_before = at;
                self.count_failure(id, seconds, last)
                    .map_err(|e| e.to_string())?;
            }
            Event::Fit {
                n,
                full: is_full,
                theta,
                tau,
            } => {
                self.check_fit(&theta, n, tau)?;
                if is_full {
                    *full = n;
                }
                self.engine.restore(LastFit {
                    theta,
                    n,
                    full: *full,
                    tau,
                });
            }
            Event::Stop {
                reason,
                at,
                in_journal,
            } => {
                self.seconds_before = at;
                self.seconds_in_journal = in_journal;
                self.last_stop = Some(reason);
                return Ok(());
            }
        }
        self.last_stop = None;
        Ok(())
    }

    /// Refuse hyperparameters that are not of this run.
    fn check_fit(&self, theta: &Theta, n: usize, tau: Option<f64>) -> Result<(), String> {
        let (dim, told) = (self.problem.names.len(), self.told.len());
        if n > told {
            return Err(format!("a fit to {n} values, when {told} were told"));
        }
        if tau.is_some_and(|tau| !(tau.is_finite() && tau > 0.0)) {
            return Err(format!("tau is {tau:?}, not a positive number"));
        }
        theta.check().map_err(|error| error.to_string())?;
        let got = theta.dim();
        if got != dim {
            return Err(format!("a fit in {got} dimensions, in a run of {dim}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;
    use crate::session::evaluator::Answer;

    /// What is wrong with a run of two values that this event follows.
    fn refusal(event: Event) -> String {
        let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
        let mut session = Session::new(Problem::parse(text).unwrap(), text, 0).unwrap();
        for _ in 0..2 {
            let task = session.ask().unwrap();
            let value = Value::Log(-task.x[0].powi(2));
            session.tell(task.id, Answer::Value(value), 0.0).unwrap();
        }
        let mut events = session.events.clone();
        events.push(event);
        Session::replay(events, None).unwrap_err().to_string()
    }

    #[test]
    fn events_that_cannot_follow_are_refused() {
        let ask = |id, x: &[f64]| Event::Ask {
            id,
            x: x.to_vec(),
            audit: None,
        };
        let fit = |n, lengths: usize, tau| Event::Fit {
            n,
            full: true,
            theta: Theta::constant(0.0, 1.0, vec![1.0; lengths]).unwrap(),
            tau,
        };
        for (event, words) in [
            (ask(u64::MAX, &[0.0]), "asked for in place of 2"),
            (ask(1, &[0.0]), "point 1 was asked for in place of 2"),
            (ask(2, &[0.0, 1.0]), "not 1 finite numbers"),
            (ask(2, &[f64::NAN]), "not 1 finite numbers"),
            (fit(999, 1, None), "a fit to 999 values, when 2 were told"),
            (fit(2, 3, None), "a fit in 3 dimensions, in a run of 1"),
            (fit(2, 1, Some(-1.0)), "tau is Some(-1.0)"),
        ] {
            let refusal = refusal(event);
            assert!(refusal.starts_with("journal line 6: "), "{refusal}");
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}

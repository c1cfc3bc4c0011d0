//! Restore a run from the events of its journal.

use super::event::Event;
use super::guard::{damaged, same_method, same_problem};
use super::integrator::{Integrator, OwnIntegrator};
use super::spec::Problem;
use super::{Session, setup};
use crate::error::{Error, Result};

impl Session {
    /// The run that these events tell of. If a problem is given it must be the run's own; what chooses
    /// points is made by the method's name unless the caller brings it.
    pub(super) fn replay(
        events: Vec<Event>,
        problem: Option<Problem>,
        own: Option<OwnIntegrator>,
    ) -> Result<Session> {
        let Some(Event::Start {
            problem: kept,
            text,
            seed,
            method,
            ..
        }) = events.first()
        else {
            return Err(damaged(1, "the first line does not start a run"));
        };
        let mut parsed = Problem::parse(text).map_err(|e| damaged(1, &e.to_string()))?;
        if parsed.canonical() != *kept {
            return Err(damaged(1, "the problem and its text do not agree"));
        }
        let problem = match problem {
            Some(problem) => {
                setup::audit(&problem)?;
                same_problem(problem, kept)?
            }
            None => {
                parsed.method = setup::method_spec(method);
                parsed
            }
        };
        let planned = method["planned_evaluations"].as_u64();
        let planned = planned.map(|n| n as usize);
        let integrator = match own {
            Some(own) => own.integrator(&problem, *seed, planned)?,
            None => Integrator::new(&problem, *seed, planned)?,
        };
        let mut session = Session::empty(problem, *seed, integrator)?;
        same_method(&session.method_json(), method)?;
        for (i, event) in events.iter().enumerate().skip(1) {
            session.note_times(event);
            session.driver.apply(event.clone()).map_err(|error| {
                let reason = match error {
                    Error::Spec { reason, .. } => reason,
                    other => other.to_string(),
                };
                damaged(i + 1, &reason)
            })?;
        }
        session.driver.go_on(session.seconds_before);
        session.book.events = events;
        Ok(session)
    }

    /// Take the seconds of an event over.
    fn note_times(&mut self, event: &Event) {
        match *event {
            Event::Tell { at, .. } | Event::Fail { at, .. } => self.seconds_before = at,
            Event::Stop { at, in_journal, .. } => {
                self.seconds_before = at;
                self.book.seconds = in_journal;
            }
            Event::Start { .. } | Event::Ask { .. } | Event::Fit { .. } => {}
        }
    }
}

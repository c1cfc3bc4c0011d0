//! Restore a run from the events of its journal.

use super::event::Event;
use super::guard::{damaged, same_method, same_problem};
use super::spec::Problem;
use super::{Session, setup};
use crate::engine::LastFit;
use crate::error::Result;

impl Session {
    /// The run that these events tell of. If a problem is given it must be the run's own.
    pub(super) fn replay(events: Vec<Event>, problem: Option<Problem>) -> Result<Session> {
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
        setup::restore(&mut own, &kept, &method).map_err(|e| damaged(1, &e))?;
        if own.canonical() != kept {
            return Err(damaged(1, "the problem and its text do not agree"));
        }
        let problem = match problem {
            Some(problem) => {
                setup::audit(&problem)?;
                same_problem(problem, &kept)?
            }
            None => own,
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
    fn apply(&mut self, event: Event, full: &mut usize) -> std::result::Result<(), String> {
        match event {
            Event::Start { .. } => return Err("a run starts only once".into()),
            Event::Ask { id, x, audit } => {
                self.next_id = self.next_id.max(id + 1);
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
}

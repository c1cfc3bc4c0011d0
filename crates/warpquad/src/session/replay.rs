//! Restore a run from the events of its journal.

use super::event::Event;
use super::guard::{damaged, same_method, same_problem};
use super::integrator::{Integrator, OwnIntegrator};
use super::spec::Problem;
use super::{Session, setup};
use crate::error::{Error, Result};

impl Session {
    /// The run that these events tell of. If a problem is given it must be the run's own; what
    /// chooses points is made by the method's name unless the caller brings it.
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
        setup::restore(&mut parsed, kept, method).map_err(|e| damaged(1, &e))?;
        if parsed.canonical() != *kept {
            return Err(damaged(1, "the problem and its text do not agree"));
        }
        // A hint counts when a run starts: the points that it led to are what is replayed.
        let start = parsed.start.clone();
        let mut problem = match problem {
            Some(problem) => {
                setup::audit(&problem)?;
                same_problem(problem, kept)?
            }
            None => parsed,
        };
        problem.start = start;
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
            let follows = session.driver.check_follows(event);
            follows.map_err(|reason| damaged(i + 1, &reason))?;
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
            Event::Tell { at, .. } | Event::Fail { at, .. } | Event::Given { at, .. } => {
                self.seconds_before = at;
            }
            Event::Stop { at, in_journal, .. } => {
                self.seconds_before = at;
                self.book.seconds = in_journal;
            }
            Event::Start { .. }
            | Event::Ask { .. }
            | Event::Initial(_)
            | Event::Fit { .. }
            | Event::Frame(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Theta;
    use crate::data::Value;
    use crate::engine::{Peak, TakenFrame};
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
        let mut events = session.book.events.clone();
        events.push(event);
        Session::replay(events, None, None).unwrap_err().to_string()
    }

    /// A journal of before `mmlt` had its reading is refused, and says under which name it goes on.
    #[test]
    fn another_reading_of_a_method_is_refused() {
        let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\nmethod.name = 'mmlt'";
        let session = Session::new(Problem::parse(text).unwrap(), text, 0).unwrap();
        let mut events = session.book.events.clone();
        assert!(Session::replay(events.clone(), None, None).is_ok());
        let Some(Event::Start { method, .. }) = events.first_mut() else {
            panic!("no start");
        };
        let reading = method.as_object_mut().unwrap().remove("reading");
        assert_eq!(reading.unwrap()["floor_nats"], 100.0);
        method["acquisition"] = "uncertainty".into();
        let given = Problem::parse(text).unwrap();
        for problem in [None, Some(given)] {
            let error = Session::replay(events.clone(), problem, None).unwrap_err();
            assert!(error.to_string().contains("mmlt-literal"), "{error}");
        }
    }

    #[test]
    fn events_that_cannot_follow_are_refused() {
        let ask = |id, x: &[f64]| Event::Ask {
            id,
            x: x.to_vec(),
            audit: None,
        };
        let fit = |n, lengths: usize, tau| Event::Fit {
            component: 0,
            n,
            full: true,
            theta: Theta::constant(0.0, 1.0, vec![1.0; lengths]).unwrap(),
            tau,
        };
        let peak = |dim: usize| {
            Peak::new(vec![0.0; dim], (0..dim).map(|i| vec![1.0; i + 1]).collect()).unwrap()
        };
        let frame = |n, dim: usize, component| {
            let peak = peak(dim);
            Event::Frame(TakenFrame {
                n,
                component,
                is_resumed: false,
                peak,
            })
        };
        for (event, words) in [
            (ask(u64::MAX, &[0.0]), "asked for in place of 2"),
            (ask(1, &[0.0]), "point 1 was asked for in place of 2"),
            (ask(2, &[0.0, 1.0]), "not 1 finite numbers"),
            (ask(2, &[f64::NAN]), "not 1 finite numbers"),
            (fit(999, 1, None), "a fit to 999 values, when 2 were told"),
            (fit(2, 3, None), "a fit in 3 dimensions, in a run of 1"),
            (fit(2, 1, Some(-1.0)), "tau is Some(-1.0)"),
            (
                frame(3, 1, 0),
                "a frame that rests on 3 values, when 2 were told",
            ),
            (frame(2, 2, 0), "a frame in 2 dimensions, in a run of 1"),
            (frame(2, 1, 1), "peak 1 of a run of 1"),
        ] {
            let refusal = refusal(event);
            assert!(refusal.starts_with("journal line 6: "), "{refusal}");
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}

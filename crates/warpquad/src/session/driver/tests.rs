//! The driver with fixed inputs: what it says next, and what it makes of answers.

use super::*;
use crate::session::target::tests::outcome;

/// Events are kept, and nothing is written.
#[derive(Default)]
struct Events(Vec<Event>);

impl Record for Events {
    fn reserve(&mut self) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, event: &Event) -> Result<()> {
        self.0.push(event.clone());
        Ok(())
    }
}

/// No event can be written.
struct Full;

impl Record for Full {
    fn reserve(&mut self) -> Result<()> {
        Err(Error::spec("disk", "is full"))
    }

    fn record(&mut self, _: &Event) -> Result<()> {
        Err(Error::spec("disk", "is full"))
    }
}

/// A driver, its events, and the seconds that have passed.
struct Run {
    driver: Driver,
    events: Events,
    seconds: f64,
}

impl Run {
    /// A run with one parameter; the lines are those of a problem file.
    fn new(lines: &str) -> Run {
        let name = if lines.contains("method.name") {
            ""
        } else {
            "method.name = 'bmc'\n"
        };
        let file = format!("integrand.log = '0'\nparameters.x.normal = [0, 1]\n{name}{lines}");
        let problem = Problem::parse(&file).unwrap();
        let integrator = Integrator::new(&problem, 0, problem.budget.evaluations).unwrap();
        Run {
            driver: Driver::new(problem, integrator).unwrap(),
            events: Events::default(),
            seconds: 0.0,
        }
    }

    fn next(&mut self) -> Next {
        self.driver.next(self.seconds, &mut self.events).unwrap()
    }

    /// The number of the next point.
    #[track_caller]
    fn id(&mut self) -> u64 {
        match self.next() {
            Next::Evaluate(task) => task.id,
            other => panic!("no point: {other:?}"),
        }
    }

    /// The numbers of all points that can be handed out now.
    fn all(&mut self) -> Vec<u64> {
        let mut ids = Vec::new();
        while let Next::Evaluate(task) = self.next() {
            ids.push(task.id);
        }
        ids
    }

    fn times(&self) -> Times {
        let at = self.seconds;
        Times { seconds: 0.5, at }
    }

    fn tell(&mut self, id: u64) -> Taken {
        let (times, value) = (self.times(), Value::Log(-(id as f64)));
        self.driver
            .tell(id, value, Vec::new(), times, &mut self.events)
            .unwrap()
    }

    fn fail(&mut self, id: u64, failure: Failure) -> Taken {
        let times = self.times();
        self.driver
            .fail(id, failure, times, &mut self.events)
            .unwrap()
    }

    fn fail_point(&mut self, id: u64) -> Taken {
        self.fail(id, Failure::of_point("no solution"))
    }

    /// The same run in another process, after this one was killed.
    fn replayed(&self, lines: &str) -> Run {
        let mut run = Run::new(lines);
        for event in &self.events.0 {
            run.driver.apply(event.clone()).unwrap();
        }
        run.driver.go_on(self.seconds);
        run
    }
}

#[test]
fn evaluations_stop_a_run_when_all_are_in() {
    let mut run = Run::new("budget.evaluations = 3");
    assert_eq!(run.all(), [0, 1, 2]);
    for id in [2, 0] {
        assert_eq!(run.tell(id), Taken::Kept);
        assert_eq!(run.next(), Next::Wait);
    }
    run.tell(1);
    assert_eq!(run.next(), Next::Stop(Stop::Evaluations));
    let told: Vec<u64> = run.driver.told().iter().map(|(id, _)| *id).collect();
    assert_eq!(
        (told, run.driver.seconds_in_integrand()),
        (vec![2, 0, 1], 1.5)
    );
}

#[test]
fn seconds_stop_a_run_when_what_is_under_way_is_in() {
    let mut run = Run::new("budget = { evaluations = 9, seconds = 60 }");
    assert_eq!((run.id(), run.id()), (0, 1));
    run.tell(0);
    run.seconds = 60.0;
    assert_eq!(run.next(), Next::Wait);
    run.tell(1);
    assert_eq!(run.next(), Next::Stop(Stop::Seconds));
}

#[test]
fn a_budget_that_is_raised_lets_a_run_go_on() {
    let mut run = Run::new("budget.evaluations = 1");
    let id = run.id();
    run.tell(id);
    assert_eq!(run.next(), Next::Stop(Stop::Evaluations));
    let mut problem = run.driver.problem().clone();
    problem.budget.evaluations = Some(2);
    run.driver.change(problem).unwrap();
    assert_eq!(run.id(), 1);
}

#[test]
fn a_point_is_tried_again_as_often_as_said_and_then_the_run_stops() {
    let mut run = Run::new("integrand.on_failure = 'retry'\nintegrand.retries = 2");
    assert_eq!(run.id(), 0);
    for _ in 0..2 {
        assert!(matches!(run.fail_point(0), Taken::Again(task) if task.id == 0));
        assert_eq!(run.id(), 0);
    }
    let Taken::Stop(last) = run.fail_point(0) else {
        panic!("tried too often");
    };
    assert_eq!((last.id, last.point[0].0.as_str()), (0, "x"));
    let x = last.point[0].1;
    assert_eq!(last.to_string(), format!("failed at x = {x}: no solution"));
    assert_eq!(run.next(), Next::Stop(Stop::Failure(last)));
    assert_eq!(run.driver.pending().len(), 1);
}

#[test]
fn what_no_point_can_survive_is_not_tried_again() {
    for policy in ["retry", "skip"] {
        let mut run = Run::new(&format!("integrand.on_failure = '{policy}'"));
        let id = run.id();
        let gone = Failure::of_source("the program is gone");
        assert!(matches!(run.fail(id, gone), Taken::Stop(_)), "{policy}");
    }
}

#[test]
fn a_skipped_point_counts_as_spent_and_is_not_pending() {
    let mut run = Run::new("integrand.on_failure = 'skip'\nbudget.evaluations = 2");
    assert_eq!(run.all(), [0, 1]);
    assert_eq!(run.fail_point(0), Taken::GivenUp);
    assert_eq!((run.driver.given_up(), run.driver.failures()), (1, 1));
    run.tell(1);
    assert_eq!(run.next(), Next::Stop(Stop::Evaluations));
    assert!(run.driver.pending().is_empty());
}

#[test]
fn a_failure_that_stops_waits_for_the_others() {
    let mut run = Run::new("");
    assert_eq!((run.id(), run.id()), (0, 1));
    let Taken::Stop(last) = run.fail_point(0) else {
        panic!("it went on");
    };
    assert_eq!(run.next(), Next::Wait);
    run.tell(1);
    assert_eq!(run.next(), Next::Stop(Stop::Failure(last)));
}

#[test]
fn a_run_without_any_success_is_hopeless() {
    let mut run = Run::new("integrand.on_failure = 'skip'");
    for _ in 0..HOPELESS - 1 {
        let id = run.id();
        assert_eq!(run.fail_point(id), Taken::GivenUp);
    }
    let id = run.id();
    let Taken::Stop(last) = run.fail_point(id) else {
        panic!("it hoped");
    };
    assert_eq!(last.preface, "no evaluation has succeeded, 10 failed; ");
    // With a success it is not.
    let mut run = Run::new("integrand.on_failure = 'skip'");
    let id = run.id();
    run.tell(id);
    for _ in 0..2 * HOPELESS {
        let id = run.id();
        assert_eq!(run.fail_point(id), Taken::GivenUp);
    }
}

#[test]
fn the_audit_takes_the_last_evaluations() {
    let mut run = Run::new("budget = { evaluations = 8, audit = 0.25 }");
    for _ in 0..8 {
        let id = run.id();
        run.tell(id);
    }
    assert_eq!(run.next(), Next::Stop(Stop::Evaluations));
    let drawn: Vec<u64> = (0..8)
        .filter(|&id| run.driver.audit_draw(id).is_some())
        .collect();
    assert_eq!(drawn, [6, 7]);
}

#[test]
fn what_a_killed_process_left_is_handed_out_first_and_in_order() {
    let mut run = Run::new("integrand.on_failure = 'retry'");
    assert_eq!((run.id(), run.id(), run.id()), (0, 1, 2));
    run.tell(1);
    run.fail_point(0);
    let mut later = run.replayed("integrand.on_failure = 'retry'");
    assert_eq!((later.id(), later.id(), later.id()), (0, 2, 3));
    // Its attempts are counted over both processes.
    assert!(matches!(later.fail_point(0), Taken::Again(_)));
    assert!(matches!(later.fail_point(0), Taken::Stop(_)));
}

#[test]
fn what_is_pending_is_evaluated_within_the_budget_only() {
    let mut run = Run::new("budget.evaluations = 4");
    assert_eq!(run.all(), [0, 1, 2, 3]);
    run.tell(3);
    let mut later = run.replayed("budget.evaluations = 2");
    assert_eq!(later.all(), [0]);
    later.tell(0);
    assert_eq!(later.next(), Next::Stop(Stop::Evaluations));
}

#[test]
fn a_batch_is_asked_for_at_once_and_stays_within_the_budget() {
    let mut run = Run::new("method.name = 'bmc'\nmethod.batch = 4\nbudget.evaluations = 6");
    assert_eq!((run.id(), run.driver.pending().len()), (0, 4));
    let rest: Vec<u64> = std::iter::from_fn(|| run.driver.next_queued())
        .map(|task| task.id)
        .collect();
    assert_eq!(rest, [1, 2, 3]);
    assert_eq!((run.id(), run.driver.pending().len()), (4, 6));
    assert_eq!(run.all(), [5]);
    assert_eq!(run.next(), Next::Wait);
}

#[test]
fn a_baseline_waits_for_its_whole_batch() {
    let mut run = Run::new("method.name = 'smc'\nmethod.particles = 24");
    let first = run.all();
    assert!(first.len() >= 24);
    assert_eq!(run.next(), Next::Wait);
    for &id in &first[1..] {
        run.tell(id);
        assert_eq!(run.next(), Next::Wait);
    }
    run.tell(first[0]);
    assert_eq!(run.id(), first.len() as u64);
}

#[test]
fn a_baseline_cannot_skip() {
    let mut run = Run::new("method.name = 'mc'");
    let mut problem = run.driver.problem().clone();
    problem.settings.on_failure = OnFailure::Skip;
    let refused = run.driver.change(problem.clone()).unwrap_err();
    assert!(
        refused.to_string().contains("cannot leave a point out"),
        "{refused}"
    );
    problem.settings.on_failure = OnFailure::Retry;
    run.driver.change(problem).unwrap();
}

#[test]
fn a_target_that_is_met_twice_stops_the_run() {
    let mut run = Run::new("budget.log_z_sd = 0.1");
    while !run.driver.estimate_is_due(0.0, false) {
        let id = run.id();
        run.tell(id);
    }
    assert_eq!(run.driver.told().len(), 8);
    run.driver
        .take_estimate(Ok(outcome(8, 1.0, 0.09)), 0.0, 0.0);
    assert!(!run.driver.estimate_is_due(0.0, false));
    for _ in 0..2 {
        let id = run.id();
        run.tell(id);
    }
    assert!(run.driver.estimate_is_due(0.0, false));
    run.driver
        .take_estimate(Ok(outcome(10, 1.0, 0.09)), 0.0, 0.0);
    assert_eq!(run.next(), Next::Stop(Stop::LogZSd));
    // In a later process it need not be shown again.
    let at = 0.0;
    let reason = "log_z_sd".into();
    let in_journal = 0.0;
    let event = Event::Stop {
        reason,
        at,
        in_journal,
    };
    run.driver.commit(event, &mut run.events).unwrap();
    let mut later = run.replayed("budget.log_z_sd = 0.1");
    later
        .driver
        .take_estimate(Ok(outcome(10, 1.0, 0.09)), 0.0, 0.0);
    assert_eq!(later.next(), Next::Stop(Stop::LogZSd));
}

#[test]
fn an_estimate_that_cannot_be_made_is_not_tried_at_once_again() {
    let mut run = Run::new("budget.log_z_sd = 0.1");
    for _ in 0..8 {
        let id = run.id();
        run.tell(id);
    }
    run.driver
        .take_estimate(Err(Error::spec("f", "is 0")), 0.0, 0.0);
    assert!(!run.driver.estimate_is_due(99.0, true));
    assert!(run.driver.estimate().is_none());
}

#[test]
fn an_interrupt_leaves_what_is_under_way_and_keeps_an_earlier_reason() {
    let mut run = Run::new("");
    run.id();
    assert_eq!(run.driver.interrupt(), Stop::Interrupted);
    assert_eq!(run.driver.pending().len(), 1);
    let mut run = Run::new("budget.seconds = 1");
    run.id();
    run.seconds = 2.0;
    assert_eq!(run.next(), Next::Wait);
    assert_eq!(run.driver.interrupt(), Stop::Seconds);
}

#[test]
fn a_point_asked_for_by_hand_is_under_way() {
    let mut run = Run::new("budget.evaluations = 2");
    let task = run.driver.ask_for(vec![0.25], &mut run.events).unwrap();
    assert_eq!(run.all(), [1]);
    run.tell(1);
    assert_eq!(run.next(), Next::Wait);
    run.tell(task.id);
    assert_eq!(run.next(), Next::Stop(Stop::Evaluations));
}

#[test]
fn what_cannot_be_written_has_not_happened() {
    let mut run = Run::new("");
    assert!(run.driver.next(0.0, &mut Full).is_err());
    assert!(run.driver.pending().is_empty());
    let id = run.id();
    let times = run.times();
    assert!(
        run.driver
            .tell(id, Value::Log(0.0), Vec::new(), times, &mut Full)
            .is_err()
    );
    assert_eq!(
        (run.driver.pending().len(), run.driver.told().len()),
        (1, 0)
    );
    assert_eq!(run.tell(id), Taken::Kept);
}

#[test]
fn answers_to_no_question_are_refused() {
    let mut run = Run::new("");
    let id = run.id();
    run.tell(id);
    let times = run.times();
    for (id, words) in [(0, "has been told already"), (7, "was not asked for")] {
        let told = run
            .driver
            .tell(id, Value::Log(0.0), Vec::new(), times, &mut run.events);
        assert!(told.unwrap_err().to_string().contains(words));
    }
}

#[test]
fn a_value_out_of_range_is_a_failure() {
    let mut run = Run::new("integrand.range = [0, 1]\nmethod.name = 'probit'");
    let id = run.id();
    let times = run.times();
    let taken = run
        .driver
        .tell(id, Value::Log(0.5), Vec::new(), times, &mut run.events);
    let Taken::Stop(last) = taken.unwrap() else {
        panic!("it was kept");
    };
    assert!(
        last.reason.contains("outside integrand.range"),
        "{}",
        last.reason
    );
}

#[test]
fn each_policy_has_its_fate() {
    use OnFailure::{Retry, Skip};
    let cases = [
        (fate(OnFailure::Stop, 2, true, 1), Fate::Stop),
        (fate(Skip, 2, true, 1), Fate::GiveUp),
        (fate(Skip, 2, false, 1), Fate::Stop),
        (fate(Retry, 2, true, 2), Fate::TryAgain),
        (fate(Retry, 2, true, 3), Fate::Stop),
        (fate(Retry, 2, false, 1), Fate::Stop),
    ];
    for (i, (got, expected)) in cases.into_iter().enumerate() {
        assert_eq!(got, expected, "case {i}");
    }
}

//! Budgets: exact, the first one met is named, and what is recorded already counts.

use crate::common::*;

#[test]
fn evaluations_are_exact_with_several_workers_too() {
    for workers in [1, 2, 3, 8] {
        let dir = directory(&format!("budget-{workers}"));
        let budget = format!("evaluations = 11\nworkers = {workers}");
        let problem = model(&dir, "sleep", "", &budget);
        let json = finish(&problem, &dir.join("run"));
        assert_eq!(
            (&json["evaluations"], &json["stop"]),
            (&11.into(), &"evaluations".into())
        );
        let mut calls = calls(&dir);
        calls.sort_unstable();
        assert_eq!(calls, (0..11).collect::<Vec<_>>(), "{workers} workers");
    }
}

#[test]
fn seconds_stop_a_run_and_are_named() {
    let dir = directory("budget-seconds");
    let problem = model(&dir, "slow", "", "seconds = 1.5\nevaluations = 1000");
    let run = dir.join("run");
    let json = finish(&problem, &run);
    assert_eq!(json["stop"], "seconds");
    assert!(json["seconds"].as_f64().unwrap() >= 1.5);
    let n = json["evaluations"].as_u64().unwrap();
    assert!((1..1000).contains(&n), "{n}");
    // The seconds are spent: resuming only reports.
    let again = finish(&problem, &run);
    assert_eq!(
        (&again["evaluations"], &again["stop"]),
        (&n.into(), &"seconds".into())
    );
}

#[test]
fn a_known_log_z_stops_a_run_and_is_named() {
    let dir = directory("budget-sd");
    let text = format!("{GAUSSIAN}[budget]\nlog_z_sd = 0.05\nevaluations = 200\n");
    let problem = write(&dir, "problem.toml", &text);
    let run = dir.join("run");
    let json = finish(&problem, &run);
    assert_eq!(json["stop"], "log_z_sd");
    assert!(json["log_z_sd"].as_f64().unwrap() <= 0.05);
    assert!(json["evaluations"].as_u64().unwrap() < 200);
    let again = finish(&problem, &run);
    assert_eq!(
        (&again["evaluations"], &again["stop"]),
        (&json["evaluations"], &json["stop"])
    );
}

#[test]
fn a_budget_that_is_met_already_only_reports() {
    let dir = directory("budget-met");
    let problem = model(&dir, "good", "", "evaluations = 10");
    let run = dir.join("run");
    let first = finish(&problem, &run);
    let events = events(&run).len();
    for budget in ["10", "5"] {
        let again = done(&mut integrate(
            &problem,
            &run,
            &["--budget", budget, "--json"],
        ))
        .exits(0)
        .json();
        assert_eq!(
            (&again["evaluations"], &again["stop"]),
            (&10.into(), &"evaluations".into())
        );
        assert_eq!(timeless(again), timeless(first.clone()));
    }
    assert_eq!(calls(&dir).len(), 10);
    assert_eq!(crate::common::events(&run).len(), events);
}

#[test]
fn without_a_budget_there_are_100_evaluations() {
    let dir = directory("budget-none");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let json = done(warpquad(&["integrate", "--json"]).arg(&problem))
        .exits(0)
        .json();
    assert_eq!(json["evaluations"], 100);
}

#[test]
fn pending_points_do_not_exceed_the_budget() {
    let dir = directory("budget-pending");
    let problem = model(&dir, "sleep", "", "evaluations = 6\nworkers = 4");
    let run = dir.join("run");
    done(
        warpquad(&["ask", "-n", "6", "--problem"])
            .arg(&problem)
            .arg(&run),
    )
    .exits(0);
    // The budget may be lowered later.
    let problem = model(&dir, "sleep", "", "evaluations = 3\nworkers = 4");
    assert_eq!(finish(&problem, &run)["evaluations"], 3);
    assert_eq!(calls(&dir).len(), 3);
}

#[test]
fn a_batch_is_asked_for_at_once_and_stays_within_the_budget() {
    let dir = directory("budget-batch");
    let text = format!("{GAUSSIAN}[method]\nbatch = 4\n[budget]\nevaluations = 10\n");
    let problem = write(&dir, "problem.toml", &text);
    let run = dir.join("run");
    assert_eq!(finish(&problem, &run)["evaluations"], 10);
    let kinds: Vec<String> = events(&run)
        .iter()
        .filter_map(|event| event["event"].as_str().map(str::to_string))
        .filter(|kind| kind == "ask" || kind == "tell")
        .collect();
    let expected = [4, 4, 2]
        .iter()
        .flat_map(|&n| [vec!["ask"; n], vec!["tell"; n]].concat());
    assert_eq!(kinds, expected.collect::<Vec<_>>());
}

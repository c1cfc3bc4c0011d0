//! Programs that misbehave, under each policy; what is recorded and what is said.

use crate::common::*;
use serde_json::Value as Json;
use std::path::PathBuf;

const STOP: &str = "on_failure = \"stop\"\nretries = 0";
const SKIP: &str = "on_failure = \"skip\"\nretries = 0";
const RETRY: &str = "on_failure = \"retry\"\nretries = 2";
const TIMEOUT: &str = "\ntimeout = 1.5";
const BUDGET: &str = "evaluations = 10";

struct Case {
    dir: PathBuf,
    problem: PathBuf,
    run: PathBuf,
}

fn case(mode: &str, name: &str, integrand: &str) -> Case {
    let dir = directory(&format!("failures-{mode}-{name}"));
    let problem = model(&dir, mode, integrand, BUDGET);
    let run = dir.join("run");
    Case { dir, problem, run }
}

impl Case {
    #[track_caller]
    fn succeeds(&self, failures: u64) -> Json {
        let json = finish(&self.problem, &self.run);
        assert_eq!(json["failures"], failures, "{json:#}");
        assert_eq!(events_of(&self.run, "fail").len() as u64, failures);
        let warned = json["warnings"].to_string().contains(" failed; ");
        assert_eq!(warned, failures > 0);
        json
    }

    #[track_caller]
    fn stops(&self, words: &[&str]) {
        let done = done(&mut integrate(&self.problem, &self.run, &["--json"])).exits(4);
        let done = done.says(words).says(&["go on with: warpquad integrate"]);
        // Three values are in, and they are reported.
        let json = done.json();
        assert_eq!(
            (&json["evaluations"], &json["stop"]),
            (&3.into(), &"failure".into())
        );
        assert_eq!(events_of(&self.run, "tell").len(), 3);
    }
}

#[test]
fn stop_stops_at_each_kind_of_failure_and_says_why() {
    for (mode, words) in [
        ("error", "evaluation 3: failed at x = "),
        ("error", "did not converge"),
        ("die", "the program ended without an answer: exit status: 3"),
        ("die", "last words"),
        ("swap", "asked for id 3, got an answer for id 103"),
        ("outside", "f = -0.5 is outside integrand.range = [0, inf]"),
        ("no-value", "the answer has no log_f, no f and no error"),
    ] {
        case(mode, "stop", STOP).stops(&[words]);
    }
    let hang = case("hang", "stop", &format!("{STOP}{TIMEOUT}"));
    hang.stops(&["no answer within 1.5 s", "thinking hard"]);
    let nan = case("nan", "stop", STOP);
    done(&mut integrate(&nan.problem, &nan.run, &[]))
        .exits(4)
        .says(&["returned NaN"]);
}

#[test]
fn a_stopped_run_goes_on_when_the_program_is_mended() {
    let case = case("error-once", "mended", STOP);
    case.stops(&["did not converge"]);
    let json = finish(&case.problem, &case.run);
    assert_eq!(
        (&json["evaluations"], &json["failures"]),
        (&10.into(), &1.into())
    );
    let expected = [0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9];
    assert_eq!(calls(&case.dir), expected);
}

#[test]
fn skip_gives_the_point_up_and_counts_it() {
    for (mode, integrand) in [
        ("error", SKIP.to_string()),
        ("die", SKIP.to_string()),
        ("outside", SKIP.to_string()),
        ("hang", format!("{SKIP}{TIMEOUT}")),
    ] {
        let case = case(mode, "skip", &integrand);
        let json = case.succeeds(1);
        // The budget counts what was spent.
        assert_eq!(json["evaluations"], 9, "{mode}");
        assert_eq!(calls(&case.dir), (0..10).collect::<Vec<_>>(), "{mode}");
        assert_eq!(events_of(&case.run, "fail")[0]["last"], true);
    }
    assert_eq!(case("nan", "skip", SKIP).succeeds(3)["evaluations"], 7);
}

#[test]
fn retry_tries_again_and_then_stops() {
    for (mode, integrand) in [
        ("error-once", RETRY.to_string()),
        ("hang-once", format!("{RETRY}{TIMEOUT}")),
    ] {
        let case = case(mode, "retry", &integrand);
        assert_eq!(case.succeeds(1)["evaluations"], 10, "{mode}");
        assert_eq!(calls(&case.dir).len(), 11);
    }
    let case = case("error", "retry", RETRY);
    case.stops(&["did not converge"]);
    assert_eq!(calls(&case.dir), [0, 1, 2, 3, 3, 3]);
    assert_eq!(events_of(&case.run, "fail").len(), 3);
}

#[test]
fn a_crash_restarts_the_program_as_often_as_allowed() {
    let case = case("die-once", "restart", "retries = 1");
    assert_eq!(case.succeeds(0)["evaluations"], 10);
    assert_eq!(calls(&case.dir).len(), 11);
    let stderr = std::fs::read_to_string(case.run.join("stderr.log")).unwrap();
    assert_eq!(stderr, "last words\n");
}

#[test]
fn rubbish_and_late_answers_are_passed_over_and_zeros_are_values() {
    let good = case("good", "reference", STOP).succeeds(0);
    for mode in ["rubbish", "late"] {
        let json = case(mode, "stop", STOP).succeeds(0);
        assert_eq!(json["log_z"], good["log_z"], "{mode}");
    }
    let zero = case("zero", "stop", STOP);
    assert_eq!(zero.succeeds(0)["evaluations"], 10);
    let zeros = events_of(&zero.run, "tell");
    assert_eq!(
        zeros
            .iter()
            .filter(|event| event["log_f"] == "-inf")
            .count(),
        3
    );
    // The zeros come back from the journal.
    let more = done(&mut integrate(
        &zero.problem,
        &zero.run,
        &["--budget", "12", "--json"],
    ))
    .exits(0);
    assert_eq!(more.json()["evaluations"], 12);
}

#[test]
fn a_program_that_always_fails_does_not_burn_the_budget() {
    let dir = directory("failures-hopeless");
    let problem = model(&dir, "die-always", SKIP, "evaluations = 100");
    let words = ["no evaluation has succeeded, 10 failed", "last words"];
    done(&mut integrate(&problem, &dir.join("run"), &["--json"])).refuses(4, &words);
    assert_eq!(calls(&dir).len(), 10);
}

#[test]
fn a_program_that_is_not_there_is_said_before_anything_is_spent() {
    let dir = directory("failures-missing");
    let text =
        "[integrand]\ncommand = [\"no-such-program\"]\n[parameters]\nx = { normal = [0, 1] }\n";
    let problem = write(&dir, "problem.toml", text);
    let words = ["integrand.command: no program `no-such-program` on PATH or in"];
    done(&mut integrate(&problem, &dir.join("run"), &[])).refuses(1, &words);
    done(warpquad(&["check"]).arg(&problem)).refuses(1, &words);
}

#[test]
fn a_function_that_is_zero_everywhere_is_refused() {
    let dir = directory("failures-zero");
    let text = "[integrand]\nlog = \"-1/0\"\n[parameters]\nx = { normal = [0, 1] }\n[budget]\nevaluations = 9\n";
    let problem = write(&dir, "problem.toml", text);
    done(&mut integrate(&problem, &dir.join("run"), &[])).refuses(1, &["every observation is 0"]);
}

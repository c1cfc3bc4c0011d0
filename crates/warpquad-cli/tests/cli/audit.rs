//! The audit from the command line: reported, resumed, refused.

use crate::common::*;

#[test]
fn an_audit_is_reported_and_resumed() {
    let dir = directory("audit");
    let problem = model(&dir, "good", "", "evaluations = 16\nworkers = 2");
    let whole = done(&mut integrate(
        &problem,
        &dir.join("whole"),
        &["--audit", "0.25", "--json"],
    ))
    .exits(0)
    .json();
    assert_eq!(
        (&whole["evaluations"], &whole["audit"]["evaluations"]),
        (&16.into(), &4.into())
    );
    let asked = events_of(&dir.join("whole"), "ask");
    let audited = asked.iter().map(|ask| ask.get("audit").is_some());
    let expected = (0..16).map(|i| i >= 12);
    assert!(audited.eq(expected));
    let text = done(warpquad(&["report"]).arg(dir.join("whole")))
        .exits(0)
        .stdout;
    assert!(
        text.contains("from 4 evaluations drawn from the belief"),
        "{text}"
    );
    // The budget of a run may grow: its audit is then the last part of the new one.
    let more = ["--audit", "0.25", "--budget", "24", "--json"];
    let longer = done(&mut integrate(&problem, &dir.join("whole"), &more))
        .exits(0)
        .json();
    assert_eq!(longer["audit"]["evaluations"], 10);
}

#[test]
fn without_an_audit_there_is_none() {
    let dir = directory("audit-none");
    let problem = model(&dir, "good", "", "evaluations = 9");
    assert!(finish(&problem, &dir.join("run"))["audit"].is_null());
    let asked = events_of(&dir.join("run"), "ask");
    assert!(asked.iter().all(|ask| ask.get("audit").is_none()));
}

#[test]
fn an_audit_that_cannot_be_is_refused() {
    let dir = directory("audit-refused");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    for (more, words) in [
        (vec!["--audit", "0.7"], "at most 0.5, got 0.7"),
        (vec!["--audit", "0.2", "--method", "smc"], "smc has none"),
    ] {
        done(warpquad(&["integrate"]).arg(&problem).args(more)).refuses(1, &["audit", words]);
    }
}

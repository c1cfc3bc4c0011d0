//! Ctrl-C: finish cleanly, say how to resume, lose nothing, leave no program behind.

use crate::common::*;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap()
            .success()
    );
}

/// Whether a program that has this text in its command line lives.
pub fn lives(text: &Path) -> bool {
    let listing = Command::new("ps")
        .args(["-eo", "stat=,args="])
        .output()
        .unwrap();
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let text = text.to_str().unwrap();
    listing
        .lines()
        .any(|line| line.contains("model.py") && line.contains(text) && !line.starts_with('Z'))
}

/// Interrupt a run at its fifth evaluation or later; what it said.
fn interrupted(test: &str, name: &str, code: i32) {
    let dir = directory(test);
    let problem = model(&dir, "slow", "", "evaluations = 12");
    let run = dir.join("run");
    let child = integrate(&problem, &run, &["--json", "--budget", "12", "--seed", "0"])
        .spawn()
        .unwrap();
    wait_for("five evaluations", || events_of(&run, "tell").len() >= 5);
    signal(&child, name);
    let done = Done::from(child.wait_with_output().unwrap()).exits(code);
    let done = done.says(&[
        "interrupted after",
        "go on with: warpquad integrate",
        run.to_str().unwrap(),
        " --budget 12 --seed 0 --json",
    ]);
    let json = done.json();
    assert_eq!(json["stop"], "interrupted");
    assert_eq!(
        json["evaluations"].as_u64().unwrap() as usize,
        events_of(&run, "tell").len()
    );
    assert_eq!(events(&run).last().unwrap()["event"], "stop");
    wait_for("the program's end", || !lives(&dir));
    // What the message says works, and pays for nothing twice but the evaluation under way.
    let json = finish(&problem, &run);
    assert_eq!(
        (&json["evaluations"], &json["failures"]),
        (&12.into(), &0.into())
    );
    assert!(calls(&dir).len() <= 13);
    let whole = directory(&format!("{test}-whole"));
    let undisturbed = finish(
        &model(&whole, "slow", "", "evaluations = 12"),
        &whole.join("run"),
    );
    assert_eq!(timeless(json), timeless(undisturbed));
}

#[test]
fn ctrl_c_finishes_cleanly_and_loses_nothing() {
    interrupted("interrupt", "INT", 130);
}

#[test]
fn so_does_a_polite_kill() {
    interrupted("terminate", "TERM", 143);
}

#[test]
fn a_program_that_hangs_does_not_hold_ctrl_c_up() {
    let dir = directory("interrupt-hang");
    let problem = model(
        &dir,
        "hang-always",
        "retries = 3",
        "evaluations = 10\nworkers = 2",
    );
    let run = dir.join("run");
    let child = integrate(&problem, &run, &[]).spawn().unwrap();
    wait_for("two calls", || calls(&dir).len() >= 2);
    let start = Instant::now();
    signal(&child, "INT");
    let done = Done::from(child.wait_with_output().unwrap()).exits(130);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(done.says(&["interrupted after 0 evaluations"]).stdout, "");
    wait_for("the programs' end", || !lives(&dir));
    assert_eq!(calls(&dir).len(), 2);
    assert_eq!(
        (events_of(&run, "ask").len(), events_of(&run, "fail").len()),
        (2, 0)
    );
}

//! A disk without room is an error before the next evaluation; what was paid for is kept.

use crate::common::*;
use std::path::Path;
use std::process::Command;

/// All calls are in the journal, and the run goes on when there is room again.
#[track_caller]
fn assert_nothing_lost(dir: &Path, problem: &Path, run: &Path) {
    let told = events_of(run, "tell").len();
    assert_eq!(calls(dir).len(), told, "a value was paid for and lost");
    let budget = (told + 2).to_string();
    let more = done(&mut integrate(
        problem,
        run,
        &["--budget", &budget, "--json"],
    ))
    .exits(0)
    .json();
    assert_eq!(more["evaluations"], told + 2);
}

#[test]
fn a_limit_on_files_is_met_before_the_next_evaluation() {
    let dir = directory("disk-limit");
    let problem = model(&dir, "good", "", "evaluations = 200");
    let run = dir.join("run");
    // In units of 512 or 1024 bytes, by the shell; the reserve needs 128 or 64 of them.
    let script = "trap '' XFSZ; ulimit -f 136; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args([
        "-c",
        script,
        "sh",
        env!("CARGO_BIN_EXE_warpquad"),
        "integrate",
    ]);
    command.arg(&problem).arg("--run").arg(&run).arg("--quiet");
    done(&mut command).refuses(1, &["journal.jsonl: File too large"]);
    assert!(!calls(&dir).is_empty());
    assert_nothing_lost(&dir, &problem, &run);
}

#[test]
fn a_full_disk_is_met_before_the_next_evaluation() {
    let dir = directory("disk-full");
    let problem = model(&dir, "good", "", "evaluations = 200");
    let (run, mount) = (dir.join("run"), dir.join("mount"));
    std::fs::create_dir_all(&mount).unwrap();
    // A file system of its own, which others cannot see; its journal is copied out at the end.
    let script = "mount -t tmpfs -o size=96k tmpfs \"$1\" || exit 77; \"$2\" integrate \"$3\" --quiet --run \"$1/run\"; \
                  code=$?; mkdir -p \"$4\"; cp \"$1/run/journal.jsonl\" \"$4\"; exit $code";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, "sh"]);
    command
        .arg(&mount)
        .arg(env!("CARGO_BIN_EXE_warpquad"))
        .arg(&problem)
        .arg(&run);
    let output = match command.output() {
        Ok(output) if output.status.code() != Some(77) && run.exists() => output,
        _ => {
            eprintln!("skipped: this machine mounts no file system for its users");
            return;
        }
    };
    let done = Done::from(output);
    done.refuses(1, &["No space left on device"]);
    assert!(calls(&dir).len() > 2);
    assert_nothing_lost(&dir, &problem, &run);
}

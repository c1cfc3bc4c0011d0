//! A run in use: the second process is refused, and looking at it works all the while.

use crate::common::*;

#[test]
fn a_run_in_use_is_refused_to_others_and_can_be_looked_at() {
    let dir = directory("look");
    let problem = model(&dir, "slow", "", "evaluations = 1000");
    let run = dir.join("run");
    let mut child = integrate(&problem, &run, &["--quiet"]).spawn().unwrap();
    wait_for("two evaluations", || events_of(&run, "tell").len() >= 2);
    let words = ["is in use by another process", "warpquad status"];
    done(&mut integrate(&problem, &run, &[])).refuses(1, &words);
    done(warpquad(&["ask"]).arg(&run)).refuses(1, &words);
    done(warpquad(&["tell"]).arg(&run)).refuses(1, &words);
    let status = done(warpquad(&["status"]).arg(&run)).exits(0).stdout;
    assert!(
        status.contains("/1000 evaluations, 1 pending, 0 failed, running; log Z"),
        "{status}"
    );
    let json = done(warpquad(&["status", "--json"]).arg(&run))
        .exits(0)
        .json();
    assert_eq!(
        (&json["stop"], &json["budget"]),
        (&"running".into(), &1000.into())
    );
    assert!(json["evaluations"].as_u64().unwrap() >= 2);
    let report = done(warpquad(&["report", "--json"]).arg(&run))
        .exits(0)
        .json();
    assert_eq!(report["stop"], "running");
    assert!(
        report["seconds"].as_f64().unwrap() >= report["seconds_in_integrand"].as_f64().unwrap()
    );
    assert!(report["seconds_in_integrand"].as_f64().unwrap() > 0.3);
    child.kill().unwrap();
    child.wait().unwrap();
    let after = done(warpquad(&["status", "--json"]).arg(&run))
        .exits(0)
        .json();
    assert_eq!(after["stop"], "unfinished");
}

#[test]
fn a_run_of_another_method_can_be_looked_at_and_gone_on_with() {
    let dir = directory("look-method");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    done(&mut integrate(
        &problem,
        &run,
        &["--method", "wsabi-l", "--budget", "9"],
    ))
    .exits(0);
    let report = done(warpquad(&["report", "--json"]).arg(&run))
        .exits(0)
        .json();
    assert_eq!(report["method"]["name"], "wsabi-l");
    done(warpquad(&["ask"]).arg(&run)).exits(0);
    let more = ["--method", "wsabi-l", "--budget", "11", "--json"];
    let json = done(&mut integrate(&problem, &run, &more)).exits(0).json();
    assert_eq!(json["evaluations"], 11);
}

#[test]
fn a_directory_without_a_run_is_named() {
    let dir = directory("look-none");
    for command in ["status", "report", "tell"] {
        let none = dir.join("none");
        done(warpquad(&[command]).arg(&none)).refuses(1, &["holds no run"]);
        assert!(!none.exists());
    }
    done(warpquad(&["ask"]).arg(&dir)).refuses(1, &["holds no run; start one with --problem FILE"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let script = format!("{} list | head -n 1", env!("CARGO_BIN_EXE_warpquad"));
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output();
    assert_eq!(done_with(output).stdout, "warps\n");
    let script = format!("{} completions bash | true", env!("CARGO_BIN_EXE_warpquad"));
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output();
    assert_eq!(done_with(output).stderr, "");
}

fn done_with(output: std::io::Result<std::process::Output>) -> Done {
    output.unwrap().into()
}

//! Ask and tell by hand: several points at once, told in any order.

use crate::common::*;
use serde_json::Value as Json;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

fn ask(run: &Path, args: &[&str]) -> Vec<Json> {
    let done = done(warpquad(&["ask"]).arg(run).args(args)).exits(0);
    done.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn tell(run: &Path, lines: &str) -> Done {
    let mut child = warpquad(&["tell"])
        .arg(run)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses at once does not read.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    child.wait_with_output().unwrap().into()
}

fn answer(task: &Json) -> String {
    let x = task["params"]["x"].as_f64().unwrap();
    format!("{{\"id\": {}, \"log_f\": {}}}\n", task["id"], -0.5 * x * x)
}

#[test]
fn values_from_outside_are_told_and_never_evaluated() {
    let dir = directory("external");
    let external = GAUSSIAN.replace("log = \"-0.5*x^2\"", "external = \"a lab\"");
    let problem = write(&dir, "problem.toml", &external);
    let run = dir.join("run");
    for _ in 0..10 {
        let tasks = ask(&run, &["--problem", problem.to_str().unwrap()]);
        tell(&run, &answer(&tasks[0])).exits(0);
    }
    let refused = done(warpquad(&["integrate"]).arg(&problem)).exits(1);
    let part = "problem.toml:2:12: integrand.external: the values come from a lab";
    assert!(refused.stderr.contains(part), "{}", refused.stderr);
    // The same function as a formula may go on with the run; another prior may not.
    let formula = write(&dir, "formula.toml", GAUSSIAN);
    let go_on = |problem: &Path| {
        let mut command = warpquad(&[
            "integrate",
            "--budget",
            "15",
            "--recheck",
            "--json",
            "--run",
        ]);
        done(command.arg(&run).arg(problem))
    };
    assert_eq!(go_on(&formula).exits(0).json()["evaluations"], 15);
    let other = write(&dir, "other.toml", &GAUSSIAN.replace("[0, 1]", "[0, 2]"));
    let refused = go_on(&other).exits(1);
    assert!(
        refused.stderr.contains("another prior"),
        "{}",
        refused.stderr
    );
}

#[test]
fn points_are_asked_for_at_once_and_told_in_any_order() {
    let dir = directory("ask");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let problem = ["--problem", problem.to_str().unwrap(), "--seed", "7"];
    let run = dir.join("run");
    for round in 0..4 {
        let mut args = vec!["-n", "4"];
        args.extend(problem);
        let mut tasks = ask(&run, &args);
        let ids: Vec<u64> = tasks
            .iter()
            .map(|task| task["id"].as_u64().unwrap())
            .collect();
        assert_eq!(ids, (4 * round..4 * round + 4).collect::<Vec<_>>());
        for (i, a) in tasks.iter().enumerate() {
            assert!(tasks[..i].iter().all(|b| b["x"] != a["x"]), "{a}");
        }
        assert_eq!(ask(&run, &["--pending"]), tasks);
        tasks.reverse();
        tasks.swap(0, 2);
        let lines: String = tasks.iter().map(answer).collect();
        let told = tell(&run, &lines).exits(0);
        assert_eq!(told.stdout.lines().count(), 1);
        let expected = (4.into(), (4 * round + 4).into(), 0.into());
        let told = told.json();
        assert_eq!(
            (
                told["kept"].clone(),
                told["evaluations"].clone(),
                told["pending"].clone()
            ),
            expected
        );
    }
    let report = done(warpquad(&["report", "--json"]).arg(&run))
        .exits(0)
        .json();
    assert!((report["log_z"].as_f64().unwrap() + 0.5 * 2.0_f64.ln()).abs() < 0.1);
    assert_eq!(
        (&report["seed"], &report["stop"]),
        (&7.into(), &"unfinished".into())
    );
    done(warpquad(&["ask", "--seed", "8"]).arg(&run))
        .refuses(1, &["the run has the seed 7, not 8"]);
    // The binary takes over what was done by hand.
    let more = ["--budget", "18", "--json"];
    let json = done(&mut integrate(&dir.join("problem.toml"), &run, &more))
        .exits(0)
        .json();
    assert_eq!(json["evaluations"], 18);
}

#[test]
fn a_bad_line_does_not_cost_the_good_ones() {
    let dir = directory("tell-bad");
    let problem = write(
        &dir,
        "problem.toml",
        &GAUSSIAN.replace("[parameters]", "on_failure = \"skip\"\n[parameters]"),
    );
    let run = dir.join("run");
    let tasks = ask(&run, &["-n", "4", "--problem", problem.to_str().unwrap()]);
    let lines = format!(
        "{}oops\n\n{}{{\"id\": 99, \"f\": 1}}\n{{\"id\": 2, \"error\": \"no licence\"}}\n{}",
        answer(&tasks[1]),
        answer(&tasks[1]),
        answer(&tasks[3])
    );
    let told = tell(&run, &lines).exits(1).says(&[
        "line 2: expected a JSON object, got oops",
        "line 4: point 1 has been told already",
        "line 5: point 99 was not asked for",
    ]);
    assert_eq!(
        (&told.json()["kept"], &told.json()["pending"]),
        (&2.into(), &1.into())
    );
    assert_eq!(events_of(&run, "fail")[0]["reason"], "no licence");
    let text = fs::read_to_string(journal(&run)).unwrap();
    assert!(tell(&run, "").exits(0).json()["kept"] == 0);
    assert_eq!(fs::read_to_string(journal(&run)).unwrap(), text);
    // The policy may be to stop: the rest is taken all the same.
    let problem = write(&dir, "stop.toml", GAUSSIAN);
    let run = dir.join("stop");
    let tasks = ask(&run, &["-n", "2", "--problem", problem.to_str().unwrap()]);
    let lines = format!("{{\"id\": 0, \"log_f\": NaN}}\n{}", answer(&tasks[1]));
    let told = tell(&run, &lines)
        .exits(4)
        .says(&["evaluation 0: failed at x = ", "returned NaN"]);
    assert_eq!(
        (&told.json()["kept"], &told.json()["pending"]),
        (&1.into(), &1.into())
    );
}

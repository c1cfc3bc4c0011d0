//! Warm starts: a file of points, an older run, a table that goes on with an integrand.

use crate::common::*;
use serde_json::Value as Json;
use std::path::Path;
use std::process::Stdio;

fn json(problem: &Path, more: &[&str]) -> (Json, Done) {
    let mut command = warpquad(&["integrate"]);
    let done = done(command.arg(problem).arg("--json").args(more)).exits(0);
    (serde_json::from_str(&done.stdout).unwrap(), done)
}

/// Nine points with values, one outside the prior, and one without a value.
fn known(dir: &Path) -> String {
    let rows: String = (-4..=4)
        .map(|k| {
            let x = 0.5 * f64::from(k);
            format!("{x},{}\n", -0.5 * x * x)
        })
        .collect();
    let path = write(
        dir,
        "known.csv",
        &format!("x,log_f\n{rows}7,-24.5\n0.25,\n"),
    );
    path.display().to_string()
}

#[test]
fn a_file_of_points_is_taken_and_told_of() {
    let dir = directory("warm");
    let text = "[integrand]\nlog = \"-0.5*x^2\"\n[parameters]\nx = { uniform = [-5, 5] }\n";
    let problem = write(&dir, "problem.toml", text);
    let (run, known) = (dir.join("run"), known(&dir));
    let run = run.to_str().unwrap();
    let go = ["--initial", &known, "--run", run, "--budget", "8"];
    let (report, _) = json(&problem, &go);
    let truth = (2.0 * std::f64::consts::PI).sqrt().ln() - 10.0_f64.ln();
    assert!((report["log_z"].as_f64().unwrap() - truth).abs() < 0.01);
    assert_eq!(
        (&report["evaluations"], &report["given"]),
        (&8.into(), &9.into())
    );
    let initial = &report["initial"][0];
    assert_eq!(
        (&initial["outside"], &initial["evaluated_first"]),
        (&1.into(), &1.into())
    );
    // Gone on with by the same command, and looked at, it is the same run.
    let (again, _) = json(&problem, &go);
    assert_eq!(
        (&again["log_z"], &again["initial"]),
        (&report["log_z"], &report["initial"])
    );
    let shown = done(&mut warpquad(&["report", run])).exits(0).stdout;
    let part = "9 values of 11 points of";
    assert!(
        shown.contains(part) && shown.contains("1 outside the prior"),
        "{shown}"
    );
    // The run serves another one, and so does the file when the problem names it.
    let (other, _) = json(&problem, &["--initial", run, "--budget", "4"]);
    assert_eq!(other["given"], 17);
    let named = text.replace("[parameters]", "initial = \"known.csv\"\n[parameters]");
    let named = write(&dir, "named.toml", &named);
    assert_eq!(json(&named, &["--budget", "4"]).0["given"], 9);
    let refused = warpquad(&["integrate", named.to_str().unwrap(), "--method", "mc"]);
    let refused = done(&mut { refused }).exits(1).stderr;
    assert!(refused.contains("mc chooses its own points"), "{refused}");
}

#[test]
fn a_table_goes_on_with_an_integrand() {
    let dir = directory("table-goes-on");
    let table = GAUSSIAN.replace("log = \"-0.5*x^2\"", "table = \"known.csv\"");
    let rows: String = (-4..=4)
        .map(|k| format!("{0},{1}\n", k, -0.5 * f64::from(k * k)))
        .collect();
    write(&dir, "known.csv", &format!("x,log_f\n{rows}"));
    let (table, run) = (write(&dir, "table.toml", &table), dir.join("run"));
    let run = run.to_str().unwrap();
    assert_eq!(json(&table, &["--run", run]).0["evaluations"], 9);
    let formula = write(&dir, "formula.toml", GAUSSIAN);
    let (report, _) = json(&formula, &["--run", run, "--budget", "15"]);
    assert_eq!(
        (&report["evaluations"], &report["stop"]),
        (&15.into(), &"evaluations".into())
    );
    let truth = -0.5 * 2.0_f64.ln();
    assert!((report["log_z"].as_f64().unwrap() - truth).abs() < 0.01);
}

#[test]
fn a_line_without_an_id_tells_a_point_of_its_own() {
    let dir = directory("tell-unasked");
    let external = GAUSSIAN.replace("log = \"-0.5*x^2\"", "external = \"a lab\"");
    let problem = write(&dir, "problem.toml", &external);
    let run = dir.join("run");
    let (problem, run) = (problem.to_str().unwrap(), run.to_str().unwrap());
    done(&mut warpquad(&["ask", run, "--problem", problem])).exits(0);
    let mut child = warpquad(&["tell", run])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "{\"params\": {\"x\": 0.5}, \"log_f\": -0.125}\n{\"x\": [1], \"log_f\": -0.5}\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    let told: Done = child.wait_with_output().unwrap().into();
    let said: Json = serde_json::from_str(&told.exits(0).stdout).unwrap();
    assert_eq!(
        (&said["kept"], &said["given"], &said["evaluations"]),
        (&2.into(), &2.into(), &0.into())
    );
}

#[test]
fn a_run_is_reported_under_another_prior() {
    let dir = directory("another-prior");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    let run = run.to_str().unwrap();
    json(&problem, &["--run", run, "--budget", "20"]);
    let prior = write(&dir, "new.toml", "parameters.x.normal = [1, 0.5]\n");
    let prior = prior.to_str().unwrap();
    let report = done(&mut warpquad(&["report", run, "--prior", prior, "--json"])).exits(0);
    let report: Json = serde_json::from_str(&report.stdout).unwrap();
    // A normal law of variance 1 + 1/4 at 1, against one of variance 1 at its top.
    let truth = -0.5 * 1.25_f64.ln() - 0.5 / 1.25;
    assert!(
        (report["log_z"].as_f64().unwrap() - truth).abs() < 0.01,
        "{report}"
    );
    assert_eq!(
        (&report["verdict"], &report["another_prior"]["outside"]),
        (&"settled".into(), &0.0.into())
    );
    let draws = dir.join("draws.csv");
    let out = draws.to_str().unwrap();
    done(&mut warpquad(&[
        "posterior",
        run,
        "--prior",
        prior,
        "--out",
        out,
    ]))
    .exits(0);
    let text = std::fs::read_to_string(&draws).unwrap();
    let x = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().parse::<f64>().unwrap());
    let x: Vec<f64> = x.collect();
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    assert!((mean - 0.8).abs() < 0.03, "{mean}");
    let far = write(
        &dir,
        "far.toml",
        "[parameters]\nx = { normal = [40, 0.1] }\n",
    );
    let shown = done(&mut warpquad(&[
        "report",
        run,
        "--prior",
        far.to_str().unwrap(),
    ]))
    .exits(0);
    assert!(
        shown
            .stdout
            .contains("lie near the posterior under the other"),
        "{}",
        shown.stdout
    );
    let other = write(
        &dir,
        "other.toml",
        "[parameters]\nx = { nromal = [40, 0.1] }\n",
    );
    let refused = done(&mut warpquad(&[
        "report",
        run,
        "--prior",
        other.to_str().unwrap(),
    ]))
    .exits(1);
    assert!(
        refused.stderr.contains("other.toml:2:"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_program_derives_quantities_beside_f() {
    let dir = directory("derived");
    let program = "import json, sys\nfor line in sys.stdin:\n    task = json.loads(line)\n    \
                   x = task['params']['x']\n    answer = {'id': task['id'], 'log_f': -0.5*x*x, \
                   'derived': {'double': 2*x, 'powers': [x*x, x**3]}}\n    \
                   print(json.dumps(answer), flush=True)\n";
    let program = write(&dir, "model.py", program);
    let text = format!(
        "integrand.command = [{:?}, \"-IS\", {:?}]\nparameters.x.normal = [0, 1]\n",
        python(),
        program.to_str().unwrap()
    );
    let problem = write(&dir, "problem.toml", &text);
    let run = dir.join("run");
    let run = run.to_str().unwrap();
    let (report, _) = json(&problem, &["--run", run, "--budget", "25"]);
    // The posterior is normal with variance 1/2.
    let double = &report["derived"]["double"];
    assert!(
        (double["sd"].as_f64().unwrap() - 2.0_f64.sqrt()).abs() < 0.1,
        "{double}"
    );
    let square = &report["derived"]["powers[0]"];
    assert!(
        (square["mean"].as_f64().unwrap() - 0.5).abs() < 0.05,
        "{square}"
    );
    let shown = done(&mut warpquad(&["report", run])).exits(0).stdout;
    assert!(
        shown.contains("double") && shown.contains("interpolated to"),
        "{shown}"
    );
    let out = dir.join("draws.csv");
    done(&mut warpquad(&[
        "posterior",
        run,
        "--out",
        out.to_str().unwrap(),
    ]))
    .exits(0);
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(
        text.lines().next(),
        Some("x,double,powers[0],powers[1],log_f")
    );
    let second = text
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .map(|x| x.parse::<f64>().unwrap());
    let second: Vec<f64> = second.collect();
    assert!((second[1] - 2.0 * second[0]).abs() < 0.05, "{second:?}");
}

//! The object of `--json`: its fields, for every method, and nothing beside it.

use crate::common::*;
use serde_json::Value as Json;

const FIELDS: [&str; 16] = [
    "log_z",
    "log_z_sd",
    "log_z_interval",
    "log_z_mean",
    "node_error",
    "audit",
    "evaluations",
    "failures",
    "seconds",
    "seconds_in_integrand",
    "stop",
    "method",
    "hyperparameters",
    "warnings",
    "version",
    "seed",
];

#[track_caller]
fn assert_contract(json: &Json) {
    for field in FIELDS {
        assert!(json.get(field).is_some(), "no `{field}` in {json:#}");
    }
    assert_eq!(json["log_z_interval"].as_array().unwrap().len(), 2);
    assert!(json["warnings"].is_array() && json["method"]["name"].is_string());
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn json_is_one_object_with_the_fields_of_the_contract_for_every_method() {
    let dir = directory("methods");
    let positive =
        "[integrand]\nvalue = \"0.2 + 0.5*exp(-2*x^2)\"\n[parameters]\nx = { uniform = [-3, 3] }\n";
    let rate = positive.replace("[parameters]", "range = [0, 1]\n[parameters]");
    let (positive, rate) = (
        write(&dir, "positive.toml", positive),
        write(&dir, "rate.toml", &rate),
    );
    let methods = done(&mut warpquad(&["list", "methods"])).exits(0).stdout;
    assert!(methods.lines().count() >= 8);
    // The mean of f, by mpmath: 0.2 + 0.5 sqrt(pi/2) erf(3 sqrt 2) / 6.
    let truth = (0.2 + 0.5 * (0.5 * std::f64::consts::PI).sqrt() / 6.0_f64).ln();
    for method in methods
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
    {
        let problem = if method.starts_with("probit") {
            &rate
        } else {
            &positive
        };
        let mut command = warpquad(&["integrate", "--json", "--budget", "14", "--seed", "3"]);
        let done = done(command.arg(problem).args(["--method", method])).exits(0);
        assert_eq!(done.stderr, "", "{method}");
        let json = done.json();
        assert_contract(&json);
        let (ln_z, sd) = (
            json["log_z"].as_f64().unwrap(),
            json["log_z_sd"].as_f64().unwrap(),
        );
        assert!(
            (ln_z - truth).abs() < 0.1 && sd > 0.0,
            "{method}: {ln_z} +- {sd}, not {truth}"
        );
        assert_eq!(
            (&json["evaluations"], &json["seed"]),
            (&14.into(), &3.into())
        );
        assert_eq!(
            (&json["stop"], &json["failures"]),
            (&"evaluations".into(), &0.into())
        );
        assert_eq!(json["method"]["name"], *method);
    }
}

#[test]
fn a_number_that_is_not_finite_is_null() {
    let dir = directory("null");
    let text = "[integrand]\nvalue = \"-1 - x^2\"\nrange = [-inf, inf]\n[parameters]\nx = { normal = [0, 1] }\n";
    let problem = write(&dir, "problem.toml", text);
    let json = done(warpquad(&["integrate", "--json", "--budget", "10"]).arg(&problem))
        .exits(0)
        .json();
    assert_contract(&json);
    assert!(
        json["log_z"].is_null() && json["log_z_interval"][0].is_null(),
        "{json:#}"
    );
    assert!((json["z"].as_f64().unwrap() + 2.0).abs() < 0.1);
    let table = done(warpquad(&["integrate", "--budget", "10"]).arg(&problem))
        .exits(0)
        .stdout;
    assert!(
        table.starts_with("verdict ") && table.contains("\n  Z  "),
        "{table}"
    );
}

#[test]
fn a_sentinel_and_a_late_jump_are_warned_of() {
    let dir = directory("warnings");
    for (mode, words) in [
        ("sentinel", "came back"),
        ("jump", "nats above all before it"),
    ] {
        let problem = model(&dir, mode, "", "evaluations = 20");
        let json = finish(&problem, &dir.join(mode));
        let warnings = json["warnings"].to_string();
        assert!(warnings.contains(words), "{mode}: {warnings}");
        let report = done(warpquad(&["report"]).arg(dir.join(mode)))
            .exits(0)
            .stdout;
        assert!(
            report.contains("warning  ") && report.contains(words),
            "{report}"
        );
    }
}

#[test]
fn the_part_of_a_run_that_the_journal_takes_is_told() {
    let dir = directory("share");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    let json = done(&mut integrate(
        &problem,
        &run,
        &["--json", "--budget", "200"],
    ))
    .exits(0)
    .json();
    let seconds = |json: &Json, key: &str| json[key].as_f64().unwrap();
    let share = seconds(&json, "seconds_in_journal") / seconds(&json, "seconds");
    // How large it is depends on the disk.
    assert!(0.0 < share && share < 1.0, "{share}");
    // The share is still known when the process is gone.
    let later = done(warpquad(&["report", "--json"]).arg(&run))
        .exits(0)
        .json();
    let share = seconds(&later, "seconds_in_journal") / seconds(&later, "seconds");
    assert!(0.0 < share && share < 1.0, "{share}");
    assert!(seconds(&later, "seconds") <= seconds(&json, "seconds"));
}

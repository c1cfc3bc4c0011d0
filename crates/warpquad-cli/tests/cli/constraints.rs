//! Constraints on the command line: in files and flags, for runs that go on, and their mistakes.

use crate::common::*;

const ORDER: &str = "[integrand]\nlog = \"3*a - 2*b + 0*sqrt(b - a)\"\non_failure = \"stop\"\n\
                     [parameters]\na = { uniform = [0, 1] }\nb = { uniform = [0, 1] }\n\
                     [prior]\nconstraints = [\"a < b\"]\n";

/// 2 times the integral of f over a < b. Outside, f has no value, so a point there fails.
fn truth() -> f64 {
    let e = std::f64::consts::E;
    ((e - 1.0) - (-2.0_f64).exp() * (3.0_f64.exp() - 1.0) / 3.0).ln()
}

fn near(json: &serde_json::Value, truth: f64) {
    let (z, sd) = (
        json["log_z"].as_f64().unwrap(),
        json["log_z_sd"].as_f64().unwrap(),
    );
    assert!(
        (z - truth).abs() < (4.0 * sd).max(1e-3),
        "{z} +- {sd}, not {truth}"
    );
}

#[test]
fn an_order_of_two_is_kept_and_reported() {
    let dir = directory("constraints");
    let (file, run) = (write(&dir, "order.toml", ORDER), dir.join("run"));
    let integrate = |more: &[&str]| {
        let mut command = warpquad(&["integrate", "--json"]);
        done(command.arg(&file).arg("--run").arg(&run).args(more))
            .exits(0)
            .json()
    };
    done(warpquad(&["check"]).arg(&file)).exits(0);
    integrate(&["--budget", "15"]);
    let json = integrate(&["--budget", "30"]);
    near(&json, truth());
    let mass = json["log_prior_mass"].as_f64().unwrap();
    assert!((mass + 2_f64.ln()).abs() < 1e-6, "{mass}");
    assert!(json["failures"] == 0);
    let text = done(warpquad(&["report"]).arg(&run)).exits(0).stdout;
    assert!(text.contains("log prior mass"), "{text}");
    let draws = dir.join("draws.csv");
    done(warpquad(&["posterior"]).arg(&run).arg("--out").arg(&draws)).exits(0);
    let rows = std::fs::read_to_string(&draws).unwrap();
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|h| *h == name).unwrap();
    for row in rows.lines().skip(1) {
        let numbers: Vec<f64> = row.split(',').map(|x| x.parse().unwrap()).collect();
        assert!(numbers[place("a")] < numbers[place("b")], "{row}");
    }
    let other = ["--constraints", "a + b < 1"];
    let other = done(
        warpquad(&["integrate"])
            .arg(&file)
            .arg("--run")
            .arg(&run)
            .args(other),
    );
    assert!(other.exits(1).stderr.contains("constraints"));
}

#[test]
fn the_density_may_be_kept_by_any_method() {
    let dir = directory("constraints-kept");
    let file = write(&dir, "order.toml", ORDER);
    for method in ["auto", "qmc"] {
        let flags = ["--normalise", "false", "--method", method, "--budget", "40"];
        let mut command = warpquad(&["integrate", "--json"]);
        let json = done(command.arg(&file).args(flags)).exits(0).json();
        near(&json, truth() - 2_f64.ln());
    }
}

#[test]
fn what_leaves_nothing_is_an_error() {
    let dir = directory("constraints-wrong");
    let file = write(&dir, "order.toml", ORDER);
    for (constraint, part) in [
        ("a > 2", "no point of the prior satisfies them all"),
        (
            "a + b < 0.001",
            "almost nothing satisfies them all: about 5",
        ),
        ("a == b", "an equality leaves nothing"),
        ("a + b", "compares nothing: write it like a < b"),
        ("a < c", "unknown name 'c'; the parameters are a, b"),
    ] {
        let flags = ["--constraints", constraint];
        let failed = done(warpquad(&["integrate"]).arg(&file).args(flags)).exits(1);
        assert!(
            failed.stderr.contains(part),
            "{constraint}: {}",
            failed.stderr
        );
    }
    let wrong = ORDER.replace("a < b\"]", "a < b\", \"b < q\"]");
    let wrong = write(&dir, "wrong.toml", &wrong);
    let failed = done(warpquad(&["integrate"]).arg(&wrong)).exits(1);
    assert!(
        failed.stderr.contains("wrong.toml:8:30: prior.constraints"),
        "{}",
        failed.stderr
    );
}
